"""A door for programs: what a hearing takes and gives, as tools of the Model Context Protocol and as JSON over HTTP."""

import asyncio
import secrets
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from functools import partial
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import ValidationError, validate_call
from typer import Option

from courtroom import Courthouse, CourtroomError
from courtroom.access import Account, acts
from courtroom.cases.checks import explain
from courtroom.shell.options import begin, opened

if TYPE_CHECKING:
    from mcp.server.mcpserver import MCPServer
    from starlette.types import ASGIApp, Receive, Scope, Send

MOST_LISTED = 200
"""Cases in one answer."""
Sets = dict[str, Any] | None
"""What a hearing sets: values by their paths in the setup."""


class Programs:
    """What a program may do: list cases, start a hearing, follow it, read the verdict. Each acts as the account that asks."""

    def __init__(self, house: Courthouse) -> None:
        self._house = house

    def cases(self, kind: str = "", text: str = "") -> list[dict[str, str]]:
        """List the cases that can be heard, with their kind; by kind, or by words of their title."""
        of_kind = (case for case in self._house.library.cases() if kind in ("", case.kind))
        fitting = (case for case in of_kind if text.casefold() in case.title.casefold())
        return [{"case": case.id, "kind": case.kind, "title": case.title} for case in islice(fitting, MOST_LISTED)]

    def procedures(self, kind: str = "") -> list[dict[str, Any]]:
        """List the procedures by which cases are heard, the first choice for a kind of case first."""
        known = self._house.fitting(kind) if kind else self._house.procedures.values()
        return [{"procedure": one.name, "title": one.title, "kinds": list(one.kinds)} for one in known]

    def hear(self, case: str, procedure: str = "", settings: Sets = None, seed: int = 0) -> dict[str, Any]:
        """Start the hearing of a case; it goes on by itself. `settings` are paths and values, such as {"jury_size": 6}."""
        return self._begin(self._house.library.case(case), procedure, settings, seed)

    def ask(
        self, question: str, options: list[str] | None = None, procedure: str = "", settings: Sets = None, seed: int = 0
    ) -> dict[str, Any]:
        """Have a panel deliberate on a question with two to six options, or none: then members propose answers first."""
        return self._begin(self._house.ask(question, options or ()), procedure, settings, seed)

    def state(self, run: str) -> dict[str, Any]:
        """Follow a hearing: where it stands, its stages, and the votes of each ballot so far."""
        record = self._house.record(run)
        votes = {record.ballot_name(path): dict(tally.counts) for path, tally in record.tallies.items()}
        told = {"reason": record.run.reason, "stages": [stage.name for stage in record.stages], "votes": votes}
        return {**self._link(run), "status": record.run.status, **told}

    def verdict(self, run: str) -> dict[str, Any]:
        """Read how a hearing ended: outcome, votes, grounds, and what each choice is called; no outcome while it goes on."""
        record = self._house.record(run)
        ended = record.run.verdict
        given = ended.model_dump(include={"outcome", "counts", "summary", "note"}) if ended else {"outcome": None}
        procedure = self._house.procedures[record.run.procedure].about(record.case)
        about = {"titles": {one.name: one.title for one in procedure.choices}, "answered_by": list(record.answered_by)}
        return {**self._link(run), "status": record.run.status, **given, **about}

    def _begin(self, case: Any, procedure: str, settings: Sets, seed: int) -> dict[str, Any]:
        run = begin(self._house, case, procedure, settings or {}, seed)
        self._house.runner.go(run)
        return self._link(run)

    def _link(self, run: str) -> dict[str, str]:
        return {"run": run, "link": f"{self._house.settings.address.rstrip('/')}/deliberation?run={run}"}


def server_of(programs: Programs) -> "MCPServer":
    """Return the tools as a server of the Model Context Protocol; over HTTP each is `POST /api/NAME` too."""
    from mcp.server.mcpserver import MCPServer
    from starlette.requests import Request
    from starlette.responses import JSONResponse, Response

    server = MCPServer("courtroom", instructions="Deliberations between language-model agents: start, follow, read.")

    async def answer(call: Callable[..., Any], request: Request) -> Response:
        try:
            given = await request.json() if await request.body() else {}
            return JSONResponse(await asyncio.to_thread(call, **given))
        except (CourtroomError, ValueError, TypeError) as error:
            why = " ".join(explain(error)) if isinstance(error, ValidationError) else str(error)
            return JSONResponse({"error": why}, status_code=400)

    for tool in (programs.cases, programs.procedures, programs.hear, programs.ask, programs.state, programs.verdict):
        server.tool()(_told()(tool))
        server.custom_route(f"/api/{tool.__name__}", methods=["POST"])(partial(answer, validate_call(tool)))
    return server


@contextmanager
def _told() -> Iterator[None]:
    """Around a tool that is called by the protocol: its sentence for whoever asks reaches the program."""
    from mcp.server.mcpserver.exceptions import ToolError

    try:
        yield
    except CourtroomError as error:
        raise ToolError(str(error)) from error


def app_of(house: Courthouse, account_of: Callable[[str], tuple[Account | None] | None]) -> "ASGIApp":
    """Return the door over HTTP: the protocol at `/mcp`, JSON at `/api`, for who has a token; each acts as its account.
    `account_of`: the account of a token, in a tuple, as None there is the server itself; None where the token opens
    nothing."""
    from mcp.server.transport_security import TransportSecuritySettings
    from starlette.responses import JSONResponse

    # By whatever name it is reached, also behind a proxy: no page of another site has the token.
    any_host = TransportSecuritySettings(enable_dns_rebinding_protection=False)
    server = server_of(Programs(house))
    app = server.streamable_http_app(stateless_http=True, json_response=True, transport_security=any_host)

    async def guarded(scope: "Scope", receive: "Receive", send: "Send") -> None:
        if scope["type"] != "http":
            await app(scope, receive, send)
            return
        given = dict(scope["headers"]).get(b"authorization", b"").decode("latin-1")
        kind, _, token = given.partition(" ")
        found = await asyncio.to_thread(account_of, token) if kind.casefold() == "bearer" else None
        if found is None:
            wanted = {"error": "Send `Authorization: Bearer TOKEN`; `courtroom people token` makes one."}
            await JSONResponse(wanted, status_code=401)(scope, receive, send)
            return
        with acts(found[0]):
            await app(scope, receive, send)

    return guarded


def mcp(
    port: Annotated[int | None, Option(help="Answer over HTTP on this port; without one, over standard input.")] = None,
    host: Annotated[str, Option(help="The address on which it answers.")] = "127.0.0.1",
) -> None:
    """Have programs list cases, start hearings, follow them and read verdicts, by the Model Context Protocol or HTTP."""
    with opened() as house:
        house.runner.resume_interrupted()
        if port is None:
            server_of(Programs(house)).run("stdio")
            return
        import uvicorn

        own = secrets.token_urlsafe(24)

        def of_own(token: str) -> tuple[Account | None] | None:
            return (None,) if secrets.compare_digest(token.encode(), own.encode()) else None

        if not house.settings.owners:
            print(f"Token: {own}", file=sys.stderr, flush=True)
        account_of = house.accounts.of_token if house.settings.owners else of_own
        uvicorn.run(app_of(house, account_of), host=host, port=port, log_level="warning")
