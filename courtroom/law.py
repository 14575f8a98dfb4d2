"""The Criminal Law: judgments of articles, charges and term (VERDICT, section 3.1), and statutes."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from functools import lru_cache
from typing import Annotated, Any, Self

from pydantic import BeforeValidator, Field, field_validator, model_validator

from courtroom.language import N_
from courtroom.settings import DATA
from courtroom.strict import Strict
from courtroom.text.languages import is_unspaced

LAST = 452
"""The Criminal Law of the PRC has articles 1 to 452."""
LAST_GENERAL = 101
"""Articles 1 to 101 are the general part: they define no crime."""
STATUTES = DATA / "statutes.jsonl"

_DIGITS = {"零": 0, "〇": 0, "一": 1, "二": 2, "两": 2, "三": 3, "四": 4, "五": 5, "六": 6, "七": 7, "八": 8, "九": 9}
_UNITS = {"十": 10, "百": 100}
_WRITTEN = re.compile(r"第?\s*([零〇一二两三四五六七八九十百]+)\s*条")
_PARTS = re.compile(
    r"(?<=\d)\s*[-_.之]\s*\d+|(第\s*\d+\s*[款项])|\(.*?\)|,?\s*(?:paragraph|para|item|clause|subsection)s?\.?\s*\d+",
    re.IGNORECASE,
)
"""Suffixes and parts of an article, which are no articles themselves."""


def article_number(text: str | int) -> int:
    """Return the number of the one article that is named, without a suffix; raises `ValueError` where none is."""
    if isinstance(text, int):
        return _existing(text)
    named = {*map(numeral, _WRITTEN.findall(text)), *map(int, re.findall(r"\d+", _PARTS.sub("", text)))}
    if len(named) != 1:
        raise ValueError(f"“{text[:60]}” does not name one article; write its number alone, e.g. 264")
    return _existing(named.pop())


def articles_named(text: str) -> set[int]:
    """All articles that a text names by their numbers."""
    figures = re.findall(r"(?:[Aa]rticles?|[Aa]rt\.|§|第)\s*(\d+)|(\d+)\s*条", text)
    return {*map(numeral, _WRITTEN.findall(text)), *(int(before or after) for before, after in figures)}


def _read(value: Any) -> Any:
    return article_number(value) if isinstance(value, str | int) else value


ArticleNumber = Annotated[int, Field(ge=1, le=LAST), BeforeValidator(_read)]
"""An article as a field of an answer: any way of writing is read, and the schema names the bounds."""


def _existing(number: int) -> int:
    if not 1 <= number <= LAST:
        raise ValueError(f"the Criminal Law has no article {number}; its articles are 1 to {LAST}")
    return number


def numeral(text: str) -> int:
    """Return what a numeral stands for, in figures or in Chinese signs: `12`, `二十五`, `二六四`."""
    if text.isdecimal():
        return int(text)
    total, digit = 0, 0
    for sign in text:
        if sign in _UNITS:
            total += (digit or 1) * _UNITS[sign]
            digit = 0
        else:
            digit = 10 * digit + _DIGITS[sign]
    return total + digit


LONGEST = 300
"""Months: 25 years, the longest term for several crimes together (Criminal Law of the PRC, article 69)."""


class Term(Strict):
    """The term of penalty in CAIL's form: life and a suspended or plain death sentence leave `imprisonment` at 0."""

    death_penalty: bool = False
    life_imprisonment: bool = False
    imprisonment: int = Field(default=0, ge=0, le=LONGEST, description="Months; 3.5 years are 42.")

    @model_validator(mode="after")
    def _one_at_a_time(self) -> Self:
        if self.death_penalty + self.life_imprisonment + (self.imprisonment > 0) > 1:
            raise ValueError("a term is either months, life or death: only one of the three can be set")
        return self

    def __str__(self) -> str:
        if self.death_penalty:
            return N_("death")
        return N_("life") if self.life_imprisonment else f"{self.imprisonment} months"


def heavier(term: Term, than: Term) -> bool:
    """Return whether a term is heavier than another one."""
    weight, other = ((one.death_penalty, one.life_imprisonment, one.imprisonment) for one in (term, than))
    return weight > other


_ABOVE = (120, 84, 60, 36, 24, 12, 9, 6, 0)
"""Months that a term of class 1, 2 ... 9 exceeds."""


