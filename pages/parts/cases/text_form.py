"""A form for cases that are one text with, perhaps, pictures: a title, a language, the text."""

from __future__ import annotations

import re
from pathlib import Path

import streamlit as st
from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.files import Package, explain
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.media.medium import Medium
from courtroom.media.types import sniff
from pages.parts.shared.case_form import TYPES
from pages.parts.shared.inert import literal


def text_form(house: Courthouse, kind: type[Case]) -> None:
    """Everything stays in the form until it is saved."""
    with st.form(f"text-{kind.__name__}", border=True):
        st.subheader(_("A new {kind_title}", kind_title=literal(kind.kind_title.lower())))
        top = st.columns([4, 1])
        title = top[0].text_input(_("Title"), key=f"text_title_{kind.__name__}")
        language = top[1].selectbox(
            _("Language"),
            ["en", "zh", "de", "fr", "es", "ja"],
            key=f"text_lang_{kind.__name__}",
            format_func=translated,
        )
        text = st.text_area(_("Text"), key=f"text_text_{kind.__name__}", height=260)
        files = st.file_uploader(
            _("Pictures and videos, if any"), TYPES, accept_multiple_files=True, key=f"text_media_{kind.__name__}"
        )
        saved = st.form_submit_button(_("Check and save"), type="primary")
    if not saved:
        return
    taken = {f"media/{number}-{Path(file.name).name}": file.getvalue() for number, file in enumerate(files, start=1)}
    media = tuple(
        Medium(id=f"media-{number}", kind=found[0] if (found := sniff(data[:16])) else "image", file=name)
        for number, (name, data) in enumerate(taken.items(), start=1)
    )
    name = re.sub(r"[^a-z0-9]+", "-", title.lower()).strip("-")[:60] or "case"
    try:
        case = kind.written(name, title, language, text, media)
        kept = house.library.add(Package(case, taken))
    except ValidationError as error:
        for sentence in explain(error):
            st.error(literal(sentence))
        return
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    st.success(_("Saved as {title}. It is first in the list below.", title=literal(kept.title)))
