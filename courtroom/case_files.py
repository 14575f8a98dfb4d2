"""Cases as files: `.json`, `.jsonl`, `.zip` with media, in and out."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from courtroom.case import Case
from courtroom.case_kinds import parse_case
from courtroom.errors import CaseError, CourtroomError
from courtroom.media import MediaStore
from courtroom.readers import verdictbench

MAX_UPLOAD = 200 * 2**20
MAX_UNPACKED = 500 * 2**20
MAX_MEMBERS = 2_000
MAX_RATIO = 200
"""A member that unpacks to more than this many times its packed size is taken for a bomb (above 1 MB)."""


@dataclass(frozen=True)
class Package:
    """A case and its media files, by the paths under which the case names them."""

    case: Case
    files: Mapping[str, bytes] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What a reader of another format could not take over."""


def read_upload(name: str, source: bytes | Path) -> list[Package]:
    """All cases of an uploaded file.

    Args:
        name: the file's name; its ending says how it is read.
        source: its content, or where it lies; a folder is read as one case with `case.json` and media.

    Raises:
        CaseError: a sentence that names the place and the mend.
    """
    if isinstance(source, Path):
        if not source.exists():
            raise CaseError(f"{name} is not there. Check the path.")
        if source.is_dir():
            return [read_folder(source)]
        _check_size(name, source.stat().st_size)
        package_files = _Beside(source.parent)
        data = source.read_bytes()
    else:
        package_files = _Beside(None)
        data = source
    _check_size(name, len(data))
    suffix = Path(name).suffix.lower()
    if suffix == ".zip":
        return list(_read_zip(name, data))
    if suffix == ".json":
        return list(_from_data(name, _json(name, _text(name, data)), package_files))
    if suffix == ".jsonl":
        lines = [(n, line) for n, line in enumerate(_text(name, data).splitlines(), start=1) if line.strip()]
        if not lines:
            raise CaseError(f"{name} holds no case. Each line needs one JSON object.")
        rows = [(f"{name}, line {n}", _json(f"{name}, line {n}", line)) for n, line in lines]
        return [package for place, row in rows for package in _from_data(place, row, package_files)]
    raise CaseError(f"{name} can't be read. Upload a .json, .jsonl or .zip file.")


def read_folder(folder: Path) -> Package:
    """The case in a folder: `case.json` and its media."""
    path = folder / "case.json"
    if not path.is_file():
        raise CaseError(f"{folder.name} has no case.json. Put the case's JSON there under this name.")
    (package,) = _from_data(path.name, _json(path.name, _text(path.name, path.read_bytes())), _Beside(folder))
    return package


def write_json(case: Case) -> str:
    """A case as JSON."""
    return case.model_dump_json(indent=2)


def write_zip(case: Case, media: MediaStore) -> bytes:
    """A case with its media, as `read_upload` reads it."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("case.json", write_json(case))
        for medium in case.media():
            if medium.sha256:
                archive.write(media.path(medium.sha256), medium.file)
    return out.getvalue()


def explain(error: ValidationError) -> list[str]:
    """A sentence for each thing that does not fit, naming the field as a reader would."""
    return [f"{place(item['loc'])}: {_plain(item)}" for item in error.errors()]


def place(location: tuple[int | str, ...]) -> str:
    """`("evidence", 1, "media", 0, "file")` as `evidence 2 › media 1 › file`."""
    words: list[str] = []
    for part in location:
        if isinstance(part, int) and words:
            words[-1] += f" {part + 1}"
        else:
            words.append(str(part))
    return " › ".join(words) or "the whole"


def _plain(item: Any) -> str:
    kind, message = item["type"], str(item["msg"])
    if kind == "missing":
        return "is missing. Add this field."
    if kind == "extra_forbidden":
        return "is not a known field. Remove it, or check its spelling."
    if kind == "literal_error":
        return f"must be one of {item['ctx']['expected']}."
    return f"{message.removeprefix('Value error, ').rstrip('.')}. Correct the value."


class _Beside:
    """Media files that lie beside a case file on disk; none for an upload."""

    def __init__(self, folder: Path | None) -> None:
        self._folder = folder

    def read(self, name: str) -> bytes | None:
        if self._folder is None or _leaves(name):
            return None
        path = self._folder / name
        return path.read_bytes() if path.is_file() else None


class _Within:
    """Media files within an archive, beside the case's own file."""

    def __init__(self, archive: zipfile.ZipFile, folder: PurePosixPath) -> None:
        self._archive, self._folder = archive, folder
        self._names = set(archive.namelist())

    def read(self, name: str) -> bytes | None:
        path = str(self._folder / name)
        return self._archive.read(path) if path in self._names and not _leaves(name) else None


