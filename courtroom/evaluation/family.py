"""The family of a run: what it was forked from, and what was forked from there."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from itertools import islice

from courtroom.engine.procedure import Procedure
from courtroom.engine.run import Run
from courtroom.engine.store import RunStore
from courtroom.evaluation.comparison import Differences, put_in
from courtroom.strict import Strict


class Kin(Strict):
    """One run of a family, `depth` forks away from the first."""

    run: Run
    depth: int
    changes: Differences
    """What it changed against the run that it was forked from."""


def family(
    runs: Iterable[Run], run: str, changed: Callable[[Run, Run], Differences], most: int | None = None
) -> tuple[Kin, ...]:
    """The tree that a run belongs to, each run followed by its forks, oldest first.

    A run whose parent was deleted begins a tree of its own.

    Args:
        runs: in the order in which they were made; others than the family's may be among them.
        changed: what differs between a run and its fork.
        most: runs that are given at most, the first ones.
    """
    rows = {row.id: row for row in runs}
    forks: dict[str, list[Run]] = {}
    for row in rows.values():
        if row.parent in rows:
            forks.setdefault(str(row.parent), []).append(row)
    first = rows[run]
    while first.parent in rows:
        first = rows[str(first.parent)]

    def branch(row: Run, depth: int) -> Iterator[Kin]:
        changes = changed(rows[str(row.parent)], row) if depth else Differences()
        yield Kin(run=row, depth=depth, changes=changes)
        for fork in forks.get(row.id, ()):
            yield from branch(fork, depth + 1)

    return tuple(islice(branch(first, 0), most))


def forked(store: RunStore, procedures: Mapping[str, Procedure], *runs: Run) -> Differences:
    """What differs between a run and its fork."""
    given = [(row, store.case(row), store.setup(row.id, procedures[row.procedure].setup)) for row in runs]
    return put_in(given, [store.interventions.of(row.id) for row in runs])
