"""Live metrics and traces by OpenTelemetry: runs under way, calls, tokens, latency, failures. No text of any prompt or answer.

| name | kind | what it counts |
| --- | --- | --- |
| `courtroom.runs.active` | up-down counter | runs that this process drives now |
| `gen_ai.client.operation.duration` | histogram, s | each question to a model, retries included; `error.type` where it failed |
| `gen_ai.client.token.usage` | histogram | tokens of each question, by `gen_ai.token.type` |
| `courtroom.calls.attempts` | counter | calls that servers saw |
| `invoke_workflow PROCEDURE`, `chat MODEL` | spans | a drive of a run, and each question asked in it |

Needs the extra `otel`. Sends by OTLP over HTTP to where the variables `OTEL_EXPORTER_OTLP_*` say, and nothing without them.
"""

from __future__ import annotations

import logging
import os
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any

from courtroom.models.conventions import SCHEMA, provider_name, resource, staying
from courtroom.models.request import Reply
from courtroom.version import __version__

log = logging.getLogger(__name__)

ENDPOINT = "OTEL_EXPORTER_OTLP_ENDPOINT"
TRACES, METRICS = "OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", "OTEL_EXPORTER_OTLP_METRICS_ENDPOINT"


class Told:
    """What comes of one question, as far as it is known."""

    paid: Reply | None = None
    """What it used up; None where the provider did not say."""


class Telemetry:
    """Tells nobody anything: what holds where no endpoint is set."""

    @contextmanager
    def run(self, run: str, procedure: str) -> Iterator[None]:
        """A run is driven in the block."""
        yield

    @contextmanager
    def call(self, run: str, path: str, model: str) -> Iterator[Told]:
        """A question is asked in the block; an exception that leaves it is a failure."""
        yield Told()

    def close(self) -> None:
        """Send what is not sent yet. It waits for that, as long as the variables allow."""


NO_TELEMETRY = Telemetry()


def telemetry(environment: Mapping[str, str] = os.environ) -> Telemetry:
    """What the environment asks for."""
    traces, metrics = (any(environment.get(name) for name in (ENDPOINT, one)) for one in (TRACES, METRICS))
    if not traces and not metrics:
        return NO_TELEMETRY
    try:
        import opentelemetry.exporter.otlp.proto.http  # noqa: F401  is it there?
    except ModuleNotFoundError:
        log.warning("%s is set, but the extra `otel` is missing: pip install 'courtroom[otel]'", ENDPOINT)
        return NO_TELEMETRY
    return Otlp(traces=traces, metrics=metrics)


class Otlp(Telemetry):
    """Sends to a collector, in threads of its own."""

    def __init__(self, *, traces: bool, metrics: bool) -> None:
        from opentelemetry.exporter.otlp.proto.http.metric_exporter import OTLPMetricExporter
        from opentelemetry.exporter.otlp.proto.http.trace_exporter import OTLPSpanExporter
        from opentelemetry.sdk.metrics import MeterProvider
        from opentelemetry.sdk.metrics.export import PeriodicExportingMetricReader
        from opentelemetry.sdk.trace import TracerProvider
        from opentelemetry.sdk.trace.export import BatchSpanProcessor

        session = staying(to_another=False)
        self._tracing = TracerProvider(resource=resource())
        if traces:
            self._tracing.add_span_processor(BatchSpanProcessor(OTLPSpanExporter(session=session)))
        readers = [PeriodicExportingMetricReader(OTLPMetricExporter(session=session))] if metrics else []
        self._metering = MeterProvider(resource=resource(), metric_readers=readers)
        self._tracer = self._tracing.get_tracer("courtroom", __version__, SCHEMA)
        meter = self._metering.get_meter("courtroom", __version__, SCHEMA)
        self._active = meter.create_up_down_counter("courtroom.runs.active", "{run}", "Runs driven now")
        self._duration = meter.create_histogram("gen_ai.client.operation.duration", "s", "Time of a question")
        self._tokens = meter.create_histogram("gen_ai.client.token.usage", "{token}", "Tokens of a question")
        self._attempts = meter.create_counter("courtroom.calls.attempts", "{call}", "Calls that servers saw")

    @contextmanager
    def run(self, run: str, procedure: str) -> Iterator[None]:
        """A run is driven in the block."""
        kind = {"gen_ai.workflow.name": procedure}
        attributes = {**kind, "gen_ai.operation.name": "invoke_workflow", "gen_ai.conversation.id": run}
        self._active.add(1, kind)
        try:
            with self._span(f"invoke_workflow {procedure}", attributes):
                yield
        finally:
            self._active.add(-1, kind)

    @contextmanager
    def call(self, run: str, path: str, model: str) -> Iterator[Told]:
        """A question is asked in the block; an exception that leaves it is a failure."""
        from opentelemetry.trace import SpanKind

        named = {
            "gen_ai.operation.name": "chat",
            "gen_ai.provider.name": provider_name(model),
            "gen_ai.request.model": model,
        }
        began, told, failed = time.perf_counter(), Told(), dict[str, str]()
        where = {"gen_ai.conversation.id": run, "courtroom.path": path}
        try:
            with self._span(f"chat {model}", named | where, SpanKind.CLIENT) as span:
                try:
                    yield told
                finally:
                    span.set_attributes(_used(told.paid))
        except BaseException as error:
            failed = {"error.type": type(error).__name__}
            raise
        finally:
            self._duration.record(time.perf_counter() - began, named | failed)
            if told.paid is not None:
                self._attempts.add(told.paid.attempts, named | failed)
                for kind, count in (("input", told.paid.usage.prompt), ("output", told.paid.usage.completion)):
                    self._tokens.record(count, named | {"gen_ai.token.type": kind})

    def close(self) -> None:
        """Send what is not sent yet."""
        self._tracing.shutdown()
        self._metering.shutdown()

    @contextmanager
    def _span(self, name: str, attributes: Mapping[str, str], kind: Any = None) -> Iterator[Any]:
        """A span that says of a failure its kind alone: a message may hold text from outside."""
        from opentelemetry.trace import SpanKind, Status, StatusCode

        given: dict[str, Any] = {"attributes": attributes, "kind": kind or SpanKind.INTERNAL}
        with self._tracer.start_as_current_span(
            name, **given, record_exception=False, set_status_on_exception=False
        ) as span:
            try:
                yield span
            except BaseException as error:
                span.set_attribute("error.type", type(error).__name__)
                span.set_status(Status(StatusCode.ERROR))
                raise


def _used(paid: Reply | None) -> dict[str, str | int | list[str]]:
    if paid is None:
        return {}
    told: dict[str, str | int | list[str]] = {
        "gen_ai.usage.input_tokens": paid.usage.prompt,
        "gen_ai.usage.output_tokens": paid.usage.completion,
        "courtroom.attempts": paid.attempts,
    }
    return told | ({"gen_ai.response.model": paid.model} if paid.model else {})
