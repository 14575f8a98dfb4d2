"""Files of statutes, charges or referred precedents are imported into a knowledge base whole or not at all."""

import asyncio
import hashlib
import logging
import re
import time
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import partial
from typing import Any, TypeVar

from pydantic import ValidationError

from courtroom.access import Access, needs
from courtroom.cases.checks import explain
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Precedent
from courtroom.cases.files import read_upload
from courtroom.errors import CaseError, CourtroomError
from courtroom.knowledge.bases import BUNDLED, IMPORTED, NAMING, How, Kind
from courtroom.knowledge.collection import Collection, Ready
from courtroom.knowledge.search import Knowledge
from courtroom.law import Both, Charge, Decided, Statute, article_number, bare_charge, charges_of
from courtroom.store.database import Database
from courtroom.store.writer import plainly
from courtroom.text.files import json_records
from courtroom.text.languages import language_of

Progress = Callable[[str, int, int], None]
T = TypeVar("T")
log = logging.getLogger(__name__)
BATCH = 200
MARKS = {"之一": 1, "之二": 2, "之三": 3, "之四": 4, "之五": 5, "之六": 6, "之七": 7, "之八": 8}


@dataclass(frozen=True)
class CheckedFile:
    """A file whose records all fit, so that it can be imported."""

    collection: Kind
    name: str
    base: str
    how: How
    """Whether its records are added to those of the base, or replace them."""
    digest: str
    records: tuple[Any, ...] = field(repr=False)


@dataclass
class ImportJob:
    """How far an import is."""

    name: str
    total: int
    done: int = 0
    what: str = "Taking in"
    error: str = ""
    running: bool = True


class Imports:
    """What a person brings to the knowledge bases.

    A file of statutes, charges or cases is first checked to its end; all its records go in by one transaction. Of
    precedents of disputes those are taken that fit.
    """

    def __init__(self, database: Database, knowledge: Knowledge) -> None:
        self._database, self._knowledge = database, knowledge

    @needs(Access.RUN)
    def check(self, into: Kind, name: str, data: bytes, base: str = IMPORTED, how: How = "add") -> CheckedFile:
        """Check a whole file. The knowledge base into which it goes comes into being with its first record. `how`:
        `add` its records to those of the base, where of two with one id the new one stays, or `replace` these. Raises
        `CourtroomError`: the base can't be imported into, or a record does not fit; the sentence says what."""
        if base == BUNDLED:
            raise CourtroomError(
                f"The knowledge base “{BUNDLED}” holds what Courtroom brings along. Import into another one."
            )
        if not re.fullmatch(NAMING, base):
            raise CourtroomError(
                f"“{base[:60]}” can't be the name of a knowledge base. "
                "Use small letters, digits and hyphens, 40 at most."
            )
        digest = hashlib.sha256(f"{into}\n{base}\n{how}\n".encode())
        records = tuple(_READ[into](name, data))
        if not records:
            raise CourtroomError(f"{name} holds no records. Choose a file with one JSON object on each line.")
        for record in records:
            digest.update(f"{record.model_dump_json()}\n".encode())
        return CheckedFile(into, name, base, how, digest.hexdigest(), records)

    @needs(Access.RUN)
    async def run(self, file: CheckedFile, progress: Progress = lambda what, done, total: None) -> None:
        """Import a checked file, then bring the index up to date."""
        with plainly("then import the file again"):
            collections = await asyncio.to_thread(self._write, file, progress)
            for collection in collections:
                await collection.warm(partial(progress, "Building the index"))

    @needs(Access.RUN)
    def add_precedents(self, precedents: Iterable[Precedent]) -> None:
        self._knowledge.of("precedents").add(precedents)

    @needs(Access.OWN)
    def delete_precedent(self, precedent: str) -> None:
        """Forget one. `add_precedents` brings it back."""
        self._knowledge.of("precedents").remove([precedent])

    @needs(Access.RUN)
    def import_precedents(self, data: bytes) -> tuple[list[Precedent], list[str]]:
        """Take in a JSON array or JSONL; give what was taken, and for each line that does not fit a sentence with its
        number, or with that of the item in an array."""
        taken, problems = list[Precedent](), list[str]()
        try:
            for row in json_records(data):
                try:
                    taken.append(Precedent.model_validate(row.cells))
                except ValidationError as error:
                    problems.append(f"{row.place.capitalize()}: {row.fault or ' '.join(explain(error))}")
        except CaseError as error:
            problems.append(f"The file: {error}")
        if not taken and not problems:
            problems.append("The file holds no precedents. Choose one with a JSON object on each line.")
        self.add_precedents(taken)
        return taken, problems

    async def run_job(self, file: CheckedFile, job: ImportJob) -> None:
        """Import a checked file, and note in `job` how far it is and what stopped it."""

        def progress(what: str, done: int, total: int) -> None:
            job.what, job.done, job.total = what, done, total

        try:
            await self.run(file, progress)
            job.done = job.total = len(file.records)  # the last steps counted all that is indexed
        except CourtroomError as error:
            job.error = str(error)
        except Exception:
            job.error = "The import stopped; the log says why. Import the file again."
            log.exception("import of %s", file.name)
        finally:
            job.running = False

    # --- within ---------------------------------------------------------------------------------------------

    def _write(self, file: CheckedFile, progress: Progress) -> list[Collection[Any]]:
        """Write all records, worked out before the store is locked; return the collections that have changed."""
        main, charges = self._knowledge.of(file.collection, file.base), self._knowledge.of("charges", file.base)
        ready: list[Ready] = []
        for start in range(0, len(file.records), BATCH):
            ready += main.ready(file.records[start : start + BATCH])
            progress("Taking in", len(ready), len(file.records))
        rows = [(main, ready)]
        replaced = [main] if file.how == "replace" else []
        if file.collection == "statutes":
            named = charges_of(file.records)
            if replaced and named:  # a statute book that names no charges leaves the list of charges as it is
                replaced.append(charges)
            rows.append(
                (charges, charges.ready(named if charges in replaced else map(partial(_joined, charges), named)))
            )
        with self._database.transaction() as db:
            for collection in replaced:
                collection.remove([record.id for record in collection.all()])
                db.execute("DELETE FROM origins WHERE collection = ?", (collection.name,))
            for collection, lines in rows:
                collection.write(lines)
            db.execute(
                "INSERT INTO origins (collection, file, digest, records, how, at) VALUES (?, ?, ?, ?, ?, ?)",
                (main.name, file.name, file.digest, len(file.records), file.how, time.time()),
            )
        return [collection for collection, _ in rows]


