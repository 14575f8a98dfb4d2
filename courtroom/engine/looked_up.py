"""The knowledge base as a rehearsal asks it."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass

from courtroom.engine.runner import Runner
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Knowledge, Query


@dataclass(frozen=True)
class Elsewhere:
    """The knowledge base as a rehearsal asks it: on the engine's loop, and by the server's own embedding alone.

    An estimate must not have a whole collection embedded, at a price, by a model that somebody has just chosen.
    """

    knowledge: Knowledge
    runner: Runner

    async def answer(self, query: Query, embedding: str) -> tuple[Hit, ...]:
        """Look something up."""
        return await asyncio.wrap_future(self.runner.do(self.knowledge.answer(query)))

    def learn(self, run: str, path: str, lesson: Lesson) -> None:
        """Take a lesson in."""
        self.knowledge.learn(run, path, lesson)
