"""The knobs of JurisAgents, with the paper's defaults (section 2.2; ablations: table 1; pictures: table 2)."""

from typing import Literal, Self

from pydantic import Field, model_validator

from courtroom import Member, ModelSpec, Setup
from courtroom.declarations.knobs import Share, knobs, knowledge_base
from courtroom.knowledge.bases import BaseName
from courtroom.knowledge.collection import Weights
from courtroom.knowledge.embedding import DEFAULT
from courtroom.procedures.declared import role_titles

knob = knobs(__file__)

Variant = Literal["jurisagents", "no-knowledge", "no-agents", "single-model", "nearest-precedents"]

TITLES = role_titles(__file__)


class JurisAgentsSetup(Setup):
    """Who hears a criminal case, and what is looked up."""

    model: ModelSpec = Field(default_factory=lambda: ModelSpec(temperature=0), title="Model")
    variant: Variant = knob("variant", "jurisagents")
    base: BaseName = knowledge_base(
        "In which statutes, charges and precedents are looked up: `bundled`, or the name of one that was imported."
    )
    statutes: int = knob("statutes", 10, ge=0, le=50)
    charges: int = knob("charges", 10, ge=0, le=50)
    query: Literal["both", "summary"] = knob("query", "both")
    ranking: Literal["dense", "hybrid"] = knob("ranking", "hybrid")
    precedents: int = knob("precedents", 5, ge=0, le=20)
    likeness: Share = knob("likeness", 0.1, set_for=DEFAULT)
    dense_weight: float = knob("dense_weight", 0.5, set_for=DEFAULT, ge=0, le=10)
    words_weight: float = knob("words_weight", 1.0, ge=0, le=10)
    appeal: bool = knob("appeal", True)
    second_look_up: bool = knob("second_look_up", True)
    first_judgment: Literal["none", "chief", "all"] = knob("first_judgment", "none")
    first_reading: bool = knob("first_reading", False)
    pictures: bool = knob("pictures", True)
    given: bool = knob("given", True)
    defendants: Literal["primary", "each", "refuse"] = knob("defendants", "primary")
    reasons: bool = knob("reasons", False)
    fuller: bool = knob("fuller", False)

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
    return tuple(setup.seat(role, role, TITLES[role]) for role in roles)
