"""The memory of VERDICT (section 3.4, appendix D): its units and equations, and what may be asked of it."""

from collections.abc import Iterable
from typing import Literal

from pydantic import Field

from courtroom.law import Decided, Judgment, articles_compared, charges_compared, term_class
from courtroom.strict import Strict, option

Tags = frozenset[str]


def tags_of(articles: tuple[int, ...], charges: tuple[str, ...] = ()) -> Tags:
    """Return statute and charge tags, as judgments are compared: `article:264`, `charge:盗窃`."""
    statutes = (f"article:{number}" for number in articles_compared(articles))
    return frozenset({*statutes, *(f"charge:{charge}" for charge in charges_compared(charges))})


class Standard(Strict):
    """A standard precedent v = <text, vector, labels, c>: facts, verified reasoning and verdict of one trajectory.

    In the buffer, where `verdict` is not what the real judgment says, the labels are still the real ones. `c` is not
    explained in the paper and left out.
    """

    id: str
    case: str = Field(description="Id of the case.")
    title: str = ""
    language: str = "en"
    facts: str = Field(description="The facts of the case.")
    reasoning: str = Field(
        description="The basis of the draft that the supervisor saw last (tau), with the final judgment's thought."
    )
    verdict: Judgment
    gold: Decided
    induced: str = Field(
        default="", description="The directive that was induced from it; empty while it counts as new."
    )

    @property
    def tags(self) -> Tags:
        return tags_of(self.gold.relevant_articles, self.gold.charges)

    @property
    def correct(self) -> bool:
        """y = l_gt (Eq. 7): whether its verdict has the articles, charges and class of term of the real judgment."""
        term = self.gold.term_of_imprisonment
        same_term = term is None or term_class(term) == term_class(self.verdict.term_of_imprisonment)
        return same_term and self.verdict.same_labels(self.gold)

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
        return tags_of((self.anchor,), self.charges)


Weights = tuple[float, float, float]
WEIGHTS: Weights = (0.4, 0.3, 0.3)
"""Alpha, beta and gamma (appendix C)."""


def iou(tags: Tags, candidates: Tags) -> float:
    """Overlap of a unit's tags with those of the candidate statutes, 0 to 1 (Eq. 9); 0 where both are empty."""
    union = tags | candidates
    return len(tags & candidates) / len(union) if union else 0.0


def score(overlap: float, co_activation: float, similarity: float, weights: Weights = WEIGHTS) -> float:
    """Score = alpha IoU + beta Topo + gamma SemSim (section 3.4.1; weights of appendix C).

    Args:
        co_activation: Topo, or by default Topo over the number of activated standards: all parts lie between 0 and 1.
        similarity: a cosine, of which negative values count 0.
    """
    alpha, beta, gamma = weights
    return alpha * overlap + beta * co_activation + gamma * max(0.0, similarity)


def merged_confidence(confidences: Iterable[float], most: float = 1.0) -> float:
    """Confidences summed, clipped at `most` (Eq. 8)."""
    return min(most, sum(confidences))


Unit = Standard | Directive


class Recall(Strict):
    """Which standards, or directives, bear on a case? (Score(m), section 3.4.1; appendix D)"""

    kind: Literal["recall"] = "recall"
    collection: Literal["standards", "directives"]
    text: str
    tags: tuple[str, ...] = Field(description="Tags of the candidate statutes.")
    k: int = Field(ge=1)
    tau: float = Field(ge=-1, le=1, description="Cosine from which two standards with the same labels are linked.")
    seeds: int = Field(ge=1, description="Closest standards from which activation spreads.")
    hops: int = Field(ge=0)
    weights: Weights = option(WEIGHTS, "Alpha, beta, gamma.")
    topo: Literal["share", "count"] = option(
        "share", "Of the activated standards those associated with a unit: their share, or their number."
    )
    exclude: tuple[str, ...] = Field(default=(), description="Trajectories that must not be seen: the case's own.")
    exclude_facts: str = option("", "Nor any with these facts, under whatever id and in whatever writing.")
    at: int | None = Field(
        default=None, description="The state that is searched; None is the newest.", exclude_if=lambda at: at is None
    )


class Due(Strict):
    """Is a step of learning due? The records that it would work on, or nothing (section 3.4.2).

    - `induction`: new standards with the labels of `of`, once there are `count` of them.
    - `refinement`: a directive with the labels of the trajectory `of`, then a correct and an incorrect trajectory with
      these labels, `of` being one of the two and the other the one whose reasoning differs most, if the cosine of their
      reasoning is below `threshold`.
    - `merge`: directives with one anchor and charges of which two reach a cosine of `threshold`.
    - `pruning`: directives with a confidence below `threshold`.
    """

    kind: Literal["due"] = "due"
    phase: Literal["induction", "refinement", "merge", "pruning"]
    of: str = Field(default="", description="Id of the trajectory that was just archived or buffered.")
    count: int = Field(default=1, ge=1)
    threshold: float = 0.0


class Parts(Strict):
    """What a recalled unit's score is made of."""

    iou: float
    topo: float
    semsim: float
    score: float
