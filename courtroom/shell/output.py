"""What the shell says: progress on stderr while a run goes on, and its result."""

from __future__ import annotations

import json
import sys
from collections.abc import Iterable, Iterator, Mapping
from concurrent.futures import wait
from pathlib import Path
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.engine.payments import Payment
from courtroom.engine.procedure import ROUND
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError, Unreadable

LOOK_S = 0.1
"""How often a run's progress is looked at."""


def follow(house: Courthouse, run: str) -> None:
    """Report a run's progress on stderr until it is done, failed or paused; see `Runner.wait`."""
    settled = house.runner.do(house.runner.settled(run))
    count, trouble = 0, ""
    while True:
        over = settled.done()
        if (why := house.runner.trouble(run)) != trouble:
            trouble = why
            print(why or "The run goes on.", file=sys.stderr)
        stages = house.store.stages(run)
        for name in stages[count:]:
            print(f"{name} ...", file=sys.stderr)
        count = len(stages)
        if over:
            settled.result()
            row = house.store.run(run)
            print(f"{row.status}. {row.reason}".strip(), file=sys.stderr)
            return
        wait([settled], timeout=LOOK_S)


def result(house: Courthouse, name: str, before: Mapping[str, Payment] | None = None) -> dict[str, Any]:
    """A run's result as plain data; what `--json` prints.

    Args:
        name: the run's id.
        before: what the run had been billed when this command began: for it, all that was served from the record.
    """
    record = house.record(name)
    new = {
        path: paid.calls - (before[path].calls if before and path in before else 0)
        for path, paid in record.paid.items()
    }
    prompt, completion = record.tokens
    run = record.run
    return {
        "run": run.id,
        "procedure": run.procedure,
        "case": run.case_id,
        "status": "paused" if run.status == "running" else run.status,
        "reason": run.reason,
        "verdict": run.verdict.outcome if run.verdict else None,
        "summary": run.verdict.summary if run.verdict else "",
        "note": run.verdict.note if run.verdict else "",
        **_rounds(house, record),
        "ballots": len(record.tallies),
        "votes": list(_votes(record)),
        "asked": sum(new.values()),
        "recorded": sum(len(call.keys) - min(new.get(call.path, 0), len(call.keys)) for call in record.calls),
        "failed": record.failed,
        "tokens": {"prompt": prompt, "completion": completion},
        "cost": record.cost,
        "wall_s": round(run.wall_s, 3),
        "seed": run.seed,
        "members": len(record.members),
        "stages": [stage.name for stage in record.stages],
        **({"warnings": list(warnings)} if (warnings := record.setup.warnings()) else {}),
    }


def _rounds(house: Courthouse, record: Record) -> dict[str, int]:
    """How many rounds were voted in, where the procedure has rounds."""
    if not any(kind.name == ROUND for kind in house.procedures[record.run.procedure].stages):
        return {}
    return {"rounds": sum(_is_round(record, path) for path in record.tallies)}


def _votes(record: Record) -> Iterator[dict[str, Any]]:
    """Each ballot's counts; a ballot of a round has the round's number."""
    number = 0
    for path, tally in record.tallies.items():
        number += _is_round(record, path)
        named = {"round": number} if _is_round(record, path) else {}
        yield {"ballot": record.ballot_name(path), **named, **tally.counts, "abstained": tally.abstained}


def _is_round(record: Record, ballot: str) -> bool:
    return record.stage(ballot.partition("/")[0]).stage_kind == ROUND


def write(path: Path, text: str) -> None:
    """Write a file, and the folders that it needs.

    Raises:
        CourtroomError: it can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text, encoding="utf-8")
    except OSError as error:
        raise CourtroomError(f"{path} can't be written: {error.strerror}. Name another with --to.") from error


def tell_unreadable(rows: Iterable[Unreadable]) -> None:
    """Report on stderr what could not be listed."""
    for row in rows:
        print(row, file=sys.stderr)


def print_result(summary: dict[str, Any], as_json: bool) -> None:
    """One JSON object, or a few lines to read."""
    if as_json:
        print(json.dumps(summary, ensure_ascii=False))
        return
    for name, value in summary.items():
        if isinstance(value, dict):
            value = ", ".join(f"{key} {item}" for key, item in value.items() if item not in ("", {}, []))
        print(f"{name:>10}  {value}")
