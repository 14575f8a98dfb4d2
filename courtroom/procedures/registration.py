"""Procedures are registered: what their authors got wrong is reported at once, with the file and what to do.

Without this a mistake would show in the middle of a run, or never: a template whose question stands outside its blocks
makes a prompt that asks nothing, and every answer still looks like an answer.
"""

import ast
import re
import sys
from collections import Counter
from collections.abc import Collection, Iterable, Iterator, Mapping
from difflib import get_close_matches
from importlib.util import resolve_name
from pathlib import Path
from types import ModuleType
from typing import Any

from pydantic import BaseModel, ValidationError

from courtroom import CourtroomError, Preset, Procedure, Task
from courtroom.cases.checks import explain
from courtroom.cases.kinds import WITH_OPTIONS, case_kinds
from courtroom.declarations import paper
from courtroom.declarations.changes import merged
from courtroom.declarations.knobs import is_group
from courtroom.procedures import check_templates
from courtroom.procedures.check_templates import source_of


class RegistrationError(CourtroomError):
    """A procedure that can't be registered; each line of the message is one mistake of its author."""


def register(procedures: Iterable[Procedure], known: Mapping[str, Procedure] | None = None) -> dict[str, Procedure]:
    """Procedures by name, those that are known first. Raises `RegistrationError`: one of them is not as it must be."""
    found = dict(known or {})
    for procedure in procedures:
        if found.get(procedure.name) is procedure:
            continue
        wrong = list(mistakes(procedure))
        if procedure.name in found:
            text = f"the name “{procedure.name}” is taken by {found[procedure.name].title}. Choose another `name`."
            wrong.append(f"{file_of(procedure)}: {text}")
        for task, method in procedure.offline.items():
            for other in (one for one in found.values() if one.offline.get(task, method) is not method):
                text = f"`offline` answers {task.__name__} in another way than {other.title}, which asks it too"
                wrong.append(f"{file_of(procedure)}: {text}. Give it the same function, or make a task of your own.")
        if wrong:
            raise RegistrationError("\n".join(dict.fromkeys(wrong)))
        found[procedure.name] = procedure
    return found


def mistakes(procedure: Procedure) -> Iterator[str]:
    """A sentence or two for each mistake in what a procedure declares, beginning with the file."""
    file = file_of(procedure)
    if not re.fullmatch(r"[a-z][a-z0-9-]*", procedure.name):
        yield f"{file}: the name “{procedure.name}” can't stand in a command. Use small letters, digits and hyphens."
    if not procedure.kinds:
        known = (*case_kinds(), WITH_OPTIONS)
        hint = meant(procedure.case_kind, known) or f"Known kinds: {', '.join(known)}."
        yield f"{file}: it hears cases of the kind “{procedure.case_kind}”, which is not known. {hint}"
    named = dict.fromkeys(("views", "stages", "roles", "choices", "tasks"), "name")
    for what, by in {**named, "presets": "title", "exports": "file"}.items():
        names = Counter(getattr(one, by) for one in getattr(procedure, what) if what != "tasks" or _complete(one))
        for name in (name for name, number in names.items() if number > 1):
            yield f"{file}: two of the {what} are named “{name}”. Rename one."
    unfinished = [task for task in procedure.tasks if not _complete(task)]
    for task in unfinished:
        yield f"{source_of(task)}: {task.__name__} lacks a name, a title or its answer. Write `class {task.__name__}(Task[Answer])` with `name` and `title`."
    for name in (task.__name__ for task in procedure.tasks if task not in procedure.offline):
        yield f"{file}: the offline model has no answer to {name}. Add `{name}: function` to `offline`."
    for task in (one for one in procedure.offline if one not in procedure.tasks):
        yield f"{file}: `offline` answers {task.__name__}, which is not among `tasks`. Add it there, or take it out."
    for task in (one.task for one in procedure.peers if one.task not in procedure.tasks):
        yield f"{file}: `peers` names {task.__name__}, which is not among `tasks`. Add it there, or take it out."
    if not unfinished:
        yield from check_templates.mistakes(procedure)
    yield from undeclared_words(procedure)
    yield from _presets(procedure, file)


