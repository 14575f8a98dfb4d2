"""Which model answers, for the run, by role and by member; keys of this session; how look-ups compare texts."""

import asyncio
import json
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from itertools import cycle
from typing import Any

import pandas as pd
import streamlit as st

from courtroom import Case, Courthouse, Procedure, Setup
from courtroom.declarations.knobs import Widget, thresholds
from courtroom.knowledge import embedding as embeddings
from courtroom.language import N_, _, translated
from courtroom.models.capabilities import in_words
from courtroom.models.keys import KEYS, PROVIDERS, first_set, typed_name
from courtroom.models.offers import Offer, offers
from courtroom.models.route import Connections
from courtroom.models.spec import ABSTAIN, OFFLINE, PERSON, ModelSpec
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.knobs import SetupDraft, knob
from pages.parts.shared.shown import errors_shown, heads, literal

FRESH_S = 60
ALWAYS = {OFFLINE: Offer(id=OFFLINE, prompt_price=0.0, completion_price=0.0), PERSON: Offer(id=PERSON)}
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
    about = translated(ModelSpec.model_fields["id"].description or "")
    name = _one_of_all(_("Model"), options, f"{key}-id", options.index(now), about)
    offer = offered.get(name) or Offer(id=name.strip(), connection=values.get("connection", ""))
    if offer.facts() and offer.id not in ABOUT:
        st.caption(literal(offer.facts()))
    return _with(values, offer), offer in offered.values()


def _one_of_all(label: str, options: list[str], key: str, place: int = 0, about: str | None = None) -> str:
    """A model among those that can be reached, or any id that is written."""
    looks: dict[str, Any] = {"help": about, "accept_new_options": True}
    looks["format_func"] = lambda name: f"{name}: {translated(ABOUT[name])}" if name in ABOUT else name
    return str(st.selectbox(translated(label), options, place, key=key, **looks) or OFFLINE)


@contextmanager
def _typed() -> Iterator[None]:
    """Models are asked with the keys of this session."""
    token = KEYS.set(typed_keys())
    try:
        yield
    finally:
        KEYS.reset(token)


def out_of_reach(house: Courthouse, setup: Setup) -> str:
    """The models of a setup that can't be asked here and have no stand-in, in words; empty where there are none."""
    with _typed():
        alone = (spec for spec in setup.models if spec.otherwise == ABSTAIN)
        return ", ".join(sorted({spec.id for spec in alone if house.capabilities.why_not_asked(spec)}))


def stand_in_choice(house: Courthouse, setup: Setup, key: str) -> str:
    """Who answers what is asked anew; empty, and nothing drawn, where all models of a setup can be asked here."""
    if not (missing := out_of_reach(house, setup)):
        return ""
    options = [label for label, offer in reachable(house.connections).items() if not offer.connection]
    chosen = _one_of_all(_("Who answers what is asked anew?"), options, f"{key}-stand-in")
    text = _("{missing} can't be asked here. What is on its record is served.", missing=literal(missing))
    st.caption(text + " " + _("What the change touches is answered by {stand_in}.", stand_in=literal(chosen)))
    return chosen


def try_it(values: dict[str, Any], key: str, connections: Connections) -> None:
    """A button that asks the model a schema, a stream, a picture and a long prompt."""
    if values["id"] in ABOUT:
        return
    about = _("Asks it four short questions, which may cost a little.")
    if not st.button(_("Try it"), key=f"{key}-try", icon=":material/labs:", help=about):
        return
    from courtroom.upkeep.model_check import ModelTrial, trials

    async def ask() -> list[ModelTrial]:
        place = {"id": values["id"], "connection": values.get("connection", "")}
        spec = ModelSpec.model_validate({**place, "temperature": 0.0, "max_tokens": 500})
        return [trial async for trial in trials(spec, connections)]

    with errors_shown(), _typed(), st.spinner(_("Asking the model ...")):
        for trial in asyncio.run(ask()):
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


def _with(values: Mapping[str, Any], offer: Offer) -> dict[str, Any]:
    """What a setup says of a model, with this one in its place."""
    rest = {name: value for name, value in values.items() if name not in ("id", "connection")}
    return {**rest, "id": offer.id, **({"connection": offer.connection} if offer.connection else {})}


def offer_label(offer: Offer) -> str:
    return f"{offer.id} @ {offer.connection}" if offer.connection else offer.id


OFFERED = ("openai", "anthropic", "gemini", "deepseek", "openrouter", "groq", "mistral", "xai", "together_ai")
OWN = N_("the provider's own")
OTHERWISE = ModelSpec.model_fields["otherwise"]


