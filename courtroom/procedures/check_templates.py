"""What is wrong with a procedure's prompts, found before anybody is asked: each mistake with its file and what to do."""

import ast
import inspect
import textwrap
from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any, Literal, get_args, get_origin

from jinja2 import TemplateSyntaxError, meta, nodes
from pydantic import BaseModel

from courtroom import Case, Medium, Procedure, Task
from courtroom.cases.kinds import case_templates
from courtroom.law import Both
from courtroom.models.apart import PromptError
from courtroom.models.prompts import Prompts, templates
from courtroom.models.rendering import environment, not_sent

OTHER = "OTHERWISE"
NOT_SHOWN = {
    "Statute": ("cues", "digest"),  # words by which the offline model finds it; where it is from
    "Charge": ("id", "cues"),
    "Precedent": ("id",),
    "LabelledText": ("id",),
}
"""Parts of shared records by which a program, and not a role, finds them."""


async def unseen(prompts: Prompts, tasks: Collection[Task[Any]], seen: set[str]) -> list[str]:
    """Parts of inputs that no prompt of these tasks shows, as `task: input.part`, in the order in which they were tried.
    `tasks`: questions that were asked; of each kind the one with the most in it is tried. `seen`: the parts that were
    shown by other questions; those that are shown by these are added."""
    fullest: dict[str, Task[Any]] = {}
    for task in sorted(tasks, key=lambda task: len(task.model_dump_json())):
        fullest[task.name] = task
    missing = []
    for task in fullest.values():
        before = await prompts.render(task, sees=True)
        for path, changed in _changed(task):
            name = f"{task.name}: {path}"
            if name in seen or any(path == part or path.startswith(f"{part}.") for part in task.offline_only):
                continue
            try:
                shown = await prompts.render(changed, sees=True) != before
            except PromptError:  # a template that fails on a value has read it
                shown = True
            if shown:
                seen.add(name)
            else:
                missing.append(name)
    return missing


def _changed(task: Task[Any]) -> Iterator[tuple[str, Task[Any]]]:
    for name, field in type(task).model_fields.items():
        value = getattr(task, name)
        if not isinstance(value, Case):
            for path, new in changes_of(value, name, field.annotation):
                yield path, task.model_copy(update={name: new})


def changes_of(value: Any, path: str, kind: Any = None) -> Iterator[tuple[str, Any]]:
    """A value with one of its parts changed, by the path of the part; of a list, its length and each part of its first member."""
    if isinstance(value, Medium):
        yield path, value.model_copy(update={"id": OTHER})
    elif isinstance(value, Both):
        yield path, Both(en=f"{value.en} {OTHER}", zh=f"{value.zh} {OTHER}")  # a prompt has it in one language
    elif isinstance(value, BaseModel):
        for name, field in type(value).model_fields.items():
            if name not in NOT_SHOWN.get(type(value).__name__, ()):
                for inner, new in changes_of(getattr(value, name), f"{path}.{name}", field.annotation):
                    yield inner, value.model_copy(update={name: new})
    elif isinstance(value, tuple | list) and value:
        yield path, (*value, *value[:1]) if len(value) == 1 else tuple(value[:-1])
        for inner, new in changes_of(value[0], path):
            yield inner, (new, *value[1:])
    elif isinstance(value, bool):
        yield path, not value
    elif isinstance(value, int | float):
        yield path, value + 1
    elif isinstance(value, str) and value:
        literals = [part for part in (kind, *get_args(kind)) if get_origin(part) is Literal]
        others = [choice for part in literals for choice in get_args(part) if choice != value]
        yield path, others[0] if others else f"{value} {OTHER}"


COMMON = frozenset({"case", "setup"})
"""What every template can use."""


def mistakes(procedure: Procedure) -> Iterator[str]:
    """A sentence or two for each mistake in the templates of a procedure."""
    if not procedure.prompts.is_dir():
        yield f"{procedure.prompts}: there is no such folder. Make it, and put `_system.md.j2` and the tasks' templates into it."
        return
    found = Templates(procedure)
    for name, what in (("_system", "what all members are given first"), ("_case", "what the case looks like")):
        if name not in found.sources:
            yield f"{found.file(name)}: this template is missing. Write it: it says {what}."
        else:
            yield from found.unknown(name, COMMON, "`case` or `setup`")
    yield from found.broken.values()
    for task in procedure.tasks:
        yield from _mistakes_of(task, found)


