"""Setup: where it comes from and goes to, the editors of what takes more than one field, what a run of it takes."""

import difflib
import json
from collections.abc import Collection, Sequence
from typing import Any, NoReturn
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from courtroom import Case, CaseError, Courthouse, CourtroomError, Edge, Graph, Node, Procedure, Record, Setup
from courtroom.access import Access, acting_account, may
from courtroom.cases.checks import explain
from courtroom.declarations.changes import differences, leaves
from courtroom.declarations.knobs import Widget, path_in_words, seating
from courtroom.declarations.paper import departures, title_of
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.interventions import Action, ChangeSetup, Intervention
from courtroom.evaluation.comparison import Difference
from courtroom.figures.graph import draw_graph
from courtroom.language import N_, _, translated
from courtroom.models import apart, prompts
from courtroom.models.spec import OFFLINE
from courtroom.panel.follow_graph import FollowGraph, influence
from courtroom.panel.personas import Persona, checked, is_pool, read_panel, write_csv, write_yaml
from courtroom.text.files import json_of
from pages.parts.cases import encoding_choice
from pages.parts.shared import shown
from pages.parts.shared.differences import change_in_line, told, worded
from pages.parts.shared.knobs import EDITED, SetupDraft, knob, knobs
from pages.parts.shared.models_form import embedding_choice, keys_form, models_form
from pages.parts.shared.shown import count, do, errors_shown, heads, literal, many, money, offered, table, theme

MAX_CHANGES_SHOWN = 12
Planned = Sequence[Intervention] | None
"""What a fork begins with."""


def forked_run(house: Courthouse) -> Record | None:
    """The run that is to be forked: from the URL, or the one this session chose."""
    run = st.query_params.get("fork") or st.session_state.get("fork")
    if not run:
        return None
    try:
        record = house.record(run)
    except NoSuchRun:
        st.error(_("There is no run {run} here; it may have been deleted. Choose another.", run=literal(run)))
        st.session_state.pop("fork", None)
        return None
    st.session_state["fork"] = st.query_params["fork"] = run
    return record


def fork_bar(parent: Record, draft: SetupDraft) -> str | None:
    """What the fork will change against its parent; the stage from which it is to hold, None from the beginning."""
    with st.container(horizontal=True, vertical_alignment="center"):
        text = _("A fork of run {id}. What no change touches is served from the record.", id=literal(parent.run.id))
        st.markdown(f":material/fork_right: {text}")
        if st.button(_("Start afresh instead")):
            st.session_state.pop("fork", None)
            st.query_params.pop("fork", None)
            st.rerun()
    try:
        changed: list[tuple[str, Any, Any]] = list(differences(parent.setup, draft.validated()))
    except ValidationError:
        return None  # shown below, where the setup is checked
    if draft.seed != parent.run.seed:
        changed.insert(0, ("seed", parent.run.seed, draft.seed))
    if not changed:
        st.caption(_("Nothing is changed yet: such a fork asks no new questions."))
    for path, before, after in changed[:MAX_CHANGES_SHOWN]:
        title = translated(path_in_words(type(parent.setup), path))
        st.caption(f"{literal(title)}: {literal(change_in_line(before, after))}")
    if len(changed) > MAX_CHANGES_SHOWN:
        st.caption(_("and {changed} more changes", changed=len(changed) - MAX_CHANGES_SHOWN))
    stages = {"": _("the beginning"), **{stage.path: stage.name for stage in parent.stages}}
    if not changed or len(stages) == 1:
        return None
    about, key = _("From a later stage on, all before it stays as it was."), draft.key("fork-from")
    title, options = _("The changes hold from"), list(stages)
    return (
        st.selectbox(title, options, format_func=lambda path: translated(stages[path]), key=key, help=about, width=320)
        or None
    )


def changes_from(before: Setup, setup: Setup) -> list[Action]:
    return [ChangeSetup(key=path, value=after) for path, _, after in differences(before, setup)]


MAX_SETUP_CHARACTERS = 400_000
"""All prompts edited come to a tenth of it."""


