"""A server that answers as the offline model has answered before, and stops half-way through a sentence: for rooms of runs that go on."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from aiohttp import web

from courtroom.courthouse import Courthouse
from tests.openai_server import OpenAIServer, completion


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

    def answer(self, body: dict[str, Any]) -> str | web.Response | None:
        """At once while the run is young; later as a stream, which stops half-way."""
        asked = "\n".join(text for message in body["messages"] for text in _texts(message["content"]))
        known = asked if asked in self._known else next(filter(asked.startswith, self._known), None)
        if known is None:
            self.unknown += 1
            return None
        run, answers = self._known[known]
        text = answers.pop(0) if len(answers) > 1 else answers[0]
        self._left[run] -= 1
        return text if self._left[run] < 0 else web.json_response(completion(body, text, "stop", None))


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
    with OpenAIServer(answer=PlayedModel(house, runs, share).answer, half=never) as server:
        yield server
        never.set()
