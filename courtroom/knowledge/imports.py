"""Files of statutes, charges or referred precedents, taken into a knowledge base whole or not at all, and gone on with after a kill."""

from __future__ import annotations

import asyncio
import hashlib
import json
import secrets
import time
from collections.abc import Callable, Iterable, Iterator
from functools import partial
from itertools import islice
from pathlib import Path
from typing import Any, TypeVar

from pydantic import TypeAdapter, ValidationError

from courtroom.access.account import Access
from courtroom.access.acting import needs
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.explain import explain
from courtroom.cases.files import read_upload
from courtroom.errors import CourtroomError
from courtroom.knowledge.bases import BUNDLED, IMPORTED, BaseName, How, Kind, kept_as
from courtroom.knowledge.collection import Collection, Ready
from courtroom.knowledge.search import Knowledge
from courtroom.law.article_numbers import article_number
from courtroom.law.charge import Charge, charges_of
from courtroom.law.judgment import Decided
from courtroom.law.statute import Both, Statute
from courtroom.store.database import Database
from courtroom.store.failures import FAILURES
from courtroom.store.rows import read, read_all
from courtroom.store.writer import plainly
from courtroom.strict import Strict
from courtroom.text.words import is_chinese

Progress = Callable[[str, int, int], None]
"""What is being done, how many records of how many."""
T = TypeVar("T")
_BASE = TypeAdapter(BaseName)
BATCH = 200
MARKS = {"之一": 1, "之二": 2, "之三": 3, "之四": 4, "之五": 5, "之六": 6, "之七": 7, "之八": 8}


class PendingImport(Strict):
    """An import under way, or interrupted."""

    digest: str
    collection: Kind
    name: str
    total: int
    done: int
    began: float
    base: str
    """The knowledge base into which it goes."""
    how: How
    """Whether its records are put beside those of the base, or in their place."""


