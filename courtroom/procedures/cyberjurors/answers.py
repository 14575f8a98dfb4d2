"""What the answers of jurors and clerk look like: the fields of the paper's prompts (appendix E).

Reasons stand before what they lead to. The paper's prompts E.4, E.5 and E.7 have another order; the forms `..._PUBLISHED` are
the same answers in that order, for the setting `field_order`.
"""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, Field, create_model

from courtroom.cases.dispute import Side
from courtroom.models.task import Answer
from courtroom.strict import Strict

Degree = Literal["strong", "moderate", "weak"]


def in_order(answer: type[Answer], source: str, *names: str) -> type[BaseModel]:
    """A form with the fields of an answer in the order in which the paper has them, which is how a model writes them.

    Args:
        source: where the paper has it.
        names: all fields of the answer.
    """
    fields: dict[str, Any] = {name: (answer.model_fields[name].annotation, answer.model_fields[name]) for name in names}
    form = create_model(answer.__name__, __base__=Answer, **fields)
    form.published_order = source
    return form


class Focus(Answer):
    """O_I (Eq. 1, prompt E.3): what each side wants, and what the dispute turns on."""

    buyer_core_claim: str = Field(min_length=1, description="What the buyer wants and why, in a sentence or two.")
    seller_core_claim: str = Field(min_length=1, description="What the seller wants and why.")
    dispute_focus: str = Field(min_length=1, description="The question on which the dispute turns.")


class Selection(Answer):
    """The piece of evidence to look at next (Eq. 2, prompt E.4)."""

    reason: str = Field(default="", description="Why this piece, in a sentence.")
    selected_evidence_id: str = Field(description="Id of one of the pieces listed, e.g. buyer-2.")


SELECTION_PUBLISHED = in_order(Selection, "E.4", "selected_evidence_id", "reason")
"""The choice before its reason."""


class Finding(Answer):
    """Something seen in one medium: a pivotal clue, and what it argues."""

    opens_with = ("media_type", "media_index")

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
    sufficiency_reason: str = Field(default="", description="What is proven by now, and what is still open.")
    support_strength: Degree = Field(description="How strongly the piece supports this side's claim.")
    is_sufficient: bool = Field(description="True when this side's claim is now adequately verified or refuted.")


PERCEPTION_PUBLISHED = in_order(
    Perception,
    "E.5",
    *("visual_findings", "evidence_summary", "support_strength", "is_sufficient", "sufficiency_reason"),
)
"""Strength and sufficiency before the reason for the latter."""


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


OPINION_PUBLISHED = in_order(Opinion, "E.7", "verdict", "reasoning")
"""The verdict before its reasons."""


class Heard(Strict):
    """A followed juror's opinion of the round before (R_k,t)."""

    name: str
    verdict: Side | None
    """None where it is not shown, as in an audit by reasons alone."""
    reasoning: tuple[str, ...]


class Summary(Answer):
    """S_t (Eq. 7): the collective verdict summary with its three sections (prompt E.8)."""

    key_arguments: str = Field(min_length=1, description="The arguments and points of view that jurors put forward.")
    debate_intensity: str = Field(min_length=1, description="Whether the debate is heated, and about what.")
    prevailing_orientation: str = Field(min_length=1, description="Which side is being supported, and how firmly.")
