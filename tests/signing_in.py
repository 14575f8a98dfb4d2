"""A courthouse in which people sign in, and the people."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest
from streamlit import config
from streamlit.runtime.secrets import secrets_singleton
from streamlit.testing.v1 import AppTest

from courtroom.access import Access, Account, acts, found_by
from courtroom.accounts import Identity
from courtroom.courthouse import Courthouse
from tests.furnished import copied

ROOT = Path(__file__).parents[1]
ISSUER = "https://id.example"
RETURNS_TO = "http://localhost:8501/oauth2callback"
CLIENT, SECRET = "courtroom", "not so secret"
AUTH = f"""[auth]
redirect_uri = "{RETURNS_TO}"
cookie_secret = "0123456789abcdef0123456789abcdef"
client_id = "{CLIENT}"
client_secret = "{SECRET}"
server_metadata_url = "{ISSUER}/.well-known/openid-configuration"
"""


def claims(name: str, *, verified: bool = True) -> dict[str, Any]:
    """What a provider says of somebody."""
    told = {"iss": ISSUER, "sub": name, "name": name.capitalize(), "email": f"{name}@example.org"}
    return {"is_logged_in": True, **told, "email_verified": verified}


@contextmanager
def secrets(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, text: str = AUTH) -> Iterator[None]:
    """Streamlit's secrets are these."""
    file = tmp_path / "secrets.toml"
    file.write_text(text)
    before = config.get_option("secrets.files")
    config.set_option("secrets.files", [str(file)])
    secrets_singleton._reset()
    monkeypatch.chdir(ROOT)
    try:
        yield
    finally:
        found_by(lambda: None)
        config.set_option("secrets.files", before)
        secrets_singleton._reset()


@contextmanager
def closed_house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    """The very courthouse that the pages use, where people sign in; Ada owns it. The test itself acts for the server."""
    monkeypatch.setenv("COURTROOM_HOME", str(copied(tmp_path / "home")))
    monkeypatch.setenv("COURTROOM_OWNERS", "Ada@example.org")
    monkeypatch.setenv("COURTROOM_NEWCOMERS", "look")
    with secrets(tmp_path, monkeypatch), acts(None):
        from pages.parts.shared.house import courthouse

        house = courthouse()
        yield house
        house.close()


def person(house: Courthouse, name: str, access: Access) -> Account:
    """Somebody with this access."""
    said = claims(name)
    who = Identity(issuer=ISSUER, subject=name, name=said["name"], email=said["email"], verified=True)
    with acts(None):
        house.accounts.give(house.accounts.arrive(who).id, access)
        return house.accounts.arrive(who)


def visit(name: str = "", page: str = "", **query: str) -> AppTest:
    """The app, without an error, as somebody sees it who has signed in under this name; without one, as who has not."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app.user = claims(name) if name else {}
    app.query_params.update(query)
    app.run()
    if page:
        app.switch_page(f"pages/{page}.py").run()
    assert not app.exception, app.exception
    return app
