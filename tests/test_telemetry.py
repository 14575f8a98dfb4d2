"""Live metrics and traces: a real collector is sent what runs do, and nothing that is in a prompt, an answer or a key."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.telemetry import NO_TELEMETRY, telemetry
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.openai_server import OpenAIServer

pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")

KEY, HEADER = "sk-very-secret-0123456789", "collectors-own-secret"
Sent = list[tuple[str, dict[str, str], bytes]]


@pytest.fixture(scope="module")
def sent(tmp_path_factory: pytest.TempPathFactory) -> tuple[Sent, Record, Record]:
    """What a collector was sent of two runs, by path, headers and body: one of a model that answers, one of a model that fails."""
    from aiohttp import web

    got: Sent = []

    class Collector(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append((self.path, {name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *what: Any) -> None:
            pass

    def refuse(body: dict[str, Any]) -> Any:
        gone = body["model"] == "gone"
        return web.json_response({"error": {"message": f"no such model, {KEY}"}}, status=404) if gone else None

    with (
        ThreadingHTTPServer(("127.0.0.1", 0), Collector) as collector,
        OpenAIServer(answer=refuse) as server,
        pytest.MonkeyPatch.context() as patch,
    ):
        threading.Thread(target=collector.serve_forever, daemon=True).start()
        patch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", f"http://127.0.0.1:{collector.server_port}")
        patch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{HEADER}")
        patch.setenv("OPENAI_API_BASE", server.url)
        patch.setenv("OPENAI_API_KEY", KEY)
        house = Courthouse(Settings(home=tmp_path_factory.mktemp("home")))
        runs = []
        for model in ("openai/real", "openai/gone"):
            values = {"jury_size": 3, "rounds": 1, "model": {"id": model, "attempts": 1}}
            setup = CyberJurorsSetup.model_validate(values)
            run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
            house.runner.go(run)
            house.runner.wait(run, 60)
            runs.append(house.record(run))
        house.close()
        collector.shutdown()
    return got, runs[0], runs[1]


def said(one: Any) -> dict[str, Any]:
    """Attributes as plain values."""
    values = {each.key: each.value for each in one.attributes}
    return {name: getattr(value, value.WhichOneof("value")) for name, value in values.items()}


@pytest.fixture(scope="module")
def spans(sent: tuple[Sent, Record, Record]) -> list[Any]:
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    requests = [ExportTraceServiceRequest.FromString(body) for path, _, body in sent[0] if path == "/v1/traces"]
    scopes = [scope for request in requests for one in request.resource_spans for scope in one.scope_spans]
    return [span for scope in scopes for span in scope.spans]


def points(sent: Sent) -> Iterator[tuple[str, Any]]:
    """The last value of each metric, by its name."""
    from opentelemetry.proto.collector.metrics.v1.metrics_service_pb2 import ExportMetricsServiceRequest

    *_, body = (body for path, _, body in sent if path == "/v1/metrics")
    for one in ExportMetricsServiceRequest.FromString(body).resource_metrics:
        for metric in (metric for scope in one.scope_metrics for metric in scope.metrics):
            data = metric.histogram if metric.WhichOneof("data") == "histogram" else metric.sum
            for point in data.data_points:
                yield metric.name, point


def test_each_question_is_a_span_within_its_runs(spans: list[Any], sent: tuple[Sent, Record, Record]) -> None:
    for record, failed in ((sent[1], False), (sent[2], True)):
        ours = [span for span in spans if said(span)["gen_ai.conversation.id"] == record.run.id]
        (whole,) = [span for span in ours if not span.parent_span_id]
        assert whole.name == "invoke_workflow cyberjurors"
        calls = [span for span in ours if span is not whole]
        assert {span.parent_span_id for span in calls} == {whole.span_id}
        assert {said(span)["courtroom.path"] for span in calls} == {call.path for call in record.calls if call.asked}
        ill = {said(span)["courtroom.path"] for span in calls if "error.type" in said(span)}
        assert ill == {call.path for call in record.calls if call.error}
        assert (ill == {said(span)["courtroom.path"] for span in calls}) is failed
        assert {said(span)["gen_ai.provider.name"] for span in calls} == {"openai"}


def test_calls_tokens_latency_and_failures_are_counted(sent: tuple[Sent, Record, Record]) -> None:
    got, well, ill = sent
    found = [(name, said(point), point) for name, point in points(got)]
    for record in (well, ill):
        took = [
            point for name, about, point in found
            if name == "gen_ai.client.operation.duration" and about["gen_ai.request.model"] == record.calls[0].model
        ]  # fmt: skip
        assert sum(point.count for point in took) == sum(call.asked for call in record.calls)
        failed = sum(point.count for point in took if "error.type" in said(point))
        assert failed == sum(call.asked for call in record.calls if call.error)
    tokens = {
        about["gen_ai.token.type"]: point.sum for name, about, point in found
        if name == "gen_ai.client.token.usage" and about["gen_ai.request.model"] == "openai/real"
    }  # fmt: skip
    assert tokens["input"] == sum(call.prompt_tokens for call in well.calls) > 0
    assert tokens["output"] == sum(call.completion_tokens for call in well.calls) > 0
    assert [point.as_int for name, _, point in found if name == "courtroom.runs.active"] == [0]


def test_no_text_and_no_key_is_sent(sent: tuple[Sent, Record, Record]) -> None:
    got, well, _ = sent
    words = [piece.text[:30] for piece in well.case.evidence if piece.text]  # type: ignore[attr-defined]
    assert words
    for _, headers, body in got:
        assert headers["authorization"] == f"Bearer {HEADER}", "it belongs to the collector"
        for text in (KEY, HEADER, "no such model", "what was said about it", *words):
            assert text.encode() not in body


def test_nothing_is_sent_where_no_endpoint_is_set(monkeypatch: pytest.MonkeyPatch) -> None:
    assert telemetry({}) is NO_TELEMETRY
    monkeypatch.setitem(__import__("sys").modules, "opentelemetry.exporter.otlp.proto.http", None)
    assert telemetry({"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:9"}) is NO_TELEMETRY


def test_a_collector_that_is_not_there_holds_up_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_ENDPOINT", "http://127.0.0.1:9")
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TIMEOUT", "1")
    house = Courthouse(Settings(home=tmp_path))
    run = house.new_run("cyberjurors", house.library.case("phone-battery"), CyberJurorsSetup(jury_size=3, rounds=1), 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    assert house.record(run).run.verdict is not None
    house.close()
