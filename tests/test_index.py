"""The index under damage and beside other processes; and its vectors on a Chroma server, shared by processes."""

import asyncio
import shutil
import socket
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import closing
from pathlib import Path

import chromadb
import numpy as np
import pytest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.knowledge.index import VECTORS_AT_ONCE, Changed, Entry, VectorIndex, WordIndex, line
from courtroom.knowledge.index_folders import WHOLE, IndexFolders, sums
from courtroom.knowledge.vectors import CachedEmbedding, HashedNgrams, Vectors
from courtroom.store.opening import open_store
from courtroom.upkeep import doctor
from tests.app_server import answers, free_port
from tests.driving import shell
from tests.forks import Fork
from tests.test_knowledge import Counting, knowledge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

MANY = {f"r{n}": f"item{n} thing{n % 7} parcel{n * 31 % 1009} {'ace' if n == 42 else ''}" for n in range(1100)}
QUERY = "item42 thing0 parcel293"


class Fixed:
    """Records that change."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._kept = {name: (text, 1) for name, text in texts.items()}
        self._removed: dict[str, int] = {}
        self._version = 1

    def put(self, **texts: str) -> None:
        self._version += 1
        self._kept |= {name: (text, self._version) for name, text in texts.items()}

    def take_out(self, name: str) -> None:
        self._version += 1
        del self._kept[name]
        self._removed[name] = self._version

    def version(self) -> int:
        return self._version

    @property
    def texts(self) -> dict[str, str]:
        return {name: text for name, (text, _) in self._kept.items()}

    def changed(self, since: int) -> Changed:
        versions = self._removed | {name: version for name, (_, version) in self._kept.items()}
        touched = [name for name, version in versions.items() if version > since]
        facets = {"category=Other": True, "day": 20260101}
        kept = self.texts
        return {name: Entry((kept[name],), line(kept[name]), facets) if name in kept else None for name in touched}


def closest_of_many(folder: Path, waits: bool = False) -> None:
    """Prints what is found in a collection on disk, in a process that may die of it, or that waits for its end."""
    index, folders = graph(folder)
    print(asyncio.run(index.nearest(Fixed(MANY), QUERY, 1))[0][0], flush=True)
    if waits:
        sys.stdin.read()
    folders.close()


def graph(folder: Path) -> tuple[VectorIndex, IndexFolders]:
    folders = IndexFolders(Settings(home=folder))
    return VectorIndex(folders, "things", HashedNgrams()), folders


async def made_anew(home: Path) -> bool:
    """Whether a process finds all that it should in a folder that is damaged, or somebody else's."""
    index, folders = graph(home)
    found = await index.nearest(Fixed(MANY), QUERY, 1)
    folders.close()
    return found[0][0] == "r42" and held(home / "chroma", "things") == {*MANY}


async def exact(text: str, texts: dict[str, str]) -> dict[str, float]:
    """Each text's cosine with another one."""
    asked, *rows = await HashedNgrams().embed([text, *texts.values()])
    return {name: float(row @ asked) for name, row in zip(texts, rows, strict=True)}


def learn(folder: Path, name: str) -> None:
    """Adds precedents one by one, each time searching, and at the end of the input says how many it finds."""
    base = knowledge(folder).of("precedents")
    pattern = base.all()[0]

    async def work() -> None:
        for n in range(15):
            base.add([pattern.model_copy(update={"id": f"{name}-{n}", "title": f"{name} case{n} item{n * 13}"})])
            await base.search(QUERY, 200, "dense")
        print("done", flush=True)
        sys.stdin.read()
        known = {precedent.id for precedent in base.all()}
        found = {found.record.id for found in await base.search(QUERY, 200, "dense")}
        print(len(known), len(known - found))

    asyncio.run(work())


class Waits(HashedNgrams):
    """Says that it is asked, and waits for its end."""

    async def embed(self, texts: Sequence[str]) -> Vectors:
        if "stop here" in texts:
            print("writing", flush=True)
            sys.stdin.read()
        return await super().embed(texts)


def write_and_wait(folder: Path) -> None:
    """Writes half of what is new, says so, and waits for its end."""
    records = Fixed(MANY)
    records.put(s1="something new", **{f"t{n}": f"later{n}" for n in range(VECTORS_AT_ONCE)}, last="stop here")
    index = VectorIndex(IndexFolders(Settings(home=folder)), "things", Waits())
    asyncio.run(index.nearest(records, QUERY, 1))


Damage = Callable[[bytes], bytes]


