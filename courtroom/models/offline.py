"""The offline model: classical methods on a task's own inputs. It is no language model and says so."""

from __future__ import annotations

import random
from functools import singledispatch
from typing import Any

from pydantic import BaseModel

from courtroom.models.request import Reply, Request, Watch
from courtroom.models.task import Task

NOTICE = (
    "The offline model is not a language model: it weighs words, rules and personas by fixed formulas, "
    "and it has not looked at any picture or video."
)


@singledispatch
def answer_offline(task: Task[Any], draw: random.Random) -> BaseModel:
    """The offline answer to a task. Each procedure registers one function for each of its tasks.

    Args:
        task: the inputs; nothing else is known to the offline model.
        draw: the only source of chance, seeded by the request's key.
    """
    raise NotImplementedError(f"the offline model has no method for {type(task).__name__}")


class OfflineModel:
    """Answers at once, deterministically, free of charge."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """Answer by the method registered for the task's type."""
        answer = answer_offline(request.task, random.Random(request.key))
        return Reply(text=answer.model_dump_json(), cost=0.0)
