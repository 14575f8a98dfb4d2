"""Addresses of files that are opened by themselves."""

import uvicorn
from playwright.sync_api import Page
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response
from starlette.routing import Route

from pages.parts.shared.protocol import Headers
from tests.server_thread import ServerThread

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
