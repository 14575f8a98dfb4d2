"""Prompts: template files rendered into messages, what members share first and byte-identical."""

from __future__ import annotations

import asyncio
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import Environment
from pydantic import BaseModel

from courtroom.cases.kinds import PROMPTS
from courtroom.media.medium import Medium, without_media
from courtroom.models.apart import Apart, PromptError, sentence
from courtroom.models.rendering import blocks, environment, quote, reason, whole
from courtroom.models.request import Message
from courtroom.models.schema import shown_form
from courtroom.models.task import Room, Task

_WAITING = ThreadPoolExecutor(8, thread_name_prefix="prompts")
"""Threads that wait for the processes in which edited prompts are rendered."""


class Prompts:
    """The templates of one procedure, with a run's own edits.

    `_system` and `_case` are rendered once from what the whole run shares. A task's template has a block `shared`,
    the same for all members, and a block `own`; media stand between them. A provider's prefix cache thus finds
    everything up to the first difference. With edits, all is rendered apart, one prompt at a time; see `Apart`.
    """

    def __init__(
        self,
        folder: Path,
        common: Mapping[str, object],
        edits: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._folder, self._common = folder, dict(common)
        self._notes, self._edits = tuple(notes), edits
        edited = {name: text for name, text in (edits or {}).items() if text}
        self._kind = str(getattr(self._common.get("case"), "kind", ""))
        self._apart = Apart({**templates(folder, self._kind), **edited}, edited, self._common) if edited else None
        self._turn = asyncio.Lock()
        self._frame: tuple[str, str] | None = None

    @cached_property
    def without_media(self) -> Prompts:
        """The same, with nothing of pictures and videos in what the whole run shares."""
        common = {name: without_media(value) for name, value in self._common.items()}
        return Prompts(self._folder, common, self._edits, self._notes)

    @property
    def fresh(self) -> Prompts:
        """The same for another event loop: those who wait for their turn wait on one."""
        return Prompts(self._folder, self._common, self._edits, self._notes)

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> tuple[Message, ...]:
        """The messages for a task. Media become their descriptions where the model can't see; `room`: how much it may write.

        Raises:
            PromptError: a template can't be used; the sentence names it and says why.
        """
        inputs = {name: getattr(task, name) for name in type(task).model_fields}
        if self._apart is None:
            system, case, shared, own = self._rendered(task.name, inputs)
        else:
            async with self._turn:  # so that the prompts of one run never hold more than one of the threads
                work = asyncio.get_running_loop().run_in_executor(
                    _WAITING, self._rendered_apart, self._apart, task.name, inputs
                )
                system, case, shared, own = await work
        media = task.media()
        shown: list[str | Medium] = (
            list(media) if sees else [describe(medium, number) for number, medium in enumerate(media)]
        )
        return (
            Message("system", (system,)),
            Message(
                "user",
                tuple(
                    part
                    for part in (case, self._notes_for_all, shared, *shown, own + answer_form(task.form, room))
                    if isinstance(part, Medium) or part.strip()
                ),
            ),
        )

    def _rendered(self, name: str, inputs: Mapping[str, object]) -> tuple[str, str, str, str]:
        shipped, at = _shipped(self._folder, self._kind), "_system"
        try:
            if self._frame is None:
                system = whole(shipped, at, self._common)
                at = "_case"
                self._frame = system, whole(shipped, at, self._common)
            at = name
            return *self._frame, *blocks(shipped, at, {**self._common, **inputs})
        except Exception as error:
            raise PromptError(sentence(f"“{at}”", reason(error))) from error

    def _rendered_apart(self, apart: Apart, name: str, inputs: Mapping[str, object]) -> tuple[str, str, str, str]:
        if self._frame is None:
            self._frame = apart.whole("_system"), apart.whole("_case")
        return *self._frame, *apart.blocks(name, inputs)

    @cached_property
    def _notes_for_all(self) -> str:
        """Notes of the person who leads the hearing, in the order in which they came."""
        if not self._notes:
            return ""
        return "# Told to all by the person who leads this hearing\n\n" + "\n\n".join(map(quote, self._notes)) + "\n"


def answer_form(answer: type[BaseModel], room: Room) -> str:
    """What an answer must look like, as every prompt ends."""
    text = "\nAnswer with one JSON object and nothing else, its fields in the order of this JSON schema:\n"
    return text + shown_form(answer, room) + "\n"


class _Shipped(Environment):
    """Has a plain dictionary for the globals of a template: Jinja's own map is walked anew for each prompt and each import."""

    def make_globals(self, d: MutableMapping[str, Any] | None) -> MutableMapping[str, Any]:
        return {**self.globals, **(d or {})}


@lru_cache(maxsize=16)
def _shipped(folder: Path, kind: str) -> Environment:
    """Templates of a folder as shipped, compiled once. They are trusted as code is: a sandbox would double their time."""
    return environment(templates(folder, kind).get, _Shipped)


def templates(folder: Path, *kinds: str) -> dict[str, str]:
    """All templates of a procedure by name, as shipped.

    Args:
        folder: the procedure's own.
        kinds: of the cases that it takes. The template of the first stands for `_case` where the folder has none, those of
            the others are there by their names; any kind's may be included by name.
    """
    found = _read(folder)
    shared = _read(PROMPTS)
    if "_case" not in found:
        named = zip(("_case", *kinds[1:]), kinds, strict=False)
        found |= {name: shared[kind] for name, kind in named if kind in shared}
    while taken_in := {name for name in shared.keys() - found.keys() if _named(name, found.values())}:
        found = {name: shared[name] for name in taken_in} | found
    return found


def _named(name: str, texts: Iterable[str]) -> bool:
    """Whether a template is taken in by one of these, by its name in quotes."""
    return any(f'"{name}"' in text or f"'{name}'" in text for text in texts)


def _read(folder: Path) -> dict[str, str]:
    return {path.name.removesuffix(".md.j2"): path.read_text("utf-8") for path in sorted(folder.glob("*.md.j2"))}


def describe(medium: Medium, number: int) -> str:
    """A medium in words, for a model that can't see it. `number`: its place among those that go with the question, from 0."""
    words = medium.description or "no description was given; its content is unknown to you"
    return f"[{medium.kind} {number}, not shown to you; its description:]\n{quote(words)}\n"
