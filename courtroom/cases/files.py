"""Cases as files: `.json`, `.jsonl`, `.zip` with media, in and out; documents and tasks from texts and tables."""

import io
import re
import zipfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, contextmanager
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import chain, islice
from pathlib import Path, PurePosixPath
from typing import Any

from pydantic import ValidationError

from courtroom.cases.archives import Archive, Beside, read_within
from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.cases.kinds import case_kinds, parse_case
from courtroom.cases.labelled import Document, LabelledTask
from courtroom.cases.papers import OFFICE, read_papers
from courtroom.cases.readers import cail, tables, verdictbench
from courtroom.cases.readers.pdf import read_pages
from courtroom.errors import CaseError, CourtroomError
from courtroom.media.store import MediaStore
from courtroom.text.encoding import decoded, in_utf8
from courtroom.text.files import is_json_lines, json_of, json_records
from courtroom.text.languages import language_of
from courtroom.text.table import TableRow
from courtroom.text.words import strings

MAX_UPLOAD = 200 * 2**20
TEXTS = (".txt", ".md", ".pdf", ".csv", ".tsv", *OFFICE)
ENDINGS = frozenset({".json", ".jsonl", ".zip", *TEXTS})
"""Of files that can hold a case."""
CASE_NAMES = ("case.json", "cases.json", "cases.jsonl")
"""In a ZIP file, these are the cases; without any of them, all its .json and .jsonl files are."""
MAX_LISTED_KEYS = 12
MOST_SHOWN, MOST_LEFT_OUT = 5, 100
"""Of things that do not fit, and of rows that were left out, so many are told."""
Names = Mapping[str, str] | None
"""What labels that are numbers mean."""


@dataclass(frozen=True)
class Package:
    """A case and its media files, by the paths under which the case names them."""

    case: Case
    files: Mapping[str, bytes] = field(default_factory=dict)
    remarks: tuple[str, ...] = ()
    """What could not be taken over, or was read otherwise than it says."""
    there: tuple[str, ...] = ()
    """The names of the files that lie beside the case."""


def packed(case: Case, beside: Beside, remarks: tuple[str, ...] = ()) -> Package:
    """A case with those of its media that are there."""
    found = {medium.file: beside(medium.file) for medium in case.media()}
    return Package(case, {name: data for name, data in found.items() if data is not None}, remarks)


def read_upload(name: str, source: bytes | Path, labels: Names = None, encoding: str = "") -> list[Package]:
    """Return all cases of a file, or none.

    Args:
        name: the file's name; its ending says how it is read.
        source: its content, or where it lies; a folder is read as one case with `case.json` and media.
        labels: what labels that are numbers mean, in a table of labelled texts.
        encoding: of texts and tables, as a person says; empty: found from the bytes.
    """
    return [_or_raise(found) for found in read_each(name, source, labels, encoding)]


def read_each(
    name: str, source: bytes | Path, labels: Names = None, encoding: str = ""
) -> Iterator[Package | CaseError]:
    """Read a file record by record: each case, or why it is none; raises `CaseError` where the whole can't be read."""
    beside: Beside = lambda name: None  # noqa: E731  an upload has no files beside it
    if isinstance(source, Path):
        if not source.exists():
            raise CaseError(f"{name} is not there. Check the path.")
        if source.is_dir():
            yield read_folder(source)
            return
        _check_size(name, source.stat().st_size)
        beside, source = partial(read_within, source.parent, source.parent), source.read_bytes()
    _check_size(name, len(source))
    ending = Path(name).suffix.lower()
    if ending == ".zip":
        with closing(Archive(name, source)) as archive:
            yield from _from_zip(archive, labels)
    elif ending in (".json", ".jsonl"):
        yield from _from_text(name, ending, source, beside, labels, encoding)
    elif ending in TEXTS:
        yield _from_paper(name, ending, source, labels, encoding)
    else:
        raise CaseError(f"{name} can't be read. Upload one of {', '.join(sorted(ENDINGS))}.")


def read_folder(folder: Path) -> Package:
    """The case in a folder: `case.json` and its media."""
    path = folder / "case.json"
    if not path.is_file():
        raise CaseError(f"{folder.name} has no case.json. Put the case's JSON there under this name.")
    beside = partial(read_within, folder, folder)
    packages = [_or_raise(found) for found in _from_text(path.name, ".json", path.read_bytes(), beside)]
    if len(packages) > 1:
        raise CaseError(f"{folder.name}/case.json holds {len(packages)} cases. Give each its own folder.")
    names = (path.relative_to(folder).as_posix() for path in folder.rglob("*") if path.is_file())
    return replace(packages[0], there=_media_names(names))


