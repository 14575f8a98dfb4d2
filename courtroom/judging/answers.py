"""A judgment as a model gives it: what is certain is repaired, the rest is asked again."""

from __future__ import annotations

from typing import Any

from pydantic import AliasChoices, BaseModel, ConfigDict, Field, field_validator

from courtroom.law.article_numbers import article_number
from courtroom.law.judgment import Judgment, Term


class JudgmentAnswer(BaseModel):
    """Articles, charges and term (JurisAgents, table 8; VERDICT, prompt 5)."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True, populate_by_name=True)

    relevant_articles: tuple[int, ...] = Field(
        min_length=1, max_length=12, description="Numbers of articles of the Criminal Law, weightiest first."
    )
    charge: tuple[str, ...] = Field(
        min_length=1,
        max_length=12,
        validation_alias=AliasChoices("charge", "charges", "accusation"),
        description="Names of charges without the word for crime, weightiest first.",
    )
    term_of_imprisonment: Term = Field(
        description="`imprisonment` in months (3.5 years are 42); 0 with a life sentence or a death sentence, of which a "
        "suspended one counts as death."
    )

    @field_validator("relevant_articles", mode="before")
    @classmethod
    def _numbers(cls, value: Any) -> Any:
        items = value if isinstance(value, list | tuple) else [value]
        return [article_number(item) if isinstance(item, str | int) else item for item in items]

    @field_validator("charge", mode="before")
    @classmethod
    def _names(cls, value: Any) -> Any:
        return (
            [part for part in value.replace("；", ";").split(";") if part.strip()] if isinstance(value, str) else value
        )

    def judgment(self) -> Judgment:
        """As a judgment, names and numbers made uniform."""
        return Judgment(
            relevant_articles=self.relevant_articles,
            charges=self.charge,
            term_of_imprisonment=self.term_of_imprisonment,
        )
