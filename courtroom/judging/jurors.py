"""Whose personas the jurors of a panel have: their own, those of others as a placebo, or none."""

from collections.abc import Sequence
from typing import Annotated, Literal

from pydantic import Field

from courtroom.engine.knobs import Group, declared
from courtroom.language import N_
from courtroom.panel.personas import Persona, sample_panel

WhosePersonas = Annotated[
    Literal["own", "others", "none"],
    Field(
        title=N_("Whose personas"),
        description=N_(
            "`own`: those of the panel. `others`: those of other people, drawn by lot, in place of them: a placebo, which shows whether it matters who "
            "the jurors are. `none`: all are asked the same and differ by chance alone."
        ),
        json_schema_extra=declared(group=Group.WHO),
    ),
]
"""The knob of a procedure whose jurors have personas; its default is `own`."""
ELSEWHERE = 1_000_003
"""Added to the seed of those who are drawn as others."""


def seated(given: Sequence[Persona], size: int, seed: int, whose: str) -> tuple[Persona, ...]:
    """The personas of so many seats: those that are given, and others drawn by the seed where they are missing."""
    if whose == "others":
        names = {one.name for one in (given or sample_panel(size, seed))[:size]}
        others = [one for one in sample_panel(51, seed + ELSEWHERE) if one.name not in names]
        return tuple((*others, *sample_panel(51, seed + ELSEWHERE))[:size])
    names = {known.name for known in given}
    return tuple((*given[:size], *(one for one in sample_panel(51, seed) if one.name not in names))[:size])
