"""Documents with summaries: CNN/DailyMail, SummScreen, XSum, SAMSum, SCROLLS, plain pairs; documents without any.

| set | text | summary |
| --- | --- | --- |
| CNN/DailyMail | `article` | `highlights` |
| SummScreen | `Transcript` (lines) | `Recap` |
| SummScreen of TensorFlow | `transcript` | `recap` |
| XSum, SAMSum, SCROLLS | `document`, `dialogue`, `input` | `summary`, `summary`, `output` |
"""

from collections.abc import Iterator
from typing import Any

from courtroom.cases.document import Document
from courtroom.datasets.forms.form import Context, Form, ImportedRow
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError
from courtroom.text.words import is_chinese

TEXT = ("article", "transcript", "document", "dialogue", "source", "input", "text", "story", "report", "meeting")
SUMMARY = ("highlights", "recap", "summary", "reference", "output", "target", "abstract")
DOMAINS = {("article", "highlights"): "news", ("transcript", "recap"): "story", ("dialogue", "summary"): "conversation"}
TITLES = ("title", "episode_title", "filename", "headline")
IDS = ("id", "uid", "pid", "filename", "idx")


def _pair(names: set[str]) -> tuple[str, str] | None:
    text = next((name for name in TEXT if name in names), None)
    summary = next((name for name in SUMMARY if name in names), None)
    return (text, summary) if text and summary else None


def _is_pair(record: dict[str, Any], part: SourceFile) -> bool:
    return "kind" not in record and _pair({str(name).casefold() for name in record}) is not None


def _read_pair(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    row = {str(name).casefold(): value for name, value in record.items()}
    pair = _pair(set(row))
    if pair is None:
        raise CaseError(f"it needs a text ({', '.join(TEXT)}) and a summary ({', '.join(SUMMARY)}).")
    yield _made(row, context, _plain(row, pair[0]), _plain(row, pair[1]), DOMAINS.get(pair, ""))


def _is_document(record: dict[str, Any], part: SourceFile) -> bool:
    return "kind" not in record and any(str(name).casefold() in TEXT for name in record)


def _read_document(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    row = {str(name).casefold(): value for name, value in record.items()}
    name = next((name for name in TEXT if name in row), None)
    if name is None:
        raise CaseError(f"it needs a text: one of {', '.join(TEXT)}.")
    yield _made(row, context, _plain(row, name), "", "")


def _plain(row: dict[str, Any], name: str) -> str:
    value = row[name]
    if isinstance(value, list) and all(isinstance(line, str) for line in value):
        value = "\n".join(value)
    if not isinstance(value, str) or not value.strip():
        raise CaseError(f"`{name}` must be a text.")
    return value.strip()


def _made(row: dict[str, Any], context: Context, text: str, summary: str, domain: str) -> ImportedRow:
    own = next((row[name] for name in IDS if row.get(name) not in (None, "")), "")
    is_file = context.part.ending in (".txt", ".md")
    title = next((str(row[name]).strip() for name in TITLES if row.get(name)), "") or " ".join(text.split())[:80]
    case = Document(
        id="document",
        title=(context.part.stem if is_file else title)[:200],
        language="zh" if is_chinese(text[:2000]) else "en",
        source=context.part.name[:400],
        text=text,
        reference=summary,
        domain=str(row.get("domain") or domain)[:40],
    )
    if not own:
        own = context.part.stem if is_file else f"{context.part.stem}-{context.number}"
    return ImportedRow(case, id=str(own))


PAIRS = Form("summaries", "Documents with summaries", "document", _is_pair, _read_pair)
DOCUMENTS = Form("documents", "Documents", "document", _is_document, _read_document)
