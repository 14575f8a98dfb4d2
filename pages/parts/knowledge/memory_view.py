"""The memory: standards as a graph, micro-directives, a search; and every step of learning, of which the latest can be undone."""

import pandas as pd
import streamlit as st

from courtroom.access import Access, may
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure, Source
from courtroom.figures.graph import draw_confidence, draw_standards
from courtroom.knowledge.lessons import RecordChange, Taught
from courtroom.knowledge.memory import Directive, Recall, Standard
from courtroom.language import _, translated
from courtroom.models.spec import OFFLINE
from courtroom.text.words import changes
from pages.parts.shared.actions import do, errors_shown
from pages.parts.shared.blocks_view import diff_html
from pages.parts.shared.models_form import start_with_models
from pages.parts.shared.shown import inert, literal, moment, page_of, table, unreadable_rows

TOLD = {
    "standards": "Verified trajectories whose judgment was the real one. Two are linked where their labels are identical and "
    "their vectors near. A training run of {learners} adds to this archive where the case's real judgment is known.",
    "directives": "Precise rules that the meta-model draws from standards, with a confidence that rises and falls with their "
    "success. Below the threshold they are pruned; near-duplicates are merged.",
}


def memory_view(house: Courthouse, part: str) -> None:
    memory = house.knowledge.memory
    unreadable_rows((memory.standards if part == "standards" else memory.directives).unreadable())
    archived: list[Standard] = memory.standards.all() if part == "standards" else []
    buffered: list[Standard] = memory.buffer.all() if part == "standards" else []
    directives: list[Directive] = [] if part == "standards" else memory.directives.all()
    learners = ", ".join(literal(one.title) for one in house.procedures.values() if part in one.looks_in)
    st.caption(translated(TOLD[part]).format(learners=learners))
    if not archived and not buffered and not directives:
        st.info(
            _(
                "The memory is empty. Turn on “Training run” in a setup of {learners}: it learns from cases whose real judgment is known.",
                learners=learners,
            ),
            icon=":material/psychology:",
        )
        return
    with st.expander(_("Snapshots"), icon=":material/photo_camera:"):
        st.caption(_("A run sees the snapshot that its setup names. It never changes, whatever is learned afterwards."))
        name = st.text_input(_("Name of the memory as it is now"), key="snapshot-name", max_chars=60)
        if may(Access.RUN) and st.button(_("Take a snapshot"), key="snapshot-take", disabled=not name.strip()):
            with errors_shown():
                house.knowledge.snapshot(name.strip())
        kept = house.knowledge.snapshots.all()
        rows = [(one.name, one.standards, one.directives, one.buffer, one.digest[:12]) for one in kept]
        table(pd.DataFrame(rows, columns=["Name", "Standards", "Micro-directives", "Buffer", "Digest"]))
    if archived or directives:
        text = st.text_input(_("Search by facts"), placeholder=_("a quarrel at a barbecue stall"), key=f"recall-{part}")
        if text.strip():
            query = Recall(collection=part, text=text, tags=(), k=10, tau=0.4, seeds=5, hops=2)
            with errors_shown():
                hits = house.runner.do(house.knowledge.answer(query)).result()
                found = [
                    (hit.record.get("title") or hit.record.get("text"), of.score, of.iou, of.topo, of.semsim)
                    for hit in hits
                    if (of := hit.parts)
                ]
                table(pd.DataFrame(found, columns=["Found", "Score", "IoU", "Topo", "SemSim"]))
    theme = st.context.theme.type or "light"
    if archived:
        tau = st.slider(_("Link from a cosine of (τ)"), 0.0, 1.0, 0.4, 0.05)
        with errors_shown():
            graph = house.runner.do(memory.graph(tau)).result()
            st.plotly_chart(draw_standards(graph, archived, theme), key="standards-graph")
    for standard in archived:
        _standard(standard)
    if buffered:
        st.subheader(_("Buffer"))
        st.caption(_("Trajectories that were wrong, or right without having been verified."))
    for standard in buffered:
        _standard(standard)
    for directive in sorted(directives, key=lambda one: -one.confidence):
        _directive(house, directive, theme)


def _standard(standard: Standard) -> None:
    labels = ", ".join((*map(str, standard.gold.relevant_articles), *standard.gold.charges))
    with st.expander(f"{literal(standard.title or standard.id)} · {literal(labels)}"):
        inert(standard.facts)
        inert(standard.reasoning, small=True)
        inert(_("Judgment: {verdict}", verdict=translated(str(standard.verdict))), small=True)
        if standard.induced:
            st.caption(_("Became part of {induced}", induced=literal(standard.induced)))


