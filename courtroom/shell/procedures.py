"""Procedures and models from a shell: `procedures`, `new-procedure` and `align`; `models list` and `models check`."""

import asyncio
import json
import logging
import re
import sys
from collections.abc import AsyncIterator, Awaitable, Collection, Iterator
from contextlib import closing
from dataclasses import replace
from functools import wraps
from itertools import chain
from pathlib import Path
from string import Template
from tempfile import TemporaryDirectory
from typing import Annotated, Any

import typer
from typer import Argument, Option

from courtroom import Court, Courthouse, CourtroomError, Member, Preset, Procedure, Task, Verdict
from courtroom.cases.files import read_upload
from courtroom.declarations.changes import merged
from courtroom.models.local import model_files
from courtroom.models.prompts import Prompts
from courtroom.models.route import Connections
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.settings import from_environment
from courtroom.shell.options import Json, Set, go_on, opened, print_result, result, setup_with, tell, values_of, write

TAUGHT = "Runs with a known judgment; by default all that are done and are no test of an experiment."
models_app = typer.Typer(help="List models of this machine, or try out a model.", no_args_is_help=True)
app = typer.Typer(help="List the procedures, or check a package of your own.", invoke_without_command=True)


@models_app.command("list")
def list_(json_: Json = False) -> None:
    """Name the models in files of this machine, with their size and context."""
    files = model_files().items()
    told = [{"id": name, "bytes": file.size, "context": file.context} for name, file in files]
    lines = [f"{name}\t{file.size / 1e6:,.0f} MB\t{file.context:,} tokens of context" for name, file in files]
    tell(told, lines or ["There are none. docs/models.md says how to get one."], json_)


@models_app.command()
def forget(
    model: Annotated[str, Argument(help="A model id, as `courtroom doctor` names it, e.g. openai/gpt-4o-mini.")],
) -> None:
    """Forget what was found out of a model and its server: whether it takes pictures, a schema, a temperature ..."""
    with opened() as house:
        count = house.capabilities.forget(model)
    print(f"{count} findings of {model} are forgotten. An app that is running forgets them when it starts again.")


@models_app.command()
def check(
    model: Annotated[str, Argument(help="A LiteLLM model id, e.g. openai/gpt-4o-mini.")],
    connection: Annotated[str, Option(help="The name of a connection that the server's owner lists.")] = "",
    long: Annotated[int, Option(help="Tokens of the long prompt.", min=100, max=2_000_000)] = 16_000,
    procedures: Annotated[bool, Option("--procedures", help="Hear a sample case by each procedure instead.")] = False,
    only: Annotated[list[str] | None, Option(help="With --procedures: only this one; may be repeated.")] = None,
    wait: Annotated[float, Option(help="With --procedures: seconds that one run may take.", min=1)] = 1800,
    json_: Json = False,
) -> None:
    """Ask a model a schema, a stream, a picture and a long prompt; say what works, and what it cost."""
    from courtroom.upkeep.model_check import HEAD, ModelTrial, tallies, trials

    spec = ModelSpec(id=model, connection=connection, temperature=0.0, max_tokens=500)
    if procedures:  # the table of docs/models.md, a row as soon as it is known
        found = tallies(from_environment(), spec, wait, only or ())
        rows = chain([HEAD], (one.row() for one in found))
        tell([one.model_dump() for one in found] if json_ else (), rows, json_)
        return

    async def all_of(found: AsyncIterator[ModelTrial]) -> list[ModelTrial]:
        done = []
        async for trial in found:
            done.append(trial)
            if not json_:
                used = f"{trial.prompt_tokens:,} + {trial.completion_tokens:,} tokens, {trial.seconds:.1f} s"
                print(f"{'ok' if trial.works else 'no'}\t{trial.about}\t{trial.sentence} ({used})", flush=True)
        return done

    done = asyncio.run(all_of(trials(spec, Connections.read(from_environment().connections), long)))
    if json_:
        print(json.dumps([trial.model_dump() for trial in done], ensure_ascii=False))
    elif all(trial.cost is not None for trial in done):
        print(f"All four cost US$ {sum(trial.cost or 0.0 for trial in done):.6f}.")
    else:
        print("What it cost is not known: LiteLLM has no price for this model.")


def options(traceback: Annotated[bool, Option("--traceback", help="Show errors in full on stderr.")] = False) -> None:
    """Watch and steer deliberations from a shell. Progress is on stderr, the result on stdout."""
    if traceback and logging.lastResort is not None:
        logging.getLogger("courtroom").addHandler(logging.lastResort)  # it writes to stderr


@app.callback()
def procedures(context: typer.Context) -> None:
    """All procedures, a line each: name, kind of case, origin, title. Exit code 1 where one can't be used."""
    if context.invoked_subcommand is None:
        with opened() as house:  # what goes wrong is in its log
            from courtroom.procedures import PROCEDURES  # which is open by now

            for name, one in house.procedures.items():
                print(f"{name}\t{one.case_kind}\t{PROCEDURES.origins.get(name, 'courtroom')}\t{one.title}")
            for text in house.procedures.broken.values():
                print(text, file=sys.stderr)
            raise typer.Exit(1 if house.procedures.broken else 0)


@app.command("check")
def check_package(
    folder: Path,
    case: Annotated[Path | None, Option(help="A file with the case to hear; by default a sample of its kind.")] = None,
) -> None:
    """Check a package, installed or not: what it declares, an offline run of each preset, views and prompts."""
    from courtroom.procedures import PROCEDURES, in_folder, register  # slow to import: not for every command

    for procedure in in_folder(folder):
        register((procedure,), PROCEDURES)
        with TemporaryDirectory() as home:
            for line in tried(procedure, Path(home), case):
                print(line)
        print(f"{procedure.name}: ok")


