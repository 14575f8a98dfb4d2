"""The knobs of VERDICT, with the paper's defaults where it gives any (appendix C; ablations: table 3)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.engine.knobs import Widget, declared
from courtroom.engine.setup import Member, Setup
from courtroom.knowledge.bases import BUNDLED, BaseName
from courtroom.knowledge.embedding import DEFAULT
from courtroom.strict import Strict

Variant = Literal["verdict", "no-memory", "no-directives", "no-agents"]

TITLES = {
    "clerk": "Court Clerk",
    "assistant": "Judicial Assistant",
    "judge": "Case-handling Judge",
    "supervisor": "Adjudication Supervisor",
    "presiding": "Presiding Judge",
    "meta": "Meta-model",
}


class Learning(Strict):
    """When the memory learns, and how fast (section 3.4.2). The paper gives the pruning threshold alone."""

    on: bool = Field(
        default=True, title="Learn from this run", description="Where the real judgment is known; a fork never learns."
    )
    batch: int = Field(
        default=3, title="New standards for a directive (B)", ge=2, le=50, description="Of one label, for phase A."
    )
    divergence: float = Field(
        default=0.7,
        json_schema_extra=declared(set_for=DEFAULT),
        title="Divergence",
        ge=0,
        le=1,
        description="Phase B contrasts two trajectories of one label when the cosine of their reasoning is below this.",
    )
    reward: float = Field(default=0.1, title="Confidence up by", ge=0, le=1, description="After a verified success.")
    decay: float = Field(default=0.1, title="Confidence down by", ge=0, le=1, description="After a rejection.")
    alike: float = Field(
        default=0.6,
        json_schema_extra=declared(set_for=DEFAULT),
        title="Merge from a cosine of",
        ge=0,
        le=1,
        description="Of two directives with one anchor and the same charges.",
    )
    most: float = Field(
        default=1.0, title="Highest confidence", gt=0, le=1, description="Merged ones are clipped here."
    )
    prune: float = Field(default=0.3, title="Prune below", ge=0, le=1, description="The paper's threshold.")


class VerdictSetup(Setup):
    """Who sits on the panel, what it looks up and remembers, and how it learns."""

    variant: Variant = Field(
        default="verdict",
        title="Variant",
        description="`verdict` is the whole system; `no-memory` has no standards and directives; `no-directives` has "
        "standards alone; `no-agents` has the presiding judge alone. Another expert is set as the model of the role "
        "“judge”.",
    )
    base: BaseName = Field(
        default=BUNDLED,
        title="Knowledge base",
        json_schema_extra=declared(widget=Widget.KNOWLEDGE_BASE),
        description="In which statutes are looked up: `bundled`, or the name of one that was imported.",
    )
    statutes: int = Field(
        default=20, title="Statutes in the coarse set (K)", ge=1, le=100, description="Dense retrieval."
    )
    ranking: Literal["dense", "hybrid"] = Field(
        default="dense",
        title="Statutes ranked",
        description="`dense` as in the paper, or `hybrid`: dense and BM25, fused.",
    )
    turns: int = Field(default=3, title="Turns at most (T_max)", ge=1, le=10, description="Draft and verification.")
    precedents: int = Field(default=3, title="Standards recalled", ge=0, le=20)
    directives: int = Field(default=3, title="Directives recalled", ge=0, le=20)
    tau: float = Field(
        default=0.4,
        json_schema_extra=declared(set_for=DEFAULT),
        title="Link standards from a cosine of (τ)",
        ge=0,
        le=1,
        description="With identical labels.",
    )
    seeds: int = Field(default=5, title="Seeds", ge=1, le=50, description="Closest standards, where activation starts.")
    hops: int = Field(default=2, title="Hops (k)", ge=0, le=5, description="How far activation spreads.")
    learning: Learning = Field(default_factory=Learning, title="Learning", json_schema_extra=declared(varied=False))

    @property
    def alone(self) -> bool:
        """Whether the presiding judge decides without the others."""
        return self.variant == "no-agents"

    @property
    def remembers(self) -> bool:
        """Whether there is a memory."""
        return self.variant in ("verdict", "no-directives")

    @property
    def directs(self) -> bool:
        """Whether there are micro-directives."""
        return self.variant == "verdict"


def members(setup: VerdictSetup) -> tuple[Member, ...]:
    """One member a role; the meta-model where the memory may learn."""
    roles = ["presiding"] if setup.alone else [role for role in TITLES if role != "meta"]
    if setup.remembers and setup.learning.on:
        roles.append("meta")
    return tuple(Member(id=role, role=role, name=TITLES[role], spec=setup.spec(role, role)) for role in roles)
