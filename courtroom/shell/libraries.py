"""Cases, panels of personas and the knowledge base from a shell: `courtroom cases`, `panels` and `knowledge`."""

import sys
from datetime import datetime
from pathlib import Path
from typing import Annotated, Any

import typer
from typer import Argument, Option

from courtroom import Courthouse, CourtroomError
from courtroom.cases.checks import check
from courtroom.cases.files import read_each, read_upload
from courtroom.cases.readers.tables import names_from
from courtroom.knowledge.bases import BUNDLED, IMPORTED, IN_BASES, KINDS, kept_as, origins
from courtroom.knowledge.collection import Collection, Mode
from courtroom.knowledge.embedding import embedding_problem
from courtroom.knowledge.index import Filter
from courtroom.panel.personas import read_panel, write_csv, write_yaml
from courtroom.shell.options import Encoding, Json, Labels, opened, read_bytes, taken_in, tell, write

COLUMNS = "FIELD=COLUMN of a CSV file with other columns, or FIELD='a {COLUMN} b'; weight=COLUMN; may be given again."
cases_app = typer.Typer(help="List the cases, or check one.", invoke_without_command=True)
panels_app = typer.Typer(help="Panels of personas under a name.", invoke_without_command=True)
ABOUT_KNOWLEDGE = "Look into the knowledge base, import into it, undo what it learned."
knowledge_app = typer.Typer(no_args_is_help=True, help=ABOUT_KNOWLEDGE)
SAID = {"add": "put beside what was there", "replace": "put in place of what was there"}
DAY = "%Y-%m-%d"
Base = Annotated[str, Option(help="Which knowledge base of criminal law.")]
Replace = Annotated[bool, Option("--replace", help="Put the records in place of those of the base, not beside them.")]


@cases_app.callback()
def cases(context: typer.Context) -> None:
    """All cases, a line each, the id first."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for case in house.library.cases():
                print(f"{case.id}\t{case.kind}\t{case.language}\t{case.title}")
            for one in house.library.unreadable():
                print(one, file=sys.stderr)


@cases_app.command("check")
def check_case(path: Path, labels: Labels = "", encoding: Encoding = "") -> None:
    """Check a file that holds cases, or a folder with a case.json; exit code 1 where there are errors."""
    try:
        packages = read_upload(path.name, path, names_from(labels) or None, encoding)
    except CourtroomError as error:
        print(f"{path.name}\terror\t\t{error}")
        raise typer.Exit(1) from error
    wrong = False
    for package in packages:
        findings = check(package.case, package.files, package.there)
        wrong |= any(finding.severity == "error" for finding in findings)
        for finding in findings:
            print(f"{package.case.id}\t{finding.severity}\t{finding.field}\t{finding.message}")
        for remark in package.remarks:
            print(f"{package.case.id}\tremark\t{remark}")
        if not findings:
            print(f"{package.case.id}\tok")
    raise typer.Exit(1 if wrong else 0)


@cases_app.command("add")
def add_cases(
    path: Annotated[Path, Argument(help="A file that the page Cases takes, or a folder with a case.json.")],
    labels: Labels = "",
    encoding: Encoding = "",
) -> None:
    """Take the cases of a file in and print their ids; exit code 1 where one is refused."""
    refused = False
    with opened() as house:
        for package in read_each(path.name, path, names_from(labels) or None, encoding):
            try:
                if isinstance(package, CourtroomError):
                    raise package
                print(taken_in(house, package).id)
            except CourtroomError as error:
                refused = True
                print(error, file=sys.stderr)
    raise typer.Exit(1 if refused else 0)


@panels_app.callback()
def panels(context: typer.Context) -> None:
    """All saved panels, a line each: name and number of persons."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for name in house.panels.names():
                print(f"{name}\t{len(house.panels.load(name))}")


@panels_app.command("import")
def take_in(
    file: Annotated[Path, Argument(help="A CSV or YAML file, a person in each row.")],
    name: Annotated[str, Option(help="The panel's name; default: the file's.")] = "",
    encoding: Annotated[str, Option(help="Such as gb18030; by default as the file looks.")] = "",
    column: Annotated[list[str] | None, Option(help=COLUMNS)] = None,
) -> None:
    """Save the persons of a file as a panel, in place of one that has the name; more than 51, or with weights, are a pool."""
    columns = dict(one.partition("=")[::2] for one in column or ())
    with opened() as house:
        panel, remark = read_panel(file.name, read_bytes(file), encoding, columns)
        house.panels.save(name or file.stem, panel)
        print(f"{name or file.stem}\t{len(panel)}")
        if remark:
            print(remark, file=sys.stderr)


@panels_app.command()
def export(name: str, to: Annotated[Path, Option(help="FILE.csv or FILE.yaml")]) -> None:
    """Write a panel as CSV or YAML."""
    with opened() as house:
        panel = house.panels.load(name)
    if to.suffix not in (".csv", ".yaml", ".yml"):
        raise CourtroomError("--to needs a file name that ends in .csv or .yaml.")
    write(to, write_csv(panel) if to.suffix == ".csv" else write_yaml(panel))
    print(to)


@panels_app.command()
def rename(name: str, to: str) -> None:
    """Give a panel another name."""
    with opened() as house:
        house.panels.rename(name, to)


@panels_app.command()
def delete(name: str) -> None:
    """Forget a panel."""
    with opened() as house:
        house.panels.delete(name)


