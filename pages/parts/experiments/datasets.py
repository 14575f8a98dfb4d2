"""Datasets: import them, look at them in numbers and figures, divide them into splits, check them."""

import tempfile
from functools import partial
from pathlib import Path

import streamlit as st

from courtroom.access import Access, may
from courtroom.cases.readers.tables import names_from
from courtroom.courthouse import Courthouse
from courtroom.datasets import forms, printed, selection, statistics, store
from courtroom.datasets.importing import ImportProgress, Order, columns_from, dataset_name
from courtroom.datasets.row import DatasetInfo, ImportCounts
from courtroom.figures.experiment import draw_rows
from courtroom.language import N_, _, translated
from pages.parts.cases import MARKS, encoding_choice
from pages.parts.experiments.list import sample_buttons
from pages.parts.shared import shown
from pages.parts.shared.house import courthouse
from pages.parts.shared.shown import do, errors_shown, inert, literal, many, offered, one_of, table, theme, uploader


def kept_file(name: str, content: bytes) -> Path:
    folder = st.session_state.setdefault("experiment-folder", tempfile.TemporaryDirectory(prefix="courtroom-"))
    path = Path(folder.name) / Path(name).name
    path.write_bytes(content)
    return path


MOST_OFFERED = 500
TYPES = ["json", "jsonl", "ndjson", "csv", "tsv", "txt", "parquet", "arrow", "zip", "gz"]
AS_IT_LOOKS = N_("as most records look")


@offered
def import_form(house: Courthouse, opened: bool) -> None:
    """A file of one's own, or a path on the machine on which the app runs."""
    with st.expander(_("Import"), icon=":material/upload:", expanded=opened):
        left, right = st.columns(2, gap="large")
        file = uploader(left, _("A file"), TYPES, key="dataset_file")
        path, served = "", house.settings.data_folder
        if served is not None:
            # Two levels down at most, and nothing that leads out of the owner's folder.
            root = served.resolve()
            found = (path for pattern in ("*", "*/*") for path in sorted(root.glob(pattern)))
            inside = [str(path.relative_to(root)) for path in found if path.resolve().is_relative_to(root)]
            label, files = _("Or a file or folder on the server"), ["", *inside[:MOST_OFFERED]]
            path = right.selectbox(label, files, key="dataset_path", format_func=translated)
        else:
            text = _("For files on the server, its owner sets `COURTROOM_DATA_FOLDER`, or imports them in the shell.")
            right.caption(text)
        right.caption(_("JSON, JSON lines, CSV, TSV, Parquet, ZIP, folders of these, or as Hugging Face has them."))
        columns = st.columns(5)
        hint = dataset_name(Path(file.name if file else path.strip()))
        name = columns[0].text_input(_("Name"), key="dataset_name", placeholder=hint)
        titles = {AS_IT_LOOKS: _(AS_IT_LOOKS)} | {one: translated(form.title) for one, form in forms.FORMS.items()}
        form = columns[1].selectbox(_("Read"), list(titles), format_func=titles.__getitem__, key="dataset_form")
        about = _("Of a folder with several datasets, the one to import.")
        config = columns[2].text_input(_("Configuration"), key="dataset_config", help=about)
        hint, about = "Tweet=text, Feeling=label", _("Columns under other names, OLD=NEW with commas between.")
        renamed = columns[3].text_input(_("Columns"), key="dataset_columns", placeholder=hint, help=about)
        encoding = encoding_choice(columns[4], "dataset_encoding")
        if st.button(_("Import"), type="primary", disabled=not (file or path.strip()), key="dataset_import"):
            with errors_shown():
                kept = house.dataset_imports.keep(file.name, file.getvalue()) if file else None
                source = kept or (served or Path()) / path
                how = {"form": "" if form == AS_IT_LOOKS else form, "config": config.strip(), "encoding": encoding}
                called, renamings = name.strip() or dataset_name(source), columns_from(renamed.split(","))
                house.dataset_imports.begin(Order(source=str(source), name=called, columns=renamings, **how))


