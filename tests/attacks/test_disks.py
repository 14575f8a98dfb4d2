"""Disks that are full, locked or broken, a store that is away, pictures of several people: nothing is lost, nothing half-written stays."""

import asyncio
import io
import json
import logging
import os
import random
import resource
import shutil
import sqlite3
import subprocess
import time
from collections import Counter
from collections.abc import Iterator
from contextlib import closing, suppress
from itertools import count
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from courtroom import Case, Courthouse, CourtroomError, Settings
from courtroom.cases.files import Package, read_folder
from courtroom.cases.library import Library
from courtroom.datasets.row import Row
from courtroom.engine import active_run
from courtroom.engine.answers import AnswerStore
from courtroom.engine.ledger import RunLedger
from courtroom.engine.run import Control
from courtroom.engine.store import RunStore
from courtroom.media.store import IDLE_S, MediaStore
from courtroom.models.request import Request
from courtroom.settings import DATA
from courtroom.store.connection import FULL, LOCKED, UNWRITABLE, ServerError, passing
from courtroom.store.opening import open_store
from courtroom.upkeep.doctor import examine
from tests import forks
from tests.driving import drive, until
from tests.pictures import png
from tests.test_knowledge import opened, records
from tests.toy import CASE, Bench, Scripted, side_by_member

LONG = "The kettle stayed cold. " * 2000
"""An answer that needs pages of its own."""


def long_answer(request: Request) -> str:
    return json.dumps({"side": "buyer", "reason": LONG})


@pytest.fixture
def bench(bench: Bench) -> Bench:
    """Its answers need room."""
    bench.model.reply = long_answer
    return bench


def written_by(bench: Bench) -> sqlite3.Connection:
    """The connection by which the engine writes."""
    return bench.writers[-1].put(lambda: bench.database.connection).result(10)


def heard_until_asked(bench: Bench) -> str:
    """A run whose first answers are under way."""
    bench.model.hold = asyncio.Event()
    run = bench.start()
    bench.runner.go(run)
    until(lambda: len(bench.model.history) == 3, "all jurors to be asked")
    return run


def full(bench: Bench) -> sqlite3.Connection:
    """The disk is full from now on; by this it gets room."""
    disk = written_by(bench)
    disk.execute("PRAGMA max_page_count = 1")
    return disk


def answered(bench: Bench, run: str, trouble: str = FULL) -> None:
    """Let the answers come in, for which there is no room."""
    bench.runner.call(bench.model.hold.set)
    until(lambda: bench.runner.trouble(run), "the trouble to be noticed")
    assert bench.runner.trouble(run) == trouble


def whole(bench: Bench, run: str) -> None:
    """The run comes to its end; every answer was asked for once, is on record, and is counted."""
    bench.runner.wait(run, 60)
    record = bench.runner.record(run)
    assert (record.run.status, record.run.reason) == ("done", "")
    assert len(bench.model.history) == record.asked == 6
    assert record.tokens == (60, 6)
    assert record.cost == pytest.approx(0.06)
    assert all(bench.answers.reply(key) for call in record.calls for key in call.keys)


def test_a_full_disk_holds_the_answers_and_says_so(bench: Bench) -> None:
    run = heard_until_asked(bench)
    disk = full(bench)
    answered(bench, run)
    until(lambda: bench.store.run(run).reason == FULL, "others to be told")
    assert bench.runner.drives(run)
    assert bench.store.status(run) == "running"
    assert not bench.runner.record(run).calls
    assert len(bench.model.history) == 3, "nothing new is asked"
    disk.execute("PRAGMA max_page_count = 1000000")
    whole(bench, run)
    assert bench.runner.trouble(run) == ""


def test_a_full_disk_between_two_stages_lets_no_stage_begin(bench: Bench) -> None:
    run = drive(bench, bench.start(), Control(stage="round 1"))
    disk = full(bench)
    part = ("INSERT INTO parts VALUES ('anything', ?)", (LONG,))
    held = bench.writers[-1].put(lambda: bench.database.connection.execute(*part))
    until(lambda: bench.writers[-1].trouble, "the full disk to be noticed")
    another = bench.start()
    with pytest.raises(CourtroomError, match="disk is full"):
        bench.runner.go(another)
    bench.runner.go(run)
    assert len(bench.model.history) == 3
    disk.execute("PRAGMA max_page_count = 1000000")
    held.result(60)
    bench.runner.go(run)
    whole(bench, run)


