"""The accounts of this server: whether people sign in, who has, what each may do, and how much each may spend."""

import hashlib
import logging
import secrets
import time
from collections.abc import Mapping
from typing import Annotated, Any, NamedTuple

from pydantic import BeforeValidator

from courtroom.access import Access, Account, Resource, acting_account, needs
from courtroom.errors import CourtroomError
from courtroom.settings import Settings
from courtroom.sharing import hashed, note
from courtroom.store.connection import FAILURES, StoredRow, fitting, read, read_all
from courtroom.store.database import Database, insert
from courtroom.strict import Strict

PROGRAM = "program"
"""Of a link: what it opens is the door for programs."""
TOKEN_S = 90 * 24 * 3600.0
"""For so long a program's token opens it."""
SHORTEST_SECRET = 32
OF_A_PROVIDER = ("client_id", "client_secret", "server_metadata_url")


def signs_in(settings: Settings, auth: Mapping[str, Any] | None) -> bool:
    """Return whether people sign in here: the provider (`[auth]` of the secrets) and the owners are set, or neither."""
    if auth is None:
        for name in ("owners", "newcomers"):
            if name in settings.model_fields_set:
                raise CourtroomError(
                    f"COURTROOM_{name.upper()} is set, but Streamlit's secrets have no part [auth], "
                    "so nobody could sign in. Add it as docs/server.md shows, or unset the variable."
                )
        return False
    if not settings.owners.strip(" ,"):
        raise CourtroomError(
            "Streamlit's secrets have a part [auth], but nobody owns this server. Set COURTROOM_OWNERS to your e-mail "
            "address, or take the part out."
        )
    missing = [name for name in ("redirect_uri", "cookie_secret") if not auth.get(name)]
    for provider in providers(auth):
        missing += [name for name in OF_A_PROVIDER if not (auth[provider] if provider else auth).get(name)]
    if missing:
        raise CourtroomError(f"The part [auth] of Streamlit's secrets lacks {', '.join(missing)}. Add what is missing.")
    if len(str(auth["cookie_secret"])) < SHORTEST_SECRET:
        raise CourtroomError(
            f"The cookie_secret of [auth] needs at least {SHORTEST_SECRET} characters. "
            "Make one with `openssl rand -hex 32`."
        )
    return True


def providers(auth: Mapping[str, Any]) -> tuple[str, ...]:
    """The providers of the part `[auth]` by their names; one without a name is the empty text."""
    named = tuple(
        name for name, value in auth.items() if isinstance(value, Mapping) and set(OF_A_PROVIDER) & value.keys()
    )
    return named or ("",)


FRESH_S = 1.0
"""For so long an account that was read counts: a change of somebody's access holds after this time in all processes."""
SEEN_S = 3600.0
"""How exactly it is noted when somebody was here."""
MAX_NAME_CHARACTERS = 200
MAX_KEPT_ACCOUNTS = 1000

log = logging.getLogger(__name__)


def _plain(text: object) -> str:
    """What a provider says, in one line that any database and page takes."""
    return "".join(c for c in str(text or "") if c.isprintable())[:MAX_NAME_CHARACTERS].strip()


Plain = Annotated[str, BeforeValidator(_plain)]


class Identity(Strict):
    """Who somebody is, as an OpenID provider states it."""

    issuer: str
    subject: str
    """Never changes and is nobody else's at this issuer."""
    name: Plain = ""
    email: Plain = ""
    verified: bool = False
    """Whether the provider knows that the e-mail address is this person's."""

    @property
    def id(self) -> str:
        """The id of the account: the same for the same issuer and subject, and nobody else's."""
        whole = f"{len(self.issuer)} {self.issuer} {self.subject}"
        return hashlib.sha256(whole.encode(errors="replace")).hexdigest()[:24]


