"""Where a dataset comes from: one file, a zip, a folder, or a folder as Hugging Face has it; its files in a stable order."""

import fnmatch
import hashlib
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path, PurePosixPath
from typing import IO, Any, cast

from courtroom.cases.archives import Archive, BoundedReader, leads_out, read_within
from courtroom.errors import CaseError, CourtroomError

TABLES = (".jsonl", ".json", ".csv", ".tsv", ".ndjson", ".parquet", ".arrow")
COLUMNAR = (".parquet", ".arrow")
TEXTS = (".txt", ".md")
RELEVANCE = (".trec", ".qrels")
MOST_MEMBERS, MOST_UNPACKED = 500_000, 200 * 2**30
ABOUT = re.compile(
    r"(readme|license|licence|citation|contributing|requirements|dataset_infos?|dataset_dict|state|metadata)(\.\w+)?",
    re.IGNORECASE,
)
"""Names of files that are about a dataset and no part of it."""
_SHARD = re.compile(r"-\d{5}-of-\d{5}$")
_SPLIT = re.compile(
    r"(?:^|[._\- ])(train|training|dev|valid|validation|val|test|testing)(?=$|[._\- \d])", re.IGNORECASE
)
SPLITS: Mapping[str, str] = {
    "training": "train",
    "dev": "validation",
    "valid": "validation",
    "val": "validation",
    "testing": "test",
}


@dataclass(frozen=True)
class SourceFile:
    """One file of a dataset."""

    name: str
    """Its path within the source, for sentences."""
    ending: str
    size: int
    packed: int
    """Bytes that it takes where it is."""
    open: Callable[[], IO[bytes]] = field(repr=False)
    """Opens it for reading, unpacked."""
    beside: Callable[[str], bytes | None] = field(repr=False)
    """A file by its path from this file's folder; None where there is none."""
    split: str = ""
    about: tuple[Mapping[str, Any], ...] = field(default=(), repr=False)
    """What files beside it say of the columns; see `features`."""

    @property
    def stem(self) -> str:
        """The file's name without folder and ending."""
        return PurePosixPath(self.name).name.removesuffix(".gz").removesuffix(self.ending)

    @property
    def folder(self) -> str:
        """The name of the folder in which it is; empty at the top."""
        return PurePosixPath(self.name).parent.name


def fingerprint(source: Path) -> str:
    """Changes where the source does: names, sizes and times of its files."""
    digest = hashlib.sha256()
    for path in _files(source):
        stat = path.stat()
        digest.update(
            f"{path.relative_to(source) if path != source else path.name}\n{stat.st_size}\n{stat.st_mtime_ns}\n".encode()
        )
    return digest.hexdigest()


def parts(source: Path, config: str = "") -> list[SourceFile]:
    """The files of a source that hold records, in order. `config`: of a folder with several configurations, the one that is
    wanted. Raises `CourtroomError`: there is no such source, or nothing in it can be read."""
    if not source.exists():
        raise CourtroomError(f"{source} is not there. Check the path.")
    if source.is_dir():
        found = _configured(source, list(_in_folder(source)), config)
    elif source.suffix.lower() == ".zip":
        found = _configured(source, list(_in_zip(source)), config)
    else:
        found = [_file(source, source.parent)]
    found = [part for part in found if part.ending in (*TABLES, *TEXTS, *RELEVANCE)]
    if any(part.ending in TABLES for part in found):
        found = [part for part in found if part.ending not in (".md",)]
    if not found:
        endings = ", ".join((*TABLES, *TEXTS))
        raise CourtroomError(
            f"{source.name} holds nothing that can be read. It needs one of {endings}, also packed as .gz or .zip."
        )
    return found


def split_of(name: str) -> str:
    """The split that a file's path names; empty where it names none."""
    path = PurePosixPath(name)
    stem = path.name.removesuffix(".gz")
    stem = stem.rpartition(".")[0] or stem
    if (bare := _SHARD.sub("", stem)) != stem:
        return path.parent.name if bare == "data" else bare
    for text in (stem, *(parent for parent in reversed(path.parent.parts))):
        if found := _SPLIT.search(text):
            word = found[1].lower()
            return SPLITS.get(word, word)
    return ""


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    top = _top(source)
    within = (path for path in source.rglob("*") if path.is_file() and path.resolve().is_relative_to(top))
    return sorted((path for path in within if not _hidden(path.relative_to(source))), key=_order)


