"""Experiments as logs of Inspect and as OpenTelemetry spans: written from runs of a real server, read back by their own libraries."""

from __future__ import annotations

import json
import shutil
import socket
import threading
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.experiments.results import ExperimentResults
from courtroom.settings import Settings
from tests.openai_server import OpenAIServer
from tests.test_experiment_columns import shell
from tests.test_experiments import RIGHT, SINGLE, TRIAL, answers, spec, texts

KEY = "sk-very-secret-0123456789"
ARMS = [
    {"name": "one judge", "procedure": "courtroom-llm", "model": "openai/real", "set": SINGLE},
    {"name": "three <b>judges", "procedure": "courtroom-llm", "set": TRIAL},
    {"name": "gone", "procedure": "courtroom-llm", "model": "openai/gone", "set": SINGLE},
]


@pytest.fixture(scope="module")
def made(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with an experiment: one arm of a real server, one offline, one whose model is not there, one made elsewhere."""
    from aiohttp import web

    def refuse(body: dict[str, Any]) -> Any:
        known = body["model"] == "real"
        return None if known else web.json_response({"error": {"message": "no such model"}}, status=404)

    folder = tmp_path_factory.mktemp("exports")
    with OpenAIServer(answer=refuse) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_BASE", server.url)
        patch.setenv("OPENAI_API_KEY", KEY)
        house = Courthouse(Settings(home=folder / "home"))
        house.datasets.add("feelings", texts())
        file = answers(folder / "given.jsonl", {"good": RIGHT})
        arms = [*ARMS, {"name": "good", "model": "good", "predictions": str(file)}]
        dataset = {"name": "feelings", "limit": 2}
        name = house.experiments.begin(spec(arms=arms, dataset=dataset, measures=("accuracy", "macro_f1")))
        house.experiments.go(name)
        house.experiments.wait(name, 60)
        house.close()
    return folder / "home"


@pytest.fixture
def house(made: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    shutil.copytree(made, tmp_path / "home")
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    house = Courthouse(Settings(home=tmp_path / "home"))
    yield house
    house.close()


@pytest.fixture
def found(house: Courthouse) -> ExperimentResults:
    return house.experiments.results("feelings")


# --- Inspect ----------------------------------------------------------------------------------------------------


@pytest.fixture
def logs(house: Courthouse, tmp_path: Path) -> dict[str, Any]:
    """By arm, as Inspect reads them from a folder."""
    inspect = pytest.importorskip("inspect_ai.log", reason="the extra `inspect` is not installed")
    told = shell("experiment", "inspect", "feelings", "--to", str(tmp_path / "logs"))
    listed = [info.name for info in inspect.list_eval_logs(str(tmp_path / "logs"))]
    assert sorted(Path(name).name for name in listed) == sorted(Path(line).name for line in told.splitlines())
    read = [inspect.read_eval_log(name, resolve_attachments=True) for name in listed]
    return {log.eval.metadata["arm"]: log for log in read}


def test_each_arm_is_a_log_with_a_sample_for_each_cell(found: ExperimentResults, logs: dict[str, Any]) -> None:
    assert logs.keys() == {*found.arms}
    for arm, log in logs.items():
        assert log.status == "success"
        assert (log.eval.dataset.name, log.eval.dataset.samples) == ("feelings", 2)
        assert [(one.id, one.epoch, one.target) for one in log.samples] == [("text-0", 1, "sad"), ("text-1", 1, "glad")]
        rows = [row for row in found.rows if row.arm == arm]
        for sample, row in zip(log.samples, rows, strict=True):
            (accuracy,) = [one for one in found.measures if one.name == "accuracy"]
            assert accuracy.each is not None
            known = {"accuracy": accuracy.each(row.scored)} if row.scored else None
            assert known == ({name: score.value for name, score in sample.scores.items()} if sample.scores else None)
    line = found.table.line("good", "all cases")
    assert line is not None
    totals = {one.name: one.metrics["value"].value for one in logs["good"].results.scores}
    assert totals == {name: one.value for name, one in line.values.items()}
    assert totals.keys() == {"accuracy", "macro_f1"}


def test_what_was_said_is_in_the_log_with_what_it_took(
    house: Courthouse, found: ExperimentResults, logs: dict[str, Any]
) -> None:
    row = next(row for row in found.rows if row.arm == "one judge")
    record, sample = house.record(row.run), logs["one judge"].samples[0]
    replies = [house.answers.reply(call.keys[-1]) for call in record.calls]
    assert [one.text for one in sample.messages[1:]] == [reply.text for reply in replies if reply]
    assert row.case.title in sample.messages[0].text
    events = [one for one in sample.events if one.event == "model"]
    assert len(events) == len(record.calls)
    sent = house.answers.request(record.calls[0].keys[-1])
    assert [message.role for message in events[0].input] == [message.role for message in sent]
    assert [tuple(part.text for part in message.content) for message in events[0].input] == [one.parts for one in sent]
    assert events[0].timestamp <= events[0].completed
    assert [one.name for one in sample.events if one.event == "span_begin"] == [one.name for one in record.stages]
    prompt, completion = record.tokens
    assert sample.model_usage["openai/real"].input_tokens == prompt
    assert sample.model_usage["openai/real"].output_tokens == completion


def test_a_failed_cell_is_a_sample_with_its_reason(logs: dict[str, Any]) -> None:
    gone = logs["gone"]
    assert gone.results.completed_samples == 0
    assert all(one.error.message for one in gone.samples)


def test_no_key_is_in_a_log(logs: dict[str, Any], tmp_path: Path) -> None:
    import zipfile

    for path in (tmp_path / "logs").iterdir():
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                content = archive.read(name)
                assert KEY.encode() not in content
                assert b"uthorization" not in content
    assert KEY not in json.dumps([log.model_dump(mode="json") for log in logs.values()], default=str)


# --- OpenTelemetry ----------------------------------------------------------------------------------------------


@pytest.fixture
def sent(house: Courthouse) -> list[tuple[dict[str, str], bytes]]:
    """Headers and body of what a real receiver was sent, by the shell."""
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    got: list[tuple[dict[str, str], bytes]] = []

    class Receiver(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = self.rfile.read(int(self.headers["Content-Length"]))
            got.append(({name.lower(): value for name, value in self.headers.items()}, body))
            self.send_response(200)
            self.send_header("Content-Length", "0")
            self.end_headers()

        def log_message(self, *what: Any) -> None:
            pass

    with ThreadingHTTPServer(("127.0.0.1", 0), Receiver) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OTEL_EXPORTER_OTLP_HEADERS", f"authorization=Bearer%20{KEY}")
        threading.Thread(target=server.serve_forever, daemon=True).start()
        address = f"http://127.0.0.1:{server.server_port}/v1/traces"
        told = shell("experiment", "spans", "feelings", "--texts", "--endpoint", address)
        server.shutdown()
    assert told == "4 runs sent.\n"
    return got


def read(body: bytes) -> list[Any]:
    """The spans of a request."""
    from opentelemetry.proto.collector.trace.v1.trace_service_pb2 import ExportTraceServiceRequest

    request = ExportTraceServiceRequest.FromString(body)
    return [span for one in request.resource_spans for scope in one.scope_spans for span in scope.spans]


def said(span: Any) -> dict[str, Any]:
    """A span's attributes as plain values."""
    values = {one.key: one.value for one in span.attributes}
    return {name: getattr(value, value.WhichOneof("value")) for name, value in values.items()}


def test_each_run_is_a_trace_of_its_stages_and_calls(
    house: Courthouse, found: ExperimentResults, sent: list[tuple[dict[str, str], bytes]]
) -> None:
    rows = [row for row in found.rows if row.run and row.state == "done"]
    assert len(sent) == len(rows) == 4
    for row, (_, body) in zip(rows, sent, strict=True):
        record, spans = house.record(row.run), read(body)
        assert len({span.trace_id for span in spans}) == 1
        (whole,) = [span for span in spans if not span.parent_span_id]
        assert said(whole)["gen_ai.operation.name"] == "invoke_workflow"
        assert said(whole)["courtroom.arm"] == row.arm
        (scored,) = whole.events
        assert (
            scored.name,
            {one.key: one.value for one in scored.attributes}["gen_ai.evaluation.name"].string_value,
        ) == (
            "gen_ai.evaluation.result",
            "accuracy",
        )
        stages = {span.span_id: span for span in spans if span.parent_span_id == whole.span_id}
        assert [said(span)["courtroom.stage.path"] for span in stages.values()] == [one.path for one in record.stages]
        calls = {said(span)["courtroom.path"]: span for span in spans if span.parent_span_id in stages}
        assert calls.keys() == {call.path for call in record.calls}
        assert len(spans) == 1 + len(stages) + len(calls)
        for path, span in calls.items():
            call, told = record.call(path), said(span)
            assert call is not None
            assert span.end_time_unix_nano == round(record.times[path] * 1e9)
            assert (
                whole.start_time_unix_nano
                <= stages[span.parent_span_id].start_time_unix_nano
                <= span.start_time_unix_nano
            )
            assert span.name == f"chat {call.model}"
            assert told["gen_ai.provider.name"] == ("courtroom.offline" if call.model == "offline" else "openai")
            assert told["gen_ai.usage.input_tokens"] == call.prompt_tokens
            assert told["gen_ai.agent.id"] == call.member
            reply = house.answers.reply(call.keys[-1])
            assert reply is not None
            assert json.loads(told["gen_ai.output.messages"])[0]["parts"] == [{"type": "text", "content": reply.text}]
            messages = house.answers.request(call.keys[-1])
            asked = json.loads(told["gen_ai.input.messages"])
            assert [one["role"] for one in asked] == [one.role for one in messages if one.role != "system"]


def test_no_key_is_in_a_span_or_in_what_carries_it(sent: list[tuple[dict[str, str], bytes]]) -> None:
    for headers, body in sent:
        assert KEY.encode() not in body
        assert b"uthorization" not in body
        assert "authorization" not in headers, "the variables' headers belong to the variables' address"


def test_spans_go_into_a_file_the_same_each_time_and_without_texts(house: Courthouse, tmp_path: Path) -> None:
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    for name in ("one.jsonl", "two.jsonl"):
        shell("experiment", "spans", "feelings", "--to", str(tmp_path / name))
    text = (tmp_path / "one.jsonl").read_text()
    assert text == (tmp_path / "two.jsonl").read_text()
    lines = [json.loads(line) for line in text.splitlines()]
    assert len(lines) == 4
    spans = lines[0]["resourceSpans"][0]["scopeSpans"][0]["spans"]
    assert all(len(span["traceId"]) == 32 and int(span["spanId"], 16) for span in spans)
    assert "gen_ai.input.messages" not in text
    assert "gen_ai.request.model" in text


def test_a_receiver_that_is_not_there_is_named_in_a_sentence(
    found: ExperimentResults, house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    spans = pytest.importorskip("courtroom.experiments.spans")
    pytest.importorskip("opentelemetry.exporter.otlp.proto.http", reason="the extra `otel` is not installed")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        address = f"http://127.0.0.1:{taken.getsockname()[1]}/v1/traces"
    monkeypatch.setenv("OTEL_EXPORTER_OTLP_TRACES_TIMEOUT", "1")
    with pytest.raises(CourtroomError, match="The receiver took 0 runs"):
        spans.send(spans.traces(found, house.record, house.answers), address)
