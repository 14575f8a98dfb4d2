"""The index under damage and beside other processes; and its vectors on a Chroma server, shared by processes."""

import asyncio
import shutil
import socket
import sqlite3
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from contextlib import closing
from datetime import date
from pathlib import Path
from typing import Any

import chromadb
import numpy as np
import pytest

from courtroom.cases.dispute import Precedent
from courtroom.errors import CourtroomError
from courtroom.knowledge import chroma
from courtroom.knowledge.chroma import Batch, Broken, ChromaFolder
from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import DIMENSIONS, CachedEmbedding, HashedNgrams, Vectors
from courtroom.knowledge.indexed_records import Changed, ChangedWords, Facets, Filter, Seal, files_of, read_seal
from courtroom.knowledge.search import Knowledge
from courtroom.knowledge.vector_index import VectorIndex
from courtroom.knowledge.word_index import WordIndex, line
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.upkeep import doctor
from tests.app_server import free_port
from tests.forks import Fork
from tests.test_knowledge import Counting, knowledge

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")

MANY = {
    f"r{n}": f"item{n} thing{n % 7} parcel{n * 31 % 1009} {'ace' if n == 42 else 'bee' if n == 43 else ''}"
    for n in range(300)
}
QUERY = "item42 thing0 parcel293"


class Fixed:
    """Records that change."""

    def __init__(self, texts: dict[str, str]) -> None:
        self._kept = {name: (text, 1) for name, text in texts.items()}
        self._removed: dict[str, int] = {}
        self._version = 1
        self.read = 0

    def put(self, **texts: str) -> None:
        self._version += 1
        self._kept |= {name: (text, self._version) for name, text in texts.items()}

    def take_out(self, name: str) -> None:
        self._version += 1
        del self._kept[name]
        self._removed[name] = self._version

    def version(self) -> int:
        return self._version

    def count(self) -> int:
        return len(self._kept)

    def _touched(self, since: int) -> tuple[dict[str, str], frozenset[str]]:
        texts = {name: text for name, (text, version) in self._kept.items() if version > since}
        return texts, frozenset(texts) | {name for name, version in self._removed.items() if version > since}

    def changed(self, since: int) -> Changed:
        self.read += 1
        texts, touched = self._touched(since)
        return Changed(touched, texts, {name: self.facets(name) for name in texts})

    def changed_words(self, since: int) -> ChangedWords:
        texts, touched = self._touched(since)
        return ChangedWords(touched, {name: (line(text), self.facets(name)) for name, text in texts.items()})

    def facets(self, name: str) -> Facets:
        number = int("".join(filter(str.isdigit, name)) or 0)
        return Facets(frozenset({f"category={'even' if number % 2 == 0 else 'odd'}"}), 20260100 + number % 28 + 1)


def precedents_on_disk(settings: Settings) -> Collection[Precedent]:
    """With indexes as they are over many records, also at a server."""
    database = Database(settings.database)
    texts_of = Knowledge(database, settings).precedents.collection.texts_of
    return Collection(database, settings, HashedNgrams(), "precedents", Precedent, texts_of, few=5)


def closest_of_many(folder: Path) -> None:
    """Prints what is found in a graph on disk, in a process that may die of it."""
    print(asyncio.run(graph(folder).search(QUERY, 1, Fixed(MANY)))[0][0])


def graph(folder: Path, few: int = 50) -> VectorIndex:
    return VectorIndex(Settings(home=folder), "things", HashedNgrams(), few)


def learn(folder: Path, name: str) -> None:
    """Adds precedents one by one, each time searching, and at the end of the input says how many it finds."""
    base = knowledge(folder).precedents
    pattern = base.all()[0]

    async def work() -> None:
        for n in range(15):
            base.add([pattern.model_copy(update={"id": f"{name}-{n}", "title": f"{name} case{n} item{n * 13}"})])
            await base.collection.search(QUERY, 200, "dense")
        print("done", flush=True)
        sys.stdin.read()
        known = {precedent.id for precedent in base.all()}
        found = {found.record.id for found in await base.collection.search(QUERY, 200, "dense")}
        print(len(known), len(known - found))

    asyncio.run(work())


def write_and_wait(folder: Path) -> None:
    """Writes half of a folder's new vectors, says so, and waits for its end."""

    def batches(size: int) -> Iterator[Batch]:
        yield Batch(["s1"], np.ones((1, 2048), np.float32), [Facets()])
        print("writing", flush=True)
        sys.stdin.read()

    home = folder / "chroma" / "things"
    seal = read_seal(home)
    assert seal is not None
    ChromaFolder(home, "things").write(seal, ["r1"], 2, batches)


