"""The setup being edited: plain data in this session, kept when a page is left, with an undo."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Any

import streamlit as st

from courtroom.cases.case import Case
from courtroom.engine.changes import merged
from courtroom.engine.knobs import Widget, fields_drawn
from courtroom.engine.procedure import Preset, Procedure
from courtroom.engine.setup import Setup, changed_values

EDITED = {Widget.PERSONAS: "Jury", Widget.GRAPH: "Follow-graph", Widget.RULES: "Rules"}
"""The sections in which a field has an editor of its own."""
SHARE = "Save and share"


@dataclass
class SetupDraft:
    """One procedure's setup under way. Widgets read from `values` and write into it."""

    procedure: str
    kind: type[Setup]
    values: dict[str, Any]
    seed: int = 0
    preset: str = ""
    version: int = 0
    forked: str = ""
    """The run from which the values come, while a fork of it is set up."""
    history: list[str] = field(default_factory=list)

    @classmethod
    def of(cls, procedure: Procedure) -> SetupDraft:
        """The session's draft for a procedure."""
        drafts: dict[str, SetupDraft] = st.session_state.setdefault("drafts", {})
        if procedure.name not in drafts:
            draft = cls(procedure.name, procedure.setup, procedure.setup().model_dump(mode="json"))
            alike = (one for one in procedure.presets if merged(draft.values, one.changes) == draft.values)
            draft.preset = next((one.title for one in alike), "")
            drafts[procedure.name] = draft
            draft.history = [draft.frozen()]
        return drafts[procedure.name]

    def key(self, name: str) -> str:
        """A widget's key; new after a load or an undo, so that the widget shows the loaded value."""
        return f"{self.procedure}-{self.version}-{name}"

    def validated(self) -> Setup:
        """The setup.

        Raises:
            ValidationError: a value doesn't fit.
        """
        return self.kind.model_validate(self.values)

    def complete(self, case: Case) -> dict[str, Any]:
        """The values with everything drawn that is left to the seed."""
        return self.validated().complete(case, self.seed).model_dump(mode="json")

    def start_from(self, preset: Preset) -> None:
        """Defaults with a preset's changes; models and keys stay as chosen."""
        kept = {name: self.values[name] for name in ("model", "roles", "members", "budget")}
        self.values = merged({**self.kind().model_dump(mode="json"), **kept}, preset.changes)
        self.preset = preset.title
        self.renew()

    def load(self, shared: dict[str, Any]) -> None:
        """Take over a saved or shared setup."""
        self.values = {**self.kind().model_dump(mode="json"), **shared.get("setup", {})}
        self.seed = int(shared.get("seed", self.seed))
        self.preset = ""
        self.renew()

    def fork_of(self, run: str, setup: Setup, seed: int) -> None:
        """Start from a run's setup, once."""
        if self.forked != run:
            self.forked = run
            self.load({"setup": setup.model_dump(mode="json"), "seed": seed})
            self.history = [self.frozen()]

    def shared(self, case: str = "") -> dict[str, Any]:
        """What is saved, or carried by a file or a link: the changes against the defaults.

        Args:
            case: what a file or a link calls the case; a saved setup is used with any case.
        """
        changes = changed_values(self.kind, self.values)
        return {"procedure": self.procedure, "seed": self.seed, "setup": changes, **({"case": case} if case else {})}

    def sections(self) -> list[str]:
        """Names of the page's sections that this kind of setup has."""
        return [
            "Settings",
            "Models",
            *(title for widget, title in EDITED.items() if widget in self.drawn),
            "Prompts",
            SHARE,
        ]

    @property
    def drawn(self) -> dict[Widget, str]:
        """The names of the fields for which more than one plain field is drawn."""
        return fields_drawn(self.kind)

    def frozen(self) -> str:
        """The values as text, to compare and to go back to."""
        return json.dumps([self.seed, self.values], sort_keys=True, ensure_ascii=False)

    def remember(self) -> None:
        """Keep the present state as one step of the history."""
        if (state := self.frozen()) != self.history[-1]:
            self.history = [*self.history[-50:], state]

    @property
    def can_undo(self) -> bool:
        """Whether there is a step to go back to."""
        return len(self.history) > 1 or self.frozen() != self.history[-1]

    def undo(self) -> None:
        """Go one step back."""
        if self.frozen() == self.history[-1] and len(self.history) > 1:
            self.history.pop()
        self.seed, self.values = json.loads(self.history[-1])
        self.renew()

    def renew(self) -> None:
        """Have all widgets show the values anew."""
        self.version += 1
