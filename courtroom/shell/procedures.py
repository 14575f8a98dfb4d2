"""Procedures from a shell: `procedures` lists them, `new-procedure` lays out one; `--traceback` shows an author's error."""

from __future__ import annotations

import logging
import re
import sys
from collections.abc import Collection
from pathlib import Path
from string import Template
from typing import Annotated

import typer

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError

LAYOUT = Path(__file__).parent / "new_procedure"


def options(
    traceback: Annotated[
        bool, typer.Option("--traceback", help="Show errors in full on stderr, as the log has them.")
    ] = False,
) -> None:
    """Watch and steer deliberations from a shell. Progress is on stderr, the result on stdout."""
    if traceback and logging.lastResort is not None:
        logging.getLogger("courtroom").addHandler(logging.lastResort)  # it writes to stderr


def procedures() -> None:
    """All procedures, a line each: name, kind of case, origin, title. Exit code 1 where one can't be used."""
    house = Courthouse()  # what goes wrong is in its log
    for name, procedure in house.procedures.items():
        print(f"{name}\t{procedure.case_kind}\t{house.origins.get(name, 'courtroom')}\t{procedure.title}")
    for text in house.broken.values():
        print(text, file=sys.stderr)
    house.close()
    raise typer.Exit(1 if house.broken else 0)


def new_procedure(
    name: Annotated[str, typer.Argument(help="Small letters, digits and hyphens, e.g. two-judges.")],
    to: Annotated[Path | None, typer.Option(help="The folder to make; by default one of that name here.")] = None,
) -> None:
    """Lay out a small procedure that works, as a package of its own with its test."""
    folder = to or Path(name)
    house = Courthouse()
    taken = frozenset(house.procedures)
    house.close()
    try:
        written = lay_out(name, folder, taken)
    except OSError as error:
        raise CourtroomError(f"{folder} can't be written: {error.strerror}. Name another with --to.") from error
    for path in written:
        print(path)
    print(f"Try it: cd {folder} && python -m pytest. To use it: pip install -e {folder}", file=sys.stderr)


def lay_out(name: str, folder: Path, taken: Collection[str] = ()) -> list[Path]:
    """Write the files of a new procedure.

    Args:
        taken: names that procedures have already.

    Raises:
        CourtroomError: the name can't be used, or the folder holds something.
        OSError: the folder can't be written.
    """
    if not re.fullmatch(r"[a-z][a-z0-9]*(-[a-z0-9]+)*", name):
        raise CourtroomError(f"“{name}” can't be a procedure's name. Use small letters, digits and hyphens.")
    if name in taken:
        raise CourtroomError(f"There is a procedure “{name}” already. Choose another name.")
    if folder.exists() and (not folder.is_dir() or any(folder.iterdir())):
        raise CourtroomError(f"{folder} holds something already. Name another folder with --to.")
    words = name.split("-")
    module = "_".join(words)
    values = {
        "name": name,
        "module": module,
        "title": " ".join(words).capitalize(),
        "kind": "".join(map(str.title, words)),
    }
    places = {
        "pyproject.toml": "pyproject.toml",
        f"{module}/procedure.py": "procedure.py",
        f"{module}/prompts/_system.md.j2": "_system.md.j2",
        f"{module}/prompts/decide.md.j2": "decide.md.j2",
        f"tests/test_{module}.py": "test_procedure.py",
    }
    written = [folder / place for place in (*places, f"{module}/__init__.py")]
    for path in written:
        path.parent.mkdir(parents=True, exist_ok=True)
    (folder / module / "__init__.py").write_text("", encoding="utf-8")
    for place, source in places.items():
        text = (LAYOUT / f"{source}.txt").read_text(encoding="utf-8")
        (folder / place).write_text(Template(text).substitute(values), encoding="utf-8")
    return written