@offered
def imports_under_way(house: Courthouse) -> None:
    """How far imports are, what has come of them, what they ask, and those that were interrupted."""
    shown.under_way(house.dataset_imports.under_way, partial(_told, house))
    running = {state.order.model_dump_json() for state in house.dataset_imports.under_way.values() if state.running}
    for job in house.datasets.pending():
        if not job.order or job.order in running:
            continue
        with st.container(horizontal=True, vertical_alignment="center"):
            values = {"name": literal(job.name), "taken": f"{job.taken:,}"}
            st.markdown(_("The import of {name} was interrupted after {taken} rows.", **values))
            if st.button(_("Go on"), key=f"dataset_go_on_{job.name}", type="primary"):
                do(partial(house.dataset_imports.begin, Order.model_validate_json(job.order)))
            if st.button(_("Give it up"), key=f"dataset_give_up_{job.name}"):
                do(partial(house.datasets.give_up, job.order))


def _told(house: Courthouse, state: ImportProgress) -> None:
    name, values = state.order.name, {"name": literal(state.order.name)}
    if state.running:
        refused = _(", {refused} refused", refused=f"{state.refused:,d}") if state.refused else ""
        text = _("{name}: {taken} rows{refused}", taken=f"{state.taken:,}", refused=refused, **values)
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
            text = _("{name}: {taken} rows are in{refused}.", taken=f"{done.taken:,}", refused=refused, **values)
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
            counted = done.remarks.items()
            lines = (_("{text} ({times} times)", text=translated(remark), times=times) for remark, times in counted)
            inert("\n".join(lines), small=True)


def draw_counts(counts: ImportCounts, opened: bool = False) -> None:
    """What an import counted; open where something of it changes what results mean."""
    doubtful = bool(counts.left_out or counts.blank or counts.contradictory or counts.repeated)
    with st.expander(_("What the import counted"), icon=":material/fact_check:", expanded=opened or doubtful):
        inert("\n".join(counts.sentences()), small=True)


def _ask(house: Courthouse, state: ImportProgress) -> None:
    """The file's labels are numbers: a person says what each means."""
    with st.form(f"dataset_names_{state.order.name}", border=True):
        name = literal(state.order.name)
        text = _("The labels of {name} are numbers, and the file does not say what they mean.", name=name)
        text += " " + _("Give each its name, as the dataset's own description has it: no two benchmarks agree.")
        st.warning(text, icon=":material/help:")
        columns = st.columns(min(4, max(1, len(state.asks))))
        names: dict[str, str] = {}
        for place, number in enumerate(state.asks):
            title, key = _("Name of {number}", number=literal(number)), f"dataset_name_{state.order.name}_{number}"
            names[number] = columns[place % len(columns)].text_input(title, key=key)
        pressed = st.form_submit_button(_("Import with these names"), type="primary")
    if st.button(_("Give it up"), key=f"dataset_no_names_{state.order.name}"):
        del house.dataset_imports.under_way[state.order.name]
        st.rerun(scope="app")
    if pressed:
        with errors_shown():
            given = {number: name.strip() for number, name in names.items() if name.strip() or number != "-1"}
            checked = names_from(",".join(f"{number}={name}" for number, name in given.items()))
            house.dataset_imports.begin(state.order.model_copy(update={"names": checked}))
            st.rerun(scope="app")


MAX_PROBLEMS = 50
MAX_ROWS = 20
_once = st.cache_data(show_spinner=False, max_entries=20, hash_funcs={store.Datasets: id})
_measured, _near = _once(statistics.measure), _once(statistics.near_duplicates)
"""A version never changes, so it is counted, and its rows are compared, once."""


