"""Would it be the same for somebody else? A case with one thing about a party changed, by rules, or rewritten by a model.

What a rule can't change safely it leaves, and says so. Where a model's text loses a number or gains one, it is refused.
A person reads each change before it is heard.
"""

import hashlib
import re
import tomllib
from calendar import month_name
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any, Literal

from pydantic import Field

from courtroom.cases.case import Case, CaseT
from courtroom.declarations.changes import put
from courtroom.declarations.setup import Budget, Setup
from courtroom.engine.services import Asked
from courtroom.errors import CaseError, CourtroomError
from courtroom.models.rendering import quote
from courtroom.models.request import digest_text
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Answer
from courtroom.questions.beside import TaskInWords, by_role, prompt
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.words import has_chinese, sentences

Kind = Literal["order", "name", "gender", "age", "nationality", "language", "length", "words", "rewriting"]
USUAL: Mapping[str, str] = {"age": "71", "nationality": "Nigeria", "language": "Turkish", "length": "50"}
"""What a change takes where nobody says: years, a country, a language, percent of the length."""
_WORDS = tomllib.loads((DATA / "parties.toml").read_text(encoding="utf-8"))
KINDS: Mapping[Kind, str] = _WORDS["kinds"]
NAMES: Mapping[str, Mapping[str, Any]] = tomllib.loads((DATA / "names.toml").read_text(encoding="utf-8"))
"""Of people, by nationality."""
READ, NAMES_ONLY, PLEADINGS = (frozenset(_WORDS["fields"][name].split()) for name in ("read", "names", "pleadings"))
"""Fields whose texts a member may read; those of them in which nothing is said of anybody; and those that sides plead."""
PATTERNS: Mapping[str, re.Pattern[str]] = {name: re.compile(pattern) for name, pattern in _WORDS["patterns"].items()}
FULL_NAME = PATTERNS["full_name"]
PARTIES: Mapping[str, str] = _WORDS["parties"]
"""What a case calls a party, and which side that is."""
TITLES, TO_MEN, TO_WOMEN = (_WORDS["pronouns"][name] for name in ("titles", "men", "women"))
QUOTED = 30
"""Characters around a word that was left."""


class Change(Strict):
    """One thing that is changed about a party."""

    kind: Kind
    value: str = ""

    @property
    def title(self) -> str:
        return f"{KINDS[self.kind]}: {self.value}" if self.value else KINDS[self.kind]


def change_of(text: str) -> Change:
    """Read a change as a shell has it: `order`, `age=71`. Raises `CourtroomError`: there is no such change."""
    kind, _, value = text.partition("=")
    if kind not in KINDS:
        raise CourtroomError(f"“{kind}” is nothing that can be changed. Choose among: {', '.join(KINDS)}.")
    if kind in ("words", "rewriting") and not value.strip():
        raise CourtroomError(f"Say what to change: {kind}=...")
    return Change.model_validate({"kind": kind, "value": value.strip() or USUAL.get(kind, "")})


class Mirrored(Strict):
    """A case as a change would have it heard."""

    texts: dict[str, str] = Field(default={}, description="Those in other words, by their paths in the case.")
    other_order: bool = False
    left: tuple[str, ...] = Field(default=(), description="What could not be changed safely, a sentence each.")


def _spoken(case: Case) -> Iterator[tuple[str, str, str]]:
    """The texts of a case that members may read: path, text, and which side says it; empty where none does."""

    def walk(value: Any, path: tuple[str, ...], side: str) -> Iterator[tuple[str, str, str]]:
        if isinstance(value, dict):
            side = value.get("side") or value.get("speaker") or side
            for name, part in value.items():
                yield from walk(part, (*path, name), side or _WORDS["mouths"].get(name, ""))
        elif isinstance(value, list):
            for number, part in enumerate(value, start=1):
                yield from walk(part, (*path, str(number)), side)
        elif isinstance(value, str) and value and field_of(".".join(path)) in READ:
            yield ".".join(path), value, side

    return walk(case.model_dump(mode="json", exclude={"jury"}), (), "")


