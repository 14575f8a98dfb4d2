"""Collections of the knowledge base: imports, browsing and a search with all three scores; precedents of disputes, and the norms drawn from them."""

from collections.abc import Sequence
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.access import Access, may
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import SIDES, Dispute, Precedent, PrecedentBatch
from courtroom.courthouse import Courthouse
from courtroom.knowledge.bases import BUNDLED, IMPORTED, How, from_dispute, kept_as, origins
from courtroom.knowledge.collection import Mode
from courtroom.knowledge.indexed_records import Filter
from courtroom.knowledge.search import Hit, Search
from courtroom.language import _, ngettext, translated
from courtroom.law import Charge, Statute
from courtroom.models.spec import OFFLINE
from pages.parts.shared.actions import errors_shown, offered, undo_bar
from pages.parts.shared.case_view import MARKS
from pages.parts.shared.models_form import embedding_choice, start_with_models
from pages.parts.shared.shown import count, inert, literal, page_of, table, unreadable_rows

LIVE_S = 0.5
SHOWN = "imported-into"
"""Kind and base of the last import, in the session: its base is shown as soon as something is in it."""
HOW: dict[How, str] = {"add": "stays", "replace": "is replaced by this file"}
FORMS = {
    "statutes": "JSONL, one article a line: `number`, `text`, and, if you like, `suffix`, `interpretation`, `charges`.",
    "charges": "JSONL, one charge a line: `name`, `articles`, and, if you like, `text`.",
    "cases": "CAIL2018 records, LawBench tasks or criminal cases with `gold`, as .json or .jsonl.",
}


@offered(Access.RUN)
def import_view(house: Courthouse, into: str) -> None:
    if into not in FORMS:
        return
    with st.expander(_("Import"), icon=":material/upload:"):
        file = st.file_uploader(_("A file"), type=["json", "jsonl"], key=f"import-{into}")
        base = st.text_input(
            _("Into the knowledge base"),
            IMPORTED,
            key=f"import-base-{into}",
            help=_(
                "A name of small letters, digits and hyphens; a new one makes a new base. What Courtroom brings along stays in the base “{bundled}”.",
                bundled=BUNDLED,
            ),
        )
        held, key = _("What the base holds already"), f"import-how-{into}"
        how: How = st.radio(held, list(HOW), format_func=lambda how: translated(HOW[how]), key=key, horizontal=True)
        forms = translated(FORMS[into])
        st.caption(
            _("{forms} The whole file is checked first; if one record is bad, nothing of it is imported.", forms=forms)
        )
        if st.button(_("Check and import"), type="primary", disabled=file is None) and file is not None:
            with errors_shown():
                with st.spinner(_("Checking every record ...")):
                    checked = house.imports.check(into, file.name, file.getvalue(), base.strip(), how)  # type: ignore[arg-type]
                house.take_in(checked)
                st.session_state[SHOWN] = (into, base.strip())
    kind, imported = st.session_state.get(SHOWN, ("", ""))
    if kind == into and imported in house.knowledge.bases():
        st.session_state[f"base-{into}"] = imported
        del st.session_state[SHOWN]
    busy = any(state.running for state in house.taking_in.values())

    @st.fragment(run_every=LIVE_S if busy else None)
    def under_way() -> None:
        for state in list(house.taking_in.values()):
            if state.running:
                done, total = f"{state.done:d}", f"{state.total:d}"
                name, what = literal(state.name), literal(state.what)
                text = _("{name}: {what} {done} of {total}", name=name, what=what, done=done, total=total)
                st.progress(state.done / max(1, state.total), text)
            elif state.error:
                st.error(literal(state.error))
            else:
                st.success(_("{name}: all {total} records are in.", name=literal(state.name), total=f"{state.total:d}"))
        if busy and not any(state.running for state in house.taking_in.values()):
            st.rerun()

    under_way()


PAGE = 20
TOLD = {
    "statutes": "An unofficial digest of the Criminal Law of the PRC (2023 amendment), in our words; import a statute book for "
    "the law's own.",
    "charges": "The list of charges that the digest names, with the articles under which they stand.",
    "cases": "Referred precedents with their judgments, all of them fictional.",
}
MODES: dict[Mode, str] = {"hybrid": "By both, fused", "dense": "By meaning (dense)", "bm25": "By words (BM25)"}


