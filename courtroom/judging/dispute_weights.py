"""What evidence and chat of a dispute weigh for each side, by the words in them. Each weight can be named."""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache

from courtroom.cases.dispute import Dispute, Evidence, Side
from courtroom.judging.dispute_cues import CUE_BY_NAME, HEDGE, SPECIFIC, THIRD_PARTY, cues_in

BORNE_OUT = 1.0
"""Weight of what media (by their description) or a third party bear out,"""
MERELY_SAID = 0.45
"""against what a side merely says of its own case."""
AGAINST_OWN_INTEREST = 1.3
"""What a side concedes weighs more than what it asserts."""


@dataclass(frozen=True)
class Contribution:
    """One reason for a stance and its weight, + for the buyer."""

    kind: str
    text: str
    weight: float


@lru_cache(maxsize=1024)
def weigh(piece: Evidence) -> tuple[Contribution, ...]:
    """What one piece of evidence contributes, by its text and its media's descriptions alone."""
    shown = " ".join(medium.description for medium in piece.media)
    found: dict[str, Contribution] = {}
    specific = 1.0 + 0.15 * min(3, len(SPECIFIC.findall(piece.text + shown)))
    for text, is_shown in ((shown, True), (piece.text, False)):
        doubt = 0.6 if HEDGE.search(text) else 1.0
        for cue, quoted in cues_in(text):
            borne_out = is_shown or bool(piece.media) or bool(THIRD_PARTY.search(piece.text))
            weight = cue.weight * (BORNE_OUT if borne_out else MERELY_SAID) * specific * doubt
            if cue.side != piece.side:
                weight *= AGAINST_OWN_INTEREST if not is_shown else 1.0
            signed = weight if cue.side == "buyer" else -weight
            if cue.name not in found or abs(signed) > abs(found[cue.name].weight):
                found[cue.name] = Contribution(cue.name, quoted, signed)
    return tuple(found.values())


@lru_cache(maxsize=512)
def context(case: Dispute) -> tuple[Contribution, ...]:
    """What listing and chat contribute: what was disclosed, accepted or admitted before anybody gave evidence."""
    found: list[Contribution] = []
    for line in case.chat:
        for cue, quoted in cues_in(line.text):
            against = cue.side != line.speaker
            weight = cue.weight * (0.8 if against else 0.4)
            found.append(Contribution(cue.name, quoted, weight if cue.side == "buyer" else -weight))
    return tuple(found)


def contributions(case: Dispute) -> tuple[Contribution, ...]:
    """What all evidence and the chat contribute."""
    return (*(one for piece in case.evidence for one in weigh(piece)), *context(case))


def stance(case: Dispute) -> float:
    """All contributions together: above 0 they speak for the buyer."""
    return sum(one.weight for one in contributions(case))


def points_for(case: Dispute, side: Side) -> list[str]:
    """What speaks for a side, weightiest first: what it is, and the words that show it."""
    sign = 1 if side == "buyer" else -1
    ranked = sorted((one for one in contributions(case) if one.weight * sign > 0), key=lambda one: -abs(one.weight))
    return list(dict.fromkeys(f"{CUE_BY_NAME[one.kind].words(case.language)} (“{one.text}”)" for one in ranked))