def draw_datasets() -> None:
    """The form for imports, what is under way, the list, and one dataset in full."""
    house = courthouse()
    infos = house.datasets.newest()
    import_form(house, opened=not infos)
    imports_under_way(house)
    sample_buttons(house)
    if not infos:
        st.info(_("No dataset is here yet. Import a file or a folder above, or take bundled cases."))
        return
    rows = []
    for info in infos:
        splits = ", ".join(f"{split} {count:,}" for split, count in info.splits.items()) or "none"
        facts = (info.name, info.kind, info.count, splits, info.version)
        rows.append((*facts, Path(info.source).name, info.made.replace("T", " ")[:16]))
    table(rows, ["Dataset", "Kind", "Rows", "Splits", "Version", "From", "Made"])
    by_name = {info.name: info for info in infos}
    if st.session_state.get("dataset_chosen") not in by_name:
        st.session_state["dataset_chosen"] = infos[0].name
    _one(house, by_name[st.selectbox(_("Dataset"), list(by_name), key="dataset_chosen", format_func=translated)])


def _one(house: Courthouse, info: DatasetInfo) -> None:
    with st.spinner(_("Counting ...")):
        counted: statistics.Statistics = _measured(house.datasets, info.name, info.version)
    whole = counted.counts[statistics.ALL]
    facts: dict[str, float] = {_("Rows"): whole.rows, _("Outcome known"): whole.known}
    facts |= {_("Categories"): len(whole.categories), _("Median characters"): whole.length.median}
    for column, (title, number) in zip(st.columns(4), facts.items(), strict=True):
        column.metric(title, f"{number:,.0f}")
    table(list(counted.rows()))
    if counts := house.datasets.counts(info.name, info.version):
        draw_counts(counts)
    parts = {"Rows": _rows, "Check": _check, **({"Splits": _splits, "Delete": _delete} if may(Access.RUN) else {})}
    part = one_of(_("Show"), ["Figures", "Tables", *parts], f"dataset_shown_{info.name}", "Figures")
    if part == "Figures":
        _figures(counted)
    elif part == "Tables":  # those that papers print of such a dataset
        for title, found in printed.printed_tables(house.datasets, info.name, info.version):
            st.caption(literal(title))
            table(found)
    else:
        parts[part](house, info)


def _figures(counted: statistics.Statistics) -> None:
    whole = counted.counts[statistics.ALL]
    left, right = st.columns(2, gap="large")
    for place, what, title, told in (
        (left, "categories", _("Rows of each category"), True),
        (left, "margins", _("By how much the winner on record is ahead"), whole.margins),
        (right, "lengths", _("Length of what a member reads"), True),
        (right, "outcomes", _("Known outcomes"), whole.outcomes and whole.outcomes != whole.categories),
    ):
        if told:
            place.caption(title)
            place.plotly_chart(draw_rows(counted, what, theme()), key=f"dataset_{what}")
    if whole.classes:
        options, key = list(whole.classes), f"dataset_number_{counted.info.name}"
        number = right.selectbox(_("Rows by"), options, key=key, format_func=translated)
        right.plotly_chart(draw_rows(counted, number, theme()), key="dataset_numbers")


def _rows(house: Courthouse, info: DatasetInfo) -> None:
    top = st.columns([2, 3, 3])
    key = f"dataset_split_{info.name}"
    split = top[0].selectbox(_("Split"), [None, *info.splits], key=key, format_func=lambda one: one or _("all"))
    text = top[1].text_input(_("Holds this text"), key=f"dataset_contains_{info.name}").strip() or None
    drawn = top[2].toggle(_("Draw by chance"), key=f"dataset_drawn_{info.name}")
    wanted = selection.Selection(split=split, limit=MAX_ROWS, sample=MAX_ROWS if drawn else None, contains=text)
    rows = list(house.datasets.rows(info.name, info.version, wanted))
    if not rows:
        st.info(_("No row fits. Use other words, or another split."), icon=":material/filter_alt_off:")
    for row in rows:
        with st.expander(literal(" · ".join(filter(None, (row.id, row.split, row.category, row.case.title))))):
            for title, line in row.case.sections():
                st.caption(literal(title))
                inert(line)
            counts = " ".join(f"{MARKS.get(side, '')} {side} {votes}" for side, votes in row.case.real_counts().items())
            inert("\n".join(filter(None, (row.case.real_outcome(), counts, row.place))), small=True, faint=True)
    if problems := house.datasets.problems(info.name, info.version):
        refused = house.datasets.refused(info.name, info.version)
        with st.expander(_("{refused} records were not taken in", refused=f"{refused:,}")):
            inert("\n".join(str(problem) for problem in problems[:MAX_PROBLEMS]), small=True)


