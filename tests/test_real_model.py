"""A real language model answers: SmolLM2 (135 million parameters) in llama.cpp, each procedure from case to verdict.

It can't reason. It reads whole prompts, rambles, repeats and fills lists without end, as no script does.
"""

import time
from collections.abc import Iterator
from contextlib import closing, suppress
from dataclasses import dataclass
from functools import reduce
from operator import add
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine import exchange
from courtroom.models.local import LOCAL_SERVERS
from courtroom.models.repair import CutOff, InvalidAnswer, read_answer
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from courtroom.upkeep.model_check import HEAD, Tally, tally
from tests.real_model import MODEL, needs_packages
from tests.samples import sample

pytestmark = [pytest.mark.real_model, pytest.mark.xdist_group("real_model")]
MOST_S = 3600
"""Of all runs together, on a machine that does much else. On two idle cores they took four to seven minutes."""
CASES = {
    "debate": "phone-battery",
    "discussion": "phone-battery",
    "cyberjurors": "phone-battery",
    "juris": "news-harbour-footbridge",
    "jurisagents": "criminal-workshop-burglary",
    "verdict": "criminal-workshop-burglary",
    "courtroom-llm": "message-feeling",
    "distillation": "",
    "alignment": "",
}
"""Each procedure with a case, which has pictures where its kind can; without a name, a case that is made here."""
UNFIT: list[str] = []
"""Answers that did not fit a schema that the model was held to."""


@dataclass(frozen=True)
class Hearings:
    """One run of each procedure that is tested; all go on at once, so that no core waits."""

    house: Courthouse
    runs: dict[str, str]
    began: float
    tallies: list[Tally]
    """Of the runs that have ended."""


@pytest.fixture(scope="session")
def hearings(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Hearings]:
    """The model's processes end with the last run."""
    needs_packages()

    def noted(*given: Any) -> Any:
        try:
            return read_answer(*given)
        except CutOff:
            raise
        except InvalidAnswer as error:
            UNFIT.append(f"{error}: {given[0]}")
            raise

    chosen = {item.callspec.params.get("name") for item in request.session.items if hasattr(item, "callspec")}
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(exchange, "read_answer", noted)
        with closing(Courthouse(Settings(home=tmp_path_factory.mktemp("hearings")), alone=True)) as house:
            runs = {name: new_run(house, name) for name in CASES if name in chosen}
            began = time.monotonic()
            for run in runs.values():
                house.runner.go(run)
            yield Hearings(house, runs, began, [])
    LOCAL_SERVERS.close()


def new_run(house: Courthouse, name: str) -> str:
    procedure, wanted = PROCEDURES[name], CASES[name]
    case = house.library.case(wanted) if wanted else sample(house, procedure.case_kind)
    model = procedure.setup().model.model_copy(update={"id": MODEL})
    return house.new_run(name, case, procedure.setup.model_validate({**procedure.small, "model": model}), 0)


@pytest.mark.parametrize("name", CASES)
def test_a_small_model_gets_from_a_case_to_a_verdict(
    name: str, hearings: Hearings, capsys: pytest.CaptureFixture[str]
) -> None:
    house, run = hearings.house, hearings.runs[name]
    with suppress(TimeoutError):  # the figures are printed in any case, and there is no verdict
        house.runner.wait(run, MOST_S)
    record = house.record(run)
    hearings.tallies.append(tally(house, record, time.monotonic() - hearings.began))
    with capsys.disabled():
        print(f"\n{hearings.tallies[-1].row()}")
    assert record.run.verdict is not None, record.run.reason
    assert not UNFIT, "an answer did not fit a schema that the model was held to"


def test_nearly_every_answer_is_valid_at_once_and_whole(hearings: Hearings, capsys: pytest.CaptureFixture[str]) -> None:
    if not hearings.tallies:
        pytest.skip("no run to look at: this test comes after the runs")
    total = reduce(add, hearings.tallies)
    with capsys.disabled():
        print(f"\n{HEAD}\n{total.row()}\n{total.cut} of {total.replies} replies cut")
    assert total.valid >= 0.9 * total.calls
    assert total.cut <= 0.05 * total.replies