def tried(procedure: Procedure, home: Path, file: Path | None = None) -> Iterator[str]:
    """Hear a case of a file, else a sample, with each preset, offline; a line on each verdict."""
    from courtroom.procedures import unseen  # slow to import: not for every command

    asked, seen, missing = list[Task[Any]](), set[str](), set[str]()

    @wraps(procedure.deliberate)
    async def watched(court: Court[Any, Any]) -> Verdict:
        ask = court.ask

        def noted(member: Member, task: Task[Any], step: str = "") -> Awaitable[Any]:
            asked.append(task)
            return ask(member, task, step)

        court.ask = noted  # type: ignore[assignment,method-assign]
        return await procedure.deliberate(court)

    name = f"{procedure.name}-checked"  # it may be installed under its own
    checked = replace(procedure, name=name, deliberate=watched)
    with closing(Courthouse(from_environment().apart(home), procedures=(checked,))) as house:
        ids = [case.id for case in house.library.cases() if case.kind in procedure.kinds]
        if file is not None:
            ids = [house.library.add(next(iter(read_upload(file.name, file)))).id]
        if not ids:
            kind = procedure.case_kind
            raise CourtroomError(f"No sample is of the kind “{kind}”, so nothing was heard. Give a file: --case FILE.")
        case = house.library.case(ids[0])
        for preset in procedure.presets or (Preset("Default", ""),):
            setup = procedure.setup.model_validate(merged(procedure.setup().model_dump(mode="json"), preset.changes))
            complete, members = procedure.prepare(case, setup, 0)
            if any(member.spec.id != OFFLINE for member in members):
                yield f"{preset.title}: not heard, as it names other models than the offline one"
                continue
            asked.clear()
            run = house.new_run(name, case, setup, 0)
            begun = house.record(run)
            house.runner.go(run)
            house.runner.wait(run)
            record = house.record(run)
            if record.run.verdict is None:
                raise CourtroomError(f"{preset.title}: {record.run.reason}")
            for stand in (begun, *(record.until(stage.index) for stage in record.stages)):
                for view in procedure.views:
                    view.drawn(stand)
            prompts = Prompts(procedure.prompts, {"case": case.blind(), "setup": complete})
            missing.update(asyncio.run(unseen(prompts, asked, seen)))
            yield f"{preset.title}: {record.run.verdict.outcome}"
        if left := sorted(missing - seen):
            names = ", ".join(left)
            raise CourtroomError(f"No prompt shows these inputs: {names}. Show, drop, or name them in `offline_only`.")


def new_procedure(
    name: Annotated[str, Argument(help="Small letters, digits and hyphens, e.g. two-judges.")],
    to: Annotated[Path | None, Option(help="The folder to make; by default one of that name here.")] = None,
) -> None:
    """Lay out a small procedure that works, as a package of its own."""
    folder = to or Path(name)
    with opened() as house:
        written = lay_out(name, folder, frozenset(house.procedures))
    for path in written:
        print(path)
    print(f"Try it: courtroom procedures check {folder}. To use it: pip install -e {folder}", file=sys.stderr)


def lay_out(name: str, folder: Path, taken: Collection[str] = ()) -> list[Path]:
    """Write the files of a new procedure, whose name is none of those that are taken."""
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise CourtroomError(f"“{name}” can't be a procedure's name. Use small letters, digits and hyphens.")
    if name in taken:
        raise CourtroomError(f"There is a procedure “{name}” already. Choose another name.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourtroomError(f"{folder} holds something already. Name another folder with --to.")
    words = name.split("-")
    module = "_".join(words)
    title, kind = " ".join(words).capitalize(), "".join(map(str.title, words))
    files = ("pyproject.toml", "procedure.py", "prompts/_system.md.j2", "prompts/decide.md.j2")
    written = [folder / file if file == "pyproject.toml" else folder / module / file for file in files]
    layout = Path(__file__).parent / "new_procedure"
    for path, file in zip(written, files, strict=True):
        text = Template((layout / f"{Path(file).name}.txt").read_text(encoding="utf-8"))
        write(path, text.substitute(name=name, module=module, title=title, kind=kind))
    write(folder / module / "__init__.py", "")
    return [*written, folder / module / "__init__.py"]


def align(
    to: Annotated[Path, Option(help="A folder for sft.jsonl, dpo.jsonl and adapter.json.")],
    runs_: Annotated[list[str] | None, Argument(help=TAUGHT)] = None,
    model: Annotated[str | None, Option(help="The model that reflects and corrects.")] = None,
    set_: Set = None,
    teacher: Annotated[str, Option(help="Only drafts of this model are read.")] = "",
    json_: Json = False,
) -> None:
    """Build training data for an expert from recorded runs with a known judgment."""
    with opened() as house:
        procedure, source = house.teaching[0]
        parts = house.read(source, runs_, teacher)
        if not parts:
            raise CourtroomError(source.none)
        setup = setup_with(procedure.setup(), values_of(set_, model))
        run = house.new_run(procedure.name, source.batch(parts), setup, 0)
        go_on(house, run)
        summary = result(house, run)
        for export in procedure.exports if summary["status"] == "done" else ():
            write(to / export.file, export.write(house.record(run), house.answers))
    print_result(summary, json_)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)
