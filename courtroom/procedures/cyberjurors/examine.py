"""IV-CoT, stages I to III (section 4.1): focus, clues, adversarial analysis."""

from __future__ import annotations

from collections.abc import Mapping

from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.engine.court import Court
from courtroom.engine.errors import Abstained
from courtroom.engine.setup import Member
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.procedures.cyberjurors.tasks import (
    AnalyseDispute,
    Analysis,
    Clue,
    Examination,
    ExtractFocus,
    Focus,
    PerceiveEvidence,
    SelectEvidence,
    key_media,
)

Hearing = Court[Dispute, CyberJurorsSetup]
Clues = tuple[Clue, ...]


async def examine_all(court: Hearing) -> dict[str, Examination | None]:
    """The examination of each juror by id; None where one could not be made.

    Jurors do not wait for each other: each goes through its own chain.
    """
    jury = court.panel("juror")
    await court.stage("Evidence", "evidence")
    if examiners := court.panel("examiner"):
        (shared,) = await court.all(examine(court, eye) for eye in examiners)
        return {juror.id: shared for juror in jury}
    views = await court.all(examine(court, juror) for juror in jury)
    return {juror.id: view for juror, view in zip(jury, views, strict=True)}


async def examine_newcomers(court: Hearing, views: Mapping[str, Examination | None]) -> dict[str, Examination | None]:
    """The examinations of those whom a person has seated since; where one was made for all, it is theirs too."""
    new = [juror for juror in court.panel("juror") if juror.id not in views] if court.setup.examines else []
    if court.setup.examination == "shared":
        shared = next(iter(views.values()), None)
        return {juror.id: shared for juror in new}
    found = await court.all(examine(court, juror) for juror in new)
    return {juror.id: view for juror, view in zip(new, found, strict=True)}


async def examine(court: Hearing, eye: Member) -> Examination:
    """Stages I to III for one pair of eyes. Each side is grounded apart, so that evidence does not mix."""
    focus = await court.ask(eye, ExtractFocus(case=court.case))
    buyer, seller = await court.all(ground_side(court, eye, focus, side) for side in SIDES)
    if buyer is None or seller is None:
        raise Abstained("One side's evidence could not be examined, and half an examination would be unfair.")
    analysis = await analyse(court, eye, focus, buyer, seller)
    return Examination(focus=focus, buyer=buyer, seller=seller, analysis=analysis)


async def ground_side(court: Hearing, eye: Member, focus: Focus, side: Side) -> Clues:
    """Select and perceive in turn until the side's claim is sufficiently verified, T_max times at most (Eq. 2, 3).

    Where one piece alone is left there is nothing to select, and nobody is asked.
    """
    left = list(court.case.by_side(side))
    clues: list[Clue] = []
    for number in range(1, court.setup.pieces + 1):
        if not left:
            break
        if len(left) > 1:
            task = SelectEvidence(
                case=court.case, focus=focus, side=side, looked_at=tuple(clues), candidates=tuple(left)
            )
            selection = await court.ask(eye, task, f"{side}-{number}")
            chosen = next(piece for piece in left if piece.id == selection.selected_evidence_id)
        else:
            chosen = left[0]
        left.remove(chosen)
        look = PerceiveEvidence(case=court.case, focus=focus, side=side, evidence=chosen, before=tuple(clues))
        perception = await court.ask(eye, look, f"{side}-{number}")
        clues.append(Clue(evidence_id=chosen.id, perception=perception))
        if perception.is_sufficient:
            break
    return tuple(clues)


async def analyse(court: Hearing, eye: Member, focus: Focus, buyer: Clues, seller: Clues) -> Analysis:
    """Stage III (Eq. 4). The lite variant leaves the media out: their clues are in the text already."""
    lite = court.setup.variant == "iv-cot-lite"
    shown = () if lite else (*key_media(court.case, buyer), *key_media(court.case, seller))
    task = AnalyseDispute(case=court.case, focus=focus, buyer=buyer, seller=seller, shown=shown)
    return await court.ask(eye, task)
