"""Real processes and a real server: killed, resumed, faulty."""

import json
import os
import random
import subprocess
import sys
import time
import urllib.request
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from pathlib import Path
from typing import Any

from courtroom import Courthouse, Record, Settings
from courtroom.engine.answers import AnswerStore
from courtroom.media.store import MediaStore
from courtroom.models.wire import to_wire
from courtroom.store.opening import open_store
from tests import forks
from tests.openai_server import OpenAIServer, server_process

SETUP = ("--set", "jury_size=5", "--set", "rounds=2", "--set", "consensus=1.0", "--set", "grounding_rounds=1")


def environment(home: Path, url: str) -> dict[str, str]:
    return {**os.environ, "COURTROOM_HOME": str(home), "OPENAI_API_BASE": url, "OPENAI_API_KEY": "none"}


def shell(home: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "courtroom", *words]
    return subprocess.run(command, env=environment(home, url), capture_output=True, text=True, timeout=120, check=False)


def forked(home: Path, url: str, *words: str) -> subprocess.CompletedProcess[str]:
    """As `shell`, where a new interpreter is not the point."""
    return forks.run(*words, environment=environment(home, url))


def stats(url: str) -> Any:
    with urllib.request.urlopen(url.removesuffix("/v1") + "/stats") as reply:
        return json.load(reply)


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


def test_killed_again_and_again_and_resumed_it_asks_no_recorded_call_again(tmp_path: Path) -> None:
    draw = random.Random(20)
    words = ("run", "phone-battery", "--model", "openai/any", *SETUP, "--json")
    with server_process() as url:
        whole = result(forked(tmp_path / "whole", url, *words))
    total = recorded(tmp_path / "whole")
    home, kills = tmp_path / "killed", 0
    with OpenAIServer(delay=0.02, keep_bodies=True) as server:
        while kills < 6:
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
        done = result(shell(home, server.url, "resume", run, "--json"))
        asked = Counter(map(asked_by, server.bodies[before:]))
    assert kills >= 4
    assert asked == total - known
    assert [done[part] for part in ("status", "verdict", "votes")] == ["done", whole["verdict"], whole["votes"]]


def runs(home: Path) -> list[str]:
    with closing(open_store(Settings(home=home).database)) as database:
        return [row["id"] for row in database.connection.execute("SELECT id FROM runs")]


def test_a_server_that_fails_three_calls_in_ten_still_gets_a_verdict_or_a_plain_statement(tmp_path: Path) -> None:
    def heard(seed: int) -> None:
        with server_process(faults=0.3, seed=seed) as url:
            words = ("--model", "openai/any", "--set", "model.timeout_s=1", "--set", "model.attempts=3")
            done = result(forked(tmp_path / f"{seed}", url, "run", "phone-battery", *words, *SETUP, "--json"))
            faults = stats(url)["faults"]
        assert sum(faults.values()) > 5
        if done["status"] == "failed":
            assert "quorum" in done["reason"]
        else:
            assert done["verdict"] in ("buyer", "seller")
        assert {vote["buyer"] + vote["seller"] + vote["abstained"] for vote in done["votes"]} <= {5}

    with ThreadPoolExecutor() as at_once:
        list(at_once.map(heard, (1, 2)))


def test_a_server_that_always_fails_ends_in_a_plain_statement(tmp_path: Path) -> None:
    with server_process(faults=1.0) as url:
        words = ("--model", "openai/any", "--set", "model.timeout_s=0.3", "--set", "model.attempts=1")
        done = forked(tmp_path, url, "run", "phone-battery", *words, *SETUP, "--json")
    assert (done.returncode, "Traceback" in done.stderr) == (1, False)
    assert "quorum" in result(done)["reason"]


def record_of(home: Path, run: str) -> Record:
    with closing(Courthouse(Settings(home=home))) as house:
        return house.record(run)


def test_a_fork_with_one_persona_changed_asks_one_verdict_anew_and_looks_at_nothing_again(tmp_path: Path) -> None:
    with server_process() as url:
        changes = ("--set", "consensus=1.0", "--set", "rounds=3", "--set", "jury_size=7")
        words = ("run", "oak-table", "--model", "openai/any", *changes, "--json")
        run = result(forked(tmp_path, url, *words))["run"]
        calls = stats(url)["calls"]
        parent = record_of(tmp_path, run)
        assert len(parent.ballots["round-1"]) == 7
        assert parent.setup.model_dump()["examination"] == "own"

        same = result(forked(tmp_path, url, "fork", run, "--json"))
        assert (same["asked"], stats(url)["calls"]) == (0, calls)

        change = ("--set", 'jury.5.traits=["stubborn", "skeptical"]')
        told = json.loads(forked(tmp_path, url, "fork", run, *change, "--estimate", "--json").stdout)
        assert stats(url)["calls"] == calls
        fork = result(forked(tmp_path, url, "fork", run, *change, "--json"))
        assert stats(url)["calls"] - calls == fork["asked"]
        anew = [call for call in record_of(tmp_path, fork["run"]).calls if call.asked]
        assert {"extract", "select", "perceive", "analyse"}.isdisjoint(call.task for call in anew)
        judged = [call.path for call in anew if call.stage == "round-1" and call.task == "judge"]
        assert judged == ["round-1/juror-05/judge"]
        assert told["anew"]["Vote"] >= 1

        late = result(forked(tmp_path, url, "fork", run, "--from", "round 3", *change, "--json"))
        third = [call for call in record_of(tmp_path, late["run"]).calls if call.asked]
        assert {call.stage for call in third} == {"round-3"}
        assert [call.path for call in third if call.task == "judge"] == ["round-3/juror-05/judge"]


def test_interventions_from_a_file_hold_in_the_fork(tmp_path: Path) -> None:
    run = result(forked(tmp_path, "", "run", "oak-table", *SETUP, "--set", "examination=shared", "--json"))["run"]
    actions = tmp_path / "interventions.json"
    verdict = {"verdict": "buyer", "reasoning": ["So decided."]}
    actions.write_text(json.dumps([{"kind": "overrule", "path": "round-1/juror-02/judge", "value": verdict}]))
    fork = result(forked(tmp_path, "", "fork", run, "--intervene", str(actions), "--who", "Ada", "--json"))
    record = record_of(tmp_path, fork["run"])
    assert record.ballots["round-1"]["juror-02"].reasons == ("So decided.",)
    assert [(one.who, one.index) for one in record.interventions] == [("Ada", 2)]
