"""How the offline model explains itself: what it weighed, for which side, and how much, in words of the case.

Its sentences stand in `data/offline_sentences.toml`, one for each kind of statement, in English and Chinese.
"""

import re
import tomllib
from collections.abc import Iterable, Sequence

from courtroom.cases.dispute import Dispute, Side
from courtroom.judging.dispute_weights import CUE_BY_NAME, Contribution, other
from courtroom.settings import DATA
from courtroom.text.words import sentences

SENTENCES: dict[str, dict[str, str]] = tomllib.loads((DATA / "offline_sentences.toml").read_text(encoding="utf-8"))
MAX_QUOTE_CHARS = 120
"""Of a sentence that is quoted whole; of a longer one stands the clause."""
CLAUSES = re.compile(r"[,;:] |[，；：、]")


def said(language: str, name: str, **values: object) -> str:
    """Return a sentence in the language of a case, with its values in their places."""
    return SENTENCES[name]["zh" if language.startswith("zh") else "en"].format(**values)


def quotes(language: str, found: Iterable[str]) -> str:
    """Return words in quotation marks, one after the other."""
    return said(language, "comma").join(f"“{word}”" for word in found)


def points(case: Dispute, side: Side, found: Iterable[Contribution]) -> list[str]:
    """Say each thing that speaks for a side, the weightiest first, and how much.

    It is quoted where it stands in the side's own evidence; what the other side concedes, and what chat and listing say, is named.
    """
    told: dict[str, str] = {}
    for point in sorted(found, key=lambda point: -abs(point.weight)):
        if (point.weight > 0) == (side == "buyer") and point.weight:
            quote, what = quoted(case, side, point), CUE_BY_NAME[point.kind].words(case.language)
            kind = "quoted" if quote else "conceded" if point.piece else "before"
            values = {"quote": quote, "what": what, "side": said(case.language, side), "weight": abs(point.weight)}
            told.setdefault(quote or f"{kind}: {what}", said(case.language, kind, **values))
    return [*told.values()]


def quoted(case: Dispute, side: Side, point: Contribution) -> str:
    """Return the words around what speaks for a side, from its own evidence; empty where they do not stand there."""
    piece = next((piece for piece in case.by_side(side) if piece.id == point.piece), None)
    texts = (piece.text, *(medium.description for medium in piece.media)) if piece else ()
    text = next((text for text in texts if point.text in text), "")
    around = next((one for one in sentences(text) if point.text in one), point.text if text else "")
    if len(around) > MAX_QUOTE_CHARS:
        around = next((one for one in CLAUSES.split(around) if point.text in one), point.text)
    return re.sub("[“”]", "'", around.strip(" ,，.。"))


def weighed_up(case: Dispute, side: Side, clues: Sequence[Contribution], besides: str = "") -> tuple[str, ...]:
    """Give the reasons of a vote: what speaks most for its side, what against it, and what all weighs. `besides`: what
    else moved the vote, and how much."""
    language = case.language
    mine = points(case, side, clues)[:2] or [said(language, "no-point", side=said(language, side))]
    buyer, seller = sum(max(c.weight, 0) for c in clues), sum(max(-c.weight, 0) for c in clues)
    total = said(language, "sum", buyer=buyer, seller=seller) + besides
    total += said(language, "verdict", side=said(language, side))
    return (*mine, *points(case, other(side), clues)[:1], total)
