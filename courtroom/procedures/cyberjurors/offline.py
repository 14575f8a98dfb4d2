"""How the offline model answers for jurors: evidence counted by formulas, opinions that move along the follow-graph."""

import math
import random
import re
from collections import Counter
from collections.abc import Iterable, Mapping
from functools import lru_cache

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
from courtroom.judging.jurors import HEARD
from courtroom.judging.voices import Voice
from courtroom.models.offline import Methods
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.text.words import central, words

PHRASES: dict[str, tuple[str, str]] = {
    "comma": (", ", "、"),
    "silent": ("The {side} has claimed nothing.", "{side}没有提出主张。"),
    "focus": ("Who is right about {terms}, in the sale of {product}?", "围绕“{product}”的交易，双方在{terms}上谁更有理？"),
    "selected": ("Its words meet the focus best (score {score}).", "与争议焦点的词语最接近（得分 {score}）。"),
    "by description": ("Going by its description, not seen: {text}", "仅依据文字描述，未看画面：{text}"),
    "no description": ("there is none", "无描述"),
    "no text": ("The piece comes without text.", "该证据没有文字说明。"),
    "enough": ("The clues found so far bear the claim out.", "已有线索足以印证主张。"),
    "not enough": ("More evidence should be looked at.", "还需查看更多证据。"),
    "root": ("At the root: {root}.", "争议根源：{root}。"),
    "unclear": ("no recognisable fault on either side", "双方均无可辨认的过错"),
    "not seen": ("No picture was looked at; descriptions alone were weighed.", "未查看画面，仅权衡文字描述。"),
    "contradiction": ("{piece} gives {value} where the listing gives {listed}.", "{piece}为{value}，而商品描述为{listed}。"),
    "speaks": ("It shows {what}, which speaks for the {side}.", "体现{what}，有利于{side}。"),
    "argued": ("For the {side} {names} put it so: {reasons}", "支持{side}的有{names}这样说：{reasons}"),
    "and": (" and ", "和"),
    "nobody spoke": ("Nobody gave a reason.", "没有人给出理由。"),
    "heated": ("The debate is heated: the jury is almost evenly split.", "争论激烈：双方票数几乎持平。"),
    "divided": ("The jury is divided, with a clear majority.", "意见有分歧，但多数明显。"),
    "calm": ("There is little debate: nearly all agree.", "争论不大：几乎一致。"),
    "orientation": ("Buyer {buyer}, seller {seller}: the {leading} is being supported.", "买家 {buyer} 票，卖家 {seller} 票：目前支持{leading}。"),
}  # fmt: skip


def say(language: str, phrase: str, **values: object) -> str:
    return PHRASES[phrase][language.startswith("zh")].format(**values)


def side_name(language: str, side: Side) -> str:
    return {"buyer": "买家", "seller": "卖家"}[side] if language.startswith("zh") else side


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


SUPPORT: Mapping[tasks.Degree, float] = {"strong": 1.0, "moderate": 0.8, "weak": 0.6, "none": 0.0, "against": -0.6}
"""How much of its own words a piece keeps, by what was seen in it: one that speaks against its side counts for the other."""


def balance(case: Dispute, clues: tuple[tasks.Clue, ...], persona: Persona | None) -> tuple[Contribution, ...]:
    """Contributions of the evidence that was looked at, as this juror weighs it."""
    pieces = {piece.id: piece for piece in case.evidence}
    traits = frozenset(persona.traits) if persona else frozenset()
    found: list[Contribution] = []
    for clue in clues:
        piece = pieces.get(clue.evidence_id)
        if piece is None:
            continue
        factor = SUPPORT[clue.perception.support_strength]
        if "skeptical" in traits and not piece.media:
            factor *= 0.6
        if "detail-oriented" in traits and piece.media:
            factor *= 1.2
        found += [Contribution(c.kind, f"{piece.id}: {c.text}", c.weight * factor) for c in weighed(case, piece)]
    late = [
        Contribution(c.kind, f"{piece.id}: {c.text}", c.weight)
        for piece in case.evidence
        if piece.late
        for c in weighed(case, piece)
    ]
    together = (*found, *late, *context(case))
    return tuple(Contribution(c.kind, c.text, c.weight * attention(persona, c.kind)) for c in together)


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
    given = BURDEN + SWAY * (buyer - seller) / (buyer + seller + DOUBT)
    added = sum(c.weight * (rules if c.kind == "rule" else 1.0) for c in others)
    return max(-1.0, min(1.0, given + added))


