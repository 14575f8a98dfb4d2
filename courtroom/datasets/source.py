"""Where a dataset comes from: one file, a zip, a folder, or a folder as Hugging Face has it; its files in a stable
order.

What files say of their own columns: the names of labels that are numbers.

| where | written by |
| --- | --- |
| the schema of a Parquet or Arrow file, under `huggingface` | the library `datasets` |
| `dataset_info.json` beside the files | `save_to_disk` |
| `README.md` (`dataset_info`, `configs`) in a folder or above it | Hugging Face's hub |
"""

import fnmatch
import hashlib
import io
import json
import re
import shutil
import tempfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path, PurePath, PurePosixPath
from typing import IO, Any, cast

from courtroom.cases.archives import BLOCK, BROKEN, Archive, Beside, BoundedReader, is_hidden, read_within
from courtroom.errors import CaseError, CourtroomError

CARD = "README.md"
ABOVE = 2
"""Folders above the given one in which a description is looked for: a configuration often has one of its own."""
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
SPLITS = {"training": "train", "dev": "validation", "valid": "validation", "val": "validation", "testing": "test"}


@dataclass
class FolderNotes:
    """What is said of a folder: files by split of each configuration, and label names by column of each."""

    configs: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)
    names: dict[str, dict[str, tuple[str, ...]]] = field(default_factory=dict)


def notes_of(source: Path, card: bytes) -> FolderNotes:
    """Read what is said of a folder or a zip, by its own card or that of a repository of which it is one configuration."""
    found = _notes(card)
    inside = {source.name}
    for folder in list(source.resolve().parents)[:ABOVE]:
        if found.names or found.configs:
            break
        path = folder / CARD
        above = _notes(path.read_bytes() if path.is_file() else b"")
        found = FolderNotes(names={name: columns for name, columns in above.names.items() if name in inside})
        if above.names or above.configs:
            break
        inside.add(folder.name)
    return found


def features_of_schema(metadata: Mapping[bytes, bytes] | None) -> dict[str, tuple[str, ...]]:
    """Label names by column, from the schema of a Parquet or Arrow file."""
    content = _json((metadata or {}).get(b"huggingface", b"{}"))
    return _names(content.get("info", {}).get("features")) if isinstance(content, dict) else {}


def _json(data: bytes) -> Any:
    try:
        return json.loads(data)
    except (ValueError, RecursionError):
        return None  # a damaged description says nothing; where names are needed then, the import asks for them


def _notes(card: bytes) -> FolderNotes:
    """The YAML between the lines of dashes at the beginning of a dataset's card."""
    described, text = FolderNotes(), card.decode(errors="replace")
    if not text.startswith("---"):
        return described
    import yaml

    try:
        content = yaml.safe_load(text[3:].partition("\n---")[0])
    except yaml.YAMLError:
        return described  # a damaged card says nothing; where names are needed then, the import asks for them
    if not isinstance(content, dict):
        return described
    infos = content.get("dataset_info") or []
    for info in infos if isinstance(infos, list) else [infos]:
        if isinstance(info, dict) and (names := _names(info.get("features"))):
            described.names[str(info.get("config_name", "default"))] = names
    for config in content.get("configs") or []:
        if isinstance(config, dict) and (config.get("data_files") or config.get("data_dir")):
            within = str(config.get("data_dir") or "").strip("./")
            described.configs[str(config.get("config_name", "default"))] = {
                split: tuple(f"{within}/{path}" if within else path for path in paths)
                for split, paths in _data_files(config.get("data_files") or "**")
            }
    return described


def _data_files(data: Any) -> Iterator[tuple[str, tuple[str, ...]]]:
    entries = data if isinstance(data, list) else [data]
    for entry in entries:
        if isinstance(entry, str):
            yield "", (entry,)
        elif isinstance(entry, dict) and "path" in entry:
            paths = entry["path"] if isinstance(entry["path"], list) else [entry["path"]]
            yield str(entry.get("split", "")), tuple(map(str, paths))


