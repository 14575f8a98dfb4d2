"""A real server, and processes that are killed and resumed: what is on record is asked of nobody again."""

import json
import os
import random
import subprocess
import time
from collections import Counter
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Record, Settings
from courtroom.engine.answers import AnswerStore
from courtroom.media.store import MediaStore
from courtroom.models.wire import to_wire
from courtroom.store.opening import open_store
from tests import forks
from tests.driving import hearing, shell
from tests.furnished import copied
from tests.openai_server import OpenAIServer

SMALL = {"rounds": 2, "consensus": 1.0, "grounding_rounds": 1}
SETUP = [f"--set={knob}={value}" for knob, value in {**SMALL, "jury_size": 3}.items()]


def environment(home: Path, url: str) -> dict[str, str]:
    return {**os.environ, "COURTROOM_HOME": str(home), "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none"}


def result(done: subprocess.CompletedProcess[str]) -> Any:
    assert done.stdout, done.stderr
    return json.loads(done.stdout)


def asked_by(body: dict[str, Any]) -> str:
    return json.dumps(body["messages"], sort_keys=True)


def recorded(home: Path) -> Counter[str]:
    """How many answers are on record to each question, as the server sees questions."""
    with closing(open_store(Settings(home=home).database)) as database:
        answers, media = AnswerStore(database), MediaStore(home / "media")
        keys = [row["key"] for row in database.connection.execute("SELECT key FROM answers")]
        return Counter(json.dumps(to_wire(answers.request(key), media), sort_keys=True) for key in keys)


def told(*words: str, code: int = 0) -> Any:
    """What the command says, in this process."""
    return json.loads(shell(*words, "--json", code=code))


def test_killed_again_and_again_it_asks_no_recorded_call_again(tmp_path: Path) -> None:
    draw = random.Random(20)
    words = ("run", "phone-battery", "--model", "openai/any", *SETUP, "--json")
    home, kills = copied(tmp_path / "killed"), 0
    with OpenAIServer(delay=0.02, keep_bodies=True) as server:
        whole = result(forks.run(*words, environment=environment(copied(tmp_path / "whole"), server.url)))
        total = recorded(tmp_path / "whole")
        while kills < 4:
            rows = runs(home)
            command = ("resume", rows[0], "--json") if rows else words
            known, before = recorded(home), len(server.bodies)
            wanted = before + draw.randrange(1, 4)
            with forks.Fork(forks.shell, *command, environment=environment(home, server.url)) as process:
                while len(server.bodies) < wanted and process.returncode is None:
                    time.sleep(draw.uniform(0.001, 0.02))  # a condition is waited for; the draw only varies the moment
                process.kill()
            asked = Counter(map(asked_by, server.bodies[before:]))
            assert all(asked[question] <= total[question] - known[question] for question in asked)
            if process.returncode == 0:
                break
            kills += 1
        (run,) = runs(home)
        known, before = recorded(home), len(server.bodies)
        done = result(forks.run("resume", run, "--json", environment=environment(home, server.url)))
        asked = Counter(map(asked_by, server.bodies[before:]))
    assert kills >= 3
    assert asked == total - known
    assert [done[part] for part in ("status", "verdict", "votes")] == ["done", whole["verdict"], whole["votes"]]


def runs(home: Path) -> list[str]:
    with closing(open_store(Settings(home=home).database)) as database:
        return [row["id"] for row in database.connection.execute("SELECT id FROM runs")]


@pytest.mark.usefixtures("no_pause")
def test_with_faults_a_verdict_or_a_plain_statement_comes(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with OpenAIServer(faults=0.3, seed=1, known_to=monkeypatch) as server:
        model = {"id": "openai/any", "timeout_s": 1, "attempts": 3}
        record = hearing(house, "cyberjurors", "phone-battery", model=model, jury_size=5, **SMALL)
    assert server.faulted.total() > 5
    if record.run.status == "failed":
        assert "quorum" in record.run.reason
    else:
        assert record.run.verdict.outcome in ("buyer", "seller")
    assert {len(votes) for votes in record.ballots.values()} <= {5}


def record_of(home: Path, run: str) -> Record:
    with closing(Courthouse(Settings(home=home))) as house:
        return house.record(run)


def test_a_fork_with_one_persona_changed_asks_one_verdict_anew(house: Courthouse, server: OpenAIServer) -> None:
    knobs = ("consensus=1.0", "rounds=3", "jury_size=5")
    run = told("run", "oak-table", "--model", "openai/any", *(f"--set={knob}" for knob in knobs))["run"]
    calls = server.calls
    assert (told("fork", run)["asked"], server.calls) == (0, calls)

    change = ("--set", 'jury.5.traits=["stubborn", "skeptical"]')
    assert told("fork", run, *change, "--estimate")["anew"]["Vote"] >= 1
    assert server.calls == calls
    fork = told("fork", run, *change)
    assert server.calls - calls == fork["asked"]
    anew = [call for call in house.record(fork["run"]).calls if call.asked]
    assert {"extract", "select", "perceive", "analyse"}.isdisjoint(call.task for call in anew)
    judged = [call.path for call in anew if call.stage == "round-1" and call.task == "judge"]
    assert judged == ["round-1/juror-05/judge"]

    late = told("fork", run, "--from", "round 3", *change)
    third = [call for call in house.record(late["run"]).calls if call.asked]
    assert {call.stage for call in third} == {"round-3"}
    assert [call.path for call in third if call.task == "judge"] == ["round-3/juror-05/judge"]


def test_interventions_from_a_file_hold_in_the_fork(house: Courthouse, tmp_path: Path) -> None:
    run = told("run", "oak-table", *SETUP, "--set", "examination=shared")["run"]
    actions = tmp_path / "interventions.json"
    verdict = {"verdict": "buyer", "reasoning": ["So decided."]}
    actions.write_text(json.dumps([{"kind": "overrule", "path": "round-1/juror-02/judge", "value": verdict}]), "utf-16")
    record = house.record(told("fork", run, "--intervene", str(actions), "--who", "Ada")["run"])
    assert record.ballots["round-1"]["juror-02"].reasons == ("So decided.",)
    assert [(one.who, one.index) for one in record.interventions] == [("Ada", 2)]
