"""The knobs of JurisAgents, with the paper's defaults (section 2.2; ablations: table 1; pictures: table 2)."""

from __future__ import annotations

from typing import Literal, Self

from pydantic import Field, model_validator

from courtroom.engine.knobs import Group, Widget, declared
from courtroom.engine.setup import Member, Setup
from courtroom.knowledge.bases import BUNDLED, BaseName
from courtroom.knowledge.collection import Weights
from courtroom.knowledge.embedding import DEFAULT
from courtroom.models.spec import ModelSpec

Variant = Literal["jurisagents", "no-knowledge", "no-agents", "single-model", "nearest-precedents"]

TITLES = {
    "junior": "Junior Judge",
    "senior": "Senior Judge",
    "assistant": "Assistant",
    "chief": "Chief Judge",
    "defendant": "Defendant",
    "counsel": "Legal Counsel",
}


class JurisAgentsSetup(Setup):
    """Who hears a criminal case, and what is looked up."""

    model: ModelSpec = Field(default_factory=lambda: ModelSpec(temperature=0), title="Model")
    variant: Variant = Field(
        default="jurisagents",
        title="Variant",
        description="`jurisagents` is the whole system; `no-knowledge` looks nothing up; `no-agents` has one judge alone, with "
        "the facts and what is looked up for them, and no second instance; `single-model` is one judge with the facts alone; "
        "`nearest-precedents` is a baseline of ours that asks no model: what was decided in the nearest precedents stands.",
        json_schema_extra=declared(group=Group.WHO, first=True, labels={"jurisagents": "the whole system"}),
    )
    base: BaseName = Field(
        default=BUNDLED,
        title="Knowledge base",
        json_schema_extra=declared(widget=Widget.KNOWLEDGE_BASE, group=Group.LOOK, first=True),
        description="In which statutes, charges and precedents are looked up: `bundled`, or the name of one that was imported.",
    )
    statutes: int = Field(
        default=10,
        title="Statutes looked up",
        ge=0,
        le=50,
        description="Dense retrieval.",
        json_schema_extra=declared(group=Group.LOOK),
    )
    charges: int = Field(
        default=10,
        title="Charges looked up",
        ge=0,
        le=50,
        description="Dense retrieval.",
        json_schema_extra=declared(group=Group.LOOK),
    )
    ranking: Literal["dense", "hybrid"] = Field(
        default="hybrid",
        title="Statutes and charges ranked",
        description="`hybrid`: dense and BM25, fused; or `dense` alone, as in the paper.",
        json_schema_extra=declared(group=Group.LOOK),
    )
    precedents: int = Field(
        default=5,
        title="Precedents looked up",
        ge=0,
        le=20,
        description="Hybrid retrieval: dense and BM25, fused.",
        json_schema_extra=declared(group=Group.LOOK, first=True),
    )
    dense_weight: float = Field(
        default=0.5,
        title="Weight of the dense ranking",
        ge=0,
        le=10,
        description="Where both rankings are fused. The paper calls the dense one primary and gives no number. The default embedding "
        "compares words, so by default BM25 leads.",
        json_schema_extra=declared(set_for=DEFAULT, group=Group.LOOK),
    )
    words_weight: float = Field(
        default=1.0,
        title="Weight of the BM25 ranking",
        ge=0,
        le=10,
        description="Where both rankings are fused. The paper calls this one supplementary and gives no number; 0 leaves it out.",
        json_schema_extra=declared(group=Group.LOOK),
    )
    appeal: bool = Field(
        default=True,
        title="Second instance",
        description="Whether a defendant who objects may appeal.",
        json_schema_extra=declared(group=Group.TALK, first=True),
    )
    second_look_up: bool = Field(
        default=True,
        title="Second instance looks things up",
        description="With its own summary; otherwise it uses what the first instance found.",
        json_schema_extra=declared(group=Group.COST),
    )
    first_judgment: Literal["none", "chief", "all"] = Field(
        default="none",
        title="Who is shown the first judgment",
        description="In the second instance: `none` as in the paper's prompts, the `chief` judge alone, or `all` three judges.",
        json_schema_extra=declared(group=Group.TALK),
    )
    first_reading: bool = Field(
        default=False,
        title="Show the first extraction and summary",
        description="In the second instance, to junior and senior judge. The paper's text says so, its prompts show neither.",
        json_schema_extra=declared(group=Group.TALK),
    )
    pictures: bool = Field(
        default=True,
        title="Key frames",
        description="Off: neither the key frames nor their descriptions are shown to anybody.",
        json_schema_extra=declared(group=Group.LOOK, first=True),
    )
    given: bool = Field(
        default=True,
        title="Show what is given",
        description="Some records give the charge or the article beside the facts (LawBench 3-1, 3-4, 3-5). Off: all of it is to "
        "be predicted from the facts.",
        json_schema_extra=declared(group=Group.LOOK),
    )
    defendants: Literal["primary", "each", "refuse"] = Field(
        default="primary",
        title="Several defendants",
        description="`primary` judges the first one alone, as in the paper; `each` judges every one; `refuse` hears no case that "
        "names several.",
        json_schema_extra=declared(group=Group.WHO, first=True),
    )
    reasons: bool = Field(
        default=False,
        title="Reasons first",
        description="Judge and defendant write their reasons before they decide. Off, as in the paper: they write no thoughts.",
        json_schema_extra=declared(group=Group.TALK, first=True),
    )

    @model_validator(mode="after")
    def _found(self) -> Self:
        if not self.dense_weight and not self.words_weight:
            raise ValueError("one of the weights `dense_weight` and `words_weight` must be above 0")
        return self

    @property
    def recalls(self) -> bool:
        """Whether anything is looked up."""
        return self.variant in ("jurisagents", "no-agents", "nearest-precedents")

    @property
    def alone(self) -> bool:
        """Whether one judge decides without the other roles."""
        return self.variant in ("no-agents", "single-model", "nearest-precedents")

    @property
    def weights(self) -> Weights:
        """Of the dense ranking and of the one by words."""
        return self.dense_weight, self.words_weight


def members(setup: JurisAgentsSetup) -> tuple[Member, ...]:
    """One member a role."""
    roles = ("chief",) if setup.alone else tuple(TITLES)
    return tuple(Member(id=role, role=role, name=TITLES[role], spec=setup.spec(role, role)) for role in roles)
