"""The offline model's answers to CyberJurors' tasks. Everything is quoted from, or counted in, the task's own inputs."""

from __future__ import annotations

import random
import re
from collections import Counter

from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.judging.dispute_cues import CUE_BY_NAME, SPECIFIC, cues_in
from courtroom.judging.dispute_weights import Contribution, contributions, weigh
from courtroom.models.offline import Methods
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors.answers import (
    Analysis,
    BuyerPosition,
    ConflictFocus,
    Degree,
    Finding,
    Focus,
    Opinion,
    Perception,
    Selection,
    SellerPosition,
    Summary,
)
from courtroom.procedures.cyberjurors.offline import stance
from courtroom.procedures.cyberjurors.offline.phrases import say, side_name
from courtroom.procedures.cyberjurors.tasks import (
    AnalyseDispute,
    ExtractFocus,
    Judge,
    JudgeAtOnce,
    PerceiveEvidence,
    SelectEvidence,
    Summarise,
)
from courtroom.text.central import central
from courtroom.text.words import words


def extract(task: ExtractFocus, draw: random.Random) -> Focus:
    """Each side's most central sentences, and the words that both sides use."""
    case = task.case
    claims = {side: central(_texts(case, side), 2) for side in SIDES}
    shared = _contested(case)
    text = case.language
    return Focus(
        buyer_core_claim=" ".join(claims["buyer"]) or say(text, "silent", side=side_name(text, "buyer")),
        seller_core_claim=" ".join(claims["seller"]) or say(text, "silent", side=side_name(text, "seller")),
        dispute_focus=say(text, "focus", terms=say(text, "comma").join(shared), product=case.transaction.product),
    )


def select(task: SelectEvidence, draw: random.Random) -> Selection:
    """The piece whose words meet the focus most; media and checkable detail count."""
    wanted = frozenset(
        words(f"{task.focus.dispute_focus} {task.focus.buyer_core_claim} {task.focus.seller_core_claim}")
    )

    def worth(piece: Evidence) -> float:
        own = frozenset(words(piece.text))
        relevance = len(own & wanted) / (len(own | wanted) or 1)
        media = 0.2 * bool(piece.media) + 0.1 * any(medium.kind == "video" for medium in piece.media)
        return relevance + media + 0.05 * min(4, len(SPECIFIC.findall(piece.text))) + 0.05 * len(cues_in(piece.text))

    best = max(task.candidates, key=worth)
    return Selection(selected_evidence_id=best.id, reason=say(task.language, "selected", score=f"{worth(best):.2f}"))


def perceive(task: PerceiveEvidence, draw: random.Random) -> Perception:
    """What text and descriptions say. The media themselves are not looked at, and the answer says so."""
    language, piece = task.language, task.evidence
    contributions = weigh(piece)
    own = sum(c.weight for c in contributions) * stance.vote(piece.side)
    strength: Degree = "strong" if own >= 2.0 else "moderate" if own >= 0.8 else "weak"
    findings = tuple(
        Finding(
            media_type=medium.kind,
            media_index=index,
            description=say(language, "by description", text=medium.description or say(language, "no description")),
            benefit_analysis=_named(language, tuple(c for c, _ in _signed(medium.description))),
            importance="high"
            if len(cues_in(medium.description)) > 1
            else "medium"
            if cues_in(medium.description)
            else "low",
        )
        for index, medium in enumerate(piece.media)
    )
    summary = central((piece.text,), 1) or (say(language, "no text"),)
    cues = _named(language, tuple(contributions))
    enough = strength == "strong" and bool(task.before)
    return Perception(
        visual_findings=findings,
        evidence_summary=f"{summary[0]} {cues}".strip(),
        support_strength=strength,
        is_sufficient=enough,
        sufficiency_reason=say(language, "enough" if enough else "not enough"),
    )


