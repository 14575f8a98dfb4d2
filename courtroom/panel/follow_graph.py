"""The directed follow-graph G = <A, E>: an edge k -> j says that juror k follows juror j (section 4).

A graph grows seat by seat: each seat brings its own edges to and from the seats before it, and these depend on nobody
who comes later. So another size adds or removes seats with their edges and leaves the rest as it is. A `ring` alone
has to be opened to take one more in.
"""

from __future__ import annotations

import math
import random
import sys
import tomllib
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Literal

from pydantic import Field

from courtroom.panel.personas import Persona, likeness
from courtroom.strict import Strict

if TYPE_CHECKING:
    import networkx as nx

GraphKind = Literal["scale-free", "small-world", "random", "homophily", "ring", "complete", "none"]
_SAID = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))


class FollowGraph(Strict):
    """How the follow-graph is made; `edges`, where given, is the graph itself."""

    kind: GraphKind = Field(default="scale-free", **_SAID["kind"])
    density: float = Field(default=0.25, ge=0, le=1, **_SAID["density"])
    least: int = Field(default=2, ge=0, le=50, **_SAID["least"])
    seed: int | None = Field(default=None, **_SAID["seed"])
    edges: tuple[tuple[int, int], ...] | None = Field(default=None, **_SAID["edges"])
    seats: int | None = Field(default=None, **_SAID["seats"])


def build(spec: FollowGraph, personas: Sequence[Persona], seed: int) -> nx.DiGraph:
    """The graph over the seats 0 to N-1.

    `ring` and `complete` have their one density; the others have round(density * N * (N-1)) edges, or more where each
    is to follow at least so many.
    """
    import networkx as nx  # slow to import: only when there is a graph

    size = len(personas)
    graph = nx.empty_graph(size, create_using=nx.DiGraph)
    if spec.edges is not None:
        graph.add_edges_from((k, j) for k, j in spec.edges if k != j and k in graph and j in graph)
        if spec.seats is not None:
            drawn = build(spec.model_copy(update={"edges": None}), personas, seed)
            graph.add_edges_from((k, j) for k, j in drawn.edges if max(k, j) >= spec.seats)
    elif spec.kind == "complete":
        graph = nx.complete_graph(size, create_using=nx.DiGraph)
    elif spec.kind == "ring" and size > 1:
        graph = nx.cycle_graph(size, create_using=nx.DiGraph)
    elif spec.kind not in ("none", "ring"):
        graph.add_edges_from(sorted(_grown(spec, personas, seed if spec.seed is None else spec.seed)))
    return graph


def influence(size: int, edges: Iterable[tuple[int, int]]) -> dict[int, float]:
    """How influential each seat is, the most influential 1: PageRank over who is followed."""
    import networkx as nx

    graph = nx.empty_graph(size, create_using=nx.DiGraph)
    graph.add_edges_from(edges)
    rank: dict[int, float] = nx.pagerank(graph) if size else {}
    top = max(rank.values(), default=1.0)
    return {seat: value / top for seat, value in rank.items()}


def _grown(spec: FollowGraph, personas: Sequence[Persona], seed: int) -> Iterator[tuple[int, int]]:
    """Each seat's edges with those before it: pairs without replacement, by weight (Efraimidis and Spirakis)."""
    follows: list[int] = []
    """How many each seat follows by now."""
    drawn = 0
    places: list[float] = []
    """A number from 0 to 1 for each seat: where it is on a circle, or how little known it is."""
    for seat, persona in enumerate(personas):
        draw = random.Random(f"{seed}/{spec.kind}/{seat}")
        places.append(max(draw.random(), sys.float_info.min))
        if spec.kind == "scale-free":  # how much somebody is followed is a trait of the person (Caldarelli et al. 2002)
            weights = {(k, j): 1.0 / places[j] for k, j in _pairs(seat)}
        elif spec.kind == "small-world":  # one comes onto a circle beside others (Ozik, Hunt and Ott 2004)
            apart = [abs(place - places[seat]) for place in places[:seat]]
            order = sorted(range(seat), key=lambda other: min(apart[other], 1 - apart[other]))
            beside = set(order[: 2 * max(1, (seat + 1) // 8)])
            weights = {(k, j): 1.0 if min(k, j) in beside else 0.02 for k, j in _pairs(seat)}
        elif spec.kind == "homophily":
            weights = {(k, j): 0.001 + likeness(persona, personas[min(k, j)]) ** 3 for k, j in _pairs(seat)}
        else:
            weights = dict.fromkeys(_pairs(seat), 1.0)
        # The logarithm of the draw to the power of 1 / weight, which would be zero for all small weights alike.
        keys = {pair: math.log(max(draw.random(), sys.float_info.min)) / weight for pair, weight in weights.items()}
        wanted = round(spec.density * (seat * (seat + 1))) - drawn
        ranked = sorted(keys, key=keys.__getitem__, reverse=True)
        follows.append(0)
        least = min(spec.least, seat) if spec.density else 0
        chosen = [(k, seat) for k in range(seat) if follows[k] < least]
        chosen += [pair for pair in ranked if pair[0] == seat][:least]
        chosen += [pair for pair in ranked if pair not in chosen][: max(0, wanted - len(chosen))]
        for follower, _ in chosen:
            follows[follower] += 1
        drawn += len(chosen)
        yield from chosen


def _pairs(seat: int) -> Iterator[tuple[int, int]]:
    for other in range(seat):
        yield seat, other
        yield other, seat
