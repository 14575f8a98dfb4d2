"""Who looks on costs next to nothing: a run is read once for all who do."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom.access import Access, Account, acts
from courtroom.courthouse import LatestRecords
from courtroom.engine.errors import NoSuchRun
from tests.pages import house
from tests.toy import Bench

__all__ = ["house"]  # a fixture

LONG_S = 3600.0


@pytest.fixture
def bench(tmp_path: Path) -> Iterator[Bench]:
    bench = Bench(tmp_path / "home")
    yield bench
    bench.close()


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
