"""SVG and HTML that files of strangers bring in, in a real browser: refused, or shown as pictures and text, and nothing of it runs."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser, Page, Request, expect

from courtroom.cases.files import read_upload
from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.settings import Settings
from tests.attacks.test_files import dispute, photo, signed
from tests.full_store import full_store
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


def piece(name: str, number: int) -> dict[str, Any]:
    return {
        **photo("photo.png"),
        "id": f"buyer-{number}",
        "text": SVG,
        "media": [
            {
                "id": f"m{number}",
                "kind": "video" if name.endswith("mp4") else "image",
                "file": name,
                "description": HTML,
            }
        ],
    }


def packed(case: dict[str, Any], files: dict[str, bytes]) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        for name, data in {"case.json": json.dumps(case).encode(), **files}.items():
            archive.writestr(name, data)
    return out.getvalue()


@pytest.mark.parametrize("name", REFUSED)
@pytest.mark.parametrize("way", ["zip", "folder"])
def test_what_is_no_picture_is_refused_in_a_sentence_and_nothing_of_it_is_kept(
    name: str, way: str, tmp_path: Path
) -> None:
    house = Courthouse(Settings(home=tmp_path / "home"))
    case = dispute(evidence=[piece(name, 1)])
    before = house.media.names()
    source: bytes | Path = packed(case, {name: REFUSED[name]})
    if way == "folder":
        source = tmp_path / "case"
        source.mkdir()
        (source / "case.json").write_text(json.dumps(case))
        (source / name).write_bytes(REFUSED[name])
    with pytest.raises(CourtroomError) as caught:
        house.library.add(*read_upload(f"a.{way}", source))
    assert name in str(caught.value)
    assert "\n" not in str(caught.value)
    assert house.media.names() == before
    assert not [one for one in house.library.cases() if one.id == "kettle"]
    house.close()


class Watch:
    """What a page asks for beside the app's own, and dialogs."""

    def __init__(self, page: Page, own: str) -> None:
        self.own, self.seen = own, list[str]()
        page.on("request", self._asked)
        page.on("dialog", lambda dialog: (self.seen.append(dialog.message), dialog.dismiss()))

    def _asked(self, request: Request) -> None:
        if not request.url.startswith((f"{self.own}/", "data:", "blob:", "about:")):
            self.seen.append(request.url)

    def holds(self, page: Page) -> None:
        assert page.evaluate("document.documentElement.getAttribute('ran')") is None
        assert self.seen == []


def test_real_pictures_and_videos_with_a_page_behind_them_are_shown_and_nothing_runs(
    app: str, page: Page, browser: Browser, tmp_path: Path
) -> None:
    url = app
    tail = HTML.encode()
    files = {
        "a.png": png((30, 20)) + tail,
        "b.mp4": clip(tmp_path / "b.mp4").read_bytes() + tail,
    }
    (tmp_path / "case.zip").write_bytes(
        packed(dispute(evidence=[piece(name, n) for n, name in enumerate(files)]), files)
    )
    watch = Watch(page, url)
    page.goto(url)
    page.get_by_role("radio", name="Upload a case").click()
    page.locator('input[type="file"]').first.set_input_files(tmp_path / "case.zip")
    page.get_by_role("button", name="Import", exact=True).first.click()
    expect(page.get_by_text("Imported: A kettle", exact=False)).to_be_visible()
    page.goto(f"{url}/?case=kettle")
    expect(page.locator('img[src*="/media/"]').first).to_be_visible()
    expect(page.locator('video[src*="/media/"]').first).to_be_attached()
    expect(page.get_by_text("foreignObject", exact=False).first).to_be_visible()
    watch.holds(page)
    addresses = [page.locator(f'{kind}[src*="/media/"]').first.evaluate("one => one.src") for kind in ("img", "video")]
    for address in addresses:
        shown = browser.new_page()  # the first one stays: what it shows is given while it is open
        opened = Watch(shown, url)
        answer = shown.goto(address)
        assert answer is not None
        assert answer.ok
        opened.holds(shown)
        shown.close()


def test_a_run_file_whose_case_is_svg_and_html_is_shown_as_text(app: str, page: Page, tmp_path: Path) -> None:
    url = app
    house = Courthouse(Settings(home=full_store()[0]))
    document = json.loads(house.files.export(full_store()[1])[1])
    house.close()
    case = document["case"]
    case["title"] = document["run"]["title"] = SVG[:190]
    case["evidence"][0]["text"] = SVG
    case["evidence"][0]["media"] = [
        {"id": "m", "kind": "image", "file": "x.svg", "sha256": "a" * 64, "description": HTML}
    ]
    document["run"]["case_hash"] = parse_case(case).content_hash()
    document["run"]["id"] = "brought-in"
    document["run"]["reason"] = HTML
    (tmp_path / "run.json").write_bytes(signed(document))
    watch = Watch(page, url)
    page.goto(f"{url}/runs")
    page.get_by_test_id("stPopoverButton").filter(has_text="Import run").click()
    page.locator('input[type="file"]').set_input_files(tmp_path / "run.json")
    page.get_by_test_id("stPopoverBody").get_by_role("button", name="Import", exact=True).click()
    page.wait_for_url("**/deliberation?run=brought-in*")
    expect(page.get_by_text("onload", exact=False).first).to_be_visible()
    watch.holds(page)
    page.goto(f"{url}/runs")
    expect(page.get_by_text("Import run")).to_be_visible()
    watch.holds(page)