def texts(case: Case) -> dict[str, str]:
    """Return the texts of a case that members may read, by their paths; positions count from 1."""
    return {path: text for path, text, _ in _spoken(case)}


def field_of(path: str) -> str:
    """Return the name of the field in which a text stands."""
    return next(name for name in reversed(path.split(".")) if not name.isdigit())


def with_texts(case: CaseT, rewritten: Mapping[str, str]) -> CaseT:
    """Return a case with texts in other words. Raises `CaseError`: one is not there."""
    if not rewritten:
        return case
    if missing := rewritten.keys() - texts(case).keys():
        raise CaseError(f"{case.id} has no text {', '.join(sorted(missing))} that could be rewritten.")
    data = case.model_dump(mode="json")
    for path, text in rewritten.items():
        put(data, path, text)
    return type(case).model_validate(data)


def mirrored(case: Case, change: Change, who: str = "") -> Mirrored:
    """Return a case with one thing changed by a rule. `who`: of whom it is changed, a name or such as `the seller`;
    empty: the first party that the case names."""
    if change.kind == "order":
        return Mirrored(other_order=case.in_other_order() != case)
    if change.kind == "length":
        pleaded = PLEADINGS | ({"facts"} if case.kind == "criminal" else frozenset())
        if not change.value.isdecimal():
            raise CourtroomError("Say to how many percent of their length pleadings are cut, such as 50.")
        kept = int(change.value)
        return _rewritten(case, lambda path, text: _shorter(text, kept if path.partition(".")[0] in pleaded else 100))
    if change.kind == "words":
        pairs = [pair.partition(">") for pair in change.value.split(";")]
        given = {before.strip(): after.strip() for before, _, after in pairs if before.strip()}
        return _rewritten(case, lambda _, text: _exchanged(text, given))
    forms = _forms(case, who)
    if not forms:
        return Mirrored(left=("Nobody is named of whom this could be changed.",))
    return (_renamed if change.kind in ("name", "gender") else _stated)(case, forms, change)


Edit = tuple[int, int, str]
"""From where to where in a text something else is to stand, and what."""


def _rewritten(case: Case, rule: Callable[[str, str], Iterator[Edit | str]]) -> Mirrored:
    """Apply a rule to each text, by its path; the same text is changed in the same way wherever it stands. `rule`:
    gives the edits of a text, and a sentence on each thing that it leaves as it was."""
    known: dict[tuple[str, bool], str] = {}
    changed, left = dict[str, str](), list[str]()
    for path, text in texts(case).items():
        key = (text, field_of(path) in NAMES_ONLY)
        if key not in known:
            found = list(rule(path, text))
            left += [f"{path.replace('.', ' ')}: {one}" for one in found if isinstance(one, str)]
            known[key] = text
            for start, end, words in sorted((one for one in found if not isinstance(one, str)), reverse=True):
                known[key] = known[key][:start] + words + known[key][end:]
        if known[key] != text:
            changed[path] = known[key]
    return Mirrored(texts=changed, left=tuple(left))


def _exchanged(text: str, words: Mapping[str, str]) -> Iterator[Edit]:
    """Exchange words, the longest first, nowhere within a longer word; within Chinese, words have no borders."""
    forms = sorted(words, key=len, reverse=True)
    whole = "|".join(re.escape(form) if has_chinese(form) else rf"\b{re.escape(form)}\b" for form in forms)
    yield from ((*match.span(), words[match[0]]) for match in re.finditer(whole, text) if whole)


def _shorter(text: str, percent: int) -> Iterator[Edit]:
    """Leave out the last sentences that hold no number, down to so much of the length; the first one stays."""
    kept = list(sentences(text))
    for sentence in reversed(kept[1:]):
        if sum(map(len, kept)) * 100 <= len(text) * percent:
            break
        if re.search(r"\w", sentence) and not re.search(r"\d|[一二三四五六七八九十百千万]", sentence):
            kept.remove(sentence)
    if len(kept) < len(sentences(text)):
        rest = ("" if has_chinese(text) else " ").join(kept)
        yield 0, len(text), rest.removesuffix("；") + ("。" if rest.endswith("；") else "")


