"""Datasets: import them, look at them in numbers and figures, divide them into splits, check them."""

from collections.abc import Callable
from pathlib import Path

import pandas as pd
import streamlit as st

from courtroom.access.account import Access
from courtroom.access.acting import may
from courtroom.courthouse import Courthouse
from courtroom.datasets.row import DatasetInfo
from courtroom.datasets.statistics import (
    ALL,
    Findings,
    NearDuplicates,
    Statistics,
    cleaned,
    examine,
    measure,
    near_duplicates,
)
from courtroom.datasets.store import THREE_ONE_TWO
from courtroom.figures.dataset import draw_categories, draw_lengths, draw_margins, draw_numbers, draw_outcomes
from courtroom.language import _, translated
from pages.parts.experiments.dataset_import import draw_counts, import_form, imports_under_way
from pages.parts.experiments.list import sample_buttons
from pages.parts.shared.actions import do, errors_shown
from pages.parts.shared.case_view import MARKS
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.offered import offered
from pages.parts.shared.table import many, one_of, table

MOST_PROBLEMS = 50
MOST_ROWS = 20


def draw_datasets() -> None:
    """The form for imports, what is under way, the list, and one dataset in full."""
    house = courthouse()
    infos = house.datasets.list()
    import_form(house, opened=not infos)
    imports_under_way(house)
    sample_buttons(house)
    if not infos:
        st.info(
            _(
                "No dataset is here yet. Import a file, a ZIP file or a folder above, or take bundled cases: a dataset is a collection of cases with what is "
                "known of their outcome, and experiments run on it."
            ),
            icon=":material/dataset:",
        )
        return
    table(_listed(infos))
    names = [info.name for info in infos]
    chosen = st.session_state.get("dataset_chosen")
    name = st.selectbox(
        _("Dataset"), names, names.index(chosen) if chosen in names else 0, key="dataset_chosen", format_func=translated
    )
    _one(house, next(info for info in infos if info.name == name))


def _listed(infos: list[DatasetInfo]) -> pd.DataFrame:
    parts = [", ".join(f"{split} {count:,}" for split, count in info.splits.items()) or "none" for info in infos]
    rows = [
        (
            info.name,
            info.kind,
            info.count,
            splits,
            info.version,
            Path(info.source).name,
            info.made.replace("T", " ")[:16],
        )
        for info, splits in zip(infos, parts, strict=True)
    ]
    return pd.DataFrame(rows, columns=["Dataset", "Kind", "Rows", "Splits", "Version", "From", "Made"])


def _one(house: Courthouse, info: DatasetInfo) -> None:
    with st.spinner(_("Counting ...")):
        counted = _measured(house, info.name, info.version)
    whole = counted.counts[ALL]
    top = st.columns(4)
    top[0].metric(_("Rows"), f"{whole.rows:,}")
    top[1].metric(_("Outcome known"), f"{whole.known:,}")
    top[2].metric(_("Categories"), f"{len(whole.categories):,}")
    top[3].metric(_("Median characters"), f"{whole.length.median:,.0f}")
    table(pd.DataFrame(counted.rows()))
    if counts := house.datasets.counts(info.name, info.version):
        draw_counts(counts)
    parts: dict[str, Callable[[], None]] = {
        "Figures": lambda: _figures(counted),
        "Rows": lambda: _rows(house, info),
        "Check": lambda: _check(house, info),
    }
    if may(Access.RUN):
        parts |= {"Splits": lambda: _splits(house, info), "Delete": lambda: _delete(house, info)}
    parts[one_of(_("Show"), list(parts), f"dataset_shown_{info.name}", "Figures")]()


@st.cache_data(show_spinner=False, max_entries=20)
def _measured(_house: Courthouse, name: str, version: str) -> Statistics:
    """A version never changes, so it is counted once."""
    return measure(_house.datasets, name, version)


def _figures(statistics: Statistics) -> None:
    theme = st.context.theme.type or "light"
    whole = statistics.counts[ALL]
    left, right = st.columns(2, gap="large")
    with left:
        st.caption(_("Rows of each category"))
        st.plotly_chart(draw_categories(statistics, theme), key="dataset_categories")
        if whole.margins:
            st.caption(_("By how much the winner on record is ahead"))
            st.plotly_chart(draw_margins(statistics, theme), key="dataset_margins")
    with right:
        st.caption(_("Length of what a member reads"))
        st.plotly_chart(draw_lengths(statistics, theme), key="dataset_lengths")
        if whole.outcomes and whole.outcomes != whole.categories:
            st.caption(_("Known outcomes"))
            st.plotly_chart(draw_outcomes(statistics, theme), key="dataset_outcomes")
        if whole.classes:
            number = st.selectbox(
                _("Rows by"), list(whole.classes), key=f"dataset_number_{statistics.info.name}", format_func=translated
            )
            st.plotly_chart(draw_numbers(statistics, number, theme), key="dataset_numbers")


