"""What is wrong in the code of a procedure and can be seen without running it: words and tasks that are not declared."""

import ast
import sys
from collections.abc import Collection, Iterator
from difflib import get_close_matches
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from courtroom.engine.procedure import Procedure
from courtroom.models.task import Task


def mistakes(procedure: Procedure) -> Iterator[str]:
    """A sentence or two for each mistake in the modules that `deliberate` stands in and takes from its own package."""
    stages = [stage.name for stage in procedure.stages]
    roles = [role.name for role in procedure.roles]
    choices = [choice.name for choice in procedure.choices]
    for module, tree in modules_of(procedure):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            place = f"{module.__file__}, line {call.lineno}"
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            if method == "stage" and (kind := _literal(call, 1, "kind")) is not None:
                yield from _undeclared(place, "kind of stage", kind, stages, "stages")
            if method in ("panel", "member") and (role := _literal(call, 0, "role")) is not None:
                yield from _undeclared(place, "role", role, roles, "roles")
            if method == "vote" and not procedure.choices_in and (choice := _literal(call, 1, "choice")) is not None:
                yield from _undeclared(place, "choice", choice, choices, "choices")
            task = _task(module, call.func)
            if task is not None and task not in procedure.tasks:
                yield f"{place}: {task.__name__} is asked but not declared. Add it to `tasks` of {procedure.title}."


def modules_of(procedure: Procedure) -> Iterator[tuple[ModuleType, ast.Module]]:
    """The module of `deliberate`, and those of its package that it imports over any number of steps, with their code."""
    first = procedure.deliberate.__module__
    package = first.rpartition(".")[0]
    todo, done = [first], set()
    while todo:
        name = todo.pop()
        module = sys.modules.get(name)
        if name in done or module is None or not getattr(module, "__file__", None):
            continue
        done.add(name)
        tree = ast.parse(Path(str(module.__file__)).read_text(encoding="utf-8"))
        yield module, tree
        if package:
            todo += [one for one in _imports(tree, module) if one.startswith(f"{package}.")]


def _imports(tree: ast.Module, module: ModuleType) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom):
            source = resolve_name("." * node.level + (node.module or ""), module.__package__)
            yield source
            yield from (f"{source}.{alias.name}" for alias in node.names)


def _literal(call: ast.Call, place: int, name: str) -> str | None:
    given = [word.value for word in call.keywords if word.arg == name] + call.args[place : place + 1]
    value = given[0].value if given and isinstance(given[0], ast.Constant) else None
    return value if isinstance(value, str) else None


def _task(module: ModuleType, called: ast.expr) -> type[Task[Any]] | None:
    holder: Any = module
    if isinstance(called, ast.Attribute) and isinstance(called.value, ast.Name):
        holder = getattr(module, called.value.id, None)
    elif not isinstance(called, ast.Name):
        return None
    kind = getattr(holder, called.id if isinstance(called, ast.Name) else called.attr, None)
    return kind if isinstance(kind, type) and issubclass(kind, Task) else None


def _undeclared(place: str, what: str, name: str, known: Collection[str], field: str) -> Iterator[str]:
    if name not in known:
        yield f"{place}: the {what} “{name}” is not declared. {meant(name, known) or f'Add it to `{field}`.'}"


def meant(name: str, known: Collection[str]) -> str:
    """A sentence with the name that is probably meant; empty where none is like it."""
    (close, *_) = get_close_matches(name, known, 1) or [""]
    return f"Did you mean “{close}”?" if close else ""
