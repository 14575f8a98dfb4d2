"""What of a speaker's question comes from the others, for audits of a change of mind."""

from __future__ import annotations

from courtroom.engine.procedure import Peers
from courtroom.procedures.discussion.tasks import Speak, Statement

KEPT_BACK = "(not shown)"


def shown(task: Speak, votes: bool, reasons: bool) -> Speak:
    """The same question with so much of what others said. A summary is free text: it counts as reasons."""
    said = tuple(
        one.model_copy(
            update={"verdict": one.verdict if votes else None, "statement": one.statement if reasons else KEPT_BACK}
        )
        for one in task.said
        if votes or reasons
    )
    return task.model_copy(update={"said": said, "summary": task.summary if reasons else ""})


def choice(task: Speak, answer: Statement) -> str:
    """The side that a speaker votes for."""
    return answer.verdict


PEERS = (Peers(Speak, shown, choice),)
