"""The directed follow-graph G = <A, E>: an edge k -> j says that juror k follows juror j (section 4)."""

from __future__ import annotations

import math
import random
import sys
from collections.abc import Iterable, Sequence
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from courtroom.panel.personas import Persona, likeness
from courtroom.strict import Strict

if TYPE_CHECKING:
    import networkx as nx

GraphKind = Literal["scale-free", "small-world", "random", "homophily", "ring", "complete", "none"]


class FollowGraph(Strict):
    """How the follow-graph is made; `edges`, where given, is the graph itself."""

    kind: GraphKind = Field(
        default="scale-free",
        title="Follow-graph",
        description="`scale-free`: a few jurors are followed by many. `small-world`: neighbours, with some far ties. "
        "`homophily`: jurors follow those who are like them.",
    )
    density: float = Field(
        default=0.25,
        title="Density",
        ge=0,
        le=1,
        description="Share of all possible follows, as near as the kind permits.",
    )
    seed: int | None = Field(
        default=None, title="Graph seed", description="Empty: the run's seed.", json_schema_extra={"varied": False}
    )
    edges: tuple[tuple[int, int], ...] | None = Field(
        default=None, title="Edges", description="Follower and followed, counted from 0; empty: drawn by the kind."
    )


def build(spec: FollowGraph, personas: Sequence[Persona], seed: int) -> nx.DiGraph:
    """The graph over the seats 0 to N-1.

    `ring` and `complete` have their one density; the others have round(density * N * (N-1)) edges.
    """
    import networkx as nx  # slow to import: only when there is a graph

    size = len(personas)
    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    if spec.edges is not None:
        graph.add_edges_from((k, j) for k, j in spec.edges if k != j and k in graph and j in graph)
        return graph
    draw = random.Random(f"{seed if spec.seed is None else spec.seed}/{spec.kind}")
    wanted = round(spec.density * size * (size - 1))
    if spec.kind == "complete":
        graph.add_edges_from((k, j) for k in range(size) for j in range(size) if k != j)
    elif spec.kind == "ring" and size > 1:
        graph.add_edges_from((k, (k + 1) % size) for k in range(size))
    elif spec.kind != "none" and size > 1:
        graph.add_edges_from(_drawn(spec.kind, personas, wanted, draw))
    return graph


def influence(size: int, edges: Iterable[tuple[int, int]]) -> dict[int, float]:
    """How influential each seat is, the most influential 1: PageRank over who is followed."""
    import networkx as nx

    graph = nx.DiGraph()
    graph.add_nodes_from(range(size))
    graph.add_edges_from(edges)
    rank: dict[int, float] = nx.pagerank(graph) if size else {}
    top = max(rank.values(), default=1.0)
    return {seat: value / top for seat, value in rank.items()}


def _drawn(kind: str, personas: Sequence[Persona], wanted: int, draw: random.Random) -> list[tuple[int, int]]:
    """`wanted` pairs without replacement, those with more weight sooner (Efraimidis and Spirakis)."""
    size = len(personas)
    fame = list(range(size))
    draw.shuffle(fame)

    def weight(k: int, j: int) -> float:
        if kind == "scale-free":
            return 1.0 / (1 + fame[j])  # Zipf's law over who is followed
        if kind == "small-world":
            apart = min((k - j) % size, (j - k) % size)
            return 1.0 if apart <= max(1, size // 8) else 0.02  # neighbours on a ring, few far ties
        if kind == "homophily":
            return 0.001 + likeness(personas[k], personas[j]) ** 3
        return 1.0

    def key(k: int, j: int) -> float:
        # The logarithm of the draw to the power of 1 / weight, which would be zero for all small weights alike.
        return math.log(max(draw.random(), sys.float_info.min)) / weight(k, j)

    keyed = [(key(k, j), k, j) for k in range(size) for j in range(size) if k != j]
    return sorted((k, j) for _, k, j in sorted(keyed, reverse=True)[:wanted])
