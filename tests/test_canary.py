"""Would it come out today: recorded calls are asked again, of a server whose model and answers change."""

import json
from collections.abc import Iterator
from typing import Any

import pytest
from aiohttp import web

from courtroom.courthouse import Courthouse
from tests.driving import done, shell
from tests.openai_server import OpenAIServer
from tests.test_experiments import SINGLE, TRIAL, spec, texts


class Changing:
    """A model of one version that always says *sad*; later of another, that says *glad*."""

    version, label, other = "judge-2024", "sad", "glad"

    def __call__(self, body: dict[str, Any]) -> web.Response:
        said = {"features": [], "reason": "So it reads.", "label": self.label, "first": self.label, "second": self.other,
                "evidence": ["It"], "argument": "It reads so."}  # fmt: skip
        choice = {"index": 0, "message": {"role": "assistant", "content": json.dumps(said)}, "finish_reason": "stop"}
        usage = {"prompt_tokens": 100, "completion_tokens": 20, "total_tokens": 120}
        given = {"id": "c", "object": "chat.completion", "created": 0, "model": self.version, "choices": [choice]}
        return web.json_response({**given, "usage": usage, "system_fingerprint": "fp-1"})


@pytest.fixture
def model() -> Changing:
    return Changing()


@pytest.fixture
def house(house: Courthouse, model: Changing, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    with OpenAIServer(answer=model, known_to=monkeypatch):
        house.datasets.add("feelings", texts())
        yield house


def heard(house: Courthouse) -> str:
    arms = [
        {"name": name, "procedure": "courtroom-llm", "model": "openai/any", "set": knobs}
        for name, knobs in (("one judge", SINGLE), ("three judges", TRIAL))
    ]
    return done(house, spec(arms=arms)).kept.id


def test_a_model_that_stays_as_it_was_shows_no_change(house: Courthouse) -> None:
    name = heard(house)
    found = house.experiments.canary(name, 12)
    assert (found.wanted, found.asked, found.changed, found.cost.calls, found.stopped) == (12, 12, 0, 24, "")
    assert found.then == found.now == ("judge-2024 fp-1",)
    assert {"Answers", "Decisions", "Votes"} == {one.kind for one in found.shares}
    for one in found.shares:
        assert (one.same[0], one.spread[0], one.further[0]) == (1.0, 1.0, 0.0)
        assert one.same[1] < 1.0, "so few calls show no certainty"
        assert "no change is shown" in " ".join(one.sentences)
    assert house.experiments.store.experiment(name).experiment.canaries == (found,)
    told = shell("experiment", "canary", name, "--calls", "4")
    assert "4 of 4 calls were asked again, each twice." in told
    assert "The models call themselves judge-2024 fp-1, as on record." in told


def test_another_version_with_other_answers_is_a_change(house: Courthouse, model: Changing) -> None:
    name = heard(house)
    first = house.experiments.canary(name, 6)
    model.version, model.label, model.other = "judge-2026", "glad", "sad"
    found = house.experiments.canary(name, 24)
    assert (found.then, found.now) == (("judge-2024 fp-1",), ("judge-2026 fp-1",))
    decisions = next(one for one in found.shares if one.kind == "Decisions")
    assert (decisions.same[0], decisions.spread[0], decisions.cases) == (0.0, 1.0, 6)
    assert decisions.further[1] > 0
    assert any("this is a change" in line for line in found.lines)
    assert "on record they did judge-2024 fp-1" in " ".join(found.lines)
    again = house.experiments.begin(house.experiments.store.experiment(name).experiment)
    assert again == name, "what is kept decides nothing of the cells"
    assert house.experiments.store.experiment(name).experiment.canaries == (first, found)
    told = json.loads(shell("experiment", "results", name, "--json"))
    assert [one["now"] for one in told["canaries"]] == [["judge-2024 fp-1"], ["judge-2026 fp-1"]]
