"""What a person should know of who sits where: seats that cannot differ, and an assessor that is none.

The paper's jury is heterogeneous by its models (section 3.1); five seats that are one model with one prompt repeat one
opinion.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence

from courtroom.engine.setup import Member
from courtroom.models.spec import OFFLINE, PERSON

WHAT_TO_DO = (
    "Give each a model or a point of view of its own (section Models; in the shell `--set members.juror-01.id=...` and "
    "`--set points_of_view.juror-01=...`), or start from the preset “Paper, with its models” or “Seven points of view”."
)


def seats(members: Sequence[Member], points_of_view: Mapping[str, str]) -> Iterator[str]:
    """A warning for the jurors, and one for the generators, that are one model with one prompt.

    Args:
        points_of_view: as they are stated, by member.
    """
    for role, plural in (("juror", "jurors"), ("generator", "generators")):
        of_role = [member for member in members if member.role == role]
        for model, same in _same(of_role, points_of_view):
            everyone = len(same) == len(of_role)
            all_of_them = f"Both {plural}" if len(same) == 2 else f"All {len(same)} {plural}"
            who = all_of_them if everyone else " and ".join((", ".join(same[:-1]), same[-1]))
            what = "they repeat one opinion" if role == "juror" else "they propose much the same sentences"
            yield f"{who} are one model ({model}) with one prompt: {what}. {WHAT_TO_DO}"


def assessor(members: Sequence[Member], *, chosen: bool) -> Iterator[str]:
    """A warning where nobody may assess, where the assessor judges its own text, and where it reads no meaning.

    Args:
        chosen: whether a model was named for the assessor.
    """
    if not chosen:
        yield (
            "The final text is not assessed: the assessor has no model of its own, and the run's model would judge its own "
            "text. Choose one for the role Assessor (in the shell `--set roles.assessor.id=...`), or set the assessment to none."
        )
        return
    others = {(member.spec.id, member.spec.connection) for member in members if member.role != "assessor"}
    for one in (member.spec for member in members if member.role == "assessor"):
        if one.id == OFFLINE and others != {(OFFLINE, "")}:
            yield "The assessor is the offline model: it counts words and reads no meaning. Choose a model for the role Assessor."
        elif one.id != OFFLINE and (one.id, one.connection) in others:
            yield f"The assessor is a model that takes part in the writing too ({one.id}); models favour their own text. Choose another for the role Assessor."


def _same(members: Sequence[Member], points_of_view: Mapping[str, str]) -> Iterator[tuple[str, list[str]]]:
    """Model and names of those who are one model with one prompt. Offline seats differ by their weights, persons by nature."""
    groups: dict[tuple[str, str, str], list[str]] = defaultdict(list)
    for member in members:
        if member.spec.id not in (OFFLINE, PERSON):
            view = points_of_view.get(member.id, "")
            groups[member.spec.id, member.spec.connection, view].append(member.name)
    return ((model, names) for (model, _, _), names in groups.items() if len(names) > 1)
