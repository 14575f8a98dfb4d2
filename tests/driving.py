"""Runs and experiments, driven until they settle."""

import time
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Any, Literal

import pytest
from typer.testing import CliRunner

from courtroom import Case, Courthouse, Record, Settings
from courtroom.__main__ import app
from courtroom.engine.answers import Asker
from courtroom.engine.run import Control
from courtroom.experiments.results import ExperimentResults
from courtroom.experiments.spec import Experiment
from courtroom.knowledge.lessons import Lessons
from courtroom.models.request import Model


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """One courthouse for all tests of a file that imports this; commands that they run have the same store."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(home := tmp_path_factory.mktemp("home")))
        house = Courthouse(Settings(home=home))
        yield house
        house.close()


def drive(house: Courthouse, run: str, control: Control | None = None) -> str:
    """Drive a run until it settles; its id."""
    house.runner.go(run, control)
    house.runner.wait(run)
    return run


def prepared(house: Courthouse, procedure: str, case: Case | str = "oak-table", seed: int = 0, **knobs: Any) -> str:
    """A run with these settings, of a case or of a sample by its name, which nobody drives yet; its id."""
    given = house.library.case(case) if isinstance(case, str) else case
    return house.new_run(procedure, given, house.procedures[procedure].setup.model_validate(knobs), seed)


def hearing(
    house: Courthouse,
    procedure: str,
    case: Case | str = "oak-table",
    seed: int = 0,
    control: Control | None = None,
    **knobs: Any,
) -> Record:
    """A run that has gone as far as it goes."""
    return house.record(drive(house, prepared(house, procedure, case, seed, **knobs), control))


def whole_hearing(
    house: Courthouse, procedure: str, case: Case | str = "oak-table", seed: int = 0, **knobs: Any
) -> Record:
    """A run that has come to its end."""
    return finished(house, prepared(house, procedure, case, seed, **knobs))


def finished(house: Courthouse, run: str) -> Record:
    """A run, driven to its end."""
    record = house.record(drive(house, run))
    assert record.run.status == "done", record.run.reason
    return record


def answered_by(house: Courthouse, model: Model) -> Courthouse:
    """Have a model of the test's own answer from now on, whichever is asked."""
    house.runner.asker = Asker(house.answers, model, house.writer)
    return house


def replayed(lessons: Lessons) -> dict[tuple[str, str], dict[str, Any]]:
    """Records by collection and id that lessons alone give: what was put in by hand or bundled is not among it."""
    changes = [change for taught in lessons.all() if taught.undone is None for change in taught.changes]
    last = {(change.collection, change.id): change.after for change in changes}
    return {key: after for key, after in last.items() if after is not None}


def arms_of(settings: Mapping[str, Mapping[str, Any]], procedure: str = "courtroom-llm", **given: Any) -> list[Any]:
    """An experiment's arms, each with its name and what it sets."""
    return [{"name": name, "procedure": procedure, "set": knobs, **given} for name, knobs in settings.items()]


def done(house: Courthouse, experiment: Experiment) -> ExperimentResults:
    """Drive an experiment until it settles; what came of it."""
    name = house.experiments.begin(experiment)
    house.experiments.go(name)
    house.experiments.wait(name, 300)
    return house.experiments.results(name)


def shell(*words: str, code: int = 0) -> str:
    """Run `courtroom` in this process; its standard output.

    Raises:
        CourtroomError: the command is refused.
    """
    ran = CliRunner().invoke(app, list(words))
    if ran.exception and not isinstance(ran.exception, SystemExit):
        raise ran.exception
    assert ran.exit_code == code, ran.output
    return ran.stdout


def drivers(house: Courthouse, kind: Literal["run", "experiment"] = "run") -> Counter[int]:
    """The processes that drive runs, or experiments, of a store, each with how many."""
    if house.database.is_shared:
        key = f"hashtextextended('{kind} ' || {kind}s.id, 0)"
        rows = house.database.execute(
            f"SELECT application_name FROM {kind}s JOIN pg_locks ON (classid::bigint << 32) | objid::bigint = {key}"
            " JOIN pg_stat_activity USING (pid) WHERE locktype = 'advisory' AND datname = current_database()"
        )
        return Counter(int(row["application_name"].split()[1]) for row in rows)
    ids = [row["id"] for row in house.database.execute(f"SELECT id FROM {kind}s")]
    locks = {house.database.lock(f"{kind} {one}").path for one in ids}
    found: Counter[int] = Counter()
    for file in Path("/proc").glob("[0-9]*/fd/*"):
        with suppress(OSError):
            found[int(file.parts[2])] += file.readlink() in locks
    return +found


def until(found: Callable[[], object], what: str) -> None:
    """Wait for something to be so."""
    deadline = time.monotonic() + 300
    while not found():
        assert time.monotonic() < deadline, f"waited for {what}"
        time.sleep(0.01)
