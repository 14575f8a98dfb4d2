"""Units of the hybrid jurisprudential memory: standards and micro-directives (VERDICT, section 3.4.1)."""

from __future__ import annotations

from collections.abc import Collection

from pydantic import Field

from courtroom.law.judgment import Judgment
from courtroom.strict import Strict

Tags = frozenset[str]


def tags_of(articles: tuple[int, ...], charges: tuple[str, ...] = ()) -> Tags:
    """Statute and charge tags: `article:264`, `charge:theft`."""
    return frozenset({*(f"article:{number}" for number in articles), *(f"charge:{charge}" for charge in charges)})


class Standard(Strict):
    """A standard precedent v = <text, vector, labels, c>: facts, verified reasoning and verdict of one trajectory.

    In the buffer, where `verdict` is not what the real judgment says, the labels are still the real ones. `c` is not
    explained in the paper and left out.
    """

    id: str
    case: str = Field(description="Id of the case.")
    title: str = ""
    language: str = "en"
    facts: str = Field(description="The facts of the case; earlier versions kept the clerk's points here.")
    reasoning: str = Field(
        description="The reasoning trace that the supervisor verified (tau), with the final judgment's thought at its end."
    )
    verdict: Judgment
    gold: Judgment
    induced: str = Field(
        default="", description="The directive that was induced from it; empty while it counts as new."
    )

    @property
    def labels(self) -> Tags:
        """Its statute and charge tags."""
        return tags_of(self.gold.relevant_articles, self.gold.charges)

    @property
    def correct(self) -> bool:
        """y = l_gt: whether its verdict has the articles and the charges of the real judgment (Eq. 7)."""
        return self.verdict.same_labels(self.gold)

    @property
    def text(self) -> str:
        """u + tau + y, what is embedded: facts, thought and judgment (Eq. 7)."""
        return f"{self.facts}\n{self.reasoning}\n{self.verdict}"


class Directive(Strict):
    """A micro-directive m = <text, confidence, supporting and contrasting precedents, anchor statute>."""

    id: str
    text: str = Field(min_length=1)
    language: str = "en"
    confidence: float = Field(
        default=0.5, ge=0, le=1, description="Where it starts is a knob; the paper gives no value."
    )
    supporting: tuple[str, ...] = Field(default=(), description="Ids of standards.")
    contrasting: tuple[str, ...] = Field(default=(), description="Ids of standards, or of trajectories in the buffer.")
    anchor: int = Field(ge=1, le=452, description="Number of the article that it interprets.")
    charges: tuple[str, ...] = ()

    @property
    def tags(self) -> Tags:
        """Its statute and charge tags."""
        return tags_of((self.anchor,), self.charges)

    def born_of(self, trajectories: Collection[str]) -> bool:
        """Whether one of these trajectories has made it, or made it more precise."""
        return any(name in trajectories for name in (*self.supporting, *self.contrasting))
