"""Collections: words, vectors and both, what an index remembers, what a lesson leaves behind."""

from collections.abc import Sequence
from pathlib import Path

import pytest

from courtroom.knowledge.collection import Collection, fuse
from courtroom.knowledge.embedding import HashedNgrams, Vectors
from courtroom.knowledge.indexed_records import FEW
from courtroom.knowledge.lessons import Adjust, Lesson, Put, Remove
from courtroom.knowledge.memory import Directive
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests.replayed import replayed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

TEXTS = {
    "theft": "A wallet was taken out of a pocket on a bus.",
    "fraud": "Money was sent after a false story on the telephone.",
    "drink": "A driver was stopped; the blood held 160 mg of alcohol.",
    "盗窃": "被告人在公交车上扒窃他人钱包，窃得现金。",
}


def directives(folder: Path, embedding: HashedNgrams | None = None, few: int = FEW) -> Collection[Directive]:
    settings = Settings(home=folder)
    by, text_of = embedding or HashedNgrams(), lambda directive: directive.text
    base = Collection(Database(settings.database), settings, by, "directives", Directive, text_of, few)
    base.add(Directive(id=name, text=text, anchor=264) for name, text in TEXTS.items() if base.get(name) is None)
    return base


class Counting(HashedNgrams):
    """Counts the texts that it embeds."""

    name = "counting"

    def __init__(self) -> None:
        self.texts: list[str] = []

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += texts
        return await super().embed(texts)


def test_weights_let_one_ranking_lead_and_one_of_weight_0_adds_nothing() -> None:
    assert fuse((["a", "b"], ["b", "c"]), (1, 1)) == pytest.approx({"b": 1 / 62 + 1 / 61, "a": 1 / 61, "c": 1 / 62})
    dense, by_words = ["a", "b", "c"], ["c", "b", "d"]
    assert list(fuse((dense, by_words), (1, 1))) == ["c", "b", "a", "d"]
    assert list(fuse((dense, by_words), (1, 0.01))) == ["a", "b", "c", "d"]
    assert list(fuse((dense, by_words), (1, 0))) == dense
    assert list(fuse((dense, by_words), (0, 1))) == by_words


@pytest.mark.parametrize("mode", ["dense", "bm25", "hybrid"])
async def test_the_text_on_the_matter_comes_first_in_each_ranking(tmp_path: Path, mode: str) -> None:
    base = directives(tmp_path)
    for asked, expected in (("a pocket picked on the bus", "theft"), ("在公交车上扒窃钱包", "盗窃")):
        found = await base.search(asked, 2, mode)  # type: ignore[arg-type]
        assert found[0].record.id == expected
        assert (found[0].scores.dense_rank, found[0].scores.bm25_rank) == (1, 1)
        assert found[0].scores.fused == pytest.approx(2 / 61, abs=1e-6)


async def test_what_is_taken_out_or_changed_is_no_longer_found_as_it_was(tmp_path: Path) -> None:
    base = directives(tmp_path)
    assert (await base.search(TEXTS["theft"], 1))[0].record.id == "theft"
    base.remove(["theft"])
    for mode in ("dense", "bm25", "hybrid"):
        assert "theft" not in [found.record.id for found in await base.search(TEXTS["theft"], 4, mode)]  # type: ignore[arg-type]
    base.add([Directive(id="fraud", text="An excavator dug up a protected orchid.", anchor=344)])
    assert (await base.search("an orchid was dug up", 1))[0].record.id == "fraud"
    assert [f.record.id for f in await base.search("false story telephone", 4, "bm25")] == []


async def test_words_that_a_query_language_would_take_for_its_own_are_just_words(tmp_path: Path) -> None:
    base = directives(tmp_path)
    own = ('"', "NOT wallet OR", "wallet* AND (", "NEAR(bus, 3) -pocket", "words:wallet", "'; DROP TABLE knowledge")
    for text in own:
        await base.search(text, 3, "bm25")
    assert len(base) == len(TEXTS)


async def test_each_embedding_has_an_index_of_its_own_and_none_gives_way_to_another(tmp_path: Path) -> None:
    own = directives(tmp_path, few=2)
    await own.search("wallet", 1)
    counting = Counting()
    other = directives(tmp_path, counting, few=2)
    assert (await other.search("wallet", 1))[0].record.id == "theft"
    assert set(TEXTS.values()) <= set(counting.texts)
    assert (await own.search("wallet", 1))[0].record.id == "theft"
    assert own.index_name == "directives" != other.index_name
    folders = {path.name for path in (tmp_path / "chroma").iterdir() if path.is_dir()}
    assert folders == {own.index_name, other.index_name}
    counting.texts.clear()
    await other.search("wallet", 1)
    assert counting.texts == ["wallet"]


def lesson(*ops: Put | Remove | Adjust) -> Lesson:
    return Lesson(phase="induction", ops=ops)


def put(name: str, confidence: float = 0.5) -> Put:
    record = Directive(id=name, text=f"Rule {name}.", anchor=264, confidence=confidence)
    return Put(collection="directives", record=record.model_dump(mode="json"))


def taught(folder: Path) -> Knowledge:
    settings = Settings(home=folder)
    base = Knowledge(Database(settings.database), settings)
    base.learn("run", "1", lesson(put("a"), put("b")))
    base.learn("run", "2", lesson(Adjust(id="a", by=0.7)))
    base.learn("run", "3", lesson(Remove(collection="directives", id="b"), put("c", 0.4)))
    return base


def test_lessons_are_taken_in_once_and_replay_to_what_is_there(tmp_path: Path) -> None:
    base = taught(tmp_path)
    base.learn("run", "2", lesson(Adjust(id="a", by=0.7)))
    assert {d.id: d.confidence for d in base.memory.directives.all()} == {"a": 1.0, "c": 0.4}
    there = {("directives", d.id): d.model_dump(mode="json") for d in base.memory.directives.all()}
    assert replayed(base.lessons) == there


def test_a_directive_that_is_gone_is_not_brought_back_by_its_confidence(tmp_path: Path) -> None:
    base = taught(tmp_path)
    base.learn("late", "1", lesson(Adjust(id="b", by=0.1), put("d")))
    assert base.memory.directives.get("b") is None
