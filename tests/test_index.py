"""The index under damage and beside other processes."""

from __future__ import annotations

import asyncio
import socket
import sys
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest

from courtroom.errors import CourtroomError
from courtroom.knowledge.embedding import HashedNgrams, Vectors
from courtroom.knowledge.index import VectorIndex
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests import forks

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

MANY = {f"r{n}": f"item{n} thing{n % 7} parcel{n * 31 % 1009}" for n in range(1200)}
"""More than Chroma writes to its graph files at, by itself."""
QUERY = "item42 thing0 parcel293"


class Fixed:
    """Records that are given."""

    def __init__(self, records: dict[str, str]) -> None:
        self._records = records

    def version(self) -> int:
        return hash(tuple(self._records.items()))

    def texts(self) -> dict[str, str]:
        return self._records


def knowledge(folder: Path) -> Knowledge:
    settings = Settings(home=folder)
    return Knowledge(Database(settings.database), settings)


def closest_of_many(folder: str) -> None:
    """Prints what is found in a large index, in a process that may die of it."""
    index = VectorIndex(Settings(home=Path(folder)), "things", HashedNgrams())
    print(asyncio.run(index.search(QUERY, 1, Fixed(MANY)))[0][0])


def learn(folder: str, name: str) -> None:
    """Adds precedents one by one, each time searching, and at the end of the input says how many it finds."""
    base = knowledge(Path(folder)).precedents
    pattern = base.all()[0]

    async def work() -> None:
        for n in range(25):
            base.add([pattern.model_copy(update={"id": f"{name}-{n}", "title": f"{name} case{n} item{n * 13}"})])
            await base.search(QUERY, 200)
        print("done", flush=True)
        sys.stdin.read()
        known = {precedent.id for precedent in base.all()}
        found = {precedent.id for precedent, _ in await base.search(QUERY, 200)}
        print(len(known), len(known - found))

    asyncio.run(work())


def forked(function: Callable[..., None], *given: object) -> forks.Fork:
    return forks.Fork(function, *map(str, given))


@pytest.mark.parametrize(("name", "damage"), [("header.bin", 0.5), ("data_level0.bin", 0.0), ("data_level0.bin", None)])
async def test_a_damaged_graph_file_neither_ends_the_process_nor_changes_what_is_found(
    tmp_path: Path, name: str, damage: float | None
) -> None:
    """`damage`: the share of the file that is left; None: all of it is overwritten."""
    with forked(closest_of_many, tmp_path) as first:
        assert first.finish().stdout.strip() == "r42"
    (path,) = (tmp_path / "chroma").rglob(name)
    whole = path.read_bytes()
    path.write_bytes(b"junk" * (len(whole) // 4) if damage is None else whole[: int(len(whole) * damage)])
    with forked(closest_of_many, tmp_path) as again:
        done = again.finish()
    assert (done.returncode, done.stdout.strip()) == (0, "r42"), done.stderr


async def test_an_index_that_breaks_while_it_is_brought_up_to_date_is_whole_afterwards(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)

    class Losing(HashedNgrams):
        """While it embeds what is new, the disk loses the index, once."""

        async def embed(self, texts: Sequence[str]) -> Vectors:
            if "a new one" in texts and not (tmp_path / "lost").exists():
                settings.chroma.rename(tmp_path / "lost")
            return await super().embed(texts)

    records = {f"r{n}": f"item{n}" for n in range(20)}
    index = VectorIndex(settings, "things", Losing())
    assert len(await index.search("item3", 50, Fixed(records))) == 20
    assert len(await index.search("item3", 50, Fixed({**records, "new": "a new one"}))) == 21
    assert (tmp_path / "lost").exists()


async def test_two_processes_that_learn_at_once_find_what_both_have_learnt(tmp_path: Path) -> None:
    bundled = len(knowledge(tmp_path).precedents.all())
    with forked(learn, tmp_path, "ann") as ann, forked(learn, tmp_path, "bob") as bob:
        for learner in (ann, bob):
            assert learner.line().strip() == "done", learner.finish().stderr
        for learner in (ann, bob):
            done = learner.finish()
            assert done.stdout.strip() == f"{bundled + 50} 0", done.stderr


async def test_another_embedding_of_the_same_size_never_meets_vectors_of_the_first(tmp_path: Path) -> None:
    class Reversed(HashedNgrams):
        name = "reversed"

        async def embed(self, texts: Sequence[str]) -> Vectors:
            return (await super().embed(texts))[:, ::-1].copy()

    settings, records = Settings(home=tmp_path), {"a": "a leaking kettle", "b": "a concert ticket"}
    first = VectorIndex(settings, "things", HashedNgrams())
    before = await first.search("a leaking kettle", 2, Fixed(records))
    assert await VectorIndex(settings, "things", Reversed()).search("a leaking kettle", 2, Fixed(records)) == before
    assert await first.search("a leaking kettle", 2, Fixed(records)) == before


async def test_a_chroma_server_that_is_down_is_named_in_a_sentence(tmp_path: Path) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        settings = Settings(home=tmp_path, chroma_host="127.0.0.1", chroma_port=taken.getsockname()[1])
        with pytest.raises(CourtroomError, match=r"The Chroma server at 127\.0\.0\.1:\d+ does not answer\. Start it"):
            await VectorIndex(settings, "things", HashedNgrams()).search("kettle", 1, Fixed({"a": "a kettle"}))


async def test_a_folder_that_cannot_be_made_is_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file where the folder should be")
    index = VectorIndex(Settings(home=tmp_path), "things", HashedNgrams())
    with pytest.raises(CourtroomError, match="The search index can't be written"):
        await index.search("kettle", 1, Fixed({"a": "a kettle"}))


async def test_searches_at_once_bring_a_new_index_up_to_date_once(tmp_path: Path) -> None:
    read = 0

    class Counted(Fixed):
        def texts(self) -> dict[str, str]:
            nonlocal read
            read += 1
            return super().texts()

    index = VectorIndex(Settings(home=tmp_path), "things", HashedNgrams())
    records = Counted({f"r{n}": f"item{n}" for n in range(20)})
    found = await asyncio.gather(*(index.search("item7", 1, records) for _ in range(8)))
    index.close()
    assert {hits[0][0] for hits in found} == {"r7"}
    assert read == 1
