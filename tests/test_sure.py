"""How sure is a verdict, and would it come out today: the sequential test by hand, repeats, and recorded calls that are asked again."""

import json
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest
from aiohttp import web

from courtroom import Courthouse, CourtroomError
from courtroom.evaluation.significance import Series, series
from tests.driving import arms_of, done, shell
from tests.openai_server import Answer, OpenAIServer, answer_for, envelope
from tests.pages import benched
from tests.test_experiments import JUDGES, spec, texts

PRICED = "openai/gpt-4o-mini"


def heard(house: Courthouse, model: str = "offline") -> str:
    spec = {"id": model, "vision": "no", "attempts": 1}
    return benched(house, "cyberjurors", "oak-table", variant="baseline", model=spec, reasks=0)


def wavers(*votes: str | Callable[[], web.Response]) -> Answer:
    """A server's answers: the first vote, then each further one, in their order; a web response is given as it is."""
    left = chain(votes, repeat(votes[-1]))

    def answer(body: dict[str, Any]) -> str | web.Response:
        vote = next(left)
        return vote() if callable(vote) else json.dumps({**json.loads(answer_for(body, "the same")), "verdict": vote})

    return answer


@pytest.mark.parametrize(
    ("same", "found"),
    [
        ([True] * 17, Series(same=17, of=17, state="open")),
        ([True] * 40, Series(same=18, of=18, state="shown")),  # ln 19 / ln (0.95 / 0.8) = 17.1
        ([False] * 2, Series(same=0, of=2, state="open")),
        ([False] * 9, Series(same=0, of=3, state="refuted")),  # ln 19 / ln (0.2 / 0.05) = 2.1
        ([False] + [True] * 40, Series(same=26, of=27, state="shown")),  # (ln 19 + ln 4) / ln (0.95 / 0.8) = 25.2
        ([], Series()),
    ],
)
def test_the_sequential_test_by_hand(same: list[bool], found: Series) -> None:
    assert series(same) == found


def test_no_repeat_is_made_twice(house: Courthouse) -> None:
    run = heard(house)
    assert house.experiments.repeats.found(run) is None
    found = house.experiments.repeats.go(run)
    assert (found.found.state, found.found.of, found.reason) == ("shown", 18, "")
    assert found.outcomes == {found.outcome: 18}
    records = [house.record(one) for one in found.repeats]
    assert {(record.run.status, record.run.parent, record.run.origin) for record in records} == {("done", run, "fork")}
    assert sorted(record.run.seed for record in records) == list(range(1, 19))
    runs = len([*house.store.each()])
    assert house.experiments.repeats.go(run) == found
    assert shell("experiment", "certainty", run).startswith(
        "How sure is this verdict? It is shown at 95 % that at least 84.7 % of repeats come to the same outcome: 18 of "
        "18 repeats with other seeds came to the same outcome (Wald's sequential test of 95 % or more"
    )
    told = json.loads(shell("experiment", "certainty", run, "--json"))
    assert told["found"] == {"same": 18, "of": 18, "state": "shown"}
    assert told["sentence"] == found.sentence == house.experiments.repeats.sentence(run)
    assert len([*house.store.each()]) == runs
    assert house.experiments.repeats.found(run) == found
    with pytest.raises(CourtroomError):
        shell("experiment", "certainty", run, "--budget", "0")


def test_a_server_that_wavers_refutes_it_soon(house: Courthouse, server: OpenAIServer) -> None:
    server.answer = wavers("buyer", "seller", "buyer", "seller", "seller", "buyer")
    found = house.experiments.repeats.go(heard(house, PRICED))
    assert (found.found.state, found.found.same, found.found.of) == ("refuted", 1, 4)
    assert found.outcomes == {"seller": 3, "buyer": 1}
    assert server.calls == 5, "the run, three repeats at once, and one more"
    assert "at most 75.1 % of repeats come to the same outcome: 1 of 4 repeats with other seeds" in found.sentence


