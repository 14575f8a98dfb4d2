"""Models from a shell: `models list`, `models check ID`."""

from __future__ import annotations

import asyncio
import json
from collections.abc import AsyncIterator, Sequence
from typing import TYPE_CHECKING, Annotated

import typer

from courtroom.models.connections import Connections
from courtroom.models.local import model_files
from courtroom.models.spec import ModelSpec
from courtroom.settings import from_environment
from courtroom.shell.options import Json

if TYPE_CHECKING:
    from courtroom.upkeep.model_check import ModelTrial

app = typer.Typer(help="List models of this machine, or try out a model.", no_args_is_help=True)


@app.callback()
def models() -> None:
    """List models of this machine, or try out a model."""


@app.command("list")
def list_(json_: Json = False) -> None:
    """Name the models in files of this machine, with their size and context."""
    files = model_files()
    if json_:
        told = [{"id": name, "bytes": file.size, "context": file.context} for name, file in files.items()]
        print(json.dumps(told, ensure_ascii=False))
    for name, file in () if json_ else files.items():
        print(f"{name}\t{file.size / 1e6:,.0f} MB\t{file.context:,} tokens of context")
    if not files and not json_:
        print("There are none. docs/models.md says how to get one.")


@app.command()
def check(
    model: Annotated[str, typer.Argument(help="A LiteLLM model id, e.g. openai/gpt-4o-mini.")],
    connection: Annotated[str, typer.Option(help="The name of a connection that the server's owner lists.")] = "",
    long: Annotated[int, typer.Option(help="Tokens of the long prompt.", min=100, max=2_000_000)] = 16_000,
    procedures: Annotated[
        bool, typer.Option("--procedures", help="Hear a sample case by each procedure instead; print what came of it.")
    ] = False,
    only: Annotated[list[str] | None, typer.Option(help="With --procedures: only this one; may be repeated.")] = None,
    wait: Annotated[float, typer.Option(help="With --procedures: seconds that one run may take.", min=1)] = 1800,
    json_: Json = False,
) -> None:
    """Ask a model a schema, a stream, a picture and a long prompt; say what works, and what it cost."""
    from courtroom.upkeep.model_check import trials

    spec = ModelSpec(id=model, connection=connection, temperature=0.0, max_tokens=500)
    if procedures:
        _hear_samples(spec, wait, only or (), json_=json_)
        return

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


def _hear_samples(spec: ModelSpec, wait_s: float, only: Sequence[str], *, json_: bool) -> None:
    """The table of docs/models.md, a row as soon as it is known."""
    from courtroom.upkeep.procedure_check import HEAD, tallies

    found = tallies(from_environment(), spec, wait_s, only)
    if json_:
        print(json.dumps([one.model_dump() for one in found]))
        return
    print(HEAD, flush=True)
    for one in found:
        print(one.row(), flush=True)


def _line(trial: ModelTrial) -> str:
    used = f"{trial.prompt_tokens:,} + {trial.completion_tokens:,} tokens, {trial.seconds:.1f} s"
    return f"{'ok' if trial.works else 'no'}\t{trial.about}\t{trial.sentence} ({used})"
