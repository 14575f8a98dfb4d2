"""One member, one question: asked, read, asked again where the answer doesn't fit, and written down."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from pydantic import BaseModel

from courtroom.engine.events import Called
from courtroom.engine.setup import Member
from courtroom.models.errors import CannotSee, ModelError
from courtroom.models.repair import Unreadable, complaint, read_answer
from courtroom.models.request import LATE, Message, Reply, Request
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from courtroom.models.task import Task

if TYPE_CHECKING:
    from courtroom.engine.court import Court

A = TypeVar("A", bound=BaseModel)


class Exchange(Generic[A]):
    """All that is said until a question has its answer, or none can be had.

    Each re-ask is a request of its own with its own key, so that a resumed run walks the same way over the record.
    """

    def __init__(self, court: Court[Any, Any], member: Member, task: Task[A], path: str) -> None:
        self._court, self._member, self._task, self._path = court, member, task, path
        self._spec = member.spec  # another one where a person has not answered in time
        self.keys: list[str] = []
        self.asked = 0
        self._paid: list[Reply] = []
        self._latency = 0.0
        self._answer: A | None = None
        self._error = ""
        self._described: tuple[str, ...] = ()
        self._refused_pictures = False

    async def run(self) -> A | None:
        """The answer, or None; `called` then says why."""
        request = await self._request()
        reasks = self._court.setup.reasks
        while self._answer is None:
            try:
                reply = await self._reply(request)
                if self._refused_pictures:  # and answers without them: that is what it could not do
                    self._court.sight.remember(self._spec.id, "vision", False)
                if reply.finish == LATE:
                    request = await self._instead()
                    continue
                self._answer = self._read(reply)
            except CannotSee:
                self._refused_pictures = True
                request = await self._request()
            except ModelError as failure:
                self._error = str(failure)
                break
            except Unreadable as unreadable:
                self._error = f"The answer did not fit what was asked: {unreadable}"
                if reasks == 0:
                    break
                reasks -= 1
                again = (Message("assistant", (reply.text,)), Message("user", (complaint(str(unreadable)),)))
                request = Request(request.spec, (*request.messages, *again), request.task, request.tag)
        return self._answer

    def called(self, stage: str) -> Called:
        """The event that records this exchange."""
        costs = [reply.cost for reply in self._paid]
        return Called(
            path=self._path,
            stage=stage,
            member=self._member.id,
            task=self._task.name,
            title=self._task.title,
            model=self._spec.id,
            source="person" if self._spec.id == PERSON else "asked" if self.asked else "recorded",
            keys=tuple(self.keys),
            value=self._answer.model_dump(mode="json") if self._answer is not None else None,
            error="" if self._answer is not None else self._error,
            described=self._described,
            asked=self.asked,
            prompt_tokens=sum(reply.usage.prompt for reply in self._paid),
            completion_tokens=sum(reply.usage.completion for reply in self._paid),
            cost=None if None in costs else sum(cost for cost in costs if cost is not None),
            latency_s=round(self._latency, 3),
        )

    def _read(self, reply: Reply) -> A:
        answer: A = read_answer(reply.text, self._task.form, reply.finish)  # type: ignore[assignment]
        if problem := self._task.problem(answer):
            raise Unreadable(problem)
        return answer

    async def _instead(self) -> Request:
        """The same question for the model that answers where a person does not."""
        self._spec = ModelSpec(id=self._spec.otherwise)
        told = f"{self._member.name} did not answer in time; {self._spec.id} answered instead."
        self._court.note(f"late/{self._path}", told)
        return await self._request()

    async def _request(self) -> Request:
        spec, media = self._spec, self._task.media()
        sees = bool(media) and not self._refused_pictures and await self._court.sight.sees(spec)
        if media and not sees:
            self._described = tuple(medium.id for medium in media)
            if spec.id not in (OFFLINE, PERSON):  # it says so of itself
                self._court.note(
                    f"described/{spec.id}", f"{spec.id} can't see pictures: media are replaced by their descriptions."
                )
        messages = self._court.prompts.render(self._task, sees=sees)
        # What a person says holds for this run and its forks: another run of the same case asks anew.
        whose = f"/{self._court.ledger.root}" if spec.id == PERSON else ""
        return Request(spec, messages, self._task, f"{self._court.seed}/{self._member.id}{whose}")

    async def _reply(self, request: Request) -> Reply:
        def permit() -> None:
            self._court.ledger.check()
            self._court.spent.check(self._court.setup.budget)
            self._court.spent.calls += 1
            self.asked += 1

        by = (
            self._court.seats.person(self._court.ledger.run, self._path, self._member)
            if request.spec.id == PERSON
            else None
        )
        reply, new = await self._court.asker.answer(request, permit, self._court.live.watch(self._path), by)
        self.keys.append(request.key)
        self._latency += reply.latency_s
        if new:
            self._paid.append(reply)
            self._court.spent.tokens += reply.usage.prompt + reply.usage.completion
            self._court.spent.money += reply.cost or 0.0
        return reply
