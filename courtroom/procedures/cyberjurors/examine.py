"""IV-CoT, stages I to III (section 4.1): focus, clues, adversarial analysis."""

from __future__ import annotations

from courtroom.dispute import Dispute, Side
from courtroom.engine.court import Court
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
    """The examination of each juror by id; None where one could not be made."""
    jury = court.panel("juror")
    eyes = court.panel("examiner") or jury

    await court.stage("Focus", "focus")
    foci = await court.all(court.ask(eye, ExtractFocus(case=court.case)) for eye in eyes)

    await court.stage("Clues", "clues")
    clues = await court.all(ground(court, eye, focus) for eye, focus in zip(eyes, foci, strict=True))

    await court.stage("Analysis", "analysis")
    analyses = await court.all(
        analyse(court, eye, focus, found) for eye, focus, found in zip(eyes, foci, clues, strict=True)
    )
    views = [
        Examination(focus=focus, buyer=found[0], seller=found[1], analysis=analysis)
        if focus and found and analysis
        else None
        for focus, found, analysis in zip(foci, clues, analyses, strict=True)
    ]
    return dict(zip((juror.id for juror in jury), views if len(views) == len(jury) else views * len(jury), strict=True))


async def ground(court: Hearing, eye: Member, focus: Focus | None) -> tuple[Clues, Clues] | None:
    """Stage II: each side apart, so that evidence does not mix."""
    if focus is None:
        return None
    buyer, seller = await court.all(ground_side(court, eye, focus, side) for side in ("buyer", "seller"))
    return None if buyer is None or seller is None else (buyer, seller)


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


async def analyse(
    court: Hearing, eye: Member, focus: Focus | None, clues: tuple[Clues, Clues] | None
) -> Analysis | None:
    """Stage III (Eq. 4). The lite variant leaves the media out: their clues are in the text already."""
    if focus is None or clues is None:
        return None
    buyer, seller = clues
    lite = court.setup.variant == "iv-cot-lite"
    shown = () if lite else (*key_media(court.case, buyer), *key_media(court.case, seller))
    return await court.ask(eye, AnalyseDispute(case=court.case, focus=focus, buyer=buyer, seller=seller, shown=shown))
