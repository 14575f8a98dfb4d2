"""The hybrid jurisprudential memory (VERDICT, section 3.4 and appendix D): its units, its equations, recall, and what is due to be learned."""

from __future__ import annotations

import asyncio
from collections.abc import Container, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import Vectors
from courtroom.knowledge.lessons import States
from courtroom.law import Decided, Judgment, articles_compared, charges_compared, same_matter, term_class
from courtroom.strict import Strict

if TYPE_CHECKING:
    import networkx as nx
    import numpy as np
    from numpy.typing import NDArray

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
        description="The basis of the draft that the supervisor saw last (tau), with the final judgment's thought at its end."
    )
    verdict: Judgment
    gold: Decided
    induced: str = Field(
        default="", description="The directive that was induced from it; empty while it counts as new."
    )

    @property
    def labels(self) -> Tags:
        return tags_of(self.gold.relevant_articles, self.gold.charges)

    @property
    def correct(self) -> bool:
        """y = l_gt: whether its verdict has the articles, the charges and the class of term of the real judgment (Eq. 7)."""
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

    def born_of(self, trajectories: Container[str]) -> bool:
        """Whether one of these trajectories has made it, or made it more precise."""
        return any(name in trajectories for name in (*self.supporting, *self.contrasting))


Vector = Sequence[float]
Weights = tuple[float, float, float]
WEIGHTS: Weights = (0.4, 0.3, 0.3)
"""Alpha, beta and gamma (appendix C)."""


def cosine(one: Vector, other: Vector) -> float:
    """Cosine of two vectors; 0 where one of them is zero (Eq. 11)."""
    import numpy as np

    a, b = np.asarray(one, float), np.asarray(other, float)
    lengths = float(np.linalg.norm(a) * np.linalg.norm(b))
    return float(a @ b) / lengths if lengths else 0.0


def cosines(rows: Sequence[Vector], other: Vector) -> NDArray[np.float64]:
    """Cosine of each row with a vector; shape (rows,)."""
    import numpy as np

    many, one = np.asarray(rows, float).reshape(len(rows), -1), np.asarray(other, float)
    lengths = np.linalg.norm(many, axis=1) * np.linalg.norm(one)
    near: NDArray[np.float64] = np.divide(many @ one, lengths, out=np.zeros(len(rows)), where=lengths > 0)
    return near


def iou(tags: Tags, candidates: Tags) -> float:
    """Overlap of a unit's tags with those of the candidate statutes, 0 to 1 (Eq. 9); 0 where both are empty."""
    union = tags | candidates
    return len(tags & candidates) / len(union) if union else 0.0


def standards_graph(labels: Mapping[str, Tags], vectors: Mapping[str, Vector], tau: float) -> nx.Graph:
    """Standards, linked where their vectors' cosine is at least tau and their labels are identical (section 3.4.1)."""
    import networkx as nx  # slow to import: only when there is a graph
    import numpy as np

    graph = nx.Graph()
    graph.add_nodes_from(labels)
    groups: dict[Tags, list[str]] = {}
    for name, tags in labels.items():
        groups.setdefault(tags, []).append(name)
    for group in groups.values():
        rows = [vectors[name] for name in group]
        for i, row in enumerate(rows[:-1]):
            near = cosines(rows[i + 1 :], row) >= tau
            graph.add_edges_from((group[i], group[i + 1 + j]) for j in np.flatnonzero(near))
    return graph


def activated(graph: nx.Graph, seeds: Iterable[str], hops: int) -> set[str]:
    """What is reached from the seeds in at most `hops` steps, the seeds included (appendix D, diffusion)."""
    import networkx as nx

    reached: set[str] = set()
    for seed in seeds:
        if seed in graph:
            reached |= set(nx.single_source_shortest_path_length(graph, seed, cutoff=hops))
    return reached


def topo(linked: Iterable[str], active: Iterable[str]) -> int:
    """How many activated standards are associated with a unit (Eq. 10): a standard is linked to itself and its neighbours, a directive to
    its supporting precedents."""
    return len(set(linked) & set(active))


