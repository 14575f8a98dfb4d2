"""How the offline model pleads and judges: a text's affinity to each label, by labelled examples and a lexicon."""

import math
import random
import re
from collections.abc import Sequence
from functools import lru_cache

from courtroom.models.narrow import folded
from courtroom.models.offline import methods
from courtroom.procedures.courtroom_llm import tasks
from courtroom.text.languages import is_unspaced
from courtroom.text.words import sentences, words

STEMS: dict[str, str] = {
    "joy": "joy happ glad delight cheer excit thrill great good wonderful amaz content satisf pleas proud confident calm relax "
    "safe secur comfort hope optimis thank grate bless strong energ productiv determin success accept valu useful lucky special "
    "brave talent pretty free friendly generous inspir lively peace perfect playful positiv precious radiant respect sincer "
    "splendid welcom worth fantastic fun smile laugh celebrat sunshine eager popular clever smart superior rich cute beautiful "
    "glamor innocent reassur resolv honor honour important ecsta fab fine cool pleasant elegant carefree triumph bouncy jubila "
    "festiv vibrant assur invigorat refresh vital virtuous divine casual convinc artist creativ bonus finally",
    "sadness": "sad unhapp lonel alone lost miser hurt disappoint depress empt tired low guilt asham broke hopeless useless "
    "worthless stupid awful bore boring dull exhaust drain gloom letharg homesick humiliat reject ignor regret melanchol heartbr "
    "vain neglect numbed numbness unlov needy troubl beaten punish damag burden defeat discourag inadequa lousy crap shit rotten listless "
    "foolish jaded dirty cry cried tears grie mourn miss abandon aching pain suffer sorrow despair bitter-sweet unwelcome bad "
    "embarrass devastat isolat pathetic terrible weary victim blank remorse ugly fake idiot moron dumb groggy sorry apolog "
    "unimportant unsuccess disheart deprived disturbed messy funeral farewell gone unfortunate submissive jaded",
    "anger": "ang annoy irrita furi mad rage resent bitter frustrat offend rude selfish greed violen cold dangerous impatien "
    "rebel grump bother hate hatr outrag insult rush stubborn env jealous dissatisf crank piss disgust fed-up cruel hostil "
    "vicious spite vengef mean sarcas appall petty distract agitat fuck damn unfair wronged heartless hateful obnox bitch "
    "savage tortur irrit enrag aggravat rant yell shout complain blame unjust",
    "fear": "fear afraid scar nervous anxi uncertain insecur vulnerab shak terrif worr unsure hesita helpless pressur threaten "
    "distress apprehens uncomfort reluct intimidat paranoi fright panic dread alarm tense uneas timid shy doubt suspicio "
    "restless strain startl skept overwhelm neurotic frantic petrif horr creep danger unprotect assault confus weird trembl "
    "wary nightmare unsafe phobi insecure inhibit bashful",
    "surprise": "surpris shock amaz astonish stun curious impress strange unexpect sudden wow unbeliev daz overwhelm funny weird "
    "baffl startl incredibl disbelief speechless bewilder wonder enthral never guess",
    "love": "love lovi loving lovel beloved caring care affection tender passion long-ing longing sympath supportiv romantic nostalg "
    "sweet gentle faithful loyal fond delicate compassion horny naughty hot adore ador cherish dear kiss hug darling warm "
    "treasured accepting devot blessed generous liked lust sentimental heart wife husband",
}
ALSO: dict[str, tuple[str, ...]] = {
    "happiness": ("joy",), "happy": ("joy",), "sad": ("sadness",), "angry": ("anger",), "afraid": ("fear",),
    "scared": ("fear",), "surprised": ("surprise",), "affection": ("love",), "positive": ("joy", "love"),
    "negative": ("sadness", "anger", "fear"), "worry": ("fear",), "grief": ("sadness",),
}  # fmt: skip
"""Other names under which such labels go."""

FOLLOWS = frozenset(
    ("entailment", "entailed", "entails", "yes", "true", "supported", "supports", "follows", "answered")
)
"""Labels that say that the shorter text of a pair is borne out by the longer one."""
FOLLOWS_NOT = frozenset(
    ("not entailment", "non entailment", "no", "false", "not supported", "refuted", "refutes", "neutral", "unknown")
    + ("unsupported", "contradiction", "not answered", "not enough info", "contradicted", "does not follow")
)
"""Labels that say that it isn't."""
AGAINST = frozenset(("contradiction", "contradicted", "refuted", "refutes", "false", "no"))
"""Of these, those that say that the contrary is said."""
DENIALS = frozenset(
    ("not", "no", "never", "none", "nobody", "nothing", "neither", "nor", "without", "n't", "cannot", "isn't")
)

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
    names = ALSO.get(label, (label,))
    known = [stem for name in names for stem in STEMS.get(name, "").split()]
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
    return tasks.Hearing(features=features, reason=_sentence(task, first, draw), first=first, second=second)


