"""Cells as a pandas frame, and a frame as a file."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from courtroom.errors import CourtroomError
from courtroom.experiments.measures import Measure
from courtroom.experiments.table import CellRow

if TYPE_CHECKING:
    import pandas as pd

TOOK = ("calls", "asked", "prompt_tokens", "completion_tokens", "cost", "latency_s", "wall_s", "rounds")
FORMS = (".csv", ".parquet", ".jsonl", ".md", ".tex")


def frame_of(rows: Sequence[CellRow], measures: Sequence[Measure]) -> pd.DataFrame:
    """A line a cell: arm, case, repeat, run, how it stands, outcome, gold, each case's own measures, votes by choice, and what it took."""
    import pandas as pd  # slow to import

    return pd.DataFrame([_line(row, measures) for row in rows])


def write_frame(frame: pd.DataFrame, path: Path) -> None:
    """Write a frame as its file's ending says: .csv, .parquet or .jsonl.

    Raises:
        CourtroomError: the ending is none of these, or the file can't be written.
    """
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        if path.suffix == ".csv":
            frame.to_csv(path, index=False)
        elif path.suffix == ".parquet":
            frame.to_parquet(path, index=False)
        elif path.suffix == ".jsonl":
            frame.to_json(path, orient="records", lines=True, force_ascii=False)
        else:
            raise CourtroomError(f"--to needs a file name that ends in {', '.join(FORMS)}.")
    except OSError as error:
        raise CourtroomError(f"{path} can't be written: {error.strerror}. Name another with --to.") from error


def _line(row: CellRow, measures: Sequence[Measure]) -> dict[str, Any]:
    outcome, scored = row.outcome, row.scored
    line: dict[str, Any] = {
        "arm": row.arm,
        "case": row.row,
        "category": row.category,
        "repeat": row.repeat,
        "run": row.run,
        "state": row.state,
        "reason": row.reason,
        "outcome": outcome.outcome if outcome else None,
        "gold": row.case.real_outcome(),
    }
    for measure in measures:
        if measure.each is not None:
            line[measure.name] = measure.each(scored) if scored else None
    votes = {f"votes_{choice}": many for choice, many in outcome.counts.items()} if outcome else {}
    return line | votes | {name: getattr(outcome, name) if outcome else None for name in TOOK}