def score(overlap: float, co_activation: float, similarity: float, weights: Weights = WEIGHTS) -> float:
    """Score = alpha IoU + beta Topo + gamma SemSim (section 3.4.1; weights of appendix C). `co_activation`: Topo, or by default Topo over the
    number of activated standards, so that all parts lie between 0 and 1. Of the similarity, a cosine, negative values count 0."""
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
    weights: Weights = Field(
        default=WEIGHTS, description="Alpha, beta, gamma.", exclude_if=lambda weights: weights == WEIGHTS
    )
    topo: Literal["share", "count"] = Field(
        default="share",
        description="Of the activated standards those associated with a unit: their share, or their number.",
        exclude_if=lambda topo: topo == "share",
    )
    exclude: tuple[str, ...] = Field(default=(), description="Trajectories that must not be seen: the case's own.")
    exclude_facts: str = Field(
        default="",
        description="Nor any with these facts, under whatever id and in whatever writing.",
        exclude_if=lambda facts: not facts,
    )
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


@dataclass(frozen=True)
class Searched:
    """One state of the memory with its vectors; graphs are added as they are needed."""

    standards: tuple[Standard, ...]
    directives: tuple[Directive, ...]
    vectors: Mapping[str, Sequence[float]]
    """By id, each of length 1."""
    wrong: tuple[Standard, ...] = ()
    """The buffer; nothing of it is recalled."""
    graphs: dict[float, nx.Graph] = field(default_factory=dict)

    def graph(self, tau: float) -> nx.Graph:
        if tau not in self.graphs:
            self.graphs[tau] = standards_graph({one.id: one.labels for one in self.standards}, self.vectors, tau)
        return self.graphs[tau]


