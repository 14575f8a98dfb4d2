"""Who acts in a session: the link or the account it came by, the page that asks to sign in, the name at the top of each page."""

import time
from typing import Literal

import streamlit as st
from streamlit.runtime.scriptrunner import get_script_run_ctx

from courtroom.access.account import NOBODY, Access, Account, Resource
from courtroom.access.acting import acting
from courtroom.accounts.sign_in import providers
from courtroom.accounts.store import AccountStore, Identity
from courtroom.language import _
from courtroom.sharing.actions import note_sign_in
from courtroom.sharing.links import Links, NoSuchLink
from courtroom.store.database import Database
from pages.parts.shared.inert import inert, literal
from pages.parts.shared.table import one_of

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


STYLE = """<style>
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
    st.html(STYLE)
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