def susceptibility(persona: Persona | None) -> float:
    """How far others move this juror: 0.05 to 0.8."""
    traits = persona.traits if persona else ()
    return max(0.05, min(0.8, SUSCEPTIBILITY + sum(SUSCEPTIBLE.get(trait, 0.0) for trait in traits)))


def discuss(
    own: float, persona: Persona | None, heard: tuple[tasks.Heard, ...], summary: tasks.Summary | None
) -> float:
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
    case = task.case
    claims = {side: central(_texts(case, side), 2) for side in SIDES}
    shared = _contested(case)
    text = case.language
    return tasks.Focus(
        buyer_core_claim=" ".join(claims["buyer"]) or say(text, "silent", side=side_name(text, "buyer")),
        seller_core_claim=" ".join(claims["seller"]) or say(text, "silent", side=side_name(text, "seller")),
        dispute_focus=say(text, "focus", terms=say(text, "comma").join(shared), product=case.transaction.product),
    )


def select(task: tasks.SelectEvidence, draw: random.Random) -> tasks.Selection:
    """The piece whose words meet the focus most; media and checkable detail count."""
    wanted = frozenset(
        words(f"{task.focus.dispute_focus} {task.focus.buyer_core_claim} {task.focus.seller_core_claim}")
    )

    def worth(piece: Evidence) -> float:
        own = frozenset(words(piece.text))
        relevance = len(own & wanted) / (len(own | wanted) or 1)
        media = 0.2 * bool(piece.media) + 0.1 * any(medium.kind == "video" for medium in piece.media)
        return (
            relevance
            + media
            + 0.05 * min(4, len(SPECIFIC.findall(piece.text)))
            + 0.05 * len(read(piece.text, piece.side, conceded=None))
        )

    best = max(task.candidates, key=worth)
    return tasks.Selection(
        selected_evidence_id=best.id, reason=say(task.language, "selected", score=f"{worth(best):.2f}")
    )


def perceive(task: tasks.PerceiveEvidence, draw: random.Random) -> tasks.Perception:
    """What text and descriptions say. The media themselves are not looked at, and the answer says so."""
    language, piece = task.language, task.evidence
    contributions = weigh(piece)
    own = sum(c.weight for c in contributions) * vote(piece.side)
    strength: tasks.Degree = "strong" if own >= 2.0 else "moderate" if own >= 0.8 else "weak"
    findings = tuple(
        tasks.Finding(
            media_type=medium.kind,
            media_index=index,
            description=say(language, "by description", text=medium.description or say(language, "no description")),
            benefit_analysis=_named(language, seen),
            importance="high" if len(seen) > 1 else "medium" if seen else "low",
        )
        for index, medium in enumerate(piece.media)
        for seen in (read(medium.description, piece.side, conceded=None),)
    )
    summary = central((piece.text,), 1) or (say(language, "no text"),)
    cues = _named(language, tuple(contributions))
    enough = strength == "strong" and bool(task.before)
    return tasks.Perception(
        visual_findings=findings,
        evidence_summary=f"{summary[0]} {cues}".strip(),
        support_strength=strength,
        is_sufficient=enough,
        sufficiency_reason=say(language, "enough" if enough else "not enough"),
    )


