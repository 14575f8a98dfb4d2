"""A real language model answers, each procedure from case to verdict.

It can't reason. It reads whole prompts, rambles, repeats and fills lists without end, as no script does.
"""

from collections.abc import Mapping

import pytest

from courtroom.upkeep.model_check import HEAD
from tests.real_model import CASES, Heard, folder_of, needs_packages, results

pytestmark = pytest.mark.real_model


@pytest.fixture(scope="module")
def heard(request: pytest.FixtureRequest) -> Mapping[str, Heard]:
    """All runs that began with the session, once they have ended."""
    needs_packages()
    return results(folder_of(request.config))


@pytest.mark.parametrize("name", CASES)
def test_a_small_model_gets_from_a_case_to_a_verdict(
    name: str, heard: Mapping[str, Heard], request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    assert name in heard, (folder_of(request.config) / "log").read_text()
    with capsys.disabled():
        print(f"\n{heard[name].tally.row()}")
    assert heard[name].tally.verdict, heard[name].reason
    assert not heard[name].unfit, "an answer did not fit a schema that the model was held to"


def test_nearly_every_answer_is_valid_and_whole(heard: Mapping[str, Heard], capsys: pytest.CaptureFixture[str]) -> None:
    tallies = [one.tally for one in heard.values()]
    names = ("calls", "valid", "replies", "cut")
    calls, valid, replies, cut = (sum(getattr(one, name) for one in tallies) for name in names)
    with capsys.disabled():
        print(f"\n{HEAD}", *(one.row() for one in tallies), f"{cut} of {replies} replies cut", sep="\n")
    assert valid >= 0.9 * calls
    assert cut <= 0.05 * replies
