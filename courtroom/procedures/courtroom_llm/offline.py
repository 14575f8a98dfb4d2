"""How the offline model pleads and judges: a text's affinity to each label, by labelled examples and a lexicon."""

import math
import random
import re
import tomllib
from collections.abc import Sequence
from functools import lru_cache

from courtroom.judging.explained import said
from courtroom.models.narrow import folded
from courtroom.models.offline import methods
from courtroom.procedures.courtroom_llm import tasks
from courtroom.settings import DATA
from courtroom.text.languages import is_unspaced
from courtroom.text.words import has_chinese, sentences, words

WORDS = tomllib.loads((DATA / "label_words.toml").read_text(encoding="utf-8"))
FOLLOWS, FOLLOWS_NOT, AGAINST, DENIALS = (frozenset(words) for words in WORDS["pairs"].values())

EVEN = 0.575
"""Share of the shorter text's words in the longer one at which both answers are equally likely."""
STEEP = 6.0
STEM = 5
_WORD = re.compile(r"[a-z']+|\d[\d.,]*", re.IGNORECASE)


def affinities(labels: Sequence[str], passages: Sequence[tasks.Passage]) -> dict[str, float]:
    """The affinity of each label; all alike where nothing is known about them."""
    if compares(labels, passages):
        return _relation(labels, passages)
    weights = {label: 0.3 + sum(weight for _, weight in cues(label, whole(passages))) for label in labels}
    total = sum(weights.values())
    return {label: weight / total for label, weight in weights.items()}


def whole(passages: Sequence[tasks.Passage]) -> str:
    return "\n".join(passage.text for passage in passages)


def compares(labels: Sequence[str], passages: Sequence[tasks.Passage]) -> bool:
    """Whether the labels say whether one text of a pair bears out the other."""
    names = {folded(label) for label in labels}
    return len(passages) > 1 and bool(names & FOLLOWS) and names <= FOLLOWS | FOLLOWS_NOT


def cues(label: str, text: str) -> list[tuple[str, float]]:
    """The words of a text that speak for a label, each with its weight; a denial shortly before halves it."""
    if is_unspaced(text):
        return [(part, 1.0) for part in words(label) if part in text]
    stems, terms = _stems(folded(label)), _WORD.findall(text.lower())
    denied = [word in DENIALS or word.endswith(("n't", "dnt", "ont")) for word in terms]
    return [
        (word, 0.4 if any(denied[max(0, place - 3) : place]) else 1.0)
        for place, word in enumerate(terms)
        if word.startswith(stems)
    ]


def shared(passages: Sequence[tasks.Passage]) -> tuple[list[str], list[str]]:
    """Of the shorter text's words, those that the longer one holds, and those that it lacks."""
    short, long = sorted((passage.text for passage in passages), key=len)
    there = {_stem(word) for word in words(long)}
    terms = list(dict.fromkeys(words(short)))
    return [word for word in terms if _stem(word) in there], [word for word in terms if _stem(word) not in there]


def _relation(labels: Sequence[str], passages: Sequence[tasks.Passage]) -> dict[str, float]:
    there, lacking = shared(passages)
    share = len(there) / max(1, len(there) + len(lacking))
    odd_number = any(word[0].isdigit() for word in lacking)
    told = (_WORD.findall(passage.text.lower()) for passage in passages)
    denied = len({any(word in DENIALS or word.endswith("n't") for word in text) for text in told}) > 1
    follows = 1 / (1 + math.exp(-STEEP * (share - EVEN - 0.1 * odd_number - 0.1 * denied)))
    yes = [label for label in labels if folded(label) in FOLLOWS]
    no = [label for label in labels if label not in yes]
    leans = {label: 1.5 if (folded(label) in AGAINST) == (denied or odd_number) else 1.0 for label in no}
    spread = sum(leans.values())
    return {label: follows / len(yes) if label in yes else (1 - follows) * leans[label] / spread for label in labels}


@lru_cache(maxsize=512)
def _stems(label: str) -> tuple[str, ...]:
    names = WORDS["also"].get(label, (label,))
    known = [stem for name in names for stem in WORDS["stems"].get(name, "").split()]
    return tuple(known) or tuple(_stem(word) for word in words(label))


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:STEM]


DOUBT = 0.12
"""Standard deviation of a member's own view of an affinity, as a share of the highest: near a tie members differ."""
LIKENESS = 0.6
"""Weight of the nearest similar case against the affinity."""
COMPANY = 0.08
"""Weight of the share of earlier judges who hold a label."""
PAIR = 2
"""Labels in a trial."""

