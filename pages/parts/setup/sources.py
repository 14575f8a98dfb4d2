"""Where a setup comes from and where it goes: the run that is forked, a link, a file, a saved name; and what a run of it will take."""

import json
from collections.abc import Sequence
from typing import Any
from urllib.parse import urlencode

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from courtroom.access import Access, acting_account, may
from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import differences, leaves
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.interventions import Action, ChangeSetup, Intervention
from courtroom.engine.paper import departures, title_of
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.rehearsal import Estimate
from courtroom.engine.setup import Setup
from courtroom.errors import CaseError, CourtroomError
from courtroom.language import _, translated
from courtroom.models.spec import OFFLINE, ModelSpec
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.differences import change_in_line
from pages.parts.shared.knobs import SetupDraft
from pages.parts.shared.shown import count, literal, money, table

SHOWN = 12


def forked_run(house: Courthouse) -> Record | None:
    """The run that is to be forked: from the URL, or the one this session chose."""
    run = st.query_params.get("fork") or st.session_state.get("fork")
    if not run:
        return None
    try:
        record = house.runner.latest.of(run)
    except NoSuchRun:
        st.error(
            _("There is no run {run} here, so it can't be forked. Choose another on the page Runs.", run=literal(run))
        )
        return None
    st.session_state["fork"] = run
    st.query_params["fork"] = run
    return record


def fork_bar(parent: Record, draft: SetupDraft) -> str | None:
    """What the fork will change against its parent; the stage from which it is to hold, None from the beginning."""
    with st.container(horizontal=True, vertical_alignment="center"):
        st.markdown(
            _(
                ":material/fork_right: A fork of run {id}. What no change touches is served from the record.",
                id=literal(parent.run.id),
            )
        )
        if st.button(_("Start afresh instead")):
            st.session_state.pop("fork", None)
            st.query_params.pop("fork", None)
            draft.forked = ""
            st.rerun()
    try:
        changed: list[tuple[str, Any, Any]] = list(differences(parent.setup, draft.validated()))
    except ValidationError:
        return None  # shown below, where the setup is checked
    if draft.seed != parent.run.seed:
        changed.insert(0, ("seed", parent.run.seed, draft.seed))
    if not changed:
        st.caption(_("Nothing is changed yet: such a fork asks no new questions."))
    for path, before, after in changed[:SHOWN]:
        st.caption(f"{literal(path)}: {literal(change_in_line(before, after))}")
    if len(changed) > SHOWN:
        st.caption(_("and {changed} more changes", changed=len(changed) - SHOWN))
    stages = {"": _("the beginning"), **{stage.path: stage.name for stage in parent.stages}}
    if not changed or len(stages) == 1:
        return None
    chosen = st.selectbox(
        _("The changes hold from"),
        list(stages),
        format_func=stages.__getitem__,
        key=draft.key("fork-from"),
        help=_("From a later stage on, all before it stays as it was."),
        width=320,
    )
    return chosen or None


def changes_from(parent: Record, setup: Setup) -> list[Action]:
    return [ChangeSetup(key=path, value=after) for path, _, after in differences(parent.setup, setup)]


LONGEST = 400_000
"""Characters of a setup that is read: all prompts edited come to a tenth of it."""


def take_case_and_procedure(house: Courthouse) -> str:
    """Choose the case that a link names, once; the name of the procedure that it names, or nothing."""
    text = st.query_params.get("setup")
    if not text:
        return ""
    try:
        shared = _parsed(text)
        if "case" in shared and st.session_state.get("link_opened") != text:
            st.session_state["link_opened"] = text
            st.session_state["case"] = house.library.linked(shared["case"]).id
            st.session_state.pop("link_problem", None)
    except CaseError as error:
        st.session_state["link_problem"] = (text, str(error))
    except CourtroomError:
        return ""  # reported where its settings are shown
    problem = st.session_state.get("link_problem")
    if problem and problem[0] == text:
        st.error(literal(problem[1]))
    return str(shared.get("procedure", ""))


