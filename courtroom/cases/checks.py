"""What is wrong, or doubtful, with a case: each finding names the field and the mend."""

import re
import tomllib
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from functools import partial
from pathlib import Path, PurePosixPath
from typing import Any, Literal

from pydantic import ValidationError

from courtroom.cases.archives import leads_out
from courtroom.cases.case import Case
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.errors import MediaError
from courtroom.media.medium import Medium
from courtroom.media.pictures import WORDS
from courtroom.media.store import MediaStore, check_medium

LONGEST_NAME = 80
"""Characters of a field's name that are shown: a stranger's file may have one of megabytes."""
MAX_LISTED_NAMES = 12
Severity = Literal["error", "warning"]
_SAID: dict[str, Any] = tomllib.loads((Path(__file__).parent / "checks.toml").read_text(encoding="utf-8"))
SENTENCES: Mapping[str, str] = {kind: one["text"] for one in _SAID["sentences"] for kind in one["mark"]}
FORMS: Mapping[str, str] = _SAID["forms"]
_PATTERNS = tomllib.loads((Path(__file__).parent / "mentions.toml").read_text(encoding="utf-8"))
MENTIONS = {name: re.compile(pattern, re.IGNORECASE) for name, pattern in _PATTERNS.items()}
ASCII_TAIL = re.compile(r"[!-~]+$")
"""Chinese runs into a file's name without a space."""


def explain(error: ValidationError, data: Any = None) -> list[str]:
    """A sentence for each thing that does not fit; `data`, what did not fit, names entries of lists by their ids."""
    return [f"{place(item['loc'], data)}: {_sentence(item)}" for item in error.errors()]


def place(location: Sequence[int | str], data: Any = None) -> str:
    """`("evidence", 1, "media", 0, "file")` as `evidence 2 (seller-1) › media 1 › file`."""
    words: list[str] = []
    for part in location:
        try:
            data = data[part]
        except (KeyError, IndexError, TypeError):
            data = None
        if isinstance(part, int) and words:
            known = data.get("id") if isinstance(data, dict) else None
            words[-1] += f" {part + 1}" + (f" ({known[:40]})" if isinstance(known, str) and known else "")
        else:
            name = str(part)
            words.append(name if len(name) <= LONGEST_NAME else f"{name[:LONGEST_NAME]}…")
    return " › ".join(words) or "the whole"


def _sentence(item: Any) -> str:
    if item["type"] == "string_pattern_mismatch":
        return f"must be {FORMS.get(str(item['loc'][-1]), 'of the form ' + item['ctx']['pattern'])}."
    if sentence := SENTENCES.get(item["type"]):
        return sentence.format(**item.get("ctx", {}))
    return f"{str(item['msg']).removeprefix('Value error, ').rstrip('.')}. Correct the value."


@dataclass(frozen=True)
class CheckFinding:
    """One thing that a check has found. An error keeps a case from being taken in; a warning doesn't."""

    severity: Severity
    field: str
    message: str


_error, _warning = partial(CheckFinding, "error"), partial(CheckFinding, "warning")


def check(case: Case, files: Mapping[str, bytes] | MediaStore, there: Sequence[str] = ()) -> list[CheckFinding]:
    """Give all findings on a case, errors first.

    Args:
        files: the media by the paths in the case, or the store that has them by content.
        there: the names of the files that lie beside the case, to be named where one is absent.
    """
    found = [*_media(case, files, there)]
    if isinstance(case, Dispute):
        found += [*_structure(case), *_dates(case), *_mentions(case)]
    return sorted(found, key=lambda one: one.severity != "error")


def _remarks(medium: Medium, files: Mapping[str, bytes] | MediaStore) -> tuple[str, ...] | None:
    """What is to be known of a medium; None where it is absent. Raises `MediaError`: it is no use."""
    if isinstance(files, MediaStore):
        if medium.sha256 is None:
            return None
        remarks = files.check(medium.kind, medium.sha256, medium.file)
        if medium.kind == "image" and not medium.views and not files.sent(medium.sha256).plain:
            return (
                f"{medium.file} came in before such pictures were shown whole. "
                "Download the case as ZIP, and import that.",
            )
        return remarks
    data = files.get(medium.file)
    return None if data is None else check_medium(medium.kind, data, medium.file)


