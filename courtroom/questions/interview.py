"""Interviews: a person asks a member something at a moment of a run; it answers from just what it knew then."""

from __future__ import annotations

import random
from collections.abc import Iterator, Mapping
from concurrent.futures import Future
from functools import partial
from typing import TYPE_CHECKING

from pydantic import Field

from courtroom.access import Access, Resource, needs, signed
from courtroom.engine.events import Called
from courtroom.engine.record import Record
from courtroom.engine.services import Asked
from courtroom.errors import CourtroomError
from courtroom.models.offline import NOTICE, Methods
from courtroom.models.rendering import quote
from courtroom.models.request import Message, digest_text
from courtroom.models.spec import PERSON, SCRIPT
from courtroom.models.task import Answer, Paragraph
from courtroom.questions.asides import Interview
from courtroom.questions.beside import After, AskedBeside, Keys, Question, TaskInWords, ask_and_keep, prompt
from courtroom.sharing import changing
from courtroom.text.words import strings

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

LONGEST = 2_000


class Said(Answer):
    """What a member answers to a person."""

    answer: Paragraph = Field(min_length=1, description="What do you answer, in a few sentences?")


class InterviewQuestion(TaskInWords[Said]):
    """A person's question to a member, after its last call."""

    name = "interview"
    title = "Interview"
    offline_only = ("reasons",)  # a language model has its own answer before it
    question: str
    reasons: tuple[str, ...] = ()

    def text(self) -> str:
        return prompt(self.name).replace("QUESTION", quote(self.question))


def offline(task: InterviewQuestion, draw: random.Random) -> Said:
    """The offline model can't answer; it says so and gives the reasons on record."""
    if not task.reasons:
        return Said(answer=f"{NOTICE} It can't answer questions, and no reasons of this member are on record.")
    return Said(answer=f"{NOTICE} It can't answer questions. The reasons on record are: {' '.join(task.reasons)}")


METHODS: Methods = {InterviewQuestion: offline}


def last_call(record: Record, member: str) -> Called | None:
    """Return the member's last call that a model has answered, as the run stands in this record."""
    calls = [call for call in record.calls_of(member) if call.keys and call.value is not None]
    return calls[-1] if calls else None


class Interviews:
    """Puts persons' questions to members."""

    def __init__(self, house: Courthouse) -> None:
        self._house, self._asides = house, house.asides

    @needs(Access.RUN)
    def ask(
        self, record: Record, after: Called | None, question: str, who: str = "", keys: Keys = None
    ) -> Future[AskedBeside]:
        """Ask a member, as it stood after a call; the answer is on disk at once.

        What it was asked there before, and answered, goes before the question. The same question after the same call
        comes from the record. `after`: see `last_call`; none: every member for which a model answers is asked, after
        its last call. Raises `CourtroomError`: no model has answered for anybody yet, or nobody can be asked after that
        call."""
        changing(self._house.database, "ask", Resource(kind="run", id=record.run.id), "interview")
        models = (member.id for member in record.members if member.spec.id not in (PERSON, SCRIPT))
        calls = [after] if after else [call for member in models if (call := last_call(record, member))]
        if not calls:
            raise CourtroomError("No model has answered for anybody in this run yet. Ask when somebody has spoken.")
        asks = signed(who).strip() or "somebody"
        questions = [self._question(record, call, question.strip(), asks) for call in calls]
        return ask_and_keep(self._house, record, questions, keys)

    def _question(self, record: Record, after: Called, question: str, who: str) -> Question:
        member = record.until(record.stage(after.stage).index).member(after.member)  # with the model that it had then
        if not question or len(question) > LONGEST:
            raise CourtroomError(f"Write a question of at most {LONGEST:,} characters.")
        if member is None or not after.keys:
            raise CourtroomError(f"{after.path} was not answered by a model, so nobody can be asked about it.")
        if member.spec.id == PERSON:
            raise CourtroomError(f"A person sits in the seat of {member.name}. Ask the person.")
        if member.spec.id == SCRIPT:
            raise CourtroomError(f"{member.name} says only what was written for it. Ask another member.")
        votes = [votes[after.member] for votes in record.ballots.values() if after.member in votes]
        given = [reason for vote in votes if vote.stage == after.stage for reason in vote.reasons]
        reasons = given or [text for text in strings(after.value) if " " in text.strip()]  # one word is a choice
        key = after.keys[-1]
        answers = self._house.answers.of(record.run)
        reply = answers.reply(key)
        answered = Message("assistant", (reply.text if reply and reply.text.strip() else "(no answer)",))
        asked = Asked(
            member=member,
            task=InterviewQuestion(question=question, reasons=tuple(reasons)),
            setup=record.setup,
            prompts=After((*answers.request(key), answered, *self._before(record.run.id, after, question))),
            seed=record.run.seed,
            path=f"{after.path}/interview/{digest_text(question)[:12]}",
            stage=after.stage,
        )
        about = {"member": after.member, "after": after.path, "key": key, "who": who, "question": question}
        return Question(asked, partial(self._interview, record.run.id, about))

    def _before(self, run: str, after: Called, question: str) -> Iterator[Message]:
        """What the member was asked there before this question was first put, and what it answered."""
        for _, one in self._asides.interviews(run):
            if (one.after, one.key) != (after.path, after.keys[-1]) or one.called.value is None:
                continue
            if one.question == question:
                return
            yield Message("user", (InterviewQuestion(question=one.question).text(),))
            yield Message("assistant", (one.answer,))

    def _interview(self, run: str, about: Mapping[str, str], called: Called) -> Interview | None:
        answer = called.error if called.value is None else Said.model_validate(called.value).answer
        interview = Interview(**about, answer=answer, called=called)
        told = {"after", "key", "question", "answer"}
        known = (one.model_dump(include=told) for _, one in self._asides.interviews(run))
        return None if called.value is not None and interview.model_dump(include=told) in known else interview