def term_class(term: Term) -> int:
    """Which of the eleven classes a term falls into, 0 to 10.

    As LADAN (Xu et al. 2020) cuts CAIL-small, by its published preparation of the data: 0 death or life; in months
    1: 121 and more, 2: 85-120, 3: 61-84, 4: 37-60, 5: 25-36, 6: 13-24, 7: 10-12, 8: 7-9, 9: 1-6, 10: 0.
    """
    if term.death_penalty or term.life_imprisonment:
        return 0
    return next((number for number, months in enumerate(_ABOVE, start=1) if term.imprisonment > months), 10)


class Further(Strict):
    """What a judgment says beside articles, charges and term, which is shown and compared with nothing."""

    suspended_months: int = Field(
        default=0, ge=0, le=60, description="For how many months is the term suspended? 0 where it is not."
    )
    fine_yuan: float = Field(default=0, ge=0, le=1e12, description="Which fine, in yuan? 0 where there is none.")
    exempt: bool = Field(default=False, description="Is the defendant guilty and exempted from punishment?")
    acquitted: bool = Field(
        default=False, description="Is the defendant not guilty? Then there are no articles, no charges and 0 months."
    )

    def __str__(self) -> str:
        parts = (
            f"suspended for {self.suspended_months} months" if self.suspended_months else "",
            f"a fine of {self.fine_yuan:,.0f} yuan" if self.fine_yuan else "",
            "exempted from punishment" if self.exempt else "",
            "not guilty" if self.acquitted else "",
        )
        return ", ".join(filter(None, parts))


class Decided(Strict):
    """What is known of a judgment, the weightiest first; what is empty is not known."""

    relevant_articles: tuple[int, ...] = Field(default=(), description="Numbers of Criminal Law articles, e.g. 264.")
    charges: tuple[str, ...] = Field(default=(), description="Names without the word for crime.")
    term_of_imprisonment: Term | None = None
    further: Further | None = Field(default=None, exclude_if=lambda further: further is None)

    @field_validator("relevant_articles")
    @classmethod
    def _numbered(cls, articles: tuple[int, ...]) -> tuple[int, ...]:
        return tuple(dict.fromkeys(map(_existing, articles)))

    @field_validator("charges", mode="before")
    @classmethod
    def _named(cls, charges: Any) -> Any:
        if not isinstance(charges, list | tuple):
            return charges
        named = [bare_charge(charge) if isinstance(charge, str) else charge for charge in charges]
        return [charge for place, charge in enumerate(named) if charge and charge not in named[:place]]

    def __str__(self) -> str:
        articles, term = self.relevant_articles, self.term_of_imprisonment
        numbers = f"article{'s' * (len(articles) > 1)} {', '.join(map(str, articles))}" if articles else ""
        return "; ".join(filter(None, (numbers, *self.charges, "" if term is None else str(term))))


class Judgment(Decided):
    """A judgment j = (articles, charges, term)."""

    term_of_imprisonment: Term = Field(default_factory=Term)

    def same_labels(self, other: Decided) -> bool:
        """Whether articles and charges are the same, in whatever order."""
        same_articles = articles_compared(self.relevant_articles) == articles_compared(other.relevant_articles)
        return same_articles and charges_compared(self.charges) == charges_compared(other.charges)

    def __str__(self) -> str:
        articles = ", ".join(map(str, self.relevant_articles)) or "none"
        charge = "; ".join(self.charges) or "no charge"
        said = f"article{'s' * (len(self.relevant_articles) > 1)} {articles}; {charge}; {self.term_of_imprisonment}"
        return "; ".join(filter(None, (said, str(self.further or ""))))

    @property
    def outcome(self) -> str:
        """Its charges, or that there is none."""
        return "; ".join(self.charges) or N_("not guilty")


def bare_charge(name: str) -> str:
    """A charge's name without the word for crime and without CAIL's brackets: `[盗窃]罪` is `盗窃`."""
    bare = name.strip().strip("[]").replace("[", "").replace("]", "").strip()
    bare = bare.removesuffix("罪") if len(bare) > 1 else bare
    for ending in (" crime", " offence", " offense"):
        bare = bare if bare.endswith(f" of{ending}") else bare.removesuffix(ending)
    return bare.removeprefix("the crime of ").removeprefix("crime of ").strip()


def articles_compared(articles: Iterable[int]) -> frozenset[int]:
    """Return the articles by which judgments are compared: those that define crimes, or all where none does."""
    named = frozenset(articles)
    return frozenset(number for number in named if number > LAST_GENERAL) or named


