"""What a run is like at each of its stages: the case, the setup and the members, with all interventions that hold there."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from courtroom.cases.case import Case
from courtroom.engine.changes import changed
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, Intervention, Overrule
from courtroom.engine.setup import Member, Setup
from courtroom.models.prompts import Prompts


@dataclass(frozen=True)
class StageInput:
    """All that a procedure sees of a run's input at one stage."""

    case: Any
    """Without anything that a member must not know. Of the kind that the procedure takes, as `setup` is."""
    unsealed: Any
    setup: Any
    members: tuple[Member, ...]
    prompts: Prompts


class RunInput:
    """The input of a run as it was at the beginning, and what persons did to it."""

    def __init__(
        self,
        panel: Callable[[Setup], tuple[Member, ...]],
        prompts: Path,
        case: Case,
        setup: Setup,
        seed: int,
        interventions: Sequence[Intervention] = (),
    ) -> None:
        self._panel, self._prompts, self._case, self._setup, self._seed = panel, prompts, case, setup, seed
        self._interventions = tuple(interventions)
        self._stages: dict[tuple[str, ...], StageInput] = {}

    def at(self, index: int) -> StageInput:
        held = tuple(one for one in self._interventions if one.index <= index and not isinstance(one.action, Overrule))
        key = tuple(one.id for one in held)
        if key not in self._stages:
            self._stages[key] = self._stage(held)
        return self._stages[key]

    def overruled(self, path: str) -> Intervention | None:
        found = [one for one in self._interventions if isinstance(one.action, Overrule) and one.action.path == path]
        return found[-1] if found else None

    def _stage(self, held: Sequence[Intervention]) -> StageInput:
        case, setup = self._case, self._setup
        notes: list[str] = []
        for one in held:
            if isinstance(one.action, ChangeSetup):
                setup = changed(setup, {one.action.key: one.action.value}, recorded=True).complete(case, self._seed)
            elif isinstance(one.action, AddEvidence):
                case = case.with_addition(one.action.text, one.action.side)
            elif isinstance(one.action, AddNote):
                notes.append(one.action.text)
        members = self._panel(setup)
        blind = case.blind()
        common: dict[str, Any] = {"case": blind, "setup": setup}
        prompts = Prompts(self._prompts, common, setup.prompts, notes=tuple(notes))
        return StageInput(blind, case, setup, members, prompts)
