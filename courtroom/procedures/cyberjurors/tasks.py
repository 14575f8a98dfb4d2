"""What jurors, clerk and examiner are asked, and what their answers look like (appendix E: fields and slots)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.cases.dispute import Dispute, Evidence, Side
from courtroom.media.medium import Medium
from courtroom.models.task import Answer, Task
from courtroom.panel.personas import Persona
from courtroom.strict import Strict

Degree = Literal["strong", "moderate", "weak"]


class Focus(Answer):
    """O_I (Eq. 1): what the dispute turns on and what each side wants."""

    buyer_core_claim: str = Field(min_length=1, description="What the buyer wants and why, in a sentence or two.")
    seller_core_claim: str = Field(min_length=1, description="What the seller wants and why.")
    dispute_focus: str = Field(min_length=1, description="The question on which the dispute turns.")


class Selection(Answer):
    """The piece of evidence to look at next (Eq. 2)."""

    selected_evidence_id: str = Field(description="Id of one of the pieces not yet looked at, e.g. buyer-2.")
    reason: str = ""


class Finding(Answer):
    """Something seen in one medium."""

    media_type: Literal["image", "video"]
    media_index: int = Field(ge=0, le=99, description="Position among this evidence's media, from 0.")
    timestamp: str = Field(default="", description="mm:ss in a video, empty for a picture.")
    description: str
    benefit_analysis: str = Field(default="", description="Why it speaks for or against this side.")
    importance: Literal["high", "medium", "low"] = "medium"


class Perception(Answer):
    """O_t (Eq. 3): pivotal clues in one piece of evidence, and what they are worth."""

    visual_findings: tuple[Finding, ...] = ()
    evidence_summary: str = Field(min_length=1)
    support_strength: Degree = Field(description="How strongly the evidence supports this side's claim.")
    is_sufficient: bool = Field(description="True when this side's claim is now adequately verified or refuted.")
    sufficiency_reason: str = ""


class Clue(Strict):
    """A perception with the evidence that it is of."""

    evidence_id: str
    perception: Perception


class BuyerPosition(Answer):
    """The buyer's side of the analysis."""

    main_complaint: str
    demands: str = ""
    key_evidence: tuple[str, ...] = ()
    visual_support: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class SellerPosition(Answer):
    """The seller's side of the analysis."""

    main_defense: str
    counter_arguments: str = ""
    key_evidence: tuple[str, ...] = ()
    visual_support: str = ""
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class ConflictFocus(Answer):
    """Where the two sides contradict each other."""

    core_disagreement: str
    evidence_contradictions: tuple[str, ...] = ()
    visual_evidence_insights: str = ""
    critical_facts: tuple[str, ...] = ()


class Analysis(Answer):
    """O_III (Eq. 4): the adversarial analysis."""

    dispute_root_cause: str
    buyer_position: BuyerPosition
    seller_position: SellerPosition
    conflict_focus: ConflictFocus


class Opinion(Answer):
    """O_IV (Eq. 5): a juror's verdict and reasons."""

    verdict: Side
    reasoning: tuple[str, ...] = Field(min_length=1, max_length=12, description="Short reasons, weightiest first.")


class Summary(Answer):
    """S_t (Eq. 7): the collective verdict summary with its three sections (prompt E.8)."""

    key_arguments: str = Field(min_length=1, description="The arguments and perspectives that jurors put forward.")
    debate_intensity: str = Field(min_length=1, description="Whether and where the debate is heated.")
    prevailing_orientation: str = Field(min_length=1, description="Which side is being supported, and how firmly.")


class Examination(Strict):
    """O_I, O_II and O_III of one examination."""

    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    analysis: Analysis


class Heard(Strict):
    """A followed juror's opinion of the round before (R_k,t)."""

    name: str
    verdict: Side
    reasoning: tuple[str, ...]


class ExtractFocus(Task[Focus]):
    """Stage I."""

    name = "extract"
    title = "Focus extraction"
    case: Dispute


class SelectEvidence(Task[Selection]):
    """Stage II, the choice: which piece to look at, by text alone."""

    name = "select"
    title = "Evidence selection"
    case: Dispute
    focus: Focus
    side: Side
    looked_at: tuple[Clue, ...] = ()
    candidates: tuple[Evidence, ...]

    def problem(self, answer: Selection) -> str | None:
        """Only a piece that is still to be looked at can be chosen."""
        ids = [piece.id for piece in self.candidates]
        if answer.selected_evidence_id in ids:
            return None
        return f"selected_evidence_id must be one of {', '.join(ids)}"


class PerceiveEvidence(Task[Perception]):
    """Stage II, the look: one piece of evidence with its media."""

    name = "perceive"
    title = "Clue perception"
    case: Dispute
    focus: Focus
    side: Side
    evidence: Evidence
    before: tuple[Clue, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        """The media of the chosen piece."""
        return self.evidence.media


class AnalyseDispute(Task[Analysis]):
    """Stage III."""

    name = "analyse"
    title = "Adversarial analysis"
    case: Dispute
    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    shown: tuple[Medium, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        """The key media, the buyer's first."""
        return self.shown


class Judge(Task[Opinion]):
    """Stage IV in a round of discussion (Eq. 6)."""

    name = "judge"
    title = "Verdict"
    offline_only = ("rules",)  # a prompt has them from the setup, in `_system`
    case: Dispute
    rules: tuple[str, ...] = ()
    examination: Examination
    seat: int = Field(ge=1)
    persona: Persona | None = None
    memory: tuple[str, ...] = ()
    heard: tuple[Heard, ...] = ()
    summary: Summary | None = None
    round: int = 1


class JudgeAtOnce(Task[Opinion]):
    """The baseline: the whole case and all its media in one question (prompt E.1)."""

    name = "judge-at-once"
    title = "Verdict in one step"
    offline_only = ("rules",)  # a prompt has them from the setup, in `_system`
    case: Dispute
    rules: tuple[str, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        """All media of the case."""
        return tuple(self.case.media())


class Summarise(Task[Summary]):
    """The clerk's collective summary after a round."""

    name = "summarise"
    title = "Collective summary"
    case: Dispute
    round: int
    opinions: tuple[Heard, ...]
    before: Summary | None = None


def key_media(case: Dispute, clues: tuple[Clue, ...], limit: int = 4) -> tuple[Medium, ...]:
    """The media in which something was found, in the order of the clues; all of a piece where none is named."""
    by_id = {piece.id: piece for piece in case.evidence}
    chosen: dict[str, Medium] = {}
    for clue in clues:
        media = by_id[clue.evidence_id].media
        named = [media[f.media_index] for f in clue.perception.visual_findings if f.media_index < len(media)]
        chosen.update({medium.id: medium for medium in named or media})
    return tuple(chosen.values())[:limit]