def models_form(draft: SetupDraft, procedure: Procedure, case: Case, connections: Connections) -> None:
    st.subheader(_("The run's model"))
    base = draft.values["model"] = _spec(draft.values["model"], draft.key("model"), connections)
    st.subheader(_("By role"), help=_("Empty: the run's model, or nobody where a role needs a model of its own."))
    roles = {role.name: translated(role.title) for role in procedure.roles}
    _models_table(draft.values["roles"], roles, draft.key("roles"), connections, base)
    st.subheader(_("By member"), help=_("A heterogeneous jury: give some members a model of their own."))
    try:
        members = procedure.prepare(case, draft.validated(), draft.seed)[1]
    except ValueError:
        st.caption(_("Mend the setup first."))
        return
    chosen, names = draft.values["members"], {member.id: translated(member.name) for member in members}
    key, known = draft.key("each"), reachable(connections)
    with st.popover(_("A different model for each seat"), icon=":material/groups:"):
        about = _("The first seat gets the first model, and so on; after the last one the first comes again.")
        options = [label for label in known if label != PERSON]
        labels = st.multiselect(_("Models, in turn"), options, key=f"{key}-seats", accept_new_options=True, help=about)
        if st.button(_("Give them out"), key=f"{key}-give", disabled=not labels):
            for member, label in zip(names, cycle(labels)):  # noqa: B905
                chosen[member] = _with(base, known.get(label) or Offer(id=label.strip()))
            draft.redraw()
    stated = draft.values[name] if (name := draft.drawn.get(Widget.POINTS_OF_VIEW)) else None
    _models_table(chosen, names, draft.key("members"), connections, base, stated)


def _models_table(
    chosen: dict[str, Any], names: Mapping[str, str], key: str, connections: Connections, base: dict[str, Any],
    stated: dict[str, str] | None = None,
) -> None:  # fmt: skip
    """A line for each role or member with the model of its own; `stated`: points of view by member."""
    table = pd.DataFrame({"member": list(names), "name": list(names.values())})
    for head, part in (("model", "id"), ("connection", "connection"), ("otherwise", "otherwise")):
        table[head] = [chosen.get(member, {}).get(part, "") for member in names]
    if stated is not None:
        table["point of view"] = [stated.get(member, "") for member in names]
    if not connections and not any(table["connection"]):
        table = table.drop(columns="connection")
    text, own_server = st.column_config.TextColumn, _("Empty: the provider's own server.")
    seen_first = _("What this seat looks at first; empty: nothing is said of it.")
    columns = {
        "model": text(_("model"), help=_("Empty: by role, else the run's model.")),
        "connection": st.column_config.SelectboxColumn(options=["", *connections], help=own_server),
        "otherwise": text(translated(OTHERWISE.title or ""), help=translated(OTHERWISE.description or "")),
        "point of view": text(_("point of view"), width="large", help=seen_first),
    }
    config, fixed = heads(table, columns), ["member", "name"]
    edited = st.data_editor(table, key=key, hide_index=True, disabled=fixed, column_config=config)
    for row in edited.fillna("").to_dict("records"):  # a cell that was cleared is empty
        model, otherwise = row["model"].strip(), row["otherwise"].strip()
        there, now = row.get("connection", ""), chosen.get(row["member"], {})
        if not model:
            chosen.pop(row["member"], None)
        elif (now.get("id"), now.get("connection", "")) != (model, there):
            chosen[row["member"]] = _with(now or base, Offer(id=model, connection=there))
        elif now.get("otherwise", "") != otherwise:
            rest = {field: value for field, value in now.items() if field != "otherwise"}
            chosen[row["member"]] = {**rest, **({"otherwise": otherwise} if otherwise else {})}
        if stated is not None:
            view = row["point of view"].strip()
            stated.update({row["member"]: view}) if view else stated.pop(row["member"], None)


def keys_form(connections: Connections) -> None:
    """Keys typed for this session; where the owner has set one, it says so. Addresses are the owner's alone."""
    about = _("Kept in this browser session's memory only: never stored, logged, exported or shown again.")
    st.subheader(_("Keys"), help=about)
    text = _("A key that you type is used while you have a run go on, and forgotten as soon as somebody else does.")
    st.caption(text)
    typed: dict[str, str] = st.session_state.setdefault("typed_keys", {})
    columns = st.columns(3, gap="large")
    offered = [PROVIDERS[name] for name in OFFERED]
    places = [(one.keys[0], first_set(one.addresses), bool(first_set(one.keys))) for one in offered]
    places += [(typed_name(name), one.address, bool(one.secret)) for name, one in connections.items()]
    for number, (name, address, known) in enumerate(places):
        with columns[number % 3]:
            state = _("typed") if typed.get(name) else _("set on the server") if known else _("not set")
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


