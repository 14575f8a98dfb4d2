"""The knobs of JurisAgents, with the paper's defaults (section 2.2; ablations: table 1; pictures: table 2)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from courtroom.declarations.knobs import Group, Share, knob, knowledge_base
from courtroom.declarations.setup import Member, Setup
from courtroom.knowledge.bases import BaseName
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
    variant: Variant = knob(
        "jurisagents",
        "Variant",
        "`jurisagents` is the whole system; `no-knowledge` looks nothing up; `no-agents` has one judge alone, with "
        "the facts and what is looked up for them, and no second instance; `single-model` is one judge with the facts alone; "
        "`nearest-precedents` is a baseline of ours that asks no model: what was decided in the nearest precedents stands.",
        Group.WHO,
        first=True,
        labels={"jurisagents": "the whole system"},
    )
    base: BaseName = knowledge_base(
        "In which statutes, charges and precedents are looked up: `bundled`, or the name of one that was imported."
    )
    statutes: int = knob(10, "Statutes looked up", "Dense retrieval.", Group.LOOK, ge=0, le=50)
    charges: int = knob(10, "Charges looked up", "Dense retrieval.", Group.LOOK, ge=0, le=50)
    query: Literal["both", "summary"] = knob(
        "both",
        "Looked up by",
        "`both`: the senior judge's summary and the facts; or the `summary` alone, as in the paper: it names no charge, and may "
        "lack the words by which an article is found.",
        Group.LOOK,
    )
    ranking: Literal["dense", "hybrid"] = knob(
        "hybrid",
        "Statutes and charges ranked",
        "`hybrid`: dense and BM25, fused; or `dense` alone, as in the paper.",
        Group.LOOK,
    )
    precedents: int = knob(
        5, "Precedents looked up", "Hybrid retrieval: dense and BM25, fused.", Group.LOOK, first=True, ge=0, le=20
    )
    likeness: Share = knob(
        0.1,
        "Least likeness of a precedent",
        "One that is less like what is looked up by, as a cosine, is not shown. At 0 all are, as in the paper.",
        Group.LOOK,
        set_for=DEFAULT,
    )
    dense_weight: float = knob(
        0.5,
        "Weight of the dense ranking",
        "Where both rankings are fused. The paper calls the dense one primary and gives no number. The default embedding "
        "compares Chinese by its words, so by default BM25 leads.",
        Group.LOOK,
        set_for=DEFAULT,
        ge=0,
        le=10,
    )
    words_weight: float = knob(
        1.0,
        "Weight of the BM25 ranking",
        "Where both rankings are fused. The paper calls this one supplementary and gives no number; 0 leaves it out.",
        Group.LOOK,
        ge=0,
        le=10,
    )
    appeal: bool = knob(True, "Second instance", "Whether a defendant who objects may appeal.", first=True)
    second_look_up: bool = knob(
        True,
        "Second instance looks things up",
        "With its own summary; otherwise it uses what the first instance found.",
        Group.COST,
    )
    first_judgment: Literal["none", "chief", "all"] = knob(
        "none",
        "Who is shown the first judgment",
        "In the second instance: `none` as in the paper's prompts, the `chief` judge alone, or `all` three judges. Who has not "
        "seen it can't keep the rule that on the defendant's appeal alone the penalty does not rise (Criminal Procedure Law, "
        "article 237); a note says so where it does.",
    )
    first_reading: bool = knob(
        False,
        "Show the first extraction and summary",
        "In the second instance, to junior and senior judge. The paper's text says so, its prompts show neither.",
    )
    pictures: bool = knob(
        True,
        "Key frames",
        "Off: neither the key frames nor their descriptions are shown to anybody.",
        Group.LOOK,
        first=True,
    )
    given: bool = knob(
        True,
        "Show what is given",
        "Some records give the charge or the article beside the facts (LawBench 3-1, 3-4, 3-5). Off: all of it is to "
        "be predicted from the facts.",
        Group.LOOK,
    )
    defendants: Literal["primary", "each", "refuse"] = knob(
        "primary",
        "Several defendants",
        "`primary` judges the first one alone, as in the paper; `each` judges every one; `refuse` hears no case that "
        "names several.",
        Group.WHO,
        first=True,
    )
    reasons: bool = knob(
        False,
        "Reasons first",
        "Judge and defendant write their reasons before they decide. Off, as in the paper: they write no thoughts.",
        first=True,
    )

    fuller: bool = knob(
        False,
        "Fuller judgment",
        "The judge may also suspend the term, set a fine, exempt or acquit. It is shown and not scored: no record has it. Off, as "
        "in the paper: articles, charges and term alone.",
    )

    @model_validator(mode="after")
    def _found(self) -> Self:
        if not self.dense_weight and not self.words_weight:
            raise ValueError("one of the weights `dense_weight` and `words_weight` must be above 0")
        return self

    @property
    def recalls(self) -> bool:
        return self.variant in ("jurisagents", "no-agents", "nearest-precedents")

    @property
    def alone(self) -> bool:
        return self.variant in ("no-agents", "single-model", "nearest-precedents")

    @property
    def weights(self) -> Weights:
        """Of the dense ranking and of the one by words."""
        return self.dense_weight, self.words_weight


def members(setup: JurisAgentsSetup) -> tuple[Member, ...]:
    roles = ("chief",) if setup.alone else tuple(TITLES)
    return tuple(Member(id=role, role=role, name=TITLES[role], spec=setup.spec(role, role)) for role in roles)