def read_shared(text: str, procedure: Procedure) -> dict[str, Any]:
    """A shared setup that fits a procedure. Raises `CourtroomError`: it does not; the sentence says why."""
    shared = _parsed(text)
    if shared.get("procedure", procedure.name) != procedure.name:
        raise CourtroomError(
            _(
                "This is not a setup for {procedure}. Choose its procedure above, then load it.",
                procedure=translated(procedure.title),
            )
        )
    seed = shared.get("seed", 0)
    if not isinstance(seed, int) or not 0 <= seed < 2**31:
        raise CourtroomError(_("The seed of this setup is not a whole number from 0 on. Correct it."))
    try:
        procedure.setup.model_validate({**procedure.setup().model_dump(mode="json"), **shared.get("setup", {})})
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error)[:3])) from error
    return shared


def _parsed(text: str) -> dict[str, Any]:
    try:
        shared = json.loads(text) if len(text) <= LONGEST else None
    except (ValueError, RecursionError):
        shared = None
    if not (
        isinstance(shared, dict)
        and isinstance(shared.get("setup", {}), dict)
        and isinstance(shared.get("case", ""), str)
    ):
        raise CourtroomError("This is not a setup. Download one on this page to see the form.")
    return shared


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
    before = {"seed": draft.seed, **draft.values}
    after = {"seed": shared.get("seed", draft.seed), **draft.kind().model_dump(mode="json"), **shared.get("setup", {})}
    rows = [
        {"setting": _named(draft.kind, path), "before": _plain(old), "after": _plain(new)}
        for path, (old, new) in leaves((before, after))
    ]
    if not rows:
        return False
    with st.container(border=True):
        many = _("1 setting") if len(rows) == 1 else _("{rows} settings", rows=len(rows))
        st.markdown(
            _(
                ":material/link: **This link changes {many}.** Nothing is asked of any model before you decide.",
                many=many,
            )
        )
        table(pd.DataFrame(rows), key="link-changes")
        with st.container(horizontal=True):
            use = st.button(_("Use these settings"), type="primary")
            leave = st.button(_("Use the defaults"), help=_("Leaves the setup as it is without the link."))
    if use:
        draft.load(shared)
    if use or leave:
        st.session_state["link_decided"] = text
        st.rerun()
    return True


def _named(kind: type[Setup], path: str) -> str:
    """A path as the page calls its parts: `model.temperature` is Model › Temperature."""
    first, *rest = path.split(".")
    field = kind.model_fields.get(first)
    within = ModelSpec.model_fields if first in ("model", "roles", "members") else {}
    parts = [(within[part].title or part) if part in within else part for part in rest]
    return " › ".join([(field.title or first) if field else first.capitalize(), *parts])


def _plain(value: Any) -> str:
    if value is None:
        return _("not set")
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


LONGEST_LINK = 4_000


def setup_file(house: Courthouse, draft: SetupDraft, procedure: Procedure, case: Case) -> None:
    left, right = st.columns(2, gap="large")
    with left:
        st.subheader(_("Saved setups"))
        with st.form("save", clear_on_submit=True, border=False):
            name = st.text_input(_("Name"), placeholder=_("seven strangers"))
            if st.form_submit_button(_("Save"), icon=":material/save:", disabled=not may(Access.RUN)) and name.strip():
                house.setups.save(name.strip(), draft.shared())
                st.toast(_("Saved as {name}.", name=literal(name.strip())))
        names = house.setups.names()
        if not names:
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
        st.download_button(
            _("Download JSON"), text, f"{procedure.name}-setup.json", "application/json", icon=":material/download:"
        )
        file = st.file_uploader(_("Load a setup from JSON"), type=["json"])
        if file and st.button(_("Load this file")):
            _load(house, draft, file.getvalue().decode(errors="replace"), procedure)
        link = "?" + urlencode({"setup": json.dumps(shared, ensure_ascii=False, separators=(",", ":"))})
        if len(link) <= LONGEST_LINK:
            st.caption(_("This link opens the setup page with the same case and offers the same setup:"))
            st.code(f"{st.context.url}{link}", language=None, wrap_lines=True)
            if not house.library.is_sample(case.id):
                st.caption(
                    _(
                        "The case was uploaded here, so the link works in this install. Elsewhere, the case is to be uploaded first."
                    )
                )
        else:
            st.caption(_("This setup is too long for a link; share the file."))


