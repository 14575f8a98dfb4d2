"""Knowledge: what members can look up, what the memory has learned, and how it came to it."""

import streamlit as st

from courtroom.language import _, translated
from pages.parts.knowledge import collection_view, import_view, lessons_view, memory_view, precedents_view
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import one_of

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
first = wanted if wanted in PARTS else "disputes"
part = one_of(_("Part"), list(PARTS), "knowledge_part", first, lambda part: translated(PARTS[part]))
st.query_params["part"] = part
if part == "disputes":
    precedents_view(house)
elif part == "learning":
    lessons_view(house)
elif part in ("standards", "directives"):
    memory_view(house, part)
else:
    import_view(house, part)
    collection_view(house, part)
