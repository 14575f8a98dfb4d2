"""Runs as OpenTelemetry spans by the semantic conventions for generative AI, so that tracing tools show them.

| span | name and kind | what it says |
| --- | --- | --- |
| a run | `invoke_workflow PROCEDURE`, internal | case, arm, outcome; each measure as an event `gen_ai.evaluation.result` |
| a stage | its name, internal | its path and kind |
| a call | `chat MODEL`, client | provider, model, member as `gen_ai.agent.*`, tokens, why it ended, with its texts where these are asked for |

Times are those on record. Ids are made of the run's id and the path, so that what is exported twice is the same trace.
Attributes that the conventions do not name begin with `courtroom.`. Needs the extra `otel`.
"""

from __future__ import annotations

import base64
import hashlib
import json
import random
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from courtroom.engine.answers import AnswerStore
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.experiments.recorded_calls import RecordedCall, recorded_calls, spans_of, texts_of
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.table import CellRow
from courtroom.models.conventions import SCHEMA, provider_name, resource, staying
from courtroom.version import __version__

if TYPE_CHECKING:
    from opentelemetry.sdk.trace import ReadableSpan

MISSING = "Spans need the extra `otel`: pip install 'courtroom[otel]'."


def traces(
    found: ExperimentResults, record: Callable[[str], Record], answers: AnswerStore, texts: bool = False
) -> Iterator[Sequence[ReadableSpan]]:
    """The spans of each run that is done, one run after the other; predictions made elsewhere have none.

    Args:
        record: gives a run as it stands.
        texts: whether calls say what was sent and what came back; by the conventions they do so only where it is asked for.

    Raises:
        CourtroomError: the extra is not installed.
    """
    try:
        import opentelemetry.sdk.trace  # noqa: F401  is it there?
    except ModuleNotFoundError as error:
        raise CourtroomError(MISSING) from error
    for row in found.rows:
        if row.run and row.state == "done":
            yield trace(found, row, record(row.run), answers, texts)


def trace(
    found: ExperimentResults, row: CellRow, record: Record, answers: AnswerStore, texts: bool = False
) -> Sequence[ReadableSpan]:
    """The spans of one run: its stages and calls as they ended, itself last."""
    from opentelemetry.sdk.trace import TracerProvider
    from opentelemetry.sdk.trace.export import SimpleSpanProcessor
    from opentelemetry.sdk.trace.export.in_memory_span_exporter import InMemorySpanExporter
    from opentelemetry.trace import SpanKind, Status, StatusCode, set_span_in_context

    kept = InMemorySpanExporter()
    ids = _ids(record.run.id)
    provider_ = TracerProvider(resource=resource(), id_generator=ids, shutdown_on_exit=False)
    provider_.add_span_processor(SimpleSpanProcessor(kept))
    tracer = provider_.get_tracer("courtroom", __version__, SCHEMA)
    run = record.run
    began, ended = spans_of(record)
    first = record.events[0][0] if record.events else run.created
    last = record.events[-1][0] if record.events else run.created
    whole = tracer.start_span(
        f"invoke_workflow {run.procedure}", attributes=_of_run(found, row, record), start_time=_ns(first)
    )
    inside = set_span_in_context(whole)
    said: dict[str, list[RecordedCall]] = {}
    for one in recorded_calls(record, answers):
        said.setdefault(one.call.stage, []).append(one)
    for stage in record.stages:
        named = {"courtroom.stage.path": stage.path, "courtroom.stage.kind": stage.stage_kind}
        span = tracer.start_span(
            stage.name, inside, attributes=named | {"gen_ai.conversation.id": run.id}, start_time=_ns(began[stage.path])
        )
        for one in said.get(stage.path, ()):
            call = tracer.start_span(
                f"chat {one.call.model}",
                set_span_in_context(span),
                SpanKind.CLIENT,
                _of_call(record, one, texts),
                start_time=_ns(one.began),
            )
            if one.call.value is None:
                call.set_status(Status(StatusCode.ERROR, one.call.error))
            call.end(_ns(one.ended))
        span.end(_ns(ended[stage.path]))
    for name, value in _measured(found, row):
        scored: dict[str, Any] = {"gen_ai.evaluation.name": name, "gen_ai.evaluation.score.value": value}
        whole.add_event("gen_ai.evaluation.result", scored, _ns(last))
    whole.end(_ns(last))
    return kept.get_finished_spans()


def as_json(spans: Sequence[ReadableSpan]) -> str:
    """Spans in the JSON of OTLP, one line: what the collector's file receiver reads. Ids are in hexadecimal there."""
    from google.protobuf.json_format import MessageToDict
    from opentelemetry.exporter.otlp.proto.common.trace_encoder import encode_spans

    document = MessageToDict(encode_spans(spans), use_integers_for_enums=True)
    encoded = [
        one for several in document["resourceSpans"] for scope in several["scopeSpans"] for one in scope["spans"]
    ]
    for one in encoded:
        for field in ("traceId", "spanId", "parentSpanId"):
            if field in one:
                one[field] = _hex(one[field])
    return json.dumps(document, ensure_ascii=False)