def junk(content: bytes) -> bytes:
    return b"junk" * (len(content) // 4)


def half(content: bytes) -> bytes:
    return content[: len(content) // 2]


@pytest.mark.parametrize(
    ("name", "damage"),
    [("header.bin", junk), ("data_level0.bin", half), ("data_level0.bin", junk), ("chroma.sqlite3", junk)],
)
async def test_a_damaged_folder_is_made_anew(tmp_path: Path, built: Path, name: str, damage: Damage) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    (path,) = (tmp_path / "chroma").rglob(name)
    path.write_bytes(damage(path.read_bytes()))
    with Fork(closest_of_many, tmp_path) as again:
        assert again.output().strip() == "r42"
    assert held(tmp_path / "chroma", "things") == {*MANY}


def held(folder: Path, name: str) -> set[str]:
    """The ids of which Chroma itself finds a vector in a folder."""
    with chromadb.PersistentClient(str(folder)) as client:
        found = client.get_collection(name, embedding_function=None).get(include=["embeddings"])
        return {one for one, vector in zip(found["ids"], found["embeddings"], strict=True) if any(vector)}  # type: ignore[arg-type]


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A collection of many records, as a process has left it."""
    home = tmp_path_factory.mktemp("built")
    with Fork(closest_of_many, home) as first:
        assert first.output().strip() == "r42"
    return home / "chroma"


async def test_a_folder_of_somebody_else_or_of_before_is_made_anew(tmp_path: Path, built: Path) -> None:
    older = {"things/sealed.json": "{}", "things/0a/header.bin": "x"}
    for home, of in (("foreign", {"precedents": "x"}), ("older", older)):
        for name, content in of.items():
            (tmp_path / home / "chroma" / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / home / "chroma" / name).write_text(content)
    foreign = tmp_path / "foreign-chroma" / "chroma"
    with chromadb.PersistentClient(str(foreign)) as client:
        client.create_collection("things", embedding_function=None).add(ids=["x"], embeddings=[[1.0, 2.0]])
    (foreign / WHOLE).write_bytes(sums(foreign))
    for home in ("foreign", "older", "foreign-chroma"):
        assert await made_anew(tmp_path / home)
        assert not (tmp_path / home / "chroma" / "things").exists()


async def test_what_a_killed_process_has_half_written_is_made_anew(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    with Fork(write_and_wait, tmp_path) as writer:  # and is killed
        assert writer.line().strip() == "writing", writer.finish().stderr
    assert not (tmp_path / "chroma" / WHOLE).exists()
    assert await made_anew(tmp_path)


async def test_who_comes_second_has_a_folder_of_its_own(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    with Fork(closest_of_many, tmp_path, True) as first, closing(Courthouse(Settings(home=tmp_path))) as house:
        assert first.line().strip() == "r42", first.finish().stderr
        index, folders = graph(tmp_path)
        records = Fixed(MANY)
        records.put(new="a kettle")
        assert (await index.nearest(records, "a kettle", 1))[0][0] == "new"
        assert folders.where == str(tmp_path / "chroma-2")
        (found,) = doctor.indexes(house, mend=False)
        assert found.sentence.startswith("Another process has them open, so they are not examined.")
        folders.close()
        assert (await index.nearest(records, "a kettle", 1))[0][0] == "new", "it is opened again"
    folders.close()
    assert "new" not in held(tmp_path / "chroma", "things")
    assert "new" in held(tmp_path / "chroma-2", "things")
    assert (await index.nearest(records, QUERY, 1))[0][0] == "r42"
    assert folders.where == str(tmp_path / "chroma"), "the first is free again"
    assert (await index.nearest(records, "a kettle", 1))[0][0] == "new"
    folders.close()


async def test_a_collection_finds_what_each_record_compared_finds(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    records = Fixed(MANY)
    index, folders = graph(tmp_path)
    for step in range(2):
        for query in ("item42 thing0", "parcel293 item7", "thing3"):
            found = [cosine for _, cosine in await index.nearest(records, query, 10)]
            expected = sorted((await exact(query, records.texts)).values())[-10:]
            missed = [one for one in expected if not any(abs(one - cosine) < 2e-6 for cosine in found)]
            assert len(missed) <= 2, "a graph may miss one"
        if step == 0:
            records.put(r42="a kettle", new="item42 thing0")
            records.take_out("r49")
    assert "r49" not in [name for name, _ in await index.nearest(records, "item49 thing0", 300)]
    assert "new" not in [name for name, _ in await index.nearest(records, "item42 thing0", 3, exclude=("new",))]
    folders.close()
    assert held(tmp_path / "chroma", "things") == {*records.texts}


class Replaced:
    """A server's embedding whose model may be replaced by one of another size under the same name."""

    name = "openai/any"
    size = 32

    async def embed(self, texts: Sequence[str]) -> Vectors:
        parts = (await HashedNgrams().embed(texts)).reshape(len(texts), -1, self.size)
        vectors = parts.sum(axis=1)
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


async def test_an_embedding_of_another_size_is_made_anew(tmp_path: Path) -> None:
    with (
        closing(open_store(tmp_path / "store.sqlite")) as database,
        closing(IndexFolders(Settings(home=tmp_path))) as of,
    ):
        model, records = Replaced(), Fixed({"a": "a broken lamp", "b": "a late parcel"})
        index = VectorIndex(of, "set", CachedEmbedding(model, database))
        assert (await index.nearest(records, "a broken lamp", 1))[0][0] == "a"
        model.size = 64
        records.put(c="a lost key")
        assert (await index.nearest(records, "a lost key", 1))[0] == ("c", pytest.approx(1, abs=0.01))
        assert (await index.nearest(records, "a late parcel", 1))[0] == ("b", pytest.approx(1, abs=0.01))
        model.size = 128
        assert (await index.nearest(records, "a parcel that is late", 1))[0][0] == "b"


async def test_damaged_words_are_indexed_anew(tmp_path: Path) -> None:
    records = Fixed(MANY)
    with closing(IndexFolders(Settings(home=tmp_path))) as folders:
        first = await WordIndex(folders, "things").closest(records, "item42 thing0", 20)
        path = next((folders.words / "things").glob("*.idx"))
        path.write_bytes(half(path.read_bytes()))
        assert await WordIndex(folders, "things").closest(records, "item42 thing0", 20) == first


async def test_an_index_from_after_the_records_is_made_anew(tmp_path: Path) -> None:
    """A backup was put back."""
    newer = Fixed(MANY)
    newer.put(later="ace ace")
    (index, folders), words = graph(tmp_path), WordIndex(IndexFolders(Settings(home=tmp_path)), "things")
    assert (await words.closest(newer, "ace", 3))[0][0] == "later"
    assert (await index.nearest(newer, "ace ace", 1))[0][0] == "later"
    assert [name for name, _ in await words.closest(Fixed(MANY), "ace", 3)] == ["r42"]
    assert "later" not in [name for name, _ in await index.nearest(Fixed(MANY), "ace ace", 1)]
    folders.close()


async def test_two_processes_that_learn_at_once_find_what_both_have_learnt(tmp_path: Path) -> None:
    bundled = len(knowledge(tmp_path).of("precedents").all())
    with Fork(learn, tmp_path, "ann") as ann, Fork(learn, tmp_path, "bob") as bob:
        for learner in (ann, bob):
            assert learner.line().strip() == "done", learner.finish().stderr
        for learner in (ann, bob):
            assert learner.output().strip() == f"{bundled + 30} 0"


async def test_a_folder_that_cannot_be_made_and_a_server_that_is_down_are_named_in_a_sentence(tmp_path: Path) -> None:
    (tmp_path / "chroma").write_text("a file where the folder should be")
    (tmp_path / "words").write_text("another")
    index, folders = graph(tmp_path)
    with pytest.raises(CourtroomError, match="The search index can't be written"):
        await index.nearest(Fixed(MANY), "item7", 1)
    with pytest.raises(CourtroomError, match="The search index can't be written"):
        await WordIndex(folders, "things").closest(Fixed(MANY), "item7", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        down = at_server(tmp_path / "at-server", taken.getsockname()[1], HashedNgrams())
        with pytest.raises(CourtroomError, match=r"The Chroma server at 127\.0\.0\.1:\d+ does not answer\. Start it"):
            await down.nearest(Fixed({"a": "a kettle"}), "kettle", 1)


def test_a_first_hearing_writes_its_precedents_to_chroma(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    shell("run", "vacuum-charging", "--set", "jury_size=3")
    assert len(held(tmp_path / "chroma", "precedents")) == 48


@pytest.fixture
def port(tmp_path: Path) -> Iterator[int]:
    """Where `chroma run` answers."""
    at, written = free_port(), tmp_path / "chroma.log"
    words = ("run", "--path", str(tmp_path / "kept"), "--host", "127.0.0.1", "--port", str(at))
    command = Path(sys.executable).with_name("chroma")
    with written.open("wb") as log, subprocess.Popen([command, *words], stdout=log, stderr=log, cwd=tmp_path) as server:
        answers(f"http://127.0.0.1:{at}", "/api/v2/heartbeat", server.poll, written)
        yield at
        server.kill()


def at_server(home: Path, port: int, embedding: HashedNgrams) -> VectorIndex:
    at = Settings(home=home, chroma_host="127.0.0.1", chroma_port=port)
    return VectorIndex(IndexFolders(at), "shared", embedding)


def take_in(home: Path, port: int) -> None:
    """Has the server hold many records, from a process of its own."""
    print(asyncio.run(at_server(home, port, HashedNgrams()).nearest(Fixed(MANY), QUERY, 1))[0][0])


async def test_what_one_process_took_in_another_does_not_embed_again(tmp_path: Path, port: int) -> None:
    with Fork(take_in, tmp_path / "one", port) as first:
        done = first.finish()
        assert done.stdout.strip() == "r42", done.stderr
    embedding, records = Counting(), Fixed(MANY)
    index = at_server(tmp_path / "two", port, embedding)
    found = await index.nearest(records, QUERY, 10)
    assert len(embedding.texts) == 1, "the query alone"
    true = await exact(QUERY, MANY)
    assert [true[name] for name, _ in found] == pytest.approx([cosine for _, cosine in found], abs=2e-6)
    records.put(r42="a kettle", new="item42 thing0")
    records.take_out("r49")
    await index.nearest(records, QUERY, 10)
    assert len(embedding.texts) == 4
    client = chromadb.HttpClient("127.0.0.1", port, settings=chromadb.config.Settings(anonymized_telemetry=False))
    assert {*client.get_collection("shared", embedding_function=None).get()["ids"]} == {*records.texts}
