"""The door: the one courthouse of this server; who comes in, in which language; which run is looked at."""

import threading
import time
from concurrent.futures import TimeoutError as TookLong
from contextlib import suppress
from functools import partial
from typing import NoReturn

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom import Courthouse, CourtroomError
from courtroom.access import NOBODY, Access, Account, Resource, acting_account, acts, found_by
from courtroom.accounts import AccountStore, Identity, providers, signs_in
from courtroom.language import ENGLISH, LANGUAGES, _, follow, language, nearest
from courtroom.room.player import static
from courtroom.settings import Settings, from_environment
from courtroom.sharing import Links, NoSuchLink, note_sign_in
from courtroom.store.connection import FAILURES
from pages.parts.shared.shown import STYLES, inert, literal, theme

CHOSEN = "lang"
"""The choice, in the session and in the address, so that a link keeps it."""
PICKED, COOKIE = "lang-picked", "courtroom_lang"
"""What the button picked; the browser keeps that in a cookie, for visits without it in the address."""


def speak() -> None:
    """Have everything speak the reader's language; a choice stays in the address."""
    follow(reads)
    if (wanted := st.query_params.get(CHOSEN)) in LANGUAGES:
        st.session_state[CHOSEN] = wanted
    if CHOSEN in st.session_state:
        st.query_params[CHOSEN] = st.session_state[CHOSEN]


def reads() -> str:
    """The language that was chosen, else picked at an earlier visit, else the browser's, else English."""
    if get_script_run_ctx() is None:  # no page: the engine's threads, the shell
        return ENGLISH
    chosen: str | None = st.session_state.get(CHOSEN)
    kept = st.context.cookies.get(COOKIE)
    return chosen or (kept if kept in LANGUAGES else nearest(st.context.locale))


def switch() -> None:
    """The button to the other language, named in that language."""
    st.html(STYLES / "language.css")
    (other,) = LANGUAGES.keys() - {language()}

    def choose() -> None:
        st.session_state[CHOSEN] = st.session_state[PICKED] = st.query_params[CHOSEN] = other
        # A select with a key keeps the label in the old language where its value is not set anew.
        for key, value in st.session_state.items():
            values = value if isinstance(value, list) else [value]
            if values and all(isinstance(one, str) for one in values):
                st.session_state[key] = value

    with st.container(key="language"):
        st.button(LANGUAGES[other], key="switch-language", type="tertiary", on_click=choose)


_themes = st.components.v2.component("courtroom_themes", js=static("in_themes.js"), isolate_styles=False)


def follow_the_theme() -> None:
    """Have the page drawn again when the system's theme changes: Streamlit changes its own colours only."""
    data = {"theme": theme(), "picked": st.session_state.get(PICKED, "")}
    _themes(key="themes", data=data, height=1, on_changed_change=lambda: None)


SHORT = 50
"""Characters that a title in large letters may have; a longer one would fill the top of the page."""


def heading(title: str) -> None:
    """The title, in smaller letters where it is long."""
    (st.title if len(title) <= SHORT else st.subheader)(literal(title))


TOKEN = "link_token"
NOTED = "sign_in_noted"
OPENED = "opened"


def visitor(accounts: AccountStore, links: Links) -> Account:
    """Who has signed in in the session whose thread asks; outside of any session it is nobody."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return NOBODY
    opened: frozenset[Resource] = st.session_state.get(OPENED, frozenset())
    if token := st.session_state.get(TOKEN, ""):
        with suppress(NoSuchLink):
            opened |= {links.opened(token)}
    claims, account = st.user.to_dict(), NOBODY
    if claims.get("is_logged_in") and claims.get("iss") and claims.get("sub"):
        told = {one: str(claims.get(one) or "") for one in ("name", "email")}
        verified = str(claims.get("email_verified")).lower() == "true"
        identity = Identity(issuer=str(claims["iss"]), subject=str(claims["sub"]), **told, verified=verified)
        account = accounts.arrive(identity)
    return account.model_copy(update={"opened": opened})


def opens(resource: Resource) -> None:
    """A link has opened this for reading, for as long as the session lasts."""
    st.session_state[OPENED] = st.session_state.get(OPENED, frozenset()) | {resource}


def in_words(access: Access) -> str:
    return {
        Access.NONE: _("Sees what is public"),
        Access.LOOK: _("Looks on"),
        Access.RUN: _("Runs hearings"),
        Access.OWN: _("Owns this server"),
    }[access]


def person_view(person: Account) -> None:
    st.html(STYLES / "person.css")
    name, icon = literal(person.name), ":material/account_circle:"
    with st.container(key="person"), st.popover(name, type="tertiary", icon=icon):
        inert(person.email, small=True)
        st.caption(literal(in_words(person.access)))
        if person.access is Access.NONE:
            st.caption(_("Ask an owner of this server if you need to see more."))
        house = courthouse()
        if person.access >= Access.LOOK and (house.settings.webhook or house.settings.mail):
            now = house.accounts.rings(person.id) is not None
            if st.toggle(_("Tell me when what is mine ends, waits or fails"), now, key="rings") != now:
                house.accounts.ring(not now)
        if person.access >= Access.OWN:
            st.page_link("pages/people.py", label=_("People"), icon=":material/group:")
        st.button(_("Sign out"), key="sign-out", icon=":material/logout:", on_click=st.logout)


LONGEST = 80


def your_name(key: str | None = None, placeholder: str | None = None) -> str:
    """A field for the name; where people sign in, the account's name without a field."""
    if (person := acting_account()) is not None:
        return person.signature
    before = st.session_state.get("who", "")
    return str(st.text_input(_("Your name"), before, max_chars=LONGEST, placeholder=placeholder, key=key)).strip()