def test_a_budget_ends_it_and_a_larger_one_goes_on(house: Courthouse, server: OpenAIServer) -> None:
    server.answer = wavers("buyer")
    run = heard(house, PRICED)
    each = house.record(run).cost
    found = house.experiments.repeats.go(run, budget=5 * each)
    assert found.found.state == "open"
    assert 1 <= found.found.of < 18
    assert "has no room for another repeat" in found.reason
    assert sum(house.record(one).cost or 0 for one in found.repeats) <= 5 * each
    server.answer = wavers(lambda: web.Response(status=401))
    assert json.loads(shell("experiment", "certainty", run, "--json", code=1))["failed"]
    server.answer = wavers("buyer")
    asked = server.calls
    further = house.experiments.repeats.go(run, budget=1000 * each)
    assert (further.found.state, further.found.of) == ("shown", 18)
    assert server.calls == asked + 18 - found.found.of


class Changing:
    """A model of one version that always says *sad*; later of another, that says *glad*."""

    version, label, other = "judge-2024", "sad", "glad"

    def __call__(self, body: dict[str, Any]) -> web.Response:
        said = {"features": [], "reason": "So it reads.", "label": self.label, "first": self.label, "second": self.other,
                "evidence": ["It"], "argument": "It reads so."}  # fmt: skip
        choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        return web.json_response({**envelope([choice], usage, self.version), "system_fingerprint": "fp-1"})


@pytest.fixture
def model() -> Changing:
    return Changing()


@pytest.fixture
def changing_house(house: Courthouse, model: Changing, server: OpenAIServer) -> Courthouse:
    server.answer = model
    house.datasets.add("feelings", texts())
    return house


def experiment(changing_house: Courthouse) -> str:
    return done(changing_house, spec(arms=arms_of(JUDGES, model="openai/any"))).kept.id


def test_a_model_that_stays_as_it_was_shows_no_change(changing_house: Courthouse) -> None:
    name = experiment(changing_house)
    found = changing_house.experiments.canary(name, 12)
    assert (found.wanted, found.asked, found.changed, found.cost.calls, found.stopped) == (12, 12, 0, 24, "")
    assert found.then == found.now == ("judge-2024 fp-1",)
    assert {"Answers", "Decisions", "Votes"} == {one.kind for one in found.shares}
    for one in found.shares:
        assert (one.same[0], one.spread[0], one.further[0]) == (1.0, 1.0, 0.0)
        assert one.same[1] < 1.0, "so few calls show no certainty"
        assert "no change is shown" in " ".join(one.sentences)
    assert changing_house.experiments.store.experiment(name).experiment.canaries == (found,)
    told = shell("experiment", "canary", name, "--calls", "4")
    assert "4 of 4 calls were asked again, each twice." in told
    assert "The models call themselves judge-2024 fp-1, as on record." in told


def test_another_version_with_other_answers_is_a_change(changing_house: Courthouse, model: Changing) -> None:
    name = experiment(changing_house)
    first = changing_house.experiments.canary(name, 6)
    model.version, model.label, model.other = "judge-2026", "glad", "sad"
    found = changing_house.experiments.canary(name, 24)
    assert (found.then, found.now) == (("judge-2024 fp-1",), ("judge-2026 fp-1",))
    decisions = next(one for one in found.shares if one.kind == "Decisions")
    assert (decisions.same[0], decisions.spread[0], decisions.cases) == (0.0, 1.0, 6)
    assert decisions.further[1] > 0
    assert any("this is a change" in line for line in found.lines)
    assert "on record they did judge-2024 fp-1" in " ".join(found.lines)
    again = changing_house.experiments.begin(changing_house.experiments.store.experiment(name).experiment)
    assert again == name, "what is kept decides nothing of the cells"
    assert changing_house.experiments.store.experiment(name).experiment.canaries == (first, found)
    told = json.loads(shell("experiment", "results", name, "--json"))
    assert [one["now"] for one in told["canaries"]] == [["judge-2024 fp-1"], ["judge-2026 fp-1"]]
