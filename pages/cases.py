"""Cases: pick a dispute to hear, look into one, upload or write one."""

from collections import Counter
from collections.abc import Callable
from importlib import import_module
from itertools import groupby, islice
from threading import Thread
from typing import NoReturn

import streamlit as st

from courtroom import Case, CourtroomError, Procedure
from courtroom.cases.question import Question, options_in
from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.language import LANGUAGES, _, language, translated
from courtroom.recordings import Recording
from pages.parts.cases import case_form, case_view, upload
from pages.parts.shared import shown
from pages.parts.shared.house import courthouse, open_run
from pages.parts.shared.shown import errors_shown, escaped, in_columns, literal, many, offered, undo_bar

PER_ROW = 3
SAMPLES_A_KIND_AT_FIRST = 3

house = courthouse()


@offered
def welcome() -> None:
    """A whole hearing by one button: recorded ones, the first in large at first; and one of each kind, heard anew."""
    cases = {case.id: case for case in house.library.cases() if house.library.is_sample(case.id)}
    recorded = sorted(house.recordings.hearings, key=lambda one: cases[one.case].language != language())
    if recorded and not RunList(house.database).newest(RunFilter(), 1):
        recording = recorded.pop(0)
        _get_ready()
        case, speaks = cases[recording.case], language()
        with st.container(border=True, key="welcome"):
            words = st.container()
            if case.picture and case.picture.sha256:
                picture, words = st.columns([2, 5], gap="large", vertical_alignment="center")
                picture.image(house.media.image(case.picture.sha256, 640), width="stretch")
            with words:
                title = _title(recording, case.language)
                st.html(f'<div style="font-size:1.6rem;font-weight:650;line-height:1.25">{escaped(title)}</div>')
                st.markdown(literal(recording.sentence.in_language(speaks)))
                if st.button(_("Watch this hearing"), type="primary", icon=":material/play_arrow:", key="play-first"):
                    with errors_shown():
                        open_run(house.files.play(recording), play=True)
                st.caption(translated(ABOUT_RECORDINGS[RECORDING]))
    if recorded:
        with st.container(horizontal=True, vertical_alignment="center", key="recorded"):
            st.caption(_("Watch a recorded hearing:"), width="content")
            for recording in recorded:
                title = literal(_title(recording, cases[recording.case].language))
                key, about = f"play-{recording.file.stem}", literal(recording.sentence.in_language(language()))
                if st.button(title, key=key, type="tertiary", icon=":material/play_circle:", help=about):
                    with errors_shown():
                        open_run(house.files.play(recording), play=True)
    kinds = {case.kind: case for case in sorted(cases.values(), key=lambda one: one.language == language())}
    with st.container(horizontal=True, vertical_alignment="center", key="watch"):
        st.caption(_("Watch one that the offline model hears now:"), width="content")
        for kind, case in kinds.items():
            key, title, about = f"watch-{kind}", translated(case.kind_title), literal(case.title)
            if st.button(title, key=key, type="tertiary", icon=":material/play_arrow:", help=about):
                with errors_shown():
                    start(house.first_fitting(case.kind), case, play=True)


def _title(recording: Recording, spoken: str) -> str:
    """A recording's title, with the language in which it was heard where that is not the reader's."""
    title = recording.title.in_language(language())
    return title if spoken == language() else f"{title} ({LANGUAGES.get(spoken, spoken)})"


@st.cache_resource(show_spinner=False)
def _get_ready() -> None:
    """Import what the first click needs, while the first page is read."""
    for module in ("courtroom.report.run_file", "courtroom.procedures"):
        Thread(target=import_module, args=(module,), daemon=True).start()


def start(procedure: Procedure, case: Case, *, play: bool = False) -> NoReturn:
    """Hear a case as it is set up at first, and go to the run; `play`: shown from its beginning."""
    run = house.new_run(procedure.name, case, procedure.setup(), 0)
    house.runner.go(run)
    open_run(run, play=play)


@offered
def ask() -> None:
    """A question of one's own, answered at once or after a look at the setup; a link may bring it along."""
    with st.form("ask", border=True):
        asked, hint = st.query_params.get("q", ""), _("Should the town close the old bridge to cars?")
        question = st.text_area(_("Ask a question"), asked, key="ask_question", height=80, placeholder=hint)
        left, right = st.columns(2)
        options, hint = "\n".join(st.query_params.get_all("option")), _("yes, no, a pilot")
        about = _("Two to six, one a line or parted by commas. Without any, members propose answers first.")
        title = _("Answers to choose from, if any")
        typed = left.text_area(title, options, key="ask_options", height=80, placeholder=hint, help=about)
        files = shown.uploader(right, _("Texts and pictures that go with it, if any"), key="ask_files", several=True)
        panels = {translated(one.title): one for one in house.fitting(Question.model_fields["kind"].default)}
        with st.container(horizontal=True, vertical_alignment="bottom"):
            panel = panels[st.selectbox(_("Who deliberates"), list(panels), key="ask_panel", width=240)]
            now = st.form_submit_button(_("Deliberate"), type="primary", icon=":material/forum:", key="ask_now")
            later = st.form_submit_button(_("Set up first"), icon=":material/tune:", key="ask_later")
        st.caption(_("The offline model is a formula. *Set up first* lets you choose a language model."))
    if files is None or not (now or later):
        return
    with errors_shown():
        case = house.ask(question, options_in(typed), [(file.name, file.getvalue()) for file in files])
        if later:
            st.session_state[f"procedure-{case.kind}"] = panel.name  # Setup offers it first
            hear(case.id)
        start(panel, case)


