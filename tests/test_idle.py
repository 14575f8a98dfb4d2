"""Left open, the app does nothing: no page asks again what can't change any more."""

from collections.abc import Iterator

import pytest
from streamlit.runtime.scriptrunner import script_runner
from streamlit.runtime.scriptrunner_utils.script_run_context import ScriptRunContext

from courtroom.courthouse import Courthouse
from courtroom.experiments.what_if import evidence_left_out
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.house import courthouse
from tests import pages
from tests.driving import done, drive


@pytest.fixture(scope="module")
def addresses(tmp_path_factory: pytest.TempPathFactory) -> Iterator[dict[str, dict[str, str]]]:
    """The pages' own courthouse, in which all is finished: every page with what its address holds."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(tmp_path_factory.mktemp("home")))
        house = courthouse()
        yield _finished(house)
        house.close()


def _finished(house: Courthouse) -> dict[str, dict[str, str]]:
    case = house.library.case("oak-table")
    run = drive(house, house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=2, rounds=1), 0))
    fork = house.fork(run, house.record(run).setup)
    drive(house, fork)
    what_if = done(house, house.experiments.what_ifs.experiment(run, evidence_left_out(case)[:2], (0,))).kept.id
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


@pytest.mark.parametrize(
    "page", ["cases", "setup", "deliberation", "knowledge", "what_if", "runs", "compare", "seat", "audience"]
)
def test_no_page_draws_itself_anew_where_all_is_finished(
    page: str, addresses: dict[str, dict[str, str]], monkeypatch: pytest.MonkeyPatch
) -> None:
    timers: list[float] = []
    enqueue = ScriptRunContext.enqueue

    def watched(self: ScriptRunContext, message: object) -> None:
        if message.WhichOneof("type") == "auto_rerun":  # type: ignore[attr-defined]
            timers.append(message.auto_rerun.interval)  # type: ignore[attr-defined]
        enqueue(self, message)  # type: ignore[arg-type]

    monkeypatch.setattr(ScriptRunContext, "enqueue", watched)
    collected: list[object] = []
    monkeypatch.setattr(script_runner.gc, "collect", collected.append)
    alone = page in ("cases", "seat", "audience")
    app = pages.page("", None, **addresses[page]) if alone else pages.opened_at(page, None, **addresses[page])
    assert app.main.children
    assert not timers
    assert not collected, "a look for news on a page that waits must not walk the whole heap"