def charges_compared(names: Iterable[str]) -> frozenset[str]:
    """Return the charges by which judgments are compared: as the statute book names them, however they are worded."""
    return frozenset(map(charge_in_book, names))


@lru_cache(maxsize=4096)
def charge_in_book(name: str) -> str:
    """Return the book's Chinese name of a charge, or the name's own words where the book has no such charge.

    Case, signs, plurals and articles don't count. A part of a charge that joins several acts stands for the whole, of
    several wholes for the shortest: 掩饰、隐瞒犯罪所得, or “drug trafficking”.
    """
    book, joint = _charges_of_the_book()
    words = _charge_words(name)
    if known := book.get(words):
        return known
    parts = _charge_parts(words)
    enough = 3 if is_unspaced(words) else 2
    wholes = {entry: len(of_entry) for entry, of_entry in joint if len(parts) >= enough and parts <= of_entry}
    shortest = [entry for entry, size in wholes.items() if size == min(wholes.values())]
    return shortest[0] if len(shortest) == 1 else words


@lru_cache(maxsize=1)
def _charges_of_the_book() -> tuple[Mapping[str, str], tuple[tuple[str, frozenset[str]], ...]]:
    """The Chinese name by the words of each name; and, of each charge that joins several acts, its name and parts."""
    records = (json.loads(line) for line in STATUTES.read_text(encoding="utf-8").splitlines())
    charges = [charge for record in records for charge in record["charges"]]
    names = [(name, charge["zh"]) for charge in charges for name in (charge["zh"], charge["en"])]
    joint = ((entry, _charge_parts(_charge_words(name))) for name, entry in names if "、" in name or " or " in name)
    return {_charge_words(name): entry for name, entry in names}, tuple(joint)


def _charge_words(name: str) -> str:
    words = re.findall(r"\w+", bare_charge(name.casefold()))
    return " ".join(word.removesuffix("s") for word in words if word not in ("the", "a", "an"))


def _charge_parts(words: str) -> frozenset[str]:
    """The signs of a Chinese name; of an English one its words, without the small ones."""
    return frozenset(words.replace(" ", "") if is_unspaced(words) else set(words.split()) - {"or", "and", "of"})


MOST = 20
_FREQUENT = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤褚佘阮柯伍应"
)
"""Surnames; only they distinguish an unmasked name from any other words behind the word for defendant."""
_MASK = r"(?:\d?某{1,2}[甲乙丙丁戊己庚0-9]?(?!某)|[×xX*]{1,3}[0-9]?(?![×xX*]))(?![年月日省市县区乡镇村])"
_MASKED = rf"(?:[{_FREQUENT}][\u4e00-\u9fff](?<!某)|[^\W\d_a-zA-Z在到将因被从对把和系以的])(?:{_MASK})"
_PLAIN = rf"[{_FREQUENT}][\u4e00-\u9fff]{{1,2}}(?=[，、,。；：（(])"
_NAMED = re.compile(rf"被告人((?:{_MASKED}|{_PLAIN})(?:、(?:{_MASKED}|{_PLAIN}))*)")
_ABSENT = re.compile(r"[（(][^（）()]{0,10}(?:已|己判|另案|另行|在逃)")
"""Behind a name: somebody who isn't before this court."""
_NAMED_EN = re.compile(r"[Dd]efendant,? ((?:Mr |Ms |Mrs )?[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2})")


def defendants_in(facts: str) -> tuple[str, ...]:
    """Names after the word for defendant, in the order in which they come; at most 20."""
    found = _chinese(facts) if is_unspaced(facts) else _NAMED_EN.findall(facts)
    return tuple(dict.fromkeys(found))[:MOST]


def _chinese(facts: str) -> Iterator[str]:
    for match in _NAMED.finditer(facts):
        names = match[1].split("、")
        yield from names[:-1] if _ABSENT.match(facts, match.end()) else names


SAME = 0.7
"""Of 199 public judgments no two share more than 0.6; one with other names and lead-in has at least 0.9."""
_MASK_ALONE = re.compile(r"[\u4e00-\u9fff]?某+[甲乙丙丁戊己庚]?\d?|[×*]+|[xX]{2,}")


