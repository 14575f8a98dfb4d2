"""Who reads a page: in which language; who acts in the session, by a link or an account; the page that asks to sign in."""

import time
from typing import Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom.access import NOBODY, Access, Account, Resource, acting
from courtroom.accounts import AccountStore, Identity, providers
from courtroom.language import ENGLISH, LANGUAGES, _, follow, language, nearest
from courtroom.room.player import adapter
from courtroom.sharing.actions import note_sign_in
from courtroom.sharing.links import Links, NoSuchLink
from courtroom.store.database import Database
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.table import one_of

CHOSEN = "lang"
"""The choice, in the session and in the address, so that a link keeps it."""
PICKED, COOKIE = "lang-picked", "courtroom_lang"
"""What the button picked; the browser keeps that in a cookie, for visits without it in the address."""
STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-language) { position: absolute; }
.st-key-language { position: fixed; top: .95rem; right: 4.5rem; z-index: 999991; width: auto; }
.st-key-language button { min-height: 0; padding: .2rem .4rem; }
@media (max-width: 640px) { .st-key-language { right: 4rem; } }
</style>"""
"""The button stands next to the menu of the page, on every page, and takes no room of it."""


def speak() -> None:
    """Have everything speak the reader's language; a choice stays in the address."""
    follow(reads)
    if (wanted := st.query_params.get(CHOSEN)) in LANGUAGES:
        st.session_state[CHOSEN] = wanted
    if CHOSEN in st.session_state:
        st.query_params[CHOSEN] = st.session_state[CHOSEN]


def reads() -> str:
    """The language that was chosen; else the one that was picked at an earlier visit; else the browser's; else English."""
    if get_script_run_ctx() is None:  # no page: the engine's threads, the shell
        return ENGLISH
    chosen: str | None = st.session_state.get(CHOSEN)
    kept = st.context.cookies.get(COOKIE)
    return chosen or (kept if kept in LANGUAGES else nearest(st.context.locale))


def switch() -> None:
    """The button to the other language, named in that language."""
    st.html(STYLE)
    (other,) = LANGUAGES.keys() - {language()}
    with st.container(key="language"):
        st.button(LANGUAGES[other], key="switch-language", type="tertiary", on_click=_choose, args=(other,))


def _choose(wanted: str) -> None:
    st.session_state[CHOSEN] = st.session_state[PICKED] = st.query_params[CHOSEN] = wanted


_themes = st.components.v2.component("courtroom_themes", js=adapter("themes"), isolate_styles=False)


def follow_the_theme() -> None:
    """Have the page drawn again when the system's theme changes: Streamlit changes its own colours only, not those that it was given."""
    _themes(
        key="themes",
        data={"theme": st.context.theme.type or "light", "picked": st.session_state.get(PICKED, "")},
        height=1,
        on_changed_change=_drawn_anew,
    )


def _drawn_anew() -> None:
    """Nothing else is to be done."""


SHORT = 50
"""Characters that a title in large letters may have; a longer one would fill the top of the page."""


def heading(title: str) -> None:
    """The title, in smaller letters where it is long."""
    if len(title) <= SHORT:
        st.title(literal(title))
    else:
        st.subheader(literal(title))


TOKEN = "link_token"


def remember() -> str:
    token: str = st.query_params.get("link") or st.session_state.get(TOKEN, "")
    st.session_state[TOKEN] = token
    return token


def opened_now(links: Links) -> frozenset[Resource]:
    token: str = st.session_state.get(TOKEN, "")
    if not token:
        return frozenset()
    try:
        return frozenset({links.opened(token)})
    except NoSuchLink:
        return frozenset()


NOTED = "sign_in_noted"
OPENED = "opened"


