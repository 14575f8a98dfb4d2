"""What a search is narrowed to."""

from __future__ import annotations

from datetime import date

import streamlit as st

from courtroom.knowledge.facets import Filter
from courtroom.language import _


def narrowing(key: str, *, categories: bool, imported: bool) -> Filter:
    """Fields for a category, an article and days.

    Args:
        key: of the collection.
        categories: whether its records have any, such as charges.
        imported: whether its records came on some day; what is bundled has none.
    """
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
