"""Pages, shell, report, figures, comparisons and sweeps draw from what a procedure declares; none names one, or a knob of one."""

from __future__ import annotations

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

from courtroom.engine.setup import Setup
from courtroom.procedures import PROCEDURES

ROOT = Path(__file__).parents[1]
ROOMS = ("pages", *(f"courtroom/{room}" for room in ("shell", "report", "figures", "evaluation", "sweeps", "upkeep")))
FILES = [ROOT / "app.py", *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
KNOBS = {name for procedure in PROCEDURES.values() for name in procedure.setup.model_fields} - set(Setup.model_fields)


def named(source: str) -> Iterator[str]:
    """What a program names of a procedure: a module of it, the name itself, a knob by its path or on a setup."""
    for node in ast.walk(ast.parse(source)):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("courtroom.procedures"):
            yield f"{node.lineno}: imports {node.module}"
        elif isinstance(node, ast.Import):
            yield from (f"{node.lineno}: imports {one.name}" for one in node.names if "procedures" in one.name)
        elif isinstance(node, ast.Constant) and isinstance(node.value, str):
            if node.value in PROCEDURES:
                yield f"{node.lineno}: “{node.value}”"
            elif node.value.partition(".")[0] in KNOBS and " " not in node.value:
                yield f"{node.lineno}: “{node.value}”"
        elif isinstance(node, ast.Attribute) and node.attr in KNOBS:
            if ast.unparse(node.value).split(".")[-1].endswith("setup"):
                yield f"{node.lineno}: {ast.unparse(node)}"


@pytest.mark.parametrize("path", FILES, ids=lambda path: str(path.relative_to(ROOT)))
def test_no_procedure_and_no_knob_of_one_is_named(path: Path) -> None:
    assert list(named(path.read_text(encoding="utf-8"))) == []


@pytest.mark.parametrize(
    "line",
    [
        'row.procedure == "verdict"',
        'draft.values["jury"]',
        'Change(key="graph.edges", value=[])',
        "record.setup.rounds",
        'getattr(setup, "jury_size", None)',
        "from courtroom.procedures.verdict.alignment import first_drafts",
    ],
)
def test_a_name_is_found(line: str) -> None:
    assert len(list(named(line))) == 1