AboutText = tasks.Hear | tasks.Plead | tasks.ChooseLabel | tasks.Classify | tasks.Explain


def hear(task: tasks.Hear, draw: random.Random) -> tasks.Hearing:
    """The two labels with the highest affinities, each seen with a little doubt."""
    values = affinities(task.labels, task.passages)
    doubt = DOUBT * max(values.values())
    seen = {label: value + draw.gauss(0, doubt) for label, value in values.items()}
    first, second, *_ = sorted(seen, key=lambda label: -seen[label])
    features = tuple(_grounds(task, first)[:6])
    return tasks.Hearing(features=features, reason=_sentence(task, first), first=first, second=second)


def argue(task: tasks.Plead, draw: random.Random) -> tasks.PleadingAnswer:
    """What in the words speaks for the label, and what is lacking for the other."""
    mine, others = _grounds(task, task.label), _grounds(task, task.other)
    against = _told(task, "against-label", other=task.other, words=_quoted(task, others))
    argument = f"{_sentence(task, task.label)} {against}"
    passages = (s for s in sentences(whole(task.passages)) if any(word in s.lower() for word in mine))
    return tasks.PleadingAnswer(evidence=tuple(dict.fromkeys(passages))[:3], argument=argument)


def judge(task: tasks.ChooseLabel, draw: random.Random) -> tasks.ChosenLabel:
    """Affinity, the nearest similar cases, what earlier judges held; each judge with a doubt of its own."""
    return _decide(task, task.in_question, [earlier.label for earlier in task.earlier], draw)


def classify(task: tasks.Classify, draw: random.Random) -> tasks.ChosenLabel:
    """As a judge decides, among all labels."""
    return _decide(task, task.labels, [], draw)


def explain(task: tasks.Explain, draw: random.Random) -> tasks.Explanation:
    return tasks.Explanation(reason=_sentence(task, task.label))


def _decide(
    task: tasks.ChooseLabel | tasks.Classify, labels: tuple[str, ...], held: list[str], draw: random.Random
) -> tasks.ChosenLabel:
    base = affinities(task.labels, task.passages)
    total = sum(base[label] for label in labels) or 1.0
    likeness = dict.fromkeys(labels, 0.0)
    if not compares(task.labels, task.passages):  # there a like topic says nothing of the label
        for one, similarity in zip(task.similar, task.similarities, strict=True):
            likeness[one.label] = max(similarity, likeness.get(one.label, 0.0))
    nearest = {label: likeness[label] for label in labels}
    if len(labels) == PAIR and not all(nearest.values()):
        nearest = dict.fromkeys(labels, 0.0)  # a case on one side alone says nothing of the other
    company = {label: held.count(label) / len(held) if held else 0.0 for label in labels}
    doubt = DOUBT * max(base[label] for label in labels) / total
    scores = {
        label: base[label] / total + LIKENESS * nearest[label] + COMPANY * company[label] + draw.gauss(0, doubt)
        for label in labels
    }
    label = max(labels, key=lambda one: scores[one])
    reason = [_sentence(task, label)]
    if nearest[label] > 0 and nearest[label] == max(nearest.values()):
        reason.append(_told(task, "nearest", likeness=nearest[label]))
    if company[label] > 0.5:
        reason.append(_told(task, "majority", share=company[label]))
    return tasks.ChosenLabel(reason=" ".join(reason), label=label)


def _grounds(task: AboutText, label: str) -> list[str]:
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        return there if folded(label) in FOLLOWS else lacking
    return list(dict.fromkeys(word for word, _ in cues(label, whole(task.passages))))


def _sentence(task: AboutText, label: str) -> str:
    """The ground for a label, and its share of what speaks for any."""
    share = affinities(task.labels, task.passages)[label]
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        counts = {"there": len(there), "all": len(there) + len(lacking)}
        return _told(task, "pair", label=label, share=share, words=_quoted(task, lacking), **counts)
    words = _grounds(task, label)
    return _told(task, "cue-words" if words else "no-cue", label=label, share=share, words=_quoted(task, words))


def _told(task: AboutText, name: str, **values: object) -> str:
    return said("zh" if has_chinese(whole(task.passages)) else "en", name, **values)


def _quoted(task: AboutText, words: list[str]) -> str:
    first = _told(task, "comma").join(f"“{word}”" for word in words[:5]) or _told(task, "none")
    return first + (_told(task, "more-words", count=len(words) - 5) if len(words) > 5 else "")


METHODS = methods(hear, argue, judge, classify, explain)
