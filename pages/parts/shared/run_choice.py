"""Runs to choose from: the newest that fit what is searched for, however many there are."""

from collections.abc import Iterable
from dataclasses import replace

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Status
from courtroom.evaluation.run_list import RunFilter, RunLine, RunList
from courtroom.language import _

MOST = 100
"""So many are offered at once; a search finds the others."""


def runs_to_choose(
    house: Courthouse, key: str, chosen: Iterable[str], status: Status | None = None
) -> dict[str, RunLine]:
    """The newest runs by their ids, newest first, and those that are chosen; a field for a search stands above where there are
    more. `key`: of the field, in the session. `status`: how the runs must stand."""
    listed = RunList(house.database)
    held = RunFilter(status=status or "")
    rows = listed.newest(held, MOST + 1)
    if len(rows) > MOST:
        text = _searched(key)
        rows = listed.newest(replace(held, text=text), MOST) if text else rows[:MOST]
    rows += [one for one in listed.named(chosen) if one not in rows and status in (None, one.status)]
    return {one.id: one for one in rows}


def _searched(key: str) -> str:
    text: str = st.text_input(
        _("Search runs"),
        key=key,
        placeholder=_("case, outcome or id"),
        help=_("The newest {most} that fit can be chosen below.", most=MOST),
    )
    return text.strip()
