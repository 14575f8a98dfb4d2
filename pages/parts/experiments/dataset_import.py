"""Importing a dataset: from an upload or a path, with progress; what numbers mean is asked."""

import re
import tempfile
from pathlib import Path

import streamlit as st

from courtroom.access.account import Access
from courtroom.cases.readers.tables import names_from
from courtroom.courthouse import Courthouse
from courtroom.datasets.forms import FORMS
from courtroom.datasets.importing import Order, columns_from
from courtroom.datasets.imports import ImportProgress
from courtroom.datasets.row import ImportCounts
from courtroom.language import _, translated
from pages.parts.shared.actions import errors_shown
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.offered import offered


def kept_file(name: str, content: bytes) -> Path:
    folder = st.session_state.setdefault("experiment-folder", tempfile.TemporaryDirectory(prefix="courtroom-"))
    path = Path(folder.name) / Path(name).name
    path.write_bytes(content)
    return path


LIVE_S = 0.5
MOST_OFFERED = 500
TYPES = ["json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "arrow", "zip", "gz"]
AS_IT_LOOKS = "as the first record looks"


@offered(Access.RUN)
def import_form(house: Courthouse, opened: bool) -> None:
    """A file of one's own, or a path on the machine on which the app runs."""
    with st.expander(_("Import"), icon=":material/upload:", expanded=opened):
        left, right = st.columns(2, gap="large")
        file = left.file_uploader(_("A file"), TYPES, key="dataset_file")
        path, served = "", house.settings.data_folder
        if served is not None:
            label, files = _("Or a file or folder on the server"), ["", *_inside(served)]
            path = right.selectbox(label, files, key="dataset_path", format_func=translated)
        else:
            right.caption(
                _("For files on the server, its owner sets `COURTROOM_DATA_FOLDER`, or imports them in the shell.")
            )
        right.caption(
            _("JSON, JSON lines, CSV, TSV, Parquet, ZIP, folders of these, and folders as Hugging Face has them.")
        )
        columns = st.columns(4)
        name = columns[0].text_input(_("Name"), key="dataset_name", placeholder=_name(file.name if file else path))
        form = columns[1].selectbox(
            _("Read"),
            [AS_IT_LOOKS, *FORMS],
            format_func=lambda one: translated(FORMS[one].title) if one in FORMS else one,
            key="dataset_form",
        )
        config = columns[2].text_input(
            _("Configuration"), key="dataset_config", help=_("Of a folder with several datasets, the one to import.")
        )
        renamed = columns[3].text_input(
            _("Columns"),
            key="dataset_columns",
            placeholder="Tweet=text, Feeling=label",
            help=_("Columns under other names, OLD=NEW with commas between."),
        )
        if st.button(_("Import"), type="primary", disabled=not (file or path.strip()), key="dataset_import"):
            with errors_shown():
                kept = house.dataset_imports.keep(file.name, file.getvalue()) if file else None
                source = kept or (served or Path()) / path
                order = Order(
                    source=str(source),
                    name=name.strip() or _name(source.name),
                    form="" if form == AS_IT_LOOKS else form,
                    config=config.strip(),
                    columns=columns_from(renamed.split(",")),
                )
                house.dataset_imports.begin(order)


def _inside(folder: Path) -> list[str]:
    """The files and folders in the owner's folder, at most two levels down; nothing that leads out of it."""
    root = folder.resolve()
    paths = [path for pattern in ("*", "*/*") for path in sorted(root.glob(pattern))]
    return [str(path.relative_to(root)) for path in paths if path.resolve().is_relative_to(root)][:MOST_OFFERED]


@offered(Access.RUN)
def imports_under_way(house: Courthouse) -> None:
    """How far imports are, what has come of them, what they ask, and those that were interrupted."""
    busy = any(state.running for state in house.dataset_imports.under_way.values())

    @st.fragment(run_every=LIVE_S if busy else None)
    def under_way() -> None:
        for state in list(house.dataset_imports.under_way.values()):
            _told(house, state)
        if busy and not any(state.running for state in house.dataset_imports.under_way.values()):
            st.rerun()

    under_way()
    running = {state.order.model_dump_json() for state in house.dataset_imports.under_way.values() if state.running}
    for job in house.datasets.pending():
        if not job.order or job.order in running:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            st.markdown(
                _(
                    "The import of {name} was interrupted after {taken} rows.",
                    name=literal(job.name),
                    taken=f"{job.taken:,d}",
                )
            )
            if st.button(_("Go on"), key=f"dataset_go_on_{job.name}", type="primary"):
                house.dataset_imports.begin(Order.model_validate_json(job.order))
                st.rerun()
            if st.button(_("Give it up"), key=f"dataset_give_up_{job.name}"):
                house.datasets.give_up(job.order)
                st.rerun()


def _told(house: Courthouse, state: ImportProgress) -> None:
    name = state.order.name
    if state.running:
        refused = _(", {refused} refused", refused=f"{state.refused:,d}") if state.refused else ""
        text = _("{name}: {taken} rows{refused}", name=literal(name), taken=f"{state.taken:,d}", refused=refused)
        st.progress(min(1.0, state.share), text)
        return
    if state.asks:
        _ask(house, state)
        return
    done = state.done
    with st.container(horizontal=True, vertical_alignment="center"):
        if state.error:
            st.error(literal(state.error))
        elif done is not None:
            refused = _("; {refused} records were refused", refused=f"{done.refused:,d}") if done.refused else ""
            text = _(
                "{name}: {taken} rows are in{refused}.", name=literal(name), taken=f"{done.taken:,d}", refused=refused
            )
            st.success(text, icon=":material/check:")
        if st.button(_("Close"), key=f"dataset_close_{name}"):
            del house.dataset_imports.under_way[name]
            st.rerun(scope="app")
    if done is None:
        return
    draw_counts(done.counts, opened=True)
    if done.problems:
        with st.expander(_("Why {refused} records were refused", refused=f"{done.refused:,d}")):
            inert("\n".join(str(problem) for problem in done.problems[:100]), small=True)
    if done.remarks:
        with st.expander(_("Remarks")):
            lines = (
                _("{text} ({times} times)", text=translated(remark), times=n) for remark, n in done.remarks.items()
            )
            inert("\n".join(lines), small=True)


def draw_counts(counts: ImportCounts, opened: bool = False) -> None:
    """What an import counted; open where something of it changes what results mean."""
    doubtful = bool(counts.left_out or counts.blank or counts.contradictory or counts.repeated)
    with st.expander(_("What the import counted"), icon=":material/fact_check:", expanded=opened or doubtful):
        inert("\n".join(counts.sentences()), small=True)


def _ask(house: Courthouse, state: ImportProgress) -> None:
    """The file's labels are numbers: a person says what each means."""
    with st.form(f"dataset_names_{state.order.name}", border=True):
        st.warning(
            _(
                "The labels of {name} are numbers, and the file does not say what they mean. Give each its name, as the dataset's own description has it: in one benchmark 0 is “entailment”, in another “not entailment”.",
                name=literal(state.order.name),
            ),
            icon=":material/help:",
        )
        columns = st.columns(min(4, max(1, len(state.asks))))
        names = {
            number: columns[place % len(columns)].text_input(
                _("Name of {number}", number=literal(number)), key=f"dataset_name_{state.order.name}_{number}"
            )
            for place, number in enumerate(state.asks)
        }
        pressed = st.form_submit_button(_("Import with these names"), type="primary")
    if st.button(_("Give it up"), key=f"dataset_no_names_{state.order.name}"):
        del house.dataset_imports.under_way[state.order.name]
        st.rerun(scope="app")
    if pressed:
        with errors_shown():
            checked = names_from(",".join(f"{number}={name.strip()}" for number, name in names.items()))
            house.dataset_imports.begin(state.order.model_copy(update={"names": checked}))
            st.rerun(scope="app")


def _name(source: str) -> str:
    stem = Path(source.strip()).name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:80] or "dataset"
