"""Panels of personas, from files and tables, by page and by shell; who follows whom; and figures of both, in which text stays text."""

import json
from collections import Counter
from pathlib import Path
from typing import get_args

import networkx as nx
import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from courtroom import Choice, Courthouse, CourtroomError, Edge, Graph, Node
from courtroom.declarations.changes import changed
from courtroom.figures.graph import draw_graph, draw_standards
from courtroom.knowledge.memory import Standard
from courtroom.law import Judgment
from courtroom.panel.follow_graph import FollowGraph, GraphKind, build
from courtroom.panel.personas import drawn_panel, read_panel, sample_panel
from tests.driving import shell
from tests.pages import field, page, press, texts
from tests.pages import house as house  # a fixture

HEAD = "name,gender,age,status,background,traits,interests\n"
ADA = "Ada,woman,41,employed,Repairs cameras.,patient; exact,chess\n"


def test_a_csv_is_read_as_spreadsheets_write_it() -> None:
    other = "\ufeffAge;NAME;gender;status;Background;traits\r\n41;Ada;woman;employed;Repairs cameras.;patient, exact\r\n;;;;;\r\n"
    ((ada,), _) = read_panel("a.CSV", other.encode())
    assert (ada.name, ada.age, ada.traits, ada.interests) == ("Ada", 41, ("patient", "exact"), ())


@pytest.mark.parametrize(
    ("name", "data", "told"),
    [
        ("a.csv", "", "name, gender, age, status, background is not among them"),
        ("a.csv", HEAD + ADA + "Ben,man,17,student,At school.,,", "Row 2: age must be a whole number from 18 to 95."),
        ("a.csv", HEAD + ADA + ADA, "Row 2: there is a “Ada” already"),
        ("a.csv", HEAD + "".join(ADA.replace("Ada", f"Ada {n}") for n in range(2_001)), "At most 2,000 persons"),
        ("a.csv", HEAD + '"Ada,woman', "line 2: a quotation mark opens in it that is never closed"),
        ("a.yaml", "- !!python/object/apply:os.system [id]", "is not valid YAML"),
        ("a.yaml", "- &a [x, x]\n- [*a, *a]", "uses aliases"),
        ("a.csv", HEAD + ADA.replace("Repairs cameras.", "x" * 500), "Row 1: background has more than 400 characters"),
        ("a.csv", "x" * (2**20 + 1), "too much for a panel"),
    ],
)
def test_what_does_not_fit_is_told_by_row_in_one_sentence(name: str, data: str, told: str) -> None:
    with pytest.raises(CourtroomError) as caught:
        read_panel(name, data.encode())
    assert told in str(caught.value)
    assert "\n" not in str(caught.value)


CENSUS = "AGEP,SEX,OCC,SCHL,PWGTP\n" + "".join(
    f"{15 + n % 80},{('woman', 'man')[n % 2]},{'nurse' if n % 5 else 'baker'},{'college' if n % 3 else 'primary school'},{n % 4}\n"
    for n in range(220)
)
COLUMNS = {"age": "AGEP", "gender": "SEX", "background": "Works as a {OCC}.", "schooling": "SCHL", "weight": "PWGTP"}


def test_a_census_becomes_a_pool_by_its_columns() -> None:
    people, told = read_panel("census.csv", CENSUS.encode(), columns=COLUMNS)
    under_age = sum(15 + n % 80 < 18 for n in range(220))
    assert told == f"{under_age} of 220 rows are left out: their age is not from 18 to 95."
    assert len(people) == 220 - under_age
    first = people[0]
    assert (first.name, first.background, first.schooling) == ("Person 4", "Works as a nurse.", "primary school")
    for columns, wrong in (
        ({**COLUMNS, "shoe": "SEX"}, "“shoe” is no field of a person"),
        ({**COLUMNS, "status": "ESR"}, "census.csv has no column “esr”. It has AGEP, SEX, OCC, SCHL, PWGTP."),
        ({"gender": "SEX"}, "age is not among them"),
        ({**COLUMNS, "status": ""}, "write FIELD=COLUMN for each"),
        ({**COLUMNS, "weight": "OCC"}, "Row 1: weight must be a number, 0 or more."),
    ):
        with pytest.raises(CourtroomError) as caught:
            read_panel("census.csv", CENSUS.encode(), columns=columns)
        assert wrong in str(caught.value)
    with pytest.raises(CourtroomError, match="for CSV files alone"):
        read_panel("census.yaml", b"", columns=COLUMNS)