class Imports:
    """Imports into one knowledge base.

    A file is first checked to its end and set aside; then its records go in by batches, each with the count of what is
    done in one transaction. A killed process leaves whole batches, and going on takes in the rest.

    Args:
        folder: where checked files wait.
    """

    def __init__(self, database: Database, knowledge: Knowledge, folder: Path) -> None:
        self._database, self._knowledge, self._folder = database, knowledge, folder

    @needs(Access.RUN)
    def begin(self, into: Kind, name: str, data: bytes, base: str = IMPORTED, how: How = "add") -> str:
        """Check a whole file and set its records aside; the import's digest.

        Args:
            base: the knowledge base into which it goes; it comes into being with its first record.
            how: `add` puts the records beside those of the base (of two with one id the new one stays), `replace` in their place.

        Raises:
            CourtroomError: the base can't be imported into, a record does not fit, or the disk takes no more; the sentence
                says what, and nothing is taken in.
        """
        _check_base(base)
        part = self._folder / f"{secrets.token_hex(8)}.part"
        with plainly("then take the file in again"):
            self._folder.mkdir(parents=True, exist_ok=True)
            try:
                digest, total = _set_aside(into, f"{into}\n{base}\n{how}\n", name, data, part)
                part.replace(self._folder / f"{digest}.jsonl")
            finally:
                part.unlink(missing_ok=True)
            try:
                self._database.connection.execute(
                    "INSERT INTO imports (digest, collection, name, total, done, began, base, how)"
                    " VALUES (?, ?, ?, ?, 0, ?, ?, ?) ON CONFLICT (digest) DO NOTHING",
                    (digest, into, name, total, time.time(), base, how),
                )
            except FAILURES:
                if all(job.digest != digest for job in self.pending()):
                    (self._folder / f"{digest}.jsonl").unlink(missing_ok=True)
                raise
        return digest

    def pending(self) -> list[PendingImport]:
        """Imports that have not come to their end, oldest first."""
        rows = self._database.connection.execute("SELECT * FROM imports ORDER BY began")
        return read_all(rows, lambda row: read("import", row["name"], lambda: PendingImport.model_validate(dict(row))))[
            0
        ]

    @needs(Access.RUN)
    async def go_on(self, digest: str, progress: Progress = lambda what, done, total: None) -> PendingImport:
        """Take in what is still to be taken in, then bring the index up to date.

        Raises:
            CourtroomError: the disk takes no more; what is in stays in, and going on takes in the rest.
        """
        with plainly("then go on with the import. What is in stays in"):
            return await self._go_on(digest, progress)

    async def _go_on(self, digest: str, progress: Progress) -> PendingImport:
        row = self._database.connection.execute("SELECT * FROM imports WHERE digest = ?", (digest,)).fetchone()
        if row is None:
            raise CourtroomError("This import is done or was given up. Choose the file again to repeat it.")
        job = PendingImport.model_validate(dict(row))
        path = self._folder / f"{digest}.jsonl"
        if not path.exists():
            self.give_up(digest)
            raise CourtroomError(f"The checked copy of {job.name} is gone. Choose the file again.")
        collections = await asyncio.to_thread(self._collections, job)
        await asyncio.to_thread(self._take_in, job, path, progress)
        await self._index(collections, progress)
        self.give_up(digest)
        return job

    def _take_in(self, job: PendingImport, path: Path, progress: Progress) -> None:
        with path.open(encoding="utf-8", newline="\n") as lines:
            rest = islice(lines, job.done, job.total)
            done = job.done
            while batch := list(islice(rest, BATCH)):
                if replaced := self._replaced(job, path) if not done else []:
                    progress("Replacing", done, job.total)
                done += len(batch)
                ready = self._ready(job, batch, new=replaced)
                with self._database.transaction() as db:
                    for collection in replaced:
                        collection.take_out([record.id for record in collection.all()])
                        db.execute("DELETE FROM origins WHERE collection = ?", (collection.name,))
                    for collection, rows in ready:
                        collection.write(rows)
                    db.execute("UPDATE imports SET done = ? WHERE digest = ?", (done, job.digest))
                    if done == job.total:
                        self._remember(job)
                progress("Taking in", done, job.total)

    def _replaced(self, job: PendingImport, path: Path) -> list[Collection[Any]]:
        """What an import puts its records in place of. Statutes that name no charges leave the list of charges as it is."""
        if job.how == "add":
            return []
        found = [self._knowledge.of(job.collection, job.base)]
        if job.collection == "statutes":
            with path.open(encoding="utf-8", newline="\n") as lines:
                if any(Statute.model_validate_json(line).charges for line in lines):
                    found.append(self._knowledge.of("charges", job.base))
        return found

    def _remember(self, job: PendingImport) -> None:
        self._database.connection.execute(
            "INSERT INTO origins (collection, file, digest, records, how, at) VALUES (?, ?, ?, ?, ?, ?)",
            (kept_as(job.collection, job.base), job.name, job.digest, job.total, job.how, time.time()),
        )

    @needs(Access.RUN)
    def give_up(self, digest: str) -> None:
        """Forget an import; what it has taken in so far stays."""
        self._database.connection.execute("DELETE FROM imports WHERE digest = ?", (digest,))
        (self._folder / f"{digest}.jsonl").unlink(missing_ok=True)

    # --- within ---------------------------------------------------------------------------------------------

    def _ready(
        self, job: PendingImport, lines: Iterable[str], new: list[Collection[Any]]
    ) -> list[tuple[Collection[Any], list[Ready]]]:
        """What is to be written of some records, worked out before the store is locked for it.

        Args:
            new: collections that are emptied before; nothing that they hold counts.
        """
        main = self._knowledge.of(job.collection, job.base)
        records = [main.parse(line) for line in lines]
        ready = [(main, main.ready(records))]
        if job.collection == "statutes":
            charges = self._knowledge.of("charges", job.base)
            named = charges_of(record for record in records if isinstance(record, Statute))
            ready.append((charges, charges.ready(named if charges in new else map(self._joined(charges), named))))
        return ready

    @staticmethod
    def _joined(charges: Collection[Charge]) -> Callable[[Charge], Charge]:
        """A charge with the articles under which the base has it already."""

        def joined(charge: Charge) -> Charge:
            known = charges.get(charge.id)
            articles = dict.fromkeys((*(known.articles if known else ()), *charge.articles))
            return charge.model_copy(update={"articles": tuple(articles)})

        return joined

    def _collections(self, job: PendingImport) -> list[Collection[Any]]:
        """What an import changes."""
        kinds: tuple[Kind, ...] = ("statutes", "charges") if job.collection == "statutes" else (job.collection,)
        return [self._knowledge.of(kind, job.base) for kind in kinds]

    async def _index(self, collections: list[Collection[Any]], progress: Progress) -> None:
        for collection in collections:
            await collection.warm(partial(progress, "Building the index"))


def _check_base(base: str) -> None:
    if base == BUNDLED:
        raise CourtroomError(
            f"The knowledge base “{BUNDLED}” holds what Courtroom brings along. Import into another one."
        )
    try:
        _BASE.validate_python(base)
    except ValidationError as error:
        raise CourtroomError(
            f"“{base[:60]}” can't be the name of a knowledge base. Use small letters, digits and hyphens, 40 at most."
        ) from error


