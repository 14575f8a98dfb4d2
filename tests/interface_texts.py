"""Finds every text that a reader of the interface may see, where it stands in the source.

Pages and the room's player: each literal that has words, but for logic, keys, styles and the names in `NO_TEXT`. The engine: what it
declares (titles, help, stages, choices), what it shows (blocks of views), what it says when something is wrong, and sentences.
A sentence with values becomes a message with named places; where it has two forms (`vote`, `votes`), it becomes two messages.
"""

import ast
import json
import re
import tomllib
from collections.abc import Iterator
from functools import cache
from itertools import product
from pathlib import Path
from typing import Any, Literal, get_args, get_origin

from jinja2 import Environment
from pydantic import BaseModel

import courtroom.courthouse  # noqa: F401
from courtroom.declarations.knobs import choice_in_words, leaves, plain
from courtroom.errors import CourtroomError
from courtroom.procedures import PROCEDURES
from courtroom.room.player import TEXT
from courtroom.settings import DATA

ROOT = Path(__file__).parents[1]
Found = dict[str, set[str]]
"""Files by message; a message in two forms is `one\\0several`."""
WORD = re.compile(r"[A-Za-z]{2,}")
MARKUP = re.compile(
    r"<[^<>]*>|:material/\w+:|:(?:small|gray-badge|gray|red|green|blue|orange)\[|\]\([^)]*\)|\{\w*\}|&\w+;"
)
KEY = re.compile(
    r"rgba\(.*\)|#[0-9A-F]{6}|bottom center|[a-z_\-\d/.:?=&+#]*|[\w\-/.?=]*(\{\w*\}[\w\-/.?=]*)+(?<=[\w}])"
)
STYLE = re.compile(r"\s*<style|\s*export default|\.st-key|:is\(|[\w-]+:[^ ]+;|<\w+ [^>]*$|[^<>]*\"><|url\(")
NO_TEXT = {
    *("ABCD", "X-Content-Type-Options", "Content-Security-Policy", "Cache-Control", "private, no-cache"),
    "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox",
    *("AB", "CNY", "English", "IoU", "Topo", "SemSim", "BM25", "US$", " open", "anyOf", "COURTROOM_CONNECTIONS"),
    *("GET", "POST", "Bearer {x}"),
    *("ollama/deepseek-r1:8b-llama-distill-q4_K_M", "Qwen/Qwen2.5-7B-Instruct", '{"reasoning_effort": "low"}'),
    *("OLLAMA_API_BASE, HOSTED_VLLM_API_BASE, OPENAI_API_BASE", "judgment/similar-{x}-"),
    "\nAnswer with one JSON object and nothing else",
}
"""Names, and what is matched against other text."""
NOT_SHOWN = {"key", "icon", "type", "label_visibility", "width", "format", "gap", "vertical_alignment", "color", "display_text",
             "selection_mode", "on_select", "pattern", "paper", "mode", "hoverinfo", "where", "hovertemplate", "encoding", "default",
             "postgresql_where", "sqlite_where"}  # fmt: skip
"""Arguments that no reader sees."""
LOOKED_UP = ("get", "pop", "setdefault", "index", "switch_page", "getLogger", "startswith", "endswith", "replace", "partition", "split",
             "compile", "fullmatch", "sub", "search", "removeprefix", "removesuffix", "rpartition", "getattr", "hasattr", "execute", "executemany", "row",
             "count", "exception", "fetchone", "encode", "open", "glob", "convert", "TypeVar", "isinstance", "ContextVar", "rsplit",
             "strftime", "Path", "read", "plainly", "lower", "get_option")  # fmt: skip
"""Calls whose arguments are names or patterns."""
DISPLAYED = {"Text", "Table", "Card", "Cards", "Step", "Diff", "Graph", "Marked", "Span", "Node", "View", "Choice", "Role", "StageKind",
             "Preset", "Export", "Source", "Field", "stage", "note", "Verdict", "Variant", "Lesson", "Measure", "over_labels", "_set",
             "_warning", "_error", "_break", "_say_paused", "Decision", "Fact", "PaperSetting", "N_", "_fail", "Ending", "Flow", "Beside", "knob", "filled"}  # fmt: skip
