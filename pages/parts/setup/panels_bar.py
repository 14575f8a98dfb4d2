"""Saved panels: seated, saved, renamed, deleted; and files of persons, in and out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import streamlit as st

from courtroom.access.account import Access
from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import seating
from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.panel.files import checked, read_panel, write_csv, write_yaml
from courtroom.panel.personas import Persona
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.inert import literal
from pages.parts.shared.offered import offered
from pages.parts.shared.units import many

DELETED = "deleted_panel"


def panels_bar(house: Courthouse, draft: SetupDraft, jury: Sequence[dict[str, Any]]) -> None:
    """What can be done with whole panels; each way tells in a sentence why it can't.

    Args:
        jury: the persons as they sit now.
    """
    with st.container(horizontal=True, vertical_alignment="bottom"):
        names = house.panels.names()
        if names:
            chosen = st.selectbox(_("Saved panel"), names, key="panel-chosen", width=280, format_func=translated)
            if st.button(
                _("Seat this panel"),
                icon=":material/event_seat:",
                help=_("Its persons take the seats, in their order."),
            ):
                _try(lambda: _seat(draft, house.panels.load(chosen)))
            with st.popover(_("Rename or delete")):
                _change(house, chosen)
        with st.popover(_("Save this jury"), icon=":material/save:"):
            _save(house, jury)
        with st.popover(_("Import persons"), icon=":material/upload_file:"):
            _import(house, draft)
        with st.popover(_("Export persons"), icon=":material/download:"):
            persons = [Persona.model_validate(row) for row in jury]
            st.download_button(_("CSV, for a spreadsheet"), write_csv(persons), "panel.csv", "text/csv")
            st.download_button(_("YAML"), write_yaml(persons), "panel.yaml", "application/yaml")
    if deleted := st.session_state.get(DELETED):
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(_("The panel “{deleted}” is deleted.", deleted=literal(deleted[0])), width="content")
            if st.button(_("Undo"), icon=":material/undo:", key="panel-undo"):
                house.panels.save(*deleted)
                del st.session_state[DELETED]
                st.rerun()


def _seat(draft: SetupDraft, panel: Sequence[Persona]) -> None:
    draft.values.update(seating(draft.kind, [person.model_dump(mode="json") for person in panel]))
    draft.renew()
    st.toast(_("{panel} seated.", panel=many(len(panel), "person")))


@offered(Access.RUN)
def _save(house: Courthouse, jury: Sequence[dict[str, Any]]) -> None:
    with st.form("panel-save", border=False, clear_on_submit=True):
        name = st.text_input(_("Name of the panel"), placeholder=_("seven neighbours"), max_chars=80)
        if st.form_submit_button(_("Save"), type="primary"):
            _try(lambda: house.panels.save(name, checked(jury)))


@offered(Access.RUN)
def _change(house: Courthouse, chosen: str) -> None:
    with st.form("panel-rename", border=False):
        name = st.text_input(_("New name"), chosen, max_chars=80, key=f"panel-name-{chosen}")
        if st.form_submit_button(_("Rename")):
            _try(lambda: house.panels.rename(chosen, name))
    if st.button(_("Delete this panel"), icon=":material/delete:", type="tertiary"):

        def delete() -> None:
            st.session_state[DELETED] = (chosen, house.panels.delete(chosen))

        _try(delete)


def _import(house: Courthouse, draft: SetupDraft) -> None:
    st.caption(
        _(
            "A CSV or YAML file with a person in each row: name, gender, age, status, background, and if you like traits and "
            "interests, parted by semicolons. Export this jury to see the form."
        )
    )
    with st.form("panel-import", border=False, clear_on_submit=True):
        file = st.file_uploader(_("File"), type=["csv", "yaml", "yml"])
        name = st.text_input(_("Save as a panel named"), placeholder=_("the file's name"), max_chars=80)
        if not st.form_submit_button(_("Import and seat"), type="primary") or file is None:
            return

    def take_in() -> None:
        panel = read_panel(file.name, file.getvalue())
        house.panels.save(name.strip() or file.name.rpartition(".")[0], panel)
        _seat(draft, panel)

    _try(take_in)


def _try(act: Any) -> None:
    try:
        act()
    except CourtroomError as error:
        st.error(literal(str(error)))
    else:
        st.rerun()
