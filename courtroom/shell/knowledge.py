"""The knowledge base from a shell: `python -m courtroom knowledge ...`."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import Annotated, Any

import typer

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.collection import Collection, Mode
from courtroom.knowledge.embeddings import embedding_problem
from courtroom.shell.house import opened
from courtroom.shell.options import Json

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Look into the knowledge base, import into it, undo what it learned.",
)


@app.command("import")
def import_(file: Path, into: Annotated[str, typer.Option(help="`statutes` or `cases`.")] = "cases") -> None:
    """Take in a file, whole or not at all; after a kill the same command goes on where it stopped."""
    if into not in ("statutes", "cases"):
        raise CourtroomError("--into must be `statutes` or `cases`.")
    if not file.is_file():
        raise CourtroomError(f"{file} is not there. Check the path.")
    with opened() as house:
        digest = house.imports.begin(into, file.name, file.read_bytes())  # type: ignore[arg-type]
        job = house.runner.do(house.imports.go_on(digest, _progress)).result()
        print(f"{job.total} records of {job.name} are in “{into}”.")


@app.command()
def search(
    text: str,
    collection: Annotated[str, typer.Option("--in", help="Which collection.")] = "statutes",
    k: Annotated[int, typer.Option(help="How many.", min=1)] = 5,
    mode: Annotated[Mode, typer.Option(help="By which ranking.")] = "hybrid",
    json_: Json = False,
) -> None:
    """What is closest to a text, with all three scores."""
    if not text.strip():
        raise CourtroomError("Give some words to search for.")
    with opened() as house:
        found = house.runner.do(_collection(house, collection).search(text, k, mode)).result()
        rows = [{"id": one.record.id, **one.scores.model_dump()} for one in found]
        for row in [] if json_ else rows:
            print("\t".join("" if value is None else str(value) for value in row.values()))
        if json_:
            print(json.dumps(rows))


@app.command()
def reindex(
    collection: str,
    embedding: Annotated[str, typer.Option(help="By which embedding; the server's own where it is not given.")] = "",
) -> None:
    """Index a collection with an embedding, so that no look-up has to wait for that."""
    if problem := embedding_problem(embedding):
        raise CourtroomError(f"{problem[:1].upper()}{problem[1:]}.")
    with opened() as house:
        _collection(house, collection)
        knowledge = house.knowledge.using(embedding)
        known = knowledge.collections[collection]  # type: ignore[index]
        house.runner.do(known.warm()).result()
        print(f"{len(known)} records of “{collection}” are indexed with {knowledge.embedding.name}.")


@app.command()
def lessons() -> None:
    """All steps of learning, a line each, the number first."""
    with opened() as house:
        for taught in house.knowledge.lessons.all():
            undone = " (undone)" if taught.undone else ""
            print(f"{taught.seq}\t{taught.phase}{undone}\t{taught.run}\t{taught.why}")


@app.command()
def undo(step: int) -> None:
    """Undo a step of learning."""
    with opened() as house:
        house.knowledge.lessons.undo(step)
        print(f"Step {step} is undone.")


def _collection(house: Courthouse, name: str) -> Collection[Any]:
    known = house.knowledge.collections
    if name not in known:
        raise CourtroomError(f"There is no collection “{name}”. Known: {', '.join(known)}.")
    return known[name]


def _progress(what: str, done: int, total: int) -> None:
    print(f"\r{what} {done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
