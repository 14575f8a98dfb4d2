"""Which model answers: for the run, by role, by member, at which server; keys for this browser session; how look-ups compare texts."""

import asyncio
import json
from collections.abc import Mapping
from typing import Any

import pandas as pd
import streamlit as st
from pydantic import ValidationError

from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import Widget, thresholds
from courtroom.engine.procedure import Procedure
from courtroom.engine.setup import Setup
from courtroom.knowledge.embedding import (
    BY_WORDS,
    DEFAULT,
    REMOTE,
    about_embedding,
    embedding_problem,
    encoders,
    installed,
    missing,
)
from courtroom.language import _, translated
from courtroom.models.capabilities import in_words
from courtroom.models.connections import Connections
from courtroom.models.keys import KEYS, first_set, typed_name
from courtroom.models.offers import Offer, offers
from courtroom.models.providers import PROVIDERS
from courtroom.models.spec import ABSTAIN, OFFLINE, PERSON, ModelSpec
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.knobs import SetupDraft, knob
from pages.parts.shared.shown import declared, heads, literal

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
    return ALWAYS | {offer_label(offer): offer for offer in found}


def model_picker(values: dict[str, Any], key: str, connections: Connections) -> tuple[dict[str, Any], bool]:
    """The model's id and connection, and whether it is one of those offered; what else a setup says of it stays."""
    offered = reachable(connections)
    now = offer_label(Offer(id=values["id"], connection=values.get("connection", "")))
    options = [*offered, *([now] if now not in offered else [])]
    chosen = st.selectbox(
        _("Model"),
        options,
        options.index(now),
        key=f"{key}-id",
        format_func=lambda label: f"{label}: {translated(ABOUT[label])}" if label in ABOUT else label,
        help=declared(ModelSpec.model_fields["id"].description or ""),
        accept_new_options=True,
    )
    name = chosen or OFFLINE
    offer = offered.get(name) or Offer(id=name.strip(), connection=values.get("connection", ""))
    if offer.facts() and offer.id not in ABOUT:
        st.caption(literal(offer.facts()))
    rest = {name: value for name, value in values.items() if name not in ("id", "connection")}
    return {**rest, **_chosen(offer)}, offer in offered.values()


def out_of_reach(house: Courthouse, setup: Setup) -> str:
    """The models of a setup that can't be asked here and have no stand-in, in words; empty where there are none."""
    token = KEYS.set(typed_keys())
    try:
        alone = (spec for spec in setup.models if spec.otherwise == ABSTAIN)
        return ", ".join(sorted({spec.id for spec in alone if house.capabilities.why_not_asked(spec)}))
    finally:
        KEYS.reset(token)


def stand_in_choice(house: Courthouse, setup: Setup, key: str) -> str:
    """Who answers what is asked anew; empty, and nothing drawn, where all models of a setup can be asked here."""
    if not (missing := out_of_reach(house, setup)):
        return ""
    chosen = st.selectbox(
        _("Who answers what is asked anew?"),
        [label for label, offer in reachable(house.connections).items() if not offer.connection],
        key=f"{key}-stand-in",
        format_func=lambda label: f"{label}: {translated(ABOUT[label])}" if label in ABOUT else label,
        accept_new_options=True,
    )
    st.caption(
        _(
            "{missing} can't be asked here. What is on its record is served; what the change touches is answered by {stand_in}, so that the answers are mixed.",
            missing=literal(missing),
            stand_in=literal(chosen or OFFLINE),
        )
    )
    return str(chosen or OFFLINE)


def try_it(values: dict[str, Any], key: str, connections: Connections) -> None:
    """A button that asks the model a schema, a stream, a picture and a long prompt."""
    if values["id"] in ABOUT:
        return
    about = _("Asks it four short questions, which may cost a little.")
    if not st.button(_("Try it"), key=f"{key}-try", icon=":material/labs:", help=about):
        return
    from courtroom.upkeep.model_check import ModelTrial, trials

    async def ask() -> list[ModelTrial]:
        spec = ModelSpec.model_validate(
            {"id": values["id"], "connection": values.get("connection", ""), "temperature": 0.0, "max_tokens": 500}
        )
        return [trial async for trial in trials(spec, connections)]

    tried: list[ModelTrial] = []
    token = KEYS.set(typed_keys())
    try:
        with errors_shown(), st.spinner(_("Asking the model ...")):
            tried = asyncio.run(ask())
    finally:
        KEYS.reset(token)
    for trial in tried:
        price = _(", US$ {cost}", cost=f"{trial.cost:.6f}") if trial.cost is not None else ""
        sentence = literal(f"{trial.about}: {trial.sentence} ({trial.seconds:.1f} s{price})")
        (st.success if trial.works else st.warning)(sentence)


