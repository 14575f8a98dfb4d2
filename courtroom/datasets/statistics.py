"""What is in a dataset, in numbers: of all rows and of each split. And what makes results on it doubtful: repeated
rows, rows that are in two splits, texts with two outcomes."""

import json
import statistics
import zlib
from bisect import bisect_right
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice, pairwise
from typing import Any

from pydantic import Field

from courtroom.datasets.row import BANDS, DatasetInfo, ImportCounts, LeftOut, text_of
from courtroom.datasets.selection import Line, Preparation, Selection, text_and_asked, together
from courtroom.datasets.store import Datasets
from courtroom.errors import CourtroomError
from courtroom.strict import Strict

LENGTHS = (100, 200, 500, 1_000, 2_000, 5_000, 10_000, 20_000, 50_000)
"""Where classes of length begin, in characters."""
NUMBERS = (0, 1, 2, 5, 10, 20, 50, 100, 200, 500, 1_000, 2_000, 5_000, 10_000)
"""Where classes of other numbers begin, where they go beyond `EACH`."""
EACH = 20
"""Up to this, each whole number is a class of its own."""
MARGINS = ("near tie", "clear", "large")
ALL = "all"
SHINGLE = 5
"""Characters that are compared at once; so a text needs no words to be distinguished, Chinese or English."""
ALIKE = 0.8
"""From this share of common shingles, two texts are near-duplicates (Lee et al. 2022, section 4.2)."""
MAX_COMPARED_ROWS, MAX_COMPARED_CHARACTERS = 5_000, 5_000
PERMUTATIONS = 128
MAX_SHOWN = 50
MAX_KEPT_PLACES = 5
IMPORT_COMPARED_CHARACTERS = 2_000_000


class Spread(Strict):
    """How a number is spread over rows."""

    rows: int
    least: float
    median: float
    mean: float
    most: float
    total: float


class SplitCounts(Strict):
    """Numbers of one split, or of all rows."""

    rows: int
    known: int = Field(description="Rows whose outcome is known.")
    categories: dict[str, int] = Field(description="By size, the largest first; so too outcomes.")
    outcomes: dict[str, int]
    languages: dict[str, int]
    length: Spread
    lengths: tuple[int, ...] = Field(description="Rows of each class of `LENGTHS`, one more than there are bounds.")
    margins: dict[str, int] = Field(description="Rows by band of the margin on record; empty where there are no votes.")
    numbers: dict[str, Spread]
    """What else is counted in cases of this kind, such as articles, months, pictures."""
    classes: dict[str, dict[str, int]]
    """Rows by class of each of these numbers, in the order of the classes, which are the same for all splits."""


class Statistics(Strict):
    """A dataset in numbers; `all` has all rows."""

    info: DatasetInfo
    counts: dict[str, SplitCounts]

    def rows(self) -> Iterator[dict[str, str | float]]:
        """Give a line for each split, as a table shows it."""
        for split, counts in self.counts.items():
            line: dict[str, str | float] = {"split": split, "rows": counts.rows, "outcome known": counts.known}
            line |= {"categories": len(counts.categories), "characters (mean)": round(counts.length.mean, 1)}
            line |= {"characters (median)": counts.length.median, "characters (most)": counts.length.most}
            yield line | {f"{name} (mean)": round(spread.mean, 2) for name, spread in counts.numbers.items()}


def measure(datasets: Datasets, name: str, version: str | None = None) -> Statistics:
    """A dataset's statistics. Raises `CourtroomError`: there is no such dataset."""
    info = datasets.info(name, version)
    columns = ("category", "outcome", "language", "length", "margin", "numbers")
    rows = list(datasets.columns(name, info.version, columns))
    most = {number: max(values) for number, values in _numbers(rows).items()}
    splits = {split: [row for row in rows if row[0] == split] for split in info.splits}
    counts = {split: _counts(some, most) for split, some in {ALL: rows, **splits}.items() if some}
    return Statistics(info=info, counts=counts)


def _numbers(rows: Iterable[tuple[Any, ...]]) -> dict[str, list[float]]:
    found: dict[str, list[float]] = defaultdict(list)
    for *_, numbers in rows:  # parsed here, as their text takes half the memory
        for name, value in json.loads(numbers).items():
            found[name].append(value)
    return found