Forms = Mapping[str, str]
"""What stands in a case for somebody of whom something is changed, first the name in full, or the party, such as `the
seller`; by each, which part of a name it is: `full`, `given`, `family` or `party`."""


def _forms(case: Case, who: str) -> Forms:
    """Empty where nobody is named."""
    told = list(texts(case).items())
    whole = "\n".join(text for path, text in told if field_of(path) not in ("title", "wants", "options"))
    if not who:
        first = next((text for path, text in told if field_of(path) in ("defendants", "name")), "")
        in_chinese, lower = PATTERNS["named_zh"].search(whole), set(re.findall(r"\b[a-z]+\b", whole))
        # Two words with capitals of which the first is no word that stands there in small letters too.
        full = (match[0] for match in FULL_NAME.finditer(whole) if match[1].lower() not in lower)
        who = first or (in_chinese[1] if in_chinese else next(full, ""))
    party = next((one for one in ((who,) if who else PARTIES) if re.search(_loose(one), whole)), "")
    if not who or who.lower() in PARTIES:
        return {party: "party"} if party else {}
    if who.lower().startswith("the "):
        return {who: "party"}
    forms = {who: "full"}
    if match := FULL_NAME.fullmatch(who):
        forms |= {match[2]: "family", match[1]: "given"}
    if getattr(case, "matter", case.kind) == "criminal":
        forms |= {form: "party" for form, side in PARTIES.items() if side == "defendant"}
    return forms


def _loose(form: str) -> str:
    """A pattern for a form, which at the head of a sentence has a capital; within Chinese, words have no borders."""
    return re.escape(form) if has_chinese(form) else rf"\b[{form[0].upper()}{form[0]}]{re.escape(form[1:])}\b"


def _gender(case: Case, forms: Forms) -> Literal["women", "men", ""]:
    """By a title before the name; else by the pronouns, where there are none of the other gender in the whole case."""
    told = [one for text in texts(case).values() for one in _pronouns(text, forms, {**TO_MEN, **TO_WOMEN})]
    titles = [word for word, mine in told if mine and word[0].lower() in TITLES]
    women = {word[0].lower() in TO_MEN for word in titles or [word for word, _ in told]}
    is_known = len(women) == 1 and any(mine for _, mine in told)
    return ("women" if women.pop() else "men") if is_known else ""


def _pronouns(text: str, forms: Forms, exchanged: Iterable[str]) -> Iterator[tuple[re.Match[str], bool]]:
    """Pronouns and titles in a text, and whether each surely speaks of this person: a title if their name follows; a
    pronoun if nobody else was named before it in its sentence or, where nobody was, in the sentence before."""
    own = re.compile("|".join(map(_loose, forms)))
    others = re.compile("|".join((PATTERNS["others"].pattern, FULL_NAME.pattern, *map(_loose, PARTIES))))
    named = {match.start(): False for match in others.finditer(text)}
    named |= {match.start(): True for match in own.finditer(text)}
    ends = [match.end() for match in re.finditer(r"[.!?](?=\s)|[。！？；]", text)]
    words = re.compile("|".join(one if has_chinese(one) else rf"\b{one}\b" for one in exchanged), re.IGNORECASE)
    for match in words.finditer(text):
        if match[0].lower() in TITLES:
            yield match, own.match(text, match.end() + (2 if text[match.end() :].startswith(".") else 1)) is not None
            continue
        *_, before, start = 0, 0, *(end for end in ends if end <= match.start())
        near = [mine for at, mine in named.items() if start <= at < match.start()]
        near = near or [mine for at, mine in named.items() if before <= at < start]
        yield match, bool(near) and all(near)


