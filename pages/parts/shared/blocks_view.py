"""The blocks of a view, by label where there are several; how sure members are; an answer, as a form or to be read."""

import json
from collections.abc import Mapping, Sequence
from typing import Any

import pandas as pd
import streamlit as st
from jsonschema import Draft202012Validator

from courtroom import CourtroomError, Procedure
from courtroom.declarations.blocks import Beside, Block, Diff, Flow, Graph, Marked, Table, Text, runs
from courtroom.evaluation.calibration import Forecast, brier, reliability
from courtroom.figures.graph import draw_graph, draw_reliability
from courtroom.figures.layout import tone
from courtroom.language import N_, _, translated
from courtroom.text.words import changes
from pages.parts.shared.shown import errors_shown, escaped, html_of, inert, literal, one_of, table, theme


def choice_html(procedure: Procedure, name: str | None, size: str = "1rem") -> str:
    text, colour = choice_words(procedure, name)
    weight, spaces = 600 if name else 400, "nowrap" if len(text) < 24 else "normal"  # an outcome may be long
    style = f"font-size:{escaped(size)};color:{colour or 'inherit'};font-weight:{weight};white-space:{spaces};"
    style += "overflow-wrap:anywhere"
    return f'<span style="{escaped(style, as_it_is=True)}">{escaped(text, as_it_is=True)}</span>'


def choice_words(procedure: Procedure, name: str | None) -> tuple[str, str]:
    """A choice as plain text, and its colour; empty for an outcome in words, such as a judgment."""
    choice = next((choice for choice in procedure.choices if choice.name == name), None)
    if choice:
        return f"{choice.mark} {translated(choice.title)}", tone(choice.tone, theme())
    return (translated(name), "") if name else (f"○ {_('abstained')}", tone(None, theme()))


MARKS = {"done": ":material/check:", "passed": ":material/check_circle:", "rejected": ":material/cancel:"}
PER_ROW = 3
MAX_SIDE_BY_SIDE = 14
SHORT = 60
"""Characters up to which a value is read at a glance; what is longer wraps, and needs marks where it differs."""


def blocks_view(labelled: Mapping[str, Sequence[Block]], procedure: Procedure, key: str) -> None:
    labels = list(labelled)
    for number, block in enumerate(labelled[label_chosen(labels, f"label-{key}-{len(labels)}", labels[-1])]):
        block_view(block, procedure, key=f"{key}-{number}")


def label_chosen(labels: Sequence[str], key: str, first: str) -> str:
    """The label that the reader chooses; many of them are a list to select from."""
    if len(labels) > MAX_SIDE_BY_SIDE:
        place = labels.index(first)
        return st.selectbox(_("Show"), labels, place, key=key, label_visibility="collapsed", format_func=translated)
    return one_of(_("Show"), labels, key, first) if len(labels) > 1 else first


def block_view(block: Block, procedure: Procedure, key: str, *, per_row: int = PER_ROW) -> None:
    """Draw one block; narrower next to others."""
    if isinstance(block, Text):
        st.html(html_of("text", title=block.title, body=block.body))
        return
    if not isinstance(block, Graph) and block.title:
        st.html(html_of("text", title=block.title, body=""))
    if isinstance(block, Graph):
        st.plotly_chart(draw_graph(block, procedure.choices, theme(), 620), key=f"graph-{key}")
        inert(block.caption, small=True)
    elif isinstance(block, Table) and not block.rows:
        st.caption(literal(block.empty))
    elif isinstance(block, Table):
        if any(isinstance(cell, str) and len(translated(cell)) > SHORT for row in block.rows for cell in row):
            st.html(html_of("prose", table=block))  # the cells of a data frame do not wrap
        else:
            looks: dict[str, Any] = {"min_value": 0.0, "max_value": 1.0, "format": "%.2f"}
            shares = {name: st.column_config.ProgressColumn(translated(name), **looks) for name in block.shares}
            table(block.rows, list(block.columns), shares)
    elif isinstance(block, Flow):
        for number, step in enumerate(block.steps):
            if number:
                st.html('<div style="text-align:center;opacity:.6;line-height:1">↓</div>')
            with st.container(border=True):
                words = {"passed": _(" · Pass"), "rejected": _(" · Reject"), "to come": _(" · to come"), "done": ""}
                icon = MARKS.get(step.state, "")
                st.markdown(f"{icon} **{literal(step.title)}** · {literal(step.who)}{words[step.state]}")
                for line in filter(None, (step.body, *(f"• {translated(item)}" for item in step.items))):
                    inert(line, small=True)
    elif isinstance(block, Diff):
        st.html(diff_html(block.before, block.after))
    elif isinstance(block, Marked):
        choices = {choice.name: choice for choice in procedure.choices}  # spans are underlaid in their colours
        st.html(html_of("marked", parts=list(runs(block)), choices=choices))
        inert(block.caption, small=True)
    elif isinstance(block, Beside):
        columns = st.columns(len(block.blocks), gap="large") if per_row > 1 else [st.container() for _ in block.blocks]
        for place, (column, part) in enumerate(zip(columns, block.blocks, strict=True)):
            with column.container(border=True):
                block_view(part, procedure, f"{key}-{place}", per_row=per_row)
    elif not block.cards:
        st.caption(literal(block.empty))
    else:
        st.html(html_of("cards", cards=block.cards, per_row=per_row))  # one element for all, as each has its price