def write_zip(case: Case, media: MediaStore) -> bytes:
    """A case with its media, as `read_upload` reads it."""
    files = {medium.file: medium.sha256 for medium in case.media() if medium.sha256}
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("case.json", case.model_dump_json(indent=2))
        for name, sha256 in files.items():
            archive.write(media.path(sha256), name)
    return out.getvalue()


def _or_raise(found: Package | CaseError) -> Package:
    if isinstance(found, CaseError):
        raise found
    return found


def _from_zip(archive: Archive, labels: Names) -> Iterator[Package | CaseError]:
    paths = [path for path in archive.paths() if path.suffix.lower() in (".json", ".jsonl")]
    if not paths:
        raise CaseError(f"{archive.name} holds no case.json. Put the case's JSON beside its media.")
    named = [path for path in paths if path.name.lower() in CASE_NAMES]
    strays = [] if named else [path for path in paths if _is_stray(archive.read(path))]
    paths = named or [path for path in paths if path not in strays] or paths
    left_out = tuple(f"{path} in {archive.name} is no case, and was left out." for path in strays if path not in paths)
    there = _media_names(map(str, archive.paths()))
    for path in paths:
        where = f"{archive.name} › {path}"
        try:
            data = archive.read(path)
            _check_size(where, len(data))
            records = _from_text(where, path.suffix.lower(), data, partial(archive.find, folder=path.parent), labels)
            begin = [*islice(records, 2)]
            for found in chain(begin, records):
                if isinstance(found, Package):
                    alone = len(begin) == len(paths) == 1
                    unused = _unused(found, there, archive) if alone else ()
                    found = replace(found, remarks=(*found.remarks, *left_out, *unused), there=there)
                    left_out = ()
                yield found
        except CaseError as error:
            yield error


def _unused(package: Package, there: Iterable[str], archive: Archive) -> tuple[str, ...]:
    """The remark on files of a ZIP whose only case does not name them."""
    used = set(package.files.values())
    others = [name for name in there if archive.read(PurePosixPath(name)) not in used]
    if not others or {medium.file for medium in package.case.media()} - package.files.keys():
        return ()  # what is named and absent may be one of these
    more = f" and {len(others) - MAX_LISTED_KEYS} more" if len(others) > MAX_LISTED_KEYS else ""
    return (
        f"No piece of the case names these files, and they were left out: {', '.join(others[:MAX_LISTED_KEYS])}{more}.",
    )


def _is_stray(data: bytes) -> bool:
    """Whether a JSON file is whole, and nothing in it is meant to be a case."""
    try:
        content = json_of(data)
    except CaseError:
        return False
    rows = [row for row in (content if isinstance(content, list) else [content]) if isinstance(row, dict)]
    return not any("kind" in row or _reader(row) or tables.looks_labelled(row) for row in rows)


def _media_names(names: Iterable[str]) -> tuple[str, ...]:
    return tuple(sorted(name for name in names if PurePosixPath(name).suffix.lower() not in (".json", ".jsonl")))


def _from_text(
    where: str, ending: str, data: bytes, beside: Beside, labels: Names = None, encoding: str = ""
) -> Iterator[Package | CaseError]:
    with _named(where):
        text, remark = decoded(data, encoding)
        if ending == ".json" and not is_json_lines(text):  # lines are how CAIL2018 is handed around
            content = json_of(text)
            rows = content if isinstance(content, list) else [content]
            records = [TableRow(f"case {n}" if len(rows) > 1 else "", row) for n, row in enumerate(rows, start=1)]
        else:
            records = list(json_records(text.encode(errors="surrogatepass")))
    if not records:
        raise CaseError(f"{where} holds no case. Put at least one into it.")
    objects = [row.cells for row in records[: tables.MOST_COMPARED] if isinstance(row.cells, dict) and not row.fault]
    told = tuple(filter(None, [remark]))
    plain = [row for row in objects if "kind" not in row and not _reader(row)]
    if 2 * len(plain) > len(objects) and tables.looks_labelled(name for row in plain for name in row):
        with _named(where):
            read = tables.task_from_rows((replace(row, place=row.place or "the file") for row in records), labels)
            package = _task(where, read, remark)
        yield package
        return
    for row in records:
        at = f"{where}, {row.place}" if row.place else where
        try:
            if row.fault:
                raise CaseError(f"{at}: {row.fault}")
            package = _package(at, row.cells, beside)
            yield replace(package, remarks=(*told, *package.remarks))
            told = ()
        except CaseError as error:
            yield error


