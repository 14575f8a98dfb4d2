"""IV-CoT, stages I to III (section 4.1): focus, clues, adversarial analysis."""

import re
from collections.abc import Hashable, Iterator, Mapping, Sequence

from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.engine.court import Court
from courtroom.engine.errors import Abstained
from courtroom.engine.setup import Member
from courtroom.media.medium import Medium
from courtroom.models.spec import PERSON
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup

_CLOCK = re.compile(r"(?<![\d:])(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?![\d:])")
_MIDDLE = 0.5
"""A frame is labelled with its whole second, so the one that is meant lies within the second from there on."""
_RANK = {"high": 0, "medium": 1, "low": 2}


def key_media(case: Dispute, clues: tuple[tasks.Clue, ...], limit: int | None) -> tuple[Medium, ...]:
    """The pictures, and of each video the frames, that findings name; no video is shown whole again.

    Args:
        limit: how many pictures and frames at most, the most important findings first; None is no limit.

    Returns:
        Each medium once, in the order of the clues; a video with the moments of its frames.
    """
    named = sorted(_named(case, clues), key=lambda one: _RANK[one[0].importance])  # a stable order among equals
    kept = list(dict.fromkeys((medium.id, moment) for _, medium, moment in named))[:limit]
    media = {medium.id: medium for clue in clues for medium in _piece(case, clue)}
    moments = {name: tuple(sorted(m for other, m in kept if other == name and m is not None)) for name, _ in kept}
    return tuple(
        medium.model_copy(update={"moments": moments[name]}) for name, medium in media.items() if name in moments
    )


def seconds(timestamp: str) -> tuple[float, ...]:
    """The points in time that a timestamp names, in seconds: `00:05` is 5, `01:02:03` is 3723, `00:05-00:09` is both."""
    return tuple(
        int(hours or 0) * 3600.0 + int(minutes) * 60 + int(rest) for hours, minutes, rest in _CLOCK.findall(timestamp)
    )


def _named(case: Dispute, clues: tuple[tasks.Clue, ...]) -> Iterator[tuple[tasks.Finding, Medium, float | None]]:
    """Each finding with its picture, or with each of its frames; one that names no medium or no time has none."""
    for clue in clues:
        media = _piece(case, clue)
        for finding in clue.perception.visual_findings:
            if finding.media_index >= len(media):
                continue
            medium = media[finding.media_index]
            if medium.kind == "image":
                yield finding, medium, None
            else:
                yield from ((finding, medium, moment + _MIDDLE) for moment in seconds(finding.timestamp))


def _piece(case: Dispute, clue: tasks.Clue) -> tuple[Medium, ...]:
    return next(piece.media for piece in case.evidence if piece.id == clue.evidence_id)


Hearing = Court[Dispute, CyberJurorsSetup]
Clues = tuple[tasks.Clue, ...]
Views = Mapping[str, tasks.Examination | None]
"""The examination of each juror by id; None where one could not be made."""


async def examine_all(court: Hearing) -> Views:
    """The examination of each juror. Jurors do not wait for each other: each goes through its own chain."""
    jury = court.panel("juror")
    await court.stage("Evidence", "evidence")
    if examiners := court.panel("examiner"):
        (shared,) = await court.all(examine(court, eye) for eye in examiners)
        return {juror.id: shared for juror in jury}
    return await examine_apart(court, jury, {})


async def examine_newcomers(court: Hearing, views: Views) -> Views:
    """The examinations of those whom a person has seated since; where one was made for all, it is theirs too."""
    jury = court.panel("juror") if court.setup.examines else ()
    new = [juror for juror in jury if juror.id not in views]
    if court.setup.examination == "shared":
        shared = next(iter(views.values()), None)
        return {juror.id: shared for juror in new}
    made = {same_eyes(court, juror): views[juror.id] for juror in jury if juror.id in views}
    return await examine_apart(court, new, made)