class Memory:
    """Standards, directives, and the buffer of trajectories that were wrong or not verified."""

    def __init__(
        self,
        standards: Collection[Standard],
        directives: Collection[Directive],
        buffer: Collection[Standard],
        states: States,
    ) -> None:
        self.standards, self.directives, self.buffer = standards, directives, buffer
        self._states = states
        self._searched: dict[int, Searched] = {}

    async def graph(self, tau: float) -> nx.Graph:
        searched = await self._state(None)
        return await asyncio.to_thread(searched.graph, tau)

    async def recall(self, query: Recall) -> list[tuple[Unit, Parts]]:
        """The k best units, best first; what has no overlap, no activation and no similarity is left out.

        Every unit is compared, so no index is asked. Of the case itself nothing is seen: neither its own standard, nor a
        directive that it has made, nor its links in the graph.
        """
        known = await self._state(query.at)
        own = await asyncio.to_thread(_own, known, query)
        standards = [one for one in known.standards if one.id not in own]
        directives = [one for one in known.directives if not one.born_of(own)]
        units: Sequence[Unit] = standards if query.collection == "standards" else directives
        if not units:
            return []
        graph = (await asyncio.to_thread(known.graph, query.tau)).subgraph(one.id for one in standards)
        (asked,) = await self.standards.embed([query.text])
        near = _nearest(standards, known.vectors, asked)[: query.seeds]
        active = activated(graph, near, query.hops)
        candidates = frozenset(query.tags)
        similar = cosines([known.vectors[unit.id] for unit in units], asked)
        scored = []
        many = 1 if query.topo == "count" else max(1, len(active))
        for unit, similarity in zip(units, map(float, similar), strict=True):
            if isinstance(unit, Directive):
                linked, tags = unit.supporting, unit.tags
            else:
                linked, tags = (unit.id, *graph.neighbors(unit.id)), unit.labels
            parts = _parts(iou(tags, candidates), topo(linked, active) / many, similarity, query.weights)
            if parts.score > 0:
                scored.append((unit, parts))
        scored.sort(key=lambda pair: (-pair[1].score, pair[0].id))
        return scored[: query.k]

    async def due(self, query: Due) -> list[Unit]:
        """See `Due`. What is to be learned is asked of the memory as it is now."""
        match query.phase:
            case "induction":
                new = [one for one in self._alike(self.standards, self._trajectory(query.of)) if not one.induced]
                return list(new) if len(new) >= query.count else []
            case "refinement":
                return await self._contrast(self._trajectory(query.of), query.threshold)
            case "merge":
                return list(await self._near_duplicates(query.threshold))
            case "pruning":
                return [directive for directive in self.directives.all() if directive.confidence < query.threshold]

    # --- within ---------------------------------------------------------------------------------------------

    async def _state(self, at: int | None) -> Searched:
        number = await asyncio.to_thread(self._states.now) if at is None else at
        if number not in self._searched:
            records = await asyncio.to_thread(self._states.records, number)
            standards, directives, wrong = (
                tuple(collection.parse(body) for (part, _), body in records.items() if part == collection.name)
                for collection in (self.standards, self.directives, self.buffer)
            )
            units = (*standards, *directives)
            rows: Vectors = await self.standards.embed([unit.text for unit in units])
            vectors = dict(zip((unit.id for unit in units), rows, strict=True)) if units else {}
            newest = dict(list(self._searched.items())[-1:])
            self._searched = {**newest, number: Searched(standards, directives, vectors, wrong)}  # type: ignore[arg-type]
        return self._searched[number]

    def _trajectory(self, name: str) -> Standard | None:
        return self.standards.get(name) or self.buffer.get(name)

    def _alike(self, collection: Collection[Standard], trajectory: Standard | None) -> list[Standard]:
        if trajectory is None:
            return []
        return [one for one in collection.all() if one.labels == trajectory.labels]

    async def _contrast(self, trajectory: Standard | None, threshold: float) -> list[Unit]:
        """A directive, T+ and T-: T+ is correct and verified, T- is incorrect; one that is correct but was not verified is
        neither. A directive meets each T- once, and those that met none yet come first."""
        right = self._alike(self.standards, trajectory)
        wrong = [one for one in self._alike(self.buffer, trajectory) if not one.correct]
        if trajectory is None or trajectory.id not in {one.id for one in (*right, *wrong)}:
            return []
        right, wrong = ([trajectory], wrong) if trajectory.correct else (right, [trajectory])
        for directive in sorted(self.directives.all(), key=lambda one: (len(one.contrasting), -one.confidence, one.id)):
            new = [one for one in wrong if one.id not in directive.contrasting]
            if not directive.tags <= trajectory.labels or not right or not new:
                continue
            vectors = await self.standards.embed([one.reasoning for one in (*right, *new)])
            pairs = [(i, j) for i in range(len(right)) for j in range(len(new))]
            alike = {(i, j): cosine(vectors[i], vectors[len(right) + j]) for i, j in pairs}
            i, j = min(pairs, key=lambda pair: (alike[pair], right[pair[0]].id, new[pair[1]].id))
            if alike[i, j] < threshold:
                return [directive, right[i], new[j]]
        return []

    async def _near_duplicates(self, threshold: float) -> list[Directive]:
        import networkx as nx  # slow to import: only when there is a graph

        known = self.directives.all()
        vectors = await self.directives.vectors([directive.id for directive in known])
        near = nx.Graph()
        for one, other in combinations(known, 2):
            if one.tags == other.tags and cosine(vectors[one.id], vectors[other.id]) >= threshold:
                near.add_edge(one.id, other.id)
        cluster = next(iter(sorted(map(sorted, nx.connected_components(near)))), [])
        return [directive for directive in known if directive.id in cluster]


def _own(known: Searched, query: Recall) -> set[str]:
    """Ids of the trajectories of the case itself, also where it was heard under another id or in another writing."""
    facts = query.exclude_facts
    same = {one.id for one in (*known.standards, *known.wrong) if facts and same_matter(one.facts, facts)}
    return same | set(query.exclude)


def _nearest(
    standards: Sequence[Standard], vectors: Mapping[str, Sequence[float]], asked: Sequence[float]
) -> list[str]:
    """Ids of the standards that are similar at all, the nearest first: the seeds (appendix D)."""
    if not standards:
        return []
    found = zip((one.id for one in standards), cosines([vectors[one.id] for one in standards], asked), strict=True)
    return [name for name, near in sorted(found, key=lambda pair: (-pair[1], pair[0])) if near > 0]


def _parts(overlap: float, reached: float, similarity: float, weights: Weights) -> Parts:
    values = (overlap, reached, similarity, score(overlap, reached, similarity, weights))
    return Parts(**{name: round(value, 6) for name, value in zip(Parts.model_fields, values, strict=True)})