def _counts(rows: Sequence[tuple[Any, ...]], most: Mapping[str, float]) -> SplitCounts:
    _, categories, outcomes, languages, lengths, leads, _ = zip(*rows, strict=True)
    classes = Counter(bisect_right(LENGTHS, length) for length in lengths)
    margins = Counter(MARGINS[sum(one > band for band in BANDS)] for one in leads if one is not None)
    numbers = _numbers(rows)
    return SplitCounts(
        rows=len(rows),
        known=len([*filter(None, outcomes)]),
        categories=_counted(filter(None, categories)),
        outcomes=_counted(filter(None, outcomes)),
        languages=_counted(languages),
        length=_spread(lengths),
        lengths=tuple(classes[number] for number in range(len(LENGTHS) + 1)),
        margins={name: margins[name] for name in MARGINS} if margins else {},
        numbers={name: _spread(values) for name, values in numbers.items()},
        classes={name: _classes(numbers.get(name, []), top) for name, top in most.items()},
    )


def _classes(values: Iterable[float], most: float) -> dict[str, int]:
    """Rows of each class, from the smallest to that of the largest number there is."""
    if most <= EACH:
        found = Counter(int(value) for value in values)
        return {str(number): found[number] for number in range(int(most) + 1)}
    places = Counter(bisect_right(NUMBERS, value) - 1 for value in values)
    names = [str(low) if high - low == 1 else f"{low:,} to {high - 1:,}" for low, high in pairwise(NUMBERS)]
    names.append(f"{NUMBERS[-1]:,} and more")
    return {names[place]: places[place] for place in range(bisect_right(NUMBERS, most))}


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items(), key=lambda pair: (-pair[1], pair[0])))


def _spread(values: Sequence[float]) -> Spread:
    least, most, total = min(values), max(values), sum(values)
    median, mean = statistics.median(values), statistics.fmean(values)
    return Spread(rows=len(values), least=least, median=median, mean=mean, most=most, total=total)


class Near(Strict):
    """Two rows that say nearly the same."""

    rows: tuple[str, str]
    splits: tuple[str, str]
    alike: float = Field(description="Shingles that both have, by all that either has (Jaccard index).")


class NearDuplicates(Strict):
    """What was found; the pairs that are most alike first, at most the first 50. The numbers count all."""

    pairs: tuple[Near, ...]
    found: int
    across: int = Field(description="Pairs whose rows are in different splits.")
    compared: int
    rows: int

    def sentences(self) -> Iterator[str]:
        """Say in words what was found; nothing where nothing was."""
        if not self.found:
            return
        first = self.pairs[0]
        among = "" if self.compared == self.rows else f" among {self.compared:,} rows drawn by chance"
        sentence = (
            f"Pairs of rows that say nearly the same{among}: {self.found:,}, e.g. {first.rows[0]} and {first.rows[1]}."
        )
        if self.across:
            sentence += f" Of these, {self.across:,} are in two splits: what is tested was nearly seen before."
        yield sentence


def near_duplicates(
    datasets: Datasets, name: str, version: str | None = None, most: int = MAX_COMPARED_ROWS
) -> NearDuplicates:
    """Pairs of rows whose texts share `ALIKE` of their shingles, by MinHash (Broder 1997) of the package datasketch.
    Candidates are found by locality-sensitive hashing and then compared exactly, so a pair that is shown is one; of
    pairs that are just alike enough, a few may be missed. Rows with the very same text belong to `examine`, and are
    left out here. Raises `CourtroomError`: there is no such dataset."""
    info = datasets.info(name, version)
    rows = []
    for row in datasets.rows(name, info.version, Selection(sample=min(most, MAX_COMPARED_ROWS))):
        # Its beginning, without what tells no texts apart: white space, punctuation and case.
        text = "".join(sign for sign in text_of(row.case).casefold() if sign.isalnum())[:MAX_COMPARED_CHARACTERS]
        rows.append((row.id, row.split, text))
    found = []
    for one, other in _candidates([text for *_, text in rows]):
        ids, splits, texts = zip(rows[one], rows[other], strict=True)
        first, second = map(_shingles, texts)
        share = len(first & second) / len(first | second)
        if share >= ALIKE and texts[0] != texts[1]:
            found.append(Near(rows=ids, splits=splits, alike=share))
    found.sort(key=lambda pair: (-pair.alike, pair.rows))
    across = sum(pair.splits[0] != pair.splits[1] for pair in found)
    shown = tuple(found[:MAX_SHOWN])
    return NearDuplicates(pairs=shown, found=len(found), across=across, compared=len(rows), rows=info.count)


