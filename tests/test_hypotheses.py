"""Hypotheses that are locked before the first answer, what the results say of each, and matched controls of a panel."""

import json

import pytest

from courtroom import Courthouse, CourtroomError
from courtroom.datasets.samples import add_sample
from courtroom.evaluation import significance
from courtroom.evaluation.intervals import Interval
from courtroom.experiments.hypotheses import Hypothesis, Preregistration, findings
from courtroom.experiments.measures import measures_of
from courtroom.experiments.spec import TITLES, adapted, parsed
from courtroom.experiments.table import ALL, Pair
from tests.driving import done
from tests.test_experiments import BETTER, spec, texts


@pytest.fixture
def house(house: Courthouse) -> Courthouse:
    house.datasets.add("feelings", texts())
    return house


def test_a_lock_stands_before_the_first_answer(house: Courthouse) -> None:
    experiment = spec(hypotheses=[BETTER])
    lock = house.experiments.lock(experiment)
    assert lock == house.experiments.lock(experiment), "the same lock is made once"
    kept = house.experiments.store.experiment("feelings").experiment
    assert (lock.specification, lock.dataset) == (kept.digest, kept.dataset.version)
    (found,) = done(house, experiment).findings
    assert found.hypothesis == experiment.hypotheses[0]
    assert found.state in ("held", "not shown", "refuted")
    assert house.experiments.store.experiment("feelings").experiment.lock == lock, "going on keeps the lock"
    assert json.loads(json.dumps(house.experiments.results("feelings").as_data(), default=str))["hypotheses"]


def test_what_comes_after_the_lock_is_marked(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = spec(hypotheses=[BETTER])
    house.experiments.lock(experiment)
    other = {**BETTER, "direction": "lower"}
    with pytest.raises(CourtroomError, match="can't be changed any more"):
        house.experiments.lock(spec(hypotheses=[other]))
    states = [one.state for one in done(house, spec(hypotheses=[BETTER, other])).findings]
    assert states[1] == "changed after the lock"
    monkeypatch.setattr("courtroom.experiments.service.prompts_hash", lambda *given: "other prompts")
    (first, _) = house.experiments.results("feelings").findings
    assert (first.state, first.reason) == ("changed after the lock", "The prompts changed after it.")


def test_results_cannot_be_locked_afterwards(house: Courthouse) -> None:
    done(house, spec())
    with pytest.raises(CourtroomError, match="has results already"):
        house.experiments.lock(spec(hypotheses=[BETTER]))
    with pytest.raises(CourtroomError, match="no hypothesis"):
        house.experiments.lock(spec())
    with pytest.raises(CourtroomError, match="no arm: nobody"):
        spec(hypotheses=[{**BETTER, "than": "nobody"}])


@pytest.mark.parametrize(
    ("given", "gap", "ends", "p", "cases", "state"),
    [
        ({}, 0.3, (0.1, 0.5), 0.01, 60, "held"),
        ({}, 0.3, (-0.1, 0.5), 0.2, 60, "not shown"),
        ({}, -0.3, (-0.5, -0.1), 0.01, 60, "refuted"),
        ({"direction": "different"}, -0.3, (-0.5, -0.1), 0.01, 60, "held"),
        ({"least": 0.2}, 0.3, (0.1, 0.5), 0.01, 60, "not shown"),
        ({"least": 0.2}, 0.05, (-0.02, 0.12), 0.3, 60, "refuted"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_hypothesis_is_held_not_shown_or_refuted(
    given: dict[str, object], gap: float, ends: tuple[float, float], p: float, cases: int, state: str, turned: bool
) -> None:
    one = Hypothesis.model_validate({**BETTER, "cases": 60, **given})
    experiment = spec(hypotheses=[one.model_dump()])
    names, sign = (("one judge", "three judges"), -1) if turned else (("three judges", "one judge"), 1)
    low, high = sorted(sign * end for end in ends)
    pair = Pair(
        measures_of("labelled")["accuracy"], ALL, *names, 0.0, 0.0, Interval(sign * gap, low, high),
        significance.Tested("McNemar", 0.0, p, cases), p, cases, 1,
    )  # fmt: skip
    given = {"at": "2026-01-01T00:00:00Z", "dataset": "", "prompts": "p", "hypotheses": experiment.hypotheses}
    lock = Preregistration.model_validate({**given, "specification": experiment.digest})
    (found,) = findings(lock, experiment.hypotheses, [pair], experiment.digest, "p")
    assert found.state == state


def test_a_panel_has_its_controls_and_the_samples_take_as_many_tokens(house: Courthouse) -> None:
    add_sample(house.datasets, house.library, "sample-trials")
    arms = [{"name": "panel", "procedure": "mock-jury", "set": {"jury_size": 6, "rounds": 2, "first_votes": 3}}]
    panel = parsed({"name": "x", "dataset": {"name": "sample-trials", "limit": 2}, "arms": arms}, "x")
    whole = house.experiments.with_controls(panel)
    assert [arm.name for arm in whole.arms[1:]] == [f"panel: {title}" for title in TITLES.values()]
    values = {"model.vision": "no", "first_votes": None}
    tokens = {}
    for arm in whole.arms[:3]:
        counted = adapted(whole, arms=[arm.name], model="counted", values=values)
        tokens[arm.name] = house.experiments.estimate(counted).tokens
    assert tokens["panel: one model, as many tokens"] == pytest.approx(tokens["panel"], rel=0.3)
    assert tokens["panel: without talk"] <= tokens["panel"]
    with pytest.raises(CourtroomError, match="no arm with a panel"):
        house.experiments.with_controls(whole, ["nobody"])
