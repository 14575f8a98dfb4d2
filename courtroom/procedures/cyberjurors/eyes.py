"""Who examines the evidence: one for all, or each juror, where those who would be asked the same share; and what is made up for later.

None of this is in the paper, where each juror examines for itself (section 4.1).
"""

from collections.abc import Hashable, Mapping, Sequence

from courtroom.declarations.setup import Member
from courtroom.models.spec import PERSON
from courtroom.procedures.cyberjurors import tasks
from courtroom.procedures.cyberjurors.evidence import Hearing, analyse, coloured, examine, look_at

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
    jury = court.panel("juror") if court.setup.examines_evidence else ()
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


async def examine_again(court: Hearing, views: Views) -> Views:
    """The examinations that lack something, made anew as far as that goes: a whole one that failed, else the pieces that
    could not be looked at. Those alone that changed."""
    shared = court.panel("examiner")
    known = ((juror, views[juror.id]) for juror in court.panel("juror") if juror.id in views)
    lacking = [juror for juror, view in known if view is None or view.unseen]
    eyes = {juror.id: "" if shared else same_eyes(court, juror) for juror in lacking}
    first = {eyes[juror.id]: (shared[0] if shared else juror, views[juror.id]) for juror in reversed(lacking)}
    made = await court.all(complete(court, eye, view) for eye, view in first.values())
    found = dict(zip(first, made, strict=True))
    return {juror.id: view for juror in lacking if (view := found[eyes[juror.id]]) is not None}


async def complete(court: Hearing, eye: Member, view: tasks.Examination | None) -> tasks.Examination | None:
    """An examination with the pieces that could not be looked at before; None where none of them can be now."""
    if view is None:
        return await examine(court, eye)
    clues = {"buyer": view.buyer, "seller": view.seller}
    pieces = [piece for piece in court.case.evidence if piece.id in view.unseen]
    looks = (look_at(court, eye, view.focus, piece, clues[piece.side], f"again-{piece.id}") for piece in pieces)
    found = [clue for clue in await court.all(looks) if clue is not None]
    if not found:
        return None
    seen = {clue.evidence_id for clue in found}
    for piece in pieces:
        clues[piece.side] += tuple(clue for clue in found if clue.evidence_id == piece.id)
    unseen = tuple(piece for piece in view.unseen if piece not in seen)
    return await analyse(court, eye, view.focus, clues["buyer"], clues["seller"], unseen)