class KnownAccount(Strict):
    """Somebody who has signed in here."""

    id: str
    name: str
    email: str
    access: Access
    budget: float | None
    """US dollars that the person's runs may cost in a month; None is no limit."""
    first: float
    last: float
    """When the person was here for the first and the last time, in seconds since the epoch."""
    verified: bool = False
    """Whether the provider knew at the last visit that the e-mail address is this person's."""
    rings: bool = False
    """Whether the person is told when something of the own ends, waits or fails."""

    @property
    def called(self) -> str:
        return self.name or self.email or self.id


class SpentMoney(NamedTuple):
    """What runs have cost."""

    money: float
    """US dollars, as far as prices are known."""
    estimated: bool
    """Whether a provider did not count some of the tokens, so that it is about so much."""


class AccountStore:
    """Reads and writes accounts. Methods may be called from any thread.

    `settings`: who is an owner whatever else is said, what everybody else may do who signs in for the first time, and
    who sees what people make, until they say otherwise. Without any they are as if nothing was set.
    """

    def __init__(self, database: Database, settings: Settings | None = None) -> None:
        settings = settings or Settings.model_construct()
        self._database, self._makes = database, settings.visibility
        self._newcomers = Access[settings.newcomers.upper()]
        self._owners = frozenset(one.strip().casefold() for one in settings.owners.split(",")) - {""}
        self._fresh: dict[Identity, tuple[float, Account]] = {}

    def arrive(self, who: Identity) -> Account:
        """The account of somebody who has signed in, at most a second old; it is made at the first time."""
        kept = self._fresh.get(who)
        if kept and time.monotonic() - kept[0] < FRESH_S:
            return kept[1]
        now, is_owner = time.time(), self._is_listed(who)
        row = self._row(who.id)
        if row is None:
            given = {"access": int(self._newcomers), "first": now, "last": now}
            new = who.model_dump() | {"id": who.id, **given}
            insert(self._database.connection, "accounts", [new], or_keep=True)
            row = self._row(who.id)
            assert row is not None
        said = who.name, who.email, who.verified
        if now - row.last > SEEN_S or (row.name, row.email, row.verified) != said:
            # Before revision 0007 a row said that who was listed owns, for good.
            less = int(self._newcomers) if is_owner and not row.verified and row.access is Access.OWN else None
            try:
                self._database.execute(
                    "UPDATE accounts SET name = ?, email = ?, verified = ?, last = ?, access = COALESCE(?, access)"
                    " WHERE id = ?",
                    (*said, now, less, who.id),
                )
            except FAILURES:  # such as a full disk: whoever has an account comes in all the same
                log.warning("it could not be noted that %s was here", who.id, exc_info=True)
        access, name = Access.OWN if is_owner else row.access, who.name or who.email or row.id
        found = Account(id=row.id, name=name, email=who.email, access=access, makes=self._makes)
        if len(self._fresh) >= MAX_KEPT_ACCOUNTS:
            self._fresh.clear()
        self._fresh[who] = (time.monotonic(), found)
        return found

    @needs(Access.OWN)
    def all(self) -> list[KnownAccount]:
        """All accounts, who was here last first."""
        rows = self._database.execute("SELECT * FROM accounts ORDER BY last DESC, id").fetchall()
        return [self._with_list(one) for one in read_all(rows, _account)[0]]

    @needs(Access.OWN)
    def give(self, account: str, access: Access) -> None:
        """Give somebody an access; it holds at once. Nobody changes the own, nor takes it from who is listed as owner."""
        me, row = acting_account(), self._row(account)
        if me is not None and me.id == account:
            raise CourtroomError("Nobody changes the own access. Ask another owner.")
        if row and access is not Access.OWN and self._is_listed(row):
            raise CourtroomError("COURTROOM_OWNERS lists this person, who owns by that. Take the address out there.")
        self._set(account, "access", int(access), access.name.lower())

    @needs(Access.OWN)
    def allow(self, account: str, budget: float | None) -> None:
        """Set what somebody's runs may cost in a month, in US dollars; None is no limit."""
        if budget is not None and not 0 <= budget < 1e9:
            raise CourtroomError("A budget is an amount of US dollars, such as 20.")
        self._set(account, "budget", budget, str(budget))

    @needs(Access.OWN)
    def token(self, account: str) -> str:
        """Make a token with which a program acts as this account, for 90 days. What is in it is nowhere kept."""
        self._known(account)
        token, now = secrets.token_urlsafe(24), time.time()
        row = {"token": hashed(token), "kind": PROGRAM, "id": account, "account": account}
        with self._database.transaction() as db:
            insert(db, "links", [{**row, "made": now, "expires": now + TOKEN_S}])
            note(self._database, "give-access", Resource(kind="account", id=account), PROGRAM)
        return token

    @needs(Access.OWN)
    def end_tokens(self, account: str) -> int:
        """Have the tokens of an account open nothing any more; how many there were."""
        self._known(account)
        ended = "UPDATE links SET ended = ? WHERE kind = ? AND id = ? AND ended IS NULL"
        return self._database.execute(ended, (time.time(), PROGRAM, account)).rowcount

    def of_token(self, token: str) -> tuple[Account | None] | None:
        """The account of a program's token; None where the token opens nothing, or the account may do nothing."""
        test = "token = ? AND kind = ? AND ended IS NULL AND expires > ?"
        row = self._database.row(f"SELECT id FROM links WHERE {test}", (hashed(token), PROGRAM, time.time()))
        known = self._find(row["id"]) if row else None
        if known is None or known.access == Access.NONE:
            return None
        return (Account(**known.model_dump(include={"id", "name", "email", "access"}), makes=self._makes),)

    @needs(Access.LOOK)
    def ring(self, wanted: bool) -> None:
        """Have the person who acts told, or not, when a run or an experiment of the own ends, waits or fails."""
        if (me := acting_account()) is not None:
            self._set(me.id, "rings", int(wanted))

    def rings(self, account: str) -> str | None:
        """The e-mail address of an account that wants to be told; None where it does not, or may see nothing."""
        found = self._find(account)
        return found.email if found and found.rings and found.access > Access.NONE else None

    def budget(self, account: str) -> float | None:
        """What somebody's runs may cost in a month, in US dollars; None is no limit."""
        found = self._find(account)
        return found.budget if found else None

    def spent(self, account: str) -> SpentMoney:
        """What somebody's runs have cost in this month, deleted ones too, as far as prices are known."""
        row = self._database.row(
            "SELECT money, estimated FROM spending WHERE account = ? AND month = ?", (account, this_month())
        )
        return SpentMoney(row["money"], bool(row["estimated"])) if row else SpentMoney(0.0, estimated=False)

    def _set(self, account: str, column: str, value: float | None, given: str = "") -> None:
        self._known(account)
        with self._database.transaction() as db:
            db.execute(f"UPDATE accounts SET {column} = ? WHERE id = ?", (value, account))
            if given:
                note(self._database, "give-access", Resource(kind="account", id=account), given)
        self._fresh.clear()

    def _known(self, account: str) -> None:
        if self._find(account) is None:
            raise CourtroomError("There is no such account. See all on the page “People”.")

    def _find(self, account: str) -> KnownAccount | None:
        row = self._row(account)
        return self._with_list(row) if row else None

    def _with_list(self, row: KnownAccount) -> KnownAccount:
        return row.model_copy(update={"access": Access.OWN}) if self._is_listed(row) else row

    def _is_listed(self, who: Identity | KnownAccount) -> bool:
        """Whether somebody owns by the settings, whatever the row says."""
        return who.verified and who.email.casefold() in self._owners

    def _row(self, account: str) -> KnownAccount | None:
        row = self._database.row("SELECT * FROM accounts WHERE id = ?", (account,))
        return _account(row) if row else None


def this_month() -> str:
    """The month of the budgets, such as `2026-11`; it begins at midnight UTC."""
    return time.strftime("%Y-%m", time.gmtime())


def _account(row: StoredRow) -> KnownAccount:
    return read("account", row["id"], lambda: fitting(KnownAccount, row))
