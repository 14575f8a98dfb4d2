"""The knowledge base on a real Chroma and a real SQLite: collections, look-ups, and imports that are whole or not at all."""

import json
import math
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from courtroom import CourtroomError, Settings
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.judging.criminal import candidates
from courtroom.knowledge.bases import origins
from courtroom.knowledge.collection import Collection, Mode
from courtroom.knowledge.imports import Imports
from courtroom.knowledge.index import terms
from courtroom.knowledge.index_folders import IndexFolders
from courtroom.knowledge.memory import Directive
from courtroom.knowledge.search import Draw, Fetch, Knowledge, Rank, Search
from courtroom.knowledge.vectors import HashedNgrams, Vectors
from courtroom.law import Both, Judgment
from courtroom.store.opening import open_store
from tests.openai_server import OpenAIServer

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def opened(home: Path) -> tuple[Knowledge, Imports]:
    settings = Settings(home=home)
    database = open_store(settings.database)
    knowledge = Knowledge(database, settings)
    return knowledge, Imports(database, knowledge)


def knowledge(home: Path) -> Knowledge:
    return opened(home)[0]


TEXTS = {
    "theft": "A wallet was taken out of a pocket on a bus.",
    "fraud": "Money was sent after a false story on the telephone.",
    "drink": "A driver was stopped; the blood held 160 mg of alcohol.",
    "盗窃": "被告人在公交车上扒窃他人钱包，窃得现金。",
}


def directives(folder: Path, embedding: HashedNgrams | None = None) -> Collection[Directive]:
    settings = Settings(home=folder)
    by, text_of = embedding or HashedNgrams(), lambda directive: directive.text
    base = Collection(open_store(settings.database), IndexFolders(settings), by, "directives", Directive, text_of)
    base.add(Directive(id=name, text=text, anchor=264) for name, text in TEXTS.items() if base.get(name) is None)
    return base


class Counting(HashedNgrams):
    """Keeps the texts that it embeds."""

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await super().embed(texts)


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
async def test_the_text_on_the_matter_comes_first_in_each_ranking(tmp_path: Path, mode: Mode) -> None:
    base = directives(tmp_path)
    for asked, expected in (("a pocket picked on the bus", "theft"), ("在公交车上扒窃钱包", "盗窃")):
        found = await base.search(asked, 2, mode)
        assert found[0].record.id == expected
        assert (found[0].scores.dense_rank, found[0].scores.bm25_rank) == (1, 1)
        assert found[0].scores.fused == pytest.approx(2 / 61, abs=1e-6)
    (found, *_) = await base.search("pocket bus", 1, mode)  # each in one of four texts, once
    words = [terms(text) for text in TEXTS.values()]
    length = len(words[0]) / (sum(map(len, words)) / 4)
    by_hand = 2 * math.log(1 + 3.5 / 1.5) * 2.2 / (1 + 1.2 * (0.25 + 0.75 * length))  # k1 = 1.2, b = 0.75
    assert found.scores.bm25 == pytest.approx(by_hand, abs=1e-4)


async def test_what_is_taken_out_or_changed_is_no_longer_found_as_it_was(tmp_path: Path) -> None:
    base = directives(tmp_path)
    assert (await base.search(TEXTS["theft"], 1))[0].record.id == "theft"
    base.remove(["theft"])
    for mode in ("dense", "bm25", "hybrid"):
        assert "theft" not in [found.record.id for found in await base.search(TEXTS["theft"], 4, mode)]
    base.add([Directive(id="fraud", text="An excavator dug up a protected orchid.", anchor=344)])
    assert (await base.search("an orchid was dug up", 1))[0].record.id == "fraud"
    assert [f.record.id for f in await base.search("false story telephone", 4, "bm25")] == []


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
    base.take_examples(task.under(), task.known())
    return base, task


async def test_a_record_with_the_very_text_can_be_left_out_and_is_never_drawn(tmp_path: Path) -> None:
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