def _candidates(texts: Sequence[str]) -> list[tuple[int, int]]:
    """Places of texts that may be alike enough, each pair once, the earlier first."""
    from datasketch import MinHash, MinHashLSH

    found: list[tuple[int, int]] = []
    # A little lower than asked for, so that few pairs that are just alike enough are missed.
    index: Any = MinHashLSH(threshold=ALIKE - 0.1, num_perm=PERMUTATIONS)
    for place, text in enumerate(texts):
        if not text:
            continue
        # SHA-1, its own choice of a hash, takes three times as long.
        print_ = MinHash(num_perm=PERMUTATIONS, seed=1, hashfunc=zlib.crc32)
        print_.update_batch(_shingles(text))
        found += [(int(earlier), place) for earlier in sorted(index.query(print_))]
        index.insert(place, print_)
    return found


def _shingles(text: str) -> frozenset[bytes]:
    starts = range(max(1, len(text) - SHINGLE + 1)) if text else ()
    return frozenset(text[start : start + SHINGLE].encode() for start in starts)


class Same(Strict):
    """Rows with the same text, but for white space, punctuation and case."""

    rows: tuple[str, ...]
    splits: tuple[str, ...]
    """In which they are, each once; empty names for rows without a split are left out."""
    outcomes: tuple[str, ...]


class Findings(Strict):
    """What was found in a dataset. Lists hold at most the first 50; the numbers count all."""

    info: DatasetInfo
    repeated: int = Field(description="Rows whose text an earlier row has, asked for the same.")
    duplicates: tuple[Same, ...]
    leaked: int = Field(description="Texts that are in more than one split.")
    leaks: tuple[Same, ...]
    parted: tuple[str, ...] = Field(description="Records whose rows are in more than one split.")
    contradicted: int = Field(description="Texts that have several outcomes where one is asked for.")
    contradictions: tuple[Same, ...]
    unknown: int = Field(description="Rows whose outcome is not known.")
    refused: int = Field(description="Records that were not taken in when it was imported.")
    missing: dict[str, tuple[str, ...]] = Field(description="By split, categories of other splits that it lacks.")

    @property
    def clean(self) -> bool:
        """Whether nothing makes results doubtful: no leak, no contradiction, no repeated row."""
        return not (self.repeated or self.leaked or self.parted or self.contradicted)

    def sentences(self) -> Iterator[str]:
        """Say in words what was found; nothing where all is well."""
        if self.leaked:
            yield (
                f"{self.leaked} texts are in more than one split, e.g. rows {_some(self.leaks[0].rows)}. "
                "Split the dataset anew: then rows with the same text stay together."
            )
        if self.parted:
            yield f"{len(self.parted)} records have rows in more than one split, e.g. {self.parted[0]}. Split it anew."
        if self.repeated:
            yield f"{self.repeated} rows repeat an earlier one, e.g. rows {_some(self.duplicates[0].rows)}."
        if self.contradicted:
            one = self.contradictions[0]
            yield (
                f"{self.contradicted} texts have several outcomes, e.g. rows {_some(one.rows)}: "
                f"{' and '.join(one.outcomes[:3])}."
            )
        if self.refused:
            yield f"{self.refused} records were not taken in when it was imported; what the import counted says why."
        if self.unknown:
            yield f"{self.unknown} rows have no known outcome: they can be heard, but not scored."
        for split, names in self.missing.items():
            yield f"The split “{split}” lacks {len(names)} categories that other splits have, e.g. “{names[0]}”."


