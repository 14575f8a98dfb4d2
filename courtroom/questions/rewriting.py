"""A model puts a change into the texts of a case. What loses a number or gains one is refused; a person reads the rest."""

import re
from calendar import month_name
from collections import Counter

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.declarations.setup import Budget, Member, Setup
from courtroom.engine.events import Called
from courtroom.engine.services import Asked
from courtroom.models.rendering import quote
from courtroom.models.request import Message, digest_text
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Answer
from courtroom.questions.beside import After, TaskInWords, prompt
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
    return Asked(
        member=Member(id="rewriter", role="rewriter", name="Rewriter", spec=spec),
        task=RewriteCase(change=change, texts=tuple(dict.fromkeys(_told(case).values()))),
        setup=Setup(budget=budget),
        prompts=After((Message("system", (prompt("rewrite-role"),)),)),
        seed=0,
        path=f"{case.id}/{digest_text(change)[:12]}",
        stage="",
    )


def _told(case: Case) -> dict[str, str]:
    return {path: text for path, text in texts(case).items() if field_of(path) != "title"}


def rewritten(case: Case, called: Called | None, stopped: str) -> Mirrored:
    """Take over the texts that keep every number of the case; say of the others why not, and of which the model is not sure.

    Args:
        called: the answer; None where the budget had no room, which `stopped` says.
    """
    if called is None or called.value is None:
        return Mirrored(left=(called.error if called else stopped,))
    answer, told = RewrittenCase.model_validate(called.value), _told(case)
    different = tuple(dict.fromkeys(told.values()))
    after: dict[str, str] = {}
    left: list[str] = []
    places = [next(path for path, text in told.items() if text == known).replace(".", " ") for known in different]
    for one in answer.texts:
        if not 1 <= one.number <= len(different):
            left.append(f"There is no text {one.number}. Not taken over: “{one.text}”")
            continue
        before = different[one.number - 1]
        missing, new = numbers(before) - numbers(one.text), numbers(one.text) - numbers(before)
        wrong = [*(f"{number} is missing" for number in missing), *(f"{number} is new" for number in new)]
        if wrong:
            left.append(f"{places[one.number - 1]}: {', '.join(wrong)}. Not taken over: “{one.text}”")
        else:
            after[before] = one.text
    for doubt in answer.doubtful:
        if 1 <= doubt.number <= len(different):
            left.append(f"{places[doubt.number - 1]}: the model is not sure of it: {doubt.why}")
    changed = {path: after[text] for path, text in told.items() if after.get(text, text) != text}
    return Mirrored(texts=changed, left=tuple(left))


def numbers(text: str) -> Counter[str]:
    """Count the numbers of a text; a month by its name is its number, so that a translation keeps it."""
    found = Counter(re.findall(r"\d+(?:[.,:]\d+)*", text))
    for number, month in enumerate(month_name[1:], start=1):
        found[str(number)] += len(re.findall(rf"\b{month}\b", text))
    return +found
