"""A precedent: an earlier dispute in short, its jurors' votes and opinions, and the norms distilled from them."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.cases.dispute import Category, JurorOpinion, Side
from courtroom.strict import Strict


class Precedent(Strict):
    """h_i with its guideline n_i (appendix B.2)."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    title: str = Field(min_length=1, max_length=200)
    language: str = "en"
    category: Category
    dispute: str = Field(min_length=1, description="Product, core of the dispute, chat, claims, what media show.")
    buyer_votes: int = Field(ge=0, le=1000)
    seller_votes: int = Field(ge=0, le=1000)
    opinions: tuple[JurorOpinion, ...] = ()
    norms: tuple[str, ...] = Field(default=(), max_length=8, description="Empty until distilled.")
    source: str = Field(default="", max_length=400)
    distilled_by: str | None = Field(default=None, description="The run that distilled the norms.")

    @property
    def winner(self) -> Side:
        """The side with more votes; a tie goes to the buyer (Eq. 10)."""
        return "seller" if self.seller_votes > self.buyer_votes else "buyer"


class PrecedentBatch(Case):
    """Precedents to distil norms from, one after the other: the closed loop of appendix B.2."""

    kind_title = "Precedents"
    kind: Literal["precedents"] = "precedents"
    precedents: tuple[Precedent, ...] = Field(min_length=1)
