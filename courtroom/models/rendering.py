"""Rendering templates. Knows Jinja and nothing else of the program, so that a process of its own can start fast.

Run as a script, it renders for `apart` under hard limits: `rendering.py CPU_S MEMORY_MB LONGEST`. It reads pickled
requests from its standard input and writes a line of JSON for each; nothing of what it writes is ever unpickled.
"""

import io
import json
import os
import pickle
import select
import sys
import tomllib
from collections.abc import Callable, Iterator, Mapping
from functools import cache, partial
from pathlib import Path
from typing import Any, TypeVar

from jinja2 import Environment, FunctionLoader, StrictUndefined, TemplateSyntaxError, nodes
from jinja2.sandbox import ImmutableSandboxedEnvironment

LANGUAGES = tomllib.loads(Path(__file__).with_name("language_names.toml").read_text(encoding="utf-8"))
"""As prompts name them."""

T = TypeVar("T", bound=nodes.Node)
BLOCKS = ("shared", "own")
"""What is sent of a task's template."""
UNASKED = "it has neither the block `shared` nor the block `own`, so its question would not be sent"
IDLE_S = 30.0
"""A worker that is asked nothing for so long ends. A new one starts when it is needed."""


def environment(
    source: Callable[[str], str | None], kind: type[Environment] = ImmutableSandboxedEnvironment
) -> Environment:
    """An environment that finds its templates by `source`. By default they can't change what they are given.

    What differs each time (`lipsum`, `random`) is left out: the same inputs always give the same prompt.
    """
    kind = _in_lines(kind)
    made = kind(loader=FunctionLoader(source), undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.filters.update(quote=quote, line=line, language=language_name)
    del made.globals["lipsum"], made.filters["random"]
    return made


def language_name(code: str) -> str:
    """Return what a prompt calls a language; one without a name here is that of the material."""
    known = LANGUAGES.get(code) or LANGUAGES.get(code.split("-")[0])
    return known or f"the language of the material ({code})"


def _in_lines(kind: type[Environment]) -> type[Environment]:
    """Make environments whose templates put each value that is not quoted into the line in which it stands."""

    def parsed(self: Environment, source: str, name: str | None, filename: str | None) -> nodes.Template:
        template = kind._parse(self, source, name, filename)
        macros = {one.target for one in template.find_all(nodes.Import)}
        quoted = {id(part) for block in template.find_all(nodes.FilterBlock) for part in block.find_all(nodes.Output)}
        for output in template.find_all(nodes.Output):
            for place, one in enumerate(output.nodes if id(output) not in quoted else ()):
                if not _may_have_lines(one, macros):
                    output.nodes[place] = nodes.Filter(one, "line", [], [], None, None, lineno=one.lineno)
        return template

    return type(kind.__name__, (kind,), {"_parse": parsed})


def _may_have_lines(node: nodes.Expr, macros: set[str]) -> bool:
    """Whether it is our own text, quoted, or made by a macro, in which the same holds of each value."""
    if isinstance(node, nodes.TemplateData) or any(one.name == "quote" for one in _with(node, nodes.Filter)):
        return True
    called = [call.node for call in _with(node, nodes.Call)]
    return any(
        isinstance(one, nodes.Name) or (isinstance(one, nodes.Getattr) and getattr(one.node, "name", "") in macros)
        for one in called
    )


def _with(node: nodes.Expr, kind: type[T]) -> list[T]:
    return [*([node] if isinstance(node, kind) else []), *node.find_all(kind)]


def line(value: object) -> object:
    """Put a text into one line: what stands outside a quotation can begin no line of its own."""
    return " ".join(value.splitlines()) if isinstance(value, str) and len(value.splitlines()) > 1 else value


def quote(text: str) -> str:
    """Material as a block quote: whatever it says, each of its lines is visibly not ours."""
    return "\n".join(f"> {line}" for line in str(text).splitlines()) or "> (empty)"


def whole(templates: Environment, name: str, inputs: Mapping[str, object]) -> str:
    """A whole template, with a line break at its end."""
    return templates.get_template(name).render(inputs).strip() + "\n"


def blocks(templates: Environment, name: str, inputs: Mapping[str, object]) -> tuple[str, str]:
    """The blocks `shared` and `own` of a template; one of them may be missing. Raises `ValueError`: it asks nothing."""
    template = templates.get_template(name)
    context = template.new_context(dict(inputs))
    texts = ("".join(template.blocks[name](context) if name in template.blocks else ()).strip() for name in BLOCKS)
    shared, own = (f"{text}\n" if text else "" for text in texts)
    if not shared and not own:
        raise ValueError(UNASKED if template.blocks.keys().isdisjoint(BLOCKS) else "nothing stands in its blocks")
    return shared, own


def rendered(
    templates: Environment, what: str, name: str, common: Mapping[str, object], inputs: Mapping[str, object]
) -> tuple[str, ...]:
    """A template that is `whole`, made of what the run shares alone, or else its blocks."""
    return (whole(templates, name, common),) if what == "whole" else blocks(templates, name, {**common, **inputs})


def not_sent(template: nodes.Template) -> tuple[int, str] | None:
    """Return the line from which a task's template is not sent, and why; None where all is."""
    if not any(block.name in BLOCKS for block in template.find_all(nodes.Block)):
        return 1, UNASKED
    for node in template.body:
        if isinstance(node, nodes.Block) and node.name not in BLOCKS:
            return node.lineno, f"its block `{node.name}` is never sent; a prompt has the blocks `shared` and `own`"
        for part in node.nodes if isinstance(node, nodes.Output) else ():
            if not isinstance(part, nodes.TemplateData) or part.data.strip():
                return part.lineno, "what stands outside its blocks `shared` and `own` is never sent"
    return None


def reason(error: BaseException) -> str:
    """Why a template can't be used, in words that fit into a sentence."""
    if isinstance(error, TemplateSyntaxError):
        return f"line {error.lineno}: {_short(error.message or 'it is no template')}"
    if isinstance(error, RecursionError):
        return "it calls itself without end, or is nested too deep"
    if isinstance(error, MemoryError):
        return "it needs too much memory"
    return _short(str(error) or type(error).__name__)


def _short(text: str) -> str:
    text = " ".join(text.split()).rstrip(".")
    return text if len(text) <= 300 else text[:300] + " ..."


class RecordCopy:
    """An object of the program as a template in the worker sees it: a name, fields, properties, and texts by language.

    It prints as the original does, so that a prompt is the same whichever process renders it.
    """

    _state: tuple[str, Mapping[str, Any], Mapping[str, Any], Mapping[str, Any], str | None]

    def __init__(
        self, name: str, shown: Mapping[str, Any], more: Mapping[str, Any], spoken: Mapping[str, Any], text: str | None
    ) -> None:
        methods = {name: partial(_said, texts) for name, texts in spoken.items()}
        self.__dict__.update({**methods, **more, **shown}, _state=(name, shown, more, spoken, text))

    def __reduce__(self) -> tuple[Any, ...]:
        return record, self._state

    def __iter__(self) -> Iterator[tuple[str, Any]]:
        return iter(self._state[1].items())

    def __eq__(self, other: object) -> bool:
        return isinstance(other, RecordCopy) and self._state[:2] == other._state[:2]

    def __hash__(self) -> int:
        return hash(repr(self))

    def __str__(self) -> str:
        *_, text = self._state
        return " ".join(f"{name}={value!r}" for name, value in self) if text is None else text

    def __repr__(self) -> str:
        return f"{self._state[0]}({', '.join(f'{name}={value!r}' for name, value in self)})"


def record(name: str, *state: Any) -> RecordCopy:
    """A record whose type has the name of the original's, as Jinja names it where an attribute is missing."""
    return _kind(name)(name, *state)


@cache
def _kind(name: str) -> type[RecordCopy]:
    return type(name, (RecordCopy,), {"__module__": "builtins"})


def _said(texts: Mapping[str, str], language: str) -> str:
    """Stand for a method that gives a text in a language; its answers are known beforehand."""
    return texts.get(language.split("-")[0].lower(), texts[""])


class Reader(pickle.Unpickler):
    """Reads what the program sends; makes nothing but plain data and records."""

    def find_class(self, module: str, name: str) -> Any:
        if name == "record":
            return record
        if module == "datetime" or (module == "builtins" and name in ("set", "frozenset")):
            return super().find_class(module, name)
        raise pickle.UnpicklingError(f"{module}.{name} is no plain data")


def serve(cpu_s: int, memory_mb: int, longest: int) -> None:
    """Answer requests until there are none. Each has `cpu_s` seconds of the processor at most, and `memory_mb`."""
    given = sys.stdin.buffer
    sources, common, request = Reader(given).load()
    templates = environment(sources.get)
    templates.from_string("{% for x in (1,) %}{{ x }}{% endfor %}").render()  # all that Jinja loads late
    limited = _limit(memory_mb)
    while True:
        what, name, inputs = request
        if limited:
            _allow(cpu_s)
        reply: dict[str, Any] = {}
        try:
            if what in ("parse", "parse task"):
                parsed = templates.parse(sources[name])
                lost = not_sent(parsed) if what == "parse task" else None
                reply = {"error": f"line {lost[0]}: {_short(lost[1])}"} if lost else {}
            else:
                reply["texts"] = rendered(templates, what, name, common, inputs)
                if sum(map(len, reply["texts"])) > longest:
                    reply = {"error": f"it becomes longer than {longest:,} characters"}
        except Exception as error:  # noqa: BLE001  whatever a template does is reported, and is the template's fault
            reply = {"error": reason(error)}
        print(json.dumps(reply), flush=True)
        # Nothing is left in its buffer: each request waits for a reply.
        if not select.select([given], [], [], IDLE_S)[0]:
            return
        try:
            request = Reader(given).load()
        except EOFError:
            return


def _limit(memory_mb: int) -> bool:
    """So much memory on top of what the worker has already, and no file written. False where a system has no limits."""
    try:
        import resource
    except ImportError:
        return False
    with open("/proc/self/statm") if os.path.exists("/proc/self/statm") else io.StringIO("65536") as text:
        has = int(text.read().split()[0]) * resource.getpagesize()
    limits = {resource.RLIMIT_AS: has + memory_mb * 2**20, resource.RLIMIT_FSIZE: 0, resource.RLIMIT_CORE: 0}
    for what, most in limits.items():
        resource.setrlimit(what, (most, most))
    return True


def _allow(cpu_s: int) -> None:
    import resource

    used = sum(resource.getrusage(resource.RUSAGE_SELF)[:2])
    resource.setrlimit(resource.RLIMIT_CPU, (int(used) + 1 + cpu_s, resource.RLIM_INFINITY))


if __name__ == "__main__":
    serve(*map(int, sys.argv[1:]))
