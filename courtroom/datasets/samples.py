"""The bundled cases as datasets, so that an experiment can begin before anything is imported."""

from collections.abc import Iterator
from dataclasses import dataclass

from courtroom.cases.labelled import LabelledTask
from courtroom.cases.library import Library
from courtroom.datasets.row import DatasetInfo, Row, SharedFields
from courtroom.datasets.store import Datasets

SOURCE = "bundled with Courtroom"
PREFIX = "sample-"
MAX_NAME_CHARACTERS, MAX_ID_CHARACTERS = 30, 80


@dataclass(frozen=True)
class CaseSample:
    """Bundled cases that make one dataset."""

    name: str
    """Of the dataset."""
    title: str
    kind: str
    count: int
    cases: tuple[str, ...]
    """Ids in the library; of labelled texts, the task that has them all."""


def samples(library: Library) -> tuple[CaseSample, ...]:
    """All of them: one for each kind of case, and one for each task of labelled texts."""
    found: list[CaseSample] = []
    by_kind: dict[tuple[str, str], list[str]] = {}
    for one in library.cases():
        if not library.is_sample(one.id):
            continue
        if isinstance(one, LabelledTask):
            found.append(CaseSample(PREFIX + one.id, one.title, one.kind, len(one.items), (one.id,)))
        else:
            by_kind.setdefault((one.kind, one.kind_title), []).append(one.id)
    kinds = [
        CaseSample(f"{PREFIX}{'-'.join(title.lower().split())}s", f"{title}s", kind, len(ids), tuple(sorted(ids)))
        for (kind, title), ids in by_kind.items()
    ]
    return (*kinds, *found)


def add_sample(datasets: Datasets, library: Library, name: str) -> DatasetInfo:
    """Keep bundled cases as a dataset, where it is not there. Raises `KeyError`: no sample has this name."""
    sample = {one.name: one for one in samples(library)}[name]
    there = next((info for info in datasets.newest() if info.name == name), None)
    return there or datasets.add(name, _rows(library, sample), SOURCE)


def bring_sample(datasets: Datasets, library: Library, name: str) -> bool:
    """Keep bundled cases as a dataset that an experiment names and nobody has made; return whether that was done."""
    is_known = name.startswith(PREFIX) and name in {one.name for one in samples(library)}
    is_new = is_known and all(info.name != name for info in datasets.newest())
    if is_new:
        add_sample(datasets, library, name)
    return is_new


def _rows(library: Library, sample: CaseSample) -> Iterator[Row]:
    cases = [library.case(name) for name in sample.cases]
    if isinstance(task := cases[0], LabelledTask):  # each of its texts is a task of its own
        cases = [SharedFields.of(task).task(item, pool="") for item in task.items]
    for number, case in enumerate(cases):
        yield Row(id=case.id, case=case, category=str(getattr(case, "category", "")), number=number, place=SOURCE)


def precedent_id(dataset: str, row: str) -> str:
    return f"{dataset[:MAX_NAME_CHARACTERS]}-{row}"[:MAX_ID_CHARACTERS]


def row_id(dataset: str, precedent: str) -> str:
    """The row that a precedent was made of; its own id where it is of no row of this dataset."""
    return precedent.removeprefix(f"{dataset[:MAX_NAME_CHARACTERS]}-")