def analyse(task: tasks.AnalyseDispute, draw: random.Random) -> tasks.Analysis:
    """Clues sorted by the side they speak for, and the readings in which the two sides differ."""
    case, language = task.case, task.case.language
    balanced = balance(case, (*task.buyer, *task.seller), None)
    for_buyer = _strongest(language, [c for c in balanced if c.weight > 0])
    for_seller = _strongest(language, [c for c in balanced if c.weight < 0])
    kinds = Counter(c.kind for c in balanced)
    root = CUE_BY_NAME[kinds.most_common(1)[0][0]].words(language) if kinds else say(language, "unclear")
    return tasks.Analysis(
        dispute_root_cause=say(language, "root", root=root),
        buyer_position=tasks.BuyerPosition(
            main_complaint=task.focus.buyer_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.buyer),
            visual_support=say(language, "not seen"),
            strengths=for_buyer,
            weaknesses=for_seller[:2],
        ),
        seller_position=tasks.SellerPosition(
            main_defense=task.focus.seller_core_claim,
            key_evidence=tuple(clue.evidence_id for clue in task.seller),
            visual_support=say(language, "not seen"),
            strengths=for_seller,
            weaknesses=for_buyer[:2],
        ),
        conflict_focus=tasks.ConflictFocus(
            core_disagreement=task.focus.dispute_focus,
            evidence_contradictions=_contradictions(case),
            visual_evidence_insights=say(language, "not seen"),
            critical_facts=(*for_buyer[:1], *for_seller[:1]),
        ),
    )


def judge(task: tasks.Judge, draw: random.Random) -> tasks.Opinion:
    """Evidence, rules, norms and persona settle a stance; those who were heard move it."""
    case, view = task.case, task.examination
    evidence = balance(case, (*view.buyer, *view.seller), task.persona)
    others = (
        *pull(case, task.rules, RULE_WEIGHT, "rule"),
        *pull(case, task.memory, NORM_WEIGHT, "norm"),
        *lean(task.persona),
    )
    own = settle(evidence, others, task.persona)
    final = discuss(own, task.persona, task.heard, task.summary)
    if task.in_private:
        final = own + HEARD * (final - own)
    side: Side = "seller" if final < 0 else "buyer"
    voice = Voice(case, side, task.seat, task.round, task.persona)
    reasons = (
        _further(voice, own, final, evidence, others, task)
        if task.round > 1
        else _first(voice, final, evidence, others)
    )
    return tasks.Opinion(verdict=side, reasoning=tuple(reasons))


def judge_at_once(task: tasks.JudgeAtOnce, draw: random.Random) -> tasks.Opinion:
    """The same weighing over all evidence at once, without a persona and without discussion."""
    evidence = contributions(task.case)
    rules = pull(task.case, task.rules, RULE_WEIGHT, "rule")
    final = settle(evidence, rules, None)
    side: Side = "seller" if final < 0 else "buyer"
    return tasks.Opinion(verdict=side, reasoning=tuple(_first(Voice(task.case, side), final, evidence, rules)))


def summarise(task: tasks.Summarise, draw: random.Random) -> tasks.Summary:
    """Counts, and for each side the reasons that stand most in the middle of all."""
    language = task.language
    counts = Counter(opinion.verdict for opinion in task.opinions)
    buyer, seller = counts["buyer"], counts["seller"]
    arguments = []
    for side in SIDES:
        said = {o.reasoning[0]: o.name for o in task.opinions if o.verdict == side and o.reasoning}
        if reasons := central(list(said), 2):
            names = dict.fromkeys(name for reason in reasons for text, name in said.items() if reason in text)
            told = say(language, "and").join(names)
            quoted = " ".join(reasons)
            arguments.append(say(language, "argued", side=side_name(language, side), names=told, reasons=quoted))
    margin = abs(buyer - seller) / max(1, buyer + seller)
    heat = "heated" if margin < 0.2 else "divided" if margin < 0.6 else "calm"
    leading = side_name(language, "buyer" if buyer >= seller else "seller")
    return tasks.Summary(
        key_arguments=" ".join(arguments) or say(language, "nobody spoke"),
        debate_intensity=say(language, heat),
        prevailing_orientation=say(language, "orientation", buyer=buyer, seller=seller, leading=leading),
    )


def _texts(case: Dispute, side: Side) -> tuple[str, ...]:
    return tuple(piece.text for piece in case.by_side(side)) or tuple(m.text for m in case.chat if m.speaker == side)