async def test_an_embedding_of_its_own_is_asked_and_no_other(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    base, task = three_moods(tmp_path)
    search = Search(collection="examples", text="A bad day.", k=1, under=task.under("good"))
    lexical = await base.answer(search)
    with OpenAIServer(known_to=monkeypatch):
        found = await base.answer(search, "openai/any-embedding")
        ranked = await base.answer(Rank(text="a", candidates=("b", "a"), k=2), "openai/any-embedding")
    assert [hit.id for hit in ranked] == ["1", "0"]
    assert ranked[0].similarity == pytest.approx(1, abs=1e-3)
    assert found[0].similarity != lexical[0].similarity
    again = await base.answer(search, "openai/any-embedding")  # the server is gone: what was embedded once is kept
    assert again == found
    assert await base.answer(search) == lexical


def test_precedents_are_imported_and_stay_deleted(tmp_path: Path) -> None:
    base, imports = opened(tmp_path)
    good, gone = base.of("precedents").all()[:2]
    lines = [good.model_copy(update={"id": f"new-{n}"}).model_dump_json() for n in range(5)]
    lines[1:1] = ["{not json", json.dumps({**json.loads(lines[0]), "category": "Cars"}), json.dumps({"id": "x"})]
    taken, problems = imports.import_precedents("\n".join(lines).encode())
    assert len(taken) == 5
    assert [problem.split(":")[0] for problem in problems] == ["Line 2", "Line 3", "Line 4"]
    imports.delete_precedent(gone.id)
    again, imports = opened(tmp_path)
    assert again.of("precedents").get(gone.id) is None
    odd = good.model_copy(update={"id": "odd", "dispute": "one\u2028two\u0085three\r\nfour"})
    assert imports.import_precedents(f"{odd.model_dump_json()}\r\n".encode()) == ([odd], [])
    assert again.of("precedents").get("odd") == odd


def records(count: int) -> bytes:
    said = "On day {0} the defendant took item{0} out of shop{1} and sold it to buyer{2}."
    facts = (said.format(n, n % 37, n % 101) for n in range(count))
    known = {"relevant_articles": [264], "accusation": ["theft"]}
    metas = ({**known, "term_of_imprisonment": {"imprisonment": n % 36 + 1}} for n in range(count))
    return "\n".join(json.dumps({"fact": fact, "meta": meta}) for fact, meta in zip(facts, metas, strict=True)).encode()


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


async def test_imported_charges_are_named_without_the_word_for_crime(tmp_path: Path) -> None:
    knowledge, imports = opened(tmp_path)
    band = {"when": "数额较大", "least": 0, "most": 36}
    known = {"number": 264, "text": "盗窃公私财物。", "title": "盗窃", "cues": "扒窃", "bands": [band]}
    await take_in(imports, "statutes", jsonl({**known, "charges": ["盗窃罪"]}))
    await take_in(imports, "charges", jsonl({"name": "[盗窃]罪", "articles": [265]}))
    law, charges = knowledge.of("statutes", "imported"), knowledge.of("charges", "imported")
    theft = law.get("264")
    assert (theft.title.zh, theft.cues.zh, theft.bands[0].span("zh")) == ("盗窃", "扒窃", "0至36个月")
    kept = [(one.id, one.name.zh, one.articles) for one in charges.all()]
    assert kept == [("盗窃", "盗窃", ("265",))]  # the new one stays
    judged = Judgment(relevant_articles=(264,), charges=("盗窃",))
    assert candidates(judged, (theft,), "zh")["charges"] == ["盗窃"]
    assert (await law.search("地铁扒窃", 1))[0].record.id == "264"


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
    with pytest.raises(CourtroomError, match="small letters"):
        imports.check("statutes", "law.jsonl", jsonl(*LAW), "My Law")


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


@pytest.mark.parametrize(
    ("into", "line", "told"),
    [
        ("statutes", {"number": 999, "text": "x"}, "law.jsonl, line 2: the Criminal Law has no article 999"),
        ("statutes", {"number": True, "text": "x"}, "`number` must be an article's number"),
        ("charges", {"name": "盗窃", "articles": ["999"]}, "has no article 999"),
        ("cases", {"fact": "A fact.", "meta": {}}, "has no judgment"),
    ],
)
def test_one_bad_record_leaves_everything_as_it_was(tmp_path: Path, into: Any, line: object, told: str) -> None:
    knowledge, imports = opened(tmp_path)
    good = json.loads(records(1)) if into == "cases" else {"number": 1, "text": "x", "name": "x", "articles": [1]}
    with pytest.raises(CourtroomError) as error:
        imports.check(into, "law.jsonl", "\n".join(map(json.dumps, (good, line, good))).encode())
    assert told in str(error.value)
    assert knowledge.bases() == ("bundled",)
