"""A collection of the knowledge base: imports into it, browsing, and a search with all three scores."""

from datetime import date
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.cases.criminal import CriminalCase
from courtroom.courthouse import Courthouse
from courtroom.knowledge.bases import BUNDLED, IMPORTED, How, kept_as, origins
from courtroom.knowledge.collection import Found, Mode
from courtroom.knowledge.indexed_records import Filter
from courtroom.language import _, ngettext, translated
from courtroom.law import Charge, Statute
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.models_form import embedding_choice
from pages.parts.shared.offered import offered
from pages.parts.shared.table import count, page_of, table, unreadable_rows

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
        how: How = st.radio(
            _("What the base holds already"),
            list(HOW),
            format_func=lambda how: translated(HOW[how]),
            key=f"import-how-{into}",
            horizontal=True,
        )
        st.caption(
            _(
                "{forms} The whole file is checked first; if one record is bad, nothing of it is imported.",
                forms=translated(FORMS[into]),
            )
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


def narrowing(key: str, *, categories: bool, imported: bool) -> Filter:
    with st.popover(_("Narrow down"), icon=":material/filter_alt:"):
        category = (
            st.text_input(_("Charge"), placeholder=_("theft · 盗窃"), key=f"category-{key}") if categories else ""
        )
        law = st.text_input(_("Article"), placeholder="264", key=f"law-{key}")
        since: date | None = None
        until: date | None = None
        if imported:
            since = st.date_input(_("Imported on or after"), value=None, key=f"since-{key}")
            until = st.date_input(_("Imported on or before"), value=None, key=f"until-{key}")
    return Filter(category=category, law=law, since=since, until=until)


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
    base = (
        st.selectbox(_("Knowledge base"), bases, key=f"base-{name}", format_func=translated)
        if len(bases) > 1
        else BUNDLED
    )
    embedding = embedding_choice(house.settings.embedding, "", f"embedding-{name}")
    collection = house.knowledge.using(embedding).of(name, base)  # type: ignore[arg-type]
    line = translated(TOLD[name]) if base == BUNDLED else _made_of(house, name, base)
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
    with top[2]:
        only = narrowing(collection.name, categories=name == "cases", imported=base != BUNDLED)
    if text.strip():
        with errors_shown():
            hits = house.runner.do(collection.search(text, PAGE, mode, only=only)).result()
            if hits:
                scores_table([(title_of(one.record), one) for one in hits])
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


def _made_of(house: Courthouse, name: str, base: str) -> str:
    """Which files a collection of an imported base is made of."""
    files = origins(house.database, kept_as(name, base))
    listed = "; ".join(
        _("{file} ({records} records)", file=literal(origin.file), records=f"{origin.records:d}") for origin in files
    )
    return _("Imported from {listed}.", listed=listed) if files else _("Imported.")


def scores_table(rows: list[tuple[str, Found[Any]]]) -> None:
    heads = ["Found", "Dense rank", "Similarity", "BM25 rank", "BM25", "Fused"]
    scores = [(title, one.scores) for title, one in rows]
    lines = [(title, s.dense_rank, s.similarity, s.bm25_rank, s.bm25, s.fused) for title, s in scores]
    similarity = st.column_config.ProgressColumn(_("Similarity"), min_value=0.0, max_value=1.0, format="%.2f")
    table(pd.DataFrame(lines, columns=heads), {"Similarity": similarity})


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
