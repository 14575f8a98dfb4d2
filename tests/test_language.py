"""The interface in Chinese: every text has a translation, and no page shows an English one."""

import re
from collections.abc import Iterator
from functools import reduce
from html import unescape
from typing import Any

import pytest
from babel.messages.pofile import read_po
from google.protobuf.message import Message
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import singly, values
from courtroom.language import PLACE, _, path_of, speaking, translated
from courtroom.procedures import PROCEDURES
from courtroom.report import as_html
from courtroom.room.player import read, words
from tests.driving import done, drive
from tests.furnished import copied
from tests.interface_texts import ROOT, found
from tests.pages import benched, heard
from tests.pages import page as drawn

UNSEEN = {
    *("id", "element_id", "form_id", "icon", "url", "key", "css", "js", "html_content", "link_url", "query_string", "page_script_hash"),
    *("type", "file_type", "accept_file_type", "body_type", "language", "color", "selection_mode", "theme", "config_text", "spec", "mode"),
    *("max_chars", "deferred_file_id", "component_name", "arrow_data", "json", "mixed", "bytes", "figure", "codec", "width_config", "style"),
    *("format", "heading", "tag", "anchor", "default", "value", "raw_value", "set_value", "default_value", "icon_position", "shortcut"),
}  # fmt: skip
"""Fields of elements that a reader doesn't see, or that hold what somebody typed or chose."""
ENGLISH = re.compile(r"[A-Za-z]{2,}[,;:]? +\(?[A-Za-z]{2,}")


def shown(app: AppTest) -> Iterator[str]:
    """Every text of a page, a piece each."""
    for element in app._tree:
        proto = getattr(element, "proto", None)
        if not isinstance(proto, Message) or proto.DESCRIPTOR.name == "BidiComponent":
            continue  # the room's own program; what it says is tested beside it
        yield from _strings(proto)
        value = element.value if element.type in ("arrow_data_frame", "dataframe") else None
        if value is not None:
            yield from (str(cell) for cell in value.to_numpy().ravel() if isinstance(cell, str))


def _strings(held: Any) -> Iterator[str]:
    if isinstance(held, str):
        yield held
    elif isinstance(held, Message):
        for field, part in held.ListFields():
            if field.name == "columns" and isinstance(part, str):  # of a table: its heads
                yield from re.findall(r'"label": ?"((?:[^"\\]|\\.)*)"', part)
            elif field.name not in UNSEEN:
                yield from _strings(part)
    elif hasattr(held, "__iter__") and not isinstance(held, bytes):
        for one in held:
            yield from _strings(one)


ZH = path_of("zh")
MARKS = re.compile(r"<style.*?</style>|<[^>]*>|:material/\w+:|`[^`]*`|\\", re.S)
KEPT = re.compile(
    # Names: of papers, personas, people, formats and providers; ids and what is typed into a program.
    r"\([\w ]*\d{4}\)|arXiv|et al|Court?room|[A-Z][a-z]+ [A-Z][a-z]+|JSON|LiteLLM|PyTorch|ACL|TRL|SFT|DPO|"
    r"--?\w+|\w+/\w+|\w+_\w+|\w+-\d|\S*[?&]\w+=\S*|BM25|token|Top-p|CSV|PDF|ZIP|(?i:hugging face|parquet)"
)
"""What stays as it is in any language."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """The courthouse that the pages use, with a Chinese dispute, and a Chinese criminal case heard by two procedures."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(copied(tmp_path_factory.mktemp("home"))))
        patch.chdir(ROOT)
        from pages.parts.shared.house import courthouse

        house = courthouse()
        heard(house, "aquarium-filter", jury_size=3, rounds=2, examination="shared")
        for procedure in ("jurisagents", "verdict"):
            benched(house, procedure)
        AppTest.from_file(str(ROOT / "app.py"), default_timeout=30).run()  # the first visit is drawn without the frame
        yield house
        house.close()


@pytest.fixture(autouse=True)
def chinese_test() -> Iterator[None]:
    """The harness calls the pages' own functions for the names of options, outside of any page."""
    with speaking("zh"):
        yield


def page(name: str = "", session: dict[str, object] | None = None, **query: str) -> AppTest:
    """A page, opened from the first one, on which the language of the address is taken up."""
    app = drawn("", session, **{"lang": "zh", **query})
    if name:
        app.switch_page(f"pages/{name}.py").run()
    assert not app.exception, app.exception
    return app


def english(app: AppTest) -> list[str]:
    """What a page says in English and should not."""
    texts = (MARKS.sub("", unescape(text)) for text in shown(app))
    papers = [one.paper for one in PROCEDURES.values() if one.paper]  # their titles stay
    texts = (reduce(lambda left, paper: left.replace(paper, ""), papers, text) for text in texts)
    return [text.strip()[:200] for text in texts if ENGLISH.search(KEPT.sub(" ", text))]