def _media(case: Case, files: Mapping[str, bytes] | MediaStore, there: Sequence[str]) -> Iterator[CheckFinding]:
    listed = ", ".join(there[:MAX_LISTED_NAMES]) + (" ..." if len(there) > MAX_LISTED_NAMES else "")
    for medium in case.media():
        field, file = f"media › {medium.id}", medium.file
        wrong, doubtful = partial(_error, field), partial(_warning, field)
        try:
            if leads_out(file):
                yield wrong(f"{file} leads out of the case's folder. Put the file into it, and name it from there.")
            elif (remarks := _remarks(medium, files)) is None:
                absent = f"{file} is named but absent. Add the file, or remove it from the case."
                yield wrong(f"{absent} These files are there: {listed}." if there else absent)
            else:
                yield from map(doubtful, remarks)
        except MediaError as error:
            yield wrong(str(error))
        if not medium.description:
            yield doubtful(f"{file} has no description: members that can't see will know nothing of it. Add one.")


def _structure(case: Dispute) -> Iterator[CheckFinding]:
    if not case.evidence:
        yield _error("evidence", "Neither side has submitted any evidence. Add what each side claims.")
    for side in SIDES if case.evidence else ():
        pieces = case.by_side(side)
        if not pieces:
            yield _warning("evidence", f"The {side} has submitted no evidence. Add its claim, if it has one.")
        elif not any(piece.text for piece in pieces):
            yield _warning("evidence", f"The {side}'s evidence says nothing in words. Write what the {side} claims.")
    for piece in case.evidence:
        if not piece.text and not piece.media:
            yield _error(f"evidence › {piece.id}", "This piece is empty. Write what it claims, or remove it.")
    if not case.transaction.description:
        text = "The listing's text is missing. Add it: jurors compare the item with it."
        yield _warning("transaction › description", text)
    if case.transaction.price is None:
        yield _warning("transaction › price", "The price is missing: members are told that it is not given. Add it.")
    if case.jury:
        said, votes = [opinion.side for opinion in case.jury.opinions], case.real_counts()
        if any(said.count(side) > votes[side] for side in SIDES):
            yield _warning("jury › opinions", "There are more opinions for a side than votes. Correct the counts.")


def _dates(case: Dispute) -> Iterator[CheckFinding]:
    ordered, delivered = case.transaction.ordered_at, case.transaction.delivered_at
    if ordered and delivered and _before(delivered, ordered):
        text = "The order is delivered before it was placed. Correct one of the dates."
        yield _error("transaction › delivered_at", text)
    for piece in case.evidence:
        if ordered and piece.at and _before(piece.at, ordered):
            yield _warning(
                f"evidence › {piece.id} › at", "This piece is older than the order. Correct one of the dates."
            )


def _mentions(case: Dispute) -> Iterator[CheckFinding]:
    known = {PurePosixPath(medium.file).name.casefold() for medium in case.media()}
    for piece in case.evidence:
        field = f"evidence › {piece.id} › text"
        # A text may speak of what came with another piece of its side.
        kinds = {medium.kind for other in case.by_side(piece.side) for medium in other.media}
        for kind, word in WORDS.items():
            said = (piece.text[: found.start()] for found in MENTIONS[kind].finditer(piece.text))
            if kind not in kinds and not all(map(MENTIONS["denied"].search, said)):
                message = f"The text speaks of a {word}, but the {piece.side} has submitted none. Add it, or reword."
                yield _warning(field, message)
        for name in MENTIONS["file_name"].findall(piece.text):
            tail = ASCII_TAIL.search(name)
            if not known & {name.casefold(), tail.group().casefold() if tail else ""}:
                yield _warning(field, f"The text names {name}, which isn't among the media. Add it, or reword.")


def _before(one: datetime, other: datetime) -> bool:
    """By the clock alone where only one of them knows its time zone."""
    if (one.tzinfo is None) != (other.tzinfo is None):
        one, other = one.replace(tzinfo=None), other.replace(tzinfo=None)
    return one < other
