"""BM25 by tantivy: in memory over few records, else on disk. It is built again from the database where its files are damaged."""

import logging
import re
import shutil
import threading
from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from functools import cache
from pathlib import Path
from typing import Any

from courtroom.errors import CourtroomError
from courtroom.knowledge.indexed_records import (
    ALL,
    FACETS,
    FEW,
    NOTHING,
    Filter,
    Records,
    Seal,
    files_of,
    read_seal,
    whole,
    write_seal,
)
from courtroom.text.words import words

log = logging.getLogger(__name__)

WRITER_BYTES = 15_000_000
"""What tantivy asks for at least, for each thread."""

_CHINESE = re.compile(r"[\u3400-\u9fff]+")


def terms(text: str) -> list[str]:
    """Words and, in Chinese, pairs of neighbouring characters too.

    On 199 real cases against the statutes both together found the right article more often than either alone.
    """
    pairs = [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]
    return [*words(text), *pairs]


def line(text: str) -> str:
    return " ".join(terms(text))


class WordIndex:
    """The words of a collection's records, kept in a folder over more than `few` of them. Deleting it loses nothing; several processes may
    share it."""

    def __init__(self, folder: Path, few: int = FEW) -> None:
        self._folder, self._few = folder, few
        self._lock = threading.Lock()
        self._index: Any = None
        self._on_disk = False
        self._version = NOTHING
        self._names: set[str] = set()

    def closest(self, records: Records, text: str, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """The k best records by BM25 (k1 = 1.2, b = 0.75), ids with scores above 0, best first."""
        asked = list(dict.fromkeys(terms(text)))
        if not asked:
            return []
        import tantivy

        schema = _schema()
        either = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "words", term)) for term in asked]
        query = _narrowed(tantivy.Query.boolean_query(either), only)
        searcher = self._up_to_date(records).searcher()
        hits = ((searcher.doc(place)["id"][0], round(score, 6)) for score, place in searcher.search(query, k).hits)
        return sorted(hits, key=lambda pair: (-pair[1], pair[0]))  # equals, in whatever order they were written

    def fault(self, records: Records) -> str:
        """What is wrong with the files, as a sentence; empty where nothing is."""
        if not self._folder.exists():
            return ""
        seal = read_seal(self._folder)
        if seal is None or not whole(self._folder, seal.files):
            return "Its files are not as they were written."
        return "It is from after the records." if seal.version > records.version() else ""

    def discard(self) -> None:
        with self._lock:
            self._index, self._version, self._names = None, NOTHING, set()
            shutil.rmtree(self._folder, ignore_errors=True)

    def close(self) -> None:
        with self._lock:
            self._index, self._version, self._names = None, NOTHING, set()

    def _up_to_date(self, records: Records) -> Any:
        with self._lock:
            version = records.version()
            if self._index is None or version != self._version:
                try:
                    self._bring_up_to(records, version)
                except (OSError, ValueError) as error:  # tantivy's own errors are of the second kind
                    log.exception("the word index %s failed", self._folder)
                    self._index, self._version, self._names = None, NOTHING, set()
                    raise CourtroomError(
                        "The word index can't be written. Check that the disk has space and that the folder "
                        f"{self._folder} may be written to, then try again."
                    ) from error
            return self._index

    def _bring_up_to(self, records: Records, version: int) -> None:
        on_disk = records.count() > self._few
        if self._index is None or on_disk != self._on_disk:
            self._index, self._version, self._names, self._on_disk = None, NOTHING, set(), on_disk
        with self._locked() if on_disk else nullcontext():
            if on_disk:
                self._open(version)
            elif self._index is None:
                self._index = _new()
            changed = records.changed_words(self._version)
            if not on_disk and not changed.touched.isdisjoint(self._names):
                # Deleted records count for how rare a word is until tantivy merges. Few records are indexed again.
                self._index, self._version, self._names = _new(), NOTHING, set()
                changed = records.changed_words(NOTHING)
            self._names |= set() if on_disk else changed.lines.keys()
            if changed.touched:
                self._write(changed.lines, changed.touched)
                if on_disk:
                    fields = {"version": version, "count": records.count(), "made_with": _made_with()}
                    write_seal(self._folder, Seal(**fields, files=files_of(self._folder)))
        self._index.reload()
        self._version = version

    def _open(self, version: int) -> None:
        """Open what is on disk, where another process has left it further or this one has not opened it."""
        import tantivy

        seal = read_seal(self._folder)
        if self._index is not None and seal is not None and seal.version == self._version:
            return
        usable = seal is not None and seal.made_with == _made_with() and seal.version <= version
        if seal is not None and usable and whole(self._folder, seal.files):
            self._index, self._version = tantivy.Index.open(str(self._folder)), seal.version
            return
        shutil.rmtree(self._folder, ignore_errors=True)
        self._folder.mkdir(parents=True)
        self._index, self._version = _new(self._folder), NOTHING

    def _write(self, lines: Any, touched: frozenset[str]) -> None:
        import tantivy

        writer = self._index.writer(WRITER_BYTES, 1)
        if self._version != NOTHING:
            for name in touched:
                writer.delete_documents_by_term("id", name)
        for name, (text, facets) in lines.items():
            writer.add_document(tantivy.Document(id=[name], words=[text], marks=sorted(facets.marks), day=[facets.day]))
        writer.commit()
        writer.wait_merging_threads()

    @contextmanager
    def _locked(self) -> Iterator[None]:
        """One process at a time brings the files up to date; the others wait, and read what it has left."""
        from filelock import FileLock  # only where an index is on disk

        self._folder.parent.mkdir(parents=True, exist_ok=True)
        with FileLock(self._folder.with_name(f"{self._folder.name}.lock")):
            yield


@cache
def _schema() -> Any:
    import tantivy  # only when something is looked up

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("marks", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("day", indexed=True, fast=True)
    return builder.build()


def _new(folder: Path | None = None) -> Any:
    import tantivy

    return tantivy.Index(_schema(), str(folder), reuse=False) if folder else tantivy.Index(_schema())


@cache
def _made_with() -> str:
    from importlib.metadata import version as installed

    return f"tantivy {installed('tantivy')}; words and pairs, 1; {FACETS}"


def _narrowed(query: Any, only: Filter) -> Any:
    """A query whose scores stay as they are, over the records that a filter admits."""
    import tantivy

    schema, must = _schema(), tantivy.Occur.Must
    conditions = [tantivy.Query.term_query(schema, "marks", mark) for mark in only.marks]
    if only.days is not None:
        conditions.append(tantivy.Query.range_query(schema, "day", tantivy.FieldType.Integer, *only.days))
    if not conditions:
        return query
    silent = [(must, tantivy.Query.const_score_query(one, 0.0)) for one in conditions]
    return tantivy.Query.boolean_query([(must, query), *silent])
