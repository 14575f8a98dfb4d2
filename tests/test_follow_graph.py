"""Panels and follow-graphs; and figures: each edge has its arrow, and text from outside stays text."""

import json
import random
from collections.abc import Callable, Iterable
from itertools import combinations, permutations
from statistics import fmean
from typing import Any, get_args

import networkx as nx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from courtroom.engine.blocks import Edge, Graph, Node
from courtroom.engine.procedure import Choice
from courtroom.figures.graph import draw_graph, draw_standards
from courtroom.knowledge.memory import Standard
from courtroom.law import Judgment
from courtroom.panel.follow_graph import FollowGraph, GraphKind, build
from courtroom.panel.personas import Persona, likeness, pool, sample_panel

KINDS = get_args(GraphKind)


@given(size=st.integers(1, 51), kind=st.sampled_from(KINDS), density=st.floats(0, 1), seed=st.integers(0, 99))
@example(size=32, kind="scale-free", density=0.45, seed=0)  # half an edge, on its way to so many seats
def test_a_graph_has_no_loops_and_as_many_edges_as_its_density_asks_for(
    size: int, kind: GraphKind, density: float, seed: int
) -> None:
    spec = FollowGraph(kind=kind, density=density)
    graph = build(spec, sample_panel(size, 0), seed)
    assert sorted(graph.nodes) == list(range(size))
    assert not any(k == j for k, j in graph.edges)
    possible = size * (size - 1)
    expected = {"complete": possible, "none": 0, "ring": size if size > 1 else 0}.get(kind, round(density * possible))
    assert graph.number_of_edges() == expected
    assert set(graph.edges) == set(build(spec, sample_panel(size, 0), seed).edges)


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "ring"])
@given(size=st.integers(1, 50), density=st.floats(0, 1), seed=st.integers(0, 99))
def test_one_juror_more_leaves_all_edges_of_the_others(kind: GraphKind, size: int, density: float, seed: int) -> None:
    spec = FollowGraph(kind=kind, density=density)
    few, more = (set(build(spec, sample_panel(n, 0), seed).edges) for n in (size, size + 1))
    assert {edge for edge in more if max(edge) < size} == few


def test_a_ring_alone_is_opened_to_take_one_more_in() -> None:
    few, more = (set(build(FollowGraph(kind="ring"), sample_panel(n, 0), 0).edges) for n in (5, 6))
    assert few - more == {(4, 0)}


def test_seats_that_come_to_given_edges_have_their_own_drawn() -> None:
    spec = FollowGraph(edges=((0, 1), (0, 3), (2, 1)), seats=4)
    found = set(build(spec, sample_panel(6, 0), 0).edges)
    drawn = set(build(FollowGraph(), sample_panel(6, 0), 0).edges)
    assert {edge for edge in found if max(edge) < 4} == {(0, 1), (0, 3), (2, 1)}
    assert {edge for edge in found if max(edge) >= 4} == {edge for edge in drawn if max(edge) >= 4} != set()


PANEL = sample_panel(51, 0)


@pytest.mark.parametrize(
    ("kind", "density", "of"),
    [
        ("small-world", 0.1, lambda graph: nx.average_clustering(graph.to_undirected())),
        ("scale-free", 0.25, lambda graph: max(degree for _, degree in graph.in_degree)),
        ("homophily", 0.1, lambda graph: fmean(likeness(PANEL[k], PANEL[j]) for k, j in graph.edges)),
    ],
)
def test_each_kind_of_graph_has_more_of_what_it_is_named_for_than_one_by_lot(
    kind: GraphKind, density: float, of: Callable[[Any], float]
) -> None:
    made, by_lot = (
        fmean(of(build(FollowGraph(kind=one, density=density), PANEL, seed)) for seed in range(5))
        for one in (kind, "random")
    )
    assert made > 1.5 * by_lot


@pytest.mark.parametrize("size", [1, 17, 51])
def test_a_panel_is_drawn_without_repeats_and_a_smaller_one_begins_a_larger_one(size: int) -> None:
    panel = sample_panel(size, 5)
    assert len({persona.name for persona in panel}) == size
    assert sample_panel(51, 5)[:size] == panel


def test_a_panel_is_more_diverse_than_chance() -> None:
    def alike(people: Iterable[Persona]) -> float:
        return max(likeness(a, b) for a, b in combinations(people, 2))

    drawn = [alike(random.Random(seed).sample(pool(), 17)) for seed in range(20)]
    chosen = [alike(sample_panel(17, seed)) for seed in range(20)]
    assert sum(chosen) < sum(drawn)


def test_edges_that_are_given_are_the_graph_but_for_seats_that_do_not_exist() -> None:
    graph = build(FollowGraph(edges=((-1, 0), (0, -2), (1, 1), (1, 2), (3, 0))), sample_panel(3, 0), 0)
    assert sorted(graph.nodes) == [0, 1, 2]
    assert set(graph.edges) == {(1, 2)}


def test_those_who_have_nothing_in_common_follow_by_lot_not_by_seat() -> None:
    def stranger(n: int) -> Persona:
        alike = {"name": f"p{n}", "gender": f"g{n}", "age": 18 + n, "status": f"s{n}", "background": "x"}
        return Persona(**alike, traits=(f"t{n}",), interests=(f"i{n}",))

    strangers, spec = [stranger(n) for n in range(20)], FollowGraph(kind="homophily", density=0.8)
    edges = [edge for seed in range(20) for edge in build(spec, strangers, seed).edges]
    front = sum(k < 10 for k, _ in edges)
    assert front == pytest.approx(len(edges) / 2, rel=0.05)


def test_each_edge_has_one_arrow_that_points_along_it() -> None:
    nodes = tuple(Node(id=name, label=name, choice="buyer", size=0.5) for name in "abcde")
    edges = tuple(Edge(one, other, strong=one == "a") for one, other in permutations("abcde", 2))
    figure = draw_graph(Graph(nodes, edges), (Choice("buyer", "Buyer", 0, "circle", "●"),))
    lines = [trace for trace in figure.data if trace.mode == "lines+markers"]
    assert {trace.marker.angleref for trace in lines} == {"previous"}
    assert [sum(size > 0 for size in trace.marker.size) for trace in lines] == [16, 4]
    for trace in lines:
        tips = [at for at, size in enumerate(trace.marker.size) if size > 0]
        assert all(trace.x[at - 1] is not None and trace.x[at + 1] is not None for at in tips), "within its own edge"


EVIL = '![](http://evil.example/x.png)<a href="http://a.example" style="background:url(http://a.example)">x</a>%{y}'
"""A picture in Markdown; a link with a style and a template, as Plotly reads them."""


def test_figures_show_marks_of_others_as_they_are() -> None:
    choices = [Choice(name, EVIL, number, "circle", EVIL) for number, name in enumerate(("buyer", "seller"))]
    graph = Graph((Node("a", EVIL, "buyer", 0.5, detail=EVIL), Node("b", " ", None, 0.5)), (Edge("a", "b"),), EVIL)
    judged = Judgment(relevant_articles=(264,), charges=(EVIL,))
    standard = Standard(id="s", case="c", title=EVIL, facts="a", reasoning="b", verdict=judged, gold=judged)
    for figure in (draw_graph(graph, choices), draw_standards(nx.path_graph(["s"]), [standard])):
        text = str(json.loads(figure.to_json()))
        assert "evil" in text
        assert "<a" not in text
        assert "%{y}</extra>" not in text
