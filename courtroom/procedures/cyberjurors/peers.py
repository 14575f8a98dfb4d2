"""What of a juror's question comes from other jurors: for an audit of a change of sides."""

from __future__ import annotations

from courtroom.engine.procedure import Peers
from courtroom.procedures.cyberjurors.answers import Heard, Opinion, Summary
from courtroom.procedures.cyberjurors.tasks import Judge


def shown(task: Judge, votes: bool, reasons: bool) -> Judge:
    """The same question with the votes and the reasons of followed jurors, with one of both, or with neither (R_k,t and S_t).

    Of the collective summary, which side is being supported counts as votes, and what is argued as reasons. It is free
    text: a reason may still give away a vote.
    """
    heard = tuple(
        Heard(name=one.name, verdict=one.verdict if votes else None, reasoning=one.reasoning if reasons else ())
        for one in task.heard
        if votes or reasons
    )
    return task.model_copy(update={"heard": heard, "summary": _part(task.summary, votes, reasons)})


def _part(summary: Summary | None, votes: bool, reasons: bool) -> Summary | None:
    if summary is None or not (votes or reasons):
        return None
    shows = {"prevailing_orientation": votes, "key_arguments": reasons, "debate_intensity": reasons}
    return summary.model_copy(update={name: "" for name, is_shown in shows.items() if not is_shown})


def choice(task: Judge, answer: Opinion) -> str:
    """The side that a juror votes for."""
    return answer.verdict


PEERS = (Peers(Judge, shown, choice),)