def found_out(model: str, key: str) -> None:
    """What was found out of a model, and a button that forgets it."""
    capabilities = courthouse().capabilities
    mine = [findings for place, findings in capabilities.found().items() if place.partition(" at ")[0] == model]
    if not mine:
        return
    st.caption(_("Found out: {found}.", found=literal("; ".join(map(in_words, mine)))))
    if st.button(_("Forget what was found out"), key=f"forget-{key}", icon=":material/restart_alt:"):
        capabilities.forget(model)
        st.toast(_("What was found out of this model is forgotten: it is asked again what it takes."))


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
        chosen[member] = {**rest, **_chosen(offer)}
    return True


def _chosen(offer: Offer) -> dict[str, str]:
    """What a setup says of it."""
    return {"id": offer.id, **({"connection": offer.connection} if offer.connection else {})}


def offer_label(offer: Offer) -> str:
    return f"{offer.id} @ {offer.connection}" if offer.connection else offer.id


OFFERED = ("openai", "anthropic", "gemini", "deepseek", "openrouter", "groq", "mistral", "xai", "together_ai")
OWN = "the provider's own"
OTHERWISE = ModelSpec.model_fields["otherwise"]


def models_form(draft: SetupDraft, procedure: Procedure, case: Case, connections: Connections) -> None:
    st.subheader(_("The run's model"))
    draft.values["model"] = _spec(draft.values["model"], draft.key("model"), connections)
    st.subheader(_("By role"), help=_("Empty: the run's model, or nobody where a role needs a model of its own."))
    roles = draft.values["roles"]
    for column, role in zip(st.columns(len(procedure.roles), gap="large"), procedure.roles, strict=True):
        with column:
            given = st.text_input(
                declared(role.title), roles.get(role.name, {}).get("id", ""), key=draft.key(f"role-{role.name}"), help=declared(role.help),
                placeholder=_("a model of its own") if role.own_model else _("the run's model"),
            )  # fmt: skip
            own = roles.get(role.name, {})
            there, otherwise = own.get("connection", ""), own.get("otherwise", "")
            if given.strip():
                otherwise = st.text_input(
                    declared(OTHERWISE.title or ""), otherwise, key=draft.key(f"role-{role.name}-otherwise"),
                    placeholder=ABSTAIN, help=declared(OTHERWISE.description or ""),
                )  # fmt: skip
            if given.strip() and (connections or there):
                there = _connection(there, connections, draft.key(f"role-{role.name}-connection"))
        _put(roles, role.name, given, there, otherwise, draft.values["model"])
    st.subheader(_("By member"), help=_("A heterogeneous jury: give some members a model of their own."))
    try:
        members = procedure.prepare(case, draft.validated(), draft.seed)[1]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    chosen = draft.values["members"]
    if one_for_each_seat(
        [member.id for member in members], chosen, draft.values["model"], draft.key("each"), connections
    ):
        draft.renew()
        st.rerun()
    table = pd.DataFrame(
        {
            "member": [member.id for member in members],
            "name": [translated(member.name) for member in members],
            "model": [chosen.get(member.id, {}).get("id", "") for member in members],
            "connection": [chosen.get(member.id, {}).get("connection", "") for member in members],
            "otherwise": [chosen.get(member.id, {}).get("otherwise", "") for member in members],
        }
    )
    stated = draft.values[name] if (name := draft.drawn.get(Widget.POINTS_OF_VIEW)) else None
    if stated is not None:
        table["point of view"] = [stated.get(member.id, "") for member in members]
    if not connections and not any(table["connection"]):
        table = table.drop(columns="connection")
    edited = st.data_editor(
        table, key=draft.key("members"), hide_index=True, disabled=["member", "name"], width="stretch",
        column_config=heads(table, {
            "model": st.column_config.TextColumn(_("model"), help=_("Empty: by role, else the run's model.")),
            "connection": st.column_config.SelectboxColumn(
                _("connection"), options=["", *connections], help=_("Empty: the provider's own server.")
            ),
            "otherwise": st.column_config.TextColumn(
                declared(OTHERWISE.title or ""), help=declared(OTHERWISE.description or "")
            ),
            "point of view": st.column_config.TextColumn(
                _("point of view"), width="large", help=_("What this seat looks at first; empty: nothing is said of it.")
            ),
        }),
    )  # fmt: skip
    for row in edited.to_dict("records"):
        there, otherwise = row.get("connection") or "", row["otherwise"] or ""
        _put(chosen, row["member"], row["model"] or "", there, otherwise, draft.values["model"])
        if stated is not None:
            view = (row["point of view"] or "").strip()
            stated.update({row["member"]: view}) if view else stated.pop(row["member"], None)


