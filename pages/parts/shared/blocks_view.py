"""The blocks of a view on a page, where the reader chooses one of several labels; and an answer, as a form or to be read."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.engine.blocks import Beside, Block, Card, Cards, Diff, Flow, Graph, Marked, Table, Text, runs
from courtroom.engine.procedure import Procedure
from courtroom.figures.graph import draw_graph
from courtroom.figures.layout import tone
from courtroom.language import _, translated
from courtroom.report.page import label
from courtroom.text.words import changes
from pages.parts.shared.shown import escaped, inert, literal, one_of, table


def choice_html(procedure: Procedure, name: str | None, size: str = "1rem") -> str:
    text, colour = choice_words(procedure, name)
    weight, spaces = 600 if name else 400, "nowrap" if colour else "normal"  # an outcome in words may be long
    style = f"font-size:{escaped(size)};color:{colour or 'inherit'};font-weight:{weight};white-space:{spaces}"
    return f'<span style="{escaped(style, as_it_is=True)}">{escaped(text, as_it_is=True)}</span>'


def choice_words(procedure: Procedure, name: str | None) -> tuple[str, str]:
    """A choice as plain text, and its colour; empty for an outcome in words, such as a judgment."""
    theme = st.context.theme.type or "light"
    choice = next((choice for choice in procedure.choices if choice.name == name), None)
    if choice:
        return f"{choice.mark} {translated(choice.title)}", tone(choice.tone, theme)
    return (translated(name), "") if name else (f"○ {_('abstained')}", tone(None, theme))


PER_ROW = 3
MOST_SIDE_BY_SIDE = 14


def blocks_view(labelled: Mapping[str, Sequence[Block]], procedure: Procedure, key: str) -> None:
    labels = list(labelled)
    chosen = labels[-1]
    if len(labels) > MOST_SIDE_BY_SIDE:
        chosen = st.selectbox(
            _("Show"), labels, key=f"label-{key}-{len(labels)}", label_visibility="collapsed", format_func=translated
        )
    elif len(labels) > 1:
        chosen = one_of(_("Show"), labels, f"label-{key}-{len(labels)}", labels[-1])
    for number, block in enumerate(labelled[chosen]):
        block_view(block, procedure, key=f"{key}-{number}")


def block_view(
    block: Block, procedure: Procedure, key: str, *, per_row: int = PER_ROW, together: Sequence[Graph] = ()
) -> None:
    """Draw one block; narrower next to others, and a graph in one layout with those next to it."""
    if isinstance(block, Text):
        st.html(_title_html(block.title) + _words_html(block.body))
        return
    if not isinstance(block, Graph) and block.title:
        st.html(_title_html(block.title))
    if isinstance(block, Graph):
        theme = st.context.theme.type or "light"
        figure = draw_graph(block, procedure.choices, theme, 620 if not together else 480, together)
        st.plotly_chart(figure, key=f"graph-{key}")
        inert(block.caption, small=True)
    elif isinstance(block, Table):
        _table(block)
    elif isinstance(block, Flow):
        _flow(block)
    elif isinstance(block, Diff):
        st.html(diff_html(block.before, block.after))
    elif isinstance(block, Marked):
        st.html(marked_html(block, procedure))
        inert(block.caption, small=True)
    elif isinstance(block, Beside):
        columns = st.columns(len(block.blocks), gap="large") if per_row > 1 else [st.container() for _ in block.blocks]
        for place, (column, part) in enumerate(zip(columns, block.blocks, strict=True)):
            with column.container(border=True):
                block_view(part, procedure, f"{key}-{place}", per_row=per_row, together=together)
    else:
        _cards(block, per_row)


def marked_html(marked: Marked, procedure: Procedure) -> str:
    """A text with its spans underlaid in the colours of their choices; the choice is shown by its mark too."""
    theme = st.context.theme.type or "light"
    by_name = {choice.name: choice for choice in procedure.choices}
    parts = []
    for text, span in runs(marked):
        if span is None:
            parts.append(escaped(text, as_it_is=True))
            continue
        choice = by_name.get(span.choice)
        colour = tone(choice.tone if choice else None, theme)
        mark = f"<sup>{escaped(choice.mark)}</sup>" if choice else ""
        style = f"background:{colour}2E;border-bottom:2px solid {colour};color:inherit;padding:0 2px"
        parts.append(f'<mark style="{style}" title="{escaped(span.note)}">{escaped(text, as_it_is=True)}{mark}</mark>')
    return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere">{"".join(parts)}</div>'


def diff_html(before: str, after: str) -> str:
    """Both texts in one: what is gone struck through, what is new underlined."""
    tags = {"same": "{}", "gone": "<del>{}</del>", "new": "<ins>{}</ins>"}
    pieces = changes(translated(before), translated(after))
    marked = "".join(tags[kind].format(escaped(text, as_it_is=True)) for kind, text in pieces)
    style = (
        "<style>.diff{white-space:pre-wrap;overflow-wrap:anywhere}.diff del,.diff ins{padding:0 .15em;border-radius:3px}"
        ".diff del{background:rgba(217,72,47,.22)}.diff ins{background:rgba(47,160,110,.25)}"
        ".diff del+ins{margin-left:.15em}</style>"
    )
    return f'{style}<div class="diff">{marked}</div>'


MARKS = {
    "done": ":material/check:",
    "passed": ":material/check_circle:",
    "rejected": ":material/cancel:",
    "to come": "",
}


def _flow(flow: Flow) -> None:
    for number, step in enumerate(flow.steps):
        if number:
            st.html('<div style="text-align:center;opacity:.6;line-height:1">↓</div>')
        with st.container(border=True):
            word = {"passed": _(" · Pass"), "rejected": _(" · Reject"), "to come": _(" · to come"), "done": ""}[
                step.state
            ]
            st.markdown(f"{MARKS[step.state]} **{literal(step.title)}** · {literal(step.who)}{word}")
            if step.body:
                inert(step.body, small=True)
            for item in step.items:
                inert(f"• {translated(item)}", small=True)


def _table(block: Table) -> None:
    if not block.rows:
        st.caption(literal(block.empty))
        return
    config = {
        name: st.column_config.ProgressColumn(translated(name), min_value=0.0, max_value=1.0, format="%.2f")
        for name in block.shares
    }
    table(pd.DataFrame(block.rows, columns=list(block.columns)), config)


def _cards(cards: Cards, per_row: int) -> None:
    if not cards.cards:
        st.caption(literal(cards.empty))
        return
    # One element for all: each has its price in the browser.
    style = (
        f"<style>.cards{{display:grid;grid-template-columns:repeat({per_row:d},minmax(0,1fr));gap:1rem}}"
        ".cards>div{padding:1rem;border:1px solid color-mix(in srgb,currentColor 22%,transparent);border-radius:.5rem;"
        "overflow-wrap:anywhere}.cards .share{height:.5rem;border-radius:.25rem;margin:.5rem 0;"
        "background:color-mix(in srgb,currentColor 12%,transparent)}"
        ".cards .share div{height:100%;border-radius:.25rem;background:#3B82C4}.cards .facts{font-size:.875rem;"
        "opacity:.8;margin-bottom:.5rem}@media(max-width:640px){.cards{grid-template-columns:1fr}}</style>"
    )
    st.html(f'{style}<div class="cards">{"".join(_card_html(card) for card in cards.cards)}</div>')


def _card_html(card: Card) -> str:
    share = min(1.0, card.share) if card.share is not None else None
    bar = f'<div class="share"><div style="width:{share:.0%}"></div></div>' if share is not None else ""
    facts = " · ".join(f"{escaped(name)} {escaped(value)}" for name, value in card.facts)
    texts = [card.body, *(f"• {translated(item)}" for item in card.items)]
    words = "".join(_words_html(text, small=True) for text in texts if text)
    return f'<div>{_title_html(card.title)}{bar}<div class="facts">{facts}</div>{words}</div>'


def _title_html(title: str) -> str:
    return f'<div style="font-weight:600">{escaped(title)}</div>' if title else ""


def _words_html(text: str, *, small: bool = False) -> str:
    size = "font-size:0.875rem;" if small else ""
    return f'<div style="white-space:pre-wrap;overflow-wrap:anywhere;{size}margin-bottom:.4rem">{escaped(text)}</div>'


def answer_fields(schema: Mapping[str, Any], value: Mapping[str, Any] | None, key: str) -> dict[str, Any]:
    """One widget a field; to be called within a form. Raises `ValueError`: a field's JSON can't be read; the message names the field."""
    filled: dict[str, Any] = {}
    kinds = schema.get("$defs", {})
    for name, field in schema.get("properties", {}).items():
        now = (value or {}).get(name, field.get("default"))
        filled[name] = _field(name, _resolved(field, kinds), now, f"{key}-{name}")
    return filled


def _field(name: str, field: Mapping[str, Any], now: Any, key: str) -> Any:
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1 and choices[0].get("type") == "string":
        return _field(name, {**field, **choices[0], "anyOf": ()}, now, key) or None
    title = literal(name.replace("_", " ").capitalize())
    help_text = literal(field.get("description") or "")
    if options := field.get("enum"):
        place = options.index(now) if now in options else None
        return st.radio(title, options, place, key=key, horizontal=True, help=help_text, format_func=literal)
    match field.get("type"):
        case "boolean":
            return st.toggle(title, bool(now), key=key, help=help_text)
        case "integer":
            return st.number_input(title, value=int(now) if now is not None else 0, step=1, key=key, help=help_text)
        case "number":
            return st.number_input(title, value=float(now) if now is not None else 0.0, key=key, help=help_text)
        case "string":
            return st.text_area(title, str(now or ""), key=key, help=help_text, height="content")
        case "array" if field.get("items", {}).get("type") == "string":
            lines = st.text_area(
                _("{title} (one a line)", title=title),
                "\n".join(map(str, now or ())),
                key=key,
                help=help_text,
                height="content",
            )
            return [line.strip() for line in lines.splitlines() if line.strip()]
    given = json.dumps(now, ensure_ascii=False, indent=1) if now is not None else ""
    text = st.text_area(_("{title} (JSON)", title=title), given, key=key, help=help_text, height="content")
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise ValueError(_("{title} is not valid JSON, line {line}.", title=title, line=error.lineno)) from error


def _resolved(field: Mapping[str, Any], kinds: Mapping[str, Any]) -> Mapping[str, Any]:
    if "$ref" in field:
        return {**kinds[field["$ref"].rpartition("/")[2]], **field}
    if "const" in field:
        return {**field, "enum": [field["const"]]}
    return field


def answer_view(value: dict[str, Any]) -> None:
    st.html(f'<div style="overflow-wrap:anywhere">{_html(value)}</div>')


def _html(value: Any) -> str:
    if isinstance(value, dict):
        rows = [
            f'<div style="margin:.25rem 0"><span style="opacity:.65;font-size:.8rem">{escaped(label(name))}</span>'
            f'<div style="margin-left:.6rem">{_html(item)}</div></div>'
            for name, item in value.items()
            if item not in ("", [], {}, None)
        ]
        return "".join(rows)
    if isinstance(value, list):
        return (
            '<ul style="margin:.1rem 0;padding-left:1.2rem">'
            + "".join(f"<li>{_html(item)}</li>" for item in value)
            + "</ul>"
        )
    if isinstance(value, bool):
        return _("yes") if value else _("no")
    return escaped(str(value))