def send(several: Iterator[Sequence[ReadableSpan]], endpoint: str | None) -> int:
    """Send spans to an OTLP/HTTP receiver, a run at a time; how many runs there were.

    Args:
        endpoint: the address for traces, such as `http://localhost:4318/v1/traces`. Without one, address and headers are
            those of the variables `OTEL_EXPORTER_OTLP_*`. Those headers belong to that address, so another one gets none.

    Raises:
        CourtroomError: the extra is not installed, or the receiver does not take them.
    """
    try:
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.trace.export import SpanExportResult
    except ModuleNotFoundError as error:
        raise CourtroomError(MISSING) from error
    exporter: Any = OTLPSpanExporter(endpoint=endpoint, session=staying(to_another=endpoint is not None))
    many = 0
    try:
        for spans in several:
            if exporter.export(spans) is not SpanExportResult.SUCCESS:
                raise CourtroomError(
                    f"The receiver took {many} runs and then no more. See whether it runs, and whether --endpoint names its "
                    "address for traces, such as http://localhost:4318/v1/traces."
                )
            many += 1
    finally:
        exporter.shutdown()
    return many


def _of_run(found: ExperimentResults, row: CellRow, record: Record) -> dict[str, Any]:
    run = record.run
    return {
        "gen_ai.operation.name": "invoke_workflow",
        "gen_ai.workflow.name": run.procedure,
        "gen_ai.conversation.id": run.id,
        "courtroom.experiment": found.kept.id,
        "courtroom.arm": row.arm,
        "courtroom.case": row.row,
        "courtroom.category": row.category,
        "courtroom.repeat": row.repeat,
        "courtroom.outcome": row.outcome.outcome if row.outcome else "",
    }


def _of_call(record: Record, one: RecordedCall, texts: bool) -> dict[str, Any]:
    call, member = one.call, record.member(one.call.member)
    known: dict[str, Any] = {
        "gen_ai.operation.name": "chat",
        "gen_ai.provider.name": provider_name(call.model),
        "gen_ai.request.model": call.model,
        "gen_ai.response.model": call.answered or None,
        "gen_ai.response.finish_reasons": (one.reply.finish,) if one.reply else None,
        "gen_ai.usage.input_tokens": call.prompt_tokens,
        "gen_ai.usage.output_tokens": call.completion_tokens,
        "gen_ai.output.type": "json",
        "gen_ai.conversation.id": record.run.id,
        "gen_ai.agent.id": call.member,
        "gen_ai.agent.name": member.name if member else None,
        "courtroom.path": call.path,
        "courtroom.task": call.task,
        "courtroom.source": call.source,
        "courtroom.cost_usd": call.cost,
        "error.type": "no_answer" if call.value is None else None,
    }
    if one.spec:
        known |= {
            "gen_ai.request.temperature": one.spec.temperature,
            "gen_ai.request.max_tokens": one.spec.max_tokens,
            "gen_ai.request.top_p": one.spec.top_p,
        }
    if texts:
        sent = [{"role": message.role, "parts": _parts(texts_of(message))} for message in one.messages]
        known["gen_ai.system_instructions"] = _json(
            [part for message in sent if message["role"] == "system" for part in message["parts"]]
        )
        known["gen_ai.input.messages"] = _json([message for message in sent if message["role"] != "system"])
        if one.reply:
            answer = {"role": "assistant", "parts": _parts([one.reply.text]), "finish_reason": one.reply.finish}
            known["gen_ai.output.messages"] = _json([answer])
    return {name: value for name, value in known.items() if value is not None and value != "[]"}


def _measured(found: ExperimentResults, row: CellRow) -> Iterator[tuple[str, float]]:
    scored = row.scored
    for measure in found.measures:
        if scored and measure.each and (value := measure.each(scored)) is not None:
            yield measure.name, value


def _ids(run: str) -> Any:
    """Ids of one run's trace: drawn from its id, so the same each time."""
    from opentelemetry.sdk.trace.id_generator import IdGenerator

    drawn = random.Random(hashlib.sha256(run.encode()).digest())

    class OfRun(IdGenerator):
        def generate_span_id(self) -> int:
            return drawn.getrandbits(64) or 1

        def generate_trace_id(self) -> int:
            return drawn.getrandbits(128) or 1

    return OfRun()


def _parts(texts: Sequence[str]) -> list[dict[str, str]]:
    return [{"type": "text", "content": text} for text in texts]


def _json(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)


def _hex(encoded: str) -> str:
    return base64.b64decode(encoded).hex()


def _ns(moment: float) -> int:
    return round(moment * 1e9)