def _contested(case: Dispute) -> tuple[str, ...]:
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


def _ranked(found: Iterable[Contribution], sign: float) -> list[Contribution]:
    """What speaks for a side, weightiest first, each words of the case once."""
    ranked = sorted((c for c in found if c.weight * sign > 0), key=lambda c: -abs(c.weight))
    return list({c.text: c for c in reversed(ranked)}.values())[::-1]


def _first(
    voice: Voice, final: float, evidence: tuple[Contribution, ...], others: tuple[Contribution, ...]
) -> list[str]:
    """Before any discussion: what decides, what this juror brings along or sees besides, what speaks against it."""
    sign = vote(voice.side)
    for_it, against, brought = _ranked(evidence, sign), _ranked(evidence, -sign), _ranked(others, sign)
    said = [voice.lead(for_it[0])] if for_it else [voice.nothing()]
    weightiest = _ranked((*evidence, *others), sign)[:3]
    basis = next((c for c in brought if c in weightiest or not for_it), None)
    particular = next((c for c in for_it[1:] if attention(voice.persona, c.kind) > 1), None)
    about = voice.point(for_it[1] if len(for_it) > 1 else for_it[0]).quote if for_it else voice.product
    if basis and basis.kind in ("trait", "background"):
        said.append(voice.leaning(basis, about))
    elif basis:
        said.append(voice.ruled(basis, about))
    elif particular:
        said.append(voice.own(particular, looked_for(voice.persona, particular.kind)))
    elif len(for_it) > 1:
        said.append(voice.further(for_it[1]))
    return said + ([voice.against(against[0], final)] if against else [])


def _further(
    voice: Voice,
    own: float,
    final: float,
    evidence: tuple[Contribution, ...],
    others: tuple[Contribution, ...],
    task: tasks.Judge,
) -> list[str]:
    """After others spoke: what one of them said is taken up, or what moved this juror is named; then another clue each way."""
    alone: Side = "seller" if own < 0 else "buyer"
    sign = vote(voice.side)
    for_it, against, at_first = _ranked(evidence, sign), _ranked(evidence, -sign), _ranked(evidence, vote(alone))
    agreeing = [other for other in task.heard if other.verdict == voice.side]
    differing = [other for other in task.heard if other.verdict not in (voice.side, None)]
    strongest = voice.point(at_first[0]).quote if at_first else voice.product
    said, one = [], None
    if alone != voice.side:
        clerk = "书记员汇总的多数" if voice.chinese else "those in the clerk's summary"
        said.append(voice.moved([other.name for other in agreeing[:3]] or [clerk], strongest))
    else:
        turn = (agreeing, differing) if (task.seat + task.round) % 2 else (differing, agreeing)
        one = next((group[(task.seat + task.round) % len(group)] for group in turn if group), None)
        quote = voice.heard(one.reasoning, one.verdict) if one and one.verdict else ""
        if one and quote and one in agreeing:
            said.append(voice.agrees(one.name, quote))
        elif one and quote and quote != strongest:
            said.append(voice.answers(one.name, quote, strongest))
        elif for_it:
            said.append(voice.lead(for_it[0]))
    another = for_it[min(task.round - 1, len(for_it) - 1)] if len(for_it) > 1 else None
    if another and attention(voice.persona, another.kind) > 1 and alone == voice.side:
        said.append(voice.own(another, looked_for(voice.persona, another.kind)))
    elif another:
        said.append(voice.further(another))
    if against and alone == voice.side and one in agreeing:
        said.append(voice.against(against[(task.round - 1) % len(against)], final))
    return said or _first(voice, final, evidence, others)


METHODS: Methods = {
    tasks.ExtractFocus: extract,
    tasks.SelectEvidence: select,
    tasks.PerceiveEvidence: perceive,
    tasks.AnalyseDispute: analyse,
    tasks.Judge: judge,
    tasks.JudgeAtOnce: judge_at_once,
    tasks.Summarise: summarise,
}