@knowledge_app.command("import")
def import_(
    file: Path,
    into: Annotated[str, Option(help="`statutes`, `charges` or `cases`.")] = "cases",
    base: Base = IMPORTED,
    replace: Replace = False,
) -> None:
    """Import a file, whole or not at all."""
    if into not in KINDS:
        raise CourtroomError("--into must be `statutes`, `charges` or `cases`.")
    if not file.is_file():
        raise CourtroomError(f"{file} is not there. Check the path.")
    with opened() as house:
        found = house.imports.check(into, file.name, file.read_bytes(), base, "replace" if replace else "add")
        house.runner.do(house.imports.run(found, _progress)).result()
        print(f"{len(found.records)} records of {file.name} are in “{into}” of “{base}”. Use it by --set base={base}.")


@knowledge_app.command()
def bases(json_: Json = False) -> None:
    """The knowledge bases, what each holds, and the files it is made of."""
    found, lines = [], []
    with opened() as house:
        for base in house.knowledge.bases():
            held = {kind: len(house.knowledge.of(kind, base)) for kind in IN_BASES}
            files = [origin for kind in KINDS for origin in origins(house.database, kept_as(kind, base))]
            found.append({"base": base, "holds": held, "files": [one.model_dump(mode="json") for one in files]})
            lines.append("\t".join([base, *(f"{count} {kind}" for kind, count in held.items())]))
            lines += [f"\t{one.file}: {one.records} records, {SAID[one.how]}" for one in files]
    tell(found, lines, json_)


@knowledge_app.command()
def search(
    text: str,
    collection: Annotated[str, Option("--in", help="Which collection.")] = "statutes",
    k: Annotated[int, Option(help="How many.", min=1)] = 5,
    mode: Annotated[Mode, Option(help="By which ranking.")] = "hybrid",
    base: Base = BUNDLED,
    category: Annotated[str, Option(help="Only records of this category or charge.")] = "",
    law: Annotated[str, Option(help="Only records under this article, e.g. 264.")] = "",
    since: Annotated[datetime | None, Option(help="Only what came on this day or later.", formats=[DAY])] = None,
    until: Annotated[datetime | None, Option(help="Only what came on this day or before.", formats=[DAY])] = None,
    json_: Json = False,
) -> None:
    """What is closest to a text, with all three scores."""
    if not text.strip():
        raise CourtroomError("Give some words to search for.")
    only = Filter(category=category, law=law, since=since and since.date(), until=until and until.date())
    with opened() as house:
        hits = house.runner.do(_collection(house, collection, base).search(text, k, mode, only=only)).result()
    rows = [{"id": one.record.id, **one.scores.model_dump()} for one in hits]
    tell(rows, ("\t".join("" if value is None else str(value) for value in row.values()) for row in rows), json_)


@knowledge_app.command()
def reindex(
    collection: str,
    embedding: Annotated[str, Option(help="By which embedding; the server's own where it is not given.")] = "",
) -> None:
    """Index a collection, e.g. `statutes` or `statutes.imported`, so that no look-up has to wait for that."""
    if problem := embedding_problem(embedding):
        raise CourtroomError(f"{problem[:1].upper()}{problem[1:]}.")
    with opened() as house:
        name, _, base = collection.partition(".")
        known = _collection(house, name, base or BUNDLED, embedding)
        house.runner.do(known.warm()).result()
        embedded = house.knowledge.using(embedding).embedding.name
        print(f"{len(known)} records of “{collection}” are indexed with {embedded}.")


@knowledge_app.command()
def lessons() -> None:
    """All steps of learning, a line each, the number first."""
    with opened() as house:
        for taught in house.knowledge.lessons.all():
            undone = " (undone)" if taught.undone else ""
            print(f"{taught.seq}\t{taught.phase}{undone}\t{taught.run}\t{taught.why}")


@knowledge_app.command()
def undo(step: int) -> None:
    """Undo a step of learning."""
    with opened() as house:
        house.knowledge.lessons.undo(step)
        print(f"Step {step} is undone.")


@knowledge_app.command()
def snapshot(name: str) -> None:
    """Name the learned memory as it is now; runs name it as their `memory`."""
    with opened() as house:
        print(f"{name}\t{house.knowledge.snapshots.take(name).digest}")


@knowledge_app.command()
def snapshots(json_: Json = False) -> None:
    """All snapshots of the learned memory, a line each: name, digest, standards, directives, buffer."""
    with opened() as house:
        known = house.knowledge.snapshots.all()
    lines = (f"{one.name}\t{one.digest}\t{one.standards}\t{one.directives}\t{one.buffer}" for one in known)
    tell([one.model_dump(mode="json") for one in known], lines, json_)


@knowledge_app.command()
def restore(name: str) -> None:
    """Bring the learned memory back to a snapshot; `empty` is the one in which nothing was learned."""
    with opened() as house:
        house.knowledge.restore(name)
        print(f"The memory is as in the snapshot “{name}”. This is a step of learning, which `undo` takes back.")


def _collection(house: Courthouse, name: str, base: str, embedding: str = "") -> Collection[Any]:
    known = house.knowledge.collections
    if name not in known:
        raise CourtroomError(f"There is no collection “{name}”. Known: {', '.join(known)}.")
    return house.knowledge.using(embedding).there(name, base)


def _progress(what: str, done: int, total: int) -> None:
    print(f"\r{what} {done} of {total}", end="" if done < total else "\n", file=sys.stderr, flush=True)
