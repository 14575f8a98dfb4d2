"""A criminal judgment: articles, charges and term of penalty (VERDICT, section 3.1; JurisAgents, table 8)."""

from __future__ import annotations

from typing import Any, Self

from pydantic import Field, field_validator, model_validator

from courtroom.language import N_
from courtroom.strict import Strict

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


class Decided(Strict):
    """What is known of a judgment: empty articles or charges, and no term, are not known. Both keep their order, the weightiest first."""

    relevant_articles: tuple[int, ...] = Field(default=(), description="Numbers of Criminal Law articles, e.g. 264.")
    charges: tuple[str, ...] = Field(default=(), description="Names without the word for crime.")
    term_of_imprisonment: Term | None = None

    @field_validator("relevant_articles")
    @classmethod
    def _numbered(cls, articles: tuple[int, ...]) -> tuple[int, ...]:
        if wrong := [number for number in articles if not 1 <= number <= 452]:
            raise ValueError(f"the Criminal Law has articles 1 to 452; {wrong[0]} is not among them")
        return tuple(dict.fromkeys(articles))

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

    def same_labels(self, other: Judgment) -> bool:
        """Whether articles and charges are the same, in whatever order; a term is seldom met to the month."""
        names, others = ({name.casefold() for name in one.charges} for one in (self, other))
        return names == others and set(self.relevant_articles) == set(other.relevant_articles)

    def __str__(self) -> str:
        articles = ", ".join(map(str, self.relevant_articles)) or "none"
        return f"article{'s' * (len(self.relevant_articles) > 1)} {articles}; {'; '.join(self.charges) or 'no charge'}; {self.term_of_imprisonment}"


def bare_charge(name: str) -> str:
    """A charge's name without the word for crime and without CAIL's brackets: `[盗窃]罪` is `盗窃`."""
    bare = name.strip().strip("[]").replace("[", "").replace("]", "").strip()
    bare = bare.removesuffix("罪") if len(bare) > 1 else bare
    for ending in (" crime", " offence", " offense"):
        bare = bare.removesuffix(ending)
    return bare.removeprefix("the crime of ").removeprefix("crime of ").strip()
