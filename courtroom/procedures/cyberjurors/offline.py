"""How the offline model answers for jurors: evidence counted by formulas, opinions that move along the follow-graph."""

import math
import random
import re
import tomllib
from collections import Counter
from collections.abc import Mapping
from dataclasses import replace
from functools import lru_cache
from statistics import fmean

from pydantic import TypeAdapter

from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.judging import dispute_weights
from courtroom.judging.dispute_weights import CUE_BY_NAME, TOWARDS, Contribution, direction, read, weigh, weighed
from courtroom.judging.explained import points, said, weighed_up
from courtroom.judging.jurors import HEARD, best_reasons
from courtroom.models.offline import methods
from courtroom.panel.personas import Persona
from courtroom.procedures.cyberjurors import tasks
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.words import central, words


class Temper(Strict):
    """What a trait of a juror changes; `data/juror_tempers.toml` says how."""

    yields: float = 0.0
    lean: float = 0.0
    attends: tuple[str, ...] = ()
    words: float = 1.0
    media: float = 1.0
    rules: float = 1.0


_DATA = tomllib.loads((DATA / "juror_tempers.toml").read_text(encoding="utf-8"))
NUMBERS: Mapping[str, float] = _DATA["numbers"]
TEMPERS = TypeAdapter(dict[str, Temper]).validate_python(_DATA["tempers"])
SELLS, BUYS = (re.compile(pattern, re.IGNORECASE) for pattern in _DATA["trades"].values())


def balance(case: Dispute, clues: tuple[tasks.Clue, ...], persona: Persona | None) -> tuple[Contribution, ...]:
    """Contributions of the evidence that was looked at or came late, and of chat and listing, as this juror weighs them."""
    pieces = {piece.id: piece for piece in case.evidence}
    shares: list[tuple[Evidence, float]] = []
    for clue in clues:
        if piece := pieces.get(clue.evidence_id):
            trust = math.prod(temper.media if piece.media else temper.words for temper in tempers(persona))
            shares.append((piece, _DATA["support"][clue.perception.support_strength] * trust))
    shares += ((piece, 1.0) for piece in case.evidence if piece.late)
    found = (replace(c, weight=c.weight * share) for piece, share in shares for c in weighed(case, piece))
    heard = dispute_weights.context(case)
    return tuple(replace(c, weight=c.weight * attention(persona, c.kind)) for c in (*found, *heard))


def tempers(persona: Persona | None) -> list[Temper]:
    return [TEMPERS[trait] for trait in (persona.traits if persona else ()) if trait in TEMPERS]


@lru_cache(maxsize=8192)
def attention(persona: Persona | None, kind: str) -> float:
    """How much a kind of clue weighs with a juror: by temper, and by an experience that is the juror's own, fixed by who it is."""
    if persona is None:
        return 1.0
    looks = any(kind in temper.attends for temper in tempers(persona))
    own = random.Random(f"{persona.text()}/{kind}").gauss(0, NUMBERS["spread"])
    return (NUMBERS["attention"] if looks else 1.0) * math.exp(own - NUMBERS["spread"] ** 2 / 2)


@lru_cache(maxsize=256)
def case_words(case: Dispute) -> frozenset[str]:
    """Return the words of listing, chat and evidence."""
    deal, chat = case.transaction, (line.text for line in case.chat)
    texts = (deal.product, deal.description, *chat, *(piece.text for piece in case.evidence))
    return frozenset(words("\n".join(texts)))


def pull(case: Dispute, texts: tuple[str, ...], kind: str) -> tuple[Contribution, ...]:
    """What rules or norms contribute: direction by wording, weight by the square of the share of their words that the case has, so
    that common words alone say next to nothing."""
    found = []
    for text in texts:
        own = frozenset(words(text))
        share = len(own & case_words(case)) / (len(own) or 1)
        found.append(Contribution(kind, text, direction(text) * share**2 * NUMBERS[kind]))
    return tuple(contribution for contribution in found if contribution.weight)


def lean(persona: Persona | None) -> tuple[Contribution, ...]:
    """What a persona brings along."""
    if persona is None:
        return ()
    text = f"{persona.status}. {persona.background}"
    trade = "seller" if SELLS.search(text) else "buyer" if BUYS.search(text) else ""
    found = [Contribution("trait", "", temper.lean) for temper in tempers(persona)]
    return (*found, Contribution("background", persona.background, NUMBERS.get(trade, 0.0)))


