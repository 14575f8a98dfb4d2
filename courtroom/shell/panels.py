"""Panels of personas from a shell: `courtroom panels`."""

from pathlib import Path
from typing import Annotated

import typer

from courtroom.errors import CourtroomError
from courtroom.panel.personas import read_panel, write_csv, write_yaml
from courtroom.shell.options import opened, read_bytes, write

app = typer.Typer(help="Panels of personas under a name.", invoke_without_command=True)


@app.callback()
def panels(context: typer.Context) -> None:
    """All saved panels, a line each: name and number of persons."""
    if context.invoked_subcommand is None:
        with opened() as house:
            for name in house.panels.names():
                print(f"{name}\t{len(house.panels.load(name))}")


@app.command("import")
def take_in(
    file: Annotated[Path, typer.Argument(help="A CSV or YAML file, a person in each row.")],
    name: Annotated[str, typer.Option(help="The panel's name; default: the file's.")] = "",
) -> None:
    """Save the persons of a file as a panel, in place of one that has the name."""
    with opened() as house:
        panel = read_panel(file.name, read_bytes(file))
        house.panels.save(name or file.stem, panel)
        print(f"{name or file.stem}\t{len(panel)}")


@app.command()
def export(name: str, to: Annotated[Path, typer.Option(help="FILE.csv or FILE.yaml")]) -> None:
    """Write a panel as CSV or YAML."""
    with opened() as house:
        panel = house.panels.load(name)
    if to.suffix not in (".csv", ".yaml", ".yml"):
        raise CourtroomError("--to needs a file name that ends in .csv or .yaml.")
    write(to, write_csv(panel) if to.suffix == ".csv" else write_yaml(panel))
    print(to)


@app.command()
def rename(name: str, to: str) -> None:
    """Give a panel another name."""
    with opened() as house:
        house.panels.rename(name, to)


@app.command()
def delete(name: str) -> None:
    """Forget a panel."""
    with opened() as house:
        house.panels.delete(name)
