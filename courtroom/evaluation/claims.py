"""Nothing that is not in the file: what statements say of a case that the case does not hold, and how that went on.

Rules find what can be found without a model: a number that nobody was given, and what another member says is not in the
case. What a model finds in addition has the same form.
"""

import re
import tomllib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import combinations
from typing import Literal

from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.evaluation.movement import Movement, question
from courtroom.evaluation.turnout import call_of
from courtroom.settings import DATA
from courtroom.text.words import has_chinese, plain, sentences, strings, words

Why = Literal["number", "denied", "model"]
_plain = lru_cache(maxsize=512)(plain)
"""Each statement is looked at once for every claim."""
_WORDS = tomllib.loads((DATA / "claims.toml").read_text(encoding="utf-8"))
_NOT_IN_FILE = re.compile(_WORDS["not_in_file"])
_POINTS_BACK = re.compile(r"\b(?:it|that|this|these|those|they)\b", re.IGNORECASE)
_IN_WORDS: Mapping[str, float] = _WORDS["numbers"]
_UNITS: Mapping[str, tuple[str, float]] = {
    word: (unit, factor)
    for unit, known in _WORDS["units"].items()
    for words_, factor in known.items()
    for word in words_.split()
}
_MEASURE = re.compile(
    rf"(?<![\w.,:])(\d[\d.,]*|{'|'.join(sorted(_IN_WORDS, key=len, reverse=True))})[\s-]?"
    rf"({'|'.join(map(re.escape, sorted(_UNITS, key=len, reverse=True)))})(?![a-z])",
    re.IGNORECASE,
)
_CLOCK = re.compile(r"(?<![\d:])([01]?\d|2[0-3])[:：]([0-5]\d)(?!\d)")
_MOMENT = re.compile(r"(?<![\d:])(\d+):([0-5]\d\.\d+)")
"""Of a video, in minutes and seconds."""
_YEAR = re.compile(r"(?<!\d)(?:19|20)\d\d(?!\d)")


@dataclass(frozen=True)
class Claim:
    """Words of a statement that say of the case what it does not hold."""

    vote: Voted
    """The vote with which they were said."""
    words: str
    """As they stand in the statement."""
    why: Why
    terms: frozenset[str]
    """By these, in words alone, it is known again in another statement."""
    passage: str = ""
    """Words of the case that come nearest, or say otherwise; empty where none do."""
    is_contradicted: bool = False
    """Whether a model names the passage as one that says otherwise."""
    model: str = ""

    def stands_in(self, text: str) -> bool:
        """Whether a text speaks of it."""
        bare = f" {_plain(text)} "
        return any(term in bare if has_chinese(term) else f" {term} " in bare for term in self.terms)


def statement(vote: Voted) -> str:
    """Return what a member said with its vote."""
    return "\n".join(vote.reasons)


def shown_to_all(answers: AnswerStore, record: Record, vote: Voted) -> str:
    """Return what a member's question for a vote said to all alike: the case as it stood, without anybody's words.

    Empty where a person gave the vote.
    """
    return re.sub(r"^> ?", "", question(answers, call_of(record, vote), to_all=True), flags=re.MULTILINE)


def not_in_file(record: Record, answers: AnswerStore) -> tuple[Claim, ...]:
    """Find by rules what statements say of the case that it does not hold, in the order in which it was said.

    *number*: a time, a span, a share, a distance or a sum in digits that stands neither in the case nor in the member's
    question, and is neither the sum nor the difference of two that do. *denied*: a member who was shown a statement
    says that something is not in the case, in words that the statement was the first to use. `answers`: as the run's
    own answers are read, see `AnswerStore.of`."""
    case = "\n".join(strings(record.case.blind().model_dump(mode="json")))
    names = {word for one in record.everybody for word in plain(one.name).split()}
    first_said: dict[str, tuple[Voted, str]] = {}
    found: dict[tuple[str, str], Claim] = {}
    spoken = [vote for vote in record.of(Voted) if vote.reasons]
    known = cache(lambda vote: "\n".join([case, question(answers, call_of(record, vote))]))
    plainly_known = cache(lambda vote: plain(known(vote)))  # asked of each sentence that is denied
    somebody_denies = any(part for vote in spoken for part in _denials(statement(vote)))
    for vote in spoken:
        said = statement(vote)
        if any(number not in case for _, _, number in _measures(said)):
            for number in _new_numbers(said, known(vote)):
                found[vote.path, number] = Claim(vote, number, "number", frozenset({plain(number)}))
        if not somebody_denies:
            continue  # most questions need not be read then
        denied = {word for part in _denials(said) for word in words(_NOT_IN_FILE.sub(" ", part))}
        for term in denied & first_said.keys() - names:
            teller, sentence = first_said[term]
            if teller.member == vote.member or _plain(sentence) not in plainly_known(vote):
                continue
            before = found.get((teller.path, sentence))
            terms = frozenset({term}) | (before.terms if before else frozenset())
            passage = nearest(sentence, shown_to_all(answers, record, teller))
            found[teller.path, sentence] = Claim(teller, sentence, "denied", terms, passage)
        small = known(vote).lower()
        for sentence in sentences(said):
            for word in words(sentence):
                if word not in small and "'" not in word:
                    first_said.setdefault(word, (vote, sentence))
    order = {vote.path: place for place, vote in enumerate(spoken)}
    return tuple(sorted(found.values(), key=lambda claim: order[claim.vote.path]))


