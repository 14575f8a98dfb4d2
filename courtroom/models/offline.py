"""The offline model: classical methods on a task's own inputs. It is no language model and says so."""

import json
import random
from collections.abc import Callable, Mapping
from typing import Any, get_args, get_type_hints

from pydantic import BaseModel

from courtroom.errors import CourtroomError
from courtroom.models.beside import OFFLINE_DRAWS, offline_beside
from courtroom.models.request import Reply, Request, Watch
from courtroom.models.task import Task

NOTICE = (
    "The offline model is not a language model: it weighs words, rules and personas by fixed formulas, "
    "and it has not looked at any picture or video."
)
SHORT_NOTICE = "The offline model is not a language model."

Method = Callable[[Any, random.Random], BaseModel]
"""The offline answer to one kind of task.

Its arguments are the task, whose inputs are all that the offline model knows, and the only source of chance, seeded by
them.
"""
Methods = Mapping[type[Task[Any]], Method]
"""The method for each kind of task, as a procedure declares them in `offline`."""


def methods(*answers: Method) -> Methods:
    """Functions that answer, each under the kind of task, or the kinds, that its argument `task` is of."""
    hints = ((answer, get_type_hints(answer)["task"]) for answer in answers)
    return {kind: answer for answer, hint in hints for kind in get_args(hint) or (hint,)}


class OfflineModel:
    """Answers at once, deterministically, free of charge. `methods`: what it answers by."""

    def __init__(self, methods: Methods) -> None:
        self._methods = methods

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """Answer by a script where the member has one that says something of the task; else by the method for the
        task's type, or for what that is a kind of. Raises `CourtroomError`: there is none."""
        script = request.spec.script
        acted = request.task.by_script(script) if script else None
        methods = (self._methods[kind] for kind in type(request.task).mro() if kind in self._methods)
        method = next(methods, None) if acted is None else lambda task, draw: acted
        if method is None:
            name = type(request.task).__name__
            raise CourtroomError(f"The offline model has no method for {name}. Add one to the procedure's `offline`.")
        task, draw = request.task, random.Random(request.inputs)
        answer = method(task, draw)
        if task.beside is None:
            return Reply(text=answer.model_dump_json(), cost=0.0)
        draws = (method(task, random.Random(draw.random())) for _ in range(OFFLINE_DRAWS))
        said = offline_beside(task.form, task.beside, answer, draws)
        return Reply(text=json.dumps(said, ensure_ascii=False), cost=0.0)