def _names(features: Any) -> dict[str, tuple[str, ...]]:
    """Label names by column, of all forms in which features are written."""
    if isinstance(features, list):
        features = {str(one.get("name")): one for one in features if isinstance(one, dict)}
    columns = features if isinstance(features, dict) else {}
    return {name.casefold(): names for name, feature in columns.items() if (names := _class_names(feature))}


def _class_names(feature: Any) -> tuple[str, ...]:
    if isinstance(feature, list):
        return _class_names(feature[0]) if feature else ()
    if not isinstance(feature, dict):
        return ()
    for key in ("dtype", "class_label", "feature", "sequence", "list"):
        if isinstance(feature.get(key), (dict, list)) and (within := _class_names(feature[key])):
            return within
    names = feature.get("names")
    if isinstance(names, list):
        return tuple(map(str, names))
    if isinstance(names, dict):
        return tuple(str(names[key]) for key in sorted(names, key=lambda key: int(key)))
    return ()


@dataclass(frozen=True)
class SourceFile:
    """One file of a dataset."""

    name: str
    """Its path within the source, for sentences."""
    ending: str
    size: int
    packed: int
    """Bytes that it takes where it is."""
    opened: Callable[[], IO[bytes]] = field(repr=False)
    """Opens it as it is."""
    beside: Beside = field(repr=False)
    """A file by its path from this file's folder; None where there is none."""
    split: str = ""
    beside_tables: bool = False
    """Whether it is a text, and tables are the records."""
    about: Mapping[str, tuple[str, ...]] = field(default_factory=dict, repr=False)
    """Label names by column, as files beside it say."""

    def open(self) -> IO[bytes]:
        """Open it for reading, unpacked."""
        is_packed = self.name.lower().endswith(".gz")
        reader = io.BufferedReader(BoundedReader(self.name, self.opened(), is_packed), BLOCK)
        if self.ending not in COLUMNAR:
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

    @property
    def stem(self) -> str:
        """The file's name without folder and ending."""
        return PurePosixPath(self.name).name.removesuffix(".gz").removesuffix(self.ending)


def fingerprint(source: Path) -> str:
    """Changes where the source does: names, sizes and times of its files."""
    digest = hashlib.sha256()
    for path in _files(source):
        stat = path.stat()
        name = path.relative_to(source) if path != source else path.name
        digest.update(f"{name}\n{stat.st_size}\n{stat.st_mtime_ns}\n".encode())
    return digest.hexdigest()


def parts(source: Path, config: str = "") -> list[SourceFile]:
    """The files of a source that hold records, in order. `config`: of a folder with several configurations, the one
    that is wanted. Raises `CourtroomError`: there is no such source, or nothing in it can be read."""
    if not source.exists():
        raise CourtroomError(f"{source} is not there. Check the path.")
    if source.is_dir():
        found = _configured(source, [_file(path, source) for path in _files(source)], config)
    elif source.suffix.lower() == ".zip":
        archive = Archive(source.name, source, MOST_MEMBERS, MOST_UNPACKED)
        files = [
            _part(path, archive.sizes(path), partial(archive.open, path), partial(archive.find, folder=path.parent))
            for path in sorted(archive.paths(), key=_order)
        ]
        found = _configured(source, files, config)
    else:
        found = [_file(source, source.parent)]
    found = [part for part in found if part.ending in (*TABLES, *TEXTS, *RELEVANCE)]
    if any(part.ending in TABLES for part in found):
        found = [replace(part, beside_tables=part.ending in TEXTS) for part in found]
    if not found:
        endings = ", ".join((*TABLES, *TEXTS))
        why = f"{source.name} holds nothing that can be read. It needs one of {endings}, also packed as .gz or .zip."
        raise CourtroomError(why)
    return found