"""Calls of the engine that declare or show what they are given."""
SHOWN_PARTS = {"title", "help", "summary", "note", "reason", "why", "outcome", "empty", "parts", "none", "description"}
"""Arguments of the engine that are shown, whatever they are given to."""
SENTENCE = re.compile(r"(?s)(\{\w+\}|[A-Z“]).*[a-z}”)`'] ?[a-z}].*[.?!]$")
DRAWN = ("figures/*.py", "procedures/*/views*.py", "procedures/[cjmv]*/procedure.py", "judging/views.py", "experiments/what_if.py",
         "questions/asides.py", "questions/audit.py", "evaluation/comparison.py", "engine/run.py", "law.py",
         "cases/dispute.py", "cases/criminal.py", "cases/labelled.py",
         "experiments/sequential_test.py", "datasets/statistics.py", "datasets/printed.py", "engine/interventions.py", "cases/checks.py", "room/scene.py",
         "experiments/table.py", "experiments/driver.py",
         "models/offers.py", "declarations/knobs.py", "engine/procedure.py", "declarations/parts.py", "knowledge/imports.py", "datasets/row.py", "procedures/verdict/alignment.py")  # fmt: skip
"""Files of the engine all of whose words are shown."""
UNSEEN = ("shell/", "upkeep/", "language/", "cases/prompts", "procedures/registration.py", "procedures/check_", "__main__.py", "__init__.py",
          "procedures/verdict/train.py", "text/files.py", "text/words.py", "declarations/paper.py", "experiments/written.py",
          "experiments/printed_figures.py", "evaluation/significance.py", "evaluation/lawbench.py", "models/schema.py",
          "models/rendering.py", "models/transport.py", "models/pool.py", "figures/layout.py")  # fmt: skip
"""Files that no reader of the interface sees: the shell speaks English, and so do prompts and what an author of procedures got wrong."""
PROMPTS = re.compile(
    r"(procedures|judging)/.*((tasks|offline)\w*(\.py|/)|prompts/|rules\.py|points_of_view\.py)|juris/(baselines|assessment)\.py|distillation/procedure\.py|questions/interview\.py"
)
"""Files of prompts and answers, in the language of their case; only what they declare is shown."""
FORMATTED = re.compile(r"\{(\w+):[^{}]*\}")
FIELDS = re.compile(r"procedures/|panel/|models/(spec|script)\.py|declarations/setup\.py")
"""Where fields are declared that a page draws."""
OF_A_CASE = re.compile(r"cases/readers/|datasets/forms/")
"""Files whose questions belong to cases, in the cases' own language."""


@cache
def found() -> Found:
    """All messages, with the files in which they stand."""
    messages: Found = {}
    for message, name in (*_in_source(), *_declared(), *_in_templates(), *_fields_of_answers(), *_bundled()):
        if message:
            messages.setdefault(message, set()).add(name)
    for one in [message for message in messages if "\0" in message]:
        for form in one.split("\0"):
            if form in messages:
                messages[one] |= messages.pop(form)
    return messages


