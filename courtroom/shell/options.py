"""Options that several commands have, and what they mean."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Annotated, Any, TypeVar

import typer
from pydantic import ValidationError

from courtroom.cases.explain import explain
from courtroom.engine.changes import changed, read_value
from courtroom.engine.setup import Setup
from courtroom.errors import CourtroomError

S = TypeVar("S", bound=Setup)
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
Set = Annotated[
    list[str] | None,
    typer.Option("--set", help="KEY=VALUE, e.g. model.timeout_s=5."),
]
Model = Annotated[str | None, typer.Option(help="`offline`, or any LiteLLM model id.")]
Until = Annotated[str | None, typer.Option(help="Pause after this stage.")]


def pairs(changes: Sequence[str] | None) -> dict[str, Any]:
    """The values that `--set` gives, by their paths in a setup.

    Raises:
        CourtroomError: one is not KEY=VALUE.
    """
    values: dict[str, Any] = {}
    for change in changes or ():
        key, equals, text = change.partition("=")
        if not equals:
            raise CourtroomError(f"--set {change}: write KEY=VALUE.")
        values[key.strip()] = read_value(text)
    return values


def setup_with(setup: S, changes: Sequence[str] | None, model: str | None = None) -> S:
    """A setup with what `--model` and `--set` give.

    Raises:
        CourtroomError: a path leads nowhere, or a value does not fit.
    """
    given = [f"model.id={json.dumps(model)}"] if model else []
    try:
        return changed(setup, pairs([*given, *(changes or ())]))
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error))) from error
