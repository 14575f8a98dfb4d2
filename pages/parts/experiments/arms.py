"""The arms of an experiment, as a person puts them together: procedures and presets, models, one setting that is varied."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pandas as pd
import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.engine.changes import value_at
from courtroom.errors import CourtroomError
from courtroom.experiments.elsewhere import models_in
from courtroom.language import _, translated
from courtroom.models.offers import Offer
from courtroom.models.spec import OFFLINE, PERSON
from pages.parts.experiments.files import kept_file
from pages.parts.shared.inert import literal
from pages.parts.shared.model_picker import reachable
from pages.parts.shared.table import table
from pages.parts.shared.vary import knob_values, varied

FILES = ["jsonl", "csv", "tsv", "json"]
NOT_VARIED = ("model.id",)
"""Models have a field of their own."""


def chosen_arms(house: Courthouse, kind: str) -> list[dict[str, Any]]:
    """Every chosen procedure or preset with every chosen model and value, then predictions made elsewhere."""
    offered = _offered(house, kind)
    st.subheader(_("Arms"), help=_("Each arm is a row of the table."))
    left, right = st.columns([3, 2])
    chosen = left.multiselect(
        _("Procedures and presets"), list(offered), list(offered)[:1], key=f"experiment-arms-{kind}",
        help=_("Each is an arm. Presets are ways to set a procedure up, such as its paper's baselines."), format_func=translated,
    )  # fmt: skip
    known = {label: offer for label, offer in reachable(house.connections).items() if offer.id != PERSON}
    models = right.multiselect(
        _("Models"), list(known), [OFFLINE], key="experiment-models", accept_new_options=True,
        help=_("Each arm is run with each model. Type an id that is not in the list, such as openai/gpt-4o-mini."), format_func=translated,
    )  # fmt: skip
    left, right = st.columns([3, 2])
    path, values = _varied(house, [offered[title]["procedure"] for title in chosen], left, right)
    arms = [
        _arm(title, offered[title], label, known.get(label) or Offer(id=label.strip()), len(models) > 1, path, value)
        for title in chosen
        for label in models or [OFFLINE]
        for value in (values if path in _paths(house, offered[title]["procedure"]) and values else [None])
    ]
    arms += _predictions()
    if arms:
        table(pd.DataFrame([_shown(arm) for arm in arms]), key="experiment-arms-table")
    return arms


def _offered(house: Courthouse, kind: str) -> dict[str, dict[str, Any]]:
    offered: dict[str, dict[str, Any]] = {}
    for procedure in house.procedures.values():
        if procedure.case_kind == kind:
            offered[procedure.title] = {"procedure": procedure.name}
            for preset in procedure.presets:
                values = {"procedure": procedure.name, "set": dict(preset.changes)}
                offered[f"{procedure.title}: {preset.title}"] = values
    return offered


def _paths(house: Courthouse, procedure: str) -> dict[str, Any]:
    return {path: field for path, field in varied(house.procedures[procedure]).items() if path not in NOT_VARIED}


def _varied(house: Courthouse, procedures: list[str], left: Any, right: Any) -> tuple[str, list[Any]]:
    """One setting and its values; an empty path where none is varied."""
    fields: dict[str, tuple[str, Any]] = {}
    for name in dict.fromkeys(procedures):
        for path, field in _paths(house, name).items():
            fields.setdefault(path, (name, field))
    path = left.selectbox(
        _("Vary one setting"), ["", *fields], key="experiment-vary",
        format_func=lambda one: f"{fields[one][1].title or one} ({one})" if one else "none",
        help=_("Each arm is run with each value of this setting."),
    )  # fmt: skip
    if not path:
        return "", []
    procedure, field = fields[path]
    with right:
        now = value_at(house.procedures[procedure].setup(), path)
        return path, knob_values(field, now, f"experiment-values-{path}", path)


def _arm(
    title: str, base: Mapping[str, Any], label: str, offer: Offer, several: bool, path: str, value: Any
) -> dict[str, Any]:
    name = [title, *([label] if several else []), *([f"{path} {value}"] if value is not None else [])]
    changes = dict(base.get("set", {}))
    if offer.connection:
        changes["model.connection"] = offer.connection
    if value is not None:
        changes[path] = value
    return {"name": " · ".join(name)[:120], "procedure": base["procedure"], "model": offer.id, "set": changes}


def _predictions() -> list[dict[str, Any]]:
    """One arm for each model of a file of predictions made elsewhere."""
    with st.expander(_("Predictions made elsewhere"), icon=":material/upload_file:"):
        given = st.file_uploader(
            _("A file of answers"), FILES, key="experiment-predictions",
            help=_("A line for each answer: `case` (its id in the dataset), `model`, `prediction`."),
        )  # fmt: skip
    if given is None:
        return []
    path: Path = kept_file(given.name, given.getvalue())
    try:
        return [{"name": model or path.stem, "model": model, "predictions": str(path)} for model in models_in(path)]
    except CourtroomError as error:
        st.error(literal(str(error)))
        return []


def _shown(arm: Mapping[str, Any]) -> dict[str, str]:
    changes = ", ".join(f"{path} = {value}" for path, value in arm.get("set", {}).items())
    made = _("predictions made elsewhere") if arm.get("predictions") else _("the procedure's defaults")
    return {"Arm": arm["name"], "Model": arm["model"], "Settings": changes or made}
