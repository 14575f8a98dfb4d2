"""Statute articles: the bundled digest's entries, and those of an imported statute book."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field, model_validator

from courtroom.law.judgment import LONGEST, Term
from courtroom.strict import Strict


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
            key = name.zh or name.en
            before = found.get(key)
            if before is None:
                found[key] = Charge(id=key, name=name, articles=(statute.id,), text=statute.text, cues=statute.cues)
            elif statute.id not in before.articles:
                found[key] = before.model_copy(update={"articles": (*before.articles, statute.id)})
    return list(found.values())
