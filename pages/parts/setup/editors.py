"""Editors of what takes more than one field: the jury and saved panels, the follow-graph, the rules, the prompts."""

import difflib
from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.access import Access
from courtroom.cases.case import Case
from courtroom.courthouse import Courthouse
from courtroom.engine.blocks import Edge, Graph, Node
from courtroom.engine.knobs import Widget, seating
from courtroom.engine.procedure import Procedure
from courtroom.figures.graph import draw_graph
from courtroom.language import _, translated
from courtroom.models.apart import why_no_template
from courtroom.models.prompts import templates
from courtroom.panel.follow_graph import FollowGraph, influence
from courtroom.panel.personas import Persona, checked, read_panel, write_csv, write_yaml
from pages.parts.shared.actions import do, offered, undo_bar
from pages.parts.shared.case_view import encoding_choice
from pages.parts.shared.knobs import SetupDraft, knob
from pages.parts.shared.shown import declared, heads, literal, many

DELETED = "deleted_panel"


def panels_bar(house: Courthouse, draft: SetupDraft, jury: Sequence[dict[str, Any]]) -> None:
    """What can be done with whole panels; each way tells in a sentence why it can't."""
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if names := house.panels.names():
            chosen = st.selectbox(_("Saved panel"), names, key="panel-chosen", width=280, format_func=translated)
            about = _("Its persons take the seats, in their order.")
            if st.button(_("Seat this panel"), icon=":material/event_seat:", help=about):
                do(lambda: _seat(draft, house.panels.load(chosen)))
            with st.popover(_("Rename or delete")):
                _change(house, chosen)
        with st.popover(_("Save this jury"), icon=":material/save:"):
            _save(house, jury)
        with st.popover(_("Import persons"), icon=":material/upload_file:"):
            _import(house, draft)
        with st.popover(_("Export persons"), icon=":material/download:"):
            persons = [Persona.model_validate(row) for row in jury]
            st.download_button(_("CSV, for a spreadsheet"), write_csv(persons), "panel.csv", "text/csv")
            st.download_button(_("YAML"), write_yaml(persons), "panel.yaml", "application/yaml")
    if deleted := st.session_state.get(DELETED):
        with undo_bar(DELETED, lambda panel: house.panels.save(*panel)):
            st.markdown(_("The panel “{deleted}” is deleted.", deleted=literal(deleted[0])), width="content")


def _seat(draft: SetupDraft, panel: Sequence[Persona]) -> None:
    draft.values.update(seating(draft.kind, [person.model_dump(mode="json") for person in panel]))
    draft.renew()
    st.toast(_("{panel} seated.", panel=many(len(panel), "person")))


@offered(Access.RUN)
def _save(house: Courthouse, jury: Sequence[dict[str, Any]]) -> None:
    with st.form("panel-save", border=False, clear_on_submit=True):
        name = st.text_input(_("Name of the panel"), placeholder=_("seven neighbours"), max_chars=80)
        if st.form_submit_button(_("Save"), type="primary"):
            do(lambda: house.panels.save(name, checked(jury)))


@offered(Access.RUN)
def _change(house: Courthouse, chosen: str) -> None:
    with st.form("panel-rename", border=False):
        name = st.text_input(_("New name"), chosen, max_chars=80, key=f"panel-name-{chosen}")
        if st.form_submit_button(_("Rename")):
            do(lambda: house.panels.rename(chosen, name))
    if st.button(_("Delete this panel"), icon=":material/delete:", type="tertiary"):

        def delete() -> None:
            st.session_state[DELETED] = (chosen, house.panels.delete(chosen))

        do(delete)


