"""Uploaded cases: taken in one by one, and reported together."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping

import streamlit as st

from courtroom.cases.files import ENDINGS, read_each
from courtroom.cases.readers.numbered_labels import names_from
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _, ngettext, translated
from pages.parts.shared.inert import inert, literal

MOST_TOLD = 100
"""Of cases, refusals and remarks, so many are listed each."""


def upload(house: Courthouse) -> None:
    """Take in files; what is wrong with one record does not hold up the others."""
    files = st.file_uploader(
        _(
            "Cases as .json, .jsonl, or .zip with pictures and videos; documents as .txt, .md or .pdf; labelled texts as .csv, "
            ".tsv or .jsonl"
        ),
        type=[ending.removeprefix(".") for ending in sorted(ENDINGS)],
        accept_multiple_files=True,
        help=_(
            "A ZIP file holds case.json and its media. See any sample's export for the form. A table of labelled texts has a "
            "column “label” and a column “text”, or a pair such as “premise” and “hypothesis”."
        ),
    )
    names = st.text_input(
        _("What labels mean that are numbers"),
        key="label_names",
        placeholder=_("0=entailment,1=not_entailment"),
        help=_("Only for tables whose labels are numbers: the file's own description says what they mean."),
    )
    if not st.button(_("Take in"), disabled=not files, type="primary"):
        return
    taken: list[str] = []
    refused: list[str] = []
    remarks: Counter[str] = Counter()
    try:
        labels = names_from(names) or None
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    with st.spinner(_("Reading and checking ...")):
        for file in files or []:
            _take_in(house, file.name, file.getvalue(), labels, taken, refused, remarks)
    _tell(taken, refused, remarks)


def _take_in(
    house: Courthouse,
    name: str,
    data: bytes,
    labels: Mapping[str, str] | None,
    taken: list[str],
    refused: list[str],
    remarks: Counter[str],
) -> None:
    try:
        for found in read_each(name, data, labels):
            if isinstance(found, CourtroomError):
                refused.append(str(found))
                continue
            try:
                taken.append(house.library.add(found).title)
            except CourtroomError as error:
                refused.append(str(error))
            else:
                remarks.update(found.remarks)
    except CourtroomError as error:
        refused.append(str(error))


def _tell(taken: list[str], refused: list[str], remarks: Counter[str]) -> None:
    """One sentence on all; where there is more to say, it is folded below."""
    sentence = (
        _("Taken in: {taken}.", taken=literal(taken[0]))
        if len(taken) == 1
        else _("{taken} cases taken in.", taken=len(taken))
    )
    if refused:
        sentence = ngettext(
            "{number} case taken in, {refused} refused: {why}",
            "{number} cases taken in, {refused} refused: {why}",
            len(taken),
            refused=len(refused),
            why=literal(refused[0]),
        )
        (st.warning if taken else st.error)(sentence, icon=":material/error:")
    else:
        st.success(sentence, icon=":material/check:")
    if len(taken) + len(refused) + len(remarks) > 1:
        with st.expander(_("Details")):
            _list(_("Refused"), [translated(one) for one in refused])
            _list(
                _("Remarks"),
                [
                    _("{text} ({times} times)", text=translated(text), times=times) if times > 1 else translated(text)
                    for text, times in remarks.items()
                ],
            )
            _list(_("Taken in"), taken)


def _list(title: str, lines: list[str]) -> None:
    if lines:
        st.caption(f"{literal(title)}: {len(lines)}")
        rest = [_("... and {lines} more", lines=len(lines) - MOST_TOLD)] if len(lines) > MOST_TOLD else []
        inert("\n".join((*lines[:MOST_TOLD], *rest)), small=True)