def collection_view(house: Courthouse, name: str) -> None:
    bases = house.knowledge.bases()
    base = BUNDLED
    if len(bases) > 1:
        base = st.selectbox(_("Knowledge base"), bases, key=f"base-{name}", format_func=translated)
    embedding = embedding_choice(house.settings.embedding, "", f"embedding-{name}")
    collection = house.knowledge.using(embedding).of(name, base)  # type: ignore[arg-type]
    line = translated(TOLD[name]) if base == BUNDLED else _("Imported.")
    if base != BUNDLED and (files := origins(house.database, kept_as(name, base))):
        of = [_("{file} ({records} records)", file=literal(one.file), records=f"{one.records:d}") for one in files]
        line = _("Imported from {listed}.", listed="; ".join(of))
    st.caption(_("{told} {collection} records.", told=line, collection=count(len(collection))))
    top = st.columns([5, 2, 1.4], vertical_alignment="bottom")
    text = top[0].text_input(
        _("Search by matter"),
        placeholder=_("a wallet taken on a bus · 在公交车上扒窃"),
        key=f"search-{collection.name}",
    )
    mode = top[1].selectbox(
        _("Order"), list(MODES), format_func=lambda mode: translated(MODES[mode]), key=f"mode-{collection.name}"
    )
    key, days = collection.name, {}
    with top[2], st.popover(_("Narrow down"), icon=":material/filter_alt:"):
        category, hint = "", _("theft · 盗窃")
        if name == "cases":
            category = st.text_input(_("Charge"), placeholder=hint, key=f"category-{key}")
        law = st.text_input(_("Article"), placeholder="264", key=f"law-{key}")
        if base != BUNDLED:
            days["since"] = st.date_input(_("Imported on or after"), value=None, key=f"since-{key}")
            days["until"] = st.date_input(_("Imported on or before"), value=None, key=f"until-{key}")
    only = Filter(category=category, law=law, **days)
    if text.strip():
        with errors_shown():
            hits = house.runner.do(collection.search(text, PAGE, mode, only=only)).result()
            if hits:
                heads = ["Found", "Dense rank", "Similarity", "BM25 rank", "BM25", "Fused"]
                scores = [(title_of(one.record), one.scores) for one in hits]
                lines = [(title, s.dense_rank, s.similarity, s.bm25_rank, s.bm25, s.fused) for title, s in scores]
                form = st.column_config.ProgressColumn(_("Similarity"), min_value=0.0, max_value=1.0, format="%.2f")
                table(pd.DataFrame(lines, columns=heads), {"Similarity": form})
            else:
                advice = _("Nothing fits. Use other words or another order, or narrow down less.")
                st.info(advice, icon=":material/filter_alt_off:")
            for one in hits:
                record_view(one.record)
        return
    if not len(collection):
        st.info(_("Nothing is here yet. Import a file above."), icon=":material/auto_stories:")
        return
    page = page_of(len(collection), PAGE, f"page-{collection.name}")
    unreadable_rows(collection.unreadable((page - 1) * PAGE, PAGE))
    for record in collection.page((page - 1) * PAGE, PAGE):
        record_view(record)


def title_of(record: Any) -> str:
    if isinstance(record, Statute):
        return _(
            "Article {id} · {title}", id=record.id, title=" · ".join(filter(None, (record.title.zh, record.title.en)))
        ).strip(" ·")
    if isinstance(record, Charge):
        articles = ngettext(
            "article {articles}", "articles {articles}", len(record.articles), articles=", ".join(record.articles)
        )
        return f"{' · '.join(filter(None, (record.name.zh, record.name.en)))} ({articles})"
    if isinstance(record, CriminalCase):
        charges = "; ".join((record.gold.charges or ()) if record.gold else ())
        return " · ".join(filter(None, (record.title, charges)))
    return str(getattr(record, "title", "") or getattr(record, "text", "") or record.id)


def record_view(record: Any) -> None:
    with st.expander(literal(title_of(record))):
        if isinstance(record, Statute):
            if record.digest:
                st.badge(_("Unofficial digest"), color="orange")
            for text in (record.text.zh, record.text.en):
                inert(text)
            for band in record.bands:
                extra = (_(", or life") if band.life else "") + (_(", or death") if band.death else "")
                when = " · ".join(filter(None, (band.when.zh, band.when.en)))
                term = _("{least} to {most} months", least=band.least, most=band.most)
                inert(f"• {when}: {term}{extra}", small=True)
            if record.charges:
                charges = "; ".join(f"{c.zh} {c.en}".strip() for c in record.charges)
                inert(_("Charges: {charges}", charges=charges), small=True)
            if record.interpretation:
                inert(record.interpretation, small=True, faint=True)
        elif isinstance(record, Charge):
            for text in (record.text.zh, record.text.en):
                inert(text)
        elif isinstance(record, CriminalCase):
            inert(record.facts)
            inert(record.real_outcome(), small=True)


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
    title = _("Norms of {chosen} precedents", chosen=len(chosen))
    batch = PrecedentBatch(id="precedents", title=title, precedents=tuple(chosen))
    procedure = house.hearing(batch.kind)
    start_with_models(house, procedure, batch, dict.fromkeys((role.name for role in procedure.roles), model))


def _one(house: Courthouse, precedent: Precedent, similarity: float | None) -> None:
    won = f"{MARKS[precedent.winner]} {literal(precedent.winner)} {precedent.buyer_votes:d}:{precedent.seller_votes:d}"
    near = f"{similarity:.2f} · " if similarity is not None else ""
    norms = _("{norms} norms", norms=len(precedent.norms)) if precedent.norms else _("no norms yet")
    names = {"title": literal(precedent.title), "category": literal(precedent.category)}
    told = _(
        "{near}**{title}** · {category} · {won} (buyer : seller) · {norms}", near=near, won=won, norms=norms, **names
    )
    with st.expander(told):
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
            by = _("By the offline model; choose another below the list.")
            if may(Access.RUN) and st.button(_("Distil again"), key=f"distil-{precedent.id}", help=by):
                _distil(house, [precedent], OFFLINE)
            if may(Access.OWN) and st.button(_("Delete"), key=f"delete-{precedent.id}", icon=":material/delete:"):
                st.session_state["deleted_precedent"] = precedent
                house.knowledge.precedents.delete(precedent.id)
                st.rerun()
