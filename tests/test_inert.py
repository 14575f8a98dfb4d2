"""Text from outside on a seat's page and in figures: shown, and nothing else."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import networkx as nx
import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Edge, Graph, Node
from courtroom.engine.people import SeatQuestion
from courtroom.engine.procedure import Choice
from courtroom.figures.graph import draw_graph, draw_standards
from courtroom.knowledge.memory import Standard
from courtroom.law import Judgment
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.house import courthouse

EVIL = (
    '![](http://evil.example/x.png)<a href="http://evil.example" style="background:url(http://evil.example)">x</a>%{y}'
)
"""A picture in Markdown; a link with a style and a template, as Plotly reads them."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """The very courthouse that the pages use."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(tmp_path_factory.mktemp("home")))
        house = courthouse()
        yield house
        house.close()


def test_a_picture_on_a_seats_page_is_told_in_plain_text(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    case = house.library.case("oak-table")
    medium = next(case.media()).model_copy(update={"description": EVIL})
    run = house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=3), 0)
    seat = house.people.seat(run, "juror-01")
    body = {"messages": [["user", [EVIL, medium.model_dump(mode="json")]]], "answer_schema": {"properties": {}}}
    question = SeatQuestion(
        run=run,
        path="a/juror-01/b",
        key="k",
        member="juror-01",
        title=EVIL,
        asked=0,
        deadline=None,
        answer=None,
        **body,
    )
    monkeypatch.setattr("courtroom.engine.people.People.questions", lambda self, seat: [question])
    page = AppTest.from_file(str(Path(__file__).parents[1] / "app.py"), default_timeout=30)
    page.query_params["seat"] = seat.token
    page.run()
    assert not page.exception
    (picture,) = page.get("image")
    captions = [image.caption for image in picture.proto.imgs]
    marked = [*captions, *(one.value for one in (*page.subheader, *page.title, *page.caption))]
    assert any("evil" in told for told in captions)
    assert not any(re.search(r"(?<!\\)[!<\[\]]", told) for told in marked)


def test_figures_show_marks_of_others_as_they_are() -> None:
    choices = [Choice(name, EVIL, number, "circle", EVIL) for number, name in enumerate(("buyer", "seller"))]
    graph = Graph((Node("a", EVIL, "buyer", 0.5, detail=EVIL), Node("b", " ", None, 0.5)), (Edge("a", "b"),), EVIL)
    judged = Judgment(relevant_articles=(264,), charges=(EVIL,))
    standard = Standard(id="s", case="c", title=EVIL, facts="a", reasoning="b", verdict=judged, gold=judged)
    figures: list[Any] = [
        draw_graph(graph, choices),
        draw_standards(nx.path_graph(["s"]), [standard]),
    ]
    for figure in figures:
        texts = list(_texts(figure.to_plotly_json()))
        assert any("evil" in text for text in texts)
        assert not any("<a" in text or "%{y}</extra>" in text for text in texts), texts


def _texts(part: Any) -> Iterator[str]:
    if isinstance(part, str):
        yield part
    elif isinstance(part, dict):
        for inner in part.values():
            yield from _texts(inner)
    elif hasattr(part, "__iter__"):
        for inner in part:
            yield from _texts(inner)
