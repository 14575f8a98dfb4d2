"""What every page uses: how things are said and shown, in the reader's language; and what a click does."""

import logging
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from datetime import datetime
from functools import cache, wraps
from html import escape
from pathlib import Path
from typing import Any, ParamSpec, TypeVar

import pandas as pd
import streamlit as st
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from pydantic import ValidationError
from streamlit.delta_generator import DeltaGenerator
from streamlit.runtime.uploaded_file_manager import DeletedFile

from courtroom import Record
from courtroom.access import Access, may
from courtroom.cases.checks import explain
from courtroom.engine.events import Called
from courtroom.errors import CourtroomError, Unreadable
from courtroom.language import ENGLISH, N_, _, language, ngettext, translated
from courtroom.settings import from_environment
from courtroom.store.connection import FAILURES
from courtroom.store.opening import explained

MARKS = "\\`*_{}[]()<>#+-.!|~$:=&\"'@"


def literal(text: object) -> str:
    """For Markdown: titles, captions, messages, labels, tooltips, options of radios and pills. In one line. A screen
    reader would read its marks: a label that the author of a procedure wrote is `translated` alone."""
    return "".join(f"\\{c}" if c in MARKS else c for c in " ".join(translated(str(text)).split()))


def escaped(text: object, *, as_it_is: bool = False) -> str:
    """Return a text for HTML, between tags and in quoted attributes; `as_it_is`, as part of one, is not translated."""
    return escape(str(text) if as_it_is else translated(str(text)), quote=True)


def placed(record: Record, call: Called) -> str:
    """Return where an answer was given, in the reader's words."""
    return " · ".join(map(translated, record.place_of(call)))


def field_in_words(path: str) -> str:
    """Return the path of a field with a name for each of its steps, such as `Persona · Background`."""
    steps = (step.replace("_", " ") for step in path.split("."))
    return " · ".join(translated(step[:1].upper() + step[1:]) for step in steps)


def money(dollars: float | None, *, about: bool = False) -> str:
    """Return a sum of US dollars. `about`: it is estimated, as a server did not count its tokens."""
    if about and dollars:
        return _("about {number}", number=money(dollars))
    if dollars is None:
        return _("price unknown")
    if dollars == 0:
        return _("free")
    return f"${dollars:,.2f}" if dollars >= 0.01 else f"{dollars * 100:.2g} ¢"


def spent_in_words(run: Record) -> str:
    """Return what a run took: calls, tokens, money and time."""
    calls = {"asked": count(run.asked), "recorded": count(run.recorded), "failed": run.failed}
    prompt, completion = run.tokens
    tokens = {"prompt": count(prompt, about=run.spent.estimated), "completion": count(completion)}
    text = _("{asked} calls asked, {recorded} from the record, {failed} failed", **calls)
    text += _(" · {prompt} prompt and {completion} completion tokens", **tokens)
    if run.spent.cached:
        text += _(" ({cached} from the provider's cache)", cached=count(run.spent.cached))
    if run.spent.batched:
        text += _(" · {batched} tokens by batch, at half the price", batched=count(run.spent.batched))
    return f"{text} · {literal(money(run.cost, about=run.spent.estimated))} · {duration(run.run.wall_s)}"


def count(number: float, *, about: bool = False) -> str:
    """1,234 or 1.2 M. `about`: it is estimated."""
    if about and number:
        return _("about {number}", number=count(number))
    for size, name in ((1e9, " bn"), (1e6, " M"), (1e4, " k")):
        if number >= size:
            return f"{number / (size if size != 1e4 else 1e3):.1f}{name}"
    return f"{number:,.0f}"


def many(number: int, thing: str) -> str:
    """1 run, 2 runs."""
    return ngettext(f"{{number}} {thing}", f"{{number}} {thing}s", number)


