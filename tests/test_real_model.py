"""A real language model answers: SmolLM2 (135 million parameters) in llama.cpp, each procedure from case to verdict.

It can't reason. It reads whole prompts, rambles, repeats and fills lists without end, as no script does.
"""

import os
import time
from collections.abc import Iterator
from contextlib import closing, suppress
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
MOST_S = 1800
"""Of one run, on a machine that does much else. On two idle cores the longest takes a minute."""
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
SLOW = ("cyberjurors", "juris")
"""These take 5 and 3 minutes on two cores; all others together take 5."""
ALL = "COURTROOM_REAL_MODEL"


@pytest.fixture(scope="session")
def tallies() -> Iterator[list[Tally]]:
    """Of all runs so far. The model's process ends with the last of them."""
    needs_packages()
    yield []
    LOCAL_SERVERS.close()


@pytest.mark.parametrize("name", CASES)
def test_a_small_model_gets_from_a_case_to_a_verdict(
    name: str,
    tallies: list[Tally],
    tmp_path_factory: pytest.TempPathFactory,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    if name in SLOW and os.environ.get(ALL) != "all":
        pytest.skip(f"it takes minutes: set {ALL}=all")
    unfit: list[str] = []

    def noted(*given: Any) -> Any:
        try:
            return read_answer(*given)
        except CutOff:
            raise
        except InvalidAnswer as error:
            unfit.append(f"{error}: {given[0]}")
            raise

    monkeypatch.setattr(exchange, "read_answer", noted)
    procedure, wanted = PROCEDURES[name], CASES[name]
    with closing(Courthouse(Settings(home=tmp_path_factory.mktemp(name)), alone=True)) as house:
        case = house.library.case(wanted) if wanted else sample(house, procedure.case_kind)
        model = procedure.setup().model.model_copy(update={"id": MODEL})
        run = house.new_run(name, case, procedure.setup.model_validate({**procedure.small, "model": model}), 0)
        began = time.monotonic()
        house.runner.go(run)
        with suppress(TimeoutError):  # the figures are printed in any case, and there is no verdict
            house.runner.wait(run, MOST_S)
        record = house.record(run)
        tallies.append(tally(house, record, time.monotonic() - began))
    with capsys.disabled():
        print(f"\n{tallies[-1].row()}")
    assert record.run.verdict is not None, record.run.reason
    assert not unfit, "an answer did not fit a schema that the model was held to"


def test_nearly_every_answer_is_valid_at_once_and_whole(
    tallies: list[Tally], capsys: pytest.CaptureFixture[str]
) -> None:
    if not tallies:
        pytest.skip("no run to look at: this test comes after the runs")
    total = reduce(add, tallies)
    with capsys.disabled():
        print(f"\n{HEAD}\n{total.row()}\n{total.cut} of {total.replies} replies cut")
    assert total.valid >= 0.9 * total.calls
    assert total.cut <= 0.05 * total.replies
