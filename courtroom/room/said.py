"""Search in what was said, over all runs."""

import json
from dataclasses import dataclass
from itertools import islice

from courtroom.engine.events import Called, read_event
from courtroom.errors import Unreadable
from courtroom.room.scene import spoken
from courtroom.sharing import listed
from courtroom.store.connection import StoredRow
from courtroom.store.database import Database

AROUND_CHARACTERS = 110
"""So much of a statement is shown on each side of what was searched for."""


@dataclass(frozen=True)
class Said:
    """An answer in which the words stand."""

    run: str
    title: str
    """Of the case that was heard."""
    call: Called
    before: str
    words: str
    after: str


def search_said(database: Database, words: str, most: int) -> list[Said]:
    """Return answers of all runs that may be seen with these words, in capitals or not; of the newest run first."""
    if not (words := words.strip()):
        return []
    fits, values = listed("run", "runs.id")
    searched = json.dumps(words, ensure_ascii=False)[1:-1].casefold()  # as it stands in an event
    rows = database.each(
        "SELECT events.run AS run, runs.title AS title, events.body AS body"
        " FROM events JOIN runs ON runs.id = events.run"
        " WHERE events.kind = 'call' AND events.overtaken = 0 AND instr(folded(events.body), folded(:words)) > 0"
        f" AND {fits} ORDER BY runs.number DESC, events.seq",
        {"words": searched, **values},
    )
    return list(islice(filter(None, (_said(row, words) for row in rows)), most))


def _said(row: StoredRow, words: str) -> Said | None:
    """An answer with the words where they stand in it; None where they do not, as in the name of a field."""
    try:
        call = read_event(row["run"], row["body"])
    except Unreadable:
        return None  # the run's own page says what is damaged
    assert isinstance(call, Called)
    for text in (part.text for part in spoken(call.value or {}).parts):
        if (place := text.casefold().find(words.casefold())) >= 0:
            end = place + len(words)
            around = text[max(0, place - AROUND_CHARACTERS) : place], text[end : end + AROUND_CHARACTERS]
            return Said(row["run"], row["title"], call, around[0], text[place:end], around[1])
    return None
