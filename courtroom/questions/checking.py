"""A model checks statements against the case, beside the run. What it copies has to stand there, word for word."""

import re
from dataclasses import replace
from functools import partial
from typing import Annotated

from pydantic import Field

from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.claims import Claim, nearest, not_in_file, shown_to_all, statement
from courtroom.models.rendering import quote
from courtroom.models.request import digest_text
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from courtroom.models.task import Answer, Label, Longest, Sentence
from courtroom.questions.asides import Check
from courtroom.questions.beside import Plan, Plans, Question, TaskInWords, by_role, prompt
from courtroom.text.words import plain, words

ABOUT_TOKENS = 120
"""An answer to one question is about so long."""


class NotHeld(Answer):
    """Something that the material does not hold."""

    words: Sentence = Field(description="Words of the statement, copied.")
    names: Label = Field(description="Of these words, the one to three that name the thing, copied.")
    passage: Sentence = Field("", description="The sentence that says otherwise, copied; empty where none does.")


class Checked(Answer):
    """What a statement says that the material does not hold."""

    claims: Annotated[tuple[NotHeld, ...], Longest(5)] = Field(description="Empty where there is nothing.")


class CheckStatement(TaskInWords[Checked]):
    """What does this statement say of the case that the case does not hold?"""

    name = "check-claims"
    title = "Check of a statement"
    shown: str
    statement: str

    def text(self) -> str:
        asked = prompt("check-claims")
        return f"# The material\n\n{quote(self.shown)}\n\n# The statement\n\n{quote(self.statement)}\n\n{asked}"


class Checks(Plans):
    """Has models check statements."""

    what = "check"

    def of(self, record: Record) -> tuple[Claim, ...]:
        """Return what rules and models found in the statements of a run, in the order in which it was said.

        A model's finding counts where its words stand in the statement; a passage that does not stand in the case is
        left away. What a rule found too is told once.
        """
        answers = self._house.answers.of(record.run)
        found = {(claim.vote.path, claim.words): claim for claim in not_in_file(record, answers)}
        spoken = [vote for vote in record.of(Voted) if vote.reasons]
        votes = {_mark(vote): vote for vote in spoken}
        for check in (one for _, one in self._asides.of(record.run.id) if isinstance(one, Check)):
            vote = votes.get(check.statement)
            if vote is None or check.called.value is None:
                continue
            shown = shown_to_all(answers, record, vote)
            before = plain(" ".join([shown, *map(statement, spoken[: spoken.index(vote)])]))
            for one in Checked.model_validate(check.called.value).claims:
                if not (copied := standing(one.words, statement(vote))):
                    continue
                same = [key for key in found if key[0] == vote.path and (copied in key[1] or key[1] in copied)]
                named = one.names if plain(one.names) in plain(copied) else copied
                terms = frozenset(word for word in words(named) if word not in before) or frozenset({plain(named)})
                terms = terms.union(*(found.pop(key).terms for key in same))
                passage, model = standing(one.passage, shown), check.called.model
                near, is_other = passage or nearest(copied, shown), bool(passage)
                found[vote.path, copied] = Claim(vote, copied, "model", terms, near, is_other, model)
        order = {vote.path: place for place, vote in enumerate(spoken)}
        return tuple(sorted(found.values(), key=lambda claim: order[claim.vote.path]))

    def plan(self, record: Record, spec: ModelSpec) -> Plan:
        """Plan a check of every statement that this model has not checked yet; nothing is asked. Raises
        `CourtroomError`: no language model is named."""
        if spec.id in (OFFLINE, PERSON):
            raise CourtroomError("Choose a language model: the rules have looked at everything already.")
        answers = self._house.answers.of(record.run)
        have = {one.called.path for _, one in self._asides.of(record.run.id) if one.called.value is not None}
        model = digest_text(spec.model_dump_json())[:8]
        questions, without = list[Question](), 0
        for vote in record.of(Voted):
            path = f"{vote.path}/check/{_mark(vote)}-{model}"
            if not vote.reasons or path in have:
                continue
            if not (shown := shown_to_all(answers, record, vote)):
                without += 1
                continue
            task = CheckStatement(shown=shown, statement=statement(vote))
            asked = replace(by_role("checker", task, spec, record.setup, path), seed=record.run.seed, stage=vote.stage)
            questions.append(Question(asked, partial(Check, statement=_mark(vote)), ABOUT_TOKENS))
        left_out = (f"{without} statements are left out: a person gave them.",) if without else ()
        return self._planned(record, questions, left_out)


def standing(words: str, text: str) -> str:
    """Return words as they stand in a text, white space and quotation marks around them aside; empty where they do not."""
    parts = words.strip(" \n\"“”'").split()
    found = re.search(r"\s+".join(map(re.escape, parts)), text) if parts else None
    return found[0] if found else ""


def _mark(vote: Voted) -> str:
    """By what a statement is known: a vote that was given anew is another one under the same path."""
    return digest_text(f"{vote.path}\n{statement(vote)}")[:12]
