"""Stages I to III of IV-CoT (section 4.1; lines 7 to 23 of Algorithm 1): one pair of eyes examines the evidence of both sides."""

import re
from collections.abc import Iterator
from typing import Any

from courtroom import Abstained, Court, Medium, Member
from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup

Hearing = Court[Dispute, CyberJurorsSetup]
Clues = tuple[tasks.Clue, ...]

_CLOCK = re.compile(r"(?<![\d:.])(?:(\d{1,2}):)?(\d{1,3}):(\d{2}(?:\.\d+)?)(?![\d:])")
_MIDDLE = 0.5
"""Where a frame is labelled with its whole second, the one that is meant lies within the second from there on."""
_RANK = {"high": 0, "medium": 1, "low": 2}


async def examine(court: Hearing, eye: Member) -> tasks.Examination:
    """Stages I to III for one pair of eyes. Each side is grounded apart, so that evidence does not mix."""
    task = tasks.ExtractFocus(case=court.case, rules=told_rules(court), persona=coloured(court, eye))
    focus = await court.ask(eye, task)
    grounded = await court.all(ground_side(court, eye, focus, side) for side in SIDES)
    buyer, seller = (clues if clues is None else clues[0] for clues in grounded)
    if buyer is None or seller is None:
        raise Abstained("One side's evidence could not be examined, and half an examination would be unfair.")
    unseen = tuple(piece for clues in grounded if clues for piece in clues[1])
    if unseen and not (buyer or seller):
        raise Abstained("No piece of evidence could be looked at.")
    return await analyse(court, eye, focus, buyer, seller, unseen)


async def ground_side(court: Hearing, eye: Member, focus: tasks.Focus, side: Side) -> tuple[Clues, tuple[str, ...]]:
    """Select and perceive in turn until the side's claim is sufficiently verified, T_max times at most (Eq. 2, 3). Where one piece
    alone is left there is nothing to select, and nobody is asked. Gives also the ids of the pieces that could not be looked at."""
    left = [piece for piece in court.case.by_side(side) if not piece.late]  # these are shown to all as they are
    clues: list[tasks.Clue] = []
    unseen: list[str] = []
    turns = min(court.setup.pieces, len(left))
    for number in range(1, turns + 1):
        chosen = left[0]
        if len(left) > 1:
            known = of_side(court, eye, focus, side)
            task = tasks.SelectEvidence(**known, looked_at=tuple(clues), candidates=tuple(left))
            selection = await court.ask(eye, task, f"{side}-{number}")
            chosen = next(piece for piece in left if piece.id == selection.selected_evidence_id)
        left.remove(chosen)
        clue = await look_at(court, eye, focus, chosen, tuple(clues), f"{side}-{number}", more=number < turns)
        if clue is None:
            unseen.append(chosen.id)
            continue
        clues.append(clue)
        if clue.perception.is_sufficient:
            break
    return tuple(clues), tuple(unseen)


def of_side(court: Hearing, eye: Member, focus: tasks.Focus, side: Side) -> dict[str, Any]:
    """What each question about the evidence of one side takes in."""
    how = {"persona": coloured(court, eye), "reasons_first": court.setup.reasons_first}
    return {"language": court.case.language, "focus": focus, "side": side, **how}


async def look_at(
    court: Hearing, eye: Member, focus: tasks.Focus, piece: Evidence, before: Clues, step: str, *, more: bool = False
) -> tasks.Clue | None:
    """What is found in one piece of evidence; None where it can't be looked at, as when a model refuses its pictures.
    `more`: whether another piece of its side may be looked at after it."""
    known, only = of_side(court, eye, focus, piece.side), court.setup.clues == "in-favour"
    look = tasks.PerceiveEvidence(**known, evidence=piece, before=before, in_favour=only, more=more)
    perception = await court.try_ask(eye, look, step)
    if perception is None:
        return None
    media = tuple(medium.id for medium in piece.media)
    clue = tasks.Clue(evidence_id=piece.id, media=media, perception=perception)
    return clue.model_copy(update={"round": piece.round, "at": piece.at}) if says_more(court) else clue


