"""What procedures show of their own, and what was looked up, a column a run."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd
import streamlit as st

from courtroom.engine.blocks import Block, Graph
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.evaluation.comparison import Comparison
from courtroom.language import _, translated
from pages.parts.shared.beside import LETTERS
from pages.parts.shared.blocks_view import MOST_SIDE_BY_SIDE, block_view
from pages.parts.shared.inert import literal
from pages.parts.shared.table import table


def views_beside(records: Sequence[Record], procedures: Sequence[Procedure]) -> None:
    """One view of each run; graphs in one layout, nodes with another choice marked."""
    titles = list(dict.fromkeys(view.title for procedure in procedures for view in procedure.views))
    if not titles:
        st.info(_("These procedures have no views of their own."), icon=":material/visibility:")
        return
    title = (
        st.segmented_control(_("View"), titles, default=titles[0], format_func=literal, key="view-beside") or titles[0]
    )
    drawn = [_drawn(record, procedure, title) for record, procedure in zip(records, procedures, strict=True)]
    labels = [label for label in dict.fromkeys(label for blocks in drawn for label in blocks) if label] or [""]
    shown = next((label for label in reversed(labels) if all(label in blocks for blocks in drawn)), labels[-1])
    if len(labels) > MOST_SIDE_BY_SIDE:
        shown = st.selectbox(
            _("Show"), labels, labels.index(shown), key=f"label-{title}-{'|'.join(labels)}", format_func=translated
        )
    elif len(labels) > 1:
        key = f"label-{title}-{'|'.join(labels)}"
        shown = st.segmented_control(_("Show"), labels, default=shown, format_func=literal, key=key) or shown
    found = [blocks.get(shown, blocks.get("", ())) for blocks in drawn]  # what has no label goes with any
    together = [block for blocks in found for block in blocks if isinstance(block, Graph)]
    per_row = 2 if together else len(records)
    for start in range(0, len(records), per_row):
        for place, column in enumerate(st.columns(per_row)[: len(records) - start], start=start):
            with column.container(border=True):
                st.caption(LETTERS[place])
                if not found[place]:
                    st.caption(_("Nothing here."))
                for number, block in enumerate(found[place]):
                    block_view(block, procedures[place], f"{title}-{place}-{number}", per_row=1, together=together)


def _drawn(record: Record, procedure: Procedure, title: str) -> Mapping[str, Sequence[Block]]:
    view = next((view for view in procedure.views if view.title == title), None)
    return view.draw(record) if view else {}


def look_ups_beside(comparison: Comparison) -> None:
    """What was found, and in which runs."""
    letters = LETTERS[: len(comparison.runs)]
    found = [(look_up, one) for look_up in comparison.look_ups for one in look_up.found]
    if not found:
        st.info(_("Nothing was looked up in these runs."), icon=":material/search:")
        return
    common = sum(all(one.runs) for _, one in found)
    st.caption(
        _(
            "{common} found in all, {found} not in all. A look-up differs where what was looked for does.",
            common=common,
            found=len(found) - common,
        )
    )
    show = st.segmented_control(
        _("Show"),
        ["Not in all", "In all", "Everything"],
        default="Not in all" if common < len(found) else "In all",
        format_func=literal,
    )
    rows = [
        [
            look_up.path,
            look_up.where,
            _("yes") if look_up.same_query else _("no"),
            one.title,
            *_marks(look_up.made, one.runs),
        ]
        for look_up, one in found
        if show in (None, "Everything") or (show == "In all") == all(one.runs)
    ]
    if not rows:
        st.caption(_("There is none."))
        return
    columns = ["Look-up", "In", "Looked for the same", "Found", *letters]
    table(pd.DataFrame(rows, columns=columns))


def _marks(made: tuple[bool, ...], found: tuple[bool, ...]) -> list[str]:
    return ["✓" if there else "–" if looked else _("not looked up") for looked, there in zip(made, found, strict=True)]
