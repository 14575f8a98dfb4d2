"""An experiment as logs of Inspect (UK AI Security Institute), one for each arm, so that its viewer and tools open
them.

| Inspect | here |
| --- | --- |
| log, task | an arm of an experiment |
| sample, epoch | a case, its repeat |
| target | what is known to be right |
| messages | what each member answered, in order, after the case |
| events | stages as spans, and in them each call with all that was sent |
| scores | the measures that have a value for each case; the others stand among the results |

Needs the extra `inspect`.
"""

from __future__ import annotations

import hashlib
import re
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.datasets.row import outcome_of
from courtroom.datasets.row import text_of as words_of
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import Measure
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.table import ALL, CellRow
from courtroom.models.request import Message, Reply
from courtroom.models.spec import ModelSpec
from courtroom.version import __version__

if TYPE_CHECKING:
    from inspect_ai.log import EvalLog, EvalSample


@dataclass(frozen=True)
class RecordedCall:
    """One call, with its last question: those before it had no answer that could be read."""

    call: Called
    began: float
    """Seconds since 1970; not before its stage, also where an answer on record once took longer."""
    ended: float
    messages: tuple[Message, ...]
    reply: Reply | None
    """As it came back; None where nothing did."""
    spec: ModelSpec | None
    """How the member's model is asked; None where the member is not known any more."""


def recorded_calls(record: Record, answers: AnswerStore) -> Iterator[RecordedCall]:
    """All calls of a run, in the order in which they ended. Nothing of it says where a key is, or is one."""
    began, _ = spans_of(record)
    for call in record.calls:
        ended = record.times[call.path]
        start = max(began.get(call.stage, ended - call.latency_s), ended - call.latency_s)
        messages, reply = (answers.request(call.keys[-1]), answers.reply(call.keys[-1])) if call.keys else ((), None)
        member = record.member(call.member)
        yield RecordedCall(call, min(start, ended), ended, messages, reply, member.spec if member else None)


def spans_of(record: Record) -> tuple[dict[str, float], dict[str, float]]:
    """When each stage began, and when it ended or was last heard of, by its path."""
    ended = {event.stage: at for at, event in record.events if event.stage}
    return {event.stage: at for at, event in reversed(record.events) if event.stage}, ended


def texts_of(message: Message) -> list[str]:
    """The parts of a message as texts; of a picture or a video its name and description."""
    return [part if isinstance(part, str) else f"[{part.kind} {part.id}: {part.description}]" for part in message.parts]


def _models(names: Sequence[str]) -> str:
    """One name for several models, each once."""
    return ", ".join(dict.fromkeys(filter(None, names))) or "none"


MISSING = "Logs of Inspect need the extra `inspect`: pip install 'courtroom[inspect]'."
MOST_NAME = 60


def write_logs(
    results: ExperimentResults, folder: Path, record: Callable[[str], Record], answers: AnswerStore
) -> list[Path]:
    """Write a log for each arm that has done anything; their files. A log that is there already is written anew.
    `record`: gives a run as it stands. Raises `CourtroomError`: the extra is not installed, or the folder can't be
    written to."""
    try:
        from inspect_ai.log import write_eval_log
    except ModuleNotFoundError as error:
        raise CourtroomError(MISSING) from error
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for arm in results.arms:
            if log := log_of(results, arm, record, answers):
                made = log.eval.created[:19].replace(":", "-")
                written.append(folder / f"{made}_{_slug(log.eval.task)}_{log.eval.task_id}.eval")
                write_eval_log(log, written[-1])
    except OSError as error:
        raise CourtroomError(f"{folder} can't be written to: {error.strerror}. Name another with --to.") from error
    return written


