"""The counts that an import ends with; and rows taken out that make results doubtful."""

from collections.abc import Mapping, Sequence

from courtroom.datasets.checking import examine, near_duplicates, repeats
from courtroom.datasets.row import DatasetInfo, ImportCounts, LeftOut
from courtroom.datasets.store import Datasets
from courtroom.language import N_

MOST_PLACES = 5
"""Places that are kept of a reason; the numbers count all."""
COMPARED = 2_000_000
"""Characters that are compared for near-duplicates when an import ends: about two seconds. `datasets check` compares more."""
REPEATED, CONTRADICTORY = N_("they repeat an earlier one"), N_("their text has several outcomes")


def counted(
    datasets: Datasets,
    info: DatasetInfo,
    read: int,
    why: Sequence[LeftOut],
    label: str = "",
    removed: Mapping[str, int] | None = None,
) -> ImportCounts:
    """What is counted in a dataset whose import has come to its end, kept with it.

    Args:
        read: records.
        why: those left out.
        label: the column of the labels.
        removed: rows taken out since.
    """
    found = examine(datasets, info.name, info.version)
    blanks, length = datasets.blanks(info.name, info.version, MOST_PLACES)
    near = near_duplicates(datasets, info.name, info.version, most=max(500, int(COMPARED / max(1.0, length))))
    counts = ImportCounts(
        read=read,
        rows=info.count,
        left_out=sum(one.records for one in why),
        why=tuple(why),
        label=label,
        blank=found.unknown,
        blanks=blanks,
        contradictory=found.contradicted,
        repeated=found.repeated,
        near=near.found,
        compared=near.compared,
        removed=dict(removed or {}),
    )
    datasets.keep_counts(info, counts)
    return counts


def cleaned(
    datasets: Datasets, name: str, version: str | None = None, *, repeated: bool = False, contradictory: bool = False
) -> tuple[DatasetInfo, dict[str, int]]:
    """A new version without rows that make results doubtful, and how many were taken out, by what they were.

    Where there are none, the version stays.

    Args:
        repeated: of rows with one text and no more than one outcome, the first with an outcome stays.
        contradictory: no row stays whose text has several outcomes.

    Raises:
        CourtroomError: there is no such dataset, or nothing would be left.
    """
    info = datasets.info(name, version)
    several = repeats(datasets, name, info.version)
    gone: dict[str, list[str]] = {}
    for rows in several:
        if len({outcome for _, outcome in rows if outcome}) > 1:
            gone.setdefault(CONTRADICTORY, []).extend(row for row, _ in rows)
        else:
            stays = next((row for row, outcome in rows if outcome), rows[0][0])
            gone.setdefault(REPEATED, []).extend(row for row, _ in rows if row != stays)
    wanted = {REPEATED: repeated, CONTRADICTORY: contradictory}
    found = {what: rows for what, rows in gone.items() if wanted[what]}
    if not found:
        return info, {}
    made = datasets.without(name, info.version, [row for rows in found.values() for row in rows])
    removed = {what: len(rows) for what, rows in found.items()}
    if before := datasets.counts(name, info.version):
        counted(datasets, made, before.read, before.why, before.label, _added(before.removed, removed))
    return made, removed


def _added(before: Mapping[str, int], removed: Mapping[str, int]) -> dict[str, int]:
    return {what: before.get(what, 0) + removed.get(what, 0) for what in {**before, **removed}}