def _import(house: Courthouse, draft: SetupDraft) -> None:
    st.caption(
        _(
            "A CSV or YAML file with a person in each row: name, gender, age, status, background, and if you like traits and "
            "interests, parted by semicolons. Export this jury to see the form."
        )
    )
    with st.form("panel-import", border=False, clear_on_submit=True):
        file = st.file_uploader(_("File"), type=["csv", "yaml", "yml"])
        name = st.text_input(_("Save as a panel named"), placeholder=_("the file's name"), max_chars=80)
        encoding = encoding_choice(st, "panel_encoding")
        if not st.form_submit_button(_("Import and seat"), type="primary") or file is None:
            return

    def take_in() -> None:
        panel, remark = read_panel(file.name, file.getvalue(), encoding)
        if remark:
            st.toast(literal(translated(remark)), icon=":material/info:", duration="long")
        house.panels.save(name.strip() or file.name.rpartition(".")[0], panel)
        _seat(draft, panel)

    do(take_in)


LISTS = ("traits", "interests")


def personas_table(house: Courthouse, draft: SetupDraft, case: Case) -> None:
    """Personas are drawn by the seed until one is edited; then the table is the jury."""
    name = draft.drawn[Widget.PERSONAS]
    try:
        jury: list[dict[str, Any]] = draft.complete(case)[name]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    panels_bar(house, draft, jury)
    with st.container(horizontal=True, vertical_alignment="bottom"):
        if st.button(_("Draw others"), icon=":material/casino:", help=_("Other personas, by another seed.")):
            draft.values[name] = []
            draft.seed += 1
            draft.version += 1
            st.rerun()
        if draft.values[name] and st.button(_("Back to those drawn by the seed"), icon=":material/restart_alt:"):
            draft.values[name] = []
            draft.version += 1
            st.rerun()
    st.caption(
        _(
            "{jury} jurors. Change any cell; traits and interests are lists with commas. The number of jurors is among the settings.",
            jury=len(jury),
        )
    )
    table = pd.DataFrame([{**row, **{part: ", ".join(row[part]) for part in LISTS}} for row in jury])
    age = st.column_config.NumberColumn(_("age"), min_value=18, max_value=95, step=1)
    background = st.column_config.TextColumn(_("background"), width="medium")
    edited = st.data_editor(
        table,
        key=draft.key(f"jury-{len(jury)}-{draft.seed}"),
        width="stretch",
        hide_index=True,
        height=min(640, 60 + 36 * len(jury)),
        column_config=heads(table, {"age": age, "background": background}),
    )
    rows = edited.to_dict("records")
    for row in rows:
        row["age"] = int(row["age"])
        row |= {part: [one.strip() for one in str(row[part]).split(",") if one.strip()] for part in LISTS}
    if rows != jury:
        draft.values[name] = rows
    if empty := draft.drawn.get(Widget.EMPTY_SEATS):
        field = draft.kind.model_fields[empty]
        draft.values[empty] = st.multiselect(
            literal(field.title or ""),
            range(1, len(jury) + 1),
            [seat for seat in draft.values[empty] if seat <= len(jury)],
            format_func=lambda seat: f"{seat} {jury[seat - 1]['name']}",
            key=draft.key(f"empty-{len(jury)}"),
            help=declared(field.description or "") or None,
        )


