"""Precedents on a real Chroma and a real SQLite."""

import json
from pathlib import Path

import pytest

from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.knowledge.search import Draw, Knowledge, Rank, Search
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests.openai_server import OpenAIServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def knowledge(folder: Path) -> Knowledge:
    settings = Settings(home=folder)
    return Knowledge(Database(settings.database), settings)


async def test_the_precedent_on_the_same_matter_is_found_first_in_both_languages(tmp_path: Path) -> None:
    base = knowledge(tmp_path)
    for text, title in (
        ("The washing machine leaks at the first run", "Washing machine that leaks"),
        ("机械键盘进水，按键失灵", "键盘进水"),
    ):
        hits = await base.answer(Search(collection="precedents", text=text, k=3))
        assert hits[0].record["title"] == title
        assert [hit.similarity for hit in hits] == sorted((hit.similarity for hit in hits), reverse=True)


async def test_norms_are_ranked_by_likeness_to_a_persona(tmp_path: Path) -> None:
    norms = ("A seller who repairs phones must say so.", "Tickets for another date are refunded.")
    hits = await knowledge(tmp_path).answer(Rank(text="Repairs phones in a small shop.", candidates=norms, k=1))
    assert [hit.record["text"] for hit in hits] == [norms[0]]


def three_moods(folder: Path) -> tuple[Knowledge, LabelledTask]:
    """A base that holds the texts of a task, of which two say the same."""
    told = ("Nice to be here.", "nice  to be HERE.", "So nice a day.", "What a day.", "A bad day.")
    items = tuple(Labelled(id=str(n), text=text, label="good" if n < 4 else "bad") for n, text in enumerate(told))
    task = LabelledTask(id="moods", title="Moods", labels=("bad", "good"), items=items)
    base = knowledge(folder)
    base.offer(task)
    return base, task


async def test_a_record_with_the_very_text_can_be_left_out_and_is_never_drawn(
    tmp_path: Path,
) -> None:
    base, task = three_moods(tmp_path)
    looked = Search(collection="examples", text="Nice to be here.", k=2, under=task.under())
    assert [hit.record["id"][-1] for hit in await base.answer(looked)] == ["0", "1"]
    others = await base.answer(looked.model_copy(update={"itself": False}))
    assert [hit.record["text"] for hit in others][:1] == ["So nice a day."]
    assert len(others) == 2

    async def drawn(seed: str, k: int = 1) -> list[str]:
        query = Draw(collection="examples", text="Nice to be here.", k=k, seed=seed, under=task.under("good"))
        return [hit.record["text"] for hit in await base.answer(query)]

    assert await drawn("1") == await drawn("1")
    assert {text for seed in "12345678" for text in await drawn(seed)} == {"So nice a day.", "What a day."}
    assert sorted(await drawn("1", 9)) == ["So nice a day.", "What a day."]


async def test_a_look_up_by_an_embedding_of_its_own_is_asked_of_that_model_and_of_no_other(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    base, task = three_moods(tmp_path)
    search = Search(collection="examples", text="A bad day.", k=1, under=task.under("good"))
    lexical = await base.answer(search)
    with OpenAIServer() as server:
        server.known(monkeypatch)
        found = await base.answer(search, "openai/any-embedding")
        ranked = await base.answer(Rank(text="a", candidates=("b", "a"), k=2), "openai/any-embedding")
    assert [hit.id for hit in ranked] == ["1", "0"]
    assert ranked[0].similarity == pytest.approx(1, abs=1e-3)
    assert found[0].similarity != lexical[0].similarity
    again = await base.answer(search, "openai/any-embedding")  # the server is gone: what was embedded once is kept
    assert again == found
    assert await base.answer(search) == lexical


def test_precedents_are_imported_exported_deleted_and_brought_back(tmp_path: Path) -> None:
    base = knowledge(tmp_path)
    good = base.precedents.all()[0].model_dump(mode="json")
    lines = [json.dumps({**good, "id": f"new-{n}"}) for n in range(5)]
    lines[1:1] = ["{not json", json.dumps({**good, "category": "Cars"}), json.dumps({"id": "x"})]
    report = base.precedents.import_file("\n".join(lines).encode())
    assert len(report.taken) == 5
    assert [problem.split(":")[0] for problem in report.problems] == ["Line 2", "Line 3", "Line 4"]
    gone = base.precedents.all()[0]
    base.precedents.delete(gone.id)
    again = knowledge(tmp_path)
    assert again.precedents.get(gone.id) is None
    again.precedents.add([gone])
    assert again.precedents.get(gone.id) == gone
    base = knowledge(tmp_path).precedents
    odd = base.all()[0].model_copy(update={"id": "odd", "dispute": "one\u2028two\u0085three\r\nfour"})
    report = base.import_file(f"{odd.model_dump_json()}\r\n".encode())
    assert report.problems == ()
    assert base.get("odd") == odd
