"""A juror's stance: a number from -1 (seller) to +1 (buyer), made of contributions that can each be named.

Evidence counts by cues, by how well it is borne out, and by how much the juror attends to such a clue: for its temper, and
by an experience of its own that is drawn from who it is, so that close cases split. Rules and norms count by how much they speak
to the case; persona by its traits and background. In discussion the stance follows Friedkin and Johnsen (1990):
x(t+1) = s * (weighted mean of others at t) + (1 - s) * x(0), with s the juror's susceptibility.
"""

from __future__ import annotations

import math
import random
import re
from functools import lru_cache

from courtroom.cases.dispute import Dispute, Side
from courtroom.judging.dispute_cues import direction
from courtroom.judging.dispute_weights import Contribution, context, weigh
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors.answers import Clue, Heard, Summary
from courtroom.text.words import words

DOUBT = 3.2
"""Weight of what is not known: a stance is (buyer - seller) / (buyer + seller + DOUBT)."""
BURDEN = 0.05
"""Lean to the buyer where all is even: Eq. 10 gives a tie to the buyer."""
SPREAD = 1.5
"""How much one juror's own experience of a kind of clue differs from another's: standard deviation of the log weight."""
RULE_WEIGHT = 0.4
NORM_WEIGHT = 0.4
"""Pull of a rule or norm all of whose words occur in the case."""
SUSCEPTIBILITY = 0.3
SUMMARY_SHARE = 0.3
"""Part of the social pull that comes from the collective summary rather than from followed jurors."""

SUSCEPTIBLE = {
    "stubborn": -0.2, "principled": -0.1, "assertive": -0.1, "skeptical": -0.05,
    "agreeable": 0.2, "conciliatory": 0.15, "open-minded": 0.1, "impulsive": 0.1,
}  # fmt: skip
TEMPER = {
    "empathetic": 0.25,
    "impulsive": 0.15,
    "open-minded": 0.1,
    "skeptical": -0.2,
    "stubborn": -0.1,
    "cautious": -0.08,
}
"""Lean by trait: whoever doubts asks more of the buyer, who carries the burden of proof."""
ATTENDS = {
    "detail-oriented": ("measured", "mismatch", "disclosed", "swapped", "missing"),
    "analytical": ("measured", "unboxing", "no-unboxing", "as-described", "prompt"),
    "principled": ("promise", "admission", "accepted", "undisclosed"),
    "empathetic": ("defect", "careless", "evasive", "transit"),
    "pragmatic": ("consumed", "delivered", "wear", "defect"),
    "cautious": ("late", "no-unboxing", "accepted", "prompt"),
    "skeptical": ("swapped", "buyer-caused", "change-of-mind", "evasive"),
    "assertive": ("promise", "disclosed", "undisclosed"),
    "agreeable": ("wear", "prompt", "accepted"),
    "stubborn": ("mismatch", "disclosed"),
    "impulsive": ("defect", "mismatch", "careless"),
}  # fmt: skip
"""Kinds of clue that jurors of a temper look for,"""
ATTENTION = 1.5
"""and by how much such a clue weighs more with them."""
SELLS = re.compile(
    r"\b(sells?|selling|seller|shop owner|dealer|trader|imports?|resells|owns a|restores|creator|merchant)\b|卖|店主|商家",
    re.IGNORECASE,
)
BUYS = re.compile(
    r"\b(buys?|shops online|shopper|consumer|customer-support|furnishes|pension|social worker|tight budget|second-hand\.|short of money)\b|消费者|买家|顾客",
    re.IGNORECASE,
)
SELLER_LEAN, BUYER_LEAN = -0.3, 0.3


def balance(case: Dispute, clues: tuple[Clue, ...], persona: Persona | None) -> tuple[Contribution, ...]:
    """Contributions of the evidence that was looked at, as this juror weighs it."""
    pieces = {piece.id: piece for piece in case.evidence}
    traits = frozenset(persona.traits) if persona else frozenset()
    weighed: list[Contribution] = []
    for clue in clues:
        piece = pieces.get(clue.evidence_id)
        if piece is None:
            continue
        factor = {"strong": 1.0, "moderate": 0.8, "weak": 0.6}[clue.perception.support_strength]
        if "skeptical" in traits and not piece.media:
            factor *= 0.6
        if "detail-oriented" in traits and piece.media:
            factor *= 1.2
        weighed += [Contribution(c.kind, f"{piece.id}: {c.text}", c.weight * factor) for c in weigh(piece)]
    late = [
        Contribution(c.kind, f"{piece.id}: {c.text}", c.weight)
        for piece in case.evidence
        if piece.late
        for c in weigh(piece)
    ]
    found = (*weighed, *late, *context(case))
    return tuple(Contribution(c.kind, c.text, c.weight * attention(persona, c.kind)) for c in found)


