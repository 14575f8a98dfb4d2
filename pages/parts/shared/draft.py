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
        return self.kind.model_validate(self.values)

    def complete(self, case: Case) -> dict[str, Any]:
        return self.validated().complete(case, self.seed).model_dump(mode="json")

    def start_from(self, preset: Preset) -> None:
        """Defaults with a preset's changes; models and keys stay as chosen."""
        kept = {name: self.values[name] for name in ("model", "roles", "members", "budget")}
        self.values = merged({**self.kind().model_dump(mode="json"), **kept}, preset.changes)
        self.preset = preset.title
        self.renew()

    def load(self, shared: dict[str, Any]) -> None:
        self.values = {**self.kind().model_dump(mode="json"), **shared.get("setup", {})}
        self.seed = int(shared.get("seed", self.seed))
        self.preset = ""
        self.renew()

    def fork_of(self, run: str, setup: Setup, seed: int) -> None:
        if self.forked != run:
            self.forked = run
            self.load({"setup": setup.model_dump(mode="json"), "seed": seed})
            self.history = [self.frozen()]

    def shared(self, case: str = "") -> dict[str, Any]:
        """What is saved, or carried by a file or a link: the changes against the defaults."""
        changes = changed_values(self.kind, self.values)
        return {"procedure": self.procedure, "seed": self.seed, "setup": changes, **({"case": case} if case else {})}

    def sections(self) -> list[str]:
        return [
            "Settings",
            "Models",
            *(title for widget, title in EDITED.items() if widget in self.drawn),
            "Prompts",
            SHARE,
        ]

    @property
    def drawn(self) -> dict[Widget, str]:
        return fields_drawn(self.kind)

    def frozen(self) -> str:
        """The values as text, to compare and to go back to."""
        return json.dumps([self.seed, self.values], sort_keys=True, ensure_ascii=False)

    def remember(self) -> None:
        if (state := self.frozen()) != self.history[-1]:
            self.history = [*self.history[-50:], state]

    @property
    def can_undo(self) -> bool:
        return len(self.history) > 1 or self.frozen() != self.history[-1]

    def undo(self) -> None:
        if self.frozen() == self.history[-1] and len(self.history) > 1:
            self.history.pop()
        self.seed, self.values = json.loads(self.history[-1])
        self.renew()

    def renew(self) -> None:
        self.version += 1