class Templates:
    """The templates of a procedure, parsed, and what they use."""

    def __init__(self, procedure: Procedure) -> None:
        self._folder = procedure.prompts
        self.sources: Mapping[str, str] = templates(procedure.prompts, *procedure.kinds)
        self.broken: dict[str, str] = {}
        self.trees: dict[str, nodes.Template] = {}
        parser = environment(self.sources.get)
        for name, text in self.sources.items():
            try:
                self.trees[name] = parser.parse(text)
            except TemplateSyntaxError as error:
                why = str(error.message).rstrip(".")
                self.broken[name] = f"{self.file(name)}, line {error.lineno}: {why}. Mend this line."
        self._used = {name: meta.find_undeclared_variables(tree) for name, tree in self.trees.items()}

    def file(self, name: str) -> str:
        own = self._folder / f"{name}.md.j2"
        return str(own if own.is_file() else case_templates().get(name, own))

    def used(self, name: str) -> frozenset[str]:
        """The variables that a template uses, and those of all it takes in with its variables."""
        taken_in = (nodes.Include, nodes.Extends)
        whole = self._whole(name, lambda part: isinstance(part, taken_in) or bool(getattr(part, "with_context", False)))
        return frozenset().union(*map(self._used.__getitem__, whole))

    def unknown(self, name: str, known: frozenset[str], text: str) -> Iterator[str]:
        """Variables that nobody gives a template, and templates that it takes in and that are not there."""
        for variable in sorted(self.used(name) - known):
            yield f"{self.file(name)}: it uses `{variable}`, which is none of {text}. Mend its name, or give it as an input."
        for one in self._whole(name, lambda part: True):
            for part in _takes_in(self.trees[one]):
                names = _names(part)
                if not names:
                    yield f"{self.file(one)}, line {part.lineno}: it takes in a template by a variable. Write the name in quotes."
                for missing in (other for other in names if other not in self.sources):
                    place = f"{self.file(one)}, line {part.lineno}"
                    yield f"{place}: it takes in “{missing}”, which is missing. Mend the name, or write {self.file(missing)}."

    def _whole(self, name: str, follow: Callable[[nodes.Node], bool]) -> list[str]:
        """A template and those that it takes in, over any number of steps."""
        done: list[str] = []
        todo = [name]
        while todo:
            one = todo.pop()
            if one in self.trees and one not in done:
                done.append(one)
                todo += [other for part in _takes_in(self.trees[one]) if follow(part) for other in _names(part)]
        return done


def _takes_in(tree: nodes.Template) -> Iterator[Any]:
    return tree.find_all((nodes.Include, nodes.Import, nodes.FromImport, nodes.Extends))


def _names(part: Any) -> list[str]:
    try:
        value = part.template.as_const()
    except nodes.Impossible:
        return []
    return [value] if isinstance(value, str) else list(value)


def _mistakes_of(task: type[Task[Any]], found: Templates) -> Iterator[str]:
    name, file = task.name, found.file(task.name)
    if name in found.broken:
        return
    if name not in found.trees:
        yield f"{file}: the template of {task.__name__} is missing. Write it, or mend `name` in {source_of(task)}."
        return
    if lost := not_sent(found.trees[name]):
        line, why = lost
        yield f"{file}, line {line}: {why}. Put all of it between `{{% block own %}}` and `{{% endblock %}}`."
    inputs = frozenset(task.model_fields)
    yield from found.unknown(name, COMMON | inputs, f"`case`, `setup` and the inputs of {task.__name__}")
    kinds = ((name, field.annotation) for name, field in task.model_fields.items())
    cases = {name for name, kind in kinds if isinstance(kind, type) and issubclass(kind, Case)}
    sent = found.used(name) | _sent_beside(task) | (cases if "case" in found.used("_case") else set())
    for unused in sorted(inputs - sent - set(task.offline_only)):
        yield (
            f"{file}: the input `{unused}` of {task.__name__} ({source_of(task)}) is never used. Show it here or drop it; "
            "if only the offline model needs it, name it in `offline_only`."
        )
    for wrong in sorted(name for name in task.offline_only if name.partition(".")[0] not in inputs):
        yield f"{source_of(task)}: `offline_only` of {task.__name__} names `{wrong}`, which is no input. Mend its name."
    for shown in sorted(set(task.offline_only) & found.used(name)):
        yield f"{source_of(task)}: `offline_only` of {task.__name__} names `{shown}`, which {file} shows. Take it out."


def _sent_beside(task: type[Task[Any]]) -> frozenset[str]:
    """The inputs that go with a question beside its words: in its media, or in the schema of its answer."""
    names: set[str] = set()
    for method in (task.media, task.form.fget):  # type: ignore[attr-defined]
        try:
            tree = ast.parse(textwrap.dedent(inspect.getsource(method)))
        except (OSError, TypeError, SyntaxError):  # a class that was made without a file
            continue
        used = (node for node in ast.walk(tree) if isinstance(node, ast.Attribute))
        names |= {node.attr for node in used if isinstance(node.value, ast.Name) and node.value.id == "self"}
    return frozenset(names)


def source_of(kind: type) -> str:
    try:
        return f"{inspect.getsourcefile(kind)}, line {inspect.getsourcelines(kind)[1]}"
    except (OSError, TypeError):
        return kind.__module__
