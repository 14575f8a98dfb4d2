"""The app under a path behind nginx, with the lines of docs/server.md: pages, links, downloads and the room."""

import shutil
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.sync_api import Browser, Response, expect

from courtroom.courthouse import Courthouse
from courtroom.models.spec import PERSON
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.app_server import HEALTH, answers, forked_app, free_port
from tests.browser.test_hearing import settled
from tests.docs import blocks
from tests.driving import drive

NGINX = shutil.which("nginx", path="/usr/sbin:/usr/local/sbin:/usr/bin:/usr/local/bin")
pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(NGINX is None, reason="no nginx here: install Debian's package `nginx-light`"),
]
PATH = "/court"
WIDTH = "image => image.decode().then(() => image.naturalWidth)"


@contextmanager
def nginx(folder: Path, app: str) -> Iterator[str]:
    """nginx in front of the app; its address, with the path."""
    port = free_port()
    (location,) = blocks("docs/server.md", "nginx")
    assert "http://localhost:8501" in location
    kinds = ("client_body", "proxy", "fastcgi", "uwsgi", "scgi")
    temporary = "".join(f"{kind}_temp_path {folder}/{kind};\n" for kind in kinds)
    (folder / "nginx.conf").write_text(
        f"daemon off; pid {folder}/pid; error_log {folder}/error.log; events {{}}\n"
        f"http {{ access_log off; {temporary} include /etc/nginx/mime.types;\n"
        f"server {{ listen 127.0.0.1:{port};\n{location.replace('http://localhost:8501', app)} }} }}\n"
    )
    with subprocess.Popen([str(NGINX), "-c", folder / "nginx.conf", "-e", folder / "error.log"]) as process:
        try:
            yield answers(f"http://127.0.0.1:{port}{PATH}", HEALTH, process.poll, folder / "error.log")
        finally:
            process.terminate()


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[str, str, str]]:
    """The proxy's address, a run that is done, and one in which a person sits."""
    home = tmp_path_factory.mktemp("home")
    house = Courthouse(Settings(home=home))
    case = house.library.case("phone-battery")
    done = drive(house, house.new_run("cyberjurors", case, CyberJurorsSetup(jury_size=3, rounds=1), 0))
    person = {"members": {"juror-01": {"id": PERSON}}, "jury_size": 3, "rounds": 1}
    sat = house.new_run("cyberjurors", case, CyberJurorsSetup.model_validate(person), 0)
    house.close()
    with (
        forked_app(home, path=PATH) as server,
        nginx(tmp_path_factory.mktemp("nginx"), server.url.removesuffix(PATH)) as url,
    ):
        yield url, done, sat


def test_pages_pictures_and_links_work_under_the_path(there: tuple[str, str, str], browser: Browser) -> None:
    """And nothing that the page asks for goes wrong or lies outside it."""
    url, done, sat = there
    page = browser.new_page(viewport={"width": 1280, "height": 900})
    wrong = list[str]()

    def look(response: Response) -> None:
        parts = urlsplit(response.url)
        if response.status == 404 and "/_stcore/" in parts.path:
            return  # Streamlit tries how much of the address is the path under which it answers
        if parts.scheme == "http" and (response.status >= 400 or not parts.path.startswith(f"{PATH}/")):
            wrong.append(f"{response.status} {response.url}")

    page.on("response", look)
    page.goto(f"{url}/")
    assert page.locator("img").first.evaluate(WIDTH) > 0
    settled(page)
    page.get_by_role("link", name="Runs").click()
    expect(page).to_have_url(f"{url}/runs")
    page.goto(f"{url}/deliberation?run={done}")
    expect(page.locator(".room .seat").first).to_be_visible()
    settled(page)
    page.get_by_role("button", name="Share").click()
    expect(page.get_by_test_id("stCode").filter(has_text="?run=")).to_have_text(f"{url}/deliberation?run={done}")
    settled(page)
    with page.expect_download(timeout=120_000) as caught:
        page.get_by_role("button", name="HTML report").click()
    assert b"<html" in Path(caught.value.path()).read_bytes()[:2000].lower()
    page.keyboard.press("Escape")
    page.get_by_role("button", name="Invite an audience").click()
    room = page.locator(".st-key-audience")
    expect(room.get_by_text("Open now: ")).to_be_visible()
    settled(page)
    assert room.locator("img").first.evaluate(WIDTH) > 0
    audience = room.get_by_test_id("stCode").inner_text().strip()
    assert audience.startswith(f"{url}/?audience=")
    page.goto(audience)
    expect(page.get_by_role("button", name="■ seller")).to_be_enabled()
    settled(page)
    page.goto(f"{url}/deliberation?run={sat}")
    address = page.get_by_test_id("stCode").filter(has_text="?seat=").first.inner_text().strip()
    assert address.startswith(f"{url}/?seat=")
    page.goto(address)
    expect(page.get_by_text("You are not asked for anything now")).to_be_visible()
    assert wrong == []
    page.close()
