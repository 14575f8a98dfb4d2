"""The rows of the store: whether each can be read, and belongs to something."""

import json
import os
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import partial
from pathlib import Path
from typing import Any

from courtroom.accounts import KnownAccount
from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.datasets.row import parsed
from courtroom.engine.answers import read_answer
from courtroom.engine.events import EVENT
from courtroom.engine.interventions import Intervention
from courtroom.engine.people import question
from courtroom.engine.store import OF_A_RUN
from courtroom.errors import NotInstalled, Unreadable
from courtroom.knowledge.lessons import taught
from courtroom.models.request import digest_text
from courtroom.models.spec import RECORDED
from courtroom.questions.asides import read_aside
from courtroom.questions.audience import Audience, AudienceArgument, AudienceVote, Like
from courtroom.questions.marks import read_mark
from courtroom.store.connection import StoredRow, fitting, read
from courtroom.upkeep.health import CheckResult, Progress, fine, mended, wrong

Row = Mapping[str, Any]
STEP = 1_000
SHOWN = 10


def _run(house: Courthouse, row: Row) -> object:
    run = house.store.run(row["id"])
    house.store.case(run)
    if run.procedure not in house.procedures:
        raise NotInstalled(f"its procedure “{run.procedure}” is not installed here")
    return house.store.setup(run.id, house.procedures[run.procedure].setup)


def _part(house: Courthouse, row: Row) -> object:
    if digest_text(row["text"]) != row["hash"]:
        raise ValueError("its text is not the one that was kept")
    return row


def _state(house: Courthouse, row: Row) -> object:
    return row["body"] and house.knowledge.kept_under(row["collection"]).parse(row["body"])


# Cases before the runs that hear them: a run whose case was set aside can't be read either.
READERS: Mapping[str, tuple[str, Callable[[Courthouse, Row], object]]] = {
    "snapshots": ("hash", lambda house, row: parse_case(json.loads(row["body"]))),
    "runs": ("id", _run),
    "events": ("run", lambda house, row: EVENT.validate_json(row["body"], context=RECORDED)),
    "interventions": ("run", lambda house, row: Intervention.model_validate_json(row["body"], context=RECORDED)),
    "questions": ("run", lambda house, row: question(row)),
    "asides": ("run", lambda house, row: read_aside(row["run"], row["body"])),
    "marks": ("run", lambda house, row: read_mark(row["run"], row["body"])),
    "audiences": ("run", lambda house, row: fitting(Audience, row)),
    "audience_votes": ("run", lambda house, row: fitting(AudienceVote, row)),
    "audience_arguments": ("run", lambda house, row: fitting(AudienceArgument, row)),
    "audience_likes": ("run", lambda house, row: fitting(Like, row)),
    "parts": ("hash", _part),
    "answers": ("key", lambda house, row: read_answer(row)),
    "imported_answers": ("run", lambda house, row: read_answer(row)),
    "accounts": ("id", lambda house, row: fitting(KnownAccount, row)),
    "panels": ("name", lambda house, row: house.panels.load(row["name"])),
    "cases": ("id", lambda house, row: house.library.case(row["id"])),
    "setups": ("name", lambda house, row: house.setups.load(row["name"])),
    "knowledge": ("id", lambda house, row: house.knowledge.kept_under(row["collection"]).parse(row["body"])),
    "lessons": ("seq", lambda house, row: taught(row)),
    "memory_states": ("id", _state),
    "memory_snapshots": ("name", lambda house, row: house.knowledge.snapshots.named(row["name"])),
    "experiments": ("id", lambda house, row: house.experiments.store.experiment(row["id"])),
    "dataset_rows": ("id", lambda house, row: parsed(row["body"])),
}
"""Of each table: the column that names a row, and how a row is read."""


