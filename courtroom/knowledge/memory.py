"""The hybrid jurisprudential memory: recall from standards and directives, and what is due to be learned (VERDICT, 3.4)."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import combinations
from typing import TYPE_CHECKING, Literal, TypeVar

from pydantic import Field

from courtroom.knowledge.collection import Collection
from courtroom.knowledge.jurisprudence import Directive, Standard
from courtroom.knowledge.recall import activated, cosine, iou, score, standards_graph, topo
from courtroom.strict import Strict

if TYPE_CHECKING:
    import networkx as nx

U = TypeVar("U", Standard, Directive)


class Recall(Strict):
    """Which standards, or directives, bear on a case? (Eq. 7, appendix D)"""

    kind: Literal["recall"] = "recall"
    collection: Literal["standards", "directives"]
    text: str
    tags: tuple[str, ...] = Field(description="Tags of the candidate statutes.")
    k: int = Field(ge=1)
    tau: float = Field(ge=-1, le=1, description="Cosine from which two standards with the same labels are linked.")
    seeds: int = Field(ge=1, description="Closest standards from which activation spreads.")
    hops: int = Field(ge=0)
    exclude: tuple[str, ...] = Field(default=(), description="Standards that must not be seen, e.g. the case's own.")


class Due(Strict):
    """Is a step of learning due? The records that it would work on, or nothing (section 3.4.2).

    - `induction`: new standards with the labels of `of`, once there are `count` of them.
    - `refinement`: the directive with these labels, `of`, and its labels' trajectory that diverges most from it, if
      the cosine of their reasoning is below `threshold`.
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


class Memory:
    """Standards, directives, and the buffer of trajectories that were wrong or not verified."""

    def __init__(
        self, standards: Collection[Standard], directives: Collection[Directive], buffer: Collection[Standard]
    ) -> None:
        self.standards, self.directives, self.buffer = standards, directives, buffer

    async def graph(self, tau: float) -> nx.Graph:
        """The standards archive as a graph."""
        known = self.standards.all()
        vectors = await self.standards.vectors([standard.id for standard in known])
        return standards_graph({standard.id: standard.labels for standard in known}, vectors, tau)

    async def recall(self, query: Recall) -> list[tuple[Standard | Directive, Parts]]:
        """The k best units, best first; what has no overlap, no activation and no similarity is left out."""
        graph = await self.graph(query.tau)
        graph.remove_nodes_from(query.exclude)
        near = await self.standards.search(query.text, query.seeds, "dense", query.exclude) if len(graph) else []
        active = activated(graph, [found.record.id for found in near if found.scores.similarity], query.hops)
        candidates = frozenset(query.tags)
        if query.collection == "standards":
            standards = [standard for standard in self.standards.all() if standard.id in graph]
            linked: Mapping[str, Sequence[str]] = {s.id: [s.id, *graph.neighbors(s.id)] for s in standards}
            tags = {standard.id: standard.labels for standard in standards}
            return await self._best(self.standards, standards, query, linked, tags, active, candidates)
        directives = self.directives.all()
        linked = {directive.id: directive.supporting for directive in directives}
        tags = {directive.id: directive.tags for directive in directives}
        return await self._best(self.directives, directives, query, linked, tags, active, candidates)

    async def due(self, query: Due) -> list[Standard | Directive]:
        """See `Due`."""
        match query.phase:
            case "induction":
                new = [s for s in self._alike(self._trajectory(query.of)) if not s.induced]
                return list(new) if len(new) >= query.count else []
            case "refinement":
                return await self._contrast(self._trajectory(query.of), query.threshold)
            case "merge":
                return list(await self._near_duplicates(query.threshold))
            case "pruning":
                return [directive for directive in self.directives.all() if directive.confidence < query.threshold]

    # --- within ---------------------------------------------------------------------------------------------

    async def _best(
        self,
        collection: Collection[U],
        units: Sequence[U],
        query: Recall,
        linked: Mapping[str, Sequence[str]],
        tags: Mapping[str, frozenset[str]],
        active: set[str],
        candidates: frozenset[str],
    ) -> list[tuple[Standard | Directive, Parts]]:
        if not units:
            return []
        vectors = await collection.vectors([unit.id for unit in units])
        (asked,) = await collection.embed([query.text])
        scored = []
        for unit in units:
            overlap = iou(tags[unit.id], candidates)
            reached = topo(linked[unit.id], active) / len(active) if active else 0.0
            similarity = cosine(vectors[unit.id], asked)
            parts = Parts(
                iou=round(overlap, 6),
                topo=round(reached, 6),
                semsim=round(similarity, 6),
                score=round(score(overlap, reached, similarity), 6),
            )
            if parts.score > 0:
                scored.append((unit, parts))
        scored.sort(key=lambda pair: (-pair[1].score, pair[0].id))
        return list(scored[: query.k])

    def _trajectory(self, name: str) -> Standard | None:
        return self.standards.get(name) or self.buffer.get(name)

    def _alike(self, trajectory: Standard | None) -> list[Standard]:
        if trajectory is None:
            return []
        return [standard for standard in self.standards.all() if standard.labels == trajectory.labels]

    async def _contrast(self, trajectory: Standard | None, threshold: float) -> list[Standard | Directive]:
        if trajectory is None:
            return []
        directive = next((d for d in self.directives.all() if d.tags <= trajectory.labels), None)
        others = [
            *self._alike(trajectory),
            *(wrong for wrong in self.buffer.all() if wrong.labels == trajectory.labels),
        ]
        others = [other for other in others if other.id != trajectory.id]
        if directive is None or not others or trajectory.id in (*directive.supporting, *directive.contrasting):
            return []
        vectors = await self.standards.embed([trajectory.reasoning, *(other.reasoning for other in others)])
        divergence = [cosine(vectors[0], vector) for vector in vectors[1:]]
        least = min(range(len(others)), key=lambda i: (divergence[i], others[i].id))
        if divergence[least] >= threshold:
            return []
        return [directive, trajectory, others[least]]

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