def test_a_store_locked_for_long_holds_the_answers(bench: Bench) -> None:
    run = heard_until_asked(bench)
    written_by(bench).execute("PRAGMA busy_timeout = 20")
    with closing(sqlite3.connect(bench.database.at, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        answered(bench, run, LOCKED)
        assert bench.runner.do(asyncio.sleep(0, "on time")).result(10) == "on time", "the loop does not stop"
    whole(bench, run)


def test_closing_on_a_full_disk_tells_what_is_lost(bench: Bench, caplog: pytest.LogCaptureFixture) -> None:
    run = heard_until_asked(bench)
    disk = full(bench)
    answered(bench, run)
    with caplog.at_level(logging.ERROR, "courtroom"):
        bench.runner.close()
    assert "a write is lost" in caplog.text
    disk.execute("PRAGMA max_page_count = 1000000")
    bench.model.hold = None
    bench.runner = bench.new_runner()
    assert bench.store.status(drive(bench, run)) == "done"


def limited(home: Path) -> None:
    """Hear a run while no file may grow; to be forked."""
    bench = Bench(home, Scripted(long_answer))
    run = heard_until_asked(bench)
    size = Path(f"{bench.database.at}-wal").stat().st_size
    resource.setrlimit(resource.RLIMIT_FSIZE, (size + 8192, resource.RLIM_INFINITY))
    bench.runner.call(bench.model.hold.set)
    until(lambda: bench.runner.trouble(run), "the limit to be noticed")
    assert bench.runner.trouble(run) in (FULL, UNWRITABLE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (resource.RLIM_INFINITY, resource.RLIM_INFINITY))
    whole(bench, run)
    bench.close()


def test_a_file_that_may_not_grow_holds_the_answers(tmp_path: Path) -> None:
    with forks.Fork(limited, tmp_path / "home") as process:
        process.output()


@pytest.fixture
def small_disk(tmp_path: Path, request: pytest.FixtureRequest) -> Iterator[Path]:
    """A disk of 4 MB, or of as many as the test says."""
    disk = tmp_path / "disk"
    disk.mkdir()
    size = f"size={getattr(request, 'param', 4)}m"
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", size, "tmpfs", disk], capture_output=True)
    if done.returncode:
        pytest.skip("no small disk can be mounted here")
    yield disk
    subprocess.run(["umount", "-l", disk], check=True)


def leave(disk: Path, room: int) -> Path:
    """Fill a disk but for so many bytes."""
    ballast = disk / "ballast"
    with ballast.open("wb", 0) as file, suppress(OSError):  # what else writes there may be faster
        while (free := shutil.disk_usage(disk).free) > room:
            file.write(bytes(free - room))
    return ballast


def noise(seed: int) -> bytes:
    """A picture of about 750 kB, which can't be packed."""
    out = io.BytesIO()
    Image.frombytes("RGB", (500, 500), random.Random(seed).randbytes(750_000)).save(out, "PNG")
    return out.getvalue()


def with_pictures(number: int, id: str = "noise") -> Package:
    """A case with so many pictures."""
    named = [f"buyer-{n}" for n in range(number)]
    media = {name: [{"id": name, "kind": "image", "file": f"{name}.png"}] for name in named}
    evidence = [{"id": name, "side": "buyer", "text": "A photo.", "media": media[name]} for name in named]
    case = CASE.model_validate({**CASE.model_dump(), "id": id, "evidence": evidence})
    return Package(case, {f"{name}.png": noise(n) for n, name in enumerate(named)})


def files_in(folder: Path) -> set[str]:
    return {str(path.relative_to(folder)) for path in folder.rglob("*")}


@pytest.mark.parametrize("room", [0, 100_000, 1_000_000])
def test_a_full_disk_keeps_no_half_case(small_disk: Path, room: int) -> None:
    database = open_store(small_disk / "store.sqlite")
    library = Library(database, MediaStore(small_disk / "media"))
    kept = library.add(with_pictures(1, id="before"))
    before = files_in(small_disk / "media")
    package, ballast = with_pictures(3), leave(small_disk, room)
    with pytest.raises(CourtroomError, match=r"^The disk is full: make room; then add the case again\.$"):
        library.add(package)
    assert files_in(small_disk / "media") == before, "the picture that was there stays, and nothing came"
    assert [row["id"] for row in database.connection.execute("SELECT id FROM cases")] == [kept.id]
    ballast.unlink()
    library.add(package)
    assert len(files_in(small_disk / "media") - before) == 2


def test_a_case_without_room_loses_no_picture(tmp_path: Path) -> None:
    database = open_store(tmp_path / "store.sqlite")
    library = Library(database, MediaStore(tmp_path / "media"))
    library.cases()
    before = files_in(tmp_path / "media")
    names = {case.id for case in library.cases()}
    database.connection.execute("PRAGMA max_page_count = 1")
    package = with_pictures(1)
    with pytest.raises(CourtroomError, match="then add the case again"):
        library.add(Package(package.case.model_copy(update={"category": LONG}), package.files))
    assert {case.id for case in library.cases()} == names
    assert {*before} <= {*files_in(tmp_path / "media")}


@pytest.mark.parametrize("small_disk", [128], indirect=True)
def test_a_file_is_imported_once_there_is_room(small_disk: Path) -> None:
    knowledge, imports = opened(small_disk / "home")
    knowledge.of("cases").all()
    ballast = leave(small_disk, 20_000)
    file = imports.check("cases", "many.jsonl", records(600))
    with pytest.raises(CourtroomError, match=r"^The disk is full: make room; then import the file again\.$"):
        asyncio.run(imports.run(file))
    assert len(knowledge.of("cases", "imported")) == 0
    ballast.unlink()
    asyncio.run(imports.run(file))
    assert len(knowledge.of("cases", "imported")) == 600


AWAY = ServerError("connection failed", gone=True)
PLACES = {"lock": (RunLedger, "check", 1), "record": (RunStore, "events", 0), "answer": (AnswerStore, "reply", 1)}
"""What fails three times, after so many calls."""


@pytest.mark.parametrize("place", PLACES)
def test_a_run_waits_while_the_store_is_away(place: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    bench.model.reply = side_by_member
    monkeypatch.setattr(active_run, "PROBE_S", 0.01)
    (owner, name, after), calls, run = PLACES[place], count(), bench.start()
    real = getattr(owner, name)

    def failing(*given: Any, **options: Any) -> Any:
        if after <= next(calls) < after + 3:
            raise AWAY
        return real(*given, **options)

    monkeypatch.setattr(owner, name, failing)
    bench.runner.go(run)
    bench.runner.wait(run, 30)
    record = bench.runner.record(run)
    assert (record.run.status, record.run.reason) == ("done", "")
    assert next(calls) > after + 3, "it failed three times"
    assert set(Counter(call.path for call in record.calls).values()) == {1}
    assert len(bench.model.history) == len(record.calls)


def test_a_passing_failure_of_a_server_is_known_as_one() -> None:
    codes = ("57014", "40001", "40P01", "53200", "25P03")
    outages = [AWAY, ServerError("too many connections", "53300"), *(ServerError("canceled", code) for code in codes)]
    assert all(passing(error).endswith("the run goes on by itself.") for error in outages)


BUSY = sqlite3.OperationalError("database is locked")
BUSY.sqlite_errorcode = sqlite3.SQLITE_BUSY


@pytest.fixture(params=["folder", "another folder", "storage"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    (tmp_path / "bucket").mkdir()
    media = {"another folder": f"file://{tmp_path / 'media'}", "storage": f"local://{tmp_path / 'bucket'}"}
    return Settings(home=tmp_path / "home", media=media.get(request.param, ""))


def package(title: str) -> Package:
    """A case with a picture that no sample has."""
    found = read_folder(DATA / "cases" / "sneakers-worn")
    files = dict.fromkeys(found.files, png((90, 60)))
    return Package(found.case.model_copy(update={"id": title.lower(), "title": title}), files)


def test_a_failed_upload_takes_no_picture_of_others(settings: Settings, monkeypatch: pytest.MonkeyPatch) -> None:
    """Whoever has a case of it keeps it, whatever becomes of the others."""
    houses = one, other = Courthouse(settings), Courthouse(settings)  # two servers of one store
    keep = Library._keep
    added: list[Case] = []

    def meanwhile(library: Library, case: Case, action: Any) -> Case:
        if library is not one.library:
            return keep(library, case, action)
        added.append(other.library.add(package("Other")))
        raise BUSY

    monkeypatch.setattr(Library, "_keep", meanwhile)
    with pytest.raises(CourtroomError, match="has locked the store"):
        one.library.add(package("One"))
    for house in houses:
        for medium in other.library.case(added[0].id).media():
            assert house.media.path(medium.sha256 or "").is_file()
    assert [one.sentence for one in examine(settings) if one.state == "wrong"] == []


def test_what_no_case_came_to_need_is_set_aside_after_a_day(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with closing(Courthouse(settings)) as house:
        young, idle, named = (f"{house.media.take(png((90, side)), 'a.png')}.png" for side in (61, 62, 63))
        case = house.library.case("sneakers-worn")
        medium = next(iter(case.media()))
        row = case.model_copy(update={"id": "row"})
        kept = house.media.keep({medium.file: png((90, 63))})
        house.datasets.add("mine", [Row(id="row", case=row.with_media(kept))])
        for name in (idle, named):
            os.utime(house.media.folder / name, (time.time() - IDLE_S - 60,) * 2)
        assert "--mend sets them aside" in media_of(settings, mend=False)[0]
        assert "1 files that no case needs" in media_of(settings, mend=True)[0]
        assert (house.media.folder / "unused" / idle).is_file()
        assert {young, named} <= {*house.media.names()}
        assert idle not in house.media.names()


def media_of(settings: Settings, *, mend: bool) -> list[str]:
    return [one.sentence for one in examine(settings, mend=mend) if one.about == "media"]
