"""The follow-graph as a figure: every edge has its arrow, however many there are."""

from itertools import permutations

from courtroom.engine.blocks import Edge, Graph, Node
from courtroom.engine.procedure import Choice
from courtroom.figures.graph import draw_graph

CHOICES = (Choice("buyer", "Buyer", 0, "circle", "●"),)


def graph(size: int) -> Graph:
    names = [f"juror-{number:02d}" for number in range(size)]
    edges = [Edge(source=one, target=other, strong=one == names[0]) for one, other in permutations(names, 2)]
    return Graph(nodes=tuple(Node(id=name, label=name, choice="buyer", size=0.5) for name in names), edges=tuple(edges))


def test_each_edge_has_one_arrow_that_points_along_it() -> None:
    shown = graph(5)
    figure = draw_graph(shown, CHOICES)
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert {trace.marker.angleref for trace in lines} == {"previous"}
    assert [sum(size > 0 for size in trace.marker.size) for trace in lines] == [16, 4]
    for trace in lines:
        tips = [at for at, size in enumerate(trace.marker.size) if size > 0]
        assert all(trace.x[at - 1] is not None and trace.x[at + 1] is not None for at in tips), "within its own edge"