def analyse(task: AnalyseDispute, draw: random.Random) -> Analysis:
    """Clues sorted by the side they speak for, and the readings in which the two sides differ."""
    case, language = task.case, task.case.language
    weighed = stance.balance(case, (*task.buyer, *task.seller), None)
    for_buyer = _strongest(language, [c for c in weighed if c.weight > 0])
    for_seller = _strongest(language, [c for c in weighed if c.weight < 0])
    kinds = Counter(c.kind for c in weighed)
    root = CUE_BY_NAME[kinds.most_common(1)[0][0]].words(language) if kinds else say(language, "unclear")
    return Analysis(
        dispute_root_cause=say(language, "root", root=root),
        buyer_position=BuyerPosition(
            main_complaint=task.focus.buyer_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.buyer),
            visual_support=say(language, "not seen"),
            strengths=for_buyer,
            weaknesses=for_seller[:2],
        ),
        seller_position=SellerPosition(
            main_defense=task.focus.seller_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.seller),
            visual_support=say(language, "not seen"),
            strengths=for_seller,
            weaknesses=for_buyer[:2],
        ),
        conflict_focus=ConflictFocus(
            core_disagreement=task.focus.dispute_focus,
            evidence_contradictions=_contradictions(case),
            visual_evidence_insights=say(language, "not seen"),
            critical_facts=(*for_buyer[:1], *for_seller[:1]),
        ),
    )


def judge(task: Judge, draw: random.Random) -> Opinion:
    """Evidence, rules, norms and persona settle a stance; those who were heard move it."""
    case, language = task.case, task.case.language
    view = task.examination
    evidence = stance.balance(case, (*view.buyer, *view.seller), task.persona)
    others = (
        *stance.pull(case, task.rules, stance.RULE_WEIGHT, "rule"),
        *stance.pull(case, task.memory, stance.NORM_WEIGHT, "norm"),
        *stance.lean(task.persona),
    )
    own = stance.settle(evidence, others, task.persona)
    final = stance.discuss(own, task.persona, task.heard, task.summary)
    side: Side = "seller" if final < 0 else "buyer"
    reasons = _reasons(language, side, evidence, others, task.persona)
    if task.heard:
        agreeing = [other.name for other in task.heard if other.verdict == side]
        key = "moved" if (own < 0) != (final < 0) else "heard"
        reasons.append(say(language, key, names=say(language, "comma").join(agreeing[:3]) or say(language, "nobody")))
    reasons.append(say(language, "stance", stance=f"{final:+.2f}", own=f"{own:+.2f}"))
    return Opinion(verdict=side, reasoning=tuple(reasons))


def judge_at_once(task: JudgeAtOnce, draw: random.Random) -> Opinion:
    """The same weighing over all evidence at once, without a persona and without discussion."""
    evidence = contributions(task.case)
    rules = stance.pull(task.case, task.rules, stance.RULE_WEIGHT, "rule")
    final = stance.settle(evidence, rules, None)
    side: Side = "seller" if final < 0 else "buyer"
    language = task.case.language
    reasons = [
        *_reasons(language, side, evidence, rules),
        say(language, "stance", stance=f"{final:+.2f}", own=f"{final:+.2f}"),
    ]
    return Opinion(verdict=side, reasoning=tuple(reasons))


def summarise(task: Summarise, draw: random.Random) -> Summary:
    """Counts, and for each side the reasons that stand most in the middle of all."""
    language = task.language
    counts = Counter(opinion.verdict for opinion in task.opinions)
    buyer, seller = counts["buyer"], counts["seller"]
    arguments = [
        say(language, "argued", side=side_name(language, side), reasons=" ".join(reasons))
        for side in SIDES
        if (reasons := central([o.reasoning[0] for o in task.opinions if o.verdict == side], 2))
    ]
    margin = abs(buyer - seller) / max(1, buyer + seller)
    heat = "heated" if margin < 0.2 else "divided" if margin < 0.6 else "calm"
    leading = side_name(language, "buyer" if buyer >= seller else "seller")
    return Summary(
        key_arguments=" ".join(arguments) or say(language, "nobody spoke"),
        debate_intensity=say(language, heat),
        prevailing_orientation=say(language, "orientation", buyer=buyer, seller=seller, leading=leading),
    )


