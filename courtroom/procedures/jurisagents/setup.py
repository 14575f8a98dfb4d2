"""The knobs of JurisAgents, with the paper's defaults (section 2.2; ablations: table 1)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.engine.setup import Member, Setup

Variant = Literal["jurisagents", "no-knowledge", "no-agents"]

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

    variant: Variant = Field(
        default="jurisagents",
        title="Variant",
        description="`jurisagents` is the whole system; `no-knowledge` looks nothing up; `no-agents` has the chief judge "
        "alone, with the facts and what is looked up for them, and no second instance.",
    )
    statutes: int = Field(default=10, title="Statutes looked up", ge=0, le=50, description="Dense retrieval.")
    charges: int = Field(default=10, title="Charges looked up", ge=0, le=50, description="Dense retrieval.")
    ranking: Literal["dense", "hybrid"] = Field(
        default="dense",
        title="Statutes and charges ranked",
        description="`dense` as in the paper, or `hybrid`: dense and BM25, fused.",
    )
    precedents: int = Field(
        default=5, title="Precedents looked up", ge=0, le=20, description="Hybrid retrieval: dense and BM25, fused."
    )
    appeal: bool = Field(
        default=True, title="Second instance", description="Whether a defendant who objects may appeal."
    )

    @property
    def recalls(self) -> bool:
        """Whether anything is looked up."""
        return self.variant != "no-knowledge"

    @property
    def alone(self) -> bool:
        """Whether the chief judge decides without the other roles."""
        return self.variant == "no-agents"


def members(setup: JurisAgentsSetup) -> tuple[Member, ...]:
    """One member a role."""
    roles = ("chief",) if setup.alone else tuple(TITLES)
    return tuple(Member(id=role, role=role, name=TITLES[role], spec=setup.spec(role, role)) for role in roles)