def looked_for(persona: Persona | None, kind: str) -> str:
    """The trait for which a juror looks for a kind of clue; empty where there is none."""
    return next((trait for trait in (persona.traits if persona else ()) if kind in ATTENDS.get(trait, ())), "")


@lru_cache(maxsize=8192)
def attention(persona: Persona | None, kind: str) -> float:
    """How much a kind of clue weighs with a juror: by temper, and by an experience that is the juror's own, fixed by who it is."""
    if persona is None:
        return 1.0
    temper = ATTENTION if looked_for(persona, kind) else 1.0
    own = random.Random(f"{persona.text()}/{kind}").gauss(0, SPREAD)
    return temper * math.exp(own - SPREAD**2 / 2)


@lru_cache(maxsize=256)
def case_words(case: Dispute) -> frozenset[str]:
    """All words of a case."""
    texts = [case.transaction.product, case.transaction.description]
    texts += [line.text for line in case.chat] + [piece.text for piece in case.evidence]
    return frozenset(word for text in texts for word in words(text))


def pull(case: Dispute, texts: tuple[str, ...], weight: float, kind: str) -> tuple[Contribution, ...]:
    """What rules or norms contribute: direction by wording, weight by how many of their words the case has."""
    contributions = []
    for text in texts:
        of_rule = frozenset(words(text))
        speaks = len(of_rule & case_words(case)) / len(of_rule) if of_rule else 0.0
        if towards := direction(text) * speaks * weight:
            contributions.append(Contribution(kind, text, towards))
    return tuple(contributions)


def lean(persona: Persona | None) -> tuple[Contribution, ...]:
    """What a persona brings along."""
    if persona is None:
        return ()
    found = [Contribution("trait", trait, TEMPER[trait]) for trait in persona.traits if trait in TEMPER]
    text = f"{persona.status}. {persona.background}"
    if SELLS.search(text):
        found.append(Contribution("background", persona.background, SELLER_LEAN))
    elif BUYS.search(text):
        found.append(Contribution("background", persona.background, BUYER_LEAN))
    return tuple(found)


def settle(evidence: tuple[Contribution, ...], others: tuple[Contribution, ...], persona: Persona | None) -> float:
    """x(0): the stance before any discussion."""
    rules = 1.4 if persona and "principled" in persona.traits else 1.0
    buyer = sum(c.weight for c in evidence if c.weight > 0)
    seller = -sum(c.weight for c in evidence if c.weight < 0)
    given = BURDEN + (buyer - seller) / (buyer + seller + DOUBT)
    added = sum(c.weight * (rules if c.kind == "rule" else 1.0) for c in others)
    return max(-1.0, min(1.0, given + added))


def susceptibility(persona: Persona | None) -> float:
    """How far others move this juror: 0.05 to 0.8."""
    traits = persona.traits if persona else ()
    return max(0.05, min(0.8, SUSCEPTIBILITY + sum(SUSCEPTIBLE.get(trait, 0.0) for trait in traits)))


def discuss(own: float, persona: Persona | None, heard: tuple[Heard, ...], summary: Summary | None) -> float:
    """One step of Friedkin and Johnsen's dynamics; without anybody heard, the stance stays."""
    social: list[tuple[float, float]] = []
    votes = [vote(other.verdict) for other in heard if other.verdict]
    if votes:
        social.append((1 - SUMMARY_SHARE, sum(votes) / len(votes)))
    if summary and summary.prevailing_orientation:
        social.append((SUMMARY_SHARE, orientation(summary)))
    if not social:
        return own
    mean = sum(share * x for share, x in social) / sum(share for share, _ in social)
    s = susceptibility(persona)
    return s * mean + (1 - s) * own


def orientation(summary: Summary) -> float:
    """Which way a collective summary says the jury leans: by its counts, else by which side it names more."""
    text = summary.prevailing_orientation.lower()
    buyers = re.search(r"(?:buyer|买家)\D{0,12}(\d+)", text)
    sellers = re.search(r"(?:seller|卖家)\D{0,12}(\d+)", text)
    if buyers and sellers:
        b, s = int(buyers.group(1)), int(sellers.group(1))
    else:
        b, s = len(re.findall("buyer|买家", text)), len(re.findall("seller|卖家", text))
    return (b - s) / (b + s) if b + s else 0.0


def vote(side: Side) -> float:
    """A vote as a stance."""
    return 1.0 if side == "buyer" else -1.0