def open_and_wait(folder: Path, temporary: Path) -> None:
    """Opens a graph on disk, says so, and waits for its end."""
    tempfile.tempdir = str(temporary)
    index = graph(folder)
    print(asyncio.run(index.search(QUERY, 1, Fixed(MANY)))[0][0], flush=True)
    sys.stdin.read()


@pytest.mark.parametrize("name", ["header.bin", "data_level0.bin", "chroma.sqlite3", "sealed.json"])
async def test_a_damaged_file_neither_ends_nor_changes_a_search(tmp_path: Path, built: Path, name: str) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    (path,) = (tmp_path / "chroma").rglob(name)
    whole = path.read_bytes()
    half = name in ("header.bin", "sealed.json")  # is left; the others are overwritten
    path.write_bytes(whole[: len(whole) // 2] if half else b"junk" * (len(whole) // 4))
    with Fork(closest_of_many, tmp_path) as again:
        done = again.finish()
    assert (done.returncode, done.stdout.strip()) == (0, "r42"), done.stderr
    assert whole_again(tmp_path / "chroma" / "things")


def whole_again(folder: Path) -> bool:
    seal = read_seal(folder)
    return seal is not None and seal.count == len(MANY) and files_of(folder / seal.folder) == seal.files


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A graph over many records, as a process has left it."""
    home = tmp_path_factory.mktemp("built")
    with Fork(closest_of_many, home) as first:
        assert first.finish().stdout.strip() == "r42"
    return home / "chroma"


@pytest.mark.parametrize("failure", ["hangs", "raises", "panics"])
async def test_a_folder_whose_opening_fails_is_built_again(
    tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch, failure: str
) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    (first,) = (tmp_path / "chroma" / "things").glob("*/chroma.sqlite3")
    opened, released = ChromaFolder._loaded, threading.Event()

    class PanicException(BaseException):
        """As Chroma's Rust raises it."""

    def fails(folder: ChromaFolder, path: str) -> object:
        if not first.exists():
            return opened(folder, path)
        if failure == "hangs":
            released.wait(60)
        raise PanicException if failure == "panics" else ValueError("Failed to apply logs to the hnsw segment writer")

    monkeypatch.setattr(ChromaFolder, "_loaded", fails)
    monkeypatch.setattr(chroma, "OPEN_S", 1.0 if failure == "hangs" else chroma.OPEN_S)
    index = graph(tmp_path)
    assert (await index.search(QUERY, 1, Fixed(MANY)))[0][0] == "r42"
    released.set()
    assert whole_again(tmp_path / "chroma" / "things")
    index.close()


async def test_a_process_killed_while_it_writes_leaves_the_sealed_folder_as_it_was(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    with Fork(write_and_wait, tmp_path) as writer:  # and is killed
        assert writer.line().strip() == "writing", writer.finish().stderr
    folder = tmp_path / "chroma" / "things"
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 2
    assert whole_again(folder)
    records, index = Fixed(MANY), graph(tmp_path)
    records.put(**{f"s{n}": f"item{n} thing0 other{n}" for n in range(60)})
    assert (await index.search(QUERY, 1, records))[0][0] == "r42"
    assert len([path for path in folder.iterdir() if path.is_dir()]) == 1, "what the process has left is gone"
    index.close()


async def test_the_copy_of_a_killed_process_goes(tmp_path: Path, built: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    temporary = tmp_path / "temporary"
    temporary.mkdir()
    monkeypatch.setattr(tempfile, "tempdir", str(temporary))
    first, second = graph(tmp_path), graph(tmp_path)
    assert (await first.search(QUERY, 1, Fixed(MANY)))[0][0] == "r42"
    with Fork(open_and_wait, tmp_path, temporary) as killed:
        assert killed.line().strip() == "r42", killed.finish().stderr
    assert len([path for path in temporary.iterdir() if path.is_dir()]) == 2
    assert (await second.search(QUERY, 1, Fixed(MANY)))[0][0] == "r42"
    assert len([path for path in temporary.iterdir() if path.is_dir()]) == 2, "of the two that are open"
    first.close()
    second.close()
    assert list(temporary.iterdir()) == []


async def test_a_graph_finds_what_each_record_compared_finds(tmp_path: Path, built: Path) -> None:
    shutil.copytree(built, tmp_path / "chroma")
    records, exact = Fixed(MANY), graph(tmp_path / "elsewhere", few=1000)
    index = graph(tmp_path)
    for step in range(3):
        for query in ("item42 thing0", "parcel293 item7", "thing3"):
            found, expected = await index.search(query, 10, records), await exact.search(query, 10, records)
            cosines, exactly = ([cosine for _, cosine in pairs] for pairs in (found, expected))
            missed = [one for one in exactly if not any(abs(one - cosine) < 2e-6 for cosine in cosines)]
            assert len(missed) <= 2, "a graph may miss one"
        if step == 0:  # one by one, on top of the graph
            records.put(r42="a kettle", new="item42 thing0")
            records.take_out("r49")
        elif step == 1:  # more than is compared one by one: the graph takes them in
            records.put(**{f"s{n}": f"item{n} thing0 other{n}" for n in range(60)})
    held = read_seal(tmp_path / "chroma" / "things")
    assert (held.version, held.count) == (records.version(), records.count())  # type: ignore[union-attr]
    assert "r49" not in [name for name, _ in await index.search("item49 thing0", 300, records)]
    assert "new" not in [name for name, _ in await index.search("item42 thing0", 3, records, exclude=("new",))]
    index.close()


class Replaced:
    """A server's embedding whose model may be replaced by one of another size under the same name."""

    name = "openai/any"
    size = 32

    async def embed(self, texts: Sequence[str]) -> Vectors:
        vectors = (
            (await HashedNgrams().embed(texts)).reshape(len(texts), DIMENSIONS // self.size, self.size).sum(axis=1)
        )
        return np.asarray(vectors / np.linalg.norm(vectors, axis=1, keepdims=True), np.float32)


@pytest.mark.parametrize("few", [0, 1_000])
async def test_an_embedding_of_another_size_is_made_anew(tmp_path: Path, few: int) -> None:
    with closing(Database(tmp_path / "store.sqlite")) as database:
        model, records = Replaced(), Fixed({"a": "a broken lamp", "b": "a late parcel"})
        index = VectorIndex(Settings(home=tmp_path), "set", CachedEmbedding(model, database), few)
        with closing(index):
            assert (await index.search("a broken lamp", 1, records))[0][0] == "a"
            model.size = 64
            records.put(c="a lost key")
            assert (await index.search("a lost key", 1, records))[0] == ("c", pytest.approx(1, abs=0.01))
            assert (await index.search("a late parcel", 1, records))[0] == ("b", pytest.approx(1, abs=0.01))
            model.size = 128
            assert (await index.search("a parcel that is late", 1, records))[0][0] == "b"


@pytest.mark.parametrize("few", [50, 1000], ids=["graph", "compared"])
async def test_a_search_is_narrowed_to_a_category_and_to_days(tmp_path: Path, built: Path, few: int) -> None:
    if few == 50:
        shutil.copytree(built, tmp_path / "chroma")
    index, words, records = graph(tmp_path, few), WordIndex(tmp_path / "words", few), Fixed(MANY)
    only = Filter(category="Odd", since=date(2026, 1, 3), until=date(2026, 1, 5))
    wanted = {name for name in MANY if only.admits(records.facets(name))}
    assert wanted == {f"r{n}" for n in range(300) if n % 2 and 2 <= n % 28 <= 4}
    found = {name for name, _ in await index.search("item3", 300, records, only=only)}
    assert found <= wanted
    assert len(found) > len(wanted) * 0.9, "a graph may miss a few that are far away"
    any_of = " ".join(f"thing{n}" for n in range(7))
    assert {name for name, _ in words.closest(records, any_of, 300, only)} == wanted
    index.close()


@pytest.mark.parametrize("few", [5, 1000], ids=["on disk", "in memory"])
def test_the_words_follow_what_is_on_record(tmp_path: Path, few: int) -> None:
    records, index = Fixed(MANY), WordIndex(tmp_path / "words", few)
    assert {name for name, _ in index.closest(records, "ace bee", 3)} == {"r42", "r43"}
    records.put(r42="a kettle")
    records.take_out("r43")
    assert index.closest(records, "ace bee", 3) == []
    assert [name for name, _ in WordIndex(tmp_path / "words", few).closest(records, "kettle", 3)] == ["r42"]
    assert index.closest(records, "", 3) == []


@pytest.mark.parametrize("name", ["*.store", "*.idx", "meta.json", "sealed.json"])
def test_damaged_words_are_indexed_anew(tmp_path: Path, name: str) -> None:
    records = Fixed(MANY)
    first = WordIndex(tmp_path / "words", 5).closest(records, "item42 thing0", 20)
    path = next((tmp_path / "words").glob(name))
    path.write_bytes(path.read_bytes()[: path.stat().st_size // 2])
    index = WordIndex(tmp_path / "words", 5)
    assert index.fault(records)
    assert index.closest(records, "item42 thing0", 20) == first
    assert not index.fault(records)


def test_an_index_from_after_the_records_is_made_anew(tmp_path: Path) -> None:
    """A backup was put back."""
    newer = Fixed(MANY)
    newer.put(later="ace ace")
    assert WordIndex(tmp_path / "words", 5).closest(newer, "ace", 3)[0][0] == "later"
    assert [name for name, _ in WordIndex(tmp_path / "words", 5).closest(Fixed(MANY), "ace", 3)] == ["r42"]


async def test_two_processes_that_learn_at_once_find_what_both_have_learnt(tmp_path: Path) -> None:
    bundled = len(knowledge(tmp_path).precedents.all())
    with Fork(learn, tmp_path, "ann") as ann, Fork(learn, tmp_path, "bob") as bob:
        for learner in (ann, bob):
            assert learner.line().strip() == "done", learner.finish().stderr
        for learner in (ann, bob):
            done = learner.finish()
            assert done.stdout.strip() == f"{bundled + 30} 0", done.stderr


async def test_a_folder_that_cannot_be_made_and_a_server_that_is_down_are_named_in_a_sentence(tmp_path: Path) -> None:
    for name in ("chroma", "words"):
        (tmp_path / name).write_text("a file where the folder should be")
    with pytest.raises(CourtroomError, match="The search index can't be written"):
        await graph(tmp_path).search("item7", 1, Fixed(MANY))
    with pytest.raises(CourtroomError, match="The word index can't be written"):
        WordIndex(tmp_path / "words" / "things", 5).closest(Fixed(MANY), "item7", 1)
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))  # bound, but nobody listens
        settings = Settings(home=tmp_path / "at-server", chroma_host="127.0.0.1", chroma_port=taken.getsockname()[1])
        with pytest.raises(CourtroomError, match=r"The Chroma server at 127\.0\.0\.1:\d+ does not answer\. Start it"):
            await VectorIndex(settings, "things", HashedNgrams()).search("kettle", 1, Fixed({"a": "a kettle"}))


async def test_searches_at_once_bring_a_new_index_up_to_date_once(tmp_path: Path) -> None:
    index, records = graph(tmp_path), Fixed({f"r{n}": f"item{n}" for n in range(20)})
    found = await asyncio.gather(*(index.search("item7", 1, records) for _ in range(8)))
    assert {hits[0][0] for hits in found} == {"r7"}
    assert records.read == 1


def test_all_vectors_are_in_the_saved_graph_and_the_log_is_short(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    count = 1100  # one batch is saved as it is written, the rest at the end
    draw = np.random.default_rng(1)
    modify, locked = chromadb.Collection.modify, iter(("database is locked",))

    def modified(collection: chromadb.Collection, **given: Any) -> None:
        for why in locked:  # once, as where Chroma still ends an earlier write
            raise chromadb.errors.InternalError(why)
        modify(collection, **given)

    monkeypatch.setattr(chromadb.Collection, "modify", modified)

    def batches(size: int) -> Iterator[Batch]:
        for start in range(0, count, size):
            names = [f"r{n}" for n in range(start, min(start + size, count))]
            yield Batch(names, draw.random((len(names), 8), np.float32), [Facets()] * len(names))

    folder = ChromaFolder(tmp_path, "things")
    folder.write(Seal(version=1, count=0, made_with="test", files={}), [], count, batches)
    assert not list(locked), "it was asked again"
    seal = folder.seal("test")
    assert seal.count == count
    with closing(sqlite3.connect(tmp_path / seal.folder / "chroma.sqlite3")) as log:
        assert log.execute("SELECT count(*) FROM embeddings_queue").fetchone()[0] <= 1
    with pytest.raises(Broken):
        folder.open(seal.model_copy(update={"count": count + 1}))
    folder.close()


async def test_equals_are_in_one_order_however_they_were_written(tmp_path: Path) -> None:
    texts = {f"r{n}": "the same words" for n in range(9)}
    first, later = graph(tmp_path), Fixed({name: texts[name] for name in reversed(texts)})
    expected = await first.search("same words", 9, Fixed(texts))
    second = graph(tmp_path)
    await second.search("words", 1, later)
    later.put(r0="the same words", r5="the same words")
    assert await second.search("same words", 9, later) == expected


class ChromaServer:
    """`chroma run` over a folder, on a port that it keeps when it is started again."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self.port = free_port()
        self._process: subprocess.Popen[bytes] | None = None

    def start(self) -> None:
        command = Path(sys.executable).with_name("chroma")
        given = ("--path", str(self._folder), "--host", "127.0.0.1", "--port", str(self.port))
        written = self._folder.with_suffix(".log")
        with written.open("ab") as log:
            self._process = subprocess.Popen([command, "run", *given], stdout=log, stderr=log, cwd=self._folder.parent)
        while not self._answers():
            assert self._process.poll() is None, written.read_text()
            time.sleep(0.05)

    def stop(self) -> None:
        if self._process is not None:
            self._process.kill()
            self._process.wait()

    def settings(self, home: Path) -> Settings:
        return Settings(home=home, chroma_host="127.0.0.1", chroma_port=self.port)

    def client(self) -> chromadb.ClientAPI:
        quiet = chromadb.config.Settings(anonymized_telemetry=False)
        return chromadb.HttpClient("127.0.0.1", self.port, settings=quiet)

    def _answers(self) -> bool:
        with socket.socket() as door:
            return door.connect_ex(("127.0.0.1", self.port)) == 0


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path_factory.mktemp("chroma") / "kept")
    server.start()
    yield server
    server.stop()


def take_in(home: Path, port: int, name: str) -> None:
    """Has the server hold many records, from a process of its own."""
    settings = Settings(home=home, chroma_host="127.0.0.1", chroma_port=port)
    print(asyncio.run(VectorIndex(settings, name, HashedNgrams(), 50).search(QUERY, 1, Fixed(MANY)))[0][0])


def cosines(found: list[tuple[str, float]]) -> list[float]:
    return [cosine for _, cosine in found]


async def test_what_one_process_took_in_another_does_not_embed_again(tmp_path: Path, server: ChromaServer) -> None:
    with Fork(take_in, tmp_path / "one", server.port, "shared") as first:
        done = first.finish()
        assert done.stdout.strip() == "r42", done.stderr
    embedding, records = Counting(), Fixed(MANY)
    index = VectorIndex(server.settings(tmp_path / "two"), "shared", embedding, 50)
    exact = VectorIndex(Settings(home=tmp_path / "three"), "shared", HashedNgrams(), 1000)
    found = await index.search(QUERY, 10, records)
    assert len(embedding.texts) == 1, "the query alone"
    records.put(r42="a kettle", new="item42 thing0")
    records.take_out("r49")
    later = await index.search(QUERY, 10, records)
    assert len(embedding.texts) == 4
    records.put(**{f"s{n}": f"item{n} thing0 other{n}" for n in range(60)})
    last = await index.search(QUERY, 10, records)
    assert server.client().get_collection("shared", embedding_function=None).count() == records.count()
    for got, expected in ((found, Fixed(MANY)), (last, records)):
        true = dict(await exact.search(QUERY, 400, expected))
        assert len(got) == 10
        assert [true[name] for name, _ in got] == pytest.approx(cosines(got), abs=2e-6)
        tenth = sorted(true.values())[-10]
        assert sum(cosine > tenth - 2e-6 for cosine in cosines(got)) >= 6, "a graph may miss a few among texts so alike"
        exact.discard()
    assert {"new"} <= {name for name, _ in later}
    index.close()


async def test_a_server_that_was_started_again_is_asked_as_before(tmp_path: Path, server: ChromaServer) -> None:
    embedding = Counting()
    index = VectorIndex(server.settings(tmp_path), "restarted", embedding, 50)
    records = Fixed(MANY)
    first = await index.search(QUERY, 5, records)
    server.stop()
    server.start()
    again = await index.search(QUERY, 5, records)
    assert cosines(again) == cosines(first)  # of equally near ones any may come
    assert len(embedding.texts) == len(MANY) + 2, "nothing was taken in twice"
    index.close()


async def test_a_collection_that_was_deleted_is_made_anew_from_the_store(tmp_path: Path, server: ChromaServer) -> None:
    precedents, client = precedents_on_disk(server.settings(tmp_path)), server.client()
    query = precedents.all()[3].title
    first = await precedents.search(query, 3)
    assert client.get_collection("precedents", embedding_function=None).count() >= len(precedents)
    client.delete_collection("precedents")
    assert [one.record.id for one in await precedents.search(query, 3)] == [one.record.id for one in first]
    assert client.get_collection("precedents", embedding_function=None).count() >= len(precedents)
    precedents.close()


def test_the_doctor_asks_the_server(tmp_path: Path, server: ChromaServer) -> None:
    (found,) = doctor.reachable(server.settings(tmp_path), {})
    assert (found.state, found.about) == ("fine", "server: COURTROOM_CHROMA_HOST")
