"""Disputes that no tuning reads: in both languages, with votes that are said to be invented. `test_figures` measures on them."""

import pytest

from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.benchmarks.fit_votes import training
from tests.benchmarks.measure_votes import held_out


def test_held_out_disputes_are_in_both_languages_with_invented_votes() -> None:
    cases = held_out()
    assert [case.language for case in cases] == ["en"] * 6 + ["zh"] * 6
    assert all(case.fictional and case.votes_title == "Invented votes" for case in (*cases, *training()))


def test_no_held_out_dispute_is_among_those_that_tuning_reads(tmp_path_factory: pytest.TempPathFactory) -> None:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("held-out")))
    known = {house.library.case(listed.id).title for listed in house.library.cases()} | {
        case.title for case in training()
    }
    house.close()
    assert not known & {case.title for case in held_out()}
