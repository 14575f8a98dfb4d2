"""The memory's equations, one function each (VERDICT, section 3.4.1 and appendix D)."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING

from courtroom.knowledge.jurisprudence import Tags

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

if TYPE_CHECKING:
    import networkx as nx

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


def topo(linked: Collection[str], active: Collection[str]) -> int:
    """How many activated standards are associated with a unit (Eq. 10).

    Args:
        linked: the standards associated with the unit: itself and its neighbours for a standard, its supporting
            precedents for a directive.
    """
    return len(set(linked) & set(active))


def score(
    overlap: float,
    co_activation: float,
    similarity: float,
    weights: Weights = WEIGHTS,
) -> float:
    """Score = alpha IoU + beta Topo + gamma SemSim (section 3.4.1; weights of appendix C).

    Args:
        co_activation: Topo over the number of activated standards, so that all three parts lie between 0 and 1.
        similarity: cosine, negative values counting 0.
    """
    alpha, beta, gamma = weights
    return alpha * overlap + beta * co_activation + gamma * max(0.0, similarity)


def merged_confidence(confidences: Iterable[float], most: float = 1.0) -> float:
    """Confidences summed, clipped at `most` (Eq. 8)."""
    return min(most, sum(confidences))