def visitor(accounts: AccountStore, links: Links) -> Account:
    """Who has signed in in the session whose thread asks; outside of any session it is nobody."""
    if get_script_run_ctx(suppress_warning=True) is None:
        return NOBODY
    opened: frozenset[Resource] = st.session_state.get(OPENED, frozenset()) | opened_now(links)
    claims = st.user.to_dict()
    if not claims.get("is_logged_in") or not claims.get("iss") or not claims.get("sub"):
        return NOBODY.model_copy(update={"opened": opened})
    account = accounts.arrive(
        Identity(
            issuer=str(claims["iss"]),
            subject=str(claims["sub"]),
            name=claims.get("name") or "",
            email=claims.get("email") or "",
            verified=str(claims.get("email_verified")).lower() == "true",
        )
    )
    return account.model_copy(update={"opened": opened})


def note_arrival(database: Database) -> None:
    """Write down once that the person has signed in: a page that is loaded again is no new sign-in."""
    person = acting()
    if person is None or not person.id or st.session_state.get(NOTED) == person.id:
        return
    st.session_state[NOTED] = person.id
    issued = st.user.to_dict().get("iat")
    note_sign_in(database, float(issued) if isinstance(issued, int | float) else time.time())


def opens(resource: Resource) -> None:
    """A link has opened this for reading, for as long as the session lasts."""
    st.session_state[OPENED] = st.session_state.get(OPENED, frozenset()) | {resource}


def sign_in_page() -> None:
    st.title(_("Courtroom"))
    st.markdown(_("Watch language-model agents deliberate on a case, step by step. Sign in to go on."))
    with st.container(horizontal=True):
        for name in providers(st.secrets["auth"]):
            st.button(
                _("Sign in with {name}", name=literal(name.capitalize())) if name else _("Sign in"),
                key=f"sign-in-{name}",
                type="primary",
                icon=":material/login:",
                on_click=st.login,
                args=(name,) if name else (),
            )


PERSON_STYLE = """<style>
[data-testid="stLayoutWrapper"]:has(> .st-key-person) { position: absolute; }
.st-key-person { position: fixed; top: .95rem; right: 8.5rem; z-index: 999991; width: auto; }
.st-key-person button { min-height: 0; padding: .2rem .4rem; max-width: 11rem; }
.st-key-person button p { white-space: nowrap; overflow: hidden; text-overflow: ellipsis; }
@media (max-width: 640px) { .st-key-person { right: 7.5rem; } .st-key-person button { max-width: 6rem; } }
</style>"""
"""Next to the button of the language, on every page; it takes no room of it."""


def in_words(access: Access) -> str:
    return {
        Access.NONE: _("Sees what is public"),
        Access.LOOK: _("Looks on"),
        Access.RUN: _("Runs hearings"),
        Access.OWN: _("Owns this server"),
    }[access]


def person_view(person: Account) -> None:
    st.html(PERSON_STYLE)
    with (
        st.container(key="person"),
        st.popover(literal(person.name), type="tertiary", icon=":material/account_circle:"),
    ):
        inert(person.email, small=True)
        st.caption(literal(in_words(person.access)))
        if person.access is Access.NONE:
            st.caption(_("Ask an owner of this server if you need to see more."))
        if person.access >= Access.OWN:
            st.page_link("pages/people.py", label=_("People"), icon=":material/group:")
        st.button(_("Sign out"), key="sign-out", icon=":material/logout:", on_click=st.logout)


Whose = Literal["", "mine", "others"]
CHOICES: tuple[Whose, ...] = ("", "mine", "others")


def whose_filter(key: str) -> Whose:
    """Mine, shared with me, or all; nothing to choose where nobody signs in."""
    person = acting()
    if person is None or not person.id:
        return ""
    words = {"": _("All"), "mine": _("Mine"), "others": _("Shared with me")}
    return one_of(_("Whose"), CHOICES, f"whose-{key}", "", words.__getitem__)


LONGEST = 80


def your_name(key: str | None = None, placeholder: str | None = None) -> str:
    """A field for the name; where people sign in, the account's name without a field."""
    person = acting()
    if person is not None:
        return person.signature
    typed: str = st.text_input(
        _("Your name"), st.session_state.get("who", ""), max_chars=LONGEST, placeholder=placeholder, key=key
    )
    return typed.strip()