def _rows(house: Courthouse, info: DatasetInfo) -> None:
    top = st.columns([2, 3, 3])
    split = top[0].selectbox(
        _("Split"), ["all", *info.splits], key=f"dataset_split_{info.name}", format_func=translated
    )
    text = top[1].text_input(_("Holds this text"), key=f"dataset_contains_{info.name}")
    drawn = top[2].toggle(_("Draw by chance"), key=f"dataset_drawn_{info.name}")
    of, words, by_chance = None if split == "all" else split, text.strip() or None, MOST_ROWS if drawn else None
    found = house.datasets.rows(info.name, info.version, of, limit=MOST_ROWS, sample=by_chance, contains=words)
    rows = list(found)
    if not rows:
        st.info(_("No row fits. Use other words, or another split."), icon=":material/filter_alt_off:")
    for row in rows:
        with st.expander(literal(" · ".join(filter(None, (row.id, row.split, row.category, row.case.title))))):
            for title, line in row.case.sections():
                st.caption(literal(title))
                inert(line)
            counts = " ".join(f"{MARKS.get(side, '')} {side} {votes}" for side, votes in row.case.real_counts().items())
            inert("\n".join(filter(None, (row.case.real_outcome(), counts, row.place))), small=True, faint=True)
    problems = house.datasets.problems(info.name, info.version)
    if problems:
        refused = house.datasets.refused(info.name, info.version)
        with st.expander(_("{refused} records were not taken in", refused=f"{refused:,}")):
            inert("\n".join(str(problem) for problem in problems[:MOST_PROBLEMS]), small=True)


def _splits(house: Courthouse, info: DatasetInfo) -> None:
    st.caption(
        _(
            "A new version, in which each split has its share of every category and outcome; of disputes, of every category and vote "
            "margin. Rows of one record, and rows with the same text, stay together. The version before stays as it is."
        )
    )
    with st.form(f"dataset_split_form_{info.name}", border=True):
        columns = st.columns(4)
        shares = {
            split: columns[number].number_input(
                _("Share of {split}", split=literal(split)), 0.0, 1_000.0, float(share), key=f"dataset_share_{split}"
            )
            for number, (split, share) in enumerate(THREE_ONE_TWO.items())
        }
        seed = columns[3].number_input(_("Seed"), 0, 2**31 - 1, 0, key="dataset_seed")
        pressed = st.form_submit_button(_("Split"), type="primary")
    if pressed:
        with errors_shown():
            kept = {split: share for split, share in shares.items() if share}
            made = house.datasets.split(info.name, info.version, kept, int(seed))
            st.session_state["dataset_told"] = made.version
            st.rerun()
    if st.session_state.pop("dataset_told", None) == info.version:
        st.success(_("The version {version} is split.", version=literal(info.version)))


def _check(house: Courthouse, info: DatasetInfo) -> None:
    findings = examine(house.datasets, info.name, info.version)
    with st.spinner(_("Comparing ...")):
        near = _near(house, info.name, info.version)
    if findings.clean and not findings.sentences() and not near.found:
        st.success(_("Nothing is wrong with these {count}.", count=many(info.count, "row")), icon=":material/check:")
    for sentence in findings.sentences():
        (st.info if findings.clean else st.warning)(literal(sentence))
    kinds = {
        "in several splits": findings.leaks,
        "repeated": findings.duplicates,
        "several outcomes": findings.contradictions,
    }
    same = [
        (what, ", ".join(one.rows[:6]), ", ".join(one.splits), ", ".join(one.outcomes))
        for what, those in kinds.items()
        for one in those
    ]
    if same:
        table(pd.DataFrame(same, columns=["What", "Rows", "Splits", "Outcomes"]))
        _clean(house, info, findings)
    for sentence in near.sentences():
        st.info(literal(sentence))
    if near.pairs:
        splits = [", ".join(dict.fromkeys(filter(None, one.splits))) for one in near.pairs]
        pairs = [(", ".join(one.rows), of, one.alike) for one, of in zip(near.pairs, splits, strict=True)]
        alike = st.column_config.NumberColumn(_("Alike"), format="percent")
        shown = pd.DataFrame(pairs, columns=["Rows", "Splits", "Alike"])
        table(shown if any(splits) else shown.drop(columns="Splits"), {"Alike": alike})


@offered(Access.RUN)
def _clean(house: Courthouse, info: DatasetInfo, findings: Findings) -> None:
    """Buttons that take out what makes results doubtful, in a new version."""
    with st.container(horizontal=True):
        repeated = findings.repeated and st.button(
            _("Take out repeated rows"),
            key="dataset_clean_repeated",
            help=_("Of rows with one text and one outcome, the first stays. The version before stays as it is."),
        )
        contradictory = findings.contradicted and st.button(
            _("Take out contradictory texts"),
            key="dataset_clean_contradictory",
            help=_("All rows of a text with several outcomes go. The version before stays as it is."),
        )
    if repeated or contradictory:
        taken_out = {"repeated": bool(repeated), "contradictory": bool(contradictory)}
        do(lambda: cleaned(house.datasets, info.name, info.version, **taken_out))


@st.cache_data(show_spinner=False, max_entries=20)
def _near(_house: Courthouse, name: str, version: str) -> NearDuplicates:
    """A version never changes, so its rows are compared once."""
    return near_duplicates(_house.datasets, name, version)


def _delete(house: Courthouse, info: DatasetInfo) -> None:
    versions = house.datasets.versions(info.name)
    st.markdown(
        _("The dataset has {versions}. Runs keep the cases that they have.", versions=many(len(versions), "version"))
    )
    with st.container(horizontal=True):
        one = len(versions) > 1 and st.button(_("Delete this version"), key="dataset_delete_version")
        whole = st.button(_("Delete the dataset"), key="dataset_delete", icon=":material/delete:")
    if one or whole:
        do(lambda: house.experiments.delete_dataset(info.name, None if whole else info.version))
