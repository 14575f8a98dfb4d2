"""Search in what was said, over all runs."""

import json
from collections.abc import Iterator
from dataclasses import dataclass

from courtroom.access import acting_account
from courtroom.engine.events import Called, read_event
from courtroom.errors import Unreadable
from courtroom.room.scene import spoken
from courtroom.sharing import listed
from courtroom.store.database import Database

AROUND_CHARACTERS = 110
"""So much of a statement is shown on each side of what was searched for."""


@dataclass(frozen=True)
class Said:
    """An answer in which the words stand."""

    run: str
    title: str
    """Of the case that was heard."""
    path: str
    """Of the call."""
    member: str
    question: str
    before: str
    words: str
    after: str


def search_said(database: Database, words: str, most: int) -> list[Said]:
    """Return the answers of all runs that may be seen in which these words stand, of the newest run first.

    Args:
        words: as they were said, capitals apart; blanks at both ends are left out.
        most: so many are returned.
    """
    words = words.strip()
    found: list[Said] = []
    for row in _rows(database, words) if words else ():
        try:
            event = read_event(row[0], row[2])
        except Unreadable:
            continue  # the run's own page says what is damaged
        if isinstance(event, Called) and event.value and (said := _found(row[0], row[1], event, words)):
            found.append(said)
            if len(found) == most:
                break
    return found


def _rows(database: Database, words: str) -> Iterator[tuple[str, str, str]]:
    fits, values = listed("run", "runs.id")
    person = acting_account()
    rows = database.each(
        "SELECT events.run AS run, runs.title AS title, events.body AS body"
        " FROM events JOIN runs ON runs.id = events.run"
        " WHERE events.kind = 'call' AND events.overtaken = 0 AND instr(folded(events.body), folded(:words)) > 0"
        f" AND {fits} ORDER BY runs.number DESC, events.seq",
        {
            "words": json.dumps(words, ensure_ascii=False)[1:-1].casefold(),
            **({"me": person.id} if person else {}),
            **values,
        },
    )
    return ((row["run"], row["title"], row["body"]) for row in rows)


def _found(run: str, title: str, call: Called, words: str) -> Said | None:
    for part in spoken(call.value or {}).parts:
        place = part.text.casefold().find(words.casefold())
        if place >= 0:
            end = place + len(words)
            return Said(
                run=run,
                title=title,
                path=call.path,
                member=call.member,
                question=call.title,
                before=part.text[max(0, place - AROUND_CHARACTERS) : place],
                words=part.text[place:end],
                after=part.text[end : end + AROUND_CHARACTERS],
            )
    return None
