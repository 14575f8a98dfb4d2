"""How the offline model answers for jurors: evidence counted by formulas, opinions that move along the follow-graph."""

import math
import random
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache

from pydantic import TypeAdapter

from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.judging.dispute_weights import (
    CUE_BY_NAME,
    SPECIFIC,
    Contribution,
    context,
    contributions,
    direction,
    read,
    weigh,
    weighed,
)
from courtroom.judging.explained import points, said, weighed_up
from courtroom.judging.jurors import HEARD
from courtroom.models.offline import Methods
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.words import central, words

DOUBT = 2.2
"""Weight of what is not known: a stance is SWAY * (buyer - seller) / (buyer + seller + DOUBT)."""
SWAY = 0.55
"""How far all the evidence can take a juror, where nothing else is brought along."""
BURDEN = 0.05
"""Lean to the buyer where all is even: Eq. 10 gives a tie to the buyer."""
SPREAD = 1.2
"""How much one juror's own experience of a kind of clue differs from another's: standard deviation of the log weight."""
RULE_WEIGHT = 0.4
NORM_WEIGHT = 0.4
"""Pull of a rule or norm all of whose words occur in the case."""
SUSCEPTIBILITY = 0.12
SUMMARY_SHARE = 0.3
"""Part of the social pull that comes from the collective summary rather than from followed jurors."""


class Temper(Strict):
    """What a trait of a juror changes."""

    yields: float = 0.0
    lean: float = 0.0
    attends: tuple[str, ...] = ()


_WORDS = tomllib.loads((DATA / "juror_tempers.toml").read_text(encoding="utf-8"))
TEMPERS = TypeAdapter(dict[str, Temper]).validate_python(_WORDS["tempers"])
SELLS, BUYS = (re.compile(pattern, re.IGNORECASE) for pattern in _WORDS["trades"].values())
ATTENTION = 1.5
"""How much more a kind of clue weighs with a juror who looks for it."""
SELLER_LEAN, BUYER_LEAN = -0.3, 0.3


SUPPORT: Mapping[tasks.Degree, float] = {"strong": 1.0, "moderate": 0.8, "weak": 0.6, "none": 0.0, "against": -0.6}
"""How much of its own words a piece keeps, by what was seen in it: one that speaks against its side counts for the other."""


def balance(case: Dispute, clues: tuple[tasks.Clue, ...], persona: Persona | None) -> tuple[Contribution, ...]:
    """Contributions of the evidence that was looked at or came late, and of chat and listing, as this juror weighs them."""
    traits = frozenset(persona.traits) if persona else frozenset()
    looks = [
        (piece, SUPPORT[clue.perception.support_strength])
        for clue in clues
        for piece in case.evidence
        if piece.id == clue.evidence_id
    ]
    found: list[Contribution] = []
    for piece, support in looks:
        doubted = 0.6 if "skeptical" in traits and not piece.media else 1.0
        studied = 1.2 if "detail-oriented" in traits and piece.media else 1.0
        found += (replace(c, weight=c.weight * support * doubted * studied) for c in weighed(case, piece))
    late = (c for piece in case.evidence if piece.late for c in weighed(case, piece))
    return tuple(replace(c, weight=c.weight * attention(persona, c.kind)) for c in (*found, *late, *context(case)))


def tempers(persona: Persona | None) -> list[Temper]:
    return [TEMPERS[trait] for trait in (persona.traits if persona else ()) if trait in TEMPERS]


@lru_cache(maxsize=8192)
def attention(persona: Persona | None, kind: str) -> float:
    """How much a kind of clue weighs with a juror: by temper, and by an experience that is the juror's own, fixed by who it is."""
    if persona is None:
        return 1.0
    temper = ATTENTION if any(kind in temper.attends for temper in tempers(persona)) else 1.0
    own = random.Random(f"{persona.text()}/{kind}").gauss(0, SPREAD)
    return temper * math.exp(own - SPREAD**2 / 2)


@lru_cache(maxsize=256)
def case_words(case: Dispute) -> frozenset[str]:
    texts = [case.transaction.product, case.transaction.description]
    texts += [line.text for line in case.chat] + [piece.text for piece in case.evidence]
    return frozenset(word for text in texts for word in words(text))


def pull(case: Dispute, texts: tuple[str, ...], weight: float, kind: str) -> tuple[Contribution, ...]:
    """What rules or norms contribute: direction by wording, weight by the square of the share of their words that the case has, so
    that common words alone say next to nothing."""
    contributions = []
    for text in texts:
        of_rule = frozenset(words(text))
        speaks = len(of_rule & case_words(case)) / len(of_rule) if of_rule else 0.0
        if towards := direction(text) * speaks**2 * weight:
            contributions.append(Contribution(kind, text, towards))
    return tuple(contributions)


