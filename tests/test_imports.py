"""Imports: whole or not at all, gone on with after a kill, nothing twice and nothing lost."""

from __future__ import annotations

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.imports import BATCH, Imports
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests.real import FOLDER, needs_real_data

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def opened(home: Path) -> tuple[Knowledge, Imports]:
    settings = Settings(home=home)
    database = Database(settings.database)
    knowledge = Knowledge(database, settings)
    return knowledge, Imports(database, knowledge, home / "imports")


def records(count: int) -> bytes:
    rows = [
        {
            "fact": f"On day {n} the defendant took item{n} out of shop{n % 37} and sold it to buyer{n % 101}.",
            "meta": {
                "relevant_articles": [264],
                "accusation": ["theft"],
                "term_of_imprisonment": {"imprisonment": n % 36 + 1},
            },
        }
        for n in range(count)
    ]
    return "\n".join(map(json.dumps, rows)).encode()


async def test_referred_precedents_are_taken_in_once_however_often_they_are_imported(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    before = len(knowledge.cases)
    told: list[tuple[str, int, int]] = []
    for _ in range(2):
        job = await imports.go_on(imports.begin("cases", "cail.jsonl", records(450)), lambda *step: told.append(step))
        assert job.total == 450
    assert len(knowledge.cases) == before + 450
    assert [done for what, done, _ in told if what == "Taking in"][:3] == [BATCH, 2 * BATCH, 450]
    found = await knowledge.cases.search("item449 shop5", 1)
    assert "item449" in found[0].record.facts
    assert imports.pending() == []


async def test_a_statute_book_replaces_the_digests_words_and_keeps_what_it_knows_beside(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    lines = [
        {"number": 264, "text": "盗窃公私财物，数额较大的，……", "interpretation": "数额较大为一千元至三千元以上。"},
        {"number": "第一百三十三条之一", "text": "在道路上驾驶机动车，……"},
        {
            "number": "Article 400",
            "text": "Whoever sets free ...",
            "charges": ["releasing persons in custody without authority"],
        },
    ]
    data = "\n".join(json.dumps(line, ensure_ascii=False) for line in lines).encode()
    await imports.go_on(imports.begin("statutes", "law.jsonl", data))
    theft, driving, new = (knowledge.statutes.get(name) for name in ("264", "133-1", "400"))
    assert theft is not None
    assert driving is not None
    assert new is not None
    assert (theft.digest, theft.text.zh[:4], theft.title.en, bool(theft.bands)) == (False, "盗窃公私", "Theft", True)
    assert theft.interpretation.startswith("数额较大")
    assert driving.charges[0].zh == "危险驾驶"
    assert new.charges[0].en in [charge.name.en for charge in knowledge.charges.all()]
    assert (await knowledge.statutes.search("数额较大为一千元至三千元", 1))[0].record.id == "264"


@pytest.mark.parametrize(
    ("into", "line", "told"),
    [
        ("statutes", {"number": 999, "text": "x"}, "law.jsonl, line 2: the Criminal Law has no article 999"),
        ("statutes", {"number": "264 and 266", "text": "x"}, "does not name one article"),
        ("statutes", {"text": "x"}, "needs the fields `number` and `text`"),
        ("statutes", {"number": 264, "text": " "}, "`text` must be the article's text"),
        ("statutes", {"number": True, "text": "x"}, "`number` must be an article's number"),
        ("cases", {"fact": "A fact."}, "law.jsonl, line 2: `meta` is missing"),
        ("cases", {"fact": "A fact.", "meta": {}}, "has no judgment"),
    ],
)
def test_a_file_with_one_bad_record_leaves_everything_as_it_was(
    tmp_path: Path, into: Any, line: object, told: str
) -> None:
    knowledge, imports = opened(tmp_path)
    good = json.loads(records(1)) if into == "cases" else {"number": 1, "text": "x"}
    before = len(knowledge.collections[into])
    with pytest.raises(CourtroomError) as error:
        imports.begin(into, "law.jsonl", "\n".join(map(json.dumps, (good, line, good))).encode())
    assert told in str(error.value)
    assert (len(knowledge.collections[into]), imports.pending()) == (before, [])


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"not json", b"[" * 50_000])
def test_a_file_that_is_none_is_told_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    _, imports = opened(tmp_path)
    for into in ("statutes", "cases"):
        with pytest.raises(CourtroomError):
            imports.begin(into, "law.jsonl", data)  # type: ignore[arg-type]


def test_an_import_in_the_background_tells_how_many_records_of_the_file_are_in(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    house.take_in(house.imports.begin("cases", "cail.jsonl", records(3)))
    (state,) = house.taking_in.values()
    while state.running:
        house.runner.do(asyncio.sleep(0.01)).result()
    assert (state.error, state.done, state.total) == ("", 3, 3)
    house.close()


async def test_an_import_that_is_given_up_keeps_what_is_in(tmp_path: Path) -> None:
    _, imports = opened(tmp_path)
    digest = imports.begin("cases", "cail.jsonl", records(3))
    assert [job.digest for job in imports.pending()] == [digest]
    imports.give_up(digest)
    assert imports.pending() == []
    with pytest.raises(CourtroomError, match="done or was given up"):
        await imports.go_on(digest)


@needs_real_data
async def test_the_real_statute_book_is_taken_in_whole(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    data = (FOLDER / "criminal_law_prc_2023.jsonl").read_bytes()
    job = await imports.go_on(imports.begin("statutes", "law.jsonl", data))
    assert job.total == 505
    ids = {statute.id for statute in knowledge.statutes.all()}
    assert len(ids) == 505
    assert {"264", "133-1", "287-2"} <= ids
