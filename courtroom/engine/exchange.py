"""One member, one question: asked, read, asked again where the answer doesn't fit, and written down."""

import asyncio
import logging
from collections.abc import Sequence
from copy import copy
from dataclasses import replace
from functools import partial
from typing import Generic, TypeVar

from pydantic import BaseModel

from courtroom.engine.budget import Need, Payer, Payment, Reserved, Spent, in_sum
from courtroom.engine.events import Called, Noted
from courtroom.engine.ledger import Ledger
from courtroom.engine.people import Person
from courtroom.engine.services import Asked, Services
from courtroom.media.medium import without_media
from courtroom.models import repair
from courtroom.models.capabilities import IMAGES, SCHEMA, SYSTEM, Findings
from courtroom.models.card import estimate_prompt_tokens, free, price, takes_batches
from courtroom.models.longer import fewer_frames, fewer_pictures, fits, runs_in_circles, with_longer_answer
from courtroom.models.prompts import Renders
from courtroom.models.request import LATE, CannotSee, Message, ModelError, Reply, Request, pictures_in
from courtroom.models.spec import LEFT_OUT, NO_SERVER, PERSON
from courtroom.models.task import Task
from courtroom.store.log import about

A = TypeVar("A", bound=BaseModel)
log = logging.getLogger(__name__)

_NOTHING = Reply(text="")
LONG_ANSWER_CHARACTERS = 1_000
"""Characters from which on an answer is read in a thread: the worst of 8,000 takes a second or two to mend."""
MAX_REPEATED_CHARACTERS = 50_000
"""Characters of an answer that are held up to the model when it is asked again."""
MAX_CUT_CHARACTERS = 400
"""Of one that was cut."""
WITHOUT = {
    SCHEMA: "was asked without the answer's JSON schema, which its server refused; "
    "its answers were checked all the same",
    SYSTEM: "takes no system message: what it says stands at the beginning of the question",
}
"""What is said of what was left out, by the names of `capabilities`."""
NONE_BEFORE = "The same question was not answered before."
CIRCLES = "it says the same again and again until it is cut off; be brief"


def problem_of(task: Task[A], answer: A, path: str) -> str | None:
    """Return what is wrong with an answer that fits the schema; a mistake in the task's own check is logged."""
    try:
        return task.problem(answer)
    except Exception:  # noqa: BLE001  the task's author finds it in the log
        log.exception("%s: the task “%s” could not check an answer", path, task.name)
        return "it can't be checked; the log says why"


