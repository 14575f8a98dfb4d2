"""A collection: browse it, or search it with all three scores."""

from __future__ import annotations

from typing import Any

import pandas as pd
import streamlit as st

from courtroom.cases.criminal import CriminalCase
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import BUNDLED, kept_as, origins
from courtroom.knowledge.ranking import Found, Mode
from courtroom.language import _, ngettext, translated
from courtroom.law.charge import Charge
from courtroom.law.statute import Statute
from pages.parts.knowledge.narrowing import narrowing
from pages.parts.shared.embedding_choice import embedding_choice
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.table import table
from pages.parts.shared.units import count
from pages.parts.shared.unreadable_rows import unreadable_rows

PAGE = 20
TOLD = {
    "statutes": "An unofficial digest of the Criminal Law of the PRC (2023 amendment), in our words; import a statute book for "
    "the law's own.",
    "charges": "The list of charges that the digest names, with the articles under which they stand.",
    "cases": "Referred precedents with their judgments, all of them fictional.",
}
MODES: dict[Mode, str] = {"hybrid": "By both, fused", "dense": "By meaning (dense)", "bm25": "By words (BM25)"}


def collection_view(house: Courthouse, name: str) -> None:
    """Search field, ranks, then the records."""
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
        try:
            found = house.runner.do(collection.search(text, PAGE, mode, only=only)).result()
        except CourtroomError as error:
            st.error(literal(str(error)))
            return
        if not found:
            st.info(
                _("Nothing fits. Use other words or another order, or narrow down less."),
                icon=":material/filter_alt_off:",
            )
            return
        scores_table([(title_of(one.record), one) for one in found])
        for one in found:
            record_view(one.record)
        return
    if not len(collection):
        st.info(_("Nothing is here yet. Import a file above."), icon=":material/auto_stories:")
        return
    pages = (len(collection) - 1) // PAGE + 1
    page = (
        st.number_input(_("Page of {pages}", pages=pages), 1, pages, 1, key=f"page-{collection.name}", width=160)
        if pages > 1
        else 1
    )
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
    """The three scores of what was found, side by side."""
    frame = pd.DataFrame(
        [
            {
                "Found": title,
                "Dense rank": one.scores.dense_rank,
                "Similarity": one.scores.similarity,
                "BM25 rank": one.scores.bm25_rank,
                "BM25": one.scores.bm25,
                "Fused": one.scores.fused,
            }
            for title, one in rows
        ]
    )
    similarity = st.column_config.ProgressColumn(_("Similarity"), min_value=0.0, max_value=1.0, format="%.2f")
    table(frame, {"Similarity": similarity})


def title_of(record: Any) -> str:
    """What a list calls a record."""
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
    """One record, folded."""
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
