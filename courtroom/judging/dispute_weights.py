"""What evidence and chat of a dispute weigh for each side, by the words in them. Each weight can be named.

The words stand in `data/dispute_cues.toml`. What counts is who says them and where: a side that concedes weighs more than one
that claims, what media or a third party bear out more than what is merely said, and a guess speaks against who makes it.
"""

import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cache, lru_cache
from typing import Literal

from pydantic import Field, TypeAdapter

from courtroom.cases.dispute import Dispute, Evidence, Side
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.words import has_chinese

Place = Literal["own", "other", "chat", "chat_other", "listing"]
"""Where a statement of a kind counts: claimed by the side that it speaks for, conceded by the other one, in the chat, in the listing."""


@cache  # when it is needed: to compile all of them takes a tenth of a start
def _pattern(lines: str) -> re.Pattern[str]:
    """Return a pattern of any of these lines; one without Chinese begins where a word begins."""
    parts = [line if has_chinese(line) else rf"(?<!\w)(?:{line})" for line in lines.strip().splitlines()]
    return re.compile("|".join(parts), re.IGNORECASE)


class Cue(Strict):
    """A kind of statement, the side it speaks for, and how much (1 is an ordinary clue)."""

    name: str
    side: Literal["buyer", "seller", "own", "other"] = Field(
        description="`own`: for whoever says it; `other`: against."
    )
    weight: float
    english: str
    chinese: str
    own: str = ""
    other: str = ""
    chat: str = ""
    chat_other: str = ""
    listing: str = ""

    def words(self, language: str) -> str:
        """What the cue is called in a reason."""
        return self.chinese if language.startswith("zh") else self.english

    def found(self, text: str, place: Place) -> str:
        """The first words of a text that show it and are not denied; empty where there are none."""
        lines: str = getattr(self, place)
        matches = _pattern(lines).finditer(text) if lines else ()
        return next((m.group() for m in matches if not DENIED.search(_CLAUSE.split(text[: m.start()])[-1])), "")


_CLAUSE = re.compile(r"[.,;:!?()，。；：！？、（）]")
DENIED = re.compile(
    r"(?:\b(?:no|not|never|without|nothing|none|nobody|neither|nor|hardly)|n['’]t)(?:\s+[\w'’-]+){0,2}\s*$|(?:不|没|没有|无|未|并未|从未)$",
    re.IGNORECASE,
)
"""What makes the words after it a denial."""

_WORDS = tomllib.loads((DATA / "dispute_cues.toml").read_text(encoding="utf-8"))
CUES = TypeAdapter(tuple[Cue, ...]).validate_python(_WORDS["cue"])
CUE_BY_NAME = {cue.name: cue for cue in CUES}
SPECIFIC, THIRD_PARTY, HEDGE, FOR_BUYER, FOR_SELLER = (
    re.compile(pattern, re.IGNORECASE) for pattern in _WORDS["patterns"].values()
)
NUMBERS: Mapping[str, float] = _WORDS["numbers"]


@lru_cache(maxsize=2048)
def direction(text: str) -> float:
    """Which side a rule or norm favours by its wording: +1 the buyer, -1 the seller, 0 neither."""
    buyer, seller = len(FOR_BUYER.findall(text)), len(FOR_SELLER.findall(text))
    return (buyer - seller) / (buyer + seller) if buyer + seller else 0.0


@dataclass(frozen=True)
class Contribution:
    """One reason for a stance and its weight, + for the buyer."""

    kind: str
    text: str
    weight: float
    piece: str = ""
    """Id of the evidence in which the words stand; empty for chat, listing, rules and personas."""


TOWARDS: Mapping[Side, float] = {"buyer": 1.0, "seller": -1.0}


def other(side: Side) -> Side:
    return "seller" if side == "buyer" else "buyer"


@lru_cache(maxsize=8192)
def read(
    text: str, speaker: Side, claimed: Place = "own", conceded: Place | None = "other"
) -> tuple[Contribution, ...]:
    """The cues in a side's words, each once, with the words that showed it and its full weight."""
    found = []
    for cue in CUES:
        speaks_for = {"own": speaker, "other": other(speaker)}.get(cue.side, cue.side)
        place = claimed if speaks_for == speaker else conceded
        if place and (quoted := cue.found(text, place)):
            found.append(Contribution(cue.name, quoted, cue.weight if speaks_for == "buyer" else -cue.weight))
    return tuple(found)


@lru_cache(maxsize=1024)
def weigh(piece: Evidence) -> tuple[Contribution, ...]:
    """What one piece of evidence contributes, by its text and its media's descriptions alone: each kind once, at its strongest."""
    shown = " ".join(medium.description for medium in piece.media)
    found: dict[str, Contribution] = {}
    doubt = NUMBERS["hedged"] if HEDGE.search(piece.text) else 1.0
    said = (NUMBERS["borne_out"] if piece.media or THIRD_PARTY.search(piece.text) else NUMBERS["merely_said"]) * doubt
    for text, share, conceded in ((shown, NUMBERS["borne_out"], None), (piece.text, said, "other")):
        for one in read(text, piece.side, "own", conceded):
            weight = one.weight * (share if one.weight * TOWARDS[piece.side] > 0 else NUMBERS["conceded"])
            if one.kind not in found or abs(weight) > abs(found[one.kind].weight):
                found[one.kind] = replace(one, weight=weight)
    if shown.strip():
        first = _CLAUSE.split(piece.media[0].description or shown)[0]
        found["shown"] = Contribution("shown", first, CUE_BY_NAME["shown"].weight * TOWARDS[piece.side])
    places, told = Counter[bool](), []
    for one in sorted(found.values(), key=lambda one: -abs(one.weight)):
        told.append(replace(one, weight=one.weight * NUMBERS["further"] ** places[one.weight > 0], piece=piece.id))
        places[one.weight > 0] += 1
    return tuple(told)


def weighed(case: Dispute, piece: Evidence) -> tuple[Contribution, ...]:
    """What a piece contributes to a case; a guess counts against who makes it only where the other side has shown something."""
    answered = case.by_side(other(piece.side))
    return tuple(one for one in weigh(piece) if answered or one.kind != "guess")


@lru_cache(maxsize=512)
def context(case: Dispute) -> tuple[Contribution, ...]:
    """What listing and chat contribute: what was vouched for, what was disclosed, and whether the buyer then accepted it.

    What the seller vouched for counts only where the buyer submits that it is otherwise.
    """
    broken, warned = bool(case.by_side("buyer")), False
    listed = read(case.transaction.description, "seller", "listing", "listing")
    found = [replace(one, weight=one.weight * NUMBERS["listing"]) for one in listed if broken or one.kind != "promise"]
    for line in case.chat:
        here = read(line.text, line.speaker, "chat", "chat_other")
        cautious = any(one.kind == "disclosed" for one in here)
        warned = warned or cautious
        asks = line.speaker == "buyer" and line.text.rstrip().endswith(("?", "？", "吗"))
        idle = {"accepted": not warned, "promise": cautious or not broken}
        said = (one for one in here if not asks and not idle.get(one.kind))
        found += (replace(one, weight=one.weight * NUMBERS["chat"]) for one in said)
    return tuple(found)


def contributions(case: Dispute) -> tuple[Contribution, ...]:
    """What all evidence and the chat contribute."""
    return (*(one for piece in case.evidence for one in weighed(case, piece)), *context(case))


def stance(case: Dispute) -> float:
    """All contributions together: above 0 they speak for the buyer."""
    return sum(one.weight for one in contributions(case))
