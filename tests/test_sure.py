"""How sure is a verdict: the sequential test by hand, and repeats of runs with the offline model and with a server that
wavers."""

import json
from collections.abc import Callable
from itertools import chain, repeat
from typing import Any

import pytest
from aiohttp import web

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import Series, series
from tests.driving import shell
from tests.openai_server import Answer, OpenAIServer, answer_for
from tests.pages import benched

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
    runs = len(house.store.runs())
    assert house.experiments.repeats.go(run) == found
    assert shell("experiment", "certainty", run).startswith(
        "How sure is this verdict? It is shown at 95 % that at least 84.7 % of repeats come to the same outcome: 18 of "
        "18 repeats with other seeds came to the same outcome (Wald's sequential test of 95 % or more"
    )
    told = json.loads(shell("experiment", "certainty", run, "--json"))
    assert told["found"] == {"same": 18, "of": 18, "state": "shown"}
    assert told["sentence"] == found.sentence == house.experiments.repeats.sentence(run)
    assert len(house.store.runs()) == runs
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
    asked = server.calls
    further = house.experiments.repeats.go(run, budget=1000 * each)
    assert (further.found.state, further.found.of) == ("shown", 18)
    assert server.calls == asked + 18 - found.found.of
