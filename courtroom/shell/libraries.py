"""Cases and panels of personas from a shell: `courtroom cases`, `courtroom panels`."""

from pathlib import Path
from typing import Annotated

import typer

from courtroom.cases.checks import check
from courtroom.cases.files import read_upload
from courtroom.cases.readers.tables import names_from
from courtroom.errors import CourtroomError
from courtroom.panel.personas import read_panel, write_csv, write_yaml
from courtroom.shell.options import opened, read_bytes, tell_unreadable, write

cases_app = typer.Typer(help="List the cases, or check one.", invoke_without_command=True)


@cases_app.callback()
def cases(context: typer.Context) -> None:
    """All cases, a line each, the id first."""
    if context.invoked_subcommand is not None:
        return
    with opened() as house:
        for case in house.library.cases():
            print(f"{case.id}\t{case.kind}\t{case.language}\t{case.title}")
        tell_unreadable(house.library.unreadable())


@cases_app.command("check")
def check_case(
    path: Path,
    labels: Annotated[str, typer.Option(help="What labels mean that are numbers: 0=NAME,1=NAME.")] = "",
) -> None:
    """Check a case file (.json, .jsonl, .zip) or a folder with a case.json; exit code 1 where there are errors."""
    try:
        packages = read_upload(path.name, path, names_from(labels) or None)
    except CourtroomError as error:
        print(f"{path.name}\terror\t\t{error}")
        raise typer.Exit(1) from error
    wrong = False
    for package in packages:
        findings = check(package.case, package.files)
        wrong = wrong or any(finding.severity == "error" for finding in findings)
        for finding in findings:
            print(f"{package.case.id}\t{finding.severity}\t{finding.field}\t{finding.message}")
        for remark in package.remarks:
            print(f"{package.case.id}\tremark\t{remark}")
        if not findings:
            print(f"{package.case.id}\tok")
    raise typer.Exit(1 if wrong else 0)


panels_app = typer.Typer(help="Panels of personas under a name.", invoke_without_command=True)


@panels_app.callback()
def panels(context: typer.Context) -> None:
    """All saved panels, a line each: name and number of persons."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for name in house.panels.names():
                print(f"{name}\t{len(house.panels.load(name))}")


@panels_app.command("import")
def take_in(
    file: Annotated[Path, typer.Argument(help="A CSV or YAML file, a person in each row.")],
    name: Annotated[str, typer.Option(help="The panel's name; default: the file's.")] = "",
) -> None:
    """Save the persons of a file as a panel, in place of one that has the name."""
    with opened() as house:
        panel = read_panel(file.name, read_bytes(file))
        house.panels.save(name or file.stem, panel)
        print(f"{name or file.stem}\t{len(panel)}")


@panels_app.command()
def export(name: str, to: Annotated[Path, typer.Option(help="FILE.csv or FILE.yaml")]) -> None:
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