ALONE = "alone"

_opening = threading.Lock()
_failed: tuple[int, str] = (0, "")
"""How often it could not be opened, and why at last."""
_opened: tuple[Settings, Courthouse] | None = None
"""The settings of the environment under which it was opened, and the courthouse."""


def courthouse() -> Courthouse:
    """Return the courthouse. Who has to sign in first gets no further, but to the page that a link opens alone."""
    try:
        with st.spinner(_("Opening the courthouse ...")):
            house = _open()
    except CourtroomError as error:
        st.error(literal(str(error)))
        st.stop()
    person = acting_account()
    if person is not None and not person.id and not st.session_state.get(ALONE):
        st.title(_("Courtroom"))
        st.markdown(_("Watch language-model agents deliberate on a case, step by step. Sign in to go on."))
        with st.container(horizontal=True):
            for name in providers(st.secrets["auth"]):
                title = _("Sign in with {name}", name=literal(name.capitalize())) if name else _("Sign in")
                args, icon = (name,) if name else (), ":material/login:"
                st.button(title, key=f"sign-in-{name}", type="primary", icon=icon, on_click=st.login, args=args)
        st.stop()
    if person and person.id and st.session_state.get(NOTED) != person.id:  # a page that is loaded again is no sign-in
        st.session_state[NOTED] = person.id
        issued = st.user.to_dict().get("iat")
        note_sign_in(house.database, float(issued) if isinstance(issued, int | float) else time.time())
    return house


def outside() -> bool:
    """Whether whoever looks has not come in: has to sign in first, or the courthouse can't be opened."""
    try:
        _open()
        person = acting_account()
    except (CourtroomError, *FAILURES):
        return True  # the page says why
    return person is not None and not person.id


def _open() -> Courthouse:
    """Return the one courthouse of this process; another one for other settings, as in tests. Who has waited while it
    could not be opened is told the same: a database that is away would keep each waiting."""
    global _opened, _failed
    before = _failed
    with _opening:
        if _failed != before:
            raise CourtroomError(_failed[1])
        settings = from_environment()
        if _opened is not None and not _opened[1].closed and _opened[0] != settings:
            _opened[1].close()
        if _opened is None or _opened[1].closed:
            try:
                _opened = (settings.model_copy(), _newly_opened(settings))
            except CourtroomError as error:
                _failed = (_failed[0] + 1, str(error))
                raise
        return _opened[1]


def _newly_opened(settings: Settings) -> Courthouse:
    """Runs and experiments whose process had died go on; where that fails, nothing stays open."""
    secrets = st.secrets if st.secrets.load_if_toml_exists() else {}
    closed = signs_in(settings, secrets.get("auth"))
    with acts(None):
        opened = Courthouse(settings, is_server=closed, streaming=True, connections=secrets.get("connections", {}))
        try:
            opened.runner.resume_interrupted()
            opened.experiments.resume_interrupted()
        except BaseException:
            opened.close()
            raise
    # What Chroma takes to load is spent while the first page is drawn.
    threading.Thread(target=opened.knowledge.load, name="chroma-load", daemon=True).start()
    if closed:
        found_by(partial(visitor, opened.accounts, Links(opened.database)))
    return opened


def server_address() -> str:
    """Where the browser has found the app, without the page."""
    address = (st.context.url or "").split("?")[0].rstrip("/")
    pages = ("/deliberation", "/cases", "/experiments")
    return next((address.removesuffix(page) for page in pages if address.endswith(page)), address)


MAX_WAIT_FOR_FORK_S = 8.0


def show_beside(house: Courthouse, run: str, fork: str) -> NoReturn:
    """Have a fork go on for some seconds, and show both; the comparison shows how it goes on."""
    house.runner.go(fork)
    with st.spinner(_("The fork is under way ...")), suppress(TookLong):
        house.runner.wait(fork, MAX_WAIT_FOR_FORK_S)
    st.switch_page("pages/compare.py", query_params={"runs": f"{run},{fork}"})


def open_run(run: str, *, play: bool = False) -> NoReturn:
    """Go to the page of a run; `play`: it is shown from its beginning."""
    st.session_state["run"] = run
    if play:
        st.session_state["play"] = run
    st.switch_page("pages/deliberation.py", query_params={"run": run})