def take_case_and_procedure(house: Courthouse) -> str:
    """Choose the case that a link names, once; the name of the procedure that it names, or nothing."""
    text = st.query_params.get("setup")
    if not text:
        return ""
    try:
        shared = _parsed(text)
    except CourtroomError:
        return ""  # reported where its settings are shown
    if "case" in shared and st.session_state.get("link_opened") != text:
        with errors_shown():
            st.session_state["case"] = house.library.linked(shared["case"]).id
            st.session_state["link_opened"] = text
    return str(shared.get("procedure", ""))


def read_shared(text: str | bytes, procedure: Procedure) -> dict[str, Any]:
    """A shared setup that fits a procedure. Raises `CourtroomError`: it does not; the sentence says why."""
    shared = _parsed(text)
    if shared.get("procedure", procedure.name) != procedure.name:
        title = translated(procedure.title)
        why = _("This is no setup for {procedure}. Choose its procedure, then load it.", procedure=title)
        raise CourtroomError(why)
    seed = shared.get("seed", 0)
    if not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise CourtroomError(_("The seed of this setup is not a whole number from 0 on. Correct it."))
    try:
        whole = procedure.setup.model_validate(shared.get("setup", {}))
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error)[:3])) from error
    return {**shared, "setup": whole.model_dump(mode="json")}


def _parsed(text: str | bytes) -> dict[str, Any]:
    try:
        shared = json_of(text) if len(text) <= MAX_SETUP_CHARACTERS else None
    except CaseError as error:
        raise CourtroomError(_("This setup can't be read: {why}", why=translated(str(error)))) from error
    kinds = {"setup": dict, "case": str}
    if isinstance(shared, dict) and all(isinstance(shared.get(name, kind()), kind) for name, kind in kinds.items()):
        return shared
    raise CourtroomError("This is not a setup. Download one on this page to see the form.")


def link_box(draft: SetupDraft, procedure: Procedure) -> bool:
    """What a link would change, for a person to take or leave; whether that is still to be decided."""
    text = st.query_params.get("setup")
    if not text or st.session_state.get("link_decided") == text:
        return False
    try:
        shared = read_shared(text, procedure)
    except CourtroomError as error:
        st.error(_("The setup in this link is not used. {error}", error=literal(str(error))))
        return False
    after = {"seed": shared.get("seed", draft.seed), **draft.kind().model_dump(mode="json"), **shared.get("setup", {})}
    found = (Difference(path=path, values=both) for path, both in leaves(({"seed": draft.seed, **draft.values}, after)))
    changes = [worded("setup", one, draft.kind) for one in found]
    if not changes:
        return False
    with st.container(border=True):
        values = {"settings": many(len(changes), "setting")}
        told_of = _("**This link changes {settings}.** Nothing is asked of any model before you decide.", **values)
        st.markdown(f":material/link: {told_of}")
        rows = [(one.path, *map(told, one.values)) for one in changes]
        table(rows, [N_("setting"), N_("before"), N_("after")], key="link-changes")
        with st.container(horizontal=True):
            use = st.button(_("Use these settings"), type="primary")
            leave = st.button(_("Leave the setup as it is"))
    if use:
        draft.load(shared)
    if use or leave:
        st.session_state["link_decided"] = text
        st.rerun()
    return True


def is_free(name: str, names: Collection[str]) -> bool:
    """Return whether nothing was saved under a name yet; where something was, a sentence says so, and it stays."""
    if name in names:
        st.error(_("This name is taken. Choose another one, or delete what has it first."))
    return name not in names


MAX_LINK_CHARACTERS = 4_000


