"""Addresses that are opened by themselves: of a page, before any other page of a new server, and of a file."""

import os
from contextlib import suppress
from pathlib import Path

import uvicorn
from playwright.sync_api import Browser, Page, expect
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.parts.shared.protocol import Headers
from tests.app_server import app_server
from tests.server_thread import ServerThread


def test_the_first_visit_to_a_new_server_may_be_to_any_page_and_it_watches_no_folder(
    tmp_path: Path, browser: Browser
) -> None:
    with app_server(tmp_path) as server:
        page = browser.new_page(viewport={"width": 1280, "height": 900})
        page.set_default_timeout(120_000)
        page.goto(f"{server.url}/deliberation")
        expect(page.get_by_text("No hearing is chosen", exact=False)).to_be_visible()
        expect(page.get_by_role("link", name="Knowledge")).to_be_visible()
        expect(page.get_by_role("link", name="app", exact=True)).to_have_count(0)
        assert not watches(server.pid)
        page.close()


def watches(process: int) -> int:
    """How many of Linux's watches on files a process holds."""
    found = 0
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            if os.readlink(link) == "anon_inode:inotify":
                found += Path(f"/proc/{process}/fdinfo/{link.name}").read_text().count("inotify ")
    return found


SCRIPT = "<script>document.documentElement.setAttribute('ran', 'yes')</script>"
FILES = {
    "image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>',
    "text/html": f"<p>A file</p><img src='data:,' onerror=\"document.documentElement.setAttribute('ran', 'yes')\">{SCRIPT}",
    "application/xhtml+xml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{SCRIPT}</body></html>',
}


class Files(ServerThread):
    """Gives out files of each type with the app's headers, also at addresses where no files of cases are."""

    async def _start(self) -> None:
        async def give(request: Request) -> Response:
            kind = request.query_params["type"]
            return Response(FILES[kind], media_type=kind)

        app = Headers(Starlette(routes=[Route("/media/{file}", give), Route("/other/{file}", give)]))
        self._server = uvicorn.Server(uvicorn.Config(app, port=0, log_level="error"))
        self._server.config.load()
        self._server.lifespan = self._server.config.lifespan_class(self._server.config)
        await self._server.startup()
        self.port = self._server.servers[0].sockets[0].getsockname()[1]

    async def _end(self) -> None:
        await self._server.shutdown()


def test_nothing_runs_in_a_file_that_is_opened_by_its_address(page: Page) -> None:
    with Files() as files:
        for place, ran in (("other", "yes"), ("media", None)):
            for kind in FILES:
                page.goto(f"http://127.0.0.1:{files.port}/{place}/file?type={kind.replace('+', '%2B')}")
                assert page.evaluate("document.documentElement.getAttribute('ran')") == ran, (place, kind)
        page.goto("about:blank")
