"""What a process leaves open when it closes, and how long its loop stands still while it works."""

import asyncio
import gc
import os
import threading
import time
from operator import le
from pathlib import Path

import pytest

from courtroom import report
from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import singly, values
from courtroom.knowledge.search import Search
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from tests.driving import drive, until
from tests.openai_server import OpenAIServer
from tests.test_knowledge import records

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")


def heard(house: Courthouse, seed: int = 0, case: Case | None = None, **knobs: object) -> str:
    small = {"jury_size": 3, "rounds": 1, "consensus": 1.0, "grounding_rounds": 1}
    setup = CyberJurorsSetup.model_validate({**small, **knobs})
    run = drive(house, house.new_run("cyberjurors", case or house.library.case("oak-table"), setup, seed))
    assert house.store.status(run) == "done", house.store.run(run).reason
    return run


def held() -> tuple[int, int]:
    """Threads and open files of this process."""
    gc.collect()  # Chroma ends a thread when its last object goes
    return len(os.listdir("/proc/self/task")), len(os.listdir("/proc/self/fd"))


def test_a_courthouse_that_is_closed_leaves_nothing_open(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    counted = []
    with OpenAIServer() as server:
        server.known(monkeypatch)
        for number in range(4):
            house = Courthouse(Settings(home=tmp_path / str(number)))  # Chroma shares what it has open of one home
            heard(house, number, model={"id": "openai/any"})
            house.runner.do(house.knowledge.answer(Search(collection="statutes", text="theft", k=1))).result()
            house.close()
            until(lambda: not server.open, "the server to be done")
            if number:  # at the first, much is loaded that stays
                counted.append(held())
        before = tuple(map(max, *counted[:2]))  # a thread that is ending may still be there
        until(lambda: all(map(le, held(), before)), "all threads and files of a closed courthouse to go")


def test_a_thread_that_ends_closes_its_connection(tmp_path: Path) -> None:
    database = open_store(Settings(home=tmp_path).database)

    def read() -> None:
        database.connection.execute("SELECT count(*) FROM runs").fetchone()

    def open_files() -> int:
        for _ in range(20):
            thread = threading.Thread(target=read)
            thread.start()
            thread.join()
        return held()[1]

    assert open_files() == open_files()


class Pauses:
    """How long the engine's loop stands still at most, in seconds of this process's own work: others may work here too."""

    def __init__(self, house: Courthouse) -> None:
        self.longest, self.began = 0.0, time.process_time()
        house.runner.watch(self._tick())

    async def _tick(self) -> None:
        while True:
            last = time.process_time()
            await asyncio.sleep(0.005)
            self.longest = max(self.longest, time.process_time() - last)

    def short(self, share: float) -> None:
        """At most a share of all the work."""
        took = time.process_time() - self.began
        assert self.longest < share * took, f"{self.longest:.3f} s of {took:.3f} s"


def test_an_import_lets_the_loop_go_on(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    house.runner.do(house.knowledge.warm(("cases",))).result()
    threads: dict[str, set[str]] = {}

    async def name() -> str:
        return threading.current_thread().name

    def told(what: str, done: int, total: int) -> None:
        threads.setdefault(what, set()).add(threading.current_thread().name)

    pauses = Pauses(house)
    file = house.imports.check("cases", "cail.jsonl", records(5000))
    house.runner.do(house.imports.run(file, told)).result()
    pauses.short(1 / 4)  # an import is quick: a machine that does much else counts
    assert threads["Taking in"], "records were written"
    assert house.runner.do(name()).result() not in threads["Taking in"]


def test_a_case_with_500_pieces_of_evidence_a_what_if_and_a_report_let_the_loop_go_on(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    heard(house)  # what is loaded once is loaded
    gc.collect()
    gc.freeze()  # as a courthouse does once it is warm: what is loaded is not walked while it works
    case = house.library.case("oak-table")
    changes = (
        {"id": f"buyer-{n}", "side": "buyer", "text": f"Letter {n}: it broke.", "media": ()} for n in range(1, 501)
    )
    pieces = tuple(case.evidence[0].model_copy(update=change) for change in changes)
    pauses = Pauses(house)
    run = heard(house, 0, case.model_copy(update={"id": "much", "evidence": pieces}), jury_size=5)
    assert report.as_html(house.record(run), house.procedures["cyberjurors"], house.answers, house.media)
    lab = house.experiments
    what_if = lab.what_ifs.experiment(run, singly(values(CyberJurorsSetup, "rounds", [2])), (0,))
    lab.wait(lab.go(lab.begin(what_if)), 300)
    pauses.short(2 / 5)  # to read the case is one step