def setup_file(house: Courthouse, draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("Saved setups"))
        with st.form("save", clear_on_submit=True, border=False):
            name = st.text_input(_("Name"), placeholder=_("seven strangers"))
            saves = st.form_submit_button(_("Save"), icon=":material/save:", disabled=not may(Access.RUN))
            if saves and name.strip() and is_free(name.strip(), house.setups.names()):
                house.setups.save(name.strip(), draft.shared())
                st.toast(_("Saved as {name}.", name=literal(name.strip())))
        if not (names := house.setups.names()):
            st.caption(_("None yet. Save this one under a name to use it again."))
        for saved in names:
            with st.container(horizontal=True, vertical_alignment="center"):
                st.markdown(literal(saved))
                if st.button(_("Load"), key=f"load-{saved}"):
                    _load(house, draft, json.dumps(house.setups.load(saved)), procedure)
                if may(Access.RUN) and st.button(_("Delete"), key=f"delete-{saved}"):
                    st.session_state["deleted_setup"] = (saved, house.setups.load(saved))
                    house.setups.delete(saved)
                    st.rerun()
        deleted = st.session_state.get("deleted_setup")
        if deleted and st.button(_("Undo: bring back {deleted}", deleted=literal(deleted[0])), icon=":material/undo:"):
            house.setups.save(*st.session_state.pop("deleted_setup"))
            st.rerun()
    with right:
        st.subheader(_("As a file or a link"))
        shared = draft.shared(house.library.name_in_link(case))
        text = json.dumps(shared, ensure_ascii=False, indent=1)
        name, icon = f"{procedure.name}-setup.json", ":material/download:"
        st.download_button(_("Download JSON"), text, name, "application/json", icon=icon)
        file = shown.uploader(st, _("Load a setup from JSON"), ["json"], key="setup-file")
        if file and st.button(_("Load this file")):
            _load(house, draft, file.getvalue(), procedure)
        link = "?" + urlencode({"setup": json.dumps(shared, ensure_ascii=False, separators=(",", ":"))})
        if len(link) <= MAX_LINK_CHARACTERS:
            st.caption(_("This link opens the setup page with the same case and offers the same setup:"))
            st.code(f"{st.context.url}{link}", language=None, wrap_lines=True)
            if not house.library.is_sample(case.id):
                st.caption(_("The case was uploaded here: elsewhere it is to be uploaded first."))
        else:
            st.caption(_("This setup is too long for a link; share the file."))


def _load(house: Courthouse, draft: SetupDraft, text: str | bytes, procedure: Procedure) -> None:
    with errors_shown():
        shared = read_shared(text, procedure)
        if "case" in shared and not draft.forked:
            st.session_state["case"] = house.library.linked(shared["case"]).id
        draft.load(shared)
        st.rerun()


def month_view(house: Courthouse) -> None:
    """How much the person's runs have cost in this month; nothing where there is no limit, or nobody signs in."""
    if (person := acting_account()) is None or (limit := house.accounts.budget(person.id)) is None:
        return
    spent = house.accounts.spent(person.id)
    values = {"spent": literal(money(spent.money, about=spent.estimated)), "limit": literal(money(limit))}
    text = _("Your runs have cost {spent} of {limit} that they may cost this month.", **values)
    st.caption(f":material/account_balance_wallet: {text}")


def estimate_view(
    house: Courthouse, procedure: Procedure, case: Case, setup: Setup, seed: int, parent: str | None, planned: Planned
) -> None:
    content = f"{procedure.name}/{case.content_hash()}/{seed}/{parent}/{setup.model_dump_json()}/{planned}"
    if st.session_state.get("estimate", ("",))[0] != content:
        with errors_shown(), st.spinner(_("Estimating ...")):
            found = house.estimate(procedure.name, case, setup, seed, parent, interventions=planned)
            st.session_state["estimate"] = (content, found, house.price(found))
    kept, estimate, price = st.session_state.get("estimate", ("", None, None))
    if kept != content:
        return
    online = [load for load in estimate.loads if load.model != OFFLINE]
    text = _("About **{calls} calls**, {at_most} at most", calls=count(estimate.calls), at_most=count(estimate.at_most))
    if estimate.on_record:
        text += _("; {on_record} are on record and cost nothing", on_record=count(estimate.on_record))
    if online:
        tokens = {"prompt": count(sum(load.prompt_tokens for load in online))}
        tokens["completion"] = count(sum(load.completion_tokens for load in online))
        text += _("; about {prompt} prompt and {completion} completion tokens", **tokens)
        text += f"; {literal(money(price))}"
    if parent and estimate.anew:
        anew = ", ".join(f"{literal(title)} {number}" for title, number in estimate.anew.items())
        text += _(". Asked again: ") + anew
    about = _("Found by a rehearsal with the offline model; a real one may talk longer or stop earlier.")
    st.markdown(text + _("."), help=about)
    for warning in estimate.warnings:
        st.warning(literal(warning), icon=":material/wrong_location:")
    if len(online) > 1:
        each = (_("{model}: {calls} calls", model=literal(load.model), calls=load.calls) for load in online)
        st.caption(", ".join(each))


