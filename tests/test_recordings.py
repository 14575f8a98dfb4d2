"""Recorded hearings: made by the commands of docs/recordings.md, played, and forked with what is on their record."""

import json
import shlex
from dataclasses import dataclass
from pathlib import Path

import pytest

from courtroom import Courthouse, Settings
from courtroom.engine.run import RECORDING
from courtroom.models.spec import OFFLINE
from courtroom.questions.marks import Mark
from tests.docs import blocks
from tests.driving import shell
from tests.furnished import copied
from tests.openai_server import OpenAIServer

PAGE = "docs/recordings.md"
EVIDENCE = [{"kind": "evidence", "side": "buyer", "text": "The log of the order shows a complaint on the same day."}]


@dataclass(frozen=True)
class Studio:
    """Where hearings were recorded, and where their files are."""

    home: Path
    folder: Path
    runs: tuple[str, ...]
    """The hearing and its forks."""


@pytest.fixture(scope="module")
def studio(tmp_path_factory: pytest.TempPathFactory) -> Studio:
    """Recordings by the very commands of the documentation; a scripted model answers at the connection."""
    place = tmp_path_factory.mktemp("studio")
    folder, runs = place / "data" / "recordings", list[str]()
    folder.mkdir(parents=True)
    connection, entry = blocks(PAGE, "toml")
    with OpenAIServer() as server, pytest.MonkeyPatch.context() as patch:
        patch.chdir(place)
        (place / "connections.toml").write_text(connection.replace("http://127.0.0.1:8700/v1", server.url))
        (place / "evidence.json").write_text(json.dumps(EVIDENCE))
        export, *commands = blocks(PAGE, "console")[0].splitlines()
        for variable in shlex.split(export)[1:]:
            patch.setenv(*variable.split("=", 1))
        for command in commands:
            stands_for = {"RUN": runs[0], "FORK": runs[-1]} if runs else {}
            words = [stands_for.get(word, word) for word in shlex.split(command)[1:]]
            told = shell(*words)
            if words[0] in ("run", "fork"):
                runs.append(json.loads(told)["run"])
    files = [Path(line.split()[-1]).name for line in commands if " export " in line]
    entries = (entry.replace("vacuum-charging.json", file) for file in files)
    (folder / "index.toml").write_text("\n".join(entries))
    return Studio(place / "recording", folder, tuple(runs))


@pytest.fixture
def house(studio: Studio, tmp_path: Path) -> Courthouse:
    """A fresh store of somebody who lists no connection."""
    return Courthouse(Settings(home=copied(tmp_path / "home"), recordings=studio.folder))


def test_one_click_takes_in_a_hearing_with_its_forks(studio: Studio, house: Courthouse) -> None:
    (first,) = house.recordings.hearings
    run = house.files.play(first)
    assert run == studio.runs[0]
    assert [one.run.id for one in house.family(run)] == list(studio.runs)
    assert {one.run.origin for one in house.family(run)} == {RECORDING}
    assert house.files.play(first) == run, "a second click opens the same"
    house.store.delete(run)
    assert house.files.play(first) == run, "whoever deletes it finds it again"


def test_a_file_that_only_says_it_is_a_recording_is_not_trusted(studio: Studio, house: Courthouse) -> None:
    run = house.files.play(house.recordings[0])
    house.marks.put(run, Mark(reviewer="Ada", star=True))
    file = house.files.export(run)[1].encode()
    elsewhere = Courthouse(Settings(home=house.settings.home / "elsewhere", recordings=studio.folder))
    assert not elsewhere.record(elsewhere.files.take_in(file)).run.is_recording


def test_the_shell_forks_a_recording(house: Courthouse, studio: Studio, monkeypatch: pytest.MonkeyPatch) -> None:
    run = house.files.play(house.recordings[0])
    monkeypatch.setenv("COURTROOM_HOME", str(house.settings.home))
    monkeypatch.setenv("COURTROOM_RECORDINGS", str(studio.folder))
    change = ("--set", 'jury.5.traits=["impulsive"]')
    assert "claude" in shell("fork", run, *change, code=1), "without one it says which model can't be asked"
    told = json.loads(shell("fork", run, *change, "--otherwise", OFFLINE, "--json"))
    assert told["status"] == "done"
    assert {call.model for call in house.record(told["run"]).calls} == {"openai/claude", OFFLINE}
    found = json.loads(shell("what-if", run, "--drop", "evidence", "--otherwise", OFFLINE, "--json"))
    assert found["status"] == "done"
    assert all(row["outcome"] for row in found["variants"])
    assert len(found["variants"]) == 1 + len(house.record(run).case.parts())


def test_each_hearing_that_comes_along_still_has_all_its_answers(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    lacking = {}
    for recording in house.recordings:
        record = house.record(house.files.play(recording))
        given = (record.run.procedure, record.case, record.setup, record.run.seed, record.run.id)
        estimate = house.estimate(*given)
        lacking[recording.file.name] = estimate.calls - estimate.on_record
    house.close()
    assert not any(lacking.values()), lacking