def _directive(house: Courthouse, directive: Directive, theme: str) -> None:
    values = {"anchor": literal(directive.anchor), "charges": literal("; ".join(directive.charges))}
    values |= {"confidence": f"{directive.confidence:.2f}", "text": literal(directive.text[:90])}
    with st.expander(_("{confidence} · article {anchor} {charges} · {text}", **values)):
        inert(directive.text)
        counts = {"supporting": len(directive.supporting), "contrasting": len(directive.contrasting)}
        st.caption(_("{supporting} supporting, {contrasting} contrasting · {id}", id=literal(directive.id), **counts))
        life = house.knowledge.lessons.of(directive.id)
        if st.toggle(_("Its life"), key=f"life-{directive.id}"):
            st.plotly_chart(draw_confidence(directive.id, life, theme), key=f"confidence-{directive.id}")
            for taught in life:
                undone = _(" (undone)") if taught.undone else ""
                told = {"phase": translated(taught.phase), "why": translated(taught.why), "undone": undone}
                inert(_("• {phase}{undone}: {why} Run {run}.", run=taught.run or _("by hand"), **told), small=True)


PAGE = 25
LONGEST = 60
PHASES = {
    "norms": "Norms distilled",
    "archive": "Standard archived",
    "buffer": "Kept in the buffer",
    "induction": "Directive induced",
    "refinement": "Directive refined",
    "confidence": "Confidence moved",
    "merge": "Directives merged",
    "pruning": "Directives pruned",
    "restore": "Memory brought back to a snapshot",
}


def lessons_view(house: Courthouse) -> None:
    for procedure, source in house.teaching:
        _training(house, procedure, source)
    st.subheader(_("Steps of learning"))
    unreadable_rows(house.knowledge.lessons.unreadable())
    lessons = list(reversed(house.knowledge.lessons.all()))
    if not lessons:
        st.info(
            _(
                "Nothing has been learned yet. The memory learns from cases whose real judgment is known; norms are distilled from "
                "precedents of disputes."
            ),
            icon=":material/school:",
        )
        return
    phases = st.multiselect(
        _("Show"), list(PHASES), format_func=lambda phase: translated(PHASES[phase]), placeholder=_("all steps")
    )
    shown = [taught for taught in lessons if not phases or taught.phase in phases]
    page = page_of(len(shown), PAGE)
    for taught in shown[(page - 1) * PAGE : page * PAGE]:
        _lesson(house, taught)


def _training(house: Courthouse, procedure: Procedure, source: Source) -> None:
    parts = house.read(source)
    with st.expander(f"{literal(source.title)}: {len(parts)} {literal(source.parts)}"):
        st.caption(literal(source.help))
        models = {
            role.name: st.text_input(
                _("Model of {title}", title=literal(role.title)),
                OFFLINE,
                key=f"{procedure.name}_{role.name}",
                help=literal(role.help),
            )
            for role in procedure.roles
        }
        if st.button(_("Build from {parts}", parts=len(parts)), disabled=not parts):
            start_with_models(house, procedure, source.batch(parts), models)


def _lesson(house: Courthouse, taught: Taught) -> None:
    mark = _(" · undone") if taught.undone else ""
    what = literal(_name(taught.changes[0])) if taught.changes else _("nothing changed")
    with st.expander(
        f"**{translated(PHASES[taught.phase])}** · {what} · {literal(taught.why)} · {moment(taught.at)}{mark}"
    ):
        for change in taught.changes:
            _change(change)
        with st.container(horizontal=True, vertical_alignment="center"):
            if taught.run:
                st.link_button(_("Open the run"), f"/deliberation?run={taught.run}")
            can, key = may(Access.OWN) and taught.undone is None, f"undo-{taught.seq}"
            if can and st.button(_("Undo this step"), key=key, icon=":material/undo:"):
                do(lambda: house.knowledge.lessons.undo(taught.seq))


def _name(change: RecordChange) -> str:
    record = change.after or change.before or {}
    name = str(record.get("title") or record.get("text") or change.id)
    return name if len(name) <= LONGEST else f"{name[:LONGEST]}..."


def _change(change: RecordChange) -> None:
    before, after = change.before or {}, change.after or {}
    st.caption(f"{literal(change.collection)} · {literal(_name(change))} · {literal(change.id)}")
    if before.get("confidence") != after.get("confidence"):
        was, now = before.get("confidence", _("none")), after.get("confidence", _("gone"))
        inert(_("Confidence {before} → {after}", before=was, after=now), small=True)
    texts = [str(one.get("text") or one.get("norms") or one.get("reasoning") or "") for one in (before, after)]
    if any(kind != "same" for kind, _ in changes(*texts)):
        st.html(diff_html(*texts))
