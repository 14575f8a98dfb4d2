"""A store that can't be reached for a while: runs wait, go on by themselves, and ask nothing twice."""

from collections import Counter
from collections.abc import Callable, Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from courtroom.engine import active_run
from courtroom.engine.answers import AnswerStore
from courtroom.engine.ledger import RunLedger
from courtroom.engine.store import RunStore
from courtroom.store.connection import ServerError, passing
from tests.toy import Bench, Scripted, side_by_member

AWAY = ServerError("connection failed", gone=True)
OUTAGES = {"away": AWAY, "no connection free": ServerError("too many connections", "53300")}
OUTAGES |= {code: ServerError("canceled", code) for code in ("57014", "40001", "40P01", "53200", "25P03")}


@pytest.fixture
def bench(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Bench]:
    monkeypatch.setattr(active_run, "PROBE_S", 0.01)
    with closing(Bench(tmp_path / "home", Scripted(side_by_member))) as bench:
        yield bench


def failing(method: Callable[..., Any], error: Exception, times: Counter[str], after: int) -> Callable[..., Any]:
    """The method, which fails three times after so many calls."""

    def call(*given: Any, **options: Any) -> Any:
        times["calls"] += 1
        if after < times["calls"] <= after + 3:
            times["failed"] += 1
            raise error
        return method(*given, **options)

    return call


PLACES = {"lock": (RunLedger, "check", 1), "record": (RunStore, "events", 0), "answer": (AnswerStore, "reply", 1)}


@pytest.mark.parametrize("place", PLACES)
def test_a_run_waits_while_the_store_is_away(place: str, bench: Bench, monkeypatch: pytest.MonkeyPatch) -> None:
    (owner, name, after), times = PLACES[place], Counter[str]()
    run = bench.start()
    monkeypatch.setattr(owner, name, failing(getattr(owner, name), AWAY, times, after))
    bench.runner.go(run)
    bench.runner.wait(run, 30)
    record = bench.runner.record(run)
    assert (record.run.status, record.run.reason) == ("done", "")
    assert times["failed"] == 3
    asked = Counter(call.path for call in record.calls)
    assert set(asked.values()) == {1}
    assert len(bench.model.history) == len(record.calls)


@pytest.mark.parametrize("error", OUTAGES.values(), ids=OUTAGES)
def test_a_passing_failure_of_a_server_is_known_as_one(error: ServerError) -> None:
    assert passing(error).endswith("the run goes on by itself.")
