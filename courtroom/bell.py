"""A bell: tells by e-mail and webhook that a run or an experiment has ended, waits for somebody, or has failed."""

import hashlib
import hmac
import json
import logging
import smtplib
import ssl
from concurrent.futures import ThreadPoolExecutor
from email.message import EmailMessage
from functools import partial
from urllib.parse import unquote, urlsplit

from courtroom.access import Resource, acts
from courtroom.accounts import AccountStore
from courtroom.engine.run import Standing
from courtroom.models.keys import hide
from courtroom.settings import Settings
from courtroom.sharing import may_change, owned
from courtroom.store.connection import FAILURES
from courtroom.store.database import Database

log = logging.getLogger(__name__)

PAGES = {"run": "deliberation?run", "experiment": "experiments?experiment"}
LATE_S = 10
"""Seconds after which a server that does not answer counts as one that can't be reached."""
SIGNATURE = "X-Courtroom-Signature"
"""The header with the HMAC of the body, by SHA-256, where there is a secret."""


class Bell:
    """Tells whom the settings, or with accounts the persons themselves, say; nothing where no server is set for it.

    A run's text, an answer or a key is never sent: only a name, a state and a link. What can't be delivered is logged,
    and said once on the page; the run knows nothing of it.
    """

    def __init__(self, settings: Settings, database: Database, accounts: AccountStore) -> None:
        self._settings, self._database, self._accounts = settings, database, accounts
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="bell")
        self._troubles: dict[Resource, str] = {}
        for secret in filter(None, (settings.webhook, settings.webhook_secret, settings.mail)):
            hide(secret.get_secret_value())

    def ring(self, kind: str, name: str, state: Standing) -> None:
        """Tell of a run or an experiment by its id, in a thread of its own; may be called from any thread."""
        if self._settings.webhook or self._settings.mail:
            self._thread.submit(self._tell, Resource(kind=kind, id=name), state)

    def trouble(self, about: Resource) -> str:
        """Return once, to whom it belongs, why somebody could not be told of this; else nothing."""
        return self._troubles.pop(about, "") if may_change(self._database, about) else ""

    def close(self) -> None:
        """Wait for what is being delivered."""
        self._thread.shutdown()

    def _tell(self, about: Resource, state: Standing) -> None:
        try:
            with acts(None):
                name, to = self._name(about), self._addresses(about)
        except FAILURES:
            log.exception("nobody was told of %s %s", about.kind, about.id)
            return
        if name is None or to is None:
            return
        link = f"{self._settings.address.rstrip('/')}/{PAGES[about.kind]}={about.id}"
        told = {"kind": about.kind, "name": name, "state": state, "link": link}
        for what, tell in (("webhook", partial(self._post, told)), ("mail server", partial(self._send, told, to))):
            try:
                tell()
            except Exception as error:  # noqa: BLE001  whatever a server of somebody's does, the run goes on
                # Not the message, which may hold an address with a password or an answer of the server's.
                log.warning("the %s was not told of %s %s: %s", what, about.kind, about.id, type(error).__name__)
                self._troubles[about] = f"The {what} could not be told that this is {state}; the log says why."

    def _name(self, about: Resource) -> str | None:
        """What it is called, on one line; None of what is gone, and of an experiment's runs, for which that rings."""
        row = self._database.row(
            "SELECT title AS name FROM runs WHERE id = :id AND :kind = 'run'"
            " AND NOT EXISTS (SELECT 1 FROM experiment_cells WHERE run = :id)"
            " UNION SELECT name FROM experiments WHERE id = :id AND :kind = 'experiment'",
            about.model_dump(),
        )
        return " ".join(row["name"].split()) if row else None

    def _addresses(self, about: Resource) -> tuple[str, ...] | None:
        """The e-mail addresses of who wants to know; None where nobody does."""
        if not self._settings.owners:
            return tuple(filter(None, (one.strip() for one in self._settings.mail_to.split(","))))
        whose = self._accounts.rings(owned(self._database, about).account)
        return (whose,) if whose is not None else None

    def _post(self, told: dict[str, str]) -> None:
        import httpx  # slow to import

        if (address := self._settings.webhook) is None:
            return
        body, headers = json.dumps(told, ensure_ascii=False).encode(), {"Content-Type": "application/json"}
        if secret := self._settings.webhook_secret:
            signed = hmac.new(secret.get_secret_value().encode(), body, hashlib.sha256)
            headers[SIGNATURE] = f"sha256={signed.hexdigest()}"
        url = address.get_secret_value()
        posted = httpx.stream("POST", url, content=body, headers=headers, timeout=LATE_S, follow_redirects=False)
        with posted as answer:  # what it says is not read
            answer.raise_for_status()

    def _send(self, told: dict[str, str], to: tuple[str, ...]) -> None:
        if self._settings.mail is None or not any(to):
            return
        server = urlsplit(self._settings.mail.get_secret_value())
        message = EmailMessage()
        message["From"] = self._settings.mail_from or unquote(server.username or "") or "courtroom@localhost"
        message["To"], message["Subject"] = ", ".join(to), f"{told['name']}: {told['state']}"
        message.set_content(f"{told['name']}: {told['state']}\n\n{told['link']}\n")
        safe, is_tls = ssl.create_default_context(), server.scheme == "smtps"
        connect = partial(smtplib.SMTP_SSL, context=safe) if is_tls else smtplib.SMTP
        with connect(server.hostname or "localhost", server.port or (465 if is_tls else 587), timeout=LATE_S) as smtp:
            smtp.ehlo_or_helo_if_needed()
            if not is_tls and (server.username or smtp.has_extn("starttls")):
                smtp.starttls(context=safe)  # no password without it
            if server.username:
                smtp.login(unquote(server.username), unquote(server.password or ""))
            smtp.send_message(message)
