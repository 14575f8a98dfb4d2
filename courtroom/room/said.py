"""Search in what was said, over all runs."""

import json
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice

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
    return list(islice(_found(database, words), most)) if words else []


def _found(database: Database, words: str) -> Iterator[Said]:
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
    for row in rows:
        with suppress(Unreadable):  # the run's own page says what is damaged
            call = read_event(row["run"], row["body"])
            assert isinstance(call, Called)
            texts = [part.text for part in spoken(call.value or {}).parts]
            text = next((text for text in texts if words.casefold() in text.casefold()), None)
            if text is not None:
                yield _said(row["run"], row["title"], call, text, words)


def _said(run: str, title: str, call: Called, text: str, words: str) -> Said:
    place = text.casefold().find(words.casefold())
    end = place + len(words)
    return Said(
        run=run,
        title=title,
        path=call.path,
        member=call.member,
        question=call.title,
        before=text[max(0, place - AROUND_CHARACTERS) : place],
        words=text[place:end],
        after=text[end : end + AROUND_CHARACTERS],
    )
