"""A server with a page open watches no folder."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

from playwright.sync_api import Browser, expect

from tests.app_server import app_server


def test_a_server_with_a_page_open_watches_no_folder(browser: Browser, tmp_path: Path) -> None:
    with app_server(tmp_path) as server:
        page = browser.new_page()
        page.goto(server.url)
        expect(page.get_by_role("heading", name="Courtroom")).to_be_visible()
        assert not _watches(server.pid)
        page.close()


def _watches(process: int) -> int:
    """How many of Linux's watches on files a process holds."""
    found = 0
    for link in Path(f"/proc/{process}/fd").iterdir():
        with suppress(FileNotFoundError):
            if os.readlink(link) == "anon_inode:inotify":
                found += Path(f"/proc/{process}/fdinfo/{link.name}").read_text().count("inotify ")
    return found