def readable(house: Courthouse, mend: bool, progress: Progress) -> Iterator[CheckResult]:
    """Each row is read as the app reads it; what can't be is set aside in a JSON file beside the store."""
    for table, (name, parse) in READERS.items():
        count, bad, away = 0, list[tuple[StoredRow, Unreadable]](), list[tuple[StoredRow, Unreadable]]()
        for row in house.database.each(f"SELECT {house.database.row_key} AS rowid_, * FROM {table}"):
            if count % STEP == 0:
                progress(f"rows: {table}", count)
            count += 1
            try:
                read(table, row[name], partial(parse, house, _plain(row)))
            except Unreadable as error:
                (away if isinstance(error.__cause__, NotInstalled) else bad).append((row, error))
        if away:
            needs = f"{len(away)} of {count:,} need a package that is not installed here ({_listed(away)}). "
            yield wrong(f"rows: {table}", f"{needs}Install it, or delete them; --mend leaves them as they are.")
        elif not bad:
            yield fine(f"rows: {table}", f"All {count:,} can be read.")
        if not bad:
            continue
        text = _listed(bad)
        if not mend:
            said = f"{len(bad)} of {count:,} can't be read ({text}). "
            yield wrong(f"rows: {table}", f"{said}Use --mend to set them aside, or put a backup in place.")
            continue
        aside = [(table, row, str(error.why)) for row, error in bad]
        if table == "runs":
            events = f"SELECT {house.database.row_key} AS rowid_, * FROM events WHERE run = ?"
            for run, _ in bad:
                rows = house.database.execute(events, (run["id"],))
                aside += [("events", row, "its run was set aside") for row in rows]
        to = set_aside(house, aside)
        yield mended(f"rows: {table}", f"{len(bad)} of {count:,} could not be read ({text}); they are in {to} now.")


def _listed(bad: Sequence[tuple[StoredRow, Unreadable]]) -> str:
    text = "; ".join(f"{error.name}: {error.why}" for _, error in bad[:SHOWN])
    return text + (f"; and {len(bad) - SHOWN} more" if len(bad) > SHOWN else "")


def belonging(house: Courthouse, mend: bool, progress: Progress) -> Iterator[CheckResult]:
    """Find rows of runs and experiments that are not there."""
    about, count = "rows: strays", 0
    stray: list[tuple[str, StoredRow, str]] = []
    parts = [(table, "run", "runs") for table in OF_A_RUN]
    for table, column, of in (*parts, ("experiment_cells", "experiment", "experiments")):
        number = "number" if table == "experiment_cells" else house.database.row_key
        progress(f"strays: {table}", count)
        # The inner query is answered by an index alone; rows are read only where there are strays.
        rows = house.database.each(
            f"SELECT {number} AS rowid_, * FROM {table} WHERE {column} IN"
            f" (SELECT DISTINCT {column} FROM {table} WHERE {column} NOT IN (SELECT id FROM {of}))"
        )
        for row in rows:
            count += 1
            if mend:
                stray.append((table, row, f"its {of[:-1]} is not there"))
    gone = "runs or experiments that are not there"
    if not count:
        yield fine(about, "Every row belongs to a run or an experiment that is there.")
    elif mend:
        to = set_aside(house, stray)
        yield mended(about, f"{count} rows belonged to {gone}; they are in {to} now.")
    else:
        yield wrong(about, f"{count} rows belong to {gone}. They do no harm; --mend sets them aside.")


def set_aside(house: Courthouse, rows: list[tuple[str, StoredRow, str]]) -> Path:
    """Write rows into a JSON file, then take them out of the store: nothing is lost if it is interrupted."""
    folder = house.settings.home
    to = folder / f"set-aside-{time.strftime('%y%m%d-%H%M%S')}-{time.time_ns() % 1_000_000:06d}.json"
    # Escaped, so that bytes that are no text are kept too.
    body = [{"table": table, "why": why, "row": _plain(row)} for table, row, why in rows]
    with to.open("w", encoding="ascii") as file:
        json.dump(body, file, indent=1, default=repr)
        file.flush()
        os.fsync(file.fileno())
    with house.database.transaction() as db:
        for table, row, _ in rows:
            if table == "experiment_cells":
                key = (row["experiment"], row["number"])
                db.execute("DELETE FROM experiment_cells WHERE experiment = ? AND number = ?", key)
            else:
                db.execute(f"DELETE FROM {table} WHERE {house.database.row_key} = ?", (row["rowid_"],))
            if table == "knowledge":
                db.execute("UPDATE collections SET changes = changes + 1 WHERE name = ?", (row["collection"],))
                db.execute(
                    "INSERT INTO knowledge_removed SELECT name, ?, changes FROM collections WHERE name = ?"
                    " ON CONFLICT (collection, id) DO UPDATE SET version = excluded.version",
                    (row["id"], row["collection"]),
                )
    return to


def _plain(row: StoredRow) -> dict[str, Any]:
    return {name: value for name, value in dict(row).items() if name != "rowid_"}