def hear(case: str) -> None:
    st.session_state["case"] = case
    st.session_state.pop("fork", None)
    st.switch_page("pages/setup.py")


@offered
def add() -> None:
    ways = {"Upload": _("Upload a case"), "Write": _("Write a case"), "Papers": _("From papers")}
    if st.session_state.pop("form_closed", False):
        st.session_state["adding"] = None
    elif "draft" in st.query_params:
        st.session_state.setdefault("adding", "Papers")  # the page was loaded again
    title, words = _("Add a case"), ways.__getitem__
    way = st.segmented_control(title, list(ways), key="adding", format_func=words, label_visibility="collapsed")
    if way == "Upload":
        upload(house)
    elif way:
        case_form(house, from_papers=way == "Papers")


def library() -> None:
    st.title(_("Courtroom"))
    text = _("Watch language-model agents deliberate, step by step.")
    st.markdown(text + " " + _("**Ask** a question, **bring** a case, or **watch** a hearing."))
    ask()
    add()
    welcome()
    shown.unreadable_rows(house.library.unreadable())
    cases = house.library.cases()
    fields = st.columns([3, 3, 2, 2], vertical_alignment="bottom")
    text = fields[0].text_input(_("Search"), key="search", placeholder=_("kettle, refund, camera ...")).casefold()
    kinds = ["All kinds", *dict.fromkeys(case.kind_title for case in cases)]
    sort = fields[1].selectbox(_("Kind"), kinds, format_func=translated)
    spoken = {"All": _("All"), **{one: LANGUAGES.get(one, one) for one in sorted({case.language for case in cases})}}
    wanted = fields[2].selectbox(_("Language"), list(spoken), format_func=spoken.__getitem__)
    # The first samples of each kind, those in the reader's language before others.
    is_sample = house.library.is_sample
    samples = [one for one in cases if is_sample(one.id)]
    samples.sort(key=lambda one: (one.kind, one.language != language()))
    first = (islice(those, SAMPLES_A_KIND_AT_FIRST) for _kind, those in groupby(samples, lambda one: one.kind))
    few = {case.id for those in first for case in those}
    tests: dict[str, Callable[[Case], bool]] = {
        "A few of each kind": lambda c: bool(text) or sort != "All kinds" or not is_sample(c.id) or c.id in few,
        "All cases": lambda c: True,
        "Samples": lambda c: is_sample(c.id),
        "Your own": lambda c: not is_sample(c.id),
    }
    kind = fields[3].selectbox(_("Show"), list(tests), format_func=translated)
    fitting = [
        case
        for case in cases
        if text in f"{case.title} {' '.join(case.brief())} {case.id}".casefold()
        and sort in ("All kinds", case.kind_title)
        and wanted in ("All", case.language)
        and tests[kind](case)
    ]
    if not fitting:
        st.info(_("No case fits these filters. Loosen them, or upload a case of your own."))
    for column, case in in_columns(fitting, PER_ROW):
        with column, st.container(border=True):
            if case.picture and case.picture.sha256:
                alt = case.picture.description or case.picture.id
                st.image(house.media.image(case.picture.sha256, 480), width="stretch", alt=alt)
            st.markdown(f"**{literal(case.title)}**")
            facts = [case.kind_title, LANGUAGES.get(case.language, case.language), *case.brief()]
            st.caption(" · ".join(literal(fact) for fact in facts))
            media = Counter(medium.kind for medium in case.media())
            pictures, videos = many(media["image"], "picture"), many(media["video"], "video")
            if counts := [pictures] * bool(media["image"]) + [videos] * bool(media["video"]):
                st.caption(", ".join(counts))
            if real := case.real_outcome():
                st.caption(literal(real))
            with st.container(horizontal=True):
                if st.button(_("Hear this case"), key=f"hear-{case.id}", type="primary", icon=":material/gavel:"):
                    hear(case.id)
                st.button(_("View"), key=f"view-{case.id}", on_click=st.query_params.update, args=({"case": case.id},))
                if is_sample(case.id):
                    st.badge(_("Sample"), color="gray")


if deleted := st.session_state.get("deleted_case"):
    with undo_bar("deleted_case", house.library.restore):
        st.markdown(_("“{title}” is deleted.", title=literal(deleted.title)))
if chosen := st.query_params.get("case"):
    try:
        case_view(house, house.library.case(chosen), hear)
        st.session_state["case"] = chosen  # Setup offers it first
    except CourtroomError as error:
        st.error(literal(str(error)))
        st.button(_("All cases"), on_click=st.query_params.__delitem__, args=("case",))
else:
    library()