async def examine_apart(
    court: Hearing, jury: Sequence[Member], made: Mapping[Hashable, tasks.Examination | None]
) -> dict[str, tasks.Examination | None]:
    """An examination of each juror's own; jurors who would be asked the same without sampling share one. `made`: examinations that
    there are already, by the eyes that made them."""
    eyes = {juror.id: same_eyes(court, juror) for juror in jury}
    first = {eyes[juror.id]: juror for juror in reversed(jury) if eyes[juror.id] not in made}
    found = await court.all(examine(court, eye) for eye in first.values())
    views = {**made, **dict(zip(first, found, strict=True))}
    if alike := len(jury) - len(first):
        court.note("alike", f"At temperature 0, {alike} examinations equal another juror's; they were asked once.")
    return {juror.id: views[eyes[juror.id]] for juror in jury}


def same_eyes(court: Hearing, juror: Member) -> Hashable:
    """Equal for jurors whose examinations differ by sampling alone, while the temperature is 0: the same model, the same prompts."""
    if juror.spec.temperature != 0 or juror.spec.id == PERSON:
        return juror.id
    return juror.spec.model_dump_json(), coloured(court, juror)


def coloured(court: Hearing, eye: Member) -> Persona | None:
    """The persona by which evidence is read (prompt E.2), where the setup wants that."""
    return eye.persona if court.setup.persona_examines else None


async def examine(court: Hearing, eye: Member) -> tasks.Examination:
    """Stages I to III for one pair of eyes. Each side is grounded apart, so that evidence does not mix."""
    focus = await court.ask(eye, tasks.ExtractFocus(case=court.case, persona=coloured(court, eye)))
    buyer, seller = await court.all(ground_side(court, eye, focus, side) for side in SIDES)
    if buyer is None or seller is None:
        raise Abstained("One side's evidence could not be examined, and half an examination would be unfair.")
    analysis = await analyse(court, eye, focus, buyer, seller)
    return tasks.Examination(focus=focus, buyer=buyer, seller=seller, analysis=analysis)


async def ground_side(court: Hearing, eye: Member, focus: tasks.Focus, side: Side) -> Clues:
    """Select and perceive in turn until the side's claim is sufficiently verified, T_max times at most (Eq. 2, 3). Where one piece
    alone is left there is nothing to select, and nobody is asked."""
    setup, persona = court.setup, coloured(court, eye)
    left = [piece for piece in court.case.by_side(side) if not piece.late]  # these are shown to all as they are
    clues: list[tasks.Clue] = []
    for number in range(1, setup.pieces + 1):
        if not left:
            break
        common = {"language": court.case.language, "focus": focus, "side": side, "persona": persona}
        common["reasons_first"] = setup.reasons_first
        if len(left) > 1:
            task = tasks.SelectEvidence(**common, looked_at=tuple(clues), candidates=tuple(left))
            selection = await court.ask(eye, task, f"{side}-{number}")
            chosen = next(piece for piece in left if piece.id == selection.selected_evidence_id)
        else:
            chosen = left[0]
        left.remove(chosen)
        look = tasks.PerceiveEvidence(**common, evidence=chosen, before=tuple(clues))
        perception = await court.ask(eye, look, f"{side}-{number}")
        clues.append(tasks.Clue(evidence_id=chosen.id, media=tuple(m.id for m in chosen.media), perception=perception))
        if perception.is_sufficient:
            break
    return tuple(clues)


async def analyse(court: Hearing, eye: Member, focus: tasks.Focus, buyer: Clues, seller: Clues) -> tasks.Analysis:
    """Stage III (Eq. 4). The lite variant leaves the media out: their clues are in the text already."""
    limit = 0 if court.setup.variant == "iv-cot-lite" else court.setup.key_media
    shown = (*key_media(court.case, buyer, limit), *key_media(court.case, seller, limit))
    task = tasks.AnalyseDispute(
        case=court.case, focus=focus, buyer=buyer, seller=seller, shown=shown, persona=coloured(court, eye)
    )
    return await court.ask(eye, task)
