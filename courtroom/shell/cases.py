"""Cases from a shell: `courtroom cases` and `courtroom cases check FILE`."""

from pathlib import Path
from typing import Annotated

import typer

from courtroom.cases.checks import check
from courtroom.cases.files import read_upload
from courtroom.cases.readers.tables import names_from
from courtroom.errors import CourtroomError
from courtroom.shell.options import opened, tell_unreadable

app = typer.Typer(help="List the cases, or check one.", invoke_without_command=True)


@app.callback()
def cases(context: typer.Context) -> None:
    """All cases, a line each, the id first."""
    if context.invoked_subcommand is not None:
        return
    with opened() as house:
        for case in house.library.cases():
            print(f"{case.id}\t{case.kind}\t{case.language}\t{case.title}")
        tell_unreadable(house.library.unreadable())


@app.command("check")
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