class Exchange(Generic[A]):
    """All that is said until a question has its answer, or none can be had.

    Each re-ask is a request of its own with its own key, so that a resumed run walks the same way over the record.

    The question and its re-asks are one series. Where all answers of a series are on record, none can be read, and the
    run is to ask again who failed, the next series asks for new samples; who comes later finds them on record.
    """

    def __init__(self, services: Services, asked: Asked[A]) -> None:
        self._services, self._setup, self._prompts, self._seed = services, asked.setup, asked.prompts, asked.seed
        self._member, self._given, self._path, self._stage = asked.member, asked.task, asked.path, asked.stage
        self._task = asked.task  # without its media where the model is asked on texts alone
        self._spec = asked.member.spec
        self._instead_of = ""
        """The model whose stand-in is asked; empty while it is asked itself."""
        self._address: str | None = None
        """Where the family asked a model that can't be asked here."""
        self._keys: list[str] = []
        self._paid: list[Payment] = []
        self._series = self._reasks = 0
        self._is_new = False
        """Whether anything was asked anew in this series."""
        self._circles = 0
        """How many of its answers ran in circles until they were cut."""
        self._latency = 0.0
        self._answer: A | None = None
        self._error = ""
        self._last = _NOTHING
        self._described: tuple[str, ...] = ()
        self._most_pictures: int | None = None
        """How many the server takes of this question, where it refused more."""
        self._to_note: dict[str, str] = {}
        """What is noted once the server has answered, by path."""

    async def run(self) -> A | None:
        """The answer, or None; `called` then says why."""
        with about(path=self._path):
            first = await self.request()
            has_stand_in = self._spec.stand_in is not None and self._spec.id != PERSON
            request = await self._stand_in_first(first) if has_stand_in else first
            while request and self._answer is None:
                asked = request
                try:
                    reply = await self._reply(asked)
                    if reply.finish == LATE:
                        request = await self._ask_stand_in(f"{self._member.name} did not answer in time.")
                    elif len(reply.text) < LONG_ANSWER_CHARACTERS:
                        self._answer = self._read(asked, reply)
                    else:
                        self._answer = await asyncio.to_thread(self._read, asked, reply)
                except CannotSee as refused:
                    self._most_pictures = refused.most
                    request = await self.request()
                except ModelError as failure:
                    request = await self._ask_stand_in(str(failure))
                except repair.InvalidAnswer as unreadable:
                    if isinstance(unreadable, repair.CutOff) and runs_in_circles(reply.text):
                        self._circles += 1  # who runs in circles is told once to be brief
                    can_be_mended = self._circles <= 1 and not isinstance(unreadable, repair.Refused | repair.Withheld)
                    if self._reasks < self._setup.reasks and can_be_mended:
                        self._reasks += 1
                        request = await self._again(asked, reply, unreadable)
                    else:
                        unusable = repair.why_unusable(asked.spec, unreadable, self._circles)
                        request = await self._new_sample() or await self._ask_stand_in(unusable)
            return self._answer

    async def _stand_in_first(self, request: Request) -> Request | None:
        """Return the question for the stand-in, where it has answered before or the model can't be asked; else the same."""
        asker = self._services.asker
        if asker.knows(request.key):
            return request
        if not await asyncio.to_thread(self._services.capabilities.why_not_asked, self._spec):
            trial = copy(self)
            trial._services = replace(self._services, ledger=Ledger(root=self._services.ledger.root))  # no note of it
            there = await trial._ask_stand_in("")
            return await self._ask_stand_in("") if there and asker.knows(there.key) else request
        for address in sorted(self._services.ledger.asked_at(self._spec.id, self._spec.connection)):
            if asker.knows((there := replace(request, address=address, by_address=True)).key):
                self._address = address
                return there
        return await self._ask_stand_in(f"{self._spec.id} can't be asked here.")

    async def _new_sample(self) -> Request | None:
        """Return the question of the next series, where it was asked already or is to be asked again; else None."""
        self._series += 1
        request = await self.request()
        is_due = self._series <= self._services.ledger.failures.get(self._path, 0) and not self._is_new
        if not is_due and not self._services.asker.knows(request.key):
            return None
        self._reasks, self._circles, self._is_new = 0, 0, False
        return request

    def overruled(self, answer: A) -> Called:
        """Return what is on record of an answer that a person puts in the place of the member's."""
        self._answer = answer
        return self.called().model_copy(update={"source": "person"})

    def called(self) -> Called:
        paid = in_sum(self._paid)
        return Called(
            path=self._path,
            stage=self._stage,
            member=self._member.id,
            task=self._task.name,
            title=self._task.title,
            model=self._spec.id,
            instead_of=self._instead_of,
            answered=self._last.model,
            connection=self._last.connection,
            address=self._last.address,
            source="person" if self._spec.id == PERSON else "asked" if paid.calls else "recorded",
            keys=tuple(self._keys),
            value=self._answer.model_dump(mode="json") if self._answer is not None else None,
            error="" if self._answer is not None else self._error,
            described=self._described,
            asked=paid.calls,
            attempts=paid.attempts,
            prompt_tokens=paid.prompt,
            completion_tokens=paid.completion,
            cost=paid.cost,
            latency_s=round(self._latency, 3),
            estimated=paid.estimated,
            speaks_as_model=self._answer is not None and repair.speaks_as_model(self._last.text),
        )

    def _read(self, request: Request, reply: Reply) -> A:
        answer: A = self._task.declared(repair.read_answer(reply.text, request.form, reply.finish))
        if problem := problem_of(self._task, answer, self._path):
            self._task = self._task.again(answer)
            raise repair.InvalidAnswer(problem)
        return answer

    async def _again(self, request: Request, reply: Reply, unreadable: repair.InvalidAnswer) -> Request:
        """The question once more: with more room where the answer was cut, else with what was wrong with it."""
        if isinstance(unreadable, repair.CutOff):
            findings = await self._services.capabilities.of(request.spec)
            if (spec := await with_longer_answer(request, reply, findings)) is not None:
                return replace(request, spec=spec)
        # Of what ran on, its beginning is enough. Some providers take no empty message.
        most = MAX_CUT_CHARACTERS if isinstance(unreadable, repair.CutOff) else MAX_REPEATED_CHARACTERS
        said = reply.text[:most] if reply.text.strip() else "(no answer)"
        wrong = CIRCLES if self._circles else str(unreadable)
        again = (Message("assistant", (said,)), Message("user", (repair.complaint(wrong),)))
        spec = request.spec
        if "{" not in reply.text and spec.structured == "auto":  # a schema that is enforced did not help
            spec = spec.model_copy(update={"structured": "no"})
        return replace(request, spec=spec, task=self._task, messages=(*request.messages, *again))

    async def _ask_stand_in(self, why: str) -> Request | None:
        """The same question for the model that is named for where this one has no answer; None where none is, so that
        it fails, with what the model said before where it was a stand-in that failed too."""
        if (stand_in := self._spec.stand_in) is None:
            self._error = f"{self._error} {why}".strip()
            return None
        self._error, self._instead_of, self._spec = why, self._spec.id, stand_in
        self._series = self._reasks = self._circles = 0
        self._is_new, self._most_pictures = False, None
        self._address, self._described, self._last = None, (), _NOTHING
        why = why or NONE_BEFORE
        text = f"{why} There {stand_in.id} answered instead of {self._instead_of}."
        self._note(f"instead/{self._instead_of}/{stand_in.id}", text)
        return await self.request()

    async def request(self) -> Request:
        spec, prompts = self._spec, self._prompts
        self._task = self._given
        if spec.vision == LEFT_OUT:
            self._task, prompts = without_media(self._given), prompts.without_media
            if self._given.media():
                text = f"{spec.id} is asked on the texts alone: pictures and their descriptions are left out."
                self._note(f"left-out/{spec.id}", text)
        media = self._task.media()
        can_see = bool(media) and await self._services.capabilities.sees(spec)
        sees = can_see and self._most_pictures != 0
        self._to_note = {}
        self._described = () if sees else tuple(medium.id for medium in media)
        if self._described and spec.id not in NO_SERVER:  # it says so of itself
            path = f"described/{spec.id}"
            told = f"{spec.id} can't see pictures: media are replaced by their descriptions."
            if can_see:
                path = f"described/{self._path}"
                told = (
                    f"The server of {spec.id} refused “{self._task.title}” with pictures: "
                    "here alone they are replaced by their descriptions."
                )
            self._to_note[path] = told
        messages = await prompts.render(self._task, sees=sees, room=spec.room)
        address = ""
        if spec.id not in NO_SERVER:
            findings = await self._services.capabilities.context(spec)
            if sees:
                messages = self._with_as_many_pictures_as_are_taken(messages, findings)
            messages = await self._in_the_room_there_is(messages, prompts, findings, sees=sees)
            address = findings.address if self._address is None else self._address
        # What a person says, or a stand-in, holds for this run and its forks: another run of the same case asks anew.
        whose = f"/{self._services.ledger.root}" if spec.id == PERSON or self._instead_of not in ("", PERSON) else ""
        whose += f"/instead of {self._instead_of}" if self._instead_of not in ("", PERSON) else ""
        series = f"/again-{self._series}" if self._series else ""
        tag = f"{self._seed}/{self._member.id}{whose}{series}"
        by_batch = self._services.gate.control.by_batch
        if by_batch and not await asyncio.to_thread(takes_batches, spec):  # may import LiteLLM
            by_batch = False
            if not free(spec.id):
                told = f"{spec.id} takes no calls by batch: it is asked one by one, at the full price."
                self._to_note[f"batch/{spec.id}"] = told
        request = Request(spec, tuple(messages), self._task, tag, address, by_batch=by_batch)
        if spec.connection and address and not self._services.asker.knows(request.key):
            former = replace(request, by_address=True)
            request = former if self._services.asker.knows(former.key) else request
        return request

    def _with_as_many_pictures_as_are_taken(self, messages: Sequence[Message], findings: Findings) -> Sequence[Message]:
        """A prompt with fewer frames of each video, then with fewer pictures, where its server takes no more."""
        limits = [most for most in (self._most_pictures, findings.get(IMAGES)) if most is not None]
        most, all_pictures, path = min(limits, default=10**6), pictures_in(messages), f"pictures/{self._path}"
        while pictures_in(messages) > most and (fewer := fewer_frames(messages)) is not None:
            messages = fewer
        if pictures_in(messages) > most:
            messages, self._described = fewer_pictures(messages, most)
        if (shown := pictures_in(messages)) < all_pictures:
            told = (
                f"The server of {self._spec.id} takes no more: "
                f"“{self._task.title}” is shown with {shown} of {all_pictures} pictures"
            )
            rest = ", the others by their descriptions" if self._described else ""
            self._to_note[path] = f"{told}{rest}."
        return messages

    async def _in_the_room_there_is(
        self, messages: Sequence[Message], prompts: Renders, findings: Findings, *, sees: bool
    ) -> Sequence[Message]:
        """A prompt that leaves room for an answer, as far as the question has anything that may give way."""
        model, path = self._spec.id, f"room/{self._spec.id}/{self._task.name}"
        while not fits(messages, self._spec, findings):
            title = self._task.title
            if (shorter := self._task.shorter()) is not None:
                self._task, messages = shorter, await prompts.render(shorter, sees=sees, room=self._spec.room)
            elif (fewer := fewer_frames(messages)) is not None:
                messages, path = fewer, f"room/{model}/{self._task.name}/frames"
            else:
                break
            told = (
                f"{model} has too little room for the whole question “{title}”: "
                f"it is shown {'less of what was looked up' if shorter else 'fewer frames of each video'}."
            )
            self._note(path, told)
        return messages

    async def _reply(self, request: Request) -> Reply:
        services, payer = self._services, Payer(self._services.ledger.run, self._path, self._services.beside)
        budgets, budget, need = [services.spent], self._setup.budget, Need()
        if request.spec.id not in NO_SERVER:
            if services.month is not None and (month := await services.month()) is not None:
                budgets.insert(0, month)
            counts_money = len(budgets) > 1 or budget.money is not None
            if counts_money or budget.tokens is not None:
                known = None
                if counts_money:  # may import LiteLLM
                    known = await asyncio.to_thread(price, request.spec.id, by_batch=request.by_batch)
                tokens = estimate_prompt_tokens(request.messages)
                need = Need(tokens, request.spec.max_tokens, known, request.spec.id)
        held: list[tuple[Spent, Reserved]] = []  # empty until the call is made, so that it is billed
        permit = partial(self._permit, need, budgets, held)
        by = None
        if request.spec.id == PERSON and services.people:
            by = Person(services.people, payer.run, payer.path, self._member)
        paid: Payment | None = None
        try:
            watch = self._show if services.streaming else None
            reply, is_new = await services.asker.answer(request, payer, permit, watch, by)
            if is_new:
                paid, self._is_new = Payment.of(reply), True
            elif (paid := services.ledger.paid(self._path, request.key)) is not None:
                services.spent.add(paid)
        except ModelError as failure:
            # Who waited for another's call was not billed for it.
            paid = Payment.of(failure.paid) if held else None
            raise
        finally:
            for spent, reserved in held:
                spent.settle(reserved, paid)
            if paid is not None:  # whatever came of the call
                self._paid.append(paid)
                if paid.cost is None and budget.money is not None:
                    told = (
                        f"No price is known for {self._spec.id}: its calls don't count against the budget of money. "
                        "Set a budget of tokens too."
                    )
                    self._note(f"price/{self._spec.id}", told)
        for name in reply.left_out:
            told = WITHOUT.get(name, f"was asked without {name}, which its server refused")
            self._to_note[f"without/{self._spec.id}/{name}"] = f"{self._spec.id} {told}."
        for path, told in self._to_note.items():
            self._note(path, told)
        self._to_note = {}
        self._keys.append(request.key)
        self._last = reply
        self._latency += reply.latency_s
        return reply

    async def _permit(self, need: Need, budgets: Sequence[Spent], held: list[tuple[Spent, Reserved]]) -> bool:
        """Reserve what the call may take in each budget, or in none: False where it had to wait for room in one."""
        self._services.ledger.check()
        for spent in budgets:
            room = spent.reserve(need, self._setup.budget)
            if isinstance(room, asyncio.Event):
                for earlier, reserved in held:
                    earlier.settle(reserved, None)
                held.clear()
                await room.wait()
                await self._services.gate.open()
                return False
            held.append((spent, room))
        return True

    def _show(self, text: str) -> None:
        """Show the text so far of a streaming model."""
        if call := self._services.calls.get(self._path):
            call.text = text

    def _note(self, name: str, text: str) -> None:
        """Record one sentence that a reader of the run should know."""
        self._services.ledger.add(Noted(path=name, stage=self._stage, text=text))
