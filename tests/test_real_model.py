"""A real language model answers, each procedure from case to verdict.

It can't reason. It reads whole prompts, rambles, repeats and fills lists without end, as no script does.
"""

import time
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from contextlib import closing
from typing import Any

import pytest

from courtroom import Courthouse, Record, Settings
from courtroom.models import repair
from courtroom.models.repair import CutOff, InvalidAnswer, read_answer
from courtroom.procedures import PROCEDURES
from courtroom.upkeep.model_check import HEAD, Tally, tally
from tests.real_model import MODEL, needs_packages
from tests.samples import sample

pytestmark = pytest.mark.real_model

AT_ONCE = 3
"""Runs: one more than there are cores, as the calls of some follow one another."""
SEED, SEEDS = 1, {"juris": 3}
"""So that the model says nearly the same each time. With 1 it writes two sentences where JURIS asks for one, three times."""
MOST_S = 3600
"""Of one run, on a machine that does much else, and of one answer."""
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


def new_run(house: Courthouse, name: str) -> str:
    """A run with few members and few rounds."""
    procedure = PROCEDURES[name]
    case = house.library.case(CASES[name]) if CASES[name] else sample(house, procedure.kinds[0])
    given = {"id": MODEL, "timeout_s": MOST_S, "extra": {"seed": SEEDS.get(name, SEED)}}
    model = procedure.setup().model.model_copy(update=given)
    knobs = {**procedure.small, **SHORT.get(name, {}), "model": model}
    return house.new_run(name, case, procedure.setup.model_validate(knobs), 0)


def hear(house: Courthouse, run: str) -> tuple[Record, Tally]:
    """A run to its end, and how its answers were."""
    began = time.monotonic()
    house.runner.go(run)
    house.runner.wait(run, MOST_S)
    record = house.record(run)
    return record, tally(house, record, time.monotonic() - began)


@pytest.fixture(scope="module")
def unfit() -> list[str]:
    """Answers that did not fit a schema that the model was held to."""
    return []


@pytest.fixture(scope="module")
def heard(tmp_path_factory: pytest.TempPathFactory, unfit: list[str]) -> Mapping[str, tuple[Record, Tally]]:
    """All runs."""
    needs_packages()

    def noted(*given: Any) -> Any:
        try:
            return read_answer(*given)
        except InvalidAnswer as error:
            unfit.extend([] if isinstance(error, CutOff) else [f"{error}: {given[0]}"])
            raise

    home = tmp_path_factory.mktemp("home")
    with pytest.MonkeyPatch.context() as patch, closing(Courthouse(Settings(home=home))) as house:
        patch.setattr(repair, "read_answer", noted)
        runs = [new_run(house, name) for name in CASES]
        with ThreadPoolExecutor(AT_ONCE) as pool:
            return dict(zip(CASES, pool.map(lambda run: hear(house, run), runs), strict=True))


@pytest.mark.parametrize("name", CASES)
def test_a_small_model_gets_from_a_case_to_a_verdict(
    name: str, heard: Mapping[str, tuple[Record, Tally]], capsys: pytest.CaptureFixture[str]
) -> None:
    record, told = heard[name]
    with capsys.disabled():
        print(f"\n{told.row()}")
    assert told.verdict, record.run.reason


def test_answers_fit_and_nearly_every_one_is_valid_and_whole(
    heard: Mapping[str, tuple[Record, Tally]], unfit: list[str], capsys: pytest.CaptureFixture[str]
) -> None:
    tallies = [told for _, told in heard.values()]
    names = ("calls", "valid", "replies", "cut")
    calls, valid, replies, cut = (sum(getattr(one, name) for one in tallies) for name in names)
    with capsys.disabled():
        print(f"\n{HEAD}", *(one.row() for one in tallies), f"{cut} of {replies} replies cut", sep="\n")
    assert not unfit
    assert valid >= 0.9 * calls
    assert cut <= 0.05 * replies