def test_a_panel_is_drawn_by_weight_and_seed() -> None:
    people, _ = read_panel("census.csv", CENSUS.encode(), columns=COLUMNS)
    weights = {one.name: getattr(one, "weight", 1.0) for one in people}
    panels = [drawn_panel(people, 12, seed) for seed in range(150)]
    assert all(len({one.name for one in panel}) == 12 for panel in panels)
    assert drawn_panel(people, 6, 3) == drawn_panel(people, 12, 3)[:6]
    drawn = Counter(weights[one.name] for panel in panels for one in panel)
    assert drawn[0.0] == 0
    per_head = [drawn[weight] / sum(one == weight for one in weights.values()) for weight in (1.0, 2.0, 3.0)]
    assert [round(one / per_head[0]) for one in per_head] == [1, 2, 3]
    alone = [one for one in people if weights[one.name] == 0][:2] + [one for one in people if weights[one.name]][:1]
    with pytest.raises(CourtroomError, match="2 persons can't be drawn: only 1 have a weight"):
        drawn_panel(alone, 2, 0)


def test_each_run_draws_its_jurors_from_a_pool_and_shows_them(house: Courthouse, tmp_path: Path) -> None:
    file = tmp_path / "census.csv"
    file.write_text(CENSUS)
    columns = [word for field, column in COLUMNS.items() for word in ("--column", f"{field}={column}")]
    assert shell("panels", "import", str(file), *columns) == "census\t211\n"
    people = {one.name for one in house.panels.load("census")}
    case, mock_jury = house.library.case("trial-boatyard-fire"), house.procedures["mock-jury"]
    setup = changed(mock_jury.setup(), {"people": "census", "rounds": 0})
    runs = [house.record(house.new_run("mock-jury", case, setup, seed)) for seed in (0, 0, 1)]
    juries = [{one.name for one in record.setup.jury} for record in runs]
    assert all(len(jury) == 12 and jury <= people for jury in juries)
    assert juries[0] == juries[1] != juries[2]
    assert runs[0].setup.people == "census"
    fork = house.fork(runs[0].run.id, changed(runs[0].setup, {"rounds": 1}))
    assert {one.name for one in house.record(fork).setup.jury} == juries[0]
    with pytest.raises(CourtroomError, match="There is no panel “nobody”"):
        house.new_run("mock-jury", case, changed(setup, {"people": "nobody"}), 0)
    said = shell("run", "trial-boatyard-fire", "--procedure", "mock-jury", "--panel=census", "--set=rounds=0", "--json")
    assert json.loads(said)["run"]
    out = tmp_path / "out.csv"
    shell("panels", "export", "census", "--to", str(out))
    assert read_panel("out.csv", out.read_bytes())[0] == house.panels.load("census")


def test_a_panel_is_saved_seated_renamed_and_deleted_with_undo_on_setup(house: Courthouse) -> None:
    house.panels.save("three", sample_panel(3, 5))
    app = page("setup", {"setup_section": "Jury"})
    press(app, "Seat this panel")
    assert "3 jurors" in texts(app)
    field(app, "text_input", "Name of the panel").set_value("again")
    press(app, "Save")
    assert house.panels.load("again") == house.panels.load("three")
    app.selectbox(key="panel-chosen").set_value("again").run()
    field(app, "text_input", "New name").set_value("neighbours")
    press(app, "Rename")
    assert house.panels.names() == ["neighbours", "three"]
    app.selectbox(key="panel-chosen").set_value("three").run()
    press(app, "Delete this panel")
    assert house.panels.names() == ["neighbours"]
    app.button(key="undo-deleted_panel").click().run()
    assert house.panels.load("three") == sample_panel(3, 5)


KINDS = get_args(GraphKind)


@given(size=st.integers(1, 51), kind=st.sampled_from(KINDS), density=st.floats(0, 1), seed=st.integers(0, 99))
@example(size=32, kind="scale-free", density=0.45, seed=0)  # half an edge, on its way to so many seats
def test_a_graph_has_no_loops_and_edges_by_its_density(size: int, kind: GraphKind, density: float, seed: int) -> None:
    spec = FollowGraph(kind=kind, density=density, least=0)
    graph = build(spec, sample_panel(size, 0), seed)
    assert sorted(graph.nodes) == list(range(size))
    assert not any(k == j for k, j in graph.edges)
    possible = size * (size - 1)
    expected = {"complete": possible, "none": 0, "ring": size if size > 1 else 0}.get(kind, round(density * possible))
    assert graph.number_of_edges() == expected
    assert set(graph.edges) == set(build(spec, sample_panel(size, 0), seed).edges)


@given(size=st.integers(2, 51), density=st.floats(0.01, 1), seed=st.integers(0, 99), least=st.integers(1, 4))
def test_nobody_follows_fewer_than_the_least(size: int, density: float, seed: int, least: int) -> None:
    graph = build(FollowGraph(density=density, least=least), sample_panel(size, 0), seed)
    assert min(degree for _, degree in graph.out_degree) >= min(least, size - 1)
    assert graph.number_of_edges() >= round(density * size * (size - 1))
    given = build(FollowGraph(edges=((-1, 0), (0, -2), (1, 1), (1, 2), (3, 0))), sample_panel(3, 0), seed)
    assert (sorted(given.nodes), set(given.edges)) == ([0, 1, 2], {(1, 2)}), "but for seats that do not exist"


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