def _renamed(case: Case, forms: Forms, change: Change) -> Mirrored:
    """The case with another name for somebody, in all its forms; of the other gender, with pronouns and titles too."""
    gender, name = _gender(case, forms), next(iter(forms))
    if change.kind == "gender":
        wanted = {"woman": "women", "man": "men"}.get(change.value, {"women": "men", "men": "women"}.get(gender))
        if not wanted:
            return Mirrored(left=(f"Nothing says whether {name} is a woman or a man. Say what they are to be.",))
        if wanted == gender:
            return Mirrored()
        pronouns = TO_MEN if wanted == "men" else TO_WOMEN
        new = _new_name(case, "", wanted) if "full" in forms.values() else ""
    else:
        pronouns, new = {}, _new_name(case, change.value, gender or "men")
        if "full" not in forms.values():
            return _stated(case, forms, change.model_copy(update={"value": new}))
    given, _, family = new.rpartition(" ")
    parts = {"full": new, "given": given, "family": family}
    names = {form: parts[part] for form, part in forms.items() if parts.get(part)}

    def rule(path: str, text: str) -> Iterator[Edit | str]:
        for match, mine in _pronouns(text, forms, pronouns) if pronouns else ():
            if mine:
                yield *match.span(), _other(match, text, pronouns)
            elif field_of(path) not in NAMES_ONLY:
                start = max(0, match.start() - QUOTED)
                around = f"{'…' if start else ''}{text[start : match.end() + QUOTED]}…"
                yield f"“{match[0]}” was left in “{around}”, where it may be somebody else."
        for start, end, other in _exchanged(text, names):
            form, before = text[start:end], re.search(r"(\w+) $", text[:start])
            alone = forms[form] in ("given", "family")
            if alone and before and before[1][0].isupper() and before[1].lower() not in TITLES:
                yield f"“{before[1]} {form}” was left: it may be somebody else."
            else:
                yield start, end, other

    found = _rewritten(case, rule)
    if gender or change.kind == "gender" or change.value not in ("", *NAMES):
        return found
    unsure = f"Nothing says whether {name} is a woman or a man; {new} is the name of a man."
    return found.model_copy(update={"left": (unsure, *found.left)})


def _new_name(case: Case, value: str, gender: str) -> str:
    """The name that was asked for; or one of a nationality, drawn by the case, that shares no word with the case."""
    if value and value not in NAMES:
        return value
    whole = "\n".join(texts(case).values())
    chosen = NAMES[value or ("Chinese" if case.language == "zh" else "British")]
    offered: list[str] = (chosen["chinese"] if has_chinese(whole) else chosen)[gender]
    at = int(hashlib.sha256(case.id.encode()).hexdigest(), 16) % len(offered)
    free = [one for one in (*offered[at:], *offered[:at]) if not any(word in whole for word in one.split())]
    return (free or offered)[0]


def _other(match: re.Match[str], text: str, exchanged: Mapping[str, str]) -> str:
    """The word of the other gender: `her` is `his` before a thing of hers, and `his` is `hers` where none follows."""
    word, alone = match[0].lower(), PATTERNS["alone"].match(text, match.end()) is not None
    other = exchanged[word] if alone else {"her": "his", "his": "her"}.get(word, exchanged[word])
    return other.capitalize() if match[0][0].isupper() else other


def _stated(case: Case, forms: Forms, change: Change) -> Mirrored:
    """The case with something said of somebody where they are first named, not by the other side; an age that is given there
    is changed."""
    name, first = next(iter(forms)), "full" if "full" in forms.values() else "party"
    own = re.compile("|".join(_loose(form) for form, part in forms.items() if part == first) + "(?!'s|’s|的)")
    sides, done = {path: side for path, _, side in _spoken(case)}, list[str]()
    on = next((PARTIES[form.lower()] for form in forms if form.lower() in PARTIES), "")

    def rule(path: str, text: str) -> Iterator[Edit | str]:
        match = None if field_of(path) in NAMES_ONLY or done else own.search(text)
        if match is None or (on and sides[path] not in ("", on)):
            return
        done.append(path)
        at = match.end()
        if change.kind == "age":
            sentence = re.split("[.!?。！？]", text[at:], maxsplit=1)[0]
            if given := PATTERNS["age"].search(text, at, at + len(sentence)):
                yield *given.span(), change.value
                return
        if has_chinese(text):
            known = {one[of]: one[f"{of}_zh"] for one in NAMES.values() for of in ("country", "language")}
            said = f"（{_WORDS['said']['zh'][change.kind].format(known.get(change.value, change.value))}）"
        else:
            after = "" if text[at : at + 1] in (",", ".", ";", ":") else ","
            said = f", {_WORDS['said']['en'][change.kind].format(change.value)}{after}"
        yield at, at, said

    found = _rewritten(case, rule)
    if not done:
        return Mirrored(left=(f"No text but the other side's speaks of {name}, so nothing was said of them.",))
    return found