def _splits(house: Courthouse, info: DatasetInfo) -> None:
    st.caption(_("A new version, in which each split has its share of every category and outcome."))
    with st.form(f"dataset_split_form_{info.name}", border=True):
        columns = st.columns(4)
        shares = {}
        for column, (split, share) in zip(columns, store.DEFAULT_SHARES.items(), strict=False):
            title, key = _("Share of {split}", split=literal(split)), f"dataset_share_{split}"
            shares[split] = column.number_input(title, 0.0, 1_000.0, float(share), key=key)
        seed = columns[3].number_input(_("Seed"), 0, 2**31 - 1, 0, key="dataset_seed")
        pressed = st.form_submit_button(_("Split"), type="primary")
    if pressed:
        with errors_shown():
            kept = {split: share for split, share in shares.items() if share}
            st.session_state["dataset_told"] = house.datasets.split(info.name, info.version, kept, int(seed)).version
            st.rerun()
    if st.session_state.pop("dataset_told", None) == info.version:
        st.success(_("The version {version} is split.", version=literal(info.version)))


def _check(house: Courthouse, info: DatasetInfo) -> None:
    findings = statistics.examine(house.datasets, info.name, info.version)
    with st.spinner(_("Comparing ...")):
        near: statistics.NearDuplicates = _near(house.datasets, info.name, info.version)
    if findings.clean and not any(findings.sentences()) and not near.found:
        st.success(_("Nothing is wrong with these {count}.", count=many(info.count, "row")), icon=":material/check:")
    for sentence in findings.sentences():
        (st.info if findings.clean else st.warning)(literal(sentence))
    kinds = {"in several splits": findings.leaks, "repeated": findings.duplicates}
    kinds["several outcomes"] = findings.contradictions
    found = ((what, one) for what, those in kinds.items() for one in those)
    if same := [(what, *map(", ".join, (one.rows[:6], one.splits, one.outcomes))) for what, one in found]:
        table(same, ["What", "Rows", "Splits", "Outcomes"])
        _clean(house, info, findings)
    for sentence in near.sentences():
        st.info(literal(sentence))
    if near.pairs:
        splits = [", ".join(dict.fromkeys(filter(None, one.splits))) for one in near.pairs]
        rows, alike = [", ".join(one.rows) for one in near.pairs], [one.alike for one in near.pairs]
        pairs = {"Rows": rows, **({"Splits": splits} if any(splits) else {}), "Alike": alike}
        table(pairs, config={"Alike": st.column_config.NumberColumn(_("Alike"), format="percent")})


@offered
def _clean(house: Courthouse, info: DatasetInfo, findings: statistics.Findings) -> None:
    """Buttons that take out what makes results doubtful, in a new version."""
    with st.container(horizontal=True):
        about, key = _("Of rows with one text and one outcome, the first stays."), "dataset_clean_repeated"
        repeated = findings.repeated and st.button(_("Take out repeated rows"), key=key, help=about)
        about, key = _("All rows of a text with several outcomes go."), "dataset_clean_contradictory"
        contradictory = findings.contradicted and st.button(_("Take out contradictory texts"), key=key, help=about)
    if repeated or contradictory:
        wanted = selection.Preparation(distinct=bool(repeated), consistent=bool(contradictory))
        do(lambda: statistics.cleaned(house.datasets, info.name, info.version, wanted))


def _delete(house: Courthouse, info: DatasetInfo) -> None:
    versions = house.datasets.versions(info.name)
    versions_ = many(len(versions), "version")
    st.markdown(_("The dataset has {versions}. Runs keep the cases that they have.", versions=versions_))
    with st.container(horizontal=True):
        one = len(versions) > 1 and st.button(_("Delete this version"), key="dataset_delete_version")
        whole = st.button(_("Delete the dataset"), key="dataset_delete", icon=":material/delete:")
    if one or whole:
        do(lambda: house.experiments.delete_dataset(info.name, None if whole else info.version))