def file_of(procedure: Procedure) -> str:
    """The file in which a procedure is declared; where that isn't known, the one with its `deliberate`."""
    first = procedure.deliberate.__module__
    package = first.partition(".")[0]
    for name, module in list(sys.modules.items()):
        near = name == package or name.startswith(f"{package}.")
        # The package that collects all procedures holds this one too, but in a mapping.
        if near and any(value is procedure for value in vars(module).values()) and hasattr(module, "__file__"):
            if str(module.__file__).endswith("__init__.py") and name != first:
                continue
            return str(module.__file__)
    return str(getattr(sys.modules.get(first), "__file__", first))


def _complete(task: type[Task[Any]]) -> bool:
    return all(hasattr(task, part) for part in ("name", "title", "answer"))


def _presets(procedure: Procedure, file: str) -> Iterator[str]:
    try:
        values = procedure.setup().model_dump(mode="json")
    except ValidationError as error:
        needed = " ".join(explain(error)[:3])
        yield f"{source_of(procedure.setup)}: {procedure.setup.__name__} needs values: {needed} Give each knob a default."
        return
    published = Preset("Paper settings", "", paper.changes(procedure.paper_settings))
    for preset in (*procedure.presets, published):
        wrong = list(_unknown(preset.changes, procedure.setup, ""))
        for knob, hint in wrong:
            has = f"which {procedure.setup.__name__} does not have"
            yield f"{file}: the preset “{preset.title}” changes “{knob}”, {has}. {hint or 'Mend its name, or take it out.'}"
        try:
            if not wrong:
                procedure.setup.model_validate(merged(values, preset.changes))
        except ValidationError as error:
            fit = f"does not fit {procedure.setup.__name__}. {' '.join(explain(error)[:3])}"
            yield f"{file}: the preset “{preset.title}” {fit}"


def _unknown(changes: Mapping[str, Any], kind: type[BaseModel], prefix: str) -> Iterator[tuple[str, str]]:
    for name, value in changes.items():
        field = kind.model_fields.get(name)
        if field is None:
            yield prefix + name, meant(name, kind.model_fields)
        elif is_group(field) and isinstance(value, Mapping):
            yield from _unknown(value, field.annotation, f"{prefix}{name}.")  # type: ignore[arg-type]


def undeclared_words(procedure: Procedure) -> Iterator[str]:
    """A sentence or two for each mistake in the modules that `deliberate` stands in and takes from its own package."""
    declared = [
        ({"stage"}, 1, "kind", "kind of stage", [stage.name for stage in procedure.stages], "stages"),
        ({"panel", "member"}, 0, "role", "role", [role.name for role in procedure.roles], "roles"),
        ({"vote"}, 1, "choice", "choice", [choice.name for choice in procedure.choices], "choices"),
    ]
    for module, tree in modules_of(procedure):
        for call in (node for node in ast.walk(tree) if isinstance(node, ast.Call)):
            place = f"{module.__file__}, line {call.lineno}"
            method = call.func.attr if isinstance(call.func, ast.Attribute) else ""
            for methods, at, argument, what, known, field in declared[: 2 if procedure.choices_in else 3]:
                name = _literal(call, at, argument) if method in methods else None
                if name is not None and name not in known:
                    hint = meant(name, known) or f"Add it to `{field}`."
                    yield f"{place}: the {what} “{name}” is not declared. {hint}"
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


def meant(name: str, known: Collection[str]) -> str:
    """A sentence with the name that is probably meant; empty where none is like it."""
    (close, *_) = get_close_matches(name, known, 1) or [""]
    return f"Did you mean “{close}”?" if close else ""
