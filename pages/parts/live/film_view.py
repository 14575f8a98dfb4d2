"""A film of a run: its storyboard, from which moments can be left out, and the film as it is drawn."""

import threading
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Literal

import pandas as pd
import streamlit as st

from courtroom.access import Resource
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.inert import declared
from pages.parts.shared.share_view import download

OPEN = "film_open"
"""The run whose storyboard is open, in the session: whatever draws the page anew must not close it."""
DRAWN = "film_drawn"
"""The film that was drawn last, in the session: its run, its kind and its content."""
_one_at_a_time = threading.Lock()
"""A film takes a core for some seconds: on a server with many people they are drawn one after another."""


def film_button(house: Courthouse, procedure: Procedure, record: Record) -> None:
    """The button that opens the storyboard, and the storyboard while it is open."""
    st.button(
        _("Film"),
        icon=":material/movie:",
        help=_("MP4 or GIF of its moments, to take along."),
        key="do-film",
        on_click=_opened,
        args=(record.run.id,),
    )
    if st.session_state.get(OPEN) == record.run.id:
        st.dialog(_("A film of this run"), width="large", on_dismiss=_closed)(_storyboard)(house, procedure, record)


def _opened(run: str) -> None:
    st.session_state.pop(DRAWN, None)
    st.session_state[OPEN] = run
    st.session_state[f"sharing-{run}"] = False  # else the list lies over the storyboard


def _closed() -> None:
    st.session_state.pop(OPEN, None)


def _storyboard(house: Courthouse, procedure: Procedure, record: Record) -> None:
    from courtroom.film import (  # slow to import: only for a film
        LONGEST,
        SHORTEST,
        film,
        length,
        scene_to_film,
        storyboard,
    )

    told = scene_to_film(record, procedure)
    result = st.container()
    kinds = {"mp4": _("MP4, a video"), "gif": _("GIF, a moving picture")}
    shapes = {"wide": _("16:9, for a screen"), "tall": _("9:16, for a phone")}
    themes = {"light": _("Light"), "dark": _("Dark")}
    with st.container(horizontal=True):
        kind: Literal["mp4", "gif"] = st.radio(
            _("File"), ["mp4", "gif"], format_func=lambda one: declared(kinds[one]), key="film-kind"
        )
        shape: Literal["wide", "tall"] = st.radio(
            _("Shape"), ["wide", "tall"], format_func=lambda one: declared(shapes[one]), key="film-shape"
        )
        dark = st.context.theme.type == "dark"
        theme: Literal["light", "dark"] = st.radio(
            _("Colours"), ["light", "dark"], int(dark), format_func=lambda one: declared(themes[one]), key="film-theme"
        )
        seconds = st.slider(_("Seconds, about"), int(SHORTEST), int(LONGEST), 45, 5, key="film-seconds")
    # What the film shows stands first, and below it what could be shown too.
    shots = sorted(storyboard(told, seconds), key=lambda shot: not shot.kept)
    rows = [(shot.kept, shot.head, shot.caption, round(shot.seconds, 1)) for shot in shots]
    edited = st.data_editor(
        pd.DataFrame(rows, columns=["show", "who", "caption", "seconds"]),
        hide_index=True,
        height=300,
        disabled=["who", "caption", "seconds"],
        column_config={
            "show": st.column_config.CheckboxColumn(_("Show"), width="small"),
            "who": st.column_config.TextColumn(_("Who"), width="medium"),
            "caption": st.column_config.TextColumn(_("Caption"), width="large"),
            "seconds": st.column_config.NumberColumn(_("Seconds"), width="small"),
        },
        key=f"film-shots-{seconds}",
    )
    chosen = sorted(
        (shot.model_copy(update={"kept": bool(show)}) for shot, show in zip(shots, edited["show"], strict=True)),
        key=lambda shot: (shot.kind != "title", shot.moment, shot.kind == "verdict"),
    )
    st.caption(_("{seconds} seconds are chosen.", seconds=f"{length(chosen):.0f}"))
    if st.button(_("Draw the film"), type="primary", icon=":material/movie:", key="do-draw-film"):
        bar = st.progress(0.0, _("The film is being drawn ..."))
        with errors_shown(), TemporaryDirectory() as folder, _one_at_a_time:
            file = Path(folder) / f"film.{kind}"
            film(told, chosen, file, shape=shape, theme=theme, progress=bar.progress)
            st.session_state[DRAWN] = (record.run.id, kind, file.read_bytes())
        bar.empty()
    drawn: tuple[str, str, bytes] | None = st.session_state.get(DRAWN)
    if drawn and drawn[0] == record.run.id:
        _run, made, content = drawn
        with result:
            if made == "mp4":
                st.video(content, autoplay=True, muted=True, width=300 if shape == "tall" else 640)
            else:
                st.image(content, width=300 if shape == "tall" else 640)
            of = Resource(kind="run", id=record.run.id)
            download(house, _("Download the film"), content, f"{of.id}.{made}", of, key="film-file")