def lean(persona: Persona | None) -> tuple[Contribution, ...]:
    """What a persona brings along."""
    if persona is None:
        return ()
    found = [Contribution("trait", "", temper.lean) for temper in tempers(persona) if temper.lean]
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
    given = BURDEN + SWAY * (buyer - seller) / (buyer + seller + DOUBT)
    added = sum(c.weight * (rules if c.kind == "rule" else 1.0) for c in others)
    return max(-1.0, min(1.0, given + added))


def susceptibility(persona: Persona | None) -> float:
    """How far others move this juror: 0.05 to 0.8."""
    return max(0.05, min(0.8, SUSCEPTIBILITY + sum(temper.yields for temper in tempers(persona))))


def discuss(
    own: float, persona: Persona | None, heard: tuple[tasks.Heard, ...], summary: tasks.Summary | None
) -> float:
    """One step of Friedkin and Johnsen's dynamics; without anybody heard, the stance stays."""
    social: list[tuple[float, float]] = []
    if votes := [vote(other.verdict) for other in heard if other.verdict]:
        social.append((1 - SUMMARY_SHARE, sum(votes) / len(votes)))
    if summary and summary.prevailing_orientation:
        social.append((SUMMARY_SHARE, orientation(summary)))
    if not social:
        return own
    mean = sum(share * x for share, x in social) / sum(share for share, _ in social)
    s = susceptibility(persona)
    return s * mean + (1 - s) * own


def orientation(summary: tasks.Summary) -> float:
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
    return 1.0 if side == "buyer" else -1.0


def extract(task: tasks.ExtractFocus, draw: random.Random) -> tasks.Focus:
    """Each side's most central sentences, and the words that both sides use."""
    case, language = task.case, task.case.language
    claims = {
        side: " ".join(central(_texts(case, side), 2)) or said(language, "silent", side=said(language, side))
        for side in SIDES
    }
    terms = said(language, "comma").join(_contested(case))
    focus = said(language, "focus", terms=terms, product=case.transaction.product)
    return tasks.Focus(buyer_core_claim=claims["buyer"], seller_core_claim=claims["seller"], dispute_focus=focus)


def select(task: tasks.SelectEvidence, draw: random.Random) -> tasks.Selection:
    """The piece whose words meet the focus most; media and checkable detail count."""
    focus = task.focus
    wanted = frozenset(words(f"{focus.dispute_focus} {focus.buyer_core_claim} {focus.seller_core_claim}"))

    def worth(piece: Evidence) -> float:
        own = frozenset(words(piece.text))
        media = 0.2 * bool(piece.media) + 0.1 * any(medium.kind == "video" for medium in piece.media)
        detail = 0.05 * min(4, len(SPECIFIC.findall(piece.text)))
        cues = 0.05 * len(read(piece.text, piece.side, conceded=None))
        return len(own & wanted) / (len(own | wanted) or 1) + media + detail + cues

    best = max(task.candidates, key=worth)
    return tasks.Selection(selected_evidence_id=best.id, reason=said(task.language, "selected", score=worth(best)))


def perceive(task: tasks.PerceiveEvidence, draw: random.Random) -> tasks.Perception:
    """What text and descriptions say. The media themselves are not looked at, and the answer says so."""
    language, piece = task.language, task.evidence
    own = sum(c.weight for c in weigh(piece)) * vote(piece.side)
    strength: tasks.Degree = "strong" if own >= 2.0 else "moderate" if own >= 0.8 else "weak"
    findings = tuple(
        tasks.Finding(
            media_type=medium.kind,
            media_index=index,
            description=said(language, "by-description", text=medium.description or said(language, "none")),
            benefit_analysis=_named(language, seen),
            importance="high" if len(seen) > 1 else "medium" if seen else "low",
        )
        for index, medium in enumerate(piece.media)
        for seen in (read(medium.description, piece.side, conceded=None),)
    )
    summary = central((piece.text,), 1) or (said(language, "no-text"),)
    enough = strength == "strong" and bool(task.before)
    return tasks.Perception(
        visual_findings=findings,
        evidence_summary=f"{summary[0]} {_named(language, weigh(piece))}".strip(),
        support_strength=strength,
        is_sufficient=enough,
        sufficiency_reason=said(language, "enough" if enough else "not-enough"),
    )


