"""All experiments, newest first; where there is none, how to begin."""

from itertools import groupby
from typing import NoReturn

import streamlit as st

from courtroom.courthouse import Courthouse
from courtroom.datasets.samples import add_sample, bring_sample, samples
from courtroom.experiments.spec import FIRST, Recipe, recipe, recipes
from courtroom.experiments.store import NoSuchExperiment, StoredExperiment
from courtroom.language import _, translated
from pages.parts.shared import shown
from pages.parts.shared.shown import literal, many, moment, offered


@offered
def sample_buttons(house: Courthouse) -> None:
    """A button for each; one that is here already says so."""
    here = {info.name for info in house.datasets.newest()}

    def add(name: str) -> None:
        add_sample(house.datasets, house.library, name)
        st.session_state["dataset_chosen"] = st.session_state["experiment-dataset"] = name

    st.caption(_("Cases that come with Courtroom, as datasets. They are few and made up: good to try things with."))
    with st.container(horizontal=True):
        for one in samples(house.library):
            known = one.name in here
            title, icon = f"{literal(one.title)} ({one.count})", ":material/check:" if known else ":material/add:"
            st.button(title, key=f"sample-{one.name}", icon=icon, disabled=known, on_click=add, args=(one.name,))


WITHOUT_PAPER = "To begin with"
HOW = "Datasets, above, imports files. The page docs/reproduce.md says where each dataset is found."


def recipe_list(house: Courthouse) -> None:
    """All of them, those of one paper together."""
    st.caption(_("You can run it as it stands, or with other cases and models."))
    bundled = {sample.name for sample in samples(house.library)}
    for paper, those in groupby(recipes(), lambda one: one.paper):
        st.subheader(literal(paper) if paper else WITHOUT_PAPER)
        for one in those:
            missing = one.missing(house.datasets)
            is_ready = not missing or one.experiment.dataset.name in bundled
            with st.container(border=True):
                with st.container(horizontal=True, vertical_alignment="center", horizontal_alignment="distribute"):
                    where = f"**{literal(one.shows[:1].upper() + one.shows[1:])}** · " if one.shows else ""
                    st.markdown(f"{where}{literal(one.experiment.title)}", width="content")
                    with st.container(horizontal=True, vertical_alignment="center", width="content"):
                        st.badge(many(len(one.experiment.arms), "arm"), color="gray")
                        if is_ready:
                            st.badge(_("Its cases are here"), icon=":material/check:", color="green")
                        else:
                            st.badge(_("Needs a dataset"), icon=":material/dataset:", color="orange")
                        st.button(_("Use"), key=f"recipe-{one.name}", on_click=use, args=(house, one))
                st.caption(translated(" ".join(one.remarks)))  # its marks are of ours
                if not is_ready:
                    text = _("**{missing}** Or use it with other cases of the same kind.", missing=literal(missing))
                    st.caption(text, help=literal(HOW))


def use(house: Courthouse, one: Recipe) -> None:
    """Take it to the form; bundled cases that it needs are added."""
    bring_sample(house.datasets, house.library, one.experiment.dataset.name)
    st.session_state["experiment-begin"] = one.name
    st.session_state["experiments-part"] = "New"


PAGE = 20


def open_experiment(name: str, *, what_if: bool) -> NoReturn:
    key, page = ("what-if", "what_if") if what_if else ("experiment", "experiments")
    st.session_state[key] = name
    st.switch_page(f"pages/{page}.py", query_params={"experiment": name})


def opened(house: Courthouse, key: str, name: str) -> StoredExperiment | None:
    """The experiment, or the what-if, that its page shows; None where there is none. `key`: that of the session."""
    try:
        kept = house.experiments.store.experiment(name)
    except NoSuchExperiment as error:
        st.error(literal(str(error)))
        st.session_state.pop(key, None)
        return None
    if (what_if := bool(kept.experiment.dataset.run)) != (key == "what-if"):
        st.session_state.pop(key, None)
        open_experiment(kept.id, what_if=what_if)
    st.session_state[key] = st.query_params["experiment"] = kept.id
    return kept


def experiment_list(house: Courthouse, what_ifs: bool | None = None) -> None:
    """A line for each, also for what-ifs; or for these alone."""
    store = house.experiments.store
    if what_ifs is None and not store.number(what_ifs=False) and shown.runs_here():
        _welcome(house)
    kept, bad = store.page(shown.first_of_page(store.number(what_ifs), PAGE, "experiments-page"), PAGE, what_ifs)
    shown.unreadable_rows(bad)
    if not kept:
        return
    rows = []
    for one in kept:
        counts, cases = store.counts(one.id), one.experiment.dataset
        done = sum(number for (_arm, state), number in counts.items() if state == "done")
        facts = one.experiment.title or one.name, cases.name or cases.run, len(one.experiment.arms)
        rows.append((*facts, done / max(1, sum(counts.values())), one.status.capitalize(), moment(one.created)))
    bar = st.column_config.ProgressColumn(_("Done"), format="percent", min_value=0, max_value=1)
    columns, key = ["Experiment", "Cases", "Arms", "Done", "State", "Made"], hash(tuple(one.id for one in kept))
    st.caption(_("Select a row to open it."))
    for place in shown.rows_chosen(rows, f"experiments-{key}", columns, config={"Done": bar}):
        open_experiment(kept[place].id, what_if=bool(kept[place].experiment.dataset.run))


def _welcome(house: Courthouse) -> None:
    """What an experiment is, one that is ready, and the other ways to begin."""
    text = _("No experiment yet. An experiment runs several *arms* on the same cases: procedures, models, settings.")
    st.markdown(text)
    if first := recipe(FIRST):
        with st.container(border=True):
            st.subheader(literal(first.experiment.title))
            for remark in first.remarks:
                st.markdown(translated(remark))
            at, icon = (house, first), ":material/science:"
            st.button(_("Set it up"), key="experiment-first", type="primary", icon=icon, on_click=use, args=at)
    st.markdown(_("Or begin in another way:"))
    with st.container(horizontal=True):
        for part, title, icon in (
            ("Recipes", "Use a recipe of a paper", ":material/menu_book:"),
            ("Datasets", "Bring a dataset", ":material/upload:"),
            ("New", "Choose cases and arms", ":material/tune:"),
        ):
            key, to = f"experiment-to-{part}", {"experiments-part": part}
            st.button(translated(title), key=key, icon=icon, on_click=st.session_state.update, args=(to,))
