"""What was new in what a member was shown when it changed sides."""

from __future__ import annotations

from difflib import unified_diff

from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.media.medium import Medium
from courtroom.models.request import Message


def call_before(record: Record, call: Called) -> Called | None:
    """The member's last call before this one with the same task in an earlier stage; None where there is none."""
    order = {stage.path: stage.index for stage in record.stages}
    earlier = [
        one
        for one in record.calls_of(call.member)
        if one.task == call.task and one.keys and order.get(one.stage, 0) < order.get(call.stage, 0)
    ]
    return max(earlier, key=lambda one: order[one.stage], default=None)


def new_in(answers: AnswerStore, before: Called, after: Called) -> tuple[str, ...]:
    """Lines of what was shown that are new (`+`) or gone (`-`), with a line around them and the place in `@@`."""
    old, new = (_lines(answers.request(call.keys[0])) if call.keys else [] for call in (before, after))
    diff = unified_diff(old, new, before.path, after.path, n=1, lineterm="")
    return tuple(diff)[2:]  # without the two lines that name the texts


def _lines(messages: tuple[Message, ...]) -> list[str]:
    """What was sent, line by line; a medium is a line with its name."""
    parts = [part for message in messages for part in message.parts]
    texts = [f"[{part.kind} {part.id}]" if isinstance(part, Medium) else part for part in parts]
    return [line for text in texts for line in text.splitlines()]