def argue(task: tasks.Plead, draw: random.Random) -> tasks.PleadingAnswer:
    """What in the words speaks for the label, and what is lacking for the other."""
    mine, others = _grounds(task, task.label), _grounds(task, task.other)
    against = f"for “{task.other}” I see only {_quoted(others)}" if others else f"I find nothing for “{task.other}”"
    argument = f"{_sentence(task, task.label, draw).removesuffix('.')}; {against}."
    passages = (s for s in sentences(whole(task.passages)) if any(word in s.lower() for word in mine))
    return tasks.PleadingAnswer(evidence=tuple(dict.fromkeys(passages))[:3], argument=argument)


def judge(task: tasks.ChooseLabel, draw: random.Random) -> tasks.ChosenLabel:
    """Affinity, the nearest similar cases, what earlier judges held; each judge with a doubt of its own."""
    return _decide(task, task.in_question, [earlier.label for earlier in task.earlier], draw)


def classify(task: tasks.Classify, draw: random.Random) -> tasks.ChosenLabel:
    """As a judge decides, among all labels."""
    return _decide(task, task.labels, [], draw)


def explain(task: tasks.Explain, draw: random.Random) -> tasks.Explanation:
    return tasks.Explanation(reason=_sentence(task, task.label, draw))


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
    said = [_sentence(task, label, draw)]
    if nearest[label] > 0 and nearest[label] == max(nearest.values()):
        said.append(f"The case most like it, at {nearest[label]:.2f}, has this label too, and I give that weight.")
    if company[label] > 0.5:
        said.append("I am with most of the judges before me.")
    return tasks.ChosenLabel(reason=" ".join(said), label=label)


def _grounds(task: AboutText, label: str) -> list[str]:
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        return there if folded(label) in FOLLOWS else lacking
    return list(dict.fromkeys(word for word, _ in cues(label, whole(task.passages))))


SPEAK_FOR = (
    "I see {words}, which speaks for “{label}”", "To me {words} points to “{label}”", "It is {words} that makes me say “{label}”",
    "Given {words}, I hold it to be “{label}”", "What strikes me is {words}, and that means “{label}”",
    "I go by {words} and call it “{label}”", "From {words} I conclude “{label}”", "My eye falls on {words}, so I say “{label}”",
)  # fmt: skip
LEFT_OVER = (
    "No single word decides for me; “{label}” is what is left", "I find no word that decides, and so “{label}” remains",
    "Without a word to go by, I am left with “{label}”", "“{label}” is what remains for me, as no single word decides",
)  # fmt: skip
HELD = (
    "I say “{label}”, for {there} of {all} words of one text stand in the other",
    "As {there} of {all} words of one text stand in the other, I hold “{label}”",
    "“{label}” is my view: {there} of {all} words of one text stand in the other",
    "Since one text has {there} of the other's {all} words, I call it “{label}”",
)
LACKING = (
    "I say “{label}”, for the other text does not hold {words}", "As the other text lacks {words}, I hold “{label}”",
    "“{label}” is my view: {words} is not in the other text", "Looking for {words} in the other text in vain, I call it “{label}”",
)  # fmt: skip
SAME = "I say “{label}”, for the same words need not mean the same"


def _sentence(task: AboutText, label: str, draw: random.Random) -> str:
    """The ground for a label, as one of those who may give it puts it. It draws after all numbers were drawn."""
    words = _grounds(task, label)
    if compares(task.labels, task.passages):
        there, lacking = shared(task.passages)
        follows = folded(label) in FOLLOWS
        pattern = draw.choice(HELD if follows else LACKING) if follows or lacking else SAME
        counts = {"there": len(there), "all": len(there) + len(lacking)}
        return pattern.format(label=label, words=_quoted(lacking), **counts) + "."
    return draw.choice(SPEAK_FOR if words else LEFT_OVER).format(label=label, words=_quoted(words)) + "."


def _quoted(words: list[str]) -> str:
    more = f" and {len(words) - 5} more" if len(words) > 5 else ""
    return ", ".join(f"“{word}”" for word in words[:5]) + more if words else "nothing"


METHODS = methods(hear, argue, judge, classify, explain)
