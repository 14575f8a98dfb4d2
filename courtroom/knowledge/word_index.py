"""BM25 by tantivy, in a folder for each collection. It is built again from the database where it fails."""

import logging
import re
import shutil
import threading
from functools import cache
from importlib.metadata import version as installed
from typing import Any

from courtroom.errors import CourtroomError
from courtroom.knowledge.index_folders import Broken, IndexFolders, broken
from courtroom.knowledge.indexed_records import ALL, FACETS, NOTHING, Changed, Filter, Records
from courtroom.text.words import words

log = logging.getLogger(__name__)

WRITER_BYTES = 15_000_000
"""What tantivy asks for at least, for each thread."""
RECORDS_PER_OUTDATED = 1_000
"""Where more than one in so many was replaced or removed, all are indexed again: until tantivy merges, these still
count for how rare a word is."""
VERSION = "version"
"""The file that says at which version of its records an index is, and with what it was made."""

_CHINESE = re.compile(r"[\u3400-\u9fff]+")


def terms(text: str) -> list[str]:
    """Return words and, in Chinese, pairs of neighbouring characters too.

    On 199 real cases against the statutes both together found the right article more often than either alone.
    """
    pairs = [run[i : i + 2] for run in _CHINESE.findall(text) for i in range(len(run) - 1)]
    return [*words(text), *pairs]


def line(text: str) -> str:
    return " ".join(terms(text))


class WordIndex:
    """The words of a collection's records. Deleting its folder loses nothing."""

    def __init__(self, folders: IndexFolders, name: str) -> None:
        self._folders, self._name = folders, name
        self._lock = threading.Lock()
        self._index: Any = None
        self._version = NOTHING

    def closest(self, records: Records, text: str, k: int, only: Filter = ALL) -> list[tuple[str, float]]:
        """Return the k best records by BM25 (k1 = 1.2, b = 0.75), ids with scores above 0, best first."""
        if not (asked := list(dict.fromkeys(terms(text)))):
            return []
        try:
            try:
                return self._closest(records, asked, k, only)
            except Broken:
                log.exception("the word index %s failed", self._name)
                self.close()
                shutil.rmtree(self._folders.words / self._name, ignore_errors=True)
                return self._closest(records, asked, k, only)
        except (Broken, OSError) as error:
            raise CourtroomError(
                "The word index can't be written. Check that the disk has space and that the folder "
                f"{self._folders.words / self._name} may be written to, then try again."
            ) from error

    def close(self) -> None:
        """Forget what was opened; a look-up opens it again."""
        with self._lock:
            self._index, self._version = None, NOTHING

    def _closest(self, records: Records, asked: list[str], k: int, only: Filter) -> list[tuple[str, float]]:
        with self._lock:
            self._bring_up_to_date(records)
            index = self._index
        with broken():
            import tantivy

            searcher, schema = index.searcher(), _schema()
            either = [(tantivy.Occur.Should, tantivy.Query.term_query(schema, "words", term)) for term in asked]
            query = _narrowed(tantivy.Query.boolean_query(either), only)
            hits = ((searcher.doc(place)["id"][0], round(score, 6)) for score, place in searcher.search(query, k).hits)
            return sorted(hits, key=lambda pair: (-pair[1], pair[0]))  # equals, in whatever order they were written

    def _bring_up_to_date(self, records: Records) -> None:
        # Records are read outside `broken`: a store that does not answer is no fault of the index.
        version = records.version()
        if self._index is None:
            self._open()
        if self._version > version:  # an older store was put back
            self._version = NOTHING
        if self._version < version:
            changed = records.changed(self._version)
            if self._version > NOTHING and self._outdated(changed):
                self._version, changed = NOTHING, records.changed(NOTHING)
            self._write(changed, version)

    def _outdated(self, changed: Changed) -> bool:
        """Whether too many of the records that are indexed were replaced or removed."""
        with broken():
            searcher = self._index.searcher()
            outdated = sum(searcher.doc_freq("id", name) for name in changed.touched)
            return bool(outdated * RECORDS_PER_OUTDATED > searcher.num_docs)

    def _open(self) -> None:
        folder, self._version = self._folders.words / self._name, NOTHING
        with broken(), self._folders.writing():
            import tantivy

            written = (folder / VERSION).read_text() if (folder / VERSION).is_file() else ""
            version, _, made_with = written.partition(" ")
            if made_with == _made_with():
                self._index, self._version = tantivy.Index.open(str(folder)), int(version)
                self._index.searcher()

    def _write(self, changed: Changed, version: int) -> None:
        folder, index, is_new = self._folders.words / self._name, self._index, self._version == NOTHING
        self._index = None
        with broken(), self._folders.writing():
            import tantivy

            if is_new:
                shutil.rmtree(folder, ignore_errors=True)
                folder.mkdir(parents=True)
                index = tantivy.Index(_schema(), str(folder), reuse=False)
            writer = index.writer(WRITER_BYTES, 1)
            for name in () if is_new else changed.touched:
                writer.delete_documents_by_term("id", name)
            for name, text in changed.words.items():
                marks = {**changed.facets[name]}
                day = [marks.pop("day")]
                writer.add_document(tantivy.Document(id=[name], words=[text], marks=[*marks], day=day))
            writer.commit()
            writer.wait_merging_threads()
            (folder / VERSION).write_text(f"{version} {_made_with()}")
            index.reload()
        self._index, self._version = index, version


@cache
def _schema() -> Any:
    import tantivy  # only when something is looked up

    builder = tantivy.SchemaBuilder()
    builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
    builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
    builder.add_text_field("marks", tokenizer_name="raw", index_option="basic")
    builder.add_integer_field("day", indexed=True, fast=True)
    return builder.build()


@cache
def _made_with() -> str:
    return f"tantivy {installed('tantivy')}; words and pairs, 1; {FACETS}"


def _narrowed(query: Any, only: Filter) -> Any:
    """Return a query whose scores stay as they are, over the records that a filter admits."""
    import tantivy

    schema, must = _schema(), tantivy.Occur.Must
    conditions = [tantivy.Query.term_query(schema, "marks", mark) for mark in only.marks]
    if only.days is not None:
        conditions.append(tantivy.Query.range_query(schema, "day", tantivy.FieldType.Integer, *only.days))
    silent = [(must, tantivy.Query.const_score_query(one, 0.0)) for one in conditions]
    return tantivy.Query.boolean_query([(must, query), *silent]) if silent else query
