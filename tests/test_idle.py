"""Left open, the app does nothing: no page asks again what can't change any more."""

import pytest
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import evidence_left_out
from tests.driving import done, drive
from tests.pages import heard, house, opened_at, page

__all__ = ["house"]  # a fixture


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