def diff_html(before: str, after: str) -> str:
    """Both texts in one: what is gone struck through, what is new underlined."""
    return html_of("diff", pieces=list(changes(translated(before), translated(after))))


def reliability_view(given: Mapping[str, Sequence[Forecast]], key: str) -> None:
    """Draw whether members are as sure as they are right, by whose forecasts these are: score, figure and bins."""
    bins = {name: reliability(forecasts) for name, forecasts in given.items()}
    for name, forecasts in given.items():
        values = {"name": literal(name), "score": f"{brier(forecasts):.3f}", "votes": f"{len(forecasts):,}"}
        st.markdown(_("{name}: Brier score **{score}**, n = {votes} votes", **values))
    about = _(
        "Of each member's last vote. A confidence of 0 counts as an even chance among the choices, 100 as certain. A Brier score of 0 is perfect; whoever always gives two choices an even chance has 0.25."
    )
    st.caption(about)
    st.plotly_chart(draw_reliability(bins, theme()), key=f"reliability-{key}")
    titles = {"probability": N_("how sure"), "right": N_("right")}
    shares = {name: st.column_config.NumberColumn(_(title), format="percent") for name, title in titles.items()}
    table(pd.concat(bins, names=[""]).reset_index(level=0), config=shares)


def answer_fields(schema: Mapping[str, Any], value: Mapping[str, Any] | None, key: str) -> dict[str, Any] | None:
    """Draw a widget for each field, within a form; None where the JSON of one is broken, which is said."""
    filled: dict[str, Any] = {}
    kinds = schema.get("$defs", {})
    with errors_shown():
        for name, field in schema.get("properties", {}).items():
            whole = {**kinds[field["$ref"].rpartition("/")[2]], **field} if "$ref" in field else field
            filled[name] = _field(name, whole, (value or {}).get(name, field.get("default")), f"{key}-{name}")
        return filled
    return None


def unfit(schema: Mapping[str, Any], answer: Mapping[str, Any]) -> list[str]:
    """Return the titles of the fields that are empty or do not fit, in the order of the schema."""
    wrong = {str(error.path[0]) for error in Draft202012Validator(schema).iter_errors(answer) if error.path}
    return [literal(_title(name)) for name in schema.get("properties", {}) if name in wrong]


def _title(name: str) -> str:
    return name.replace("_", " ").capitalize()


def _field(name: str, field: Mapping[str, Any], now: Any, key: str) -> Any:
    choices = [choice for choice in field.get("anyOf", ()) if choice.get("type") != "null"]
    if len(choices) == 1 and choices[0].get("type") == "string":
        return _field(name, {**field, **choices[0], "anyOf": ()}, now, key) or None
    title = literal(_title(name))
    help_text = literal(field.get("description") or "")
    if options := [field["const"]] if "const" in field else field.get("enum"):
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
            title, text = _("{title} (one a line)", title=title), "\n".join(map(str, now or ()))
            lines = st.text_area(title, text, key=key, help=help_text, height="content")
            return [line.strip() for line in lines.splitlines() if line.strip()]
    given = json.dumps(now, ensure_ascii=False, indent=1) if now is not None else ""
    text = st.text_area(_("{title} (JSON)", title=title), given, key=key, help=help_text, height="content")
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise CourtroomError(_("{title} is not valid JSON, line {line}.", title=title, line=error.lineno)) from error


def answer_view(value: dict[str, Any]) -> None:
    """Show an answer with the names of its fields."""
    st.html(html_of("answer", value=value))
