"""Precedents of disputes: what earlier juries decided, and the norms drawn from it."""

from collections.abc import Sequence

import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.cases.dispute import SIDES, Dispute, Precedent, PrecedentBatch
from courtroom.courthouse import Courthouse
from courtroom.knowledge.bases import from_dispute
from courtroom.knowledge.search import Hit, Search
from courtroom.language import _, translated
from courtroom.models.spec import OFFLINE
from pages.parts.shared.actions import errors_shown, undo_bar
from pages.parts.shared.case_view import MARKS
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.models_form import embedding_choice, start_with_models
from pages.parts.shared.table import page_of, unreadable_rows

PAGE = 20


def disputes_base(house: Courthouse) -> None:
    base = house.knowledge.precedents
    st.caption(
        _(
            "Similar precedents are looked up for every hearing, and each juror is given the norms closest to its persona. Those "
            "that come with Courtroom are invented, with their votes and opinions."
        )
    )
    embedding = embedding_choice(house.settings.embedding, "", "embedding-disputes")

    if deleted := st.session_state.get("deleted_precedent"):
        with undo_bar("deleted_precedent", lambda precedent: base.add([precedent])):
            st.markdown(_("“{title}” is deleted.", title=literal(deleted.title)))
    unreadable_rows(base.collection.unreadable())
    everything = base.all()
    top = st.columns([4, 3, 2])
    text = top[0].text_input(_("Search by matter"), placeholder=_("a battery that was replaced"))
    category = top[1].selectbox(
        _("Category"), ["All", *sorted({p.category for p in everything})], format_func=translated
    )
    winner = top[2].selectbox(_("Won by"), ["Either", *SIDES], format_func=translated)
    found: list[tuple[Precedent, float | None]]
    if text.strip() and everything:
        hits: Sequence[Hit] = ()
        query = Search(collection="precedents", text=text, k=min(50, len(everything)))
        with errors_shown():
            hits = house.runner.do(house.knowledge.answer(query, embedding)).result()
        found = [(Precedent.model_validate(hit.record), hit.similarity) for hit in hits if hit.similarity > 0]
    else:
        found = [(precedent, None) for precedent in everything]
    found = [(p, s) for p, s in found if category in ("All", p.category) and winner in ("Either", p.winner)]
    if not everything:
        st.info(
            _("The base is empty. Import precedents below, or add one from a case with votes on record."),
            icon=":material/auto_stories:",
        )
    elif not found:
        st.info(_("No precedent fits. Use other words, or loosen the filters."), icon=":material/filter_alt_off:")
    page = page_of(len(found), PAGE)
    for precedent, similarity in found[(page - 1) * PAGE : page * PAGE]:
        _one(house, precedent, similarity)

    st.divider()
    left, middle, right = st.columns(3, gap="large")
    with left:
        st.subheader(_("Import and export"))
        file = st.file_uploader(
            _("JSON or JSONL"), type=["json", "jsonl"], help=_("The fields are those of the export.")
        )
        if may(Access.RUN) and file and st.button(_("Import"), type="primary"):
            report = base.import_file(file.getvalue())
            if report.taken:
                st.success(_("{taken} precedents imported.", taken=len(report.taken)))
            for problem in report.problems[:20]:
                st.error(literal(problem))
        lines = "".join(p.model_dump_json() + "\n" for p in everything)
        st.download_button(_("Export all"), lines, "precedents.jsonl", "application/jsonl", icon=":material/download:")
    with middle:
        st.subheader(_("From a case"))
        decided = [case for case in house.library.cases() if case.kind == "dispute" and case.real]
        chosen = st.selectbox(_("A case with votes on record"), decided, format_func=lambda case: case.title)
        if chosen and st.button(_("Add as a precedent")):
            with errors_shown():
                case = house.library.case(chosen.id)
                assert isinstance(case, Dispute)
                base.add([from_dispute(case)])
                st.toast(_("Added; its norms are still to be distilled."))
                st.rerun()
    with right:
        st.subheader(_("Distil norms"))
        bare = [p for p in everything if not p.norms]
        model = st.text_input(_("Model"), OFFLINE, help=_("`offline`, or any LiteLLM model id."))
        which = st.radio(_("Which"), ["Those without norms", "Those found above"], horizontal=True, format_func=literal)
        batch = bare if which == "Those without norms" else [p for p, _ in found]
        if st.button(_("Distil {batch}", batch=len(batch)), disabled=not batch):
            _distil(house, batch, model)
        st.caption(
            _("{bare} of {everything} precedents are without norms.", bare=len(bare), everything=len(everything))
        )


def _distil(house: Courthouse, chosen: list[Precedent], model: str) -> None:
    batch = PrecedentBatch(
        id="precedents", title=_("Norms of {chosen} precedents", chosen=len(chosen)), precedents=tuple(chosen)
    )
    procedure = house.hearing(batch.kind)
    start_with_models(house, procedure, batch, dict.fromkeys((role.name for role in procedure.roles), model))


def _one(house: Courthouse, precedent: Precedent, similarity: float | None) -> None:
    won = f"{MARKS[precedent.winner]} {literal(precedent.winner)} {precedent.buyer_votes:d}:{precedent.seller_votes:d}"
    near = f"{similarity:.2f} · " if similarity is not None else ""
    norms = _("{norms} norms", norms=len(precedent.norms)) if precedent.norms else _("no norms yet")
    with st.expander(
        _(
            "{near}**{title}** · {category} · {won} (buyer : seller) · {norms}",
            near=near,
            title=literal(precedent.title),
            category=literal(precedent.category),
            won=won,
            norms=norms,
        )
    ):
        inert(precedent.dispute)
        left, right = st.columns(2, gap="large")
        with left:
            st.caption(_("Jurors' opinions"))
            for opinion in precedent.opinions:
                inert(f"{MARKS[opinion.side]} {opinion.side}: {opinion.text}", small=True)
        with right:
            text = st.text_area(
                _("Norms, one a line"), "\n".join(precedent.norms), key=f"norms-{precedent.id}", height=160
            )
            norms_now = tuple(line.strip() for line in text.splitlines() if line.strip())[:8]
            changed = may(Access.RUN) and norms_now != precedent.norms
            if changed and st.button(_("Save the norms"), key=f"save-{precedent.id}", type="primary"):
                house.knowledge.precedents.add([precedent.model_copy(update={"norms": norms_now})])
                st.rerun()
        with st.container(horizontal=True, vertical_alignment="center"):
            st.caption(literal(precedent.source))
            if may(Access.RUN) and st.button(
                _("Distil again"),
                key=f"distil-{precedent.id}",
                help=_("By the offline model; choose another below the list."),
            ):
                _distil(house, [precedent], OFFLINE)
            if may(Access.OWN) and st.button(_("Delete"), key=f"delete-{precedent.id}", icon=":material/delete:"):
                st.session_state["deleted_precedent"] = precedent
                house.knowledge.precedents.delete(precedent.id)
                st.rerun()
