"""Any number of runs in one table: what was put in that is not the same in all, and what came of it."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from courtroom.engine.record import Record
from courtroom.evaluation.comparison import put_in

MOST_SETTINGS = 12
"""Columns for settings that are not the same in all runs."""
LONGEST = 60
"""Characters of a setting."""


def run_table(records: Sequence[Record]) -> list[dict[str, Any]]:
    """A row for each run, in the given order.

    Settings that differ have columns of their own, named by their paths as in `--set`. Votes are of the last ballot; the share
    is that of the largest side among all seats, 0 to 1. Costs are in US dollars, times in seconds.
    """
    if not records:
        return []
    differs = put_in([(one.run, one.case, one.setup) for one in records]).setup[:MOST_SETTINGS]
    return [
        {**_run(record), **{one.path: _short(one.values[number]) for one in differs}, **_outcome(record)}
        for number, record in enumerate(records)
    ]


def _run(record: Record) -> dict[str, Any]:
    run = record.run
    return {"run": run.id, "case": run.title, "procedure": run.procedure, "seed": run.seed}


def _outcome(record: Record) -> dict[str, Any]:
    tally = list(record.tallies.values())[-1] if record.tallies else None
    votes = [vote for ballot in record.ballots.values() for vote in ballot.values()]
    counts = sorted(tally.counts.items(), key=lambda item: -item[1]) if tally else []
    return {
        "status": record.run.status,
        "verdict": record.run.verdict.outcome if record.run.verdict else "",
        "votes": ", ".join(f"{name} {number}" for name, number in counts),
        "share": tally.share if tally else None,
        "ballots": len(record.tallies),
        "changes of mind": sum(vote.changed for vote in votes),
        "calls": len(record.calls),
        "without an answer": record.failed,
        "cost": record.cost,
        "seconds": round(record.run.wall_s, 1),
    }


def _short(value: Any) -> str:
    text = value if isinstance(value, str) else "" if value is None else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[: LONGEST - 1]}…"
