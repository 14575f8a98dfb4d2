"""Vectors on a Chroma server of its own: shared by processes, and made anew from the store where they are gone."""

import asyncio
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Sequence
from pathlib import Path

import chromadb
import pytest

from courtroom.cases.dispute import Precedent
from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import HashedNgrams, Vectors
from courtroom.knowledge.search import Knowledge
from courtroom.knowledge.vector_index import VectorIndex
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.upkeep import doctor
from tests import forks
from tests.app_server import free_port
from tests.test_index import MANY, QUERY, Fixed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning", "ignore::ResourceWarning")


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
        try:
            urllib.request.urlopen(f"http://127.0.0.1:{self.port}/api/v2/heartbeat").close()
        except (urllib.error.URLError, ConnectionError):
            return False
        return True


@pytest.fixture(scope="module")
def server(tmp_path_factory: pytest.TempPathFactory) -> Iterator[ChromaServer]:
    server = ChromaServer(tmp_path_factory.mktemp("chroma") / "kept")
    server.start()
    yield server
    server.stop()


class Counting(HashedNgrams):
    """Counts the texts that were embedded."""

    texts = 0

    async def embed(self, texts: Sequence[str]) -> Vectors:
        self.texts += len(texts)
        return await super().embed(texts)


def take_in(home: str, port: int, name: str) -> None:
    """Has the server hold many records, from a process of its own."""
    settings = Settings(home=Path(home), chroma_host="127.0.0.1", chroma_port=port)
    print(asyncio.run(VectorIndex(settings, name, HashedNgrams(), 50).search(QUERY, 1, Fixed(MANY)))[0][0])


def cosines(found: list[tuple[str, float]]) -> list[float]:
    return [cosine for _, cosine in found]


async def test_what_one_process_has_taken_in_another_finds_without_embedding_it(
    tmp_path: Path, server: ChromaServer
) -> None:
    with forks.Fork(take_in, str(tmp_path / "one"), server.port, "shared") as first:
        done = first.finish()
        assert done.stdout.strip() == "r42", done.stderr
    embedding, records = Counting(), Fixed(MANY)
    index = VectorIndex(server.settings(tmp_path / "two"), "shared", embedding, 50)
    exact = VectorIndex(Settings(home=tmp_path / "three"), "shared", HashedNgrams(), 1000)
    found = await index.search(QUERY, 10, records)
    assert embedding.texts == 1, "the query alone"
    records.put(r42="a kettle", new="item42 thing0")
    records.take_out("r49")
    later = await index.search(QUERY, 10, records)
    assert embedding.texts == 4
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
    assert embedding.texts == len(MANY) + 2, "nothing was taken in twice"
    index.close()


async def test_a_collection_that_was_deleted_is_made_anew_from_the_store(tmp_path: Path, server: ChromaServer) -> None:
    settings = server.settings(tmp_path)
    database = Database(settings.database)
    whole = Knowledge(database, settings).precedents.collection
    few = Collection(database, settings, HashedNgrams(), "precedents", Precedent, whole.texts_of, few=5)
    query = whole.all()[3].title
    first = await few.search(query, 3)
    client = server.client()
    assert client.get_collection("precedents", embedding_function=None).count() >= len(whole)
    client.delete_collection("precedents")
    assert [one.record.id for one in await few.search(query, 3)] == [one.record.id for one in first]
    assert client.get_collection("precedents", embedding_function=None).count() >= len(whole)
    few.close()


def test_the_doctor_asks_the_server(tmp_path: Path, server: ChromaServer) -> None:
    (found,) = doctor.reachable(server.settings(tmp_path), {})
    assert (found.state, found.about) == ("fine", "server: COURTROOM_CHROMA_HOST")