def graph_editor(draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    graph = draft.values[draft.drawn[Widget.GRAPH]]
    left, right = st.columns([1, 2], gap="large")
    with left:
        before = {name: graph[name] for name in ("kind", "density", "seed")}
        for name in before:
            graph[name] = knob(FollowGraph.model_fields[name], graph[name], draft.key(f"graph-{name}"))
        if any(graph[name] != value for name, value in before.items()):
            graph["edges"] = None
        if graph["edges"] is not None:
            st.caption(_("These edges stay as they are until you have others drawn."))
            if st.button(_("Draw others"), icon=":material/restart_alt:"):
                graph["edges"] = None
                draft.version += 1
                st.rerun()
    try:
        complete = draft.complete(case)
    except ValueError:
        right.caption(_("Mend the setup first."))
        return
    names = [persona["name"] for persona in complete[draft.drawn[Widget.PERSONAS]]]
    edges = [(int(k), int(j)) for k, j in complete[draft.drawn[Widget.GRAPH]]["edges"]]
    rank = influence(len(names), edges)
    nodes = tuple(Node(str(seat), name, None, rank[seat]) for seat, name in enumerate(names))
    block = Graph(nodes, tuple(Edge(str(k), str(j)) for k, j in edges))
    with right:
        figure = draw_graph(block, procedure.choices, st.context.theme.type or "light")
        st.plotly_chart(figure, key=draft.key("preview"))
        st.caption(_("Arrows go from a juror to those it follows; the more a juror is followed, the larger it is."))
    with st.expander(_("Edges ({edges})", edges=len(edges)), icon=":material/edit:"):
        seats = [f"{seat + 1} {name}" for seat, name in enumerate(names)]
        table = pd.DataFrame([(seats[k], seats[j]) for k, j in edges], columns=["follower", "followed"])
        choice = st.column_config.SelectboxColumn(options=seats, required=True)
        edited = st.data_editor(
            table, num_rows="dynamic", key=draft.key(f"edges-{len(names)}"), hide_index=True, width="stretch",
            column_config={"follower": choice, "followed": choice},
        )  # fmt: skip
        pairs = [(seats.index(k), seats.index(j)) for k, j in edited.dropna().itertuples(index=False) if k != j]
        if sorted(set(pairs)) != sorted(edges):
            graph["edges"] = [list(pair) for pair in sorted(set(pairs))]


def rules_editor(draft: SetupDraft) -> None:
    """One rule a line of the list; Undo above takes any change back."""
    name = draft.drawn[Widget.RULES]
    rules: list[str] = draft.values[name]
    st.caption(_("All who vote are given these rules, in this order."))
    moved: list[str] | None = None
    for number, rule in enumerate(rules):
        text, up, away = st.columns([20, 1, 1], vertical_alignment="center")
        rules[number] = text.text_area(
            _("Rule {number}", number=f"{number + 1:d}"), rule, key=draft.key(f"rule-{len(rules)}-{number}"), height=80
        )
        if up.button(
            "", icon=":material/arrow_upward:", key=draft.key(f"up-{number}"), disabled=number == 0, help=_("Move up")
        ):
            moved = [*rules[: number - 1], rules[number], rules[number - 1], *rules[number + 1 :]]
        if away.button("", icon=":material/delete:", key=draft.key(f"away-{number}"), help=_("Remove")):
            moved = [*rules[:number], *rules[number + 1 :]]
    with st.container(horizontal=True):
        if st.button(_("Add a rule"), icon=":material/add:"):
            moved = [*rules, "A new rule."]
        if st.button(_("Back to the shipped rules"), icon=":material/restart_alt:"):
            moved = draft.kind().model_dump(mode="json")[name]
    if moved is not None:
        draft.remember()
        draft.values[name] = moved
        draft.version += 1
        st.rerun()


def prompts_editor(draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Edits hold for this run only; the offline model does not read prompts."""
    shipped = templates(procedure.prompts, case.kind)
    edits: dict[str, str] = draft.values["prompts"]
    st.caption(
        _(
            "Templates in Jinja's syntax. `_system` and `_case` come first and are the same for all members; in a task, the "
            "block `shared` comes before the block `own`. The offline model reads a task's inputs, not these words."
        )
    )
    name = st.selectbox(_("Prompt"), list(shipped), format_func=lambda n: _("{n} (edited)", n=n) if n in edits else n)
    text = st.text_area(_("Text"), edits.get(name, shipped[name]), height=420, key=draft.key(f"prompt-{name}"))
    if text == shipped[name]:
        edits.pop(name, None)
        return
    if why := why_no_template(name, text):
        st.error(literal(why))
        return
    edits[name] = text
    with st.expander(_("What differs from the shipped text")):
        before, now = shipped[name].splitlines(), text.splitlines()
        diff = difflib.unified_diff(before, now, "shipped", _("this run"), lineterm="")
        st.code("\n".join(diff), language="diff")
    if st.button(_("Back to the shipped text"), icon=":material/restart_alt:"):
        del edits[name]
        draft.version += 1
        st.rerun()
