"""Modules import each other in one direction only; what a type checker alone imports, for a name in a signature, does not count."""

import ast
from collections.abc import Mapping
from graphlib import TopologicalSorter
from pathlib import Path

ROOT = Path(__file__).parent.parent


def imports(files: Mapping[str, str]) -> dict[str, set[str]]:
    """Which of these modules, given as their texts by their names, each imports when it runs, anywhere in it."""
    graph: dict[str, set[str]] = {}
    for module, text in files.items():
        named = set()
        tree = ast.parse(text)
        for node in tree.body:
            if isinstance(node, ast.If) and ast.unparse(node.test) == "TYPE_CHECKING":
                node.body = []
        for node in ast.walk(tree):
            if isinstance(node, ast.Import):
                named |= {alias.name for alias in node.names}
            elif isinstance(node, ast.ImportFrom):
                assert node.level == 0, f"{module} imports by a relative name"
                found = {f"{node.module}.{alias.name}" for alias in node.names}
                named |= {name if name in files else str(node.module) for name in found}
        graph[module] = named & files.keys()
    return graph


def test_no_modules_import_each_other_in_a_circle() -> None:
    paths = {path.relative_to(ROOT).with_suffix(""): path for path in (ROOT / "courtroom").rglob("*.py")}
    files = {".".join(at.parts).removesuffix(".__init__"): path.read_text("utf-8") for at, path in paths.items()}
    del files["courtroom"]  # the front door names what lies deep inside, and loads it when it is first asked for
    assert "courtroom.engine.court" in files
    TopologicalSorter(imports(files)).prepare()  # raises CycleError with the modules of a circle