def _joined(charges: Collection[Charge], charge: Charge) -> Charge:
    stored = charges.get(charge.id)
    articles = dict.fromkeys((*(stored.articles if stored else ()), *charge.articles))
    return charge.model_copy(update={"articles": tuple(articles)})


def _entries(read: Callable[[Any], T], name: str, data: bytes) -> Iterator[T]:
    where = name
    try:
        for row in json_records(data):
            where = f"{name}, {row.place}"
            if row.fault:
                raise CaseError(row.fault)
            yield read(row.cells)
    except (CaseError, ValueError, TypeError) as error:  # pydantic's is a ValueError too
        wrong = " ".join(explain(error)) if isinstance(error, ValidationError) else f"{str(error).rstrip('.')}."
        raise CourtroomError(f"{where}: {wrong} Nothing of the file was taken in.") from error


def _statute(row: Any) -> Statute:
    if not isinstance(row, dict) or "number" not in row or "text" not in row:
        raise ValueError("a statute needs the fields `number` and `text`")
    named, text = row["number"], row["text"]
    if isinstance(named, bool) or not isinstance(named, int | str):
        raise TypeError("`number` must be an article's number, e.g. 264")
    if not isinstance(text, str) or not text.strip():
        raise ValueError("`text` must be the article's text")
    number, suffix = _article(named, row.get("suffix", 0))
    bands = [{**band, "when": _both(band.get("when", ""))} for band in row.get("bands", [])]
    return Statute.model_validate(
        {
            "number": number,
            "suffix": suffix,
            "interpretation": row.get("interpretation") or "",
            "charges": tuple(map(_bare, row.get("charges", []))),
            "bands": bands,
            **{name: _both(row.get(name) or "") for name in ("title", "text", "cues")},
        }
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
    name, text = _bare(row["name"]), _both(row.get("text") or "")
    articles = [f"{number}-{suffix}" if suffix else str(number) for number, suffix in map(_article, named)]
    return Charge(id=name.zh or name.en, name=name, articles=tuple(dict.fromkeys(articles)), text=text)


def _both(text: Any) -> Both:
    if not isinstance(text, str):
        return Both.model_validate(text)
    return Both(zh=text) if language_of(text) == "zh" else Both(en=text)


def _bare(name: Any) -> Both:
    both = _both(name)
    return Both(en=bare_charge(both.en), zh=bare_charge(both.zh))


def _cases(name: str, data: bytes) -> Iterator[CriminalCase]:
    for package in read_upload(name, data):
        case = package.case
        if not isinstance(case, CriminalCase):
            raise CourtroomError(f"{name}: {case.id} is a {case.kind_title.lower()}, not a criminal case.")
        if case.gold is None or case.gold.decided() == Decided():
            raise CourtroomError(f"{name}: {case.id} has no judgment, so it can't be a precedent.")
        facts = hashlib.sha256(case.facts.encode()).hexdigest()[:16]
        yield case.model_copy(update={"id": f"case-{facts}", "given": None})  # the same facts are one precedent


_READ: dict[Kind, Callable[[str, bytes], Iterator[Statute] | Iterator[Charge] | Iterator[CriminalCase]]] = {
    "statutes": partial(_entries, _statute),
    "charges": partial(_entries, _charge),
    "cases": _cases,
}
