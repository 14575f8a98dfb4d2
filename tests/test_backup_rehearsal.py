"""A backup taken while ten runs go on is restored, and the runs go on from it to the same end."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from courtroom.upkeep import backup
from courtroom.upkeep.doctor import examine
from tests.openai_server import OpenAIServer

RUNS, ENOUGH = 10, 40


def outcome(house: Courthouse, run: str) -> tuple[object, dict[str, object]]:
    """What a run has come to: its verdict, and each call's value and keys by its path."""
    record = house.record(run)
    assert record.run.verdict is not None
    return record.run.verdict, {call.path: (call.value, call.keys, call.error) for call in record.calls}


@pytest.mark.usefixtures("either_database")
def test_a_backup_while_ten_runs_go_on_restores_to_the_same(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    setup = CyberJurorsSetup.model_validate({"jury_size": 3, "rounds": 1, "model": {"id": "openai/real"}})
    with OpenAIServer(delay=0.05) as server:
        monkeypatch.setenv("OPENAI_API_BASE", server.url)
        monkeypatch.setenv("OPENAI_API_KEY", "none")
        house = Courthouse(Settings(home=tmp_path / "home"))
        case = house.library.case("oak-table")
        before = house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=3, rounds=1), 99)
        house.runner.go(before)
        house.runner.wait(before, 60)
        runs = [house.new_run("cyberjurors", case, setup, seed) for seed in range(RUNS)]
        for run in runs:
            house.runner.go(run)
        while sum(len(house.record(run).calls) for run in runs) < ENOUGH:
            time.sleep(0.01)
        backup.write(house.settings, tmp_path / "all.zip")
        for run in runs:
            house.runner.wait(run, 60)
        asked = sum(server.answered.values())
        monkeypatch.delenv("COURTROOM_DATABASE", raising=False)
        again = Settings(home=tmp_path / "again")
        backup.restore(again, tmp_path / "all.zip")
        restored = Courthouse(again)
        assert restored.files.export(before) == house.files.export(before)
        kept = under_way = 0
        for run in runs:
            then, now = restored.record(run), house.record(run)
            under_way += then.run.status == "running"
            assert now.events[: len(then.events)] == then.events
            for key in (key for call in then.calls for key in call.keys):
                kept += 1
                assert restored.answers.reply(key) == house.answers.reply(key)
        assert kept >= ENOUGH // 2
        assert under_way, "the copy is of the moment at which it began"
        outcomes = [outcome(house, run) for run in runs]
        house.close()
        for run in runs:
            restored.runner.go(run)
        for run in runs:
            restored.runner.wait(run, 60)
        assert [outcome(restored, run) for run in runs] == outcomes
        assert sum(server.answered.values()) - asked <= asked - kept, "what is in the backup is not asked again"
        for run in runs:
            json.loads(restored.files.export(run)[1])
        restored.close()
        assert {one.state for one in examine(again)} == {"fine"}