def examine(datasets: Datasets, name: str, version: str | None = None) -> Findings:
    """Look a dataset through. Raises `CourtroomError`: there is no such dataset."""
    info = datasets.info(name, version)
    rows = datasets.lines(name, info.version)
    groups: dict[str, set[str]] = defaultdict(set)
    categories: dict[str, set[str]] = defaultdict(set)
    for row in rows:
        if row.group and row.split:
            groups[row.group].add(row.split)
        if row.split:
            categories[row.split].add(row.category)
    same, asked = together(rows, lambda row: row.fingerprint), together(rows, text_and_asked)
    leaks = [_same(rows) for rows in same if len({row.split for row in rows} - {""}) > 1]
    contradictions = [_same(rows) for rows in asked if len({row.outcome for row in rows} - {""}) > 1]
    every = set().union(*categories.values())
    return Findings(
        info=info,
        repeated=sum(len(rows) - 1 for rows in asked),
        duplicates=tuple(_same(rows) for rows in asked[:MAX_SHOWN]),
        leaked=len(leaks),
        leaks=tuple(leaks[:MAX_SHOWN]),
        parted=tuple(sorted(group for group, splits in groups.items() if len(splits) > 1))[:MAX_SHOWN],
        contradicted=len(contradictions),
        contradictions=tuple(contradictions[:MAX_SHOWN]),
        unknown=sum(not row.outcome for row in rows),
        refused=datasets.refused(name, info.version),
        missing={split: tuple(sorted(every - had)) for split, had in categories.items() if every - had},
    )


def _same(rows: Sequence[Line]) -> Same:
    splits, outcomes = {row.split for row in rows} - {""}, {row.outcome for row in rows} - {""}
    ids = tuple(row.id for row in rows)
    return Same(rows=ids, splits=tuple(sorted(splits)), outcomes=tuple(sorted(outcomes)))


def _some(rows: tuple[str, ...]) -> str:
    return ", ".join(rows[:3]) + (" ..." if len(rows) > 3 else "")


def counted(
    datasets: Datasets, info: DatasetInfo, read: int, why: Sequence[LeftOut], label: str, removed: Mapping[str, int]
) -> ImportCounts:
    """What is counted in a dataset whose import has come to its end, kept with it. `read`: records, of which
    `why` were left out; `label`: the column of the labels; `removed`: rows taken out since."""
    found = examine(datasets, info.name, info.version)
    rows = list(datasets.columns(info.name, info.version, ["place", "outcome", "length"]))
    blanks = (place for _, place, outcome, _ in rows if place and not outcome)
    compared = max(500, int(IMPORT_COMPARED_CHARACTERS / max(1.0, statistics.fmean(length for *_, length in rows))))
    near = near_duplicates(datasets, info.name, info.version, most=compared)
    counts = ImportCounts(
        read=read,
        rows=info.count,
        left_out=sum(one.records for one in why),
        why=tuple(why),
        label=label,
        blank=found.unknown,
        blanks=tuple(islice(blanks, MAX_KEPT_PLACES)),
        contradictory=found.contradicted,
        repeated=found.repeated,
        near=near.found,
        compared=near.compared,
        removed=dict(removed),
    )
    datasets.keep_counts(info, counts)
    return counts


def cleaned(
    datasets: Datasets, name: str, version: str | None, wanted: Preparation
) -> tuple[DatasetInfo, dict[str, int]]:
    """Return a new version without what a preparation leaves out, and how many rows were taken out, by what they were.

    Where there are none, the version stays. Raises `CourtroomError`: there is no such dataset, nothing would be left,
    or a text is to be cut."""
    if wanted.cut:
        raise CourtroomError("A version keeps its texts whole. Cut them in an experiment, or in a copy: --to NAME.")
    info = datasets.info(name, version)
    found = datasets.left_out(name, info.version, wanted)
    if not found:
        return info, {}
    made = datasets.without(name, info.version, [line.id for lines in found.values() for line in lines])
    removed = {what: len(lines) for what, lines in found.items()}
    if before := datasets.counts(name, info.version):
        counted(datasets, made, before.read, before.why, before.label, Counter(before.removed) + Counter(removed))
    return made, removed