def _spec(values: dict[str, Any], key: str, connections: Connections) -> dict[str, Any]:
    fields = ModelSpec.model_fields
    columns = st.columns(3, gap="large")
    with columns[0]:
        values, is_listed = model_picker(values, key, connections)
        if not is_listed and (connections or values.get("connection")):
            now = values.pop("connection", "")
            titles = {name: name or _(OWN) for name in ("", *connections, now)}
            title, at, of = _("Connection"), list(titles).index(now), f"{key}-connection-{values['id']}"
            about = translated(fields["connection"].description or "")
            there = st.selectbox(title, list(titles), at, key=of, format_func=titles.__getitem__, help=about)
            values |= {"connection": there} if there else {}
    with columns[1]:
        try_it(values, key, connections)
        found_out(values["id"], key)
    of_persons = [] if values["id"] == PERSON else ["wait_s"]
    names = [name for name in fields if name not in ("id", "connection", "extra", "script", *of_persons)]
    with st.expander(_("Parameters"), expanded=values["id"] != OFFLINE):
        for column, part in zip(st.columns(3, gap="large"), (names[:3], names[3:6], names[6:]), strict=True):
            with column:
                for name in part:
                    values[name] = knob(fields[name], values.get(name, fields[name].default), f"{key}-{name}")
        given = json.dumps(values["extra"]) if values["extra"] else ""
        about = translated(fields["extra"].description or "")
        title, hint = _("Further parameters (JSON)"), '{"reasoning_effort": "low"}'
        text = st.text_input(title, given, key=f"{key}-extra", help=about, placeholder=hint)
        try:
            values["extra"] = json.loads(text) if text.strip() else {}
        except json.JSONDecodeError:
            st.error(_('Further parameters must be a JSON object, such as {"reasoning_effort": "low"}.'))
    return values


def embedding_choice(servers: str, value: str, key: str) -> str:
    """Choose an embedding, or write a LiteLLM id; an empty one stands for the owner's, `servers`."""
    known = ("", embeddings.DEFAULT, embeddings.HASHED, *embeddings.REMOTE, *embeddings.encoders())
    options = list(dict.fromkeys((*known, value)))
    about = _("How texts are compared in look-ups. Choose one, or write a LiteLLM id.")
    looks: dict[str, Any] = {"key": key, "help": about, "accept_new_options": True}
    looks["format_func"] = lambda name: name or _("as set on the server: {servers}", servers=servers)
    chosen = str(st.selectbox(_("Embedding"), options, options.index(value), **looks) or "").strip()
    if problem := embeddings.embedding_problem(chosen):
        st.error(literal(_("This embedding can't be used: {problem}.", problem=problem)))
        return ""
    st.caption(literal(embeddings.about_embedding(chosen or servers)))
    if chosen in embeddings.encoders() and not embeddings.installed(chosen):
        st.warning(literal(embeddings.NEEDS_EXTRA))
    return chosen


def embedding_notes(procedure: Procedure, chosen: str, house: Courthouse) -> None:
    """What rests on words alone, and which thresholds were chosen for another embedding."""
    embedding = chosen or house.settings.embedding
    if procedure.looks_in and embedding == embeddings.DEFAULT:
        told = {"default": literal(embeddings.DEFAULT), "by_words": translated(embeddings.BY_DEFAULT)}
        st.caption(_("Look-ups by {default}: {by_words}", **told))
    for set_for in dict.fromkeys(name for _knob, name in thresholds(procedure.setup) if name != embedding):
        titles = ", ".join(title for title, name in thresholds(procedure.setup) if name == set_for)
        values = {"titles": titles, "set_for": set_for, "embedding": embedding}
        text = _("The defaults of {titles} were chosen for {set_for}; {embedding} gives other similarities.", **values)
        st.warning(literal(text), icon=":material/tune:")


def start_with_models(house: Courthouse, procedure: Procedure, case: Case, roles: Mapping[str, str]) -> None:
    """Start a run with the default setup and a model for each role, and go to its page."""
    models = {role: {"id": model.strip() or OFFLINE} for role, model in roles.items()}
    with errors_shown():
        run = house.new_run(procedure.name, case, procedure.setup.model_validate({"roles": models}), 0)
        house.runner.go(run, keys=typed_keys())
        open_run(run)
