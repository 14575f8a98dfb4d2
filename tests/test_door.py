"""Text from outside reaches a page through one door, so that no markup of it takes effect."""

import ast
from collections.abc import Iterator
from pathlib import Path

from pages.parts.shared.shown import escaped, literal

ROOT = Path(__file__).parents[1]
MOST_ALLOWED = 3
"""Lines that say themselves why they need no door."""


def test_every_call_that_reads_markup_is_given_text_through_the_door() -> None:
    pages = Pages([Module(path) for path in (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")))])
    assert not pages.leaks()
    assert sum(line.count("# plain: ") for module in pages.modules for line in module.lines) <= MOST_ALLOWED


def test_the_door_leaves_no_mark_that_markdown_or_html_reads() -> None:
    marks = "![](http://a/b) <img src=x> [a](b) :red[x] $x$ `c` &lt; ~~d~~ | # - + = \"'"
    assert "\n" not in literal("a\n\n    b")
    at = literal(marks)
    assert all(at[place - 1] == "\\" for place, mark in enumerate(at) if mark in "![]()<>*_`$:&~|#-+=\"'{}")
    assert not set("<>\"'") & set(escaped(marks))


BODY = ("markdown", "caption", "title", "header", "subheader", "info", "warning", "error", "success", "toast", "badge")
LABELLED = (
    "button", "checkbox", "toggle", "radio", "selectbox", "multiselect", "slider", "select_slider", "text_input", "text_area",
    "number_input", "date_input", "time_input", "file_uploader", "download_button", "link_button", "page_link",
    "form_submit_button", "expander", "popover", "pills", "segmented_control", "color_picker", "metric", "spinner",
    "camera_input", "chat_message", "feedback", "data_editor", "dataframe", "image", "progress", "tabs",
)  # fmt: skip
OPTIONS = ("radio", "pills", "segmented_control")
"""Widgets whose options are read as Markdown."""
FIRST = {*BODY, *LABELLED} - {"data_editor", "dataframe", "image", "progress", "page_link"}
NAMED = ("label", "body", "help", "caption", "text", "captions")
NEVER = ("write", "write_stream", "latex", "iframe", "graphviz_chart", "exception", "help", "status")
"""Calls that guess what they are given, or whose text is code: not used on any page."""
DOOR = {"markdown": "literal", "html": "escaped", "never": ""}
OURS = {
    *("len", "sum", "round", "int", "max", "min", "range", "count", "many"),
    *("duration", "moment", "clock", "tone", "declared", "translated"),
}
"""Functions that give numbers, times and sizes in our words, or a colour."""


class Module:
    """One file of the pages, with what its names stand for."""

    def __init__(self, path: Path) -> None:
        self.path, self.lines = path, path.read_text().splitlines()
        self.tree = ast.parse(path.read_text())
        nodes = list(ast.walk(self.tree))
        self.functions = {node.name: node for node in nodes if isinstance(node, ast.FunctionDef)}
        self.parents = {child: node for node in nodes for child in ast.iter_child_nodes(node)}

    def allows(self, part: ast.expr) -> bool:
        """Whether the line says `# plain:` and why."""
        return "# plain: " in self.lines[(part.end_lineno or part.lineno) - 1]

    def scopes(self, node: ast.AST) -> Iterator[ast.AST]:
        """The functions around a node from the inside out, then the module."""
        while node in self.parents:
            node = self.parents[node]
            if isinstance(node, (ast.FunctionDef, ast.Lambda, ast.Module)):
                yield node


class Pages:
    """All of these files."""

    def __init__(self, modules: list[Module]) -> None:
        self.modules = modules
        self.known: dict[tuple[ast.AST, str], bool] = {}
        """What was found of names and functions; a name that is made from itself is judged by the rest of it."""

    def leaks(self) -> list[str]:
        """`file:line: source` for each argument that may carry text from outside as it came."""
        return [
            f"{module.path}:{part.lineno}: {ast.unparse(part)[:110]}"
            for module in self.modules
            for call in ast.walk(module.tree)
            if isinstance(call, ast.Call) and isinstance(call.func, ast.Attribute)
            for part, mode in arguments(call)
            if not self.plain(part, mode, module) and not module.allows(part)
        ]

    def plain(self, part: ast.AST, mode: str, at: Module) -> bool:
        """Whether nothing of an expression is text from outside that did not go through the door."""
        match part:
            case ast.Constant() | ast.Compare():
                return True
            case ast.JoinedStr(values=parts) | ast.BoolOp(values=parts) | ast.List(elts=parts) | ast.Tuple(elts=parts):
                return all(self.plain(value, mode, at) for value in parts)
            case ast.FormattedValue():
                return _numeric(part) or self.plain(part.value, mode, at)
            case ast.IfExp():
                return self.plain(part.body, mode, at) and self.plain(part.orelse, mode, at)
            case ast.Dict():
                texts = [one for one in (*part.keys, *part.values) if not isinstance(one, (ast.Lambda, ast.Name))]
                return all(one is None or self.plain(one, mode, at) for one in texts)
            case ast.BinOp():
                return self.plain(part.left, mode, at) and self.plain(part.right, mode, at)
            case ast.GeneratorExp(elt=value) | ast.ListComp(elt=value) | ast.Lambda(body=value):
                return self.plain(value, mode, at)
            case ast.Subscript(value=value):
                return self.plain(value, mode, at)
            case ast.Name():
                return part.id.isupper() or part.id == DOOR.get(mode) or self._name(part, mode, at)
            case ast.Call():
                return self._call(part, mode, at)
        return False

    def _name(self, name: ast.Name, mode: str, at: Module) -> bool:
        """A name is plain where all that is put into it is."""
        if (name, mode) not in self.known:
            self.known[name, mode] = True
            puts = next((puts for scope in at.scopes(name) if (puts := list(_given(scope, name.id)))), [])
            if puts:
                plain = all(value is not None and self.plain(value, mode, at) for value in puts)
            else:
                plain = name.id in at.functions and self._function(at.functions[name.id], mode, at)
            self.known[name, mode] = plain
        return self.known[name, mode]

    def _function(self, function: ast.FunctionDef, mode: str, at: Module) -> bool:
        """A function is plain where all that it returns is."""
        if (function, mode) not in self.known:
            self.known[function, mode] = True
            returned = [n.value for n in ast.walk(function) if isinstance(n, (ast.Return, ast.Yield)) and n.value]
            self.known[function, mode] = bool(returned) and all(self.plain(one, mode, at) for one in returned)
        return self.known[function, mode]

    def _call(self, call: ast.Call, mode: str, at: Module) -> bool:
        match call.func:
            case ast.Name(id=name) if name == DOOR[mode] or name in OURS:
                return True
            case ast.Name(id="_" | "ngettext"):  # a sentence of the catalogue, with its values
                return all(self.plain(word.value, mode, at) for word in call.keywords)
            case ast.Name(id=name):
                homes = [module for module in self.modules if name in module.functions]
                return bool(homes) and all(self._function(home.functions[name], mode, home) for home in homes)
            case ast.Attribute(value=value, attr="join" | "format" | "get"):
                return all(self.plain(one, mode, at) for one in (value, *call.args))
        return False


def arguments(call: ast.Call) -> Iterator[tuple[ast.expr, str]]:
    """The arguments of a call that are read as Markdown or HTML."""
    name = call.func.attr
    on_streamlit = isinstance(call.func.value, ast.Name) and call.func.value.id == "st"
    if on_streamlit and name in NEVER:
        yield call, "never"
    if name == "html" and call.args:
        yield call.args[0], "html"
    if name.endswith("Column"):  # of a table: the tooltip of its head
        yield from ((word.value, "markdown") for word in call.keywords if word.arg == "help")
    if name not in (*BODY, *LABELLED):
        return
    if name in FIRST and call.args:
        yield call.args[0], "markdown"
    if name == "progress" and len(call.args) > 1:
        yield call.args[1], "markdown"
    if name in OPTIONS:
        words = {word.arg: word.value for word in call.keywords}
        options = words.get("format_func") or words.get("options") or (call.args[1] if len(call.args) > 1 else None)
        if options is not None:
            yield options, "markdown"
    yield from ((word.value, "markdown") for word in call.keywords if word.arg in NAMED)


def _numeric(value: ast.FormattedValue) -> bool:
    """Whether a format fits numbers and times alone, so that text would fail."""
    spec = ast.unparse(value.format_spec)[2:-1] if value.format_spec else ""
    return spec.endswith(("d", "f", "g", "%", ",")) or spec.startswith("%")


def _given(scope: ast.AST, name: str) -> Iterator[ast.expr | None]:
    """What is put into a name within a scope; None for what can't be followed."""
    arguments = getattr(scope, "args", None)
    if arguments and any(one.arg == name for one in (*arguments.args, *arguments.kwonlyargs)):
        yield None
    for node in ast.walk(scope):
        match node:
            case ast.Assign(targets=targets, value=value):
                for target in targets:
                    yield from _bound(target, value, name)
                    if isinstance(target, ast.Subscript) and ast.unparse(target.value) == name:
                        yield from (one for one in (target.slice, value) if not isinstance(one, ast.Lambda))
            case ast.AnnAssign(target=target, value=value) if value is not None:
                yield from _bound(target, value, name)
            case ast.AugAssign(target=target, value=value) | ast.NamedExpr(target=target, value=value):
                yield from _bound(target, value, name)
            case ast.For(target=target, iter=value) | ast.comprehension(target=target, iter=value):
                yield from _bound(target, value, name)
            case ast.Call(func=ast.Attribute(value=ast.Name(id=found), attr="append"), args=[value]) if found == name:
                yield value
            case ast.withitem(context_expr=value, optional_vars=ast.Name(id=found)) if found == name:
                yield None


def _bound(target: ast.expr, value: ast.expr, name: str) -> Iterator[ast.expr | None]:
    if isinstance(target, ast.Name) and target.id == name:
        yield value
    elif isinstance(target, ast.Tuple):
        for one, given in zip(target.elts, _unpacked(value, len(target.elts)), strict=True):
            yield from _bound(one, given, name)


def _unpacked(value: ast.expr, parts: int) -> list[ast.expr]:
    """What each name of a tuple is given: by `zip`, by a tuple, or else the whole."""
    match value:
        case ast.Call(func=ast.Name(id="zip"), args=given) | ast.Tuple(elts=given) if len(given) == parts:
            return given
    return [value] * parts