def log_of(found: ExperimentResults, arm: str, record: Callable[[str], Record], answers: AnswerStore) -> EvalLog | None:
    """The log of one arm; None where none of its cells has come to an end."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSpec, EvalStats

    rows = [row for row in found.rows if row.arm == arm and row.state != "waiting"]
    if not rows:
        return None
    kept, experiment = found.kept, found.kept.experiment
    spec = next(one for one in experiment.arms if one.name == arm)
    records = {row.run: record(row.run) for row in rows if row.run and row.state == "done"}
    samples = [_sample(row, found.measures, records.get(row.run), answers) for row in rows]
    models = [call.model for one in records.values() for call in one.calls]
    return EvalLog(
        status="success" if kept.status == "done" else "cancelled",
        eval=EvalSpec(
            created=_iso(kept.created),
            eval_id=_digest(kept.id, arm, "eval"),
            run_id=_digest(kept.id),
            task=f"{experiment.name}-{_slug(arm)}",
            task_id=_digest(kept.id, arm, "task"),
            task_display_name=f"{experiment.title or experiment.name}: {arm}",
            task_args=dict(spec.set),
            solver=spec.procedure or None,
            dataset=EvalDataset(
                name=experiment.dataset.name,
                location=experiment.dataset.version,
                samples=len({row.row for row in rows}),
                sample_ids=list(dict.fromkeys(row.row for row in rows)),
            ),
            model=_models(models) if models else spec.model or arm,
            config=EvalConfig(epochs=max(row.repeat for row in rows) + 1),
            packages={"courtroom": __version__},
            metadata={"experiment": kept.id, "arm": arm},
        ),
        results=EvalResults(
            total_samples=len(rows),
            completed_samples=sum(row.state == "done" for row in rows),
            scores=_totals(found, arm),
        ),
        stats=EvalStats(
            started_at=min((one.started_at for one in samples if one.started_at), default=""),
            completed_at=max((one.completed_at for one in samples if one.completed_at), default=""),
            model_usage=_usage([one.model_usage for one in samples]),
        ),
        samples=samples,
    )


def _sample(row: CellRow, measures: Sequence[Measure], record: Record | None, answers: AnswerStore) -> EvalSample:
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput

    said = list(recorded_calls(record, answers)) if record else []
    text, outcome = words_of(row.case.blind()), row.outcome
    messages: list[Any] = [ChatMessageUser(content=text, id=_digest(row.arm, row.row, str(row.repeat), "case"))]
    messages += [
        ChatMessageAssistant(
            content=_said(one), id=_digest(row.run, one.call.path), model=one.call.model, source="generate",
            metadata={"member": one.call.member, "path": one.call.path, "task": one.call.task},
        )
        for one in said
    ]  # fmt: skip
    if record is None and outcome is not None:
        made = _digest(row.arm, row.row, str(row.repeat), "answer")
        messages.append(ChatMessageAssistant(content=outcome.raw or outcome.outcome, id=made))
    events = _events(record, said) if record else []
    result = outcome.outcome if outcome else ""
    return EvalSample(
        id=row.row,
        epoch=row.repeat + 1,
        input=text,
        target=outcome_of(row.case),
        messages=messages,
        output=ModelOutput.from_content(_models([one.call.model for one in said]), result),
        scores=_scores(row, measures),
        metadata={"category": row.category, "run": row.run, **({"votes": outcome.counts} if outcome else {})},
        events=events,
        model_usage=_usage([{one.call.model: _used(one)} for one in said]),
        started_at=_iso(record.events[0][0]) if record and record.events else None,
        completed_at=_iso(record.events[-1][0]) if record and record.events else None,
        total_time=outcome.wall_s if outcome else None,
        working_time=outcome.latency_s if outcome else None,
        uuid=_digest(row.arm, row.row, str(row.repeat), "sample"),
        error=EvalError(message=row.reason, traceback="", traceback_ansi="") if row.state == "failed" else None,
    )


def _events(record: Record, said: Sequence[RecordedCall]) -> list[Any]:
    from inspect_ai.event import ModelEvent, SpanBeginEvent, SpanEndEvent
    from inspect_ai.model import (
        ChatMessageAssistant,
        ChatMessageSystem,
        ChatMessageUser,
        ContentText,
        GenerateConfig,
        ModelOutput,
    )

    kinds = {"system": ChatMessageSystem, "user": ChatMessageUser, "assistant": ChatMessageAssistant}
    first = record.events[0][0] if record.events else 0.0
    began, ended = spans_of(record)
    found: list[Any] = []

    def at(moment: float, name: str) -> dict[str, Any]:
        return {"timestamp": _when(moment), "working_start": moment - first, "uuid": _digest(record.run.id, name)}

    for stage in record.stages:
        span = _digest(record.run.id, stage.path)
        opened = at(began[stage.path], f"{stage.path}/begin")
        found.append(SpanBeginEvent(id=span, span_id=span, name=stage.name, type=stage.stage_kind, **opened))
        for one in (one for one in said if one.call.stage == stage.path):
            sent = [
                kinds[message.role](
                    content=[ContentText(text=part) for part in texts_of(message)],
                    id=_digest(one.call.path, str(place)),
                )
                for place, message in enumerate(one.messages)
            ]
            output = ModelOutput.from_content(one.call.answered or one.call.model, _said(one))
            output.usage, output.time, output.error = _used(one), one.call.latency_s, one.call.error or None
            asked = {"temperature": one.spec.temperature, "max_tokens": one.spec.max_tokens} if one.spec else {}
            found.append(
                ModelEvent(
                    **at(one.began, one.call.path), span_id=span, model=one.call.model, role=one.call.member,
                    input=sent, tools=[], tool_choice="none", config=GenerateConfig(**asked), output=output,
                    error=one.call.error or None, completed=_when(one.ended), working_time=one.call.latency_s,
                    cache="read" if one.call.source == "recorded" else None,
                    metadata={"path": one.call.path, "task": one.call.task},
                )
            )  # fmt: skip
        found.append(SpanEndEvent(id=span, span_id=span, **at(ended[stage.path], f"{stage.path}/end")))
    return found


def _said(one: RecordedCall) -> str:
    return one.reply.text if one.reply else one.call.error


def _used(one: RecordedCall) -> Any:
    from inspect_ai.model import ModelUsage

    prompt, completion = one.call.prompt_tokens, one.call.completion_tokens
    return ModelUsage(
        input_tokens=prompt, output_tokens=completion, total_tokens=prompt + completion, total_cost=one.call.cost
    )


def _usage(several: Sequence[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model, used in (pair for usage in several for pair in usage.items()):
        found[model] = found[model] + used if model in found else used
    return found


def _scores(row: CellRow, measures: Sequence[Measure]) -> dict[str, Any] | None:
    from inspect_ai.scorer import Score

    if (scored := row.scored) is None:
        return None
    values = {one.name: one.each(scored) for one in measures if one.each is not None}
    return {name: Score(value=one, answer=scored.outcome.outcome) for name, one in values.items() if one is not None}


def _totals(results: ExperimentResults, arm: str) -> list[Any]:
    """The table's values with their intervals; of an experiment by category, those of each category."""
    from inspect_ai.log import EvalMetric, EvalScore

    scores = []
    for line in results.table.lines:
        for measure in results.measures if line.arm == arm else ():
            if one := line.values.get(measure.name):
                group = None if line.group == ALL else line.group
                named = {"value": one.value, "low_95": one.low, "high_95": one.high}
                known = {name: value for name, value in named.items() if value == value}
                metrics = {name: EvalMetric(name=name, value=value, group=group) for name, value in known.items()}
                told = {"title": measure.title, "source": measure.source}
                name = measure.name if group is None else f"{measure.name} on {group}"
                scores.append(EvalScore(name=name, scorer=measure.name, metrics=metrics, metadata=told))
    return scores


def _iso(moment: float) -> str:
    return _when(moment).isoformat(timespec="milliseconds")


def _when(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC)


def _digest(*what: str) -> str:
    """A short id, the same each time."""
    return hashlib.sha256("\n".join(what).encode()).hexdigest()[:22]


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-")[:MOST_NAME] or "arm"