def paper_view(procedure: Procedure, setup: Setup) -> None:
    """A line on how many settings are the paper's; opened, a table of them all, those that differ first."""
    settings = procedure.paper_settings
    if not settings:
        return
    other = departures(setup, settings)
    counts = {"same": len(settings) - len(other), "settings": len(settings)}
    text = _("{same} of {settings} settings as in the paper", **counts)
    with st.expander(text, icon=":material/compare_arrows:" if other else ":material/menu_book:"):
        rows = []
        for one in sorted(settings, key=lambda setting: setting.knob not in other):
            values = told(one.value), told(other.get(one.knob, one.value))
            rows.append((title_of(type(setup), one.knob), *values, one.knob in other, one.source, one.note))
        table(rows, ["Setting", "Paper", "Here", "Differs", "Source", "Note"])
        st.caption(_("{paper}. The preset “Paper” sets all of these.", paper=literal(procedure.paper)))


DELETED = "deleted_panel"
POOL = "people"
"""The knob that names a pool of people."""
COLUMNS = N_(
    "A line for each field: the field, `=`, and the column that has it, or a text with columns in braces, such as "
    "`background = works as {OCC}`. Fields: name, gender, age, status, background, traits, interests, schooling, "
    "jury_service, went_through, weight. Columns that are not named are left out."
)


