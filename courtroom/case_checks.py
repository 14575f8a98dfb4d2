"""What is wrong, or doubtful, with a case: each finding names the field and the mend."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from courtroom.case import Case, Medium
from courtroom.dispute import SIDES, Dispute, Evidence
from courtroom.errors import MediaError
from courtroom.media import MediaStore, check_medium

IMAGE_WORDS = re.compile(r"\b(photos?|pictures?|images?|screenshots?)\b|照片|图片|截图|如图|图中|见图", re.IGNORECASE)
VIDEO_WORDS = re.compile(r"\b(videos?|clips?|footage|recording)\b|视频|录像|录屏", re.IGNORECASE)
NO_MEDIUM = re.compile(
    r"\b(no|not|without|never|neither|any|missing)\b[^.!?]{0,40}$|没有?[^。！？]{0,10}$|无[^。！？]{0,6}$|未[^。！？]{0,8}$",
    re.IGNORECASE,
)
FILE_NAMES = re.compile(r"\b[\w-]+\.(?:png|jpe?g|webp|gif|mp4|webm|mov|avi|mkv)\b", re.IGNORECASE)

Opened = Callable[[Medium], Path | bytes | None]


@dataclass(frozen=True)
class Finding:
    """One thing that a check has found. An error keeps a case from being taken in; a warning doesn't."""

    severity: Literal["error", "warning"]
    field: str
    message: str


def check(case: Case, files: Mapping[str, bytes] | MediaStore) -> list[Finding]:
    """All findings on a case, errors first.

    Args:
        files: the media by the paths in the case, or the store that has them by content.
    """
    findings = [*_media(case, _opener(files))]
    if isinstance(case, Dispute):
        findings += [*_structure(case), *_mentions(case)]
    return sorted(findings, key=lambda finding: finding.severity != "error")


def _opener(files: Mapping[str, bytes] | MediaStore) -> Opened:
    if isinstance(files, MediaStore):
        return lambda medium: files.path(medium.sha256) if medium.sha256 else None
    return lambda medium: files.get(medium.file)


def _media(case: Case, opened: Opened) -> Iterator[Finding]:
    for medium in case.media():
        field = f"media › {medium.id}"
        try:
            source = opened(medium)
            if source is None:
                yield Finding(
                    "error", field, f"{medium.file} is named but absent. Add the file, or remove it from the case."
                )
                continue
            check_medium(medium.kind, source, medium.file)
        except MediaError as error:
            yield Finding("error", field, str(error))
        if not medium.description.strip():
            yield Finding(
                "warning",
                field,
                f"{medium.file} has no description: members that can't see will know nothing of it. Add one.",
            )


def _structure(case: Dispute) -> Iterator[Finding]:
    if not case.evidence:
        yield Finding("warning", "evidence", "Neither side has submitted any evidence. Add what each side claims.")
    else:
        for side in SIDES:
            if not case.by_side(side):
                yield Finding("warning", "evidence", f"The {side} has submitted no evidence. Add its claim, if it has one.")
    for piece in case.evidence:
        if not piece.text.strip() and not piece.media:
            yield Finding("error", f"evidence › {piece.id}", "This piece is empty. Write what it claims, or remove it.")
    deal = case.transaction
    if deal.ordered_at and deal.delivered_at and _naive(deal.delivered_at) < _naive(deal.ordered_at):
        yield Finding(
            "error", "transaction › delivered_at", "The order is delivered before it was placed. Correct one of the dates."
        )
    if not deal.description.strip():
        yield Finding("warning", "transaction › description", "The listing's text is missing. Jurors compare the item with it.")
    if case.jury and case.jury.opinions:
        said = [opinion.side for opinion in case.jury.opinions]
        if said.count("buyer") > case.jury.buyer or said.count("seller") > case.jury.seller:
            yield Finding("warning", "jury › opinions", "There are more opinions for a side than votes. Correct the counts.")


def _mentions(case: Dispute) -> Iterator[Finding]:
    known = {Path(medium.file).name.casefold() for medium in case.media()}
    for piece in case.evidence:
        field = f"evidence › {piece.id} › text"
        for kind, pattern in (("picture", IMAGE_WORDS), ("video", VIDEO_WORDS)):
            wanted = "image" if kind == "picture" else "video"
            if _claims(piece, pattern) and not any(m.kind == wanted for m in _nearby(case, piece)):
                yield Finding(
                    "warning", field, f"The text speaks of a {kind}, but this side has submitted none. Add it, or reword."
                )
        for name in FILE_NAMES.findall(piece.text):
            if name.casefold() not in known:
                yield Finding("warning", field, f"The text names {name}, which isn't among the media. Add it, or reword.")


def _claims(piece: Evidence, pattern: re.Pattern[str]) -> bool:
    """Whether the text says that there is such a medium, rather than that there is none."""
    return any(not NO_MEDIUM.search(piece.text[: match.start()]) for match in pattern.finditer(piece.text))


def _nearby(case: Dispute, piece: Evidence) -> Iterator[Medium]:
    """The media of the piece's side, that may have come with another piece."""
    return (medium for other in case.by_side(piece.side) for medium in other.media)


def _naive(moment: object) -> str:
    return str(moment)[:19]