def _package(where: str, row: Any, beside: Beside) -> Package:
    remarks: tuple[str, ...] = ()
    with _named(where):
        if isinstance(row, dict) and (convert := _reader(row)):
            row, remarks = convert(row)
        elif isinstance(row, dict) and "kind" not in row:
            raise CaseError(
                f"the field `kind` is missing, which says what kind of case this is: {', '.join(case_kinds())}. "
                f"A dispute without it has its evidence under one of these names: {', '.join(verdictbench.MARKS)}. "
                f"This one has: {', '.join(map(str, list(row)[:MAX_LISTED_KEYS]))[:400]}."
            )
    with _named(where, row):
        case = parse_case(row)
    if "language" not in row:
        case = case.model_copy(update={"language": language_of("\n".join(strings(row, ("id", "file", "kind"))))})
    return packed(case, beside, remarks)


def _reader(row: dict[str, Any]) -> Callable[[dict[str, Any]], tuple[dict[str, Any], tuple[str, ...]]] | None:
    """What reads a record of another format; None where it is none of those that are known."""
    if verdictbench.looks_like(row):
        return verdictbench.convert
    if cail.looks_like(row):
        return cail.convert
    return cail.convert_lawbench if cail.looks_like_lawbench(row) else None


def _check_size(where: str, size: int) -> None:
    if size > MAX_UPLOAD:
        raise CaseError(f"{where} has {size / 2**20:.0f} MB; {MAX_UPLOAD // 2**20} MB are allowed. Split it.")


def _from_paper(name: str, ending: str, data: bytes, labels: Names, encoding: str) -> Package:
    """The one case in a text, a table, a PDF, or a file of an office program."""
    if ending == ".pdf":
        found = read_pages(name, data)
        if not any(map(str.strip, found.pages)):
            raise CaseError(
                f"{name} holds no text, only pictures of it. "
                "Choose “From papers” on the page Cases: there its pages are pictures."
            )
        return _document(name, "\n\n".join(filter(None, found.pages)), found.told(name))
    if ending in OFFICE:
        return _from_office(name, data)
    with _named(name):
        file, remark = in_utf8(io.BytesIO(data), encoding)
        table = None if ending == ".md" else tables.table_in(file, ending)
        if table is not None:
            return _task(name, tables.task_from_table(table, labels), remark)
        text, remark = decoded(data, encoding)
    return _document(name, text, filter(None, [remark]), markdown=text if ending == ".md" else "")


def _from_office(name: str, data: bytes) -> Package:
    """A document of all texts in a file; it has no pictures."""
    papers = read_papers(name, data)
    text = "\n\n".join(piece.text for piece in papers.pieces if piece.text)
    if not text:
        raise CaseError(f"{name} holds only pictures. Choose “From papers” on the page Cases, and bring it there.")
    pictures = [piece.source for piece in papers.pieces if piece.medium]
    left_out = f"Pictures in {name} are no part of a document, and were left out: {len(pictures)}."
    return _document(name, text, (*papers.remarks, *([left_out] if pictures else ())))


def _document(name: str, text: str, remarks: Iterable[str], markdown: str = "") -> Package:
    with _named(name):
        return Package(Document(text=text, **_known(name, text, markdown)), remarks=tuple(remarks))


def _task(name: str, read: tables.TaskRead, remark: str) -> Package:
    """The labelled task that was read of a file of this name."""
    known = _known(name, "\n".join(item["text"] for item in read.fields["items"][:20]))
    left_out = [*read.left_out[:MOST_LEFT_OUT]]
    if more := len(read.left_out) - len(left_out):
        left_out.append(f"And {more} more rows were left out.")
    case = LabelledTask.model_validate({**read.fields, **known})
    return Package(case, remarks=(*filter(None, [remark]), *left_out, *read.remarks))


def _known(name: str, text: str, markdown: str = "") -> dict[str, Any]:
    """What a file's name says of a case, and its language by a text; a heading of Markdown is its title."""
    heading = re.search(r"^#+\s+(.+)$", markdown, re.MULTILINE)
    title = heading[1] if heading else re.sub("[_-]", " ", Path(name).stem)
    own = re.sub(r"[^A-Za-z0-9]+", "-", Path(name).stem).strip("-").lower()[:60] or "text"
    known = {"id": own, "title": title.strip()[:200] or "Text", "language": language_of(text)}
    return {**known, "source": Path(name).name[:400]}


@contextmanager
def _named(where: str, data: Any = None) -> Iterator[None]:
    """Report what is wrong with the place where it is, such as a file's name; `data`: what may not fit."""
    try:
        yield
    except ValidationError as error:
        lines = explain(error, data)
        more = f" And {len(lines) - MOST_SHOWN} more." if len(lines) > MOST_SHOWN else ""
        raise CaseError(f"{where}: {' '.join(lines[:MOST_SHOWN])}{more}") from error
    except tables.NumberedLabels as error:
        raise tables.NumberedLabels(error.values, where) from error
    except CourtroomError as error:
        raise CaseError(f"{where}: {error}") from error
