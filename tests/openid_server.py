"""A provider of OpenID Connect, for tests: whoever comes chooses who to be, and is that.

It checks what a real one checks (the client, the address to return to, the code, PKCE), and signs with RS256.
"""

import base64
import hashlib
import secrets
import time
from typing import Any
from urllib.parse import urlencode

from aiohttp import web
from joserfc import jwt
from joserfc.jwk import KeySet, RSAKey

from tests.server_thread import WebServer
from tests.signing_in import AUTH, CLIENT, ISSUER, RETURNS_TO, SECRET


class OpenIDServer(WebServer):
    """`people`: what is said of each, by what the page of choice calls them; it sends them back to one address alone."""

    host = "localhost"

    def __init__(self, people: dict[str, dict[str, Any]], returns_to: str) -> None:
        self._people, self._returns_to = people, returns_to
        self._key = RSAKey.generate_key(2048, {"kid": "1", "use": "sig"})
        self._codes: dict[str, tuple[str, dict[str, str]]] = {}
        self.refused: list[str] = []
        """Why it refused something."""

    @property
    def issuer(self) -> str:
        return f"http://localhost:{self.port}"

    def secrets(self) -> str:
        """What Streamlit's secrets hold of it."""
        return AUTH.replace(RETURNS_TO, self._returns_to).replace(ISSUER, self.issuer)

    def _routes(self) -> list[web.RouteDef]:
        return [
            web.get("/.well-known/openid-configuration", self._about),
            web.get("/authorize", self._authorize),
            web.post("/token", self._token),
            web.get("/jwks", self._jwks),
            web.get("/logout", self._logout),
        ]

    async def _about(self, request: web.Request) -> web.Response:
        paths = {"authorization_endpoint": "authorize", "token_endpoint": "token", "jwks_uri": "jwks"}
        told = {name: f"{self.issuer}/{path}" for name, path in {**paths, "end_session_endpoint": "logout"}.items()}
        can = {"response_types": ["code"], "subject_types": ["public"], "code_challenge_methods": ["S256"]}
        can["id_token_signing_alg_values"] = ["RS256"]
        return web.json_response({"issuer": self.issuer, **told, **{f"{name}_supported": can[name] for name in can}})

    async def _authorize(self, request: web.Request) -> web.Response:
        asked = dict(request.query)
        if (asked.get("client_id"), asked.get("redirect_uri")) != (CLIENT, self._returns_to):
            return self._refuse("another client, or another address to return to")
        who = asked.pop("as", "")
        if who not in self._people:
            links = [f'<p><a href="/authorize?{urlencode({**asked, "as": one})}">{one}</a></p>' for one in self._people]
            return web.Response(text=f"<h1>Who are you?</h1>{''.join(links)}", content_type="text/html")
        code = secrets.token_urlsafe()
        self._codes[code] = who, asked
        raise web.HTTPFound(f"{self._returns_to}?{urlencode({'code': code, 'state': asked.get('state', '')})}")

    async def _token(self, request: web.Request) -> web.Response:
        form = await request.post()
        given = base64.b64encode(f"{CLIENT}:{SECRET}".encode()).decode()
        if request.headers.get("Authorization") != f"Basic {given}" and form.get("client_secret") != SECRET:
            return self._refuse("the client did not say its secret")
        who, asked = self._codes.pop(str(form.get("code")), ("", {}))
        if not who or form.get("redirect_uri") != asked["redirect_uri"]:
            return self._refuse("a code that was not given out, or was used before")
        proof = base64.urlsafe_b64encode(hashlib.sha256(str(form.get("code_verifier")).encode()).digest())
        if asked.get("code_challenge") != proof.rstrip(b"=").decode():
            return self._refuse("the client did not prove that it asked for this code")
        now = int(time.time())
        claims = {"iss": self.issuer, "aud": CLIENT, "iat": now, "exp": now + 600, "nonce": asked.get("nonce")}
        token = jwt.encode({"alg": "RS256", "kid": "1"}, {**claims, **self._people[who]}, self._key)
        return web.json_response({"access_token": "x", "token_type": "Bearer", "expires_in": 600, "id_token": token})

    async def _jwks(self, request: web.Request) -> web.Response:
        return web.json_response(KeySet([self._key]).as_dict(private=False))

    async def _logout(self, request: web.Request) -> web.Response:
        raise web.HTTPFound(request.query["post_logout_redirect_uri"])

    def _refuse(self, why: str) -> web.Response:
        self.refused.append(why)
        return web.Response(status=400, text=why)
