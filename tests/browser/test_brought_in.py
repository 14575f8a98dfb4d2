"""SVG and HTML in files of strangers, in a real browser: refused, or shown as pictures and text; nothing of it runs."""

import asyncio
import json
import re
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import pytest
from playwright.sync_api import Browser, Page, expect
from starlette.responses import Response
from starlette.types import ASGIApp

from courtroom import Courthouse, CourtroomError
from courtroom.cases.files import read_upload
from pages.parts.shared.protocol import with_headers
from tests.attacks.test_files import dispute, photo, zipped
from tests.browser.site import Site
from tests.browser.test_hearing import settled
from tests.pictures import clip, png

ELSEWHERE = "http://canary.example"
RUNS = f"document.documentElement.setAttribute('ran', 'yes'); new Image().src = '{ELSEWHERE}/ran'"
HTML = f'<html><body onload="{RUNS}"><script>{RUNS}</script><img src=x: onerror="{RUNS}"></body></html>'
SVG = (
    f'<svg xmlns="http://www.w3.org/2000/svg" width="9" height="9" onload="{RUNS}"><script>{RUNS}</script>'
    f'<image href="{ELSEWHERE}/svg.png" width="9" height="9"/><foreignObject>{HTML}</foreignObject></svg>'
)
REFUSED = {
    "photo.svg": SVG.encode(),
    "photo.html": HTML.encode(),
    "photo.xhtml": f'<?xml version="1.0"?>{SVG}'.encode(),
    "photo.png": SVG.encode(),
    "photo.jpg": HTML.encode(),
    "photo.gif": b"GIF89a/*" + HTML.encode() + b"*/",
}
"""No picture that can be decoded, whatever it is named."""

RAN = "document.documentElement.getAttribute('ran')"
SCRIPT = "<script>document.documentElement.setAttribute('ran', 'yes')</script>"
OPENED = {
    "image/svg+xml": f'<svg xmlns="http://www.w3.org/2000/svg">{SCRIPT}</svg>',
    "text/html": f"<p>A file</p><img src='data:,' onerror=\"document.documentElement.setAttribute('ran', 'yes')\">{SCRIPT}",
    "application/xhtml+xml": f'<html xmlns="http://www.w3.org/1999/xhtml"><body>{SCRIPT}</body></html>',
}


def piece(name: str, number: int) -> dict[str, Any]:
    kind = "video" if name.endswith("mp4") else "image"
    media = [{"id": f"m{number}", "kind": kind, "file": name, "description": HTML}]
    return {**photo("photo.png"), "id": f"buyer-{number}", "text": SVG, "media": media}


def test_what_is_no_picture_is_refused_and_not_kept(house: Courthouse) -> None:
    before = house.media.names()
    for name, content in REFUSED.items():
        source = zipped(("case.json", json.dumps(dispute(evidence=[piece(name, 1)])).encode()), (name, content))
        with pytest.raises(CourtroomError, match=rf"^.*{re.escape(name)}.*\Z"):  # one line
            house.library.add(*read_upload("a.zip", source))
    assert house.media.names() == before
    assert not [one for one in house.library.cases() if one.id == "kettle"]


def watched(page: Page, own: str) -> list[str]:
    """What a page asks for beside the app's own, and dialogs."""
    seen, ours = list[str](), (f"{own}/", "data:", "blob:", "about:")
    page.on("request", lambda request: request.url.startswith(ours) or seen.append(request.url))
    page.on("dialog", lambda dialog: (seen.append(dialog.message), dialog.dismiss()))
    return seen


def test_a_page_behind_a_picture_does_not_run(site: Site, page: Page, browser: Browser, tmp_path: Path) -> None:
    """Behind a real picture and a real video, which are shown."""
    whole = {"a.png": png((30, 20)), "b.mp4": clip(tmp_path / "b.mp4").read_bytes()}
    files = {name: data + HTML.encode() for name, data in whole.items()}
    case = dispute(evidence=[piece(name, number) for number, name in enumerate(files)])
    (tmp_path / "case.zip").write_bytes(zipped(("case.json", json.dumps(case).encode()), *files.items()))
    seen = watched(page, site.url)
    page.goto(site.url)
    settled(page)
    page.get_by_role("radio", name="Upload a case").click()
    settled(page)
    page.locator('input[type="file"]').nth(1).set_input_files(tmp_path / "case.zip")
    settled(page)
    page.get_by_role("button", name="Import", exact=True).first.click()
    expect(page.get_by_text("Imported: A kettle", exact=False)).to_be_visible()
    page.goto(f"{site.url}/?case=kettle")
    expect(page.locator('img[src*="/media/"]').first).to_be_visible()
    expect(page.locator('video[src*="/media/"]').first).to_be_attached()
    expect(page.get_by_text("foreignObject", exact=False).first).to_be_visible()
    assert (page.evaluate(RAN), seen) == (None, [])
    addresses = [page.locator(f'{kind}[src*="/media/"]').first.evaluate("one => one.src") for kind in ("img", "video")]
    for address in addresses:
        shown = browser.new_page()  # the first one stays: what it shows is given while it is open
        seen = watched(shown, site.url)
        assert shown.goto(address).ok
        assert (shown.evaluate(RAN), seen) == (None, [])
        shown.close()


async def asked_for(app: ASGIApp, address: str) -> httpx.Response:
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app)) as client:
        return await client.get(address)


def test_nothing_runs_in_a_file_that_is_opened_by_its_address(page: Page) -> None:
    """With the headers that the app gives to files of cases, and to no others."""
    for place, ran in (("other", "yes"), ("media", None)):
        for number, (kind, text) in enumerate(OPENED.items()):
            address = f"http://files.example/{place}/{number}"
            with ThreadPoolExecutor() as elsewhere:  # in this thread Playwright's loop runs
                given = elsewhere.submit(asyncio.run, asked_for(with_headers(Response(text, media_type=kind)), address))
            found = {"headers": dict(given.result().headers), "body": given.result().content}
            page.route(address, lambda route, _, found=found: route.fulfill(**found))
            page.goto(address)
            assert page.evaluate(RAN) == ran, (place, kind)
    page.unroute_all()
    page.goto("about:blank")
