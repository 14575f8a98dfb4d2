"""The app over one store with what most tests look at: hearings that have ended, that wait and that stand still."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from courtroom import Courthouse, Settings
from tests.app_server import forked_app
from tests.driving import drive, prepared
from tests.furnished import copied
from tests.openai_server import OpenAIServer

SLOW = {"model": {"id": "hosted_vllm/any"}, "jury_size": 3, "rounds": 2, "examination": "shared", "consensus": 1.0}
FULL = {"jury_size": 17, "examination": "shared", "consensus": 1.0}
WATCHED = {"jury_size": 5, "examination": "shared", "rounds": 2, "consensus": 1.0}
ENDED: dict[str, tuple[str, str, dict[str, Any]]] = {
    "juris": ("juris", "meeting-mill-museum", {}),
    "courtroom-llm": ("courtroom-llm", "message-feeling", {}),
    "cyberjurors": ("cyberjurors", "phone-battery", FULL),
    "seven": ("cyberjurors", "phone-battery", {"jury_size": 7, "examination": "shared"}),
    "usual": ("cyberjurors", "oak-table", {}),
    "heard by an audience": ("cyberjurors", "phone-battery", WATCHED),
}
STEPPED: dict[str, tuple[dict[str, Any], int]] = {"begun": ({}, 1), "in round 2": ({"consensus": 1.0}, 4)}
"""Setups of runs that stand still, each after so many stages."""


@dataclass(frozen=True)
class Site:
    """Where the app answers, and what there is to see."""

    url: str
    home: Path
    runs: dict[str, str]
    """Those in `ENDED` and `STEPPED`; `slow` was never begun; its model writes half of each answer until `half` is set."""
    half: threading.Event

    def run(self, name: str) -> str:
        """The address of a run."""
        return f"{self.url}/deliberation?run={self.runs[name]}"


@contextmanager
def site(home: Path) -> Iterator[Site]:
    """Fills the store, and starts the app."""
    half, runs, house = threading.Event(), dict[str, str](), Courthouse(Settings(home=copied(home)))

    def new(procedure: str, case: str, knobs: dict[str, Any]) -> str:
        return prepared(house, procedure, case, **knobs)

    for name, given in ENDED.items():
        runs[name] = drive(house, new(*given))
    for name, (knobs, stages) in STEPPED.items():
        runs[name] = new("cyberjurors", "oak-table", knobs)
        for _ in range(stages):
            house.runner.step(runs[name])
            house.runner.wait(runs[name], 60)
    runs["slow"] = new("cyberjurors", "oak-table", SLOW)
    house.close()
    with (
        OpenAIServer(half=half) as models,
        forked_app(home, {"HOSTED_VLLM_API_BASE": models.url, "HOSTED_VLLM_API_KEY": "none"}) as server,
    ):
        yield Site(server.url, home, runs, half)
        half.set()
