"""Cases: pick a dispute to hear, look into one, upload or write one."""

from collections.abc import Callable, Mapping
from importlib import import_module
from threading import Thread

import streamlit as st

from courtroom.access import Access
from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.cases.kinds import CASE_KINDS
from courtroom.cases.library import ListedCase
from courtroom.cases.question import Question, options_in
from courtroom.engine.recordings import Recording
from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.errors import CourtroomError
from courtroom.language import _, language, translated
from pages.parts.shared.actions import errors_shown, offered, undo_bar
from pages.parts.shared.case_view import case_form, case_view, text_form, upload
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.papers_view import papers
from pages.parts.shared.shown import declared, escaped, in_columns, literal, many, unreadable_rows

PER_ROW = 3
LANGUAGES = {"en": "English", "zh": "中文"}

house = courthouse()


@offered(Access.RUN)
def welcome() -> None:
    """A whole hearing by one button: recorded ones, in an empty install the first in large; and one of each kind, heard anew."""
    cases = {case.id: case for case in house.library.cases() if case.bundled}
    recorded = sorted(house.recordings.hearings, key=lambda one: cases[one.case].language != language())
    if recorded and not house.store.has_runs():
        _first(recorded.pop(0), cases)
    if recorded:
        with st.container(horizontal=True, vertical_alignment="center", key="recorded"):
            st.caption(_("Watch a recorded hearing:"), width="content")
            for recording in recorded:
                if st.button(
                    literal(recording.title.in_language(language())),
                    key=f"play-{recording.file.stem}",
                    type="tertiary",
                    icon=":material/play_circle:",
                    help=literal(recording.sentence.in_language(language())),
                ):
                    _play(recording)
    kinds = {case.kind: case for case in sorted(cases.values(), key=lambda one: one.language == language())}
    with st.container(horizontal=True, vertical_alignment="center", key="watch"):
        st.caption(_("Watch one that the offline model hears now:"), width="content")
        for kind, case in kinds.items():
            if st.button(
                declared(case.kind_title),
                key=f"watch-{kind}",
                type="tertiary",
                icon=":material/play_arrow:",
                help=literal(case.title),
            ):
                _watch(case)


@st.cache_resource(show_spinner=False)
def _get_ready() -> None:
    """Import what the first click needs, while the first page is read."""
    Thread(target=import_module, args=("courtroom.report.run_file",), daemon=True).start()
    Thread(target=import_module, args=("courtroom.procedures",), daemon=True).start()


def _first(recording: Recording, cases: Mapping[str, ListedCase]) -> None:
    _get_ready()
    case, speaks = cases[recording.case], language()
    with st.container(border=True, key="welcome"):
        words = st.container()
        if case.picture and case.picture.sha256:
            picture, words = st.columns([2, 5], gap="large", vertical_alignment="center")
            picture.image(house.media.image(case.picture.sha256, 640), width="stretch")
        with words:
            title = recording.title.in_language(speaks)
            st.html(f'<div style="font-size:1.6rem;font-weight:650;line-height:1.25">{escaped(title)}</div>')
            st.markdown(literal(recording.sentence.in_language(speaks)))
            if st.button(_("Watch this hearing"), type="primary", icon=":material/play_arrow:", key="play-first"):
                _play(recording)
            st.caption(translated(ABOUT_RECORDINGS[RECORDING]))


def _play(recording: Recording) -> None:
    with errors_shown():
        run = st.session_state["play"] = house.files.play(recording)
        open_run(run)


def _watch(case: ListedCase) -> None:
    procedure = house.hearing(case.kind)
    with errors_shown():
        run = house.new_run(procedure.name, house.library.case(case.id), procedure.setup(), 0)
        house.runner.go(run)
        st.session_state["play"] = run
        open_run(run)


@offered(Access.RUN)
def ask() -> None:
    """A question of one's own: typed, answered by a panel at once or after a look at the setup. A link may bring it along."""
    with st.form("ask", border=True):
        question = st.text_area(
            _("Ask a question"),
            st.query_params.get("q", ""),
            key="ask_question",
            height=80,
            placeholder=_("Should the town close the old bridge to cars?"),
        )
        left, right = st.columns(2)
        typed = left.text_area(
            _("Answers to choose from, if any"),
            "\n".join(st.query_params.get_all("option")),
            key="ask_options",
            height=80,
            placeholder=_("yes, no, a pilot"),
            help=_("Two to six, one a line or parted by commas. Without any, members propose answers first."),
        )
        files = right.file_uploader(
            _("Texts and pictures that go with it, if any"), accept_multiple_files=True, key="ask_files"
        )
        panels = house.fitting(Question.model_fields["kind"].default)
        with st.container(horizontal=True, vertical_alignment="bottom"):
            panel = st.selectbox(
                _("Who deliberates"), panels, format_func=lambda p: literal(p.title), key="ask_panel", width=240
            )
            now = st.form_submit_button(_("Deliberate"), type="primary", icon=":material/forum:", key="ask_now")
            later = st.form_submit_button(_("Set up first"), icon=":material/tune:", key="ask_later")
        st.caption(
            _("The offline model answers at once: it is a formula. *Set up first* lets you choose a language model.")
        )
    if not (now or later):
        return
    with errors_shown():
        case = house.ask(question, options_in(typed), [(file.name, file.getvalue()) for file in files])
        if later:
            st.session_state["panel"] = panel.name  # Setup offers it first
            hear(case.id)
        run = house.new_run(panel.name, case, panel.setup(), 0)
        house.runner.go(run)
        open_run(run)


