"""What of a judge's question comes from the judges before it: for an audit of its vote."""

from __future__ import annotations

from courtroom.engine.procedure import Peers
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm.tasks import ChooseLabel, ChosenLabel, Earlier


def shown(task: ChooseLabel, votes: bool, reasons: bool) -> ChooseLabel:
    """The same question with labels and reasons of the judges before, with one of both, or with neither.

    The pleadings stay: prosecutor and attorney do not vote. A reason may still name the label that it is for.
    """
    earlier = tuple(
        Earlier(judge=one.judge, reason=one.reason if reasons else "", label=one.label if votes else "")
        for one in task.earlier
        if votes or reasons
    )
    return task.model_copy(update={"earlier": earlier})


def choice(task: ChooseLabel, answer: ChosenLabel) -> str:
    """The label that a judge votes for."""
    return str(same(answer.label, task.in_question))


PEERS = (Peers(ChooseLabel, shown, choice),)
