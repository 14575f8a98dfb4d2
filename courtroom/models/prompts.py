"""Prompts: template files rendered into messages, what members share first and byte-identical."""

from __future__ import annotations

import asyncio
import re
from collections.abc import Callable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any, Protocol

from jinja2 import Environment
from pydantic import BaseModel

from courtroom.cases.kinds import case_templates
from courtroom.media.medium import Medium, without_media
from courtroom.models.apart import Apart, PromptError, sentence
from courtroom.models.beside import ASKS_COURT, OF_REPLIES
from courtroom.models.rendering import environment, quote, reason, rendered
from courtroom.models.request import Message
from courtroom.models.schema import shown_form
from courtroom.models.task import Room, Task

_WAITING = ThreadPoolExecutor(8, thread_name_prefix="prompts")
"""Threads that wait for the processes in which edited prompts are rendered."""


Reply = tuple[tuple[str, ...], str]
"""Questions to the court, and what it replied to them."""


class Renders(Protocol):
    """What turns a task into messages."""

    @property
    def without_media(self) -> Renders:
        """The same, with nothing of pictures and videos in what the whole run shares; itself where there are none."""
        return self

    @property
    def fresh(self) -> Renders:
        """The same for another event loop: those who wait for their turn wait on one. Itself where nobody waits."""
        return self

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> Sequence[Message]:
        """The messages; media become their descriptions where the model can't see."""


@dataclass(eq=False)
class Prompts(Renders):
    """The templates of one procedure, with a run's own edits.

    `_system` and `_case` are rendered once from what the whole run shares. A task's template has a block `shared`,
    the same for all members, and a block `own`; media stand between them. A provider's prefix cache thus finds
    everything up to the first difference. With edits, all is rendered apart, one prompt at a time; see `Apart`.
    """

    folder: Path
    common: Mapping[str, object]
    edits: Mapping[str, str] | None = None
    notes: Sequence[str] = ()
    replies: Sequence[Reply] = ()

    def __post_init__(self) -> None:
        edited = {name: text for name, text in (self.edits or {}).items() if text}
        self._kind = str(getattr(self.common.get("case"), "kind", ""))
        self._apart = Apart({**templates(self.folder, self._kind), **edited}, edited, self.common) if edited else None
        self._turn = asyncio.Lock()
        self._frame: tuple[str, str] | None = None

    @cached_property
    def without_media(self) -> Prompts:
        return replace(self, common={name: without_media(value) for name, value in self.common.items()})

    @property
    def fresh(self) -> Prompts:
        return replace(self)

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> tuple[Message, ...]:
        """Return the messages for a task. Media become their descriptions where the model can't see. Raises
        `PromptError`: a template can't be used; the sentence names it and says why."""
        inputs = {name: getattr(task, name) for name in type(task).model_fields}
        if self._apart is None:
            system, case, shared, own = self._texts(self._here, task.name, inputs)
        else:
            work = partial(self._texts, self._apart.rendered, task.name, inputs)
            async with self._turn:  # so that the prompts of one run never hold more than one of the threads
                system, case, shared, own = await asyncio.get_running_loop().run_in_executor(_WAITING, work)
        asked_too = f"\n{ASKS_COURT}\n" if task.beside and task.beside.question else ""
        shown = (medium if sees else describe(medium, number) for number, medium in enumerate(task.media()))
        asked = own + asked_too + answer_form(task.asked_form, room)
        parts = (case, self._notes_for_all, shared, *shown, asked)
        filled = tuple(part for part in parts if isinstance(part, Medium) or part.strip())
        return Message("system", (system,)), Message("user", filled)

    def _texts(
        self, render: Callable[..., Sequence[str]], name: str, inputs: Mapping[str, object]
    ) -> tuple[str, str, str, str]:
        if self._frame is None:
            self._frame = render("whole", "_system")[0], render("whole", "_case")[0]
        shared, own = render("blocks", name, **inputs)
        return *self._frame, shared, own

    def _here(self, what: str, name: str, /, **inputs: object) -> tuple[str, ...]:
        """Render a template as shipped; see `Apart.rendered`."""
        try:
            return rendered(_shipped(self.folder, self._kind), what, name, self.common, inputs)
        except Exception as error:
            raise PromptError(sentence(f"“{name}”", reason(error))) from error

    @cached_property
    def _notes_for_all(self) -> str:
        told = ["# Told to all by the person who leads this hearing", *map(quote, self.notes)] if self.notes else []
        if self.replies:
            told += ["# Questions that some of you have put to the court, and its replies", OF_REPLIES]
        for questions, reply in self.replies:
            told += [f"Asked:\n{quote(chr(10).join(questions))}", f"The court's reply:\n{quote(reply)}"]
        return "\n\n".join(told) + "\n" if told else ""


def answer_form(answer: type[BaseModel], room: Room) -> str:
    """What an answer must look like, as every prompt ends."""
    text = "\nAnswer with one JSON object and nothing else, its fields in the order of this JSON schema:\n"
    return text + shown_form(answer, room) + "\n"


class _Shipped(Environment):
    """Has a plain dictionary for a template's globals: Jinja's own map is walked anew for each prompt and import."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


@lru_cache(maxsize=16)
def _shipped(folder: Path, kind: str) -> Environment:
    """Templates of a folder as shipped, compiled once; trusted as code is: a sandbox would double their time."""
    return environment(templates(folder, kind).get, _Shipped)


def templates(folder: Path, *kinds: str) -> dict[str, str]:
    """All templates of a procedure by name, as shipped.

    Args:
        folder: the procedure's own.
        kinds: of the cases that it takes. The template of the first stands for `_case` where the folder has none; those
            of the others are there by their names. Any kind's may be included by name.
    """
    found = {path.name.removesuffix(".md.j2"): path.read_text("utf-8") for path in sorted(folder.glob("*.md.j2"))}
    shared = {name: path.read_text("utf-8") for name, path in case_templates().items()}
    if "_case" not in found:
        named = zip(("_case", *kinds[1:]), kinds, strict=False)
        found |= {name: shared[kind] for name, kind in named if kind in shared}
    quoted = {name: re.compile(f"""[\"']{re.escape(name)}[\"']""") for name in shared}
    while taken_in := {name for name in shared.keys() - found.keys() if any(map(quoted[name].search, found.values()))}:
        found = {name: shared[name] for name in taken_in} | found
    return found


def describe(medium: Medium, number: int) -> str:
    """Return a medium in words, for a model that can't see it. `number`: its place among the question's, from 0."""
    words = medium.description or "no description was given; its content is unknown to you"
    return f"[{medium.kind} {number}, not shown to you; its description:]\n{quote(words)}\n"
