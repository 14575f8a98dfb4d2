"""Playlists: a few moments of runs in an order, with a sentence on each, for a talk."""

from __future__ import annotations

import secrets
import time
from typing import Literal

from pydantic import Field, ValidationError

from courtroom.access.account import Access, Resource
from courtroom.access.acting import needs
from courtroom.errors import CourtroomError
from courtroom.sharing.actions import changing, note
from courtroom.sharing.rules import listed, may_see, take
from courtroom.store.database import Database
from courtroom.store.rows import read
from courtroom.strict import Strict

MOST = 200
"""Moments of one playlist."""


class NoSuchPlaylist(CourtroomError):
    """An id that no playlist has."""


class PlaylistRefused(CourtroomError):
    """A file that holds no playlist, or a change that does not fit."""


class Stop(Strict):
    """One moment of one run."""

    run: str = Field(min_length=1, max_length=80)
    at: int = Field(ge=0, description="Its place among the moments of the run's scene, from 0.")
    title: str = Field(default="", max_length=300)
    """What the run is called, and what happens there."""
    note: str = Field(default="", max_length=500)


class Playlist(Strict):
    """A name and moments in their order."""

    format: Literal["courtroom-playlist-1"] = "courtroom-playlist-1"
    name: str = Field(min_length=1, max_length=120)
    stops: tuple[Stop, ...] = Field(default=(), max_length=MOST)

    def moved(self, place: int, by: int) -> Playlist:
        """The playlist with one moment so many places further; at an end it stays there."""
        stops = list(self.stops)
        one = stops.pop(place)
        stops.insert(max(0, min(len(stops), place + by)), one)
        return self.model_copy(update={"stops": tuple(stops)})

    def without(self, place: int) -> Playlist:
        """The playlist without one moment."""
        return self.model_copy(update={"stops": self.stops[:place] + self.stops[place + 1 :]})

    def noted(self, place: int, note: str) -> Playlist:
        """The playlist with another note on a moment."""
        one = self.stops[place].model_copy(update={"note": " ".join(note.split())[:500]})
        return self.model_copy(update={"stops": (*self.stops[:place], one, *self.stops[place + 1 :])})

    def exported(self) -> str:
        """As a JSON file."""
        return self.model_dump_json(indent=1)


class PlaylistStore:
    """Reads and writes playlists by id. Methods may be called from any thread."""

    def __init__(self, database: Database) -> None:
        self._database = database

    @needs(Access.RUN)
    def add(self, playlist: Playlist) -> str:
        """Keep a new one; its id can't be guessed."""
        made = secrets.token_urlsafe(9)
        self.put(made, playlist)
        return made

    @needs(Access.RUN)
    def put(self, playlist_id: str, playlist: Playlist) -> None:
        """Keep a playlist under its id; also one that was deleted."""
        with self._database.transaction() as db:
            if db.execute("SELECT 1 FROM playlists WHERE id = ?", (playlist_id,)).fetchone():
                changing(self._database, "change", _named(playlist_id))
            else:
                take(self._database, _named(playlist_id))
                note(self._database, "make", _named(playlist_id))
            db.execute(
                "INSERT INTO playlists (id, body, made) VALUES (?, ?, ?)"
                " ON CONFLICT (id) DO UPDATE SET body = excluded.body",
                (playlist_id, playlist.model_dump_json(), time.time()),
            )

    @needs(Access.RUN)
    def append(self, playlist_id: str, stop: Stop) -> None:
        """Put a moment at the end of a playlist.

        Raises:
            NoSuchPlaylist: there is none of this id.
            PlaylistRefused: it is full.
        """
        with self._database.transaction():
            playlist = self.one(playlist_id)
            if len(playlist.stops) >= MOST:
                raise PlaylistRefused(f"This playlist has {MOST} moments already. Begin another.")
            self.put(playlist_id, playlist.model_copy(update={"stops": (*playlist.stops, stop)}))

    def one(self, playlist_id: str) -> Playlist:
        """A playlist.

        Raises:
            NoSuchPlaylist: there is none of this id.
            Unreadable: its row is damaged.
        """
        row = self._database.connection.execute("SELECT body FROM playlists WHERE id = ?", (playlist_id,)).fetchone()
        if row is None or not may_see(self._database, _named(playlist_id)):
            raise NoSuchPlaylist("There is no playlist at this address; it may have been deleted.")
        return read_playlist(playlist_id, row["body"])

    def names(self) -> dict[str, str]:
        """Names of all playlists by id, the oldest first; one that can't be read is left out (the doctor finds it)."""
        fits, values = listed("playlist", "playlists.id")
        rows = self._database.connection.execute(
            "SELECT id, json_extract(body, '$.name') AS name FROM playlists"
            f" WHERE json_valid(body) AND {fits} ORDER BY made, id",
            values,
        )
        return {row["id"]: row["name"] for row in rows if isinstance(row["name"], str)}

    @needs(Access.RUN)
    def delete(self, playlist_id: str) -> None:
        """Forget a playlist; `put` brings it back."""
        with self._database.transaction() as db:
            changing(self._database, "delete", _named(playlist_id))
            db.execute("DELETE FROM playlists WHERE id = ?", (playlist_id,))


def _named(playlist_id: str) -> Resource:
    return Resource(kind="playlist", id=playlist_id)


def imported(data: bytes) -> Playlist:
    """A playlist from a JSON file.

    Raises:
        PlaylistRefused: the file holds none.
    """
    try:
        return Playlist.model_validate_json(data)
    except (ValidationError, ValueError) as error:
        raise PlaylistRefused(
            "This file holds no playlist. Choose a JSON file that was exported from a playlist."
        ) from error


def read_playlist(playlist_id: str, body: str) -> Playlist:
    """A playlist from its row.

    Raises:
        Unreadable: the row is damaged.
    """
    return read("playlist", playlist_id, lambda: Playlist.model_validate_json(body))