async def analyse(
    court: Hearing, eye: Member, focus: tasks.Focus, buyer: Clues, seller: Clues, unseen: tuple[str, ...]
) -> tasks.Examination:
    """The examination, with stage III of what was found. `unseen`: ids of the pieces that could not be looked at."""
    if unseen:
        text = f"{', '.join(unseen)} could not be looked at by {eye.name}, who goes on with what there is."
        court.note(f"unseen/{eye.id}/{'/'.join(unseen)}", text)
    # Stage III (Eq. 4). The lite variant leaves the media out: their clues are in the text already.
    limit = 0 if court.setup.variant == "iv-cot-lite" else court.setup.key_media
    shown = (*key_media(court.case, buyer, limit), *key_media(court.case, seller, limit))
    found: dict[str, Any] = {"focus": focus, "buyer": buyer, "seller": seller, "unseen": unseen}
    told: dict[str, Any] = {"rules": told_rules(court), "persona": coloured(court, eye)}
    left = unexamined(court, buyer, seller)
    analysis = await court.ask(
        eye, tasks.AnalyseDispute(case=court.case, **found, **told, unexamined=left, shown=shown)
    )
    return tasks.Examination(**found, analysis=analysis)


def unexamined(court: Hearing, buyer: Clues, seller: Clues) -> tuple[Evidence, ...]:
    """The pieces that nobody looked at, in the wording that tells them; late ones are shown to all as they are."""
    known = {clue.evidence_id for clue in (*buyer, *seller)}
    told = court.case.evidence if says_more(court) else ()
    return tuple(piece for piece in told if not piece.late and piece.id not in known)


def says_more(court: Hearing) -> bool:
    """Whether members are told more than the paper tells them."""
    return court.setup.wording == "plain" and not court.setup.single


def told_rules(court: Hearing) -> tuple[tasks.Rule, ...]:
    """The rules, with how they are read, for examiner and clerk, whom the paper does not tell them."""
    return tasks.ruled(court.setup.rules if court.setup.ruled and says_more(court) else (), read=True)


def coloured(court: Hearing, eye: Member) -> Persona | None:
    """The persona by which evidence is read (prompt E.2), where the setup wants that."""
    return eye.persona if court.setup.persona_examines else None


def key_media(case: Dispute, clues: tuple[tasks.Clue, ...], limit: int | None) -> tuple[Medium, ...]:
    """The pictures, and of each video the frames, that findings name; no video is shown whole again. At most `limit` of them, if any, the
    most important findings first. Gives each medium once, in the order of the clues; a video with the moments of its frames."""
    named = sorted(_named(case, clues), key=lambda one: _RANK[one[0].importance])  # a stable order among equals
    kept = list(dict.fromkeys((medium.id, moment) for _, medium, moment in named))[:limit]
    media = {medium.id: medium for clue in clues for medium in _piece(case, clue)}
    moments = {name: tuple(sorted(m for other, m in kept if other == name and m is not None)) for name, _ in kept}
    shown = (medium for name, medium in media.items() if name in moments)
    return tuple(medium.model_copy(update={"moments": moments[medium.id]}) for medium in shown)


def seconds(timestamp: str) -> tuple[float, ...]:
    """The points in time that a timestamp names, in seconds: `00:05.4` is 5.4, `00:05` lies within its second, `00:05-00:09` is both."""
    return tuple(
        int(hours or 0) * 3600.0 + int(minutes) * 60 + float(rest) + (0 if "." in rest else _MIDDLE)
        for hours, minutes, rest in _CLOCK.findall(timestamp)
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
                yield from ((finding, medium, moment) for moment in seconds(finding.timestamp))


def _piece(case: Dispute, clue: tasks.Clue) -> tuple[Medium, ...]:
    return next(piece.media for piece in case.evidence if piece.id == clue.evidence_id)