class RewrittenText(Answer):
    """One text with the change in it."""

    opens_with = ("number",)
    number: int = Field(description="The number of the text.")
    text: str = Field(min_length=1, description="All of it, with the change.")


class DoubtfulText(Answer):
    """A text of which the model is not sure that it put the change in as it should."""

    opens_with = ("number",)
    number: int = Field(description="The number of the text.")
    why: str = Field(min_length=1, description="What are you not sure of, in one sentence?")


class RewrittenCase(Answer):
    """The texts of a case in which something changes, and those of which the model is not sure."""

    texts: tuple[RewrittenText, ...]
    doubtful: tuple[DoubtfulText, ...] = Field(
        default=(),
        description="In which texts, changed or not, are you not sure what the change asks for, or whom a word speaks of?",
    )


class RewriteCase(TaskInWords[RewrittenCase]):
    """How do these texts read with one thing changed?"""

    name = "rewrite-case"
    title = "A case with one thing changed"
    change: str
    texts: tuple[str, ...]

    def text(self) -> str:
        shown = (f"## Text {number}\n\n{quote(text)}\n" for number, text in enumerate(self.texts, start=1))
        asked = prompt("rewrite-case").replace("CHANGE", " ".join(self.change.split()))
        return "\n".join(("# The case\n", *shown, asked))


def rewriting(case: Case, change: str, spec: ModelSpec, budget: Budget) -> Asked[RewrittenCase]:
    """Return the question to a model that puts a change into a case."""
    task = RewriteCase(change=change, texts=tuple(_places(case)))
    return by_role("rewriter", task, spec, Setup(budget=budget), f"{case.id}/{digest_text(change)[:12]}")


def _places(case: Case) -> dict[str, list[str]]:
    """Each text of a case once, and where it stands; titles stay as they are."""
    places = defaultdict[str, list[str]](list)
    for path, text in texts(case).items():
        if field_of(path) != "title":
            places[text].append(path)
    return places


def rewritten(case: Case, told: dict[str, Any] | str) -> Mirrored:
    """Take over the texts that keep every number of the case; say of the others why not, and of which the model is not sure;
    or, where there is no answer, why."""
    if isinstance(told, str):
        return Mirrored(left=(told,))
    answer, known = RewrittenCase.model_validate(told), dict(enumerate(_places(case).items(), start=1))
    changed, left = dict[str, str](), list[str]()
    for one in answer.texts:
        if one.number not in known:
            left.append(f"There is no text {one.number}. Not taken over: “{one.text}”")
            continue
        before, places = known[one.number]
        missing, new = numbers(before) - numbers(one.text), numbers(one.text) - numbers(before)
        wrong = [*(f"{number} is missing" for number in missing), *(f"{number} is new" for number in new)]
        if wrong:
            left.append(f"{places[0].replace('.', ' ')}: {', '.join(wrong)}. Not taken over: “{one.text}”")
        elif one.text != before:
            changed |= dict.fromkeys(places, one.text)
    for doubt in answer.doubtful:
        if doubt.number in known:
            left.append(f"{known[doubt.number][1][0].replace('.', ' ')}: the model is not sure of it: {doubt.why}")
    return Mirrored(texts=changed, left=tuple(left))


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text; a month by its name is its number, so that a translation keeps it."""
    months = {month: str(number) for number, month in enumerate(month_name) if month}
    found = re.findall(rf"\d+(?:[.,:]\d+)*|\b(?:{'|'.join(months)})\b", text)
    return Counter(months.get(one, one) for one in found)