def split_of(name: str) -> str:
    """The split that a file's path names; empty where it names none."""
    path = PurePosixPath(name)
    stem = path.name.removesuffix(".gz")
    stem = stem.rpartition(".")[0] or stem
    if (bare := _SHARD.sub("", stem)) != stem:
        return path.parent.name if bare == "data" else bare
    for text in (stem, *reversed(path.parent.parts)):
        if found := _SPLIT.search(text):
            word = found[1].lower()
            return SPLITS.get(word, word)
    return ""


def _files(source: Path) -> list[Path]:
    if not source.is_dir():
        return [source]
    top = _top(source)
    within = (path for path in source.rglob("*") if path.is_file() and path.resolve().is_relative_to(top))
    return sorted((path for path in within if not is_hidden(path.relative_to(source))), key=_order)


def _top(source: Path) -> Path:
    """Return the folder out of which no link is followed. Files in Hugging Face's cache are links to its neighbours."""
    folder = (source if source.is_dir() else source.parent).resolve()
    return folder.parent.parent if folder.parent.name == "snapshots" else folder


def _order(path: PurePath) -> tuple[Any, ...]:
    """By path, numbers by their value: 2 comes before 10."""
    words = re.findall(r"\d+|\D+", path.as_posix())
    return tuple((0, int(word), "") if word.isdigit() else (1, 0, word) for word in words)


def _file(path: Path, root: Path) -> SourceFile:
    name, size = path.relative_to(root).as_posix(), path.stat().st_size
    beside = partial(read_within, _top(root), path.parent)
    return _part(PurePosixPath(name), (size, size), lambda: path.open("rb"), beside)


def _part(path: PurePosixPath, sizes: tuple[int, int], opened: Callable[[], IO[bytes]], beside: Beside) -> SourceFile:
    ending = (path.with_suffix("") if path.suffix.lower() == ".gz" else path).suffix.lower()
    return SourceFile(str(path), ending, *sizes, opened, beside, split_of(str(path)))


def _configured(source: Path, files: list[SourceFile], config: str) -> list[SourceFile]:
    """Only the wanted configuration's files, each with what is said of its columns, and the split that is named."""
    about_all = b""
    if (path := source / CARD).is_file():  # also where it is a link that leads out of the folder
        about_all = path.read_bytes()
    elif card := next((part for part in files if part.name == CARD), None):
        try:
            with card.open() as file:
                about_all = file.read()
        except BROKEN as error:
            raise CourtroomError(f"{CARD} in {source.name} can't be read ({error}). Get the file again.") from error
    about = notes_of(source, about_all)
    found = [part for part in files if not ABOUT.fullmatch(PurePosixPath(part.name).name)]
    known = [name for name, files in about.configs.items() if any(_split_in(files, part) is not None for part in found)]
    if config and config not in known:
        raise CourtroomError(f"{source.name} has no configuration “{config}”. It has: {', '.join(known) or 'none'}.")
    if not config and len(known) > 1:
        raise CourtroomError(f"{source.name} holds several datasets: {', '.join(known)}. Say which with --config.")
    chosen = config or (known[0] if known else "")
    if chosen:
        splits = [(part, _split_in(about.configs[chosen], part)) for part in found]
        found = [replace(part, split=split or part.split) for part, split in splits if split is not None]
    described = [about.names[chosen]] if chosen in about.names else [*about.names.values()]
    names = described[0] if len(described) == 1 else {}  # of several that are described, none is chosen
    return [replace(part, about={**names, **_own(part)}) for part in found]


def _split_in(files: Mapping[str, tuple[str, ...]], part: SourceFile) -> str | None:
    """The split that a configuration has a file in, empty where it names none; None where it does not have the file."""
    fits = (split for split, patterns in files.items() if any(fnmatch.fnmatch(part.name, one) for one in patterns))
    return next(fits, None)


def _own(part: SourceFile) -> Mapping[str, tuple[str, ...]]:
    """The features in a `dataset_info.json` beside the file, as `save_to_disk` writes it."""
    try:
        data = part.beside("dataset_info.json")
    except CaseError:
        return {}
    content = _json(data or b"")
    return _names(content.get("features")) if isinstance(content, dict) else {}