def settle(evidence: tuple[Contribution, ...], others: tuple[Contribution, ...], persona: Persona | None) -> float:
    """x(0): the stance before any discussion."""
    rules = math.prod(temper.rules for temper in tempers(persona))
    buyer = sum(c.weight for c in evidence if c.weight > 0)
    seller = -sum(c.weight for c in evidence if c.weight < 0)
    given = NUMBERS["burden"] + NUMBERS["sway"] * (buyer - seller) / (buyer + seller + NUMBERS["doubt"])
    added = sum(c.weight * (rules if c.kind == "rule" else 1.0) for c in others)
    return max(-1.0, min(1.0, given + added))


def susceptibility(persona: Persona | None) -> float:
    """How far others move this juror: 0.05 to 0.8."""
    return max(0.05, min(0.8, NUMBERS["susceptibility"] + sum(temper.yields for temper in tempers(persona))))


def discuss(
    own: float, persona: Persona | None, heard: tuple[tasks.Heard, ...], summary: tasks.Summary | None
) -> float:
    """One step of Friedkin and Johnsen's dynamics; without anybody heard, the stance stays."""
    votes = [TOWARDS[other.verdict] for other in heard if other.verdict]
    leaning = orientation(summary) if summary and summary.prevailing_orientation else None
    if not votes and leaning is None:
        return own
    mean = fmean(votes) if votes else 0.0
    share = 0.0 if leaning is None else NUMBERS["summary"] if votes else 1.0
    mean, s = share * (leaning or 0.0) + (1 - share) * mean, susceptibility(persona)
    return s * mean + (1 - s) * own


def orientation(summary: tasks.Summary) -> float:
    """Which way a collective summary says the jury leans: by its counts, else by which side it names more."""
    text, names = summary.prevailing_orientation.lower(), ("buyer|买家", "seller|卖家")
    b, s = (len(re.findall(name, text)) for name in names)
    if counted := re.search(rf"(?:{names[0]})\D{{0,12}}(\d+).*(?:{names[1]})\D{{0,12}}(\d+)", text):
        b, s = map(int, counted.groups())
    return (b - s) / (b + s) if b + s else 0.0


def extract(task: tasks.ExtractFocus, draw: random.Random) -> tasks.Focus:
    """Each side's most central sentences, and the words that both sides use."""
    case, language = task.case, task.case.language
    texts = {
        side: [piece.text for piece in case.by_side(side)] or [line.text for line in case.chat if line.speaker == side]
        for side in SIDES
    }
    buyer, seller = (
        " ".join(central(texts[side], 2)) or said(language, "silent", side=said(language, side)) for side in SIDES
    )
    mine, theirs = (Counter(word for text in texts[side] for word in words(text)) for side in SIDES)
    both = [word for word, _ in (mine & theirs or mine + theirs).most_common()]
    contested = [word for word in both if len(word) > 1 and not word[0].isdigit()][:4] or [case.transaction.product]
    terms = said(language, "comma").join(contested)
    focus = said(language, "focus", terms=terms, product=case.transaction.product)
    return tasks.Focus(buyer_core_claim=buyer, seller_core_claim=seller, dispute_focus=focus)


def select(task: tasks.SelectEvidence, draw: random.Random) -> tasks.Selection:
    """The piece whose words meet the focus most; media and checkable detail count."""
    focus = task.focus
    wanted = frozenset(words(f"{focus.dispute_focus} {focus.buyer_core_claim} {focus.seller_core_claim}"))

    def worth(piece: Evidence) -> float:
        own = frozenset(words(piece.text))
        media = 0.2 * bool(piece.media) + 0.1 * any(medium.kind == "video" for medium in piece.media)
        detail = 0.05 * min(4, len(dispute_weights.SPECIFIC.findall(piece.text)))
        cues = 0.05 * len(read(piece.text, piece.side, conceded=None))
        return len(own & wanted) / (len(own | wanted) or 1) + media + detail + cues

    best = max(task.candidates, key=worth)
    return tasks.Selection(selected_evidence_id=best.id, reason=said(task.language, "selected", score=worth(best)))


