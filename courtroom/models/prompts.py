"""Prompts: template files rendered into messages, what members share first and byte-identical."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from functools import cached_property, lru_cache
from pathlib import Path
from typing import Any

from jinja2 import FunctionLoader, StrictUndefined, Template, TemplateError
from jinja2.sandbox import SandboxedEnvironment
from pydantic import BaseModel

from courtroom.case import Medium
from courtroom.errors import CourtroomError
from courtroom.models.request import Message, schema_of
from courtroom.models.task import Task

LANGUAGES = {
    "en": "English",
    "zh": "Chinese (简体中文)",
    "de": "German",
    "fr": "French",
    "es": "Spanish",
    "ja": "Japanese",
}


class PromptError(CourtroomError):
    """A prompt template that can't be rendered."""


class Prompts:
    """The templates of one procedure, with a run's own edits.

    `_system` and `_case` are rendered once from what the whole run shares. A task's template has a block `shared`,
    the same for all members, and a block `own`; media stand between them. A provider's prefix cache thus finds
    everything up to the first difference.
    """

    def __init__(
        self,
        folder: Path,
        common: Mapping[str, object],
        edits: Mapping[str, str] | None = None,
        notes: Sequence[str] = (),
    ) -> None:
        self._common = dict(common)
        self._notes = tuple(notes)
        self._environment = _environment(folder, tuple(sorted((edits or {}).items())))
        self._schemas: dict[type[BaseModel], str] = {}

    def render(self, task: Task[Any], *, sees: bool) -> tuple[Message, ...]:
        """The messages for a task. Media become their descriptions where the model can't see.

        Raises:
            PromptError: an edited template uses a name that does not exist or is no valid template.
        """
        inputs = {**self._common, **{name: getattr(task, name) for name in type(task).model_fields}}
        shared = self._block(task.name, "shared", inputs) + self._answer_form(task.form)
        media = task.media()
        shown: list[str | Medium] = list(media) if sees else [describe(medium) for medium in media]
        own = self._block(task.name, "own", inputs)
        return (
            Message("system", (self._system,)),
            Message("user", tuple(part for part in (self._case, self._told, shared, *shown, own) if part)),
        )

    @cached_property
    def _system(self) -> str:
        return self._whole("_system")

    @cached_property
    def _case(self) -> str:
        return self._whole("_case")

    @cached_property
    def _told(self) -> str:
        """Notes of the person who leads the hearing, in the order in which they came."""
        if not self._notes:
            return ""
        return "# Told to all by the person who leads this hearing\n\n" + "\n\n".join(map(quote, self._notes)) + "\n"

    def _whole(self, name: str) -> str:
        try:
            return self._template(name).render(self._common).strip() + "\n"
        except TemplateError as error:
            raise PromptError(_sentence(name, error)) from error

    def _block(self, name: str, block: str, inputs: Mapping[str, object]) -> str:
        try:
            template = self._template(name)
            if block not in template.blocks:
                return ""
            text = "".join(template.blocks[block](template.new_context(dict(inputs)))).strip()
        except (TemplateError, TypeError) as error:
            raise PromptError(_sentence(name, error)) from error
        return text + "\n" if text else ""

    def _answer_form(self, answer: type[BaseModel]) -> str:
        if answer not in self._schemas:
            self._schemas[answer] = (
                "\nAnswer with one JSON object and nothing else. It must fit this JSON schema:\n"
                + json.dumps(json.loads(schema_of(answer)), ensure_ascii=False, indent=1)
                + "\n"
            )
        return self._schemas[answer]

    def _template(self, name: str) -> Template:
        return self._environment.get_template(name)


@lru_cache(maxsize=16)
def _environment(folder: Path, edits: tuple[tuple[str, str], ...]) -> SandboxedEnvironment:
    """Templates of a folder with a run's edits, compiled once. Sandboxed, as anybody may edit them."""
    edited = dict(edits)

    def source(name: str) -> str | None:
        path = folder / f"{name}.md.j2"
        return edited.get(name) or (path.read_text(encoding="utf-8") if path.is_file() else None)

    environment = SandboxedEnvironment(
        loader=FunctionLoader(source), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True
    )
    environment.filters.update(quote=quote, language=lambda code: LANGUAGES.get(code.split("-")[0], code))
    return environment


def templates(folder: Path) -> dict[str, str]:
    """All templates of a procedure by name, as shipped."""
    return {path.name.removesuffix(".md.j2"): path.read_text("utf-8") for path in sorted(folder.glob("*.md.j2"))}


def quote(text: str) -> str:
    """Material as a block quote: whatever it says, each of its lines is visibly not ours."""
    return "\n".join(f"> {line}" for line in str(text).splitlines()) or "> (empty)"


def describe(medium: Medium) -> str:
    """A medium in words, for a model that can't see it."""
    words = medium.description or "no description was given; its content is unknown to you"
    return f"[{medium.kind} {medium.id}, not shown to you; its description:]\n{quote(words)}\n"


def _sentence(name: str, error: Exception) -> str:
    return f"The prompt “{name}” can't be used: {error}. Mend it in the setup, or reset it to the shipped one."