def _top(source: Path) -> Path:
    """Out of this folder no link is followed. In Hugging Face's cache the files of a snapshot are links to its neighbours."""
    folder = (source if source.is_dir() else source.parent).resolve()
    return folder.parent.parent if folder.parent.name == "snapshots" else folder


def _order(path: Path) -> tuple[Any, ...]:
    """By path, numbers by their value: 2 comes before 10."""
    return tuple(
        (0, int(word), "") if word.isdigit() else (1, 0, word) for word in re.findall(r"\d+|\D+", path.as_posix())
    )


def _hidden(path: Path | PurePosixPath) -> bool:
    return any(part.startswith((".", "__MACOSX")) for part in path.parts)


def _in_folder(folder: Path) -> Iterator[SourceFile]:
    for path in _files(folder):
        if not ABOUT.fullmatch(path.name):
            yield _file(path, folder)


def _file(path: Path, root: Path) -> SourceFile:
    packed = path.suffix.lower() == ".gz"

    def beside(name: str) -> bytes | None:
        return read_within(_top(root), path.parent, name)

    name = path.relative_to(root).as_posix()
    ending = (path.with_suffix("") if packed else path).suffix.lower()
    size = path.stat().st_size
    return SourceFile(
        name=name,
        ending=ending,
        size=size,
        packed=size,
        open=lambda: _opened(name, path.open("rb"), packed, ending),
        beside=beside,
        split=split_of(name),
    )


def _opened(name: str, file: IO[bytes], packed: bool, ending: str) -> IO[bytes]:
    reader = BoundedReader(name, file, packed)
    if ending not in COLUMNAR:
        return reader
    spooled = tempfile.TemporaryFile()  # noqa: SIM115  these are read from their end; the reader closes it
    try:
        with reader:
            shutil.copyfileobj(reader, spooled)
    except BaseException:
        spooled.close()
        raise
    spooled.seek(0)
    return cast(IO[bytes], spooled)


def _in_zip(source: Path) -> Iterator[SourceFile]:
    archive = Archive(source.name, source, MOST_MEMBERS, MOST_UNPACKED)
    paths = sorted(archive.paths(), key=lambda path: _order(Path(path)))
    for path in paths:
        if not ABOUT.fullmatch(path.name):
            yield _member(archive, path)


def _member(archive: Archive, path: PurePosixPath) -> SourceFile:
    packed = path.suffix.lower() == ".gz"
    ending = (path.with_suffix("") if packed else path).suffix.lower()

    def beside(name: str) -> bytes | None:
        return None if leads_out(name) else archive.read(path.parent / name)

    return SourceFile(
        str(path),
        ending,
        archive.size(path),
        archive.packed_size(path),
        lambda: _opened(path.name, archive.open(path), packed, ending),
        beside,
        split_of(str(path)),
    )


def _configured(source: Path, found: list[SourceFile], config: str) -> list[SourceFile]:
    """Only the wanted configuration's files, each with what is said of its columns, and the split that is named."""
    from courtroom.datasets.features import notes_of  # reads YAML: only folders need it

    about = notes_of(source)
    known = [name for name in about.configs if any(_within(part, about.configs[name]) for part in found)]
    if config and config not in known:
        raise CourtroomError(f"{source.name} has no configuration “{config}”. It has: {', '.join(known) or 'none'}.")
    if not config and len(known) > 1:
        raise CourtroomError(f"{source.name} holds several datasets: {', '.join(known)}. Say which with --config.")
    chosen = config or (known[0] if known else "")
    if chosen:
        files = about.configs[chosen]
        found = [part for part in found if _within(part, files)]
        found = [replace(part, split=_told_split(part, files) or part.split) for part in found]
    described = about.of(chosen)
    return [replace(part, about=(*_own(part), *described)) for part in found]


def _within(part: SourceFile, files: Mapping[str, tuple[str, ...]]) -> bool:
    return any(fnmatch.fnmatch(part.name, pattern) for patterns in files.values() for pattern in patterns)


def _told_split(part: SourceFile, files: Mapping[str, tuple[str, ...]]) -> str:
    return next(
        (split for split, patterns in files.items() if any(fnmatch.fnmatch(part.name, one) for one in patterns)), ""
    )


def _own(part: SourceFile) -> tuple[Mapping[str, Any], ...]:
    """The features in a `dataset_info.json` beside the file, as `save_to_disk` writes it."""
    from courtroom.datasets.features import features_in

    try:
        data = part.beside("dataset_info.json")
    except CaseError:
        return ()
    return (features_in(data),) if data else ()