def draw_section(section: str, house: Courthouse, draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Draw one section of a setup, of which each edit is kept in the draft."""
    if section == "Models":
        models_form(draft, procedure, case, house.connections)
        if procedure.looks_in:
            st.subheader(_("Look-ups"))
            chosen = draft.values.get("embedding", "")
            draft.values["embedding"] = embedding_choice(house.settings.embedding, chosen, draft.key("embedding"))
        keys_form(house.connections)
    elif section == EDITED[Widget.PERSONAS]:
        personas_table(house, draft, case)
    elif section == EDITED[Widget.GRAPH]:
        graph_editor(draft, procedure, case)
    elif section == EDITED[Widget.RULES]:
        name, title = draft.drawn[Widget.RULES], _("Rules, one a line, for all who vote")
        text = st.text_area(title, "\n".join(draft.values[name]), key=draft.key(name), height="content")
        draft.values[name] = [line.strip() for line in text.splitlines() if line.strip()]
        if st.button(_("Back to the shipped rules"), icon=":material/restart_alt:"):
            draft.values[name] = draft.kind().model_dump(mode="json")[name]
            draft.redraw()
    elif section == "Prompts":
        prompts_editor(draft, procedure, case)
    else:
        knobs(draft, case)


def _seat(draft: SetupDraft, name: str, panel: Sequence[Persona]) -> NoReturn:
    if is_pool(panel):
        draft.values.update({POOL: name, draft.drawn[Widget.PERSONAS]: []})
        told = _("The jurors are drawn from {panel}, by the seed and by weight.", panel=many(len(panel), "person"))
    else:
        draft.values.update(seating(draft.kind, [person.model_dump(mode="json") for person in panel]))
        told = _("{panel} seated.", panel=many(len(panel), "person"))
    st.toast(told)
    draft.redraw()


@offered
def _change(house: Courthouse, chosen: str) -> None:
    with st.form("panel-rename", border=False):
        name = st.text_input(_("New name"), chosen, max_chars=80, key=f"panel-name-{chosen}")
        if st.form_submit_button(_("Rename")):
            do(lambda: house.panels.rename(chosen, name))
    if st.button(_("Delete this panel"), icon=":material/delete:", type="tertiary"):
        do(lambda: st.session_state.update({DELETED: (chosen, house.panels.delete(chosen))}))


def _import(house: Courthouse, draft: SetupDraft) -> None:
    st.caption(_("A CSV or YAML file with a person in each row. Export this jury to see the form."))
    with st.form("panel-import", border=False, clear_on_submit=True):
        file = shown.uploader(st, _("File"), ["csv", "yaml", "yml"], key="panel-file")
        name = st.text_input(_("Save as a panel named"), placeholder=_("the file's name"), max_chars=80)
        title, hint = _("Columns, where they have other names"), "age = AGEP\nweight = PWGTP"
        columns = st.text_area(title, placeholder=hint, help=_(COLUMNS))
        encoding = encoding_choice(st, "panel_encoding")
        if not st.form_submit_button(_("Import and seat"), type="primary") or file is None:
            return
    with errors_shown():
        lines = (line.partition("=") for line in columns.splitlines() if line.strip())
        named = {field.strip(): column.strip() for field, _sign, column in lines}
        panel, remark = read_panel(file.name, file.getvalue(), encoding, named)
        if remark:
            st.toast(literal(remark), icon=":material/info:", duration="long")
        called = name.strip() or file.name.rpartition(".")[0]
        if is_free(called, house.panels.names()):
            house.panels.save(called, panel)
            _seat(draft, called, panel)


LISTS = ("traits", "interests")


def personas_table(house: Courthouse, draft: SetupDraft, case: Case) -> None:
    """Personas are drawn by the seed until one is edited; then the table is the jury."""
    name = draft.drawn[Widget.PERSONAS]
    try:
        jury: list[dict[str, Any]] = draft.complete(case)[name]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    if not draft.is_run:
        with st.container(horizontal=True, vertical_alignment="bottom"):
            if names := house.panels.names():
                chosen = st.selectbox(_("Saved panel"), names, key="panel-chosen", width=280, format_func=translated)
                how = _("Its persons take the seats, in their order; of a pool of people, by lot and by their weights.")
                if st.button(_("Seat this panel"), icon=":material/event_seat:", help=how):
                    do(lambda: _seat(draft, chosen, house.panels.load(chosen)))
                with st.popover(_("Rename or delete")):
                    _change(house, chosen)
            with st.popover(_("Save this jury"), icon=":material/save:"):
                if may(Access.RUN):
                    with st.form("panel-save", border=False, clear_on_submit=True):
                        called = st.text_input(_("Name of the panel"), placeholder=_("seven neighbours"), max_chars=80)
                        if st.form_submit_button(_("Save"), type="primary") and is_free(called.strip(), names):
                            do(lambda: house.panels.save(called, checked(jury)))
            with st.popover(_("Import persons"), icon=":material/upload_file:"):
                _import(house, draft)
            with st.popover(_("Export persons"), icon=":material/download:"):
                persons = [Persona.model_validate(row) for row in jury]
                st.download_button(_("CSV, for a spreadsheet"), write_csv(persons), "panel.csv", "text/csv")
                st.download_button(_("YAML"), write_yaml(persons), "panel.yaml", "application/yaml")
        if deleted := st.session_state.get(DELETED):
            with shown.undo_bar(DELETED, lambda panel: house.panels.save(*panel)):
                st.markdown(_("The panel “{deleted}” is deleted.", deleted=literal(deleted[0])), width="content")
        with st.container(horizontal=True, vertical_alignment="bottom"):
            others = st.button(_("Draw others"), icon=":material/casino:", help=_("Other personas, by another seed."))
            back = draft.values[name] and st.button(_("Back to those drawn by the seed"), icon=":material/restart_alt:")
        if others or back:
            draft.values[name] = []
            draft.seed += int(others)
            draft.redraw()
    st.caption(_("{jury}. Change any cell; traits and interests are lists with commas.", jury=many(len(jury), "juror")))
    optional = [field for field, about in Persona.model_fields.items() if about.exclude_if]
    whole = [{**row, **{field: row.get(field, "") for field in optional}} for row in jury]  # names stand first
    table = pd.DataFrame([{**row, **{part: ", ".join(row[part]) for part in LISTS}} for row in whole])
    age = st.column_config.NumberColumn(_("age"), min_value=18, max_value=95, step=1)
    background = st.column_config.TextColumn(_("background"), width="medium")
    key, config = draft.key(f"jury-{len(jury)}-{draft.seed}"), heads(table, {"age": age, "background": background})
    height = min(640, 60 + 36 * len(jury))
    edited = st.data_editor(table, key=key, hide_index=True, height=height, column_config=config)
    rows = edited.assign(age=edited["age"].fillna(table["age"])).fillna("").to_dict("records")  # cells may be cleared
    for row in rows:
        row["age"] = int(row["age"])
        row |= {part: [one.strip() for one in str(row[part]).split(",") if one.strip()] for part in LISTS}
        for part in optional:
            if not row[part]:
                del row[part]
    if rows != jury:
        draft.values[name] = rows
    if empty := draft.drawn.get(Widget.EMPTY_SEATS):
        field = draft.kind.model_fields[empty]
        seats = {number: f"{number} {person['name']}" for number, person in enumerate(jury, start=1)}
        left, title = [seat for seat in draft.values[empty] if seat in seats], translated(field.title or "")
        hint, key = translated(field.description or "") or None, draft.key(f"empty-{len(jury)}")
        draft.values[empty] = st.multiselect(title, seats, left, format_func=seats.__getitem__, key=key, help=hint)


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
                draft.redraw()
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
        st.plotly_chart(draw_graph(block, procedure.choices, theme()), key=draft.key("preview"))
        st.caption(_("Arrows go from a juror to those it follows; the more a juror is followed, the larger it is."))
    with st.expander(_("Edges ({edges})", edges=len(edges)), icon=":material/edit:"):
        seats = [f"{seat + 1} {name}" for seat, name in enumerate(names)]
        table = pd.DataFrame([(seats[k], seats[j]) for k, j in edges], columns=["follower", "followed"])
        seat_of = st.column_config.SelectboxColumn
        config = {name: seat_of(translated(name), options=seats, required=True) for name in table.columns}
        key = draft.key(f"edges-{len(names)}")
        edited = st.data_editor(table, num_rows="dynamic", key=key, hide_index=True, column_config=config)
        pairs = [(seats.index(k), seats.index(j)) for k, j in edited.dropna().itertuples(index=False) if k != j]
        if sorted(set(pairs)) != sorted(edges):
            graph["edges"] = [list(pair) for pair in sorted(set(pairs))]
            draft.redraw()  # else the editor, whose rows these are, would lose what is changed next


def prompts_editor(draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    """Edits hold for this run only; the offline model does not read prompts."""
    shipped = prompts.templates(procedure.prompts, case.kind)
    edits: dict[str, str] = draft.values["prompts"]
    st.caption(_("Templates in Jinja's syntax. `_system` and `_case` come first and are the same for all members."))
    titles = {name: _("{n} (edited)", n=name) if name in edits else name for name in shipped}
    name = st.selectbox(_("Prompt"), list(shipped), format_func=titles.__getitem__)
    text = st.text_area(_("Text"), edits.get(name, shipped[name]), height=420, key=draft.key(f"prompt-{name}"))
    if text == shipped[name]:
        edits.pop(name, None)
        return
    if why := apart.why_no_template(name, text):
        st.error(literal(why))
        return
    edits[name] = text
    with st.expander(_("What differs from the shipped text")):
        before, now = shipped[name].splitlines(), text.splitlines()
        st.code("\n".join(difflib.unified_diff(before, now, "shipped", _("this run"), lineterm="")), language="diff")
    if st.button(_("Back to the shipped text"), icon=":material/restart_alt:"):
        del edits[name]
        draft.redraw()
