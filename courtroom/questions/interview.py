"""Interviews: a person asks a member something at a moment of a run; it answers from just what it knew then."""

from __future__ import annotations

import random
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import Future
from dataclasses import dataclass
from functools import partial
from typing import Any

from pydantic import Field

from courtroom.access import Access, needs, signed
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.exchange import AskedBeside
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.runner import Runner
from courtroom.engine.services import Asked
from courtroom.errors import CourtroomError
from courtroom.models.offline import NOTICE, Methods
from courtroom.models.prompts import answer_form
from courtroom.models.rendering import quote
from courtroom.models.request import Message, digest_text
from courtroom.models.spec import PERSON
from courtroom.models.task import Answer, Paragraph, Room, Task
from courtroom.questions.asides import AsideStore, Interview, budget, failures
from courtroom.store.writer import Writer

LONGEST = 2_000


class Said(Answer):
    """What a member answers to a person."""

    answer: Paragraph = Field(min_length=1, description="What do you answer, in a few sentences?")


class InterviewQuestion(Task[Said]):
    """A person's question to a member, after its last call."""

    name = "interview"
    title = "Interview"
    offline_only = ("reasons",)  # a language model has its own answer before it
    question: str
    reasons: tuple[str, ...] = ()

    def text(self) -> str:
        return (
            "# A question to you\n\n"
            "The hearing stands still for a moment. Somebody who follows it asks you:\n\n"
            f"{quote(self.question)}\n\n"
            "Answer this question as the one you are in this hearing, in a few sentences. Answer from what you were shown "
            "up to now and from what you have answered. Where you can't know something from that, say so. Your answer "
            "changes nothing in the hearing.\n"
            "Write in the language of the question.\n"
        )


def offline(task: InterviewQuestion, draw: random.Random) -> Said:
    """The offline model can't answer; it says so and gives the reasons on record."""
    if not task.reasons:
        return Said(answer=f"{NOTICE} It can't answer questions, and no reasons of this member are on record.")
    return Said(answer=f"{NOTICE} It can't answer questions. The reasons on record are: {' '.join(task.reasons)}")


METHODS: Methods = {InterviewQuestion: offline}


@dataclass(frozen=True)
class After:
    """The messages of a call with its answer, then a question."""

    messages: tuple[Message, ...]

    @property
    def without_media(self) -> After:
        """Itself: the call was sent as its model takes it."""
        return self

    @property
    def fresh(self) -> After:
        return self

    async def render(self, task: Task[Any], *, sees: bool, room: Room = "generous") -> Sequence[Message]:
        assert isinstance(task, InterviewQuestion)
        return *self.messages, Message("user", (task.text() + answer_form(task.form, room),))


def last_call(record: Record, member: str) -> Called | None:
    """The member's last call that a model has answered, as the run stands in this record; `Record.until` gives earlier ones."""
    calls = [call for call in record.calls_of(member) if call.keys and call.value is not None]
    return calls[-1] if calls else None


class Interviews:
    """Puts persons' questions to members. `runner`: gives the engine, which starts when it is first needed."""

    def __init__(
        self,
        procedures: Mapping[str, Procedure],
        answers: AnswerStore,
        asides: AsideStore,
        writer: Writer,
        runner: Callable[[], Runner],
    ) -> None:
        self._procedures, self._answers, self._asides, self._writer = procedures, answers, asides, writer
        self._runner = runner

    @needs(Access.RUN)
    def ask(
        self, record: Record, after: Called, question: str, who: str = "", keys: Mapping[str, str] | None = None
    ) -> Future[AskedBeside]:
        """Ask the member of a call what it thinks, as it stood after that call. The run goes on, or waits, as it did. The answer
        is on disk as soon as it is there, see `AsideStore.interviews`. One question after one call has one answer: asked again,
        it comes from the record. `after`: a call that a model has answered, see `last_call`."""
        self._asides.changing(record.run.id, "interview")
        asked = self._asked(record, after, question.strip())
        failed = failures(one for _, one in self._asides.of(record.run.id))
        keep = partial(self._keep, record.run.id, after, signed(who).strip() or "somebody")
        return self._runner().ask_beside(record, [asked], failed, keep, keys or {})

    def _asked(self, record: Record, after: Called, question: str) -> Asked[Said]:
        member = record.until(record.stage(after.stage).index).member(after.member)  # with the model that it had then
        if not question or len(question) > LONGEST:
            raise CourtroomError(f"Write a question of at most {LONGEST:,} characters.")
        if member is None or not after.keys:
            raise CourtroomError(f"{after.path} was not answered by a model, so nobody can be asked about it.")
        if member.spec.id == PERSON:
            raise CourtroomError(f"A person sits in the seat of {member.name}. Ask the person.")
        key = after.keys[-1]
        answers = self._answers.of(record.run)
        reply = answers.reply(key)
        answered = Message("assistant", (reply.text if reply and reply.text.strip() else "(no answer)",))
        limit = budget(self._procedures[record.run.procedure], record)
        return Asked(
            member=member,
            task=InterviewQuestion(question=question, reasons=_reasons(record, after)),
            setup=record.setup.model_copy(update={"budget": limit}),
            prompts=After((*answers.request(key), answered)),
            seed=record.run.seed,
            path=f"{after.path}/interview/{digest_text(question)[:12]}",
            stage=after.stage,
        )

    async def _keep(self, run: str, after: Called, who: str, asked: Asked[Any], called: Called) -> None:
        assert isinstance(asked.task, InterviewQuestion)
        answer = called.error if called.value is None else Said.model_validate(called.value).answer
        asks = {"after": after.path, "key": after.keys[-1], "who": who, "question": asked.task.question}
        interview = Interview(member=after.member, answer=answer, called=called, **asks)
        there = {(one.after, one.key, one.question, one.answer) for _, one in self._asides.interviews(run)}
        if called.value is None or (after.path, interview.key, interview.question, answer) not in there:
            await self._writer.do(partial(self._asides.add, run, interview))


def _reasons(record: Record, after: Called) -> tuple[str, ...]:
    """The reasons that the member gave with its votes in the call's stage, else all texts of its answer."""
    votes = [votes[after.member] for votes in record.ballots.values() if after.member in votes]
    given = [reason for vote in votes if vote.stage == after.stage for reason in vote.reasons]
    return tuple(given or _texts(after.value))


def _texts(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value] if " " in value.strip() else []  # one word is a choice, not a reason
    parts = value.values() if isinstance(value, dict) else value if isinstance(value, list) else ()
    return [text for part in parts for text in _texts(part)]
