"""Imports: whole or not at all, nothing twice and nothing lost."""

import asyncio
import json
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import origins
from courtroom.knowledge.imports import BATCH, Imports
from courtroom.knowledge.search import Fetch, Knowledge, Search
from courtroom.law import Both
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests.real import FOLDER, needs_real_data

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def opened(home: Path) -> tuple[Knowledge, Imports]:
    settings = Settings(home=home)
    database = Database(settings.database)
    knowledge = Knowledge(database, settings)
    return knowledge, Imports(database, knowledge)


def records(count: int) -> bytes:
    facts = (
        f"On day {n} the defendant took item{n} out of shop{n % 37} and sold it to buyer{n % 101}."
        for n in range(count)
    )
    known = {"relevant_articles": [264], "accusation": ["theft"]}
    metas = ({**known, "term_of_imprisonment": {"imprisonment": n % 36 + 1}} for n in range(count))
    return "\n".join(json.dumps({"fact": fact, "meta": meta}) for fact, meta in zip(facts, metas, strict=True)).encode()


async def test_referred_precedents_are_taken_in_once_however_often_they_are_imported(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    told: list[tuple[str, int, int]] = []
    for _ in range(2):
        file = imports.check("cases", "cail.jsonl", records(450))
        await imports.run(file, lambda *step: told.append(step))
        assert file.total == 450
    assert len(knowledge.of("cases", "imported")) == 450
    assert [done for what, done, _ in told if what == "Taking in"][:3] == [BATCH, 2 * BATCH, 450]
    found = await knowledge.of("cases", "imported").search("item449 shop5", 1)
    assert "item449" in found[0].record.facts


LAW = [
    {"number": 264, "text": "盗窃公私财物，数额较大的，……", "interpretation": "数额较大为一千元至三千元以上。"},
    {"number": "第一百三十三条之一", "text": "在道路上驾驶机动车，……"},
    {"number": "Article 400", "text": "Whoever sets free ...", "charges": ["releasing persons in custody"]},
]


def jsonl(*rows: object) -> bytes:
    return "\n".join(json.dumps(row, ensure_ascii=False) for row in rows).encode()


async def take_in(imports: Imports, into: Any, data: bytes, base: str = "imported", how: Any = "add") -> None:
    await imports.run(imports.check(into, f"{into}.jsonl", data, base, how))


async def test_imported_law_is_in_a_base_of_its_own_and_nothing_of_the_digest_is_in_it(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    ours = knowledge.of("statutes").all()
    await take_in(imports, "statutes", jsonl(*LAW))
    assert knowledge.of("statutes").all() == ours
    law = knowledge.of("statutes", "imported")
    theft, driving, new = (law.get(name) for name in ("264", "133-1", "400"))
    assert (theft.text.zh[:4], theft.interpretation[:4]) == ("盗窃公私", "数额较大")
    for article in (theft, driving, new):
        assert not article.digest
        assert (article.title, article.cues, article.bands) == (Both(), Both(), ())
    assert (theft.charges, [charge.en for charge in new.charges]) == ((), ["releasing persons in custody"])
    assert [charge.name.en for charge in knowledge.of("charges", "imported").all()] == ["releasing persons in custody"]
    assert (await law.search("数额较大为一千元至三千元", 1))[0].record.id == "264"


async def test_a_look_up_in_one_base_finds_nothing_of_another_by_meaning_or_by_words(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    await take_in(imports, "statutes", jsonl(*LAW), "prc")
    for mode in ("dense", "bm25", "hybrid"):
        asked = Search(collection="statutes", text="盗窃手机", k=50, mode=mode, base="prc")
        assert {hit.id for hit in await knowledge.answer(asked)} <= {"264", "133-1", "400"}
    (fetched,) = await knowledge.answer(Fetch(collection="statutes", ids=("264", "266"), base="prc"))
    assert fetched.record["text"]["zh"].startswith("盗窃公私")
    with pytest.raises(CourtroomError, match="no knowledge base “other”. Known: bundled, prc"):
        await knowledge.answer(Search(collection="statutes", text="x", k=1, base="other"))


async def test_an_import_adds_or_replaces_as_said(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    law, charges = knowledge.of("statutes", "prc"), knowledge.of("charges", "prc")
    await take_in(imports, "statutes", jsonl(*LAW), "prc")
    await take_in(imports, "charges", jsonl({"name": "盗窃", "articles": [264]}), "prc")
    await take_in(imports, "statutes", jsonl({"number": 5, "text": "x", "charges": ["盗窃"]}), "prc")
    assert (len(law), charges.get("盗窃").articles) == (4, ("264", "5"))
    await take_in(imports, "statutes", jsonl({"number": 6, "text": "y"}), "prc", "replace")
    assert [article.id for article in law.all()] == ["6"]
    assert len(charges) == 2  # a book that names no charges leaves the list as it is
    await take_in(imports, "statutes", jsonl({"number": 7, "text": "z", "charges": ["诈骗"]}), "prc", "replace")
    assert [charge.id for charge in charges.all()] == ["诈骗"]
    assert [(one.records, one.how) for one in origins(imports._database, "statutes.prc")] == [(1, "replace")]
    assert knowledge.bases() == ("bundled", "prc")


def test_what_is_bundled_can_not_be_imported_into(tmp_path: Path) -> None:
    _, imports = opened(tmp_path)
    for base, told in (("bundled", "Import into another one"), ("My Law", "small letters")):
        with pytest.raises(CourtroomError, match=told):
            imports.check("statutes", "law.jsonl", jsonl(*LAW), base)


@pytest.mark.parametrize(
    ("into", "line", "told"),
    [
        ("statutes", {"number": 999, "text": "x"}, "law.jsonl, line 2: the Criminal Law has no article 999"),
        ("statutes", {"number": "264 and 266", "text": "x"}, "does not name one article"),
        ("statutes", {"text": "x"}, "needs the fields `number` and `text`"),
        ("statutes", {"number": 264, "text": " "}, "`text` must be the article's text"),
        ("statutes", {"number": True, "text": "x"}, "`number` must be an article's number"),
        ("charges", {"name": "盗窃"}, "needs the fields `name` and `articles`"),
        ("charges", {"name": "盗窃", "articles": ["999"]}, "has no article 999"),
        ("charges", {"name": "盗窃", "articles": [True]}, "must be a list of articles"),
        ("cases", {"fact": "A fact."}, "law.jsonl, line 2: `meta` is missing"),
        ("cases", {"fact": "A fact.", "meta": {}}, "has no judgment"),
    ],
)
def test_a_file_with_one_bad_record_leaves_everything_as_it_was(
    tmp_path: Path, into: Any, line: object, told: str
) -> None:
    knowledge, imports = opened(tmp_path)
    good = json.loads(records(1)) if into == "cases" else {"number": 1, "text": "x", "name": "x", "articles": [1]}
    with pytest.raises(CourtroomError) as error:
        imports.check(into, "law.jsonl", "\n".join(map(json.dumps, (good, line, good))).encode())
    assert told in str(error.value)
    assert knowledge.bases() == ("bundled",)


@pytest.mark.parametrize("data", [b"", b"\xff\xfe", b"not json", b"[" * 50_000])
def test_a_file_that_is_none_is_told_in_a_sentence(tmp_path: Path, data: bytes) -> None:
    _, imports = opened(tmp_path)
    for into in ("statutes", "charges", "cases"):
        with pytest.raises(CourtroomError):
            imports.check(into, "law.jsonl", data)  # type: ignore[arg-type]


def test_an_import_in_the_background_tells_how_many_records_of_the_file_are_in(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    house.take_in(house.imports.check("cases", "cail.jsonl", records(3)))
    (state,) = house.taking_in.values()
    while state.running:
        house.runner.do(asyncio.sleep(0.01)).result()
    assert (state.error, state.done, state.total) == ("", 3, 3)
    house.close()


@needs_real_data
@pytest.mark.slow
async def test_the_real_statute_book_is_taken_in_whole(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    data = (FOLDER / "criminal_law_prc_2023.jsonl").read_bytes()
    await take_in(imports, "statutes", data)
    ids = {statute.id for statute in knowledge.of("statutes", "imported").all()}
    assert len(ids) == 505
    assert {"264", "133-1", "287-2"} <= ids