def _set_aside(into: Kind, head: str, name: str, data: bytes, part: Path) -> tuple[str, int]:
    """Write all records to a file; the digest of all, and how many there are."""
    digest, total = hashlib.sha256(head.encode()), 0
    with part.open("wb") as file:
        for record in _READ[into](name, data):
            line = f"{record.model_dump_json()}\n".encode()
            file.write(line)
            digest.update(line)
            total += 1
    if not total:
        raise CourtroomError(f"{name} holds no records. Choose a file with one JSON object on each line.")
    return digest.hexdigest(), total


def _entries(name: str, data: bytes, read: Callable[[Any], T]) -> Iterator[T]:
    for where, row in _rows(name, data):
        try:
            yield read(row)
        except ValidationError as error:
            raise CourtroomError(f"{where}: {' '.join(explain(error))} Nothing of the file was taken in.") from error
        except (ValueError, TypeError) as error:
            raise CourtroomError(f"{where}: {error}. Nothing of the file was taken in.") from error


def _statutes(name: str, data: bytes) -> Iterator[Statute]:
    return _entries(name, data, _statute)


def _charges(name: str, data: bytes) -> Iterator[Charge]:
    return _entries(name, data, _charge)


def _statute(row: Any) -> Statute:
    if not isinstance(row, dict) or "number" not in row or "text" not in row:
        raise ValueError("a statute needs the fields `number` and `text`")
    named, text = row["number"], row["text"]
    if isinstance(named, bool) or not isinstance(named, int | str):
        raise TypeError("`number` must be an article's number, e.g. 264")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("`text` must be the article's text")
    charges = row.get("charges", [])
    number, suffix = _article(named, row.get("suffix", 0))
    return Statute(
        number=number,
        suffix=suffix,
        text=_both(text),
        interpretation=row.get("interpretation") or "",
        charges=tuple(_both(charge) for charge in charges),
    )


def _article(named: int | str, suffix: int = 0) -> tuple[int, int]:
    """Number and suffix of an article, e.g. of `133-1`; the suffix may be a field of its own."""
    if isinstance(named, str) and not suffix:
        marked = [value for mark, value in MARKS.items() if mark in named]
        tail = named.rpartition("-")[2] if "-" in named else ""
        suffix = marked[0] if marked else int(tail) if tail.isdigit() else 0
    return article_number(named), suffix


def _charge(row: Any) -> Charge:
    if not isinstance(row, dict) or not row.get("name") or not row.get("articles"):
        raise ValueError("a charge needs the fields `name` and `articles`")
    named = row["articles"] if isinstance(row["articles"], list) else [row["articles"]]
    if not all(isinstance(article, int | str) and not isinstance(article, bool) for article in named):
        raise TypeError('`articles` must be a list of articles, e.g. [264, "133-1"]')
    name, text = _both(row["name"]), _both(row.get("text") or "")
    articles = [f"{number}-{suffix}" if suffix else str(number) for number, suffix in map(_article, named)]
    return Charge(id=name.zh or name.en, name=name, articles=tuple(dict.fromkeys(articles)), text=text)


def _both(text: Any) -> Both:
    if not isinstance(text, str):
        return Both.model_validate(text)
    return Both(zh=text) if is_chinese(text) else Both(en=text)


def _cases(name: str, data: bytes) -> Iterator[CriminalCase]:
    for package in read_upload(name, data):
        case = package.case
        if not isinstance(case, CriminalCase):
            raise CourtroomError(f"{name}: {case.id} is a {case.kind_title.lower()}, not a criminal case.")
        if case.gold is None or case.gold.decided() == Decided():
            raise CourtroomError(f"{name}: {case.id} has no judgment, so it can't be a precedent.")
        facts = hashlib.sha256(case.facts.encode()).hexdigest()[:16]
        yield case.model_copy(update={"id": f"case-{facts}", "given": None})  # the same facts are one precedent


def _rows(name: str, data: bytes) -> Iterator[tuple[str, Any]]:
    """What stands on each line, or in each entry of one JSON document."""
    try:
        text = data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise CourtroomError(f"{name} is not UTF-8 text. Save it as UTF-8.") from error
    if text.lstrip().startswith("["):
        rows = _value(name, text)
        yield from ((f"{name}, entry {number}", row) for number, row in enumerate(rows, start=1))
        return
    for number, line in enumerate(text.split("\n"), start=1):
        if line.strip():
            where = f"{name}, line {number}"
            yield where, _value(where, line)


def _value(where: str, text: str) -> Any:
    try:
        return json.loads(text)
    except (ValueError, RecursionError) as error:  # ValueError also of a number with too many digits
        raise CourtroomError(f"{where} is not valid JSON. Mend it; nothing of the file was taken in.") from error


_READ: dict[Kind, Callable[[str, bytes], Iterator[Statute] | Iterator[Charge] | Iterator[CriminalCase]]] = {
    "statutes": _statutes,
    "charges": _charges,
    "cases": _cases,
}
