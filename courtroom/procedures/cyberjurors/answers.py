"""What the answers of jurors and clerk look like: the fields of the paper's prompts (appendix E).

Reasons stand before what they lead to. The paper's prompts E.4, E.5 and E.7 ask for the decision first; the classes
`...AsPublished` are the same answers in that order, for the setting `field_order`.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Literal

from pydantic import ConfigDict, Field

from courtroom.cases.dispute import Side
from courtroom.models.task import Answer
from courtroom.strict import Strict

Degree = Literal["strong", "moderate", "weak"]


def in_order(*names: str) -> Callable[[dict[str, Any]], None]:
    """A change of an answer's schema: its fields in this order, which is the one in which a model writes them."""

    def order(schema: dict[str, Any]) -> None:
        schema["properties"] = {name: schema["properties"][name] for name in names}

    return order


class Focus(Answer):
    """O_I (Eq. 1, prompt E.3): what each side wants, and what the dispute turns on."""

    buyer_core_claim: str = Field(min_length=1, description="What the buyer wants and why, in a sentence or two.")
    seller_core_claim: str = Field(min_length=1, description="What the seller wants and why.")
    dispute_focus: str = Field(min_length=1, description="The question on which the dispute turns.")


class Selection(Answer):
    """The piece of evidence to look at next (Eq. 2, prompt E.4)."""

    reason: str = Field(default="", description="Why this piece, in a sentence.")
    selected_evidence_id: str = Field(description="Id of one of the pieces listed, e.g. buyer-2.")


class SelectionAsPublished(Selection):
    """The choice before its reason."""

    model_config = ConfigDict(json_schema_extra=in_order("selected_evidence_id", "reason"))


class Finding(Answer):
    """Something seen in one medium: a pivotal clue, and what it argues."""

    media_type: Literal["image", "video"]
    media_index: int = Field(ge=0, le=99, description="Number of the medium in this piece, from 0.")
    timestamp: str = Field(default="", description="mm:ss of the frame in a video; empty for an image.")
    description: str = Field(description="What is seen.")
    benefit_analysis: str = Field(default="", description="Why it speaks for this side's claim, or against it.")
    importance: Literal["high", "medium", "low"] = "medium"


class Perception(Answer):
    """O_t = {K_t, A_t} (Eq. 3, prompt E.5): pivotal clues in one piece of evidence, and the argument made of them."""

    visual_findings: tuple[Finding, ...] = ()
    evidence_summary: str = Field(min_length=1, description="What the piece shows, in a sentence or two.")
    support_strength: Degree = Field(description="How strongly the piece supports this side's claim.")
    sufficiency_reason: str = Field(default="", description="What is proven by now, and what is still open.")
    is_sufficient: bool = Field(description="True when this side's claim is now adequately verified or refuted.")


class PerceptionAsPublished(Perception):
    """The decision that enough was seen before its reason."""

    model_config = ConfigDict(
        json_schema_extra=in_order(
            "visual_findings", "evidence_summary", "support_strength", "is_sufficient", "sufficiency_reason"
        )
    )


class Clue(Strict):
    """A perception with the evidence that it is of."""

    evidence_id: str
    media: tuple[str, ...] = ()
    """Ids of the piece's media; a finding gives a place among them."""
    perception: Perception


class BuyerPosition(Answer):
    """Δ^b: the buyer's side of the analysis."""

    main_complaint: str
    demands: str = ""
    key_evidence: tuple[str, ...] = ()
    visual_support: str = Field(default="", description="Whether what was seen supports the buyer.")
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class SellerPosition(Answer):
    """Δ^s: the seller's side of the analysis. `counter_arguments` is misspelt in the paper."""

    main_defense: str
    counter_arguments: str = ""
    key_evidence: tuple[str, ...] = ()
    visual_support: str = Field(default="", description="Whether what was seen supports the seller.")
    strengths: tuple[str, ...] = ()
    weaknesses: tuple[str, ...] = ()


class ConflictFocus(Answer):
    """Δ: where the two sides contradict each other."""

    core_disagreement: str
    counter_arguments: str = Field(default="", description="How each side answers the other's main point.")
    evidence_contradictions: tuple[str, ...] = ()
    visual_evidence_insights: str = Field(default="", description="What the pictures and videos show about it.")
    critical_facts: tuple[str, ...] = Field(default=(), description="The facts that decide.")


class Analysis(Answer):
    """O_III (Eq. 4, prompt E.6): the adversarial analysis."""

    dispute_root_cause: str
    buyer_position: BuyerPosition
    seller_position: SellerPosition
    conflict_focus: ConflictFocus


class Examination(Strict):
    """O_I, O_II and O_III of one examination."""

    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    analysis: Analysis


class Opinion(Answer):
    """O_IV (Eq. 5): a juror's reasons and verdict. The baseline's prompt E.1 has this order too."""

    reasoning: tuple[str, ...] = Field(min_length=1, max_length=12, description="Short reasons, weightiest first.")
    verdict: Side


class OpinionAsPublished(Opinion):
    """The verdict before its reasons (prompt E.7)."""

    model_config = ConfigDict(json_schema_extra=in_order("verdict", "reasoning"))


class Heard(Strict):
    """A followed juror's opinion of the round before (R_k,t)."""

    name: str
    verdict: Side
    reasoning: tuple[str, ...]


class Summary(Answer):
    """S_t (Eq. 7): the collective verdict summary with its three sections (prompt E.8)."""

    key_arguments: str = Field(min_length=1, description="The arguments and points of view that jurors put forward.")
    debate_intensity: str = Field(min_length=1, description="Whether the debate is heated, and about what.")
    prevailing_orientation: str = Field(min_length=1, description="Which side is being supported, and how firmly.")
