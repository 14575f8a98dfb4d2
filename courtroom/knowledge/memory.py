"""The hybrid jurisprudential memory: recall from standards and directives, and what is due to be learned (VERDICT, 3.4)."""

from __future__ import annotations

import asyncio
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import combinations
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import Vectors
from courtroom.knowledge.jurisprudence import Directive, Standard, Tags
from courtroom.knowledge.recall import (
    WEIGHTS,
    Weights,
    activated,
    cosine,
    cosines,
    iou,
    score,
    standards_graph,
    topo,
)
from courtroom.knowledge.states import States
from courtroom.strict import Strict

if TYPE_CHECKING:
    import networkx as nx

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
    exclude: tuple[str, ...] = Field(default=(), description="Trajectories that must not be seen: the case's own.")
    exclude_facts: str = Field(
        default="", description="Nor any with these facts, under whatever id.", exclude_if=lambda facts: not facts
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
        """The standards archive as a graph."""
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
        """The standards archive as a graph, as it is now."""
        searched = await self._state(None)
        return await asyncio.to_thread(searched.graph, tau)

    async def recall(self, query: Recall) -> list[tuple[Unit, Parts]]:
        """The k best units, best first; what has no overlap, no activation and no similarity is left out.

        Every unit is compared, so no index is asked. Of the case itself nothing is seen: neither its own standard, nor a
        directive that it has made, nor its links in the graph.
        """
        known = await self._state(query.at)
        own = {one.id for one in (*known.standards, *known.wrong) if _is_own(one, query)} | set(query.exclude)
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
        for unit, similarity in zip(units, map(float, similar), strict=True):
            linked = unit.supporting if isinstance(unit, Directive) else (unit.id, *graph.neighbors(unit.id))
            parts = _parts(_tags(unit), candidates, linked, active, similarity, query.weights)
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
        """A state of the memory, kept for the runs that see the same one."""
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


def _is_own(trajectory: Standard, query: Recall) -> bool:
    return trajectory.id in query.exclude or (trajectory.facts == query.exclude_facts != "")


def _tags(unit: Unit) -> Tags:
    return unit.labels if isinstance(unit, Standard) else unit.tags


def _nearest(
    standards: Sequence[Standard], vectors: Mapping[str, Sequence[float]], asked: Sequence[float]
) -> list[str]:
    """Ids of the standards that are similar at all, the nearest first: the seeds (appendix D)."""
    if not standards:
        return []
    found = zip((one.id for one in standards), cosines([vectors[one.id] for one in standards], asked), strict=True)
    return [name for name, near in sorted(found, key=lambda pair: (-pair[1], pair[0])) if near > 0]


def _parts(
    tags: Tags, candidates: Tags, linked: Sequence[str], active: set[str], similarity: float, weights: Weights
) -> Parts:
    overlap = iou(tags, candidates)
    reached = topo(linked, active) / len(active) if active else 0.0
    return Parts(
        iou=round(overlap, 6),
        topo=round(reached, 6),
        semsim=round(similarity, 6),
        score=round(score(overlap, reached, similarity, weights), 6),
    )
