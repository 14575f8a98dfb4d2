"""A judgment as a model gives it: what is certain is repaired, the rest is asked again."""

from typing import Annotated, Any

from pydantic import AliasChoices, BaseModel, BeforeValidator, ConfigDict, Field, WithJsonSchema

from courtroom.cases.criminal import CriminalCase
from courtroom.law.judgment import LONGEST, ArticleNumber, Judgment, Term
from courtroom.media.medium import Medium
from courtroom.models.task import Label, Longest


class OfFacts(BaseModel):
    """For tasks whose role reads the facts: key frames come along."""

    case: CriminalCase

    def media(self) -> tuple[Medium, ...]:
        """The key frames."""
        return self.case.frames


def _term(death: bool, life: bool, months: dict[str, Any]) -> dict[str, Any]:
    parts = {"death_penalty": {"enum": [death]}, "life_imprisonment": {"enum": [life]}, "imprisonment": months}
    return {"type": "object", "properties": parts}


_MONTHS = {"type": "integer", "minimum": 0, "maximum": LONGEST}
_NONE = {"enum": [0]}
OneTerm = Annotated[
    Term,
    WithJsonSchema({"anyOf": [_term(False, False, _MONTHS), _term(False, True, _NONE), _term(True, False, _NONE)]}),
]
"""A term whose schema says that only one of the three can be set."""


MOST_ASKED = 6
"""Articles or charges. A judgment of one defendant seldom has more; one that has is read all the same."""


def _several(value: Any) -> Any:
    return value if isinstance(value, list | tuple) else [value]


def _names(value: Any) -> Any:
    return [part for part in value.replace("；", ";").split(";") if part.strip()] if isinstance(value, str) else value


Articles = Annotated[
    tuple[ArticleNumber, ...],
    Field(
        min_length=1, max_length=12, description="Which articles of the Criminal Law, by number, the weightiest first?"
    ),
    BeforeValidator(_several),
    Longest(MOST_ASKED),
]
Charges = Annotated[
    tuple[Label, ...],
    Field(
        min_length=1,
        max_length=12,
        description="Which charges, by name without the word for crime, the weightiest first?",
    ),
    BeforeValidator(_names),
    Longest(MOST_ASKED),
]
TERM = (
    "`imprisonment` in months (3.5 years are 42); 0 with a life sentence or a death sentence, of which a suspended one "
    "counts as death."
)


class JudgmentAnswer(BaseModel):
    """Articles, charges and term (JurisAgents, table 8)."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True, populate_by_name=True)

    relevant_articles: Articles
    charge: Charges = Field(validation_alias=AliasChoices("charge", "charges", "accusation"))
    term_of_imprisonment: OneTerm = Field(description=TERM)

    def judgment(self) -> Judgment:
        """As a judgment, names and numbers made uniform."""
        return Judgment(
            relevant_articles=self.relevant_articles,
            charges=self.charge,
            term_of_imprisonment=self.term_of_imprisonment,
        )