def hear(case: str) -> None:
    st.session_state["case"] = case
    st.switch_page("pages/setup.py")


def card(case: ListedCase) -> None:
    with st.container(border=True):
        if case.picture and case.picture.sha256:
            alt = case.picture.description or case.picture.id
            st.image(house.media.image(case.picture.sha256, 480), width="stretch", alt=alt)
        st.markdown(f"**{literal(case.title)}**")
        facts = [case.kind_title, LANGUAGES.get(case.language, case.language), *case.brief]
        st.caption(" · ".join(literal(fact) for fact in facts))
        pictures, videos = many(case.images, "picture"), many(case.videos, "video")
        if case.images and case.videos:
            st.caption(_("{pictures}, {videos}", pictures=pictures, videos=videos))
        elif case.images or case.videos:
            st.caption(pictures if case.images else videos)
        if case.real:
            st.caption(literal(case.real))
        with st.container(horizontal=True):
            if st.button(_("Hear this case"), key=f"hear-{case.id}", type="primary", icon=":material/gavel:"):
                hear(case.id)
            if st.button(_("View"), key=f"view-{case.id}"):
                st.query_params["case"] = case.id
                st.rerun()
            if case.bundled:
                st.badge(_("Sample"), color="gray")


@offered(Access.RUN)
def add() -> None:
    ways = {"Upload": _("Upload a case"), "Write": _("Write a case"), "Papers": _("From papers")}
    if "draft" in st.query_params:
        st.session_state.setdefault("adding", "Papers")  # the page was loaded again
    way = st.segmented_control(
        _("Add a case"),
        list(ways),
        key="adding",
        format_func=lambda one: literal(ways[one]),
        label_visibility="collapsed",
    )
    if way == "Upload":
        upload(house)
    elif way == "Papers":
        papers(house)
    if way != "Write":
        return
    kinds: list[type[Case]] = [Dispute, *(kind for kind in CASE_KINDS.values() if kind.from_text)]
    kind = st.segmented_control(
        _("What kind"),
        kinds,
        default=kinds[0],
        required=True,
        format_func=lambda k: literal(k.kind_title),
        key="form_kind",
    )
    if kind is Dispute:
        case_form(house)
    else:
        text_form(house, kind)


PER_KIND = 3
"""Samples of each kind that are shown before anybody filters."""


def _few(cases: list[ListedCase]) -> frozenset[str]:
    """The first samples of each kind, those in the reader's language before others."""
    kinds = dict.fromkeys(case.kind for case in cases)
    samples = sorted((case for case in cases if case.bundled), key=lambda case: case.language != language())
    return frozenset(case.id for kind in kinds for case in [one for one in samples if one.kind == kind][:PER_KIND])


def library() -> None:
    st.title(_("Courtroom"))
    st.markdown(
        _(
            "Watch language-model agents deliberate, step by step. **Ask** a question, **bring** a case, or **watch** a hearing."
        )
    )
    ask()
    add()
    welcome()
    unreadable_rows(house.library.unreadable())
    cases = house.library.cases()
    fields = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    text = fields[0].text_input(_("Search"), key="search", placeholder=_("kettle, refund, camera ...")).casefold()
    kinds = ["All kinds", *dict.fromkeys(case.kind_title for case in cases)]
    sort = fields[1].selectbox(_("Kind"), kinds, format_func=translated)
    language = fields[2].selectbox(
        _("Language"),
        ["All", *sorted({case.language for case in cases})],
        format_func=lambda code: LANGUAGES.get(code, translated(code)),
    )
    few = _few(cases)
    tests: dict[str, Callable[[ListedCase], bool]] = {
        "A few of each kind": lambda c: bool(text) or sort != "All kinds" or not c.bundled or c.id in few,
        "All cases": lambda c: True,
        "Samples": lambda c: c.bundled,
        "Your own": lambda c: not c.bundled,
        "With video": lambda c: c.videos > 0,
        "Near ties": lambda c: "near tie" in c.real,
    }
    kind = fields[3].selectbox(_("Show"), list(tests), format_func=translated)
    shown = [
        case
        for case in cases
        if text in f"{case.title} {' '.join(case.brief)} {case.id}".casefold()
        and sort in ("All kinds", case.kind_title)
        and language in ("All", case.language)
        and tests[kind](case)
    ]
    if not shown:
        st.info(
            _("No case fits these filters. Loosen them, or upload a case of your own."),
            icon=":material/filter_alt_off:",
        )
    for column, case in in_columns(shown, PER_ROW):
        with column:
            card(case)


if deleted := st.session_state.get("deleted_case"):
    with undo_bar("deleted_case", house.library.restore):
        st.markdown(_("“{title}” is deleted.", title=literal(deleted.title)))
if chosen := st.query_params.get("case"):
    try:
        case_view(house, house.library.case(chosen), hear)
        st.session_state["case"] = chosen  # Setup offers it first
    except CourtroomError as error:
        st.error(literal(str(error)))
        if st.button(_("All cases")):
            del st.query_params["case"]
            st.rerun()
else:
    library()
