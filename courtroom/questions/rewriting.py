"""A model puts a change into the texts of a case. What loses a number or gains one is refused; a person reads the rest."""

import re
from calendar import month_name
from collections import Counter, defaultdict
from typing import Any

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.declarations.setup import Budget, Setup
from courtroom.engine.services import Asked
from courtroom.models.rendering import quote
from courtroom.models.request import digest_text
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Answer
from courtroom.questions.beside import TaskInWords, by_role, prompt
from courtroom.questions.mirror import Mirrored, field_of, texts


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
    changed: dict[str, str] = {}
    left: list[str] = []
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
    found = Counter(re.findall(r"\d+(?:[.,:]\d+)*", text))
    for number, month in enumerate(month_name[1:], start=1):
        found[str(number)] += len(re.findall(rf"\b{month}\b", text))
    return +found