def duration(seconds: float) -> str:
    """0.2 s, 45 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return _("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def moment(at: float) -> str:
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")


def inert(text: str, *, small: bool = False, faint: bool = False) -> None:
    """Show text exactly as written, line breaks included; what the engine says in it is translated."""
    style = "white-space:pre-wrap;overflow-wrap:anywhere;"
    style += "font-size:0.875rem;" if small else ""
    style += "opacity:0.75;" if faint else ""
    st.html(f'<div style="{style}">{escaped(text)}</div>')


def uploader(
    place: Any, title: str, types: Sequence[str] | None = None, *, key: str, several: bool = False, about: str = ""
) -> Any:
    """Draw what takes a file, or several; return the file, or a list. None without one, and where the browser still
    shows a file that the server, started again since, does not have: what was to be done would be done without it."""
    files = place.file_uploader(title, types, accept_multiple_files=several, key=key, help=about or None)
    held = st.session_state.get(key)
    if not any(isinstance(file, DeletedFile) for file in (held if isinstance(held, list) else [held])):
        return files
    text = _("The server was started again, and a file that is shown here is gone. Take it out, and choose it again.")
    place.warning(text, icon=":material/upload_file:")
    return None


STYLES = Path(__file__).parents[1] / "styles"
"""Style sheets of pages and parts."""


@cache
def _templates() -> Environment:
    from courtroom.figures.layout import tone  # slow to import: only for what is drawn so
    from courtroom.report.page import label

    loader = FileSystemLoader(Path(__file__).parents[1] / "templates")
    made = Environment(loader=loader, autoescape=True, undefined=StrictUndefined, trim_blocks=True, lstrip_blocks=True)
    made.globals["_"] = _
    made.filters.update(t=lambda text: translated(str(text)), tone=tone, label=label)
    return made


def html_of(template: str, **values: object) -> str:
    """Return HTML from a template of `pages/parts/templates`, in which no markup of a value takes effect."""
    return _templates().get_template(f"{template}.html.j2").render(theme=theme(), **values)


def theme() -> str:
    """Return the theme in which the reader sees the page: `light` or `dark`."""
    return st.context.theme.type or "light"


T = TypeVar("T")

HEADS = (
    *(N_("name"), N_("connection"), N_("gender"), N_("status"), N_("traits"), N_("interests"), N_("take")),
    *(N_("calls"), N_("verdict"), N_("flips"), N_("swing"), N_("share"), N_("low"), N_("high"), N_("done")),
    *(N_("seed"), N_("split"), N_("outcome known"), N_("categories"), N_("characters (mean)")),
    *(N_("characters (median)"), N_("characters (most)"), N_("follower"), N_("followed"), N_("knob"), N_("link")),
    *(N_("case"), N_("arm"), N_("state"), N_("outcome"), N_("cost"), N_("reason"), N_("repeat"), N_("category")),
    *(N_("repeated"), N_("prediction"), N_("Persona"), N_("statutes"), N_("charges"), N_("cases")),
    *(N_("First instance"), N_("Second instance"), N_("same"), N_("different"), N_("running"), N_("waiting")),
    *(N_("cancelled"), N_("person")),
)  # fmt: skip
"""Heads of columns and single words in them that are made where nobody looks at them."""


def table(rows: Any, columns: Sequence[str] | None = None, config: Mapping[str, Any] | None = None, **more: Any) -> Any:
    """A table to read, of what pandas takes for one; what the engine says is translated, names and numbers stay."""
    frame = pd.DataFrame(rows, columns=columns)
    return st.dataframe(_read(frame), hide_index=True, column_config=heads(frame, config), **more)


def rows_chosen(rows: Any, key: str, columns: Sequence[str] | None = None, **more: Any) -> list[int]:
    """A table of which a reader can choose a row, or several; the places of those that are chosen."""
    frame = pd.DataFrame(rows, columns=columns)
    state = table(frame, key=key, on_select="rerun", **{"selection_mode": "single-row", **more})
    return [place for place in state.selection.rows if place < len(frame)]


def heads(frame: pd.DataFrame, config: Mapping[str, Any] | None = None) -> dict[str, Any]:
    """Each column by its name in the reader's language, where it has no other."""
    return {**{name: translated(str(name)) for name in frame.columns}, **(config or {})}


def in_language(rows: Any) -> pd.DataFrame:
    """A table without settings of its columns, heads and all."""
    frame = _read(pd.DataFrame(rows))
    return frame.rename(columns=heads(frame))


def _read(frame: pd.DataFrame) -> pd.DataFrame:
    if language() == ENGLISH:
        return frame
    return frame.map(lambda cell: translated(cell) if isinstance(cell, str) else cell)


def one_of(label: str, options: Sequence[T], key: str, first: T, shown: Callable[[T], str] = str) -> T:
    """A row of options of which one is always chosen; only a screen reader hears the label."""
    looks: dict[str, Any] = {"default": first, "required": True, "label_visibility": "collapsed"}
    looks["format_func"] = lambda one: literal(shown(one))
    chosen: T = st.segmented_control(translated(label), options, key=key, **looks)
    return chosen


