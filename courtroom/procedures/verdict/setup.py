"""The knobs of VERDICT, with the paper's defaults where it gives any (appendix C; ablations: table 3)."""

from typing import Literal

from pydantic import Field

from courtroom import Member, ModelSpec, Setup, Strict
from courtroom.declarations.knobs import Few, Share, knobs, knowledge_base
from courtroom.knowledge.bases import BaseName
from courtroom.knowledge.embedding import DEFAULT
from courtroom.knowledge.memory import Weights
from courtroom.procedures.declared import role_titles

knob = knobs(__file__)

TITLES = role_titles(__file__)


class Learning(Strict):
    """When the memory learns, and how fast (section 3.4.2). Where no source is named, the paper gives no value."""

    on: bool = knob("on", False)
    terms: bool = knob("terms", True)
    batch: int = knob("batch", 3, ge=2, le=50)
    divergence: Share = knob("divergence", 0.7, set_for=DEFAULT)
    start: Share = knob("start", 0.5)
    reward: Share = knob("reward", 0.1)
    decay: Share = knob("decay", 0.1)
    alike: Share = knob("alike", 0.6, set_for=DEFAULT)
    most: float = knob("most", 1.0, gt=0, le=1)
    prune: Share = knob("prune", 0.3)


def as_in_the_paper() -> ModelSpec:
    """The default model, asked as in the paper (appendix C)."""
    return ModelSpec(temperature=0, top_p=0.9)


class VerdictSetup(Setup):
    """Who sits on the panel, what it looks up and remembers, and how it learns."""

    model: ModelSpec = Field(default_factory=as_in_the_paper, title="Model")
    variant: Literal["verdict", "no-memory", "no-directives", "no-agents"] = knob("variant", "verdict")
    base: BaseName = knowledge_base("In which statutes are looked up: `bundled`, or the name of one that was imported.")
    statutes: int = knob("statutes", 20, ge=1, le=100)
    ranking: Literal["dense", "hybrid"] = knob("ranking", "hybrid")
    shortlist: int = knob("shortlist", 5, ge=1, le=12)
    turns: Few = knob("turns", 3)
    reasons_first: bool = knob("reasons_first", False)
    fuller: bool = knob("fuller", False)
    memory: str = knob("memory", "", max_length=60)
    precedents: int = knob("precedents", 3, ge=0, le=20)
    directives: int = knob("directives", 3, ge=0, le=20)
    alpha: Share = knob("alpha", 0.4)
    beta: Share = knob("beta", 0.3)
    gamma: Share = knob("gamma", 0.3)
    tau: float = knob("tau", 0.4, set_for=DEFAULT, ge=-1, le=1)
    topo: Literal["share", "count"] = knob("topo", "share")
    seeds: int = knob("seeds", 5, ge=1, le=50)
    hops: int = knob("hops", 2, ge=0, le=5)
    learning: Learning = knob("learning", Learning())

    @property
    def alone(self) -> bool:
        return self.variant == "no-agents"

    @property
    def remembers(self) -> bool:
        return self.variant != "no-memory"

    @property
    def directs(self) -> bool:
        return self.variant in ("verdict", "no-agents")

    @property
    def learns(self) -> bool:
        """Whether the memory is taught: it takes a memory, and a supervisor who verifies what is learned."""
        return self.learning.on and self.can_learn

    @property
    def can_learn(self) -> bool:
        return self.remembers and not self.alone

    @property
    def weights(self) -> Weights:
        return self.alpha, self.beta, self.gamma


def members(setup: VerdictSetup) -> tuple[Member, ...]:
    roles = ["presiding"] if setup.alone else [role for role in TITLES if role != "meta"]
    if setup.learns:
        roles.append("meta")
    return tuple(setup.seat(role, role, TITLES[role]) for role in roles)
