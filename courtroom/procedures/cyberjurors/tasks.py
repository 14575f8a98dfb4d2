"""What jurors, examiner and clerk are asked (appendix E), each with what its stage takes in and no more."""

from __future__ import annotations

from pydantic import BaseModel, Field

from courtroom.cases.dispute import Dispute, Evidence, Side
from courtroom.media.medium import Medium
from courtroom.models.narrow import narrowed
from courtroom.models.task import Task
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors.answers import (
    OPINION_PUBLISHED,
    PERCEPTION_PUBLISHED,
    SELECTION_PUBLISHED,
    Analysis,
    Clue,
    Examination,
    Focus,
    Heard,
    Opinion,
    Perception,
    Selection,
    Summary,
)


class ExtractFocus(Task[Focus]):
    """Stage I: order, chat and the texts of both sides (Eq. 1, prompt E.3)."""

    name = "extract"
    title = "Focus extraction"
    case: Dispute
    persona: Persona | None = None


class SelectEvidence(Task[Selection]):
    """Stage II, the choice: which piece of one side to look at, by the texts of those not yet selected (Eq. 2)."""

    name = "select"
    title = "Evidence selection"
    # A prompt has the language in `_system` and the side in the pieces' ids; late pieces are no candidates.
    offline_only = ("language", "candidates.side", "candidates.late")
    language: str
    focus: Focus
    side: Side
    looked_at: tuple[Clue, ...] = ()
    candidates: tuple[Evidence, ...]
    persona: Persona | None = None
    reasons_first: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """An answer that names one of the candidates."""
        answer = Selection if self.reasons_first else SELECTION_PUBLISHED
        return narrowed(answer, {"selected_evidence_id": tuple(piece.id for piece in self.candidates)})

    def problem(self, answer: Selection) -> str | None:
        """Only a piece that is still to be looked at can be chosen, also where there are too many to list in the schema."""
        ids = [piece.id for piece in self.candidates]
        if answer.selected_evidence_id in ids:
            return None
        return f"selected_evidence_id must be one of {', '.join(ids)}"


class PerceiveEvidence(Task[Perception]):
    """Stage II, the look: one piece of evidence with its media, after what was found on this side before (Eq. 3)."""

    name = "perceive"
    title = "Clue perception"
    # A prompt has the language in `_system` and the side as `side`; late pieces are not looked at.
    offline_only = ("language", "evidence.side", "evidence.late")
    language: str
    focus: Focus
    side: Side
    evidence: Evidence
    before: tuple[Clue, ...] = ()
    persona: Persona | None = None
    reasons_first: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """Its fields in the paper's order, or reasons first."""
        return Perception if self.reasons_first else PERCEPTION_PUBLISHED

    def media(self) -> tuple[Medium, ...]:
        """The media of the chosen piece."""
        return self.evidence.media


class AnalyseDispute(Task[Analysis]):
    """Stage III: the clues of both sides against each other (Eq. 4, prompt E.6)."""

    name = "analyse"
    title = "Adversarial analysis"
    offline_only = (
        "case",
    )  # a prompt has what was found in the evidence; the offline model weighs the pieces' own words
    case: Dispute
    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    shown: tuple[Medium, ...] = ()
    persona: Persona | None = None

    def media(self) -> tuple[Medium, ...]:
        """The key pictures and frames, the buyer's first."""
        return self.shown


class Judge(Task[Opinion]):
    """Stage IV in a round of discussion: O_I, O_II, O_III, P_k, M_k, R_k,t and S_t (Eq. 6, algorithm 1, prompt E.7)."""

    name = "judge"
    title = "Verdict"
    offline_only = ("case",)  # a prompt has the examination; the offline model weighs the pieces' own words
    case: Dispute
    rules: tuple[str, ...] = ()
    examination: Examination
    seat: int = Field(ge=1)
    persona: Persona | None = None
    memory: tuple[str, ...] = ()
    heard: tuple[Heard, ...] = ()
    summary: Summary | None = None
    round: int = 1
    reasons_first: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """Its fields in the paper's order, or reasons first."""
        return Opinion if self.reasons_first else OPINION_PUBLISHED


class JudgeAtOnce(Task[Opinion]):
    """The baseline: the whole case and all its media in one question (prompt E.1)."""

    name = "judge-at-once"
    title = "Verdict in one step"
    case: Dispute
    rules: tuple[str, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        """All media of the case."""
        return tuple(self.case.media())


class Summarise(Task[Summary]):
    """The clerk's collective summary after a round (Eq. 7, prompt E.8)."""

    name = "summarise"
    title = "Collective summary"
    offline_only = ("language",)  # a prompt has it from the case, in `_system`
    language: str
    round: int
    opinions: tuple[Heard, ...]
    before: Summary | None = None
