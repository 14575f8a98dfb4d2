"""Setup: who deliberates on which case, under which rules, and what it will take."""

import streamlit as st
from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.errors import CourtroomError, log_file
from courtroom.language import _, translated
from courtroom.models.offline import NOTICE
from courtroom.models.spec import OFFLINE
from pages.parts import setup as parts
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.knobs import SHARE, SetupDraft
from pages.parts.shared.models_form import embedding_notes, stand_in_choice, typed_keys
from pages.parts.shared.shown import errors_shown, kept_choice, literal, one_of, runs_here

house = courthouse()

parent = parts.forked_run(house)
st.title(_("Setup") if parent is None else _("Fork"))
linked = parts.take_case_and_procedure(house) if parent is None else ""
titles = {case.id: case.title for case in house.library.cases()}
ids = list(titles)
top = st.columns([3, 2, 1], vertical_alignment="bottom")
if parent is None:
    with top[0]:
        case = house.library.case(kept_choice(_("Case"), ids, "case", format_func=titles.__getitem__))
    for told in house.procedures.broken.values():
        st.warning(literal(_("{told} {log} has the rest.", told=translated(told), log=log_file())))
    procedures = house.fitting(case.kind) or [house.first_fitting(case.kind)]  # which says that there is none
    names = {one.name: translated(one.title) for one in procedures}
    kept = f"procedure-{case.kind}"
    if linked in names and f"{kept}-chosen" not in st.session_state:
        st.session_state[kept] = linked
    about_it = _("Which published procedure hears the case.")
    with top[1]:
        chosen = kept_choice(_("Procedure"), list(names), kept, format_func=names.__getitem__, help=about_it)
    procedure = house.procedures[chosen]
else:
    case, procedure = parent.case, house.procedures[parent.run.procedure]
    top[0].text_input(_("Case"), case.title, disabled=True)
    top[1].text_input(_("Procedure"), procedure.title, disabled=True)
draft = SetupDraft.of(procedure, is_fork=parent is not None)
if parent is not None:
    draft.fork_of(parent.run.id, parent.setup, parent.run.seed)
undecided = parts.link_box(draft, procedure)
about_seed = _("All chance depends on it.")
draft.seed = seed = top[2].number_input(_("Seed"), 0, 2**31 - 1, draft.seed, key=draft.key("seed"), help=about_seed)
about = st.container()

presets = {preset.title: preset for preset in procedure.presets}
title, starting = _("Preset"), _("A starting point; every setting can be changed afterwards.")
at_first, key = draft.preset or None, draft.key("preset")
preset = st.segmented_control(title, list(presets), format_func=literal, default=at_first, key=key, help=starting)
if preset and draft.preset != preset:
    draft.start_from(presets[preset])
if draft.preset:
    st.caption(literal(presets[draft.preset].help))

start_bar = st.container(border=True)

section = one_of(_("Section"), draft.sections(), "setup_section", draft.sections()[0])
if section == SHARE:
    parts.setup_file(house, draft, procedure, case)
else:
    parts.draw_section(section, house, draft, procedure, case)

with about:  # after the section, as it tells what was changed there
    if parent is None:
        st.caption(literal(procedure.summary))
        forked_from = None
    else:
        forked_from = parts.fork_bar(parent, draft)


with start_bar:
    problems: list[str] = []
    try:
        setup = draft.validated()
    except ValidationError as error:
        problems = explain(error)
    else:
        before, complete = parent.setup if parent else None, procedure.prepare(case, setup, seed)[0]
        try:
            procedure.check(case, complete, before)
        except CourtroomError as error:  # roles or members stand for nobody
            problems = [str(error)]
            if st.button(_("Take these names out"), icon=":material/delete:"):
                for path in procedure.unknown_names(complete, before):
                    kind, _dot, name = path.partition(".")
                    draft.values[kind].pop(name)
                draft.redraw()
    for problem in problems:
        st.error(literal(problem))
    waits = undecided or bool(problems) or not runs_here()
    with st.container(horizontal=True, vertical_alignment="center"):
        start = st.button(_("Start"), type="primary", icon=":material/play_arrow:", disabled=waits)
        by_stages, icon = _("Stops after the first stage; go on stage by stage."), ":material/skip_next:"
        paused = st.button(_("Start step by step"), icon=icon, disabled=waits, help=by_stages)
        back, icon = _("Take back the last change of the setup."), ":material/undo:"
        undo = st.button(_("Undo"), icon=icon, disabled=not draft.can_undo, help=back)
    if undo:
        draft.undo()
    planned = None
    if parent and not problems:
        try:
            if stand_in := stand_in_choice(house, setup, draft.key("fork")):
                setup = house.with_stand_in(setup, stand_in)
            actions = parts.changes_from(parent.setup, setup) if forked_from else []
            planned = house.interventions.planned(parent, actions, st.session_state.get("who", ""), forked_from)
            setup = parent.setup if forked_from else setup
        except CourtroomError as error:
            problems = [str(error)]
            st.error(literal(str(error)))
    if not problems:
        parts.paper_view(procedure, setup)
        if setup.model.id == OFFLINE:
            st.caption(translated(NOTICE))
        embedding_notes(procedure, setup.embedding, house)
        for warning in setup.warnings():
            st.warning(literal(warning), icon=":material/warning:")
        parts.month_view(house)
        parts.estimate_view(house, procedure, case, setup, seed, parent.run.id if parent else None, planned)
    if (start or paused) and not waits and not problems:
        with errors_shown():
            if parent:
                run = house.fork(parent.run.id, setup, seed, interventions=planned)
            else:
                run = house.new_run(procedure.name, case, setup, seed)
            keys = typed_keys()
            house.runner.step(run, keys) if paused else house.runner.go(run, keys=keys)
            st.session_state.pop("fork", None)
            draft.forked = ""
            open_run(run)
draft.remember()