def same_matter(one: str, other: str) -> bool:
    """Whether two texts tell the facts of one case: most n-grams of the shorter one are in the other, names aside."""
    a, b = matter_grams(one), matter_grams(other)
    return 0 < SAME * min(len(a), len(b)) <= len(a & b)


@lru_cache(maxsize=2048)
def matter_grams(facts: str) -> frozenset[str]:
    """Return the character n-grams of facts by which matters are compared."""
    text = facts
    for name in sorted(defendants_in(facts), key=len, reverse=True):
        text = text.replace(name, "")
    text = "".join(filter(str.isalnum, _MASK_ALONE.sub("", text))).casefold()
    size = 4 if is_unspaced(text) else 10
    return frozenset(text[i : i + size] for i in range(len(text) - size + 1))


class Both(Strict):
    """A text in English and Chinese; either may be missing in an imported book."""

    en: str = ""
    zh: str = ""

    def in_language(self, language: str) -> str:
        """In a case's language, else in the other one."""
        return (self.zh or self.en) if language.startswith("zh") else (self.en or self.zh)


class Band(Strict):
    """A penalty band: what brings a case into it, and from what to what it goes, in months."""

    when: Both
    least: int = Field(default=0, ge=0, le=LONGEST)
    most: int = Field(default=0, ge=0, le=LONGEST, description="0 where only a fine or control is possible.")
    life: bool = False
    death: bool = False

    @model_validator(mode="after")
    def _ordered(self) -> Band:
        if self.least > self.most and not (self.life or self.death):
            raise ValueError("a band's least must not exceed its most")
        return self

    def span(self, language: str) -> str:
        """Return from what to what it goes, in a case's language: `36 to 84 months, or life`."""
        chinese = language.startswith("zh")
        names = ("无期徒刑", "死刑") if chinese else ("life", "death")
        capital = [name for name, possible in zip(names, (self.life, self.death), strict=True) if possible]
        months = f"{self.least}至{self.most}个月" if chinese else f"{self.least} to {self.most} months"
        if self.least == self.most:
            months = f"{self.most}个月" if chinese else str(Term(imprisonment=self.most))
        return ("，或" if chinese else ", or ").join((*([months] if self.most or not capital else ()), *capital))

    def holds(self, term: Term) -> bool:
        """Whether a term lies in the band. A suspended or reduced term may lie below."""
        if term.death_penalty:
            return self.death
        if term.life_imprisonment:
            return self.life
        return self.least <= term.imprisonment <= self.most


class Statute(Strict):
    """An article of the Criminal Law of the PRC."""

    number: int = Field(ge=1, le=452)
    suffix: int = Field(default=0, ge=0, le=20, description="1 for “264 bis”, the first article put in after 264.")
    title: Both = Both()
    text: Both = Both()
    """What it says: in the bundled digest the elements, in our words."""
    charges: tuple[Both, ...] = ()
    cues: Both = Both()
    """Words with which such facts are usually described."""
    bands: tuple[Band, ...] = ()
    interpretation: str = ""
    digest: bool = False
    """From the bundled, unofficial digest, not the law's own words."""

    @property
    def id(self) -> str:
        """`264`, or `264-1` for the first article put in after it."""
        return f"{self.number}-{self.suffix}" if self.suffix else str(self.number)


class Charge(Strict):
    """One entry of the list of charges (JurisAgents, section 3.2)."""

    id: str = Field(min_length=1, description="The Chinese name where there is one.")
    name: Both
    articles: tuple[str, ...] = Field(description="Ids of articles, e.g. `264` or `133-1`.")
    text: Both = Both()
    """What the articles say of it."""
    cues: Both = Both()

    @property
    def named(self) -> tuple[str, ...]:
        """Its articles as a judgment names them, by the number alone: `133 (133-1)`."""
        return tuple(f"{one.partition('-')[0]} ({one})" if "-" in one else one for one in self.articles)

    def called(self, language: str) -> str:
        return self.name.in_language(language)


def charges_of(statutes: Iterable[Statute]) -> list[Charge]:
    """The list of charges that a statute book names, in the order of its articles."""
    found: dict[str, Charge] = {}
    for statute in statutes:
        for name in statute.charges:
            new = Charge(id=name.zh or name.en, name=name, articles=(), text=statute.text, cues=statute.cues)
            charge = found.get(new.id, new)
            articles = tuple(dict.fromkeys((*charge.articles, statute.id)))
            found[charge.id] = charge.model_copy(update={"articles": articles})
    return list(found.values())