def _texts(case: Dispute, side: Side) -> tuple[str, ...]:
    return tuple(piece.text for piece in case.by_side(side)) or tuple(m.text for m in case.chat if m.speaker == side)


def _contested(case: Dispute) -> tuple[str, ...]:
    """The words that both sides use most."""
    counts = [Counter(word for text in _texts(case, side) for word in words(text)) for side in SIDES]
    both = counts[0] & counts[1]
    common = [
        word for word, _ in (both or counts[0] + counts[1]).most_common() if len(word) > 1 and not word[0].isdigit()
    ]
    return tuple(common[:4]) or (case.transaction.product,)


def _contradictions(case: Dispute) -> tuple[str, ...]:
    """Readings with one unit that differ between listing and evidence."""
    reading = re.compile(r"(\d+(?:\.\d+)?)\s?(%|cm|mm|GB|TB|kg|hours?|lessons?|pages?|小时|厘米|节)", re.IGNORECASE)
    listed: dict[str, set[str]] = {}
    for number, unit in reading.findall(case.transaction.description):
        listed.setdefault(unit.lower(), set()).add(number)
    found = []
    for piece in case.evidence:
        for number, unit in reading.findall(piece.text + " ".join(m.description for m in piece.media)):
            if (known := listed.get(unit.lower())) and number not in known:
                found.append(
                    say(
                        case.language,
                        "contradiction",
                        piece=piece.id,
                        value=f"{number} {unit}",
                        listed=f"{sorted(known)[0]} {unit}",
                    )
                )
    return tuple(dict.fromkeys(found))[:4]


def _signed(text: str) -> list[tuple[Contribution, str]]:
    return [
        (Contribution(cue.name, quoted, cue.weight if cue.side == "buyer" else -cue.weight), quoted)
        for cue, quoted in cues_in(text)
    ]


def _named(language: str, contributions: tuple[Contribution, ...]) -> str:
    names = [
        say(
            language,
            "speaks",
            what=CUE_BY_NAME[c.kind].words(language),
            side=side_name(language, "buyer" if c.weight > 0 else "seller"),
        )
        for c in sorted(contributions, key=lambda c: -abs(c.weight))[:3]
    ]
    return " ".join(names)


def _strongest(language: str, contributions: list[Contribution]) -> tuple[str, ...]:
    best = sorted(contributions, key=lambda c: -abs(c.weight))
    return tuple(dict.fromkeys(f"{CUE_BY_NAME[c.kind].words(language)} ({c.text})" for c in best))[:4]


def _reasons(
    language: str,
    side: Side,
    evidence: tuple[Contribution, ...],
    others: tuple[Contribution, ...],
    persona: Persona | None = None,
) -> list[str]:
    """The weightiest contributions on the side taken, then the weightiest against it."""
    sign = stance.vote(side)
    for_it = sorted((c for c in (*evidence, *others) if c.weight * sign > 0), key=lambda c: -abs(c.weight))
    against = sorted((c for c in (*evidence, *others) if c.weight * sign < 0), key=lambda c: -abs(c.weight))
    text = [_described(language, c, persona) for c in for_it[:3]] or [say(language, "nothing")]
    if against:
        text.append(say(language, "against", what=_described(language, against[0])))
    return [reason[:1].upper() + reason[1:] for reason in text]


def _described(language: str, c: Contribution, persona: Persona | None = None) -> str:
    side = side_name(language, "buyer" if c.weight > 0 else "seller")
    if c.kind in ("rule", "norm", "trait", "background"):
        return say(language, c.kind, text=c.text, side=side)
    clue = say(language, "clue", what=CUE_BY_NAME[c.kind].words(language), text=c.text, side=side)
    trait = stance.looked_for(persona, c.kind)
    return f"{clue} {say(language, 'looked for', trait=trait)}" if trait else clue


METHODS: Methods = {
    ExtractFocus: extract,
    SelectEvidence: select,
    PerceiveEvidence: perceive,
    AnalyseDispute: analyse,
    Judge: judge,
    JudgeAtOnce: judge_at_once,
    Summarise: summarise,
}