def in_columns(items: Sequence[T], number: int) -> Iterator[tuple[DeltaGenerator, T]]:
    """Each with its place in rows of so many."""
    for start in range(0, len(items), number):
        yield from zip(st.columns(number), items[start : start + number], strict=False)


def redrawn(wanted: Callable[[], bool], every_s: float | None) -> None:
    """Have the page look by itself, so often, whether it is to be drawn again; never, where that is None."""

    @st.fragment(run_every=every_s)
    @plainly()
    def look() -> None:
        if wanted():
            st.rerun()

    look()


def kept_choice(title: str, options: Sequence[str], name: str, **looks: Any) -> str:
    """Draw a choice that the session keeps under a name, where other pages read and set it."""
    key = f"{name}-chosen"  # else the widget would be another one after each choice, and the next be lost
    if st.session_state.get(key) not in options:  # another page was looked at, or others can be chosen now
        kept = st.session_state.get(name)
        st.session_state[key] = kept if kept in options else options[0]
    st.session_state[name] = chosen = st.selectbox(title, options, key=key, **looks)
    return str(chosen)


LIVE_S = 0.5


def under_way(jobs: Mapping[str, Any], draw: Callable[[Any], object]) -> None:
    """Draw each job, over and over for as long as one is running; the page is drawn again when the last has ended."""
    busy = any(job.running for job in jobs.values())

    @st.fragment(run_every=LIVE_S if busy else None)
    @plainly()
    def look() -> None:
        for job in list(jobs.values()):
            draw(job)
        if busy and not any(job.running for job in jobs.values()):
            st.rerun()

    look()


def first_of_page(total: int, size: int, key: str | None = None) -> int:
    """The place of the first line on the page of a list that the reader chooses; 0 where there is no other page."""
    pages = max(1, (total - 1) // size + 1)
    if key and st.session_state.get(key, 1) > pages:  # lines have gone since
        st.session_state[key] = pages
    return (st.pagination(pages, key=key) - 1) * size if pages > 1 else 0


SHOWN = 5


def unreadable_rows(rows: Sequence[Unreadable]) -> None:
    for row in rows[:SHOWN]:
        st.warning(literal(str(row)), icon=":material/broken_image:")
    if len(rows) > SHOWN:
        st.caption(_("and {rows} more; `python -m courtroom doctor` lists all.", rows=len(rows) - SHOWN))


@contextmanager
def plainly() -> Iterator[None]:
    """Around a page, and around each part of one that is drawn by itself; the log has the rest of an error."""
    try:
        yield
    except CourtroomError as error:
        st.error(literal(str(error)), icon=":material/error:")
    except FAILURES as error:
        logging.getLogger("courtroom").exception("the store failed")
        st.error(literal(str(explained(error, from_environment().database))), icon=":material/error:")


@contextmanager
def errors_shown() -> Iterator[None]:
    """Around what a click does: an error is shown where the button stands, and the page goes on below it."""
    try:
        yield
    except CourtroomError as error:
        st.error(literal(str(error)))
    except ValidationError as error:
        st.error(literal(" ".join(explain(error))))


def do(act: Callable[[], object]) -> None:
    """What a click does; then the page is drawn again."""
    with errors_shown():
        act()
        st.rerun()


@contextmanager
def undo_bar(key: str, restore: Callable[[Any], object]) -> Iterator[None]:
    """Around the sentence that says what was deleted; a button brings back what the session keeps under the key."""
    with st.container(horizontal=True, vertical_alignment="center"):
        yield
        if st.button(_("Undo"), icon=":material/undo:", key=f"undo-{key}"):
            with errors_shown():
                restore(st.session_state[key])
                del st.session_state[key]
                st.rerun()


P = ParamSpec("P")


def offered(draw: Callable[P, T]) -> Callable[P, T | None]:
    """A part of a page that is drawn only for people who may run something."""

    @wraps(draw)
    def drawn(*args: P.args, **kwargs: P.kwargs) -> T | None:
        return draw(*args, **kwargs) if may(Access.RUN) else None

    return drawn


def runs_here() -> bool:
    """Whether the person may add and start things; where not, the page says so in place of what it would offer."""
    if may(Access.RUN):
        return True
    st.caption(_(":material/lock: You look on here. Ask an owner of this server if you want to start something."))
    return False
