"""Which class a case of a kind has: those that come with Courtroom, and those of installed packages."""

import logging
from collections.abc import Mapping
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from pathlib import Path
from typing import Any

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, DraftBatch, Trial
from courtroom.cases.dispute import Dispute, PrecedentBatch
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.cases.question import Question
from courtroom.errors import CaseError, NotInstalled

log = logging.getLogger(__name__)

GROUP = "courtroom.case_kinds"
"""The entry points under which packages name their kinds of case: the kind, and its class."""
_CLASSES: tuple[type[Case], ...] = (
    *(Dispute, Question, PrecedentBatch, CriminalCase),
    *(Document, LabelledTask, Trial, DraftBatch),
)
BUNDLED: Mapping[str, type[Case]] = {kind.model_fields["kind"].default: kind for kind in _CLASSES}
PROMPTS = Path(__file__).parent / "prompts"
"""What a case of a kind looks like in a prompt: `<kind>.md.j2`."""

WITH_OPTIONS = "with-options"
"""What a procedure hears that takes every kind of case which is decided for an option."""


@cache
def _outside() -> tuple[Mapping[str, type[Case]], Mapping[str, str]]:
    """Return the kinds of installed packages, and a sentence for each that can't be used."""
    found: dict[str, type[Case]] = {}
    broken: dict[str, str] = {}
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        try:
            found[point.name] = _loaded(point)
        except Exception as error:  # noqa: BLE001  a stranger's package can fail in any way; the log has the rest
            origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
            log.exception("the kind of case “%s” of %s can't be used", point.name, origin)
            broken[point.name] = f"The kind of case “{point.name}” of {origin} can't be used: {error}"
    return found, broken


def _loaded(point: EntryPoint) -> type[Case]:
    kind = point.load()
    if not (isinstance(kind, type) and issubclass(kind, Case)):
        raise CaseError(f"{point.value} is no class below Case. Mend the entry point in its pyproject.toml.")
    if point.name in (*BUNDLED, WITH_OPTIONS) or kind.model_fields["kind"].default != point.name:
        raise CaseError(
            f"the field `kind` of {point.value} must be “{point.name}”, which no other kind has. Rename it."
        )
    if kind.template is None or not kind.template.is_file():
        raise CaseError(f"{point.value} names no file as its `template`. Write one that shows such a case in prompts.")
    return kind


def case_kinds() -> Mapping[str, type[Case]]:
    """Return the class of each kind of case. Packages are looked for at the first call, as they import this one."""
    return {**BUNDLED, **_outside()[0]}


def broken_kinds() -> Mapping[str, str]:
    """Return a sentence for each kind of a package that can't be used, by its name."""
    return _outside()[1]


def case_templates() -> Mapping[str, Path]:
    """Return the templates that every procedure may include, by name: a kind's has the kind's name."""
    shared = {path.name.removesuffix(".md.j2"): path for path in PROMPTS.glob("*.md.j2")}
    return shared | {name: kind.template for name, kind in _outside()[0].items() if kind.template}


def kinds_of(heard: str) -> tuple[str, ...]:
    """Return the kinds of case that a procedure hears, by what it declares; none where it is unknown."""
    known = case_kinds()
    if heard == WITH_OPTIONS:
        return tuple(name for name, kind in known.items() if kind.has_options)
    return (heard,) if heard in known else ()


def parse_case(data: Any) -> Case:
    """Read a case from plain data. Raises `ValidationError`, or `CaseError`: its kind is not known (`NotInstalled`)."""
    if not isinstance(data, dict):
        raise CaseError("a case must be a JSON object with fields such as `kind`, `id` and `title`.")
    kind, kinds = data.get("kind"), case_kinds()
    if not isinstance(kind, str) or kind not in kinds:
        known = ", ".join(f"“{name}”" for name in kinds)
        wrong = f"“{kind[:40]}” is not known" if isinstance(kind, str) else "it is missing or no text"
        refuse = NotInstalled if isinstance(kind, str) else CaseError
        raise refuse(f"the field `kind` must say what kind of case this is, but {wrong}. Known kinds: {known}.")
    return kinds[kind].model_validate(data)
