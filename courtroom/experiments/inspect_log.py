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
from collections.abc import Iterable, Iterator, Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.datasets.row import outcome_of
from courtroom.datasets.row import text_of as words_of
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import CaseResult, Measure
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.table import ALL
from courtroom.models.request import Message
from courtroom.version import __version__

if TYPE_CHECKING:
    from inspect_ai.event import ModelEvent
    from inspect_ai.log import EvalLog, EvalSample

    from courtroom.courthouse import Courthouse


MISSING = "Logs of Inspect need the extra `inspect`: pip install 'courtroom[inspect]'."
MOST_NAME = 60


def write_logs(results: ExperimentResults, folder: Path, house: Courthouse) -> list[Path]:
    """Write a log for each arm that has done anything; their files. A log that is there already is written anew. Raises
    `CourtroomError`: the extra is not installed, or the folder can't be written to."""
    try:
        from inspect_ai.log import write_eval_log
    except ModuleNotFoundError as error:
        raise CourtroomError(MISSING) from error
    written = []
    try:
        folder.mkdir(parents=True, exist_ok=True)
        for arm in results.arms:
            if log := log_of(results, arm, house):
                made = log.eval.created[:19].replace(":", "-")
                written.append(folder / f"{made}_{_slug(log.eval.task)}_{log.eval.task_id}.eval")
                write_eval_log(log, written[-1])
    except OSError as error:
        raise CourtroomError(f"{folder} can't be written to: {error.strerror}. Name another with --to.") from error
    return written


def log_of(found: ExperimentResults, arm: str, house: Courthouse) -> EvalLog | None:
    """The log of one arm; None where none of its cells has come to an end."""
    from inspect_ai.log import EvalConfig, EvalDataset, EvalLog, EvalResults, EvalSpec, EvalStats

    rows = [row for row in found.rows if row.arm == arm and row.state != "waiting"]
    if not rows:
        return None
    kept, experiment = found.kept, found.kept.experiment
    spec = next(one for one in experiment.arms if one.name == arm)
    records = {row.run: house.record(row.run) for row in rows if row.run and row.state == "done"}
    completed = sum(row.state == "done" for row in rows)
    samples = [_sample(row, found.measures, records.get(row.run), house.answers) for row in rows]
    models = [call.model for one in records.values() for call in one.calls]
    dataset, cases = experiment.dataset, list(dict.fromkeys(row.row for row in rows))
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
                name=dataset.name, location=dataset.version, samples=len(cases), sample_ids=list[str | int](cases)
            ),
            model=_models(models) if models else spec.model or arm,
            config=EvalConfig(epochs=max(row.repeat for row in rows) + 1),
            packages={"courtroom": __version__},
            metadata={"experiment": kept.id, "arm": arm},
        ),
        results=EvalResults(total_samples=len(rows), completed_samples=completed, scores=[*_totals(found, arm)]),
        stats=EvalStats(
            started_at=min((one.started_at for one in samples if one.started_at), default=""),
            completed_at=max((one.completed_at for one in samples if one.completed_at), default=""),
            model_usage=_usage([one.model_usage for one in samples]),
        ),
        samples=samples,
    )


def _sample(row: CaseResult, measures: Sequence[Measure], record: Record | None, answers: AnswerStore) -> EvalSample:
    from inspect_ai.log import EvalError, EvalSample
    from inspect_ai.model import ChatMessageAssistant, ChatMessageUser, ModelOutput
    from inspect_ai.scorer import Score

    calls = [_model_event(record, call, answers) for call in record.calls] if record else []
    text, place = words_of(row.case.blind()), (row.arm, row.row, str(row.repeat))
    outcome = row.outcome if row.state == "done" else None
    messages: list[Any] = [ChatMessageUser(content=text, id=_digest(*place, "case"))]
    for one in calls:
        told = {"member": one.role, **(one.metadata or {})}
        answer = {"id": _digest(row.run, told["path"]), "model": one.model, "metadata": told}
        messages.append(ChatMessageAssistant(content=one.output.completion, source="generate", **answer))
    if record is None and outcome is not None:
        messages.append(ChatMessageAssistant(content=outcome.raw or outcome.outcome, id=_digest(*place, "answer")))
    values = {one.name: one.each(row) for one in measures if one.each is not None} if outcome else {}
    scores = {name: Score(value=one, answer=row.outcome.outcome) for name, one in values.items() if one is not None}
    times = [_iso(at) for at, _ in record.events] if record else []
    return EvalSample(
        id=row.row,
        epoch=row.repeat + 1,
        input=text,
        target=outcome_of(row.case),
        messages=messages,
        output=ModelOutput.from_content(_models(one.model for one in calls), row.outcome.outcome),
        scores=scores if outcome else None,
        metadata={"category": row.category, "run": row.run, **({"votes": outcome.counts} if outcome else {})},
        events=[*_events(record, calls)] if record else [],
        model_usage=_usage({one.model: one.output.usage} for one in calls),
        started_at=times[0] if times else None,
        completed_at=times[-1] if times else None,
        total_time=outcome.wall_s if outcome else None,
        working_time=outcome.latency_s if outcome else None,
        uuid=_digest(*place, "sample"),
        error=EvalError(message=row.reason, traceback="", traceback_ansi="") if row.state == "failed" else None,
    )


