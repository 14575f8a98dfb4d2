"""Models from a shell: `models check ID`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator
from typing import TYPE_CHECKING, Annotated

import typer

from courtroom.models.connections import Connections
from courtroom.models.spec import ModelSpec
from courtroom.settings import from_environment
from courtroom.shell.options import Json

if TYPE_CHECKING:
    from courtroom.upkeep.model_check import ModelTrial

app = typer.Typer(help="Try out a model.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """Try out a model."""


@app.command()
def check(
    model: Annotated[str, typer.Argument(help="A LiteLLM model id, e.g. openai/gpt-4o-mini.")],
    connection: Annotated[str, typer.Option(help="The name of a connection that the server's owner lists.")] = "",
    long: Annotated[int, typer.Option(help="Tokens of the long prompt.", min=100, max=2_000_000)] = 16_000,
    json_: Json = False,
) -> None:
    """Ask a model a schema, a stream, a picture and a long prompt; say what works, and what it cost."""
    from courtroom.upkeep.model_check import trials

    spec = ModelSpec(id=model, connection=connection, temperature=0.0, max_tokens=500)

    async def all_of(found: AsyncIterator[ModelTrial]) -> list[ModelTrial]:
        done = []
        async for trial in found:
            done.append(trial)
            if not json_:
                print(_line(trial), flush=True)
        return done

    done = asyncio.run(all_of(trials(spec, Connections.read(from_environment().connections), long)))
    if json_:
        print(json.dumps([trial.model_dump() for trial in done], ensure_ascii=False))
    elif all(trial.cost is not None for trial in done):
        print(f"All four cost US$ {sum(trial.cost or 0.0 for trial in done):.6f}.")
    else:
        print("What it cost is not known: LiteLLM has no price for this model.")


def _line(trial: ModelTrial) -> str:
    used = f"{trial.prompt_tokens:,} + {trial.completion_tokens:,} tokens, {trial.seconds:.1f} s"
    return f"{'ok' if trial.works else 'no'}\t{trial.about}\t{trial.sentence} ({used})"
