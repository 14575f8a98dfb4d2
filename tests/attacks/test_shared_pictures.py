"""A picture that several people bring in at once stays with whoever has a case of it, whatever becomes of the others."""

import os
import sqlite3
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from courtroom import Case, Courthouse, CourtroomError
from courtroom.cases.files import Package, read_folder
from courtroom.cases.library import Library
from courtroom.datasets.row import Row
from courtroom.media.store import IDLE_S
from courtroom.settings import DATA, Settings
from courtroom.upkeep.doctor import examine
from tests.pictures import png

LOCKED = sqlite3.OperationalError("database is locked")
LOCKED.sqlite_errorcode = sqlite3.SQLITE_BUSY


@pytest.fixture(params=["folder", "another folder", "storage"])
def settings(request: pytest.FixtureRequest, tmp_path: Path) -> Settings:
    (tmp_path / "bucket").mkdir()
    media = {"another folder": f"file://{tmp_path / 'media'}", "storage": f"local://{tmp_path / 'bucket'}"}
    return Settings(home=tmp_path / "home", media=media.get(request.param, ""))


@pytest.fixture
def houses(settings: Settings) -> Iterator[tuple[Courthouse, Courthouse]]:
    """Two servers of one store."""
    with closing(Courthouse(settings)) as one, closing(Courthouse(settings)) as other:
        yield one, other


def package(title: str) -> Package:
    """A case with a picture that no sample has."""
    found = read_folder(DATA / "cases" / "sneakers-worn")
    files = dict.fromkeys(found.files, png((90, 60)))
    return Package(found.case.model_copy(update={"id": title.lower(), "title": title}), files)


def wrong(settings: Settings) -> list[str]:
    return [one.sentence for one in examine(settings) if one.state == "wrong"]


def test_a_failed_upload_takes_no_picture_from_anothers_case(
    houses: tuple[Courthouse, Courthouse], settings: Settings, monkeypatch: pytest.MonkeyPatch
) -> None:
    one, other = houses
    keep = Library._keep
    added: list[Case] = []

    def meanwhile(library: Library, case: Case, action: Any) -> Case:
        if library is not one.library:
            return keep(library, case, action)
        added.append(other.library.add(package("Other")))
        raise LOCKED

    monkeypatch.setattr(Library, "_keep", meanwhile)
    with pytest.raises(CourtroomError, match="has locked the store"):
        one.library.add(package("One"))
    for house in houses:
        for medium in other.library.case(added[0].id).media():
            assert house.media.path(medium.sha256 or "").is_file()
    assert wrong(settings) == []


def test_what_no_case_came_to_need_is_set_aside_after_a_day(tmp_path: Path) -> None:
    settings = Settings(home=tmp_path)
    with closing(Courthouse(settings)) as house:
        young, idle, named = (f"{house.media.take(png((90, side)), 'a.png')}.png" for side in (61, 62, 63))
        case = house.library.case("sneakers-worn")
        medium = next(iter(case.media()))
        row = case.model_copy(update={"id": "row"})
        kept = house.media.keep({medium.file: png((90, 63))})
        house.datasets.add("mine", [Row(id="row", case=row.with_media(kept))])
        for name in (idle, named):
            os.utime(house.media.folder / name, (time.time() - IDLE_S - 60,) * 2)
        assert "--mend sets them aside" in media_of(settings, mend=False)[0]
        assert "1 files that no case needs" in media_of(settings, mend=True)[0]
        assert (house.media.folder / "unused" / idle).is_file()
        assert {young, named} <= {*house.media.names()}
        assert idle not in house.media.names()


def media_of(settings: Settings, *, mend: bool) -> list[str]:
    return [one.sentence for one in examine(settings, mend=mend) if one.about == "media"]