def _in_source() -> Iterator[tuple[str, str]]:
    pages = [ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py"))]
    for path in (*pages, *sorted((ROOT / "courtroom").rglob("*.py"))):
        name = path.relative_to(ROOT).as_posix()
        if path in pages or not name.removeprefix("courtroom/").startswith(UNSEEN):
            # What holds "(?" is a pattern.
            yield from ((message, name) for message in Source(path, name).messages() if "(?" not in message)


def _declared() -> Iterator[tuple[str, str]]:
    """What procedures and their setups declare in files beside their code."""
    not_shown = ("name", "icon", "paper", "knob", "value", "mark")

    def texts(part: Any, key: str = "") -> Iterator[str]:
        if isinstance(part, dict):
            yield from (text for name, value in part.items() for text in texts(value, name))
        elif isinstance(part, list):
            yield from (text for one in part for text in texts(one, key))
        elif isinstance(part, str) and key not in not_shown and _has_words(part):
            yield part

    others = (
        "cases/checks",
        "cases/readers/pdf",
        "declarations/setup",
        *(f"models/{one}" for one in ("beside", "failures", "script", "spec")),
    )
    paths = [*sorted(Path(ROOT / "courtroom").glob("[jp]*/**/*.toml"))]
    for path in (*paths, *(ROOT / f"courtroom/{one}.toml" for one in others)):
        name = path.relative_to(ROOT).as_posix()
        if PROMPTS.search(name):
            continue
        found = texts(tomllib.loads(path.read_text(encoding="utf-8")))
        yield from ((FORMATTED.sub(r"{\1}", text).replace("{{ }}", "{ }"), name) for text in found)


def _has_words(text: str) -> bool:
    """Whether a text is more than a name, a key or a style."""
    is_name = text in NO_TEXT or KEY.fullmatch(text) or STYLE.match(text)
    return not is_name and bool(WORD.search(MARKUP.sub("", text)))


def _in_templates() -> Iterator[tuple[str, str]]:
    """Of the room's player, and of reports."""
    for path in sorted((ROOT / "courtroom/room/static").glob("*.js")):
        told = TEXT.finditer(path.read_text(encoding="utf-8"))
        yield from ((one[2], path.relative_to(ROOT).as_posix()) for one in told)
    reports = Environment(extensions=["jinja2.ext.i18n"])
    for path in sorted((*(ROOT / "courtroom/report").glob("*.j2"), *(ROOT / "pages").rglob("*.j2"))):
        for _lineno, _function, said in reports.extract_translations(path.read_text(encoding="utf-8"), ("_",)):
            yield str(said[0] if isinstance(said, tuple) else said), path.relative_to(ROOT).as_posix()


def _fields_of_answers() -> Iterator[tuple[str, str]]:
    """The names of all fields of answers, as they are read, the words that can stand in them, and the choices of knobs."""
    for procedure in PROCEDURES.values():
        for task in procedure.tasks:
            yield from ((one, "courtroom/procedures") for one in _names(task.answer, ""))
        for path, field in leaves(procedure.setup):
            choices = get_args(plain(field.annotation)[0])
            if get_origin(plain(field.annotation)[0]) is Literal and path.partition(".")[0] != "model":
                yield from ((choice_in_words(field, one), "courtroom/procedures") for one in choices)


def _names(kind: Any, before: str) -> Iterator[str]:
    """Names of fields, alone and after the group in which they stand, as the room reads them."""
    for inner in get_args(kind):
        yield from _names(inner, before)
    if get_origin(kind) is Literal:
        yield from (word for word in get_args(kind) if isinstance(word, str) and WORD.search(word))
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        for name, field in kind.model_fields.items():
            for read in {name, f"{before}{name}"}:
                yield read.replace("_", " ").capitalize()
            yield from _names(field.annotation, f"{before}{name} ")


def _bundled() -> Iterator[tuple[str, str]]:
    """What the bundled personas are like, what bundled experiments are, and where bundled cases are from."""
    kinds = tomllib.loads((DATA / "parties.toml").read_text(encoding="utf-8"))["kinds"]
    yield from ((one, "data/parties.toml") for one in kinds.values())
    for path in sorted((DATA / "experiments").glob("*.toml")):
        text = path.read_text(encoding="utf-8")
        remarks = [line.removeprefix("# ") for line in text.splitlines() if line.startswith("# ")]
        yield from ((one, "data/experiments") for one in (tomllib.loads(text)["title"], *remarks))
    for path in sorted((DATA / "cases").glob("*/case.json")):
        yield json.loads(path.read_text(encoding="utf-8")).get("source", ""), "data/cases"
    for pool in ("personas.json", "personas_trials.json"):
        for persona in json.loads((DATA / pool).read_text(encoding="utf-8")):
            alone = (persona[name] for name in ("gender", "status", "background"))
            yield from ((text, f"data/{pool}") for text in (*alone, *persona["traits"], *persona["interests"]))


class Source:
    """One file."""

    def __init__(self, path: Path, name: str) -> None:
        self.name = name.removeprefix("courtroom/")
        self.page = not name.startswith("courtroom/")
        self.tree = ast.parse(path.read_text(encoding="utf-8"))
        self.parents: dict[ast.AST, ast.AST] = {}
        for node in ast.walk(self.tree):
            for child in ast.iter_child_nodes(node):
                self.parents[child] = node
        self.all_drawn = self.page or any(Path(self.name).match(pattern) for pattern in DRAWN)

    def messages(self) -> Iterator[str]:
        for node in ast.walk(self.tree):
            if isinstance(node, ast.Call) and ast.unparse(node.func) in ("_", "N_", "ngettext"):
                given = [one.value for one in node.args if isinstance(one, ast.Constant) and isinstance(one.value, str)]
                if given:
                    yield "\0".join(given[:2]) if ast.unparse(node.func) == "ngettext" else given[0]
            elif isinstance(node, ast.Call) and ast.unparse(node.func) == "many" and self.page:
                thing = node.args[1]
                if isinstance(thing, ast.Constant):
                    yield f"{{number}} {thing.value}\0{{number}} {thing.value}s"
            elif self._a_text(node) and self._is_shown(node):
                yield from dict.fromkeys(templates(node))

    def _a_text(self, node: ast.AST) -> bool:
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            text = node.value
        elif isinstance(node, ast.JoinedStr):
            text = "".join(part.value if isinstance(part, ast.Constant) else "{x}" for part in node.values)  # type: ignore[misc]
        else:
            return False
        return _has_words(text)

    def _is_shown(self, node: ast.AST) -> bool:
        """Whether a reader may see a text: by what stands around it, from the inside out."""
        texts = templates(node)
        if OF_A_CASE.match(self.name) and texts[0].endswith("?"):
            return False
        sentence = any(SENTENCE.fullmatch(one) for one in texts)
        drawn = self.all_drawn and not (PROMPTS.search(self.name))
        child, parent = node, self.parents[node]
        while True:
            match parent:
                case ast.JoinedStr() | ast.FormattedValue() | ast.Compare() | ast.Assert():
                    return False
                case ast.Subscript(value=of, slice=part) if child is part and ast.unparse(of) != "Annotated":
                    return False
                case ast.Expr() if child is node:  # a docstring
                    return False
                case ast.keyword(arg=arg) if arg in NOT_SHOWN:
                    return False
                case ast.keyword(arg=arg) if arg in SHOWN_PARTS and not PROMPTS.search(self.name):
                    drawn = True
                case ast.Call(func=func):
                    called = ast.unparse(func).split(".")[-1].split("[")[0]
                    if called in ("Field", "option", "filled") and not FIELDS.match(self.name):
                        return False
                    if called in ("_", "N_", "ngettext", "many") and child in parent.args:
                        return False
                    if (called in LOOKED_UP and child in parent.args) or (
                        called in ("info", "warning", "error") and "log" in ast.unparse(func)
                    ):
                        return False
                    if called in DISPLAYED or called in ERRORS:
                        drawn = True
                case ast.Assign(targets=[ast.Name(id="__all__")]) | ast.arg():
                    return False
                case ast.AnnAssign(annotation=annotation) if child is annotation:
                    return False
                case ast.Dict(keys=keys) if child in keys and not self.page and isinstance(node, ast.Constant):
                    return False
                case ast.FunctionDef(returns=returns, decorator_list=decorators) if (
                    child is returns or child in decorators
                ):
                    return False
                case ast.Raise():
                    return True
                case ast.Assign(
                    targets=[ast.Tuple(elts=[ast.Name(id="name"), ast.Name(id="title")])],
                    value=ast.Tuple(elts=[_, said]),
                ):
                    return said is node
                case ast.Assign(targets=[ast.Name(id=name)]) if isinstance(self.parents[parent], ast.ClassDef):
                    if name in ("title", "kind_title") or drawn:
                        return True
            if isinstance(parent, ast.stmt):
                return drawn or (sentence and not PROMPTS.search(self.name))
            child, parent = parent, self.parents[parent]


def templates(node: ast.AST) -> list[str]:
    """A literal as a message with named places; one for each form where a part of it has two."""
    if isinstance(node, ast.Constant):
        return [FORMATTED.sub(r"{\1}", str(node.value)).replace("{{ }}", "{ }")]
    names: dict[str, str] = {}
    parts = [
        [str(part.value)]
        if isinstance(part, ast.Constant)
        else _forms(part.value) or [f"{{{_place(part.value, names)}}}"]
        for part in node.values
    ]
    return ["".join(form) for form in product(*parts)]


def _forms(value: ast.expr) -> list[str]:
    """What a value may be where it is one of two texts, or a plural's ending."""
    match value:
        case ast.IfExp(body=body, orelse=otherwise) if _literal(body) and _literal(otherwise):
            return [*templates(body), *templates(otherwise)]
        case ast.BinOp(op=ast.Mult(), left=ast.Constant(value=str(ending))):
            return ["", ending]
    return []


def _literal(node: ast.expr) -> bool:
    return isinstance(node, ast.JoinedStr) or (isinstance(node, ast.Constant) and isinstance(node.value, str))


def _place(value: ast.expr, names: dict[str, str]) -> str:
    """A name for a value, by what it is; the same for the same value."""
    source = ast.unparse(value)
    if source not in names:
        none = ("literal", "len", "str", "join", "self", "for", "in")
        words = [word for word in re.findall(r"[a-z_]+", source.lower()) if word not in none]
        name = (words[0] if len(words) == 1 else words[-1] if words else "value").strip("_") or "value"
        while name in names.values():
            name += "_"
        names[source] = name
    return names[source]


def _errors(kind: type[CourtroomError]) -> Iterator[str]:
    yield kind.__name__
    for one in kind.__subclasses__():
        yield from _errors(one)


ERRORS = {*_errors(CourtroomError), "ValueError", "TypeError"}
"""All kinds, which the courthouse has brought along."""
