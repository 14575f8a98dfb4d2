"""What makes results on a dataset doubtful: repeated rows, rows that are in two splits, texts with two outcomes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable

from courtroom.datasets.row import DatasetInfo
from courtroom.datasets.store import Datasets
from courtroom.strict import Strict

MOST_SHOWN = 50


class Same(Strict):
    """Rows with the same text, but for white space, punctuation and case."""

    rows: tuple[str, ...]
    splits: tuple[str, ...]
    """In which they are, each once; empty names for rows without a split are left out."""
    outcomes: tuple[str, ...]


class Findings(Strict):
    """What was found in a dataset. Lists hold at most the first 50; the numbers count all."""

    info: DatasetInfo
    repeated: int
    """Rows whose text an earlier row has, asked for the same."""
    duplicates: tuple[Same, ...]
    leaked: int
    """Texts that are in more than one split."""
    leaks: tuple[Same, ...]
    parted: tuple[str, ...]
    """Records whose rows are in more than one split."""
    contradicted: int
    """Texts that have several outcomes where one is asked for."""
    contradictions: tuple[Same, ...]
    unknown: int
    """Rows whose outcome is not known."""
    refused: int
    """Records that were not taken in when it was imported."""
    missing: dict[str, tuple[str, ...]]
    """By split, categories of other splits that it lacks."""

    @property
    def clean(self) -> bool:
        """Whether nothing makes results doubtful: no leak, no contradiction, no repeated row."""
        return not (self.repeated or self.leaked or self.parted or self.contradicted)

    def sentences(self) -> list[str]:
        """What was found, in words; empty where all is well."""
        found: list[str] = []
        if self.leaked:
            found.append(
                f"{self.leaked} texts are in more than one split, e.g. rows {_some(self.leaks[0].rows)}. Split the dataset anew: "
                "then rows with the same text stay together."
            )
        if self.parted:
            found.append(
                f"{len(self.parted)} records have rows in more than one split, e.g. {self.parted[0]}. Split it anew."
            )
        if self.repeated:
            found.append(f"{self.repeated} rows repeat an earlier one, e.g. rows {_some(self.duplicates[0].rows)}.")
        if self.contradicted:
            one = self.contradictions[0]
            found.append(
                f"{self.contradicted} texts have several outcomes, e.g. rows {_some(one.rows)}: {' and '.join(one.outcomes[:3])}."
            )
        if self.refused:
            found.append(f"{self.refused} records were not taken in when it was imported; `datasets show` says why.")
        if self.unknown:
            found.append(f"{self.unknown} rows have no known outcome: they can be heard, but not scored.")
        for split, names in self.missing.items():
            found.append(
                f"The split “{split}” lacks {len(names)} categories that other splits have, e.g. “{names[0]}”."
            )
        return found


def examine(datasets: Datasets, name: str, version: str | None = None) -> Findings:
    """Look a dataset through.

    Raises:
        CourtroomError: there is no such dataset.
    """
    info = datasets.info(name, version)
    same: dict[bytes, list[tuple[str, str, str, str]]] = defaultdict(list)
    groups: dict[str, set[str]] = defaultdict(set)
    categories: dict[str, set[str]] = defaultdict(set)
    unknown = 0
    for split, row, group, asked_for, category, outcome, print_ in datasets.columns(
        name, info.version, ("id", "grp", "asked", "category", "outcome", "fingerprint")
    ):
        same[print_].append((row, split, asked_for, outcome))
        unknown += not outcome
        if group and split:
            groups[group].add(split)
        if split:
            categories[split].add(category)
    several = [rows for rows in same.values() if len(rows) > 1]
    leaks = [_same(rows) for rows in several if len({split for _, split, *_ in rows if split}) > 1]
    asked = [rows for found in several for rows in _asked_alike(found)]
    contradictions = [_same(rows) for rows in asked if len({outcome for *_, outcome in rows if outcome}) > 1]
    every = set().union(*categories.values()) if categories else set()
    return Findings(
        info=info,
        repeated=sum(len(rows) - 1 for rows in asked),
        duplicates=tuple(_same(rows) for rows in asked[:MOST_SHOWN]),
        leaked=len(leaks),
        leaks=tuple(leaks[:MOST_SHOWN]),
        parted=tuple(sorted(group for group, splits in groups.items() if len(splits) > 1))[:MOST_SHOWN],
        contradicted=len(contradictions),
        contradictions=tuple(contradictions[:MOST_SHOWN]),
        unknown=unknown,
        refused=datasets.refused(name, info.version),
        missing={split: tuple(sorted(every - had)) for split, had in categories.items() if every - had},
    )


def _asked_alike(rows: Iterable[tuple[str, str, str, str]]) -> list[list[tuple[str, str, str, str]]]:
    """Rows of one text that are asked for the same; those of one record may be about a defendant, or a task, each."""
    alike: dict[str, list[tuple[str, str, str, str]]] = defaultdict(list)
    for row in rows:
        alike[row[2]].append(row)
    return [found for found in alike.values() if len(found) > 1]


def _same(rows: Iterable[tuple[str, str, str, str]]) -> Same:
    found = list(rows)
    return Same(
        rows=tuple(row for row, *_ in found),
        splits=tuple(sorted({split for _, split, *_ in found if split})),
        outcomes=tuple(sorted({outcome for *_, outcome in found if outcome})),
    )


def _some(rows: tuple[str, ...]) -> str:
    return ", ".join(rows[:3]) + (" ..." if len(rows) > 3 else "")
