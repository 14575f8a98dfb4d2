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
    language, told = case.language, dict[str, str]()
    for one in sorted(found, key=lambda one: -abs(one.weight)):
        if (one.weight > 0) != (side == "buyer") or not one.weight:
            continue
        quote, what = quoted(case, side, one), CUE_BY_NAME[one.kind].words(language)
        named, weight = said(language, side), abs(one.weight)
        kind = "quoted" if quote else "named"
        told.setdefault(quote or what, said(language, kind, quote=quote, side=named, what=what, weight=weight))
    return [*told.values()]


def quoted(case: Dispute, side: Side, point: Contribution) -> str:
    """Return the words around what speaks for a side, from its own evidence; empty where they do not stand there."""
    for piece in case.by_side(side):
        for text in (piece.text, *(medium.description for medium in piece.media)) if piece.id == point.piece else ():
            if point.text in text:
                around = next((one for one in sentences(text) if point.text in one), point.text)
                if len(around) > MAX_QUOTE_CHARS:
                    around = next((one for one in CLAUSES.split(around) if point.text in one), point.text)
                return re.sub("[“”]", "'", around.strip(" ,，.。"))
    return ""


def weighed_up(
    case: Dispute,
    side: Side,
    clues: Sequence[Contribution],
    own: float | None = None,
    final: float | None = None,
    brought: Iterable[Contribution] = (),
    also: str = "",
) -> tuple[str, ...]:
    """Give the reasons of a vote: what speaks most for its side, what against it, and what all weighs.

    Args:
        own: the stance, from -1 for the seller to 1 for the buyer; None where none is taken.
        final: the stance after others were heard.
        brought: what comes from rules, norms and the persona.
        also: what moved the vote besides.
    """
    language, added = case.language, sum(one.weight for one in brought)
    against: Side = other(side)
    mine = points(case, side, clues)[:2] or [said(language, "no-point", side=said(language, side))]
    buyer, seller = (
        sum(abs(one.weight) for one in clues if (one.weight > 0) == is_buyer) for is_buyer in (True, False)
    )
    total = said(language, "sum", buyer=buyer, seller=seller)
    if added:
        total += said(language, "brought", weight=abs(added), side=said(language, "buyer" if added > 0 else "seller"))
    if own is not None:
        total += said(language, "stance", own=own)
    if final is not None and final != own:
        total += said(language, "heard", final=final)
    return (
        *mine,
        *points(case, against, clues)[:1],
        total + also + said(language, "verdict", side=said(language, side)),
    )
