"""Every call of a run with what was said in it and when: what exports to other tools are made of."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.models.request import Message, Reply
from courtroom.models.spec import ModelSpec


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
        key = call.keys[-1] if call.keys else ""
        member = record.member(call.member)
        yield RecordedCall(
            call,
            min(start, ended),
            ended,
            answers.request(key) if key else (),
            answers.reply(key) if key else None,
            member.spec if member else None,
        )


def spans_of(record: Record) -> tuple[dict[str, float], dict[str, float]]:
    """When each stage began, and when it ended or was last heard of, by its path."""
    began: dict[str, float] = {}
    ended: dict[str, float] = {}
    for at, event in record.events:
        if event.stage:
            began.setdefault(event.stage, at)
            ended[event.stage] = at
    return began, ended


def texts_of(message: Message) -> list[str]:
    """The parts of a message as texts; of a picture or a video its name and description."""
    return [part if isinstance(part, str) else f"[{part.kind} {part.id}: {part.description}]" for part in message.parts]


def chosen(names: Sequence[str]) -> str:
    """One name for several models, each once."""
    return ", ".join(dict.fromkeys(filter(None, names))) or "none"
