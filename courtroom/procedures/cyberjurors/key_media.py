"""The media that stage III is shown: the pictures and the video frames in which something was found (prompt E.5, E.6)."""

from __future__ import annotations

import re
from collections.abc import Iterator

from courtroom.cases.dispute import Dispute
from courtroom.media.medium import Medium
from courtroom.procedures.cyberjurors.answers import Clue, Finding

_CLOCK = re.compile(r"(?<![\d:])(?:(\d{1,2}):)?(\d{1,3}):(\d{2})(?![\d:])")
_MIDDLE = 0.5
"""A frame is labelled with its whole second, so the one that is meant lies within the second from there on."""
_RANK = {"high": 0, "medium": 1, "low": 2}


def key_media(case: Dispute, clues: tuple[Clue, ...], limit: int | None) -> tuple[Medium, ...]:
    """The pictures, and of each video the frames, that findings name; no video is shown whole again.

    Args:
        limit: how many pictures and frames at most, the most important findings first; None is no limit.

    Returns:
        Each medium once, in the order of the clues; a video with the moments of its frames.
    """
    named = sorted(_named(case, clues), key=lambda one: _RANK[one[0].importance])  # a stable order among equals
    kept = list(dict.fromkeys((medium.id, moment) for _, medium, moment in named))[:limit]
    media = {medium.id: medium for clue in clues for medium in _piece(case, clue)}
    moments = {name: tuple(sorted(m for other, m in kept if other == name and m is not None)) for name, _ in kept}
    return tuple(
        medium.model_copy(update={"moments": moments[name]}) for name, medium in media.items() if name in moments
    )


def seconds(timestamp: str) -> tuple[float, ...]:
    """The points in time that a timestamp names, in seconds: `00:05` is 5, `01:02:03` is 3723, `00:05-00:09` is both."""
    return tuple(
        int(hours or 0) * 3600.0 + int(minutes) * 60 + int(rest) for hours, minutes, rest in _CLOCK.findall(timestamp)
    )


def _named(case: Dispute, clues: tuple[Clue, ...]) -> Iterator[tuple[Finding, Medium, float | None]]:
    """Each finding with its picture, or with each of its frames; one that names no medium or no time has none."""
    for clue in clues:
        media = _piece(case, clue)
        for finding in clue.perception.visual_findings:
            if finding.media_index >= len(media):
                continue
            medium = media[finding.media_index]
            if medium.kind == "image":
                yield finding, medium, None
            else:
                yield from ((finding, medium, moment + _MIDDLE) for moment in seconds(finding.timestamp))


def _piece(case: Dispute, clue: Clue) -> tuple[Medium, ...]:
    return next(piece.media for piece in case.evidence if piece.id == clue.evidence_id)
