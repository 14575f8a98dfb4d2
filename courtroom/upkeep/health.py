"""Whether the app works: the store answers and takes writes, and the server of the app answers."""

from collections.abc import Callable
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Literal

from courtroom.errors import StoreError
from courtroom.settings import Settings
from courtroom.store.connection import FAILURES
from courtroom.store.opening import explained, open_store
from courtroom.strict import Strict

Progress = Callable[[str, int], None]
"""Given the table or what else is looked at or moved, and how many of its rows have been so far."""


class CheckResult(Strict):
    """How one thing is."""

    about: str
    state: Literal["fine", "mended", "wrong"]
    sentence: str
    """One sentence; where something is wrong, with what to do."""


def _result(state: Literal["fine", "mended", "wrong"], about: str, sentence: str) -> CheckResult:
    return CheckResult(about=about, state=state, sentence=sentence)


fine, mended, wrong = partial(_result, "fine"), partial(_result, "mended"), partial(_result, "wrong")
"""Nothing to do; it was wrong; a person has to do something."""

WAIT_S = 5.0


def store_health(settings: Settings) -> CheckResult:
    """Whether the store answers and lets a write begin. The first visit makes one, or brings an older one up to date."""
    at = settings.database
    if isinstance(at, Path) and not at.exists():
        return fine("store", "There is no store yet; the first visit makes it.")
    try:
        with closing(open_store(at, as_found=True)) as database:
            if database.found == "nothing":
                return fine("store", "There is no store yet; the first visit makes it.")
            with database.transaction() as connection:
                connection.execute("SELECT 1 FROM runs LIMIT 1").fetchone()
    except StoreError as error:
        return wrong("store", str(error))
    except FAILURES as error:
        return wrong("store", str(explained(error, at)))
    return fine("store", "The store answers.")


def app_health(address: str) -> CheckResult:
    """Return whether the app's server answers at an address, such as `http://localhost:8501/court`."""
    import httpx  # only for whoever asks

    url = f"{address.rstrip('/')}/_stcore/health"
    try:
        # Not by way of a proxy: that would be asked for its own localhost.
        status = httpx.get(url, timeout=WAIT_S, follow_redirects=False, trust_env=False).status_code
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        return wrong("app", f"The app does not answer ({type(error).__name__}). Start it, or correct the address.")
    if status != 200:
        return wrong("app", f"The app answers with {status}. Look at its log, or correct the address.")
    return fine("app", "The app answers.")