def _model_event(record: Record, call: Called, answers: AnswerStore) -> ModelEvent:
    """A call with its last question: those before it had no answer that could be read. Nothing of it says where a key
    is, or is one."""
    from inspect_ai import model as models
    from inspect_ai.event import ModelEvent

    messages, reply = (answers.request(call.keys[-1]), answers.reply(call.keys[-1])) if call.keys else ((), None)
    sent = [
        getattr(models, f"ChatMessage{message.role.capitalize()}")(
            content=[models.ContentText(text=text) for text in texts_of(message)], id=_digest(call.path, str(place))
        )
        for place, message in enumerate(messages)
    ]
    output = models.ModelOutput.from_content(call.answered or call.model, reply.text if reply else call.error)
    prompt, completion = call.prompt_tokens, call.completion_tokens
    output.usage = models.ModelUsage(
        input_tokens=prompt, output_tokens=completion, total_tokens=prompt + completion, total_cost=call.cost
    )
    output.time, output.error = call.latency_s, call.error or None
    member = record.member(call.member)
    asked = member.spec.model_dump(include={"temperature", "max_tokens"}) if member else {}
    ended = record.times[call.path]
    # Not before its stage, also where an answer on record once took longer.
    begun = next((at for at, event in record.events if event.stage == call.stage), ended - call.latency_s)
    began = min(max(begun, ended - call.latency_s), ended)
    return ModelEvent(
        **_at(record, began, call.path),
        span_id=_digest(record.run.id, call.stage),
        model=call.model,
        role=call.member,
        input=sent,
        tools=[],
        tool_choice="none",
        config=models.GenerateConfig(**asked),
        output=output,
        error=call.error or None,
        completed=_when(ended),
        working_time=call.latency_s,
        cache="read" if call.source == "recorded" else None,
        metadata={"path": call.path, "task": call.task},
    )


def texts_of(message: Message) -> list[str]:
    """The parts of a message as texts; of a picture or a video its name and description."""
    return [part if isinstance(part, str) else f"[{part.kind} {part.id}: {part.description}]" for part in message.parts]


def _events(record: Record, calls: Sequence[ModelEvent]) -> Iterator[Any]:
    """Stages as spans, each with its calls."""
    from inspect_ai.event import SpanBeginEvent, SpanEndEvent

    for stage in record.stages:
        times = [at for at, event in record.events if event.stage == stage.path]
        span = _digest(record.run.id, stage.path)
        ends = ((times[0], "begin"), (times[-1], "end"))
        opened, closed = (_at(record, at, f"{stage.path}/{what}") for at, what in ends)
        yield SpanBeginEvent(id=span, span_id=span, name=stage.name, type=stage.stage_kind, **opened)
        yield from (one for one in calls if one.span_id == span)
        yield SpanEndEvent(id=span, span_id=span, **closed)


def _at(record: Record, moment: float, name: str) -> dict[str, Any]:
    first = record.events[0][0] if record.events else 0.0
    return {"timestamp": _when(moment), "working_start": moment - first, "uuid": _digest(record.run.id, name)}


def _models(names: Iterable[str]) -> str:
    """One name for several models, each once."""
    return ", ".join(dict.fromkeys(filter(None, names))) or "none"


def _usage(several: Iterable[dict[str, Any]]) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for model, used in (pair for usage in several for pair in usage.items()):
        found[model] = found[model] + used if model in found else used
    return found


def _totals(results: ExperimentResults, arm: str) -> Iterator[Any]:
    """The table's values with their intervals; of an experiment by category, those of each category."""
    from inspect_ai.log import EvalMetric, EvalScore

    for line in results.table.lines:
        for measure in results.measures if line.arm == arm else ():
            if one := line.values.get(measure.name):
                group = None if line.group == ALL else line.group
                named = {"value": one.value, "low_95": one.low, "high_95": one.high}
                known = {name: value for name, value in named.items() if value == value}
                metrics = {name: EvalMetric(name=name, value=value, group=group) for name, value in known.items()}
                told = {"title": measure.title, "source": measure.source}
                name = measure.name if group is None else f"{measure.name} on {group}"
                yield EvalScore(name=name, scorer=measure.name, metrics=metrics, metadata=told)


def _iso(moment: float) -> str:
    return _when(moment).isoformat(timespec="milliseconds")


def _when(moment: float) -> datetime:
    return datetime.fromtimestamp(moment, UTC)


def _digest(*what: str) -> str:
    """A short id, the same each time."""
    return hashlib.sha256("\n".join(what).encode()).hexdigest()[:22]


def _slug(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9-]+", "-", name).strip("-")[:MOST_NAME] or "arm"