def keys_form(connections: Connections) -> None:
    """Keys typed for this session; where the owner has set one, it says so. Addresses are the owner's alone."""
    st.subheader(
        _("Keys"), help=_("Kept in this browser session's memory only: never stored, logged, exported or shown again.")
    )
    st.caption(
        _(
            "A key that you type is used while you have a run go on, and forgotten as soon as somebody else does. It goes to the address that is shown with it. To use a server of your own, such as Ollama or vLLM, whoever runs this app sets its address before starting it ({value} ...) or lists it as a connection in the file that {value_2} names.",
            value=literal("OLLAMA_API_BASE, HOSTED_VLLM_API_BASE, OPENAI_API_BASE"),
            value_2=literal("COURTROOM_CONNECTIONS"),
        )
    )
    typed: dict[str, str] = st.session_state.setdefault("typed_keys", {})
    columns = st.columns(3, gap="large")
    places = [
        (PROVIDERS[name].keys[0], first_set(PROVIDERS[name].addresses), bool(first_set(PROVIDERS[name].keys)))
        for name in OFFERED
    ]
    places += [(typed_name(name), one.address, bool(one.secret)) for name, one in connections.items()]
    for number, (name, address, known) in enumerate(places):
        with columns[number % 3]:
            state = "typed" if typed.get(name) else _("set on the server") if known else _("not set")
            own = not (known and name.startswith("connections."))  # there the owner's key counts alone
            hidden: dict[str, Any] = {"type": "password", "autocomplete": "off"}
            given = st.text_input(literal(name), key=f"key-{name}", placeholder=state, disabled=not own, **hidden)
            if given and own:
                typed[name] = given
            to = _(", goes to {address}", address=literal(address)) if address else ""
            st.caption(_("Now {state}{to}.", state=state if not given else _("typed"), to=to))
    if typed and st.button(_("Forget typed keys")):
        for name in typed:
            st.session_state.pop(f"key-{name}", None)
        typed.clear()
        st.rerun()


def typed_keys() -> dict[str, str]:
    """What was typed in this browser session, to be given with each command that has a run go on."""
    return dict(st.session_state.get("typed_keys", {}))


def _connection(value: str, connections: Connections, key: str) -> str:
    options = ["", *connections, *([value] if value and value not in connections else [])]
    return str(
        st.selectbox(
            _("Connection"), options, options.index(value), key=key, format_func=lambda name: name or OWN,
            help=declared(ModelSpec.model_fields["connection"].description or ""),
        )
    )  # fmt: skip