def _from_data(where: str, data: Any, files: _Beside | _Within) -> Iterator[Package]:
    rows = data if isinstance(data, list) else [data]
    if not rows:
        raise CaseError(f"{where} holds no case. Put at least one into it.")
    for number, row in enumerate(rows, start=1):
        place_of = f"{where}, case {number}" if len(rows) > 1 else where
        try:
            remarks: tuple[str, ...] = ()
            if isinstance(row, dict) and "kind" not in row and verdictbench.looks_like(row):
                row, remarks = verdictbench.convert(row)
            case = parse_case(row)
        except ValidationError as error:
            raise CaseError(f"{place_of}: " + " ".join(explain(error))) from error
        except RecursionError as error:
            raise CaseError(f"{place_of} is nested too deeply to be a case.") from error
        except CourtroomError as error:
            raise CaseError(f"{place_of}: {error}") from error
        found = {medium.file: files.read(medium.file) for medium in case.media()}
        yield Package(case, {name: data for name, data in found.items() if data is not None}, remarks)


def _read_zip(name: str, data: bytes) -> Iterator[Package]:
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
    except zipfile.BadZipFile as error:
        raise CaseError(f"{name} is no ZIP file, or it is cut off. Pack it again.") from error
    members = archive.infolist()
    if len(members) > MAX_MEMBERS:
        raise CaseError(f"{name} holds {len(members)} files; {MAX_MEMBERS} are allowed. Split it.")
    if sum(member.file_size for member in members) > MAX_UNPACKED:
        raise CaseError(f"{name} unpacks to more than {MAX_UNPACKED // 2**20} MB. Split it.")
    for member in members:
        if _leaves(member.filename) or (member.external_attr >> 16) & 0o170000 == 0o120000:
            raise CaseError(f"{name} holds a path that leads out of it ({member.filename!r}). Pack it again without.")
        if member.file_size > 2**20 and member.file_size > MAX_RATIO * max(1, member.compress_size):
            raise CaseError(f"{name} holds a file that unpacks to far more than it should ({member.filename!r}).")
    cases = [m for m in members if PurePosixPath(m.filename).suffix.lower() in (".json", ".jsonl")]
    if not cases:
        raise CaseError(f"{name} holds no case.json. Put the case's JSON beside its media.")
    for member in cases:
        path = PurePosixPath(member.filename)
        try:
            text = _text(str(path), archive.read(member))
        except (zipfile.BadZipFile, RuntimeError, NotImplementedError) as error:
            raise CaseError(f"{path} in {name} can't be unpacked. Pack it again without a password.") from error
        within = _Within(archive, path.parent)
        if path.suffix.lower() == ".json":
            yield from _from_data(f"{name} › {path}", _json(f"{name} › {path}", text), within)
        else:
            for number, line in enumerate(text.splitlines(), start=1):
                if line.strip():
                    place_of = f"{name} › {path}, line {number}"
                    yield from _from_data(place_of, _json(place_of, line), within)


def _check_size(name: str, size: int) -> None:
    if size > MAX_UPLOAD:
        raise CaseError(f"{name} has {size / 2**20:.0f} MB; {MAX_UPLOAD // 2**20} MB are allowed. Split it.")


def _text(name: str, data: bytes) -> str:
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CaseError(f"{name} is not UTF-8 text. Save it as UTF-8.") from error


def _json(name: str, text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError as error:
        raise CaseError(
            f"{name} is not valid JSON: line {error.lineno}, column {error.colno}. Mend it there, or check that the "
            "file is whole."
        ) from error
    except RecursionError as error:
        raise CaseError(f"{name} is nested too deeply to be a case.") from error


def _leaves(name: str) -> bool:
    """Whether a path leads out of its folder."""
    path = PurePosixPath(name.replace("\\", "/"))
    return path.is_absolute() or ".." in path.parts or ":" in (path.parts or ("",))[0]
