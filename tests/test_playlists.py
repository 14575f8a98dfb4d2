"""Playlists: moments of runs in an order, kept, edited, exported, imported, and played."""

from __future__ import annotations

import json
from collections.abc import Iterator
from pathlib import Path

import pytest
import streamlit as st
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.playlists import MOST, NoSuchPlaylist, Playlist, PlaylistRefused, Stop, imported
from pages.parts.live.room_view import KEEP
from tests.test_pages import NASTY, texts

ROOT = Path(__file__).parents[1]


@pytest.fixture
def house(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Courthouse]:
    """The very courthouse that the pages use."""
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    monkeypatch.chdir(ROOT)
    st.cache_resource.clear()
    from pages.parts.shared.house import courthouse

    house = courthouse()
    yield house
    house.close()
    st.cache_resource.clear()


def hear(house: Courthouse) -> str:
    setup = CyberJurorsSetup(jury_size=2, examination="shared", rounds=1)
    run = house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)
    house.runner.go(run)
    house.runner.wait(run, 30)
    return run


def opened(**query: str) -> AppTest:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app.run()
    app.switch_page("pages/playlists.py")
    for name, value in query.items():
        app.query_params[name] = value
    app.run()
    assert not app.exception, app.exception
    return app


def played(app: AppTest) -> dict[str, object]:
    """The moment that the room shows."""
    (component,) = [one for one in app.get("bidi_component") if "room" in one.proto.component_name]
    data = json.loads(component.proto.bytes.splitlines()[0])
    assert isinstance(data["stop"], dict)
    return dict(data["stop"])


def order(playlist: Playlist) -> list[int]:
    return [stop.at for stop in playlist.stops]


def test_a_playlist_is_kept_put_in_order_exported_and_imported(house: Courthouse) -> None:
    of = house.playlists.add(Playlist(name="A talk", stops=tuple(Stop(run="r", at=at) for at in range(3))))
    house.playlists.append(of, Stop(run="r", at=9, note="Look."))
    kept = house.playlists.one(of)
    assert order(kept) == [0, 1, 2, 9]
    assert order(kept.moved(3, -1)) == [0, 1, 9, 2]
    assert order(kept.moved(0, -1)) == order(kept.moved(3, 1)) == order(kept)
    assert order(kept.without(1)) == [0, 2, 9]
    assert kept.noted(0, " a\n b ").stops[0].note == "a b"
    assert imported(kept.exported().encode()) == kept
    house.playlists.put(of, Playlist(name="Full", stops=(Stop(run="r", at=0),) * MOST))
    with pytest.raises(PlaylistRefused, match="Begin another"):
        house.playlists.append(of, Stop(run="r", at=0))
    house.playlists.delete(of)
    assert house.playlists.names() == {}
    with pytest.raises(NoSuchPlaylist):
        house.playlists.one(of)


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"[]",
        b"\xff\xfe",
        b'{"name": "x"} trailing',
        b"[" * 100_000,
        b'{"format": "courtroom-run-1", "name": "x"}',
        b'{"name": "x", "stops": [{"run": "r", "at": -1}]}',
        b'{"name": "", "stops": []}',
        json.dumps({"name": "x", "stops": [{"run": "r", "at": 0}] * (MOST + 1)}).encode(),
    ],
    ids=lambda data: str(data[:30]),
)
def test_a_file_that_holds_no_playlist_is_refused(data: bytes) -> None:
    with pytest.raises(PlaylistRefused, match="holds no playlist"):
        imported(data)


def test_a_playlist_is_played_edited_and_brought_back_on_its_page(house: Courthouse) -> None:
    run = hear(house)
    stops = (Stop(run=run, at=2, title=NASTY, note=NASTY), Stop(run="gone", at=1), Stop(run=run, at=5))
    of = house.playlists.add(Playlist(name=NASTY, stops=stops))
    assert "<script>" not in texts(opened())
    app = opened(playlist=of)
    assert "<script>" not in texts(app)
    app.button(key="play").click().run()
    assert not app.exception
    assert (played(app)["at"], played(app)["place"], played(app)["count"], played(app)["note"]) == (2, 0, 3, NASTY)
    gone = opened(playlist=of, stop="2")
    assert "not there any more" in texts(gone)
    next(button for button in gone.button if button.label == "The next moment").click().run()
    assert played(gone)["at"] == 5
    for wrong in ("0", "99999", "-1", "x", "٣"):
        opened(playlist=of, stop=wrong)
    edited = opened(playlist=of)
    edited.button(key="down-0").click().run()
    assert [stop.run for stop in house.playlists.one(of).stops] == ["gone", run, run]
    edited.button(key="out-0").click().run()
    assert len(house.playlists.one(of).stops) == 2
    edited.button(key="undo-playlist").click().run()
    assert len(house.playlists.one(of).stops) == 3
    edited.button(key="delete-playlist").click().run()
    assert house.playlists.names() == {}
    edited.button(key="undo-playlist").click().run()
    assert house.playlists.names() == {of: NASTY}
    assert "no playlist at this address" in texts(opened(playlist="x" * 10_000))


def test_a_moment_of_the_room_is_put_into_a_new_playlist(house: Courthouse) -> None:
    run = hear(house)
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app.query_params["run"] = run
    app.session_state["run"] = run
    app.run()
    app.session_state[KEEP] = (run, 3)
    app.switch_page("pages/deliberation.py").run()
    assert not app.exception, app.exception
    app.text_input(key="playlist-name").set_value("For the board")
    app.text_input(key="playlist-note").set_value("Here it turns.")
    app.session_state[KEEP] = (run, 3)  # in a browser the dialog is drawn alone, and stays open
    app.button(key="add-moment").click().run()
    assert not app.exception, app.exception
    ((of, name),) = house.playlists.names().items()
    assert name == "For the board"
    (stop,) = house.playlists.one(of).stops
    assert (stop.run, stop.at, stop.note) == (run, 3, "Here it turns.")
    assert house.record(run).run.title in stop.title