def test_every_translation_has_the_places_of_its_text() -> None:
    messages = found()
    with ZH.open("rb") as file:
        catalogue = read_po(file, locale="zh")
    wrong = []
    for message in messages:
        one, _nul, several = message.partition("\0")
        kept = catalogue.get(one)
        text = "" if kept is None else kept.string if isinstance(kept.string, str) else kept.string[0]
        wanted = set(PLACE.findall(several or one)) | ({"number"} & set(PLACE.findall(one)))
        if text and (not set(PLACE.findall(text)) <= wanted or wanted - set(PLACE.findall(text)) - {"number"}):
            wrong.append(f"{one!r}: {text!r}")
        if not text:
            wrong.append(f"{one!r} has no translation")
    assert not wrong, "correct their translations in the catalogue: " + "\n".join(wrong)


@pytest.mark.parametrize(
    ("said", "read_as"),
    [
        ("八种情形之一: 36 to 120 months, or life", "八种情形之一：36 至 120 个月，或无期徒刑"),
        ("The draft passed in turn 2, after 1 rejection.", "草案在第 2 轮通过，此前被驳回 1 次。"),
        ("article 264; 盗窃; 8 months", "第 264 条；盗窃；8 个月"),
        ("The jury looked away from the evidence", "The jury looked away from the evidence"),
        ("Follow-graph: small world", "关注图：小世界"),
        ("setup › jury_size must be at least 3.", "setup › jury_size 不得小于 3。"),
    ],
)
def test_what_the_engine_recorded_is_recognised(said: str, read_as: str) -> None:
    assert translated(said) == read_as
    with speaking("en"):
        assert translated(said) == said


@pytest.mark.parametrize("number", range(3))
def test_a_chinese_case_and_its_hearing_read_chinese(house: Courthouse, number: int) -> None:
    run = [*house.store.each()][number]
    left = english(page(case=run.case_id))
    app = page("deliberation", run=run.id)
    left += english(app)
    views = house.procedures[run.procedure].views
    for tab in ("Members", *(view.title for view in views if view.name != "precedents"), "Calls"):
        app.session_state[f"tab-{run.id}"] = tab
        assert not app.run().exception, app.exception
        left += english(app)
    assert not left


def test_the_room_and_the_report_read_chinese(house: Courthouse) -> None:
    run = next(run.id for run in house.store.each() if run.procedure == "verdict")
    html = as_html(house.record(run), house.procedures["verdict"], house.answers, house.media)
    head = html[html.index("<header>") : html.index("</header>")]
    assert "判决：" in head.replace(": ", "：")
    assert not ENGLISH.search(KEPT.sub(" ", MARKS.sub(" ", head)))
    assert words()["Play"] == "播放"
    drawn = read({"seats": [{"id": "clerk", "name": "Court Clerk"}], "moments": [{"kind": "stage", "title": "Turn 1"}]})
    assert (drawn["seats"][0]["name"], drawn["moments"][0]["title"]) == ("书记员", "第 1 轮")
    with speaking("en"):
        assert words() == {}
    assert _("Play") == "播放"


@pytest.fixture(scope="module")
def varied(house: Courthouse) -> dict[str, Any]:
    """A run with a fork that has other settings, and a what-if over settings of all sorts, as sessions have them."""
    run = next(run.id for run in house.store.each() if run.procedure == "cyberjurors")
    base = house.record(run)
    fork = drive(house, house.fork(run, base.setup.model_copy(update={"variant": "iv-cot", "tie": "seller"})))
    given = {"variant": ["iv-cot", "jury"], "graph.kind": ["small-world"], "jury_size": [1], "persona_examines": [True]}
    axes = [values(type(base.setup), path, several) for path, several in given.items()]
    what_if = done(house, house.experiments.what_ifs.experiment(run, singly(*axes), (base.run.seed,)))
    return {"run": run, "compared": f"{run},{fork}", "what-if": what_if.kept.id}


@pytest.mark.parametrize("name", ["setup", "what_if", "experiments", "runs", "compare", "deliberation"])
def test_a_page_reads_chinese(varied: dict[str, Any], name: str) -> None:
    query = {"run": varied["run"]} if name == "deliberation" else {}
    app = page(name, None if name == "compare" else dict(varied), **query)  # what a fork changes is a persona's words
    assert not english(app)
    if name == "what_if":
        told = MARKS.sub("", "".join(shown(app)))
        assert all(one in told for one in ("关注图：小世界", "陪审员：1", "变体：IV-CoT"))
