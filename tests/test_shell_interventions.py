"""Forks from the shell, counted at a real server: what is not touched is not asked again."""

import json
from pathlib import Path

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.settings import Settings
from tests.openai_server import server_process
from tests.test_resilience import forked as shell
from tests.test_resilience import result, stats


def recorded(home: Path, run: str) -> Record:
    house = Courthouse(Settings(home=home))
    record = house.record(run)
    house.close()
    return record


def test_a_fork_with_one_persona_changed_asks_one_verdict_anew_in_round_one_and_looks_at_nothing_again(
    tmp_path: Path,
) -> None:
    with server_process() as url:
        words = ("--model", "openai/any", "--set", "consensus=1.0", "--set", "rounds=3", "--json")
        run = result(shell(tmp_path, url, "run", "oak-table", *words))["run"]
        calls = stats(url)["calls"]
        parent = recorded(tmp_path, run)
        assert len(parent.ballots["round-1"]) == 17
        assert parent.setup.model_dump()["examination"] == "own"

        same = result(shell(tmp_path, url, "fork", run, "--json"))
        assert (same["asked"], stats(url)["calls"]) == (0, calls)

        change = ("--set", 'jury.5.traits=["stubborn", "skeptical"]')
        told = json.loads(shell(tmp_path, url, "fork", run, *change, "--estimate", "--json").stdout)
        assert stats(url)["calls"] == calls
        fork = result(shell(tmp_path, url, "fork", run, *change, "--json"))
        assert stats(url)["calls"] - calls == fork["asked"]
        anew = [call for call in recorded(tmp_path, fork["run"]).calls if call.asked]
        assert not [call for call in anew if call.task in ("extract", "select", "perceive", "analyse")]
        assert [call.path for call in anew if call.stage == "round-1" and call.task == "judge"] == [
            "round-1/juror-05/judge"
        ]
        assert told["anew"]["Verdict"] >= 1

        late = result(shell(tmp_path, url, "fork", run, "--from", "round 3", *change, "--json"))
        third = [call for call in recorded(tmp_path, late["run"]).calls if call.asked]
        assert {call.stage for call in third} == {"round-3"}
        assert [call.path for call in third if call.task == "judge"] == ["round-3/juror-05/judge"]


def test_interventions_from_a_file_hold_in_the_fork_and_a_wrong_one_is_told_in_words(tmp_path: Path) -> None:
    settings = ("--set", "jury_size=5", "--set", "rounds=2", "--set", "consensus=1.0", "--set", "examination=shared")
    done = shell(tmp_path, "http://localhost:9", "run", "oak-table", *settings, "--json")
    run = result(done)["run"]
    actions = tmp_path / "interventions.json"
    verdict = {"verdict": "buyer", "reasoning": ["So decided."]}
    actions.write_text(json.dumps([{"kind": "overrule", "path": "round-1/juror-02/judge", "value": verdict}]))
    fork = result(shell(tmp_path, "", "fork", run, "--intervene", str(actions), "--who", "Ada", "--json"))
    record = recorded(tmp_path, fork["run"])
    assert record.ballots["round-1"]["juror-02"].reasons == ("So decided.",)
    assert [(one.who, one.index) for one in record.interventions] == [("Ada", 2)]
