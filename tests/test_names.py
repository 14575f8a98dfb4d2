"""Pages, shell, report, figures, comparisons and what-ifs draw from what a procedure declares; none names one, or a knob of one."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path
from typing import get_args

from courtroom.cases.dispute import Dispute
from courtroom.declarations.setup import Setup
from courtroom.knowledge.collection import Name
from courtroom.procedures import PROCEDURES

ROOT = Path(__file__).parents[1]
ROOMS = ("pages", *(f"courtroom/{room}" for room in ("shell", "report", "figures", "evaluation", "upkeep")))
FILES = [ROOT / "app.py", *sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))]
KNOBS = {name for procedure in PROCEDURES.values() for name in procedure.setup.model_fields} - set(Setup.model_fields)
TITLES = [procedure.title for procedure in PROCEDURES.values()]
PATH = re.compile(r"\w+(\.\w+)*(?<!\.jsonl)")
RESULTS = {"base", "seeds", "learning", "norms", "rounds", "variant", "verdict", "people", "given", "script"}
ALSO = {*get_args(Name), *Dispute.model_fields, *RESULTS, "order", "texts"}
"""Words that have another meaning too: collections, a dispute's jury, a what-if's base, a run's verdict, what a result
counts, people beside runs, what a vote was given by, such as a script, and what the mirror changes."""


def named(source: str) -> Iterator[str]:
    """What a program names of a procedure: a module of it, the name itself, a knob by its path or on a setup."""
    tree = ast.parse(source)
    said = {id(node.value) for node in ast.walk(tree) if isinstance(node, ast.Expr)}  # docstrings may name a paper
    for node in ast.walk(tree):
        if isinstance(node, ast.ImportFrom) and (node.module or "").startswith("courtroom.procedures."):
            yield f"{node.lineno}: imports {node.module}"
        elif isinstance(node, ast.Import):
            yield from (f"{node.lineno}: imports {one.name}" for one in node.names if "procedures" in one.name)
        elif isinstance(node, ast.Attribute) and node.attr in KNOBS and ast.unparse(node.value).endswith("setup"):
            yield f"{node.lineno}: {ast.unparse(node)}"
        elif isinstance(node, ast.Constant) and is_name(node.value) and node.value not in ALSO:
            yield f"{node.lineno}: “{node.value}”"
        elif isinstance(node, ast.Constant) and isinstance(node.value, str) and id(node) not in said:
            yield from (f"{node.lineno}: {title}" for title in TITLES if title in node.value)
        elif any(is_name(one.value) and one.value in ALSO for one in of_a_setup(node)):
            yield f"{node.lineno}: {ast.unparse(node)}"


def is_name(value: object) -> bool:
    """Whether a text is a procedure's name, or a knob by its path."""
    return isinstance(value, str) and (
        value in PROCEDURES or value.partition(".")[0] in KNOBS and PATH.fullmatch(value) is not None
    )


def of_a_setup(node: ast.AST) -> list[ast.Constant]:
    """Texts that can only mean a procedure or a knob where they stand."""
    parts: list[ast.expr] = []
    if isinstance(node, ast.Compare) and ast.unparse(node.left).endswith(("procedure", "procedure.name")):
        parts = node.comparators
    elif isinstance(node, ast.Subscript) and ast.unparse(node.value).endswith(("values", "procedures", "complete")):
        parts = [node.slice]
    elif isinstance(node, ast.keyword) and node.arg == "key":
        parts = [node.value]
    elif isinstance(node, ast.Call) and ast.unparse(node.func) in ("getattr", "value_at"):
        parts = node.args[1:] if "setup" in ast.unparse(node.args[0]) else []
    return [part for part in parts if isinstance(part, ast.Constant)]


def test_no_procedure_and_no_knob_of_one_is_named() -> None:
    lines = (
        'row.procedure == "verdict"',
        'Change(key="graph.edges", value=[])',
        "record.setup.rounds",
        'st.caption("VERDICT learns.")',
        "from courtroom.procedures.verdict.alignment import first_drafts",
    )
    assert all(len(list(named(line))) == 1 for line in lines)
    found = [f"{path.relative_to(ROOT)}:{one}" for path in FILES for one in named(path.read_text(encoding="utf-8"))]
    assert not found