def analyse(task: tasks.AnalyseDispute, draw: random.Random) -> tasks.Analysis:
    """Clues sorted by the side they speak for."""
    case, focus, language = task.case, task.focus, task.case.language
    balanced = balance(case, (*task.buyer, *task.seller), None)
    kinds = Counter(c.kind for c in balanced)
    root = CUE_BY_NAME[kinds.most_common(1)[0][0]].words(language) if kinds else said(language, "none")
    return tasks.Analysis(
        dispute_root_cause=said(language, "root", root=root),
        buyer_position=tasks.BuyerPosition(
            main_complaint=focus.buyer_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.buyer),
            strengths=points(case, "buyer", balanced)[:4],
        ),
        seller_position=tasks.SellerPosition(
            main_defense=focus.seller_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.seller),
            strengths=points(case, "seller", balanced)[:4],
        ),
        conflict_focus=tasks.ConflictFocus(
            core_disagreement=focus.dispute_focus,
            visual_evidence_insights=said(language, "not-seen"),
        ),
    )


def judge(task: tasks.Judge, draw: random.Random) -> tasks.Opinion:
    """Evidence, rules, norms and persona settle a stance; those who were heard move it."""
    case, view = task.case, task.examination
    evidence = balance(case, (*view.buyer, *view.seller), task.persona)
    norms = pull(case, task.memory, NORM_WEIGHT, "norm")
    others = (*pull(case, task.rules, RULE_WEIGHT, "rule"), *norms, *lean(task.persona))
    own = settle(evidence, others, task.persona)
    final = discuss(own, task.persona, task.heard, task.summary)
    if task.in_private:
        final = own + HEARD * (final - own)
    side: Side = "seller" if final < 0 else "buyer"
    return tasks.Opinion(
        verdict=side, reasoning=weighed_up(case, side, evidence, _besides(case.language, others, own, final))
    )


def judge_at_once(task: tasks.JudgeAtOnce, draw: random.Random) -> tasks.Opinion:
    """The same weighing over all evidence at once, without a persona and without discussion."""
    evidence, rules = contributions(task.case), pull(task.case, task.rules, RULE_WEIGHT, "rule")
    own = settle(evidence, rules, None)
    side: Side = "seller" if own < 0 else "buyer"
    besides = _besides(task.case.language, rules, own, own)
    return tasks.Opinion(verdict=side, reasoning=weighed_up(task.case, side, evidence, besides))


def _besides(language: str, others: tuple[Contribution, ...], own: float, final: float) -> str:
    """What rules, norms and persona bring, the stance alone, and the one after others were heard."""
    added = sum(c.weight for c in others)
    side = said(language, "buyer" if added > 0 else "seller")
    brought = said(language, "brought", weight=abs(added), side=side) if added else ""
    return brought + said(language, "stance", own=own) + (said(language, "heard", final=final) if final != own else "")


def summarise(task: tasks.Summarise, draw: random.Random) -> tasks.Summary:
    """Counts, and for each side the reasons that were given most."""
    language, space = task.language, said(task.language, "space")
    counts = Counter(opinion.verdict for opinion in task.opinions)
    buyer, seller = counts["buyer"], counts["seller"]
    arguments = []
    for side in SIDES:
        first = Counter(one.reasoning[0] for one in task.opinions if one.verdict == side and one.reasoning)
        if reasons := space.join(reason for reason, _ in first.most_common(2)):
            named = said(language, side)
            arguments.append(said(language, "argued", count=counts[side], side=named, reasons=reasons))
    leading = said(language, "buyer" if buyer >= seller else "seller")
    return tasks.Summary(
        key_arguments=space.join(arguments) or said(language, "nobody"),
        debate_intensity=said(language, "margin", margin=abs(buyer - seller), all=buyer + seller),
        prevailing_orientation=said(language, "orientation", buyer=buyer, seller=seller, leading=leading),
    )


def _texts(case: Dispute, side: Side) -> tuple[str, ...]:
    return tuple(piece.text for piece in case.by_side(side)) or tuple(m.text for m in case.chat if m.speaker == side)


def _contested(case: Dispute) -> tuple[str, ...]:
    counts = [Counter(word for text in _texts(case, side) for word in words(text)) for side in SIDES]
    most = ((counts[0] & counts[1]) or counts[0] + counts[1]).most_common()
    return tuple(word for word, _ in most if len(word) > 1 and not word[0].isdigit())[:4] or (case.transaction.product,)


def _named(language: str, found: tuple[Contribution, ...]) -> str:
    """The three clues that weigh most."""
    most = sorted(found, key=lambda c: -abs(c.weight))[:3]
    sides = ("buyer" if c.weight > 0 else "seller" for c in most)
    return said(language, "space").join(
        said(
            language, "named", side=said(language, side), what=CUE_BY_NAME[c.kind].words(language), weight=abs(c.weight)
        )
        for c, side in zip(most, sides, strict=True)
    )


METHODS: Methods = {
    tasks.ExtractFocus: extract,
    tasks.SelectEvidence: select,
    tasks.PerceiveEvidence: perceive,
    tasks.AnalyseDispute: analyse,
    tasks.Judge: judge,
    tasks.JudgeAtOnce: judge_at_once,
    tasks.Summarise: summarise,
}
