"""Who looks on costs next to nothing: a run is read once for all who do, and no page asks again what can't change any more."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from courtroom.access import Access, Account, acts
from courtroom.courthouse import Courthouse, LatestRecords
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Noted
from courtroom.engine.record import Record
from courtroom.experiments.what_if import evidence_left_out
from tests.driving import done, drive
from tests.pages import heard, house, opened_at, page
from tests.toy import Bench

__all__ = ["house"]  # a fixture

LONG_S = 3600.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    bench.close()


def test_a_run_is_read_once_for_all_who_look(bench: Bench) -> None:
    run = bench.hear().run.id
    many, read = 20, list[str]()
    together = threading.Barrier(many)

    def record(of: str) -> Record:
        read.append(of)
        return bench.runner.record(of)

    latest = LatestRecords(record, bench.store)

    def look(_: int) -> Record:
        together.wait()
        return latest.of(run)

    with ThreadPoolExecutor(many) as sessions:
        first, *others = sessions.map(look, range(many))
        assert len(read) == 1
        assert all(one is first for one in others)
        bench.store.add(run, [Noted(path="note", stage="", text="Mind the leg.")])
        second, *others = sessions.map(look, range(many))
    assert len(read) == 2
    assert all(one is second for one in others)
    assert second.notes == (*first.notes, "Mind the leg.")


def test_what_one_has_read_is_kept_from_strangers(bench: Bench) -> None:
    ada, ben = (Account(id=name, name=name, access=Access.RUN) for name in ("ada", "ben"))
    latest = LatestRecords(bench.runner.record, bench.store)
    with acts(ada):
        run = bench.start()
        assert latest.of(run, LONG_S).run.id == run
    with acts(ben), pytest.raises(NoSuchRun):
        latest.of(run, LONG_S)
    record = latest.of(bench.hear().run.id)
    budget = record.setup.budget.model_copy(update={"calls": 99})
    bench.store.replace_setup(record.run.id, record.setup.model_copy(update={"budget": budget}))
    assert latest.of(record.run.id).setup.budget.calls == 99


def finished(house: Courthouse) -> dict[str, dict[str, str]]:
    """Every page with what its address holds; nothing in the store goes on."""
    run = heard(house, jury_size=2, rounds=1)
    record = house.record(run)
    fork = drive(house, house.fork(run, record.setup))
    variants = evidence_left_out(record.case)[:2]
    what_if = done(house, house.experiments.what_ifs.experiment(run, variants, (0,))).kept.id
    seat = house.people.seat(run, "juror-01").token
    audience = house.audiences.open(run, 0).token
    house.audiences.close(run)
    return {
        "cases": {},
        "setup": {"fork": run},
        "deliberation": {"run": run},
        "knowledge": {},
        "what_if": {"experiment": what_if},
        "runs": {},
        "compare": {"runs": f"{run},{fork}"},
        "seat": {"seat": seat},
        "audience": {"audience": audience},
    }


def test_no_page_draws_itself_anew_where_all_is_finished(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    timers: list[float] = []
    enqueue = ScriptRunContext.enqueue

    def watched(self: ScriptRunContext, message: object) -> None:
        if message.WhichOneof("type") == "auto_rerun":  # type: ignore[attr-defined]
            timers.append(message.auto_rerun.interval)  # type: ignore[attr-defined]
        enqueue(self, message)  # type: ignore[arg-type]

    addresses = finished(house)
    collected: list[object] = []
    monkeypatch.setattr(ScriptRunContext, "enqueue", watched)
    monkeypatch.setattr(script_runner.gc, "collect", collected.append)
    for name, query in addresses.items():
        alone = name in ("cases", "seat", "audience")
        app = page(**query) if alone else opened_at(name, **query)
        assert app.main.children, name
        assert not timers, name
        assert not collected, f"{name}: a look for news on a page that waits must not walk the whole heap"
