"""The servers that the environment names: whether each answers. A key goes only to the address that is set beside it."""

from __future__ import annotations

import os
from collections.abc import Iterator, Mapping
from urllib.parse import urlsplit

from courtroom.settings import Settings
from courtroom.upkeep.doctor.result import CheckResult, fine, wrong

WAIT_S = 3.0
ENDINGS = ("_API_BASE", "_BASE_URL")


def reachable(settings: Settings, environment: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """One GET to each; nothing is asked of a model, and no redirect is followed."""
    addresses = {
        name: value.strip()
        for name, value in sorted(environment.items())
        if name.endswith(ENDINGS) and value.strip().startswith(("http://", "https://"))
    }
    for name, base in addresses.items():
        provider = next(name.removesuffix(ending) for ending in ENDINGS if name.endswith(ending))
        key = environment.get(f"{provider}_API_KEY", "").strip()
        listing = "/api/tags" if provider == "OLLAMA" else "/models"
        yield _asked(name, base.rstrip("/") + listing, {"Authorization": f"Bearer {key}"} if key else {})
    if settings.chroma_host:
        yield _asked(
            "COURTROOM_CHROMA_HOST", f"http://{settings.chroma_host}:{settings.chroma_port}/api/v2/heartbeat", {}
        )
    if not addresses and not settings.chroma_host:
        yield fine("servers", "The environment names none; the offline model needs none.")


def _asked(name: str, url: str, headers: Mapping[str, str]) -> CheckResult:
    import httpx  # only for whoever asks the doctor

    shown = _without_password(url)
    try:
        status = httpx.get(url, headers=dict(headers), timeout=WAIT_S, follow_redirects=False).status_code
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        # The library's own words may hold the address with a password in it.
        return wrong(
            f"server: {name}", f"{shown} does not answer ({type(error).__name__}). Start it, or correct {name}."
        )
    if status in (401, 403):
        return wrong(
            f"server: {name}", f"{shown} answers, but refuses the key ({status}). Correct the key set beside {name}."
        )
    if status >= 500:
        return wrong(f"server: {name}", f"{shown} answers with an error ({status}). Look at the server.")
    return fine(f"server: {name}", f"{shown} answers ({status}).")


def _without_password(url: str) -> str:
    try:
        parts = urlsplit(url)
        host = parts.hostname or ""
        at = f"{host}:{parts.port}" if parts.port else host
    except ValueError:
        return "The address"
    return f"{parts.scheme}://{at}{parts.path}"
