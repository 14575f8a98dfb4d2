"""An experiment that is written already, a recipe or a file: run as it stands, or on other cases and with other models."""

from __future__ import annotations

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.datasets import DatasetInfo
from courtroom.errors import CourtroomError
from courtroom.experiments.adapted import adapted
from courtroom.experiments.spec import Experiment
from courtroom.language import _, translated
from courtroom.models.offers import Offer
from courtroom.models.spec import OFFLINE, PERSON
from pages.parts.experiments.samples import sample_buttons
from pages.parts.shared.inert import literal
from pages.parts.shared.model_picker import reachable

AS_WRITTEN = ""


def written_form(house: Courthouse, written: Experiment, remarks: tuple[str, ...]) -> Experiment | None:
    """What can be changed of it; None as long as its cases are missing."""
    st.markdown(f"**{literal(written.title or written.name)}**")
    if written.source:
        st.caption(literal(written.source))
    if remarks:
        st.caption(literal(" ".join(remarks)))
    kind = next(
        (house.procedures[arm.procedure].case_kind for arm in written.arms if arm.procedure in house.procedures), ""
    )
    infos = {info.name: info for info in house.datasets.list() if not kind or info.kind == kind}
    if not infos:
        st.warning(
            _(
                "No dataset with cases of its kind is here. Import one under the name “{name}”, or take bundled cases.",
                name=literal(written.dataset.name),
            ),
            icon=":material/dataset:",
        )
        sample_buttons(house)
        return None
    key = f"experiment-{written.name}"
    info, split, sample = _cases(written, infos, key)
    left, a, b = st.columns([3, 1, 1])
    names = [arm.name for arm in written.arms]
    arms = left.multiselect(_("Arms"), names, names, key=f"{key}-arms", format_func=translated)
    repeats = int(
        a.number_input(
            _("Repeats"), 1, 1_000, written.repeats, key=f"{key}-repeats", help=_("Each with a seed of its own.")
        )
    )
    budget = b.number_input(
        _("Budget (US$)"), 0.0, None, written.budget.money or 0.0, key=f"{key}-budget", help=_("0 is no limit.")
    )
    model = _model(house, written, key)
    if not arms:
        st.caption(_("Choose at least one arm."))
        return None
    try:
        found = adapted(
            written,
            dataset=info.name,
            split=split,
            sample=sample or None,
            repeats=repeats,
            model=model or None,
            arms=arms,
        )
    except CourtroomError as error:
        st.error(literal(str(error)))
        return None
    if not sample:
        found = found.model_copy(update={"dataset": found.dataset.model_copy(update={"sample": None, "limit": None})})
    return found.model_copy(update={"budget": found.budget.model_copy(update={"money": budget or None})})


def _cases(written: Experiment, infos: dict[str, DatasetInfo], key: str) -> tuple[DatasetInfo, str, int]:
    left, middle, right = st.columns([3, 2, 2])
    wanted = written.dataset
    names = list(infos)
    info = infos[
        left.selectbox(
            _("Dataset"),
            names,
            names.index(wanted.name) if wanted.name in infos else 0,
            key=f"{key}-dataset",
            format_func=translated,
        )
    ]
    splits = ["", *info.splits]
    split = middle.selectbox(
        _("Split"), splits, splits.index(wanted.split) if wanted.split in splits else 0,
        key=f"{key}-split-{info.name}", format_func=lambda one: one or "all",
    )  # fmt: skip
    drawn = min(wanted.sample or 0, info.count)
    sample = right.number_input(_("Cases drawn (0 is all)"), 0, info.count, drawn, key=f"{key}-sample-{info.name}")
    if wanted.name not in infos:
        st.caption(
            _(
                "It is written for the dataset “{name}”, which is not here. Other cases of the same kind stand in; the table is then not the paper's.",
                name=literal(wanted.name),
            )
        )
    return info, split, int(sample)


def _model(house: Courthouse, written: Experiment, key: str) -> str:
    """The model that takes the place of all; empty where the experiment names its own."""
    own = list(dict.fromkeys(arm.model for arm in written.arms if arm.procedure and arm.model))
    if own in ([], [OFFLINE]):
        return AS_WRITTEN
    known: dict[str, Offer] = {label: one for label, one in reachable(house.connections).items() if one.id != PERSON}
    chosen = st.selectbox(
        _("Models"), [AS_WRITTEN, *known], key=f"{key}-model", accept_new_options=True,
        format_func=lambda one: one or _("as written: {own}{value}", own=', '.join(own[:4]), value=' ...' if len(own) > 4 else ''),
        help=_("One model for every member of every arm, in place of those that are written."),
    )  # fmt: skip
    return known[chosen].id if chosen in known else (chosen or AS_WRITTEN).strip()
