"""Choosing a model: those that this server can reach now, searchable, with what is known of each; any other can be typed."""

from __future__ import annotations

import asyncio
from typing import Any

import streamlit as st

from courtroom.errors import CourtroomError
from courtroom.language import _, translated
from courtroom.models.connections import Connections
from courtroom.models.keys import KEYS
from courtroom.models.offers import Offer, offers
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from pages.parts.shared.inert import declared, literal

FRESH_S = 60
ALWAYS = {
    OFFLINE: Offer(id=OFFLINE, prompt_price=0.0, completion_price=0.0),
    PERSON: Offer(id=PERSON),
}
ABOUT = {OFFLINE: "no language model; free, and works without a key", PERSON: "a person in the seat"}


@st.cache_data(ttl=FRESH_S, show_spinner=False)
def _reachable(_connections: Connections, _typed: dict[str, str], known: tuple[str, ...]) -> tuple[Offer, ...]:
    return offers(_connections, _typed)


def reachable(connections: Connections) -> dict[str, Offer]:
    """The models that can be asked now, by a label that is theirs alone."""
    typed = {name: value for name, value in st.session_state.get("typed_keys", {}).items() if value}
    with st.spinner(_("Looking for models that can be reached ...")):
        found = _reachable(connections, typed, (*sorted(typed), *connections))
    return ALWAYS | {_label(offer): offer for offer in found}


def model_picker(values: dict[str, Any], key: str, connections: Connections) -> tuple[dict[str, Any], bool]:
    """The model's id and connection, and whether it is one of those offered; what else a setup says of it stays.

    Args:
        values: a model's part of the setup.
    """
    known = reachable(connections)
    now = _label(Offer(id=values["id"], connection=values.get("connection", "")))
    options = [*known, *([now] if now not in known else [])]
    chosen = st.selectbox(
        _("Model"),
        options,
        options.index(now),
        key=f"{key}-id",
        format_func=lambda label: f"{label}: {translated(ABOUT[label])}" if label in ABOUT else label,
        help=declared(ModelSpec.model_fields["id"].description or ""),
        accept_new_options=True,
    )
    offer = known.get(chosen or OFFLINE) or Offer(
        id=(chosen or OFFLINE).strip(), connection=values.get("connection", "")
    )
    if offer.facts() and offer.id not in ABOUT:
        st.caption(literal(offer.facts()))
    picked = {**values, "id": offer.id}
    picked.pop("connection", None)
    return {**picked, **({"connection": offer.connection} if offer.connection else {})}, offer in known.values()


def try_it(values: dict[str, Any], key: str, connections: Connections) -> None:
    """A button that asks the model a schema, a stream, a picture and a long prompt."""
    if values["id"] in ABOUT:
        return
    if not st.button(
        _("Try it"),
        key=f"{key}-try",
        icon=":material/labs:",
        help=_("Asks it four short questions, which may cost a little."),
    ):
        return
    from courtroom.upkeep.model_check import ModelTrial, trials

    async def ask() -> list[ModelTrial]:
        spec = ModelSpec.model_validate(
            {"id": values["id"], "connection": values.get("connection", ""), "temperature": 0.0, "max_tokens": 500}
        )
        return [trial async for trial in trials(spec, connections)]

    token = KEYS.set(dict(st.session_state.get("typed_keys", {})))
    try:
        with st.spinner(_("Asking the model ...")):
            found = asyncio.run(ask())
    except CourtroomError as error:
        st.error(literal(str(error)))
        return
    finally:
        KEYS.reset(token)
    for trial in found:
        price = _(", US$ {cost}", cost=f"{trial.cost:.6f}") if trial.cost is not None else ""
        sentence = literal(f"{trial.about}: {trial.sentence} ({trial.seconds:.1f} s{price})")
        (st.success if trial.works else st.warning)(sentence)


def one_for_each_seat(
    members: list[str], chosen: dict[str, Any], base: dict[str, Any], key: str, connections: Connections
) -> bool:
    """A different model for each seat, in turn. True where the seats were given models."""
    known = reachable(connections)
    with st.popover(_("A different model for each seat"), icon=":material/groups:"):
        labels = st.multiselect(
            _("Models, in turn"),
            [label for label in known if label != PERSON],
            key=f"{key}-seats",
            accept_new_options=True,
            help=_("The first seat gets the first model, and so on; after the last one the first comes again."),
            format_func=translated,
        )
        if not st.button(_("Give them out"), key=f"{key}-give", disabled=not labels):
            return False
    rest = {name: value for name, value in base.items() if name not in ("id", "connection")}
    for place, member in enumerate(members):
        label = labels[place % len(labels)]
        offer = known.get(label) or Offer(id=label.strip())
        chosen[member] = {**rest, "id": offer.id, **({"connection": offer.connection} if offer.connection else {})}
    return True


def _label(offer: Offer) -> str:
    return f"{offer.id} @ {offer.connection}" if offer.connection else offer.id
