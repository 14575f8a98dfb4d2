"""How the offline model pleads and judges: a text's affinity to each label, by labelled examples and a lexicon."""

import math
import random
import re
import tomllib
from collections.abc import Mapping, Sequence

from courtroom.judging.explained import quotes, said
from courtroom.models.narrow import folded
from courtroom.models.offline import methods
from courtroom.procedures.courtroom_llm import tasks
from courtroom.settings import DATA
from courtroom.text.languages import is_unspaced
from courtroom.text.words import has_chinese, sentences, words

WORDS = tomllib.loads((DATA / "label_words.toml").read_text(encoding="utf-8"))
NUMBERS: Mapping[str, float] = WORDS["numbers"]
FOLLOWS, FOLLOWS_NOT, AGAINST, DENIALS = (frozenset(words) for words in WORDS["pairs"].values())

STEM = 5
"""Letters by which words are alike."""
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
    names = WORDS["also"].get(folded(label), (folded(label),))
    known = " ".join(WORDS["stems"].get(name, "") for name in names).split()
    stems, terms = tuple(known or map(_stem, words(folded(label)))), _WORD.findall(text.lower())
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
    follows = 1 / (1 + math.exp(-NUMBERS["steep"] * (share - NUMBERS["even"] - 0.1 * odd_number - 0.1 * denied)))
    yes = [label for label in labels if folded(label) in FOLLOWS]
    no = [label for label in labels if label not in yes]
    leans = {label: 1.5 if (folded(label) in AGAINST) == (denied or odd_number) else 1.0 for label in no}
    spread = sum(leans.values())
    return {label: follows / len(yes) if label in yes else (1 - follows) * leans[label] / spread for label in labels}


def _stem(word: str) -> str:
    return word if word[0].isdigit() else word[:STEM]


AboutText = tasks.Hear | tasks.Plead | tasks.ChooseLabel | tasks.Classify | tasks.Explain


def hear(task: tasks.Hear, draw: random.Random) -> tasks.Hearing:
    """The two labels with the highest affinities, each seen with a little doubt."""
    values = affinities(task.labels, task.passages)
    doubt = NUMBERS["doubt"] * max(values.values())
    seen = {label: value + draw.gauss(0, doubt) for label, value in values.items()}
    first, second, *_ = sorted(seen, key=lambda label: -seen[label])
    features = tuple(_grounds(task, first)[:6])
    return tasks.Hearing(features=features, reason=_sentence(task, first), first=first, second=second)


def argue(task: tasks.Plead, draw: random.Random) -> tasks.PleadingAnswer:
    """What in the words speaks for the label, and what is lacking for the other."""
    mine, others = _grounds(task, task.label), _grounds(task, task.other)
    against = _told(task, "against-label", others, other=task.other)
    passages = (s for s in sentences(whole(task.passages)) if any(word in s.lower() for word in mine))
    argument = f"{_sentence(task, task.label)} {against}"
    return tasks.PleadingAnswer(evidence=tuple(dict.fromkeys(passages))[:3], argument=argument)


def judge(task: tasks.ChooseLabel | tasks.Classify, draw: random.Random) -> tasks.ChosenLabel:
    """Affinity, the nearest similar cases, what earlier judges held; each judge with a doubt of its own."""
    labels, held = task.labels, list[str]()
    if isinstance(task, tasks.ChooseLabel):
        labels, held = task.in_question, [earlier.label for earlier in task.earlier]
    base = affinities(task.labels, task.passages)
    total = sum(base[label] for label in labels) or 1.0
    nearest = dict.fromkeys(labels, 0.0)
    if not compares(task.labels, task.passages):  # there a like topic says nothing of the label
        for one, similarity in zip(task.similar, task.similarities, strict=True):
            if one.label in nearest:
                nearest[one.label] = max(similarity, nearest[one.label])
    if isinstance(task, tasks.ChooseLabel) and not all(nearest.values()):
        nearest = dict.fromkeys(labels, 0.0)  # a case on one side alone says nothing of the other
    company = {label: held.count(label) / (len(held) or 1) for label in labels}
    doubt, scores = NUMBERS["doubt"] * max(base[label] for label in labels) / total, {}
    for label in labels:
        others = NUMBERS["likeness"] * nearest[label] + NUMBERS["company"] * company[label]
        scores[label] = base[label] / total + others + draw.gauss(0, doubt)
    label = max(labels, key=scores.__getitem__)
    reason = [_sentence(task, label)]
    if nearest[label] > 0 and nearest[label] == max(nearest.values()):
        reason.append(_told(task, "nearest", likeness=nearest[label]))
    if company[label] > 0.5:
        reason.append(_told(task, "majority", share=company[label]))
    return tasks.ChosenLabel(reason=" ".join(reason), label=label)


def explain(task: tasks.Explain, draw: random.Random) -> tasks.Explanation:
    return tasks.Explanation(reason=_sentence(task, task.label))


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
        return _told(task, "pair", lacking, label=label, share=share, **counts)
    words = _grounds(task, label)
    return _told(task, "cue-words" if words else "no-cue", words, label=label, share=share)


def _told(task: AboutText, name: str, words: Sequence[str] = (), **values: object) -> str:
    language = "zh" if has_chinese(whole(task.passages)) else "en"
    more = said(language, "more-words", count=len(words) - 5) if len(words) > 5 else ""
    return said(language, name, words=(quotes(language, words[:5]) or said(language, "none")) + more, **values)


METHODS = methods(hear, argue, judge, explain)
