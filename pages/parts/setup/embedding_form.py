"""By which embedding a run looks things up, and what rests on that."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import thresholds
from courtroom.engine.procedure import Procedure
from courtroom.knowledge.embedding import DEFAULT
from courtroom.knowledge.embeddings import BY_WORDS
from courtroom.language import _, translated
from pages.parts.shared.draft import SetupDraft
from pages.parts.shared.embedding_choice import embedding_choice
from pages.parts.shared.inert import literal


def embedding_form(draft: SetupDraft, house: Courthouse) -> None:
    """The choice."""
    st.subheader(_("Look-ups"))
    draft.values["embedding"] = embedding_choice(
        house.settings.embedding, draft.values.get("embedding", ""), draft.key("embedding")
    )


def embedding_notes(procedure: Procedure, chosen: str, house: Courthouse) -> None:
    """What rests on words alone, and which thresholds were chosen for another embedding."""
    embedding = chosen or house.settings.embedding
    if procedure.looks_in and embedding == DEFAULT:
        st.caption(_("Look-ups by {default}: {by_words}", default=literal(DEFAULT), by_words=translated(BY_WORDS)))
    for set_for in dict.fromkeys(name for _knob, name in thresholds(procedure.setup) if name != embedding):
        titles = ", ".join(title for title, name in thresholds(procedure.setup) if name == set_for)
        st.warning(
            _(
                "The defaults of {titles} were chosen for {set_for}. {embedding} gives other similarities: choose them anew.",
                titles=literal(titles),
                set_for=literal(set_for),
                embedding=literal(embedding),
            ),
            icon=":material/tune:",
        )