def nearest(said: str, text: str) -> str:
    """Return the paragraph of a text that shares most words with what was said; empty where none shares any."""
    mine = set(words(said))
    lines = [line for line in text.splitlines() if line.strip()]
    best = max(lines, key=lambda line: len(mine & set(words(line))), default="")
    return best if mine & set(words(best)) else ""


Role = Literal["said", "denied", "spoke", "heard-both", "heard", "heard-denial", "heard-neither"]


@dataclass(frozen=True)
class Way:
    """How a claim went along who heard whom."""

    spoke_of_it: tuple[Voted, ...]
    """Later statements that speak of it, and do not say that it is not in the case."""
    put_right: tuple[Voted, ...]
    """Later statements that say it is not in the case."""
    roles: Mapping[str, Role]
    """What each voter had to do with it, by member id."""
    author_heard: bool
    """Whether who said it first was ever shown that it was put right."""


def way(moved: Movement, claim: Claim) -> Way:
    """Follow a claim through the statements that came after it, and through what each member was shown."""
    everything = moved.record.of(Voted)
    later = everything[everything.index(claim.vote) + 1 :]
    speak = [vote for vote in later if claim.stands_in(statement(vote))]
    right = tuple(vote for vote in speak if any(map(claim.stands_in, _denials(statement(vote)))))
    spoke = tuple(vote for vote in speak if vote not in right)
    carried, righted = {vote.path for vote in (claim.vote, *spoke)}, {vote.path for vote in right}
    shown_to = {one.id: {heard.vote.path for seen in moved.of(one) for heard in seen.heard} for one in moved.voters}
    parts: tuple[tuple[Role, Role], ...] = (("heard-neither", "heard-denial"), ("heard", "heard-both"))
    roles = {one: parts[bool(shown & carried)][bool(shown & righted)] for one, shown in shown_to.items()}
    roles |= dict.fromkeys((vote.member for vote in spoke), "spoke")
    roles |= dict.fromkeys((vote.member for vote in right), "denied")
    roles[claim.vote.member] = "said"
    return Way(spoke, right, roles, bool(shown_to.get(claim.vote.member, set()) & righted))


def _denials(said: str) -> Iterator[str]:
    """Each sentence that says of something that it is not in the case, with the one before where it points back."""
    parts = sentences(said)
    for place, sentence in enumerate(parts):
        if phrase := _NOT_IN_FILE.search(sentence):
            subject = sentence[: phrase.start() + len("it's")]
            points_back = place and (_POINTS_BACK.search(subject) or has_chinese(sentence))
            yield " ".join(parts[place - 1 : place + 1]) if points_back else sentence


def _new_numbers(said: str, known: str) -> Iterator[str]:
    new = [one for one in _measures(said) if one[2][0].isdigit() and one[2] not in known]
    if not new:
        return
    bare = {_value(number) for number in re.findall(r"\d[\d.,]*", known)}
    given = {(unit, value) for unit, value, _ in _measures(known)}
    given |= {("minutes", round(int(minutes) + float(rest) / 60, 3)) for minutes, rest in _MOMENT.findall(known)}
    pairs = [(unit, a, b) for (unit, a), (other, b) in combinations(given, 2) if unit == other]
    given |= {(unit, round(value, 3)) for unit, a, b in pairs for value in (abs(a - b), a + b)}
    given |= {("minutes", value) for unit, value in given if unit == "clock"}
    given |= {("months", 12.0 * abs(a - b)) for a, b in combinations(map(int, {*_YEAR.findall(known)}), 2)}
    for unit, value, text in new:
        if (unit, value) not in given and not (unit == "money" and value in bare):
            yield text


def _measures(text: str) -> list[tuple[str, float, str]]:
    """Unit, value and words of each number with a unit, and of each time of day."""
    measures = ((*_UNITS[one[2].lower()], one) for one in _MEASURE.finditer(text))
    found = ((unit, round(_value(one[1]) * factor, 3), one[0]) for unit, factor, one in measures)
    return [*found, *(("clock", int(one[1]) * 60.0 + int(one[2]), one[0]) for one in _CLOCK.finditer(text))]


def _value(number: str) -> float:
    """The value of a number in words or digits; a comma before three digits parts thousands."""
    if number.lower() in _IN_WORDS:
        return _IN_WORDS[number.lower()]
    digits = re.match(r"\d+(?:,\d{3})*(?:[.,]\d+)?", number)
    assert digits is not None  # it begins with a digit
    return float(re.sub(r",(?=\d{3}(?!\d))", "", digits[0]).replace(",", "."))
