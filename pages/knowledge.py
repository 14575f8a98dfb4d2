"""Knowledge: what members can look up, what the memory has learned, and how it came to it."""

from __future__ import annotations

import streamlit as st

from courtroom.language import _, translated
from pages.parts.knowledge.collection_view import collection_view
from pages.parts.knowledge.disputes_base import disputes_base
from pages.parts.knowledge.import_view import import_view
from pages.parts.knowledge.lessons_view import lessons_view
from pages.parts.knowledge.memory_view import memory_view
from pages.parts.shared.house import courthouse

PARTS = {
    "disputes": "Precedents of disputes",
    "statutes": "Statutes",
    "charges": "Charges",
    "cases": "Criminal precedents",
    "standards": "Standards",
    "directives": "Micro-directives",
    "learning": "Learning",
}

house = courthouse()
st.title(_("Knowledge"))
wanted = st.query_params.get("part")
part = st.segmented_control(
    _("Part"),
    list(PARTS),
    default=wanted if wanted in PARTS else "disputes",
    required=True,
    format_func=lambda part: translated(PARTS[part]),
    key="knowledge_part",
    label_visibility="collapsed",
)
st.query_params["part"] = part
if part == "disputes":
    disputes_base(house)
elif part == "learning":
    lessons_view(house)
elif part in ("standards", "directives"):
    memory_view(house, part)
else:
    import_view(house, part)
    collection_view(house, part)
