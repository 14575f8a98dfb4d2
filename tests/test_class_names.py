"""A class name stands for one thing: none is given twice in the package and its pages."""

from __future__ import annotations

import ast
from collections.abc import Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]


def defined_twice(files: Mapping[str, str]) -> dict[str, list[str]]:
    """Class names that are defined in several places, with these places.

    Args:
        files: text by path.
    """
    places: dict[str, list[str]] = {}
    for path, text in files.items():
        for node in ast.walk(ast.parse(text)):
            if isinstance(node, ast.ClassDef):
                places.setdefault(node.name, []).append(f"{path}:{node.lineno}")
    return {name: found for name, found in places.items() if len(found) > 1}


def test_no_class_name_is_given_twice() -> None:
    paths = [path for room in ("courtroom", "pages") for path in sorted((ROOT / room).rglob("*.py"))]
    files = {str(path.relative_to(ROOT)): path.read_text("utf-8") for path in paths}
    assert "courtroom/engine/court.py" in files
    assert defined_twice(files) == {}


def test_a_name_given_twice_is_found() -> None:
    files = {"a.py": "class Plan: pass", "b.py": "def f() -> None:\n    class Plan: pass\nclass Run: pass"}
    assert defined_twice(files) == {"Plan": ["a.py:1", "b.py:2"]}