def _load(house: Courthouse, draft: SetupDraft, text: str, procedure: Procedure) -> None:
    with errors_shown():
        shared = read_shared(text, procedure)
        if "case" in shared and not draft.forked:
            st.session_state["case"] = house.library.linked(shared["case"]).id
        draft.load(shared)
        st.rerun()


def month_view(house: Courthouse) -> None:
    """How much the person's runs have cost in this month; nothing where there is no limit, or nobody signs in."""
    person = acting_account()
    limit = house.accounts.budget(person.id) if person is not None else None
    if person is None or limit is None:
        return
    st.caption(
        _(
            ":material/account_balance_wallet: Your runs have cost {spent} of {limit} that they may cost this month.",
            spent=literal(money(house.accounts.spent(person.id))),
            limit=literal(money(limit)),
        )
    )


def estimate_view(
    house: Courthouse,
    procedure: Procedure,
    case: Case,
    setup: Setup,
    seed: int,
    parent: str | None = None,
    interventions: Sequence[Intervention] | None = None,
) -> None:
    content = f"{procedure.name}/{case.content_hash()}/{seed}/{parent}/{setup.model_dump_json()}/{interventions}"
    kept: tuple[str, Estimate, float | None] | None = st.session_state.get("estimate")
    if kept is None or kept[0] != content:
        kept = None
        with errors_shown(), st.spinner(_("Estimating ...")):
            estimate = house.estimate(procedure.name, case, setup, seed, parent, interventions=interventions)
            kept = st.session_state["estimate"] = (content, estimate, house.price(estimate))
    if kept is None:
        return
    estimate, price = kept[1:]
    online = [load for load in estimate.loads if load.model != OFFLINE]
    text = _("About **{calls} calls**, {at_most} at most", calls=count(estimate.calls), at_most=count(estimate.at_most))
    if estimate.on_record:
        text += _("; {on_record} are on record and cost nothing", on_record=count(estimate.on_record))
    if online:
        prompt, completion = sum(load.prompt_tokens for load in online), sum(load.completion_tokens for load in online)
        text += _(
            "; about {prompt} prompt and {completion} completion tokens; {price}",
            prompt=count(prompt),
            completion=count(completion),
            price=literal(money(price)),
        )
    if parent and estimate.anew:
        text += _(". Asked again: ") + ", ".join(
            f"{literal(title)} {number:d}" for title, number in estimate.anew.items()
        )
    st.markdown(
        text + ".",
        help=_(
            "Found by playing the run through in memory with the offline model; a real model may talk longer or stop earlier."
        ),
    )
    for warning in estimate.warnings:
        st.warning(literal(warning), icon=":material/wrong_location:")
    if len(online) > 1:
        st.caption(
            ", ".join(
                _("{model}: {calls} calls", model=literal(load.model), calls=f"{load.calls:d}") for load in online
            )
        )


def paper_view(procedure: Procedure, setup: Setup) -> None:
    """A line on how many settings are the paper's; opened, a table of them all, those that differ first."""
    settings = procedure.paper_settings
    if not settings:
        return
    other = departures(setup, settings)
    same = len(settings) - len(other)
    text = (
        _("All {same} settings as in the paper", same=same)
        if not other
        else _("{same} of {settings} settings as in the paper", same=same, settings=len(settings))
    )

    def told(value: Any) -> str:
        return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)

    with st.expander(text, icon=":material/menu_book:" if not other else ":material/compare_arrows:"):
        ordered = sorted(settings, key=lambda setting: setting.knob not in other)
        rows = [
            (title_of(type(setup), one.knob), told(one.value), told(other.get(one.knob, one.value)), one.knob in other)
            + (one.source, one.note)
            for one in ordered
        ]
        table(pd.DataFrame(rows, columns=["Setting", "Paper", "Here", "Differs", "Source", "Note"]))
        st.caption(_("{paper}. The preset “Paper” sets all of these.", paper=literal(procedure.paper)))