def perceive(task: tasks.PerceiveEvidence, draw: random.Random) -> tasks.Perception:
    """What text and descriptions say. The media themselves are not looked at, and the answer says so."""
    language, piece = task.language, task.evidence
    own = sum(c.weight for c in weigh(piece)) * TOWARDS[piece.side]
    strength: tasks.Degree = "strong" if own >= 2.0 else "moderate" if own >= 0.8 else "weak"
    findings = []
    for index, medium in enumerate(piece.media):
        text = said(language, "by-description", text=medium.description or said(language, "none"))
        findings.append(tasks.Finding(media_type=medium.kind, media_index=index, description=text))
    summary = list(central((piece.text,), 1)) or [said(language, "no-text")]
    for c in sorted(weigh(piece), key=lambda c: -abs(c.weight))[:3]:
        side, what = said(language, "buyer" if c.weight > 0 else "seller"), CUE_BY_NAME[c.kind].words(language)
        summary.append(said(language, "named", side=side, what=what, weight=abs(c.weight)))
    enough = strength == "strong" and bool(task.before)
    return tasks.Perception(
        visual_findings=tuple(findings),
        evidence_summary=said(language, "space").join(summary),
        support_strength=strength,
        is_sufficient=enough,
        sufficiency_reason=said(language, "enough" if enough else "not-enough"),
    )


def analyse(task: tasks.AnalyseDispute, draw: random.Random) -> tasks.Analysis:
    """Clues sorted by the side they speak for."""
    case, focus, language = task.case, task.focus, task.case.language
    balanced = balance(case, (*task.buyer, *task.seller), None)
    weightiest = max(balanced, key=lambda c: abs(c.weight), default=None)
    root = CUE_BY_NAME[weightiest.kind].words(language) if weightiest else said(language, "none")
    pro, con = (points(case, side, balanced)[:4] for side in SIDES)
    buyer, seller = (tuple(clue.evidence_id for clue in clues) for clues in (task.buyer, task.seller))
    insights = said(language, "not-seen")
    return tasks.Analysis(
        dispute_root_cause=said(language, "root", root=root),
        buyer_position=tasks.BuyerPosition(main_complaint=focus.buyer_core_claim, key_evidence=buyer, strengths=pro),
        seller_position=tasks.SellerPosition(main_defense=focus.seller_core_claim, key_evidence=seller, strengths=con),
        conflict_focus=tasks.ConflictFocus(core_disagreement=focus.dispute_focus, visual_evidence_insights=insights),
    )


def judge(task: tasks.Judge | tasks.JudgeAtOnce, draw: random.Random) -> tasks.Opinion:
    """Evidence, rules, norms and persona settle a stance; those who were heard move it. The reasons say what each brings."""
    case, language, others = task.case, task.case.language, pull(task.case, tuple(map(str, task.rules)), "rule")
    if isinstance(task, tasks.JudgeAtOnce):
        evidence = dispute_weights.contributions(case)
        final = own = settle(evidence, others, None)
    else:
        evidence = balance(case, (*task.examination.buyer, *task.examination.seller), task.persona)
        others = (*others, *pull(case, task.memory, "norm"), *lean(task.persona))
        own = settle(evidence, others, task.persona)
        final = discuss(own, task.persona, task.heard, task.summary)
        final = own + HEARD * (final - own) if task.in_private else final
    added = sum(c.weight for c in others)
    towards = said(language, "buyer" if added > 0 else "seller")
    besides = said(language, "brought", weight=abs(added), side=towards) if added else ""
    besides += said(language, "stance", own=own) + (said(language, "heard", final=final) if final != own else "")
    side: Side = "seller" if final < 0 else "buyer"
    return tasks.Opinion(verdict=side, reasoning=weighed_up(case, side, evidence, besides))


def summarise(task: tasks.Summarise, draw: random.Random) -> tasks.Summary:
    """Counts, unless jurors are shown them elsewhere or not at all, and for each side the reasons that were given most."""
    language, space = task.language, said(task.language, "space")
    sides, counts = {side: said(language, side) for side in SIDES}, Counter(one.verdict for one in task.opinions)
    arguments, buyer, seller = [], counts["buyer"], counts["seller"]
    votes = "counted" if task.count_seen == "nobody" else "uncounted"
    for side in SIDES:
        first = Counter(one.reasoning[0] for one in task.opinions if one.verdict == side and one.reasoning)
        if reasons := space.join(reason for reason, _ in first.most_common(2)):
            arguments.append(said(language, f"argued-{votes}", count=counts[side], side=sides[side], reasons=reasons))
    leading = sides["buyer" if buyer >= seller else "seller"]
    return tasks.Summary(
        key_arguments=space.join(arguments) or said(language, "nobody"),
        debate_intensity=said(language, f"margin-{votes}", margin=abs(buyer - seller), all=buyer + seller),
        prevailing_orientation=said(language, f"orientation-{votes}", buyer=buyer, seller=seller, leading=leading),
    )


METHODS = methods(extract, select, perceive, analyse, judge, summarise, best_reasons)