def _spec(values: dict[str, Any], key: str, connections: Connections) -> dict[str, Any]:
    fields = ModelSpec.model_fields
    columns = st.columns(3, gap="large")
    with columns[0]:
        values, is_listed = model_picker(values, key, connections)
        if not is_listed and (connections or values.get("connection")):
            there = _connection(values.pop("connection", ""), connections, f"{key}-connection-{values['id']}")
            values |= {"connection": there} if there else {}
    with columns[1]:
        try_it(values, key, connections)
        found_out(values["id"], key)
    of_persons = [] if values["id"] == PERSON else ["wait_s"]
    names = [name for name in fields if name not in ("id", "connection", "extra", *of_persons)]
    with st.expander(_("Parameters"), expanded=values["id"] != OFFLINE):
        for column, part in zip(st.columns(3, gap="large"), (names[:3], names[3:6], names[6:]), strict=True):
            with column:
                for name in part:
                    values[name] = knob(fields[name], values.get(name, fields[name].default), f"{key}-{name}")
        text = st.text_input(
            _("Further parameters (JSON)"), json.dumps(values["extra"]) if values["extra"] else "", key=f"{key}-extra",
            help=declared(fields["extra"].description or ""), placeholder='{"reasoning_effort": "low"}',
        )  # fmt: skip
        try:
            values["extra"] = json.loads(text) if text.strip() else {}
        except json.JSONDecodeError:
            st.error(_('Further parameters must be a JSON object, such as {"reasoning_effort": "low"}.'))
    return values


def _put(into: dict[str, Any], name: str, model: str, connection: str, otherwise: str, base: dict[str, Any]) -> None:
    model, otherwise, now = model.strip(), otherwise.strip(), into.get(name, {})
    if not model:
        into.pop(name, None)
    elif (now.get("id"), now.get("connection", "")) != (model, connection):
        rest = {field: value for field, value in (now or base).items() if field != "connection"}
        into[name] = {**rest, **_chosen(Offer(id=model, connection=connection))}
    elif now.get("otherwise", "") != otherwise:
        rest = {field: value for field, value in now.items() if field != "otherwise"}
        into[name] = {**rest, **({"otherwise": otherwise} if otherwise else {})}


def embedding_choice(servers: str, value: str, key: str) -> str:
    """An embedding from the list, or any LiteLLM id that is written; below it, what is to be known of it. `servers`: the one that
    the server's owner has set; it is the empty `value`, and the empty answer, which is also given where the choice can't be used."""
    options = list(dict.fromkeys(("", DEFAULT, *REMOTE, *encoders(), value)))
    chosen = st.selectbox(
        _("Embedding"),
        options,
        options.index(value),
        key=key,
        accept_new_options=True,
        format_func=lambda name: name or _("as set on the server: {servers}", servers=servers),
        help=_(
            "How texts are compared in look-ups. Choose one, or write a LiteLLM id. A first look-up with another embedding has to "
            "embed the whole collection."
        ),
    )
    chosen = str(chosen or "").strip()
    if problem := embedding_problem(chosen):
        st.error(literal(_("This embedding can't be used: {problem}.", problem=problem)))
        return ""
    st.caption(literal(about_embedding(chosen or servers)))
    if chosen in encoders() and not installed(chosen):
        st.warning(literal(missing(chosen)))
    return chosen


def embedding_notes(procedure: Procedure, chosen: str, house: Courthouse) -> None:
    """What rests on words alone, and which thresholds were chosen for another embedding."""
    embedding = chosen or house.settings.embedding
    if procedure.looks_in and embedding == DEFAULT:
        st.caption(_("Look-ups by {default}: {by_words}", default=literal(DEFAULT), by_words=translated(BY_WORDS)))
    for set_for in dict.fromkeys(name for _knob, name in thresholds(procedure.setup) if name != embedding):
        titles = ", ".join(title for title, name in thresholds(procedure.setup) if name == set_for)
        st.warning(
            _(
                "The defaults of {titles} were chosen for {set_for}. {embedding} gives other similarities: choose them again.",
                titles=literal(titles),
                set_for=literal(set_for),
                embedding=literal(embedding),
            ),
            icon=":material/tune:",
        )


def start_with_models(house: Courthouse, procedure: Procedure, case: Case, roles: Mapping[str, str]) -> None:
    """Start a run with the default setup and a model for each role, and go to its page."""
    models = {role: {"id": model.strip() or OFFLINE} for role, model in roles.items()}
    try:
        setup = procedure.setup.model_validate({"roles": models})
    except ValidationError as error:
        st.error(literal(" ".join(explain(error))))
        return
    run = house.new_run(procedure.name, case, setup, 0)
    house.runner.go(run, keys=typed_keys())
    open_run(run)
