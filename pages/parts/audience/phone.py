"""Which phone this is, and the one reading of the store for all phones of this server."""

from __future__ import annotations

import streamlit as st

from courtroom.questions.audience import is_phone
from courtroom.room.hall import Hall
from pages.parts.shared.house import courthouse

# The id is made and kept in the browser: a page that is loaded again is the same phone, and no cookie is needed.
_ID = """
export default function ({ setStateValue }) {
  let id = null;
  try { id = localStorage.getItem("courtroom-phone"); } catch (error) { /* a browser that keeps nothing */ }
  if (!id) {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    id = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
    try { localStorage.setItem("courtroom-phone", id); } catch (error) { /* it holds for this visit */ }
  }
  setStateValue("id", id);
}
"""
_phone = st.components.v2.component("courtroom_phone", js=_ID)


def phone_id() -> str:
    """The random id of this browser; empty until it has said it, which takes a moment."""
    known = str(st.session_state.get("phone", ""))
    if known:
        return known
    said = str(_phone(key="phone-id", default={"id": ""}, on_id_change=lambda: None, height=1).id or "")
    if is_phone(said):
        st.session_state["phone"] = said
        return said
    return ""


@st.cache_resource(show_spinner=False)
def hall() -> Hall:
    """One for all sessions."""
    house = courthouse()
    return Hall(house.audiences, house.procedures, house.record, house.store.pulse)
