"""A server that answers as the offline model has answered before, and stops half-way through a sentence: for rooms of runs that go on."""

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from courtroom.courthouse import Courthouse
from tests.openai_server import OpenAIServer


class PlayedModel:
    """Serves the answers of finished runs to others that ask the same questions."""

    def __init__(self, house: Courthouse, runs: Iterable[str], share: float) -> None:
        self.unknown = 0
        """Questions that no finished run was asked."""
        self._known: dict[str, tuple[str, list[str]]] = {}
        self._left: dict[str, int] = {}
        for run in runs:
            calls = house.record(run).calls
            self._left[run] = round(share * len(calls))
            for call in calls:
                if found := house.answers.entry(call.keys[-1]):
                    parts = (part for message in house.answers.request(call.keys[-1]) for part in message.parts)
                    asked = "\n".join(part for part in parts if isinstance(part, str))
                    self._known.setdefault(asked, (run, []))[1].append(found[1].text)

    def answer(self, body: dict[str, Any]) -> str | None:
        """What the finished run was answered; None where it was not asked."""
        found = self._found(body)
        if found is None:
            self.unknown += 1
            return None
        run, answers = found
        self._left[run] -= 1
        return answers.pop(0) if len(answers) > 1 else answers[0]

    def stops(self, body: dict[str, Any]) -> bool:
        """Whether the run has gone on for long enough."""
        found = self._found(body)
        return found is not None and self._left[found[0]] < 0

    def _found(self, body: dict[str, Any]) -> tuple[str, list[str]] | None:
        asked = "\n".join(text for message in body["messages"] for text in _texts(message["content"]))
        return self._known.get(asked) or next(
            (self._known[known] for known in self._known if asked.startswith(known)), None
        )


def _texts(content: str | list[dict[str, Any]]) -> list[str]:
    return [content] if isinstance(content, str) else [part["text"] for part in content if "text" in part]


@contextmanager
def played(house: Courthouse, runs: Iterable[str], share: float) -> Iterator[OpenAIServer]:
    """The server.

    Args:
        runs: finished, by the offline model.
        share: of a run's calls, 0 to 1, that are answered to their end.
    """
    never = threading.Event()
    model = PlayedModel(house, runs, share)
    with OpenAIServer(answer=model.answer, half=never, stops=model.stops) as server:
        yield server
