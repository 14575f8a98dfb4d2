"""One answer: from the record if it is there, from a call under way if one is, else from the model."""

from __future__ import annotations

import asyncio
from functools import partial

from courtroom.engine.answers import AnswerStore, Arrived
from courtroom.engine.payments import Payer, Payment
from courtroom.engine.ports import Permit
from courtroom.models.errors import ModelError
from courtroom.models.request import Model, Reply, Request, Watch
from courtroom.models.telemetry import NO_TELEMETRY, Telemetry
from courtroom.store.writer import Writer


class Asker:
    """Asks each question once, however many runs want to know, and keeps the answer before giving it."""

    def __init__(self, answers: AnswerStore, model: Model, writer: Writer, telemetry: Telemetry = NO_TELEMETRY) -> None:
        self._answers, self._model, self._writer, self._telemetry = answers, model, writer, telemetry
        self._under_way: dict[str, asyncio.Task[Reply]] = {}
        self._persons: set[str] = set()
        self._arrived: list[Arrived] = []
        self._on_disk: asyncio.Future[None] | None = None

    def knows(self, key: str) -> bool:
        """See `ports.Asks`."""
        return self._answers.reply(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """See `ports.Asks`. A caller that is cancelled leaves its call to finish: it is billed."""
        while True:
            if (reply := self._answers.reply(request.key)) is not None:
                return reply, False
            call = self._under_way.get(request.key)
            if call is not None:
                return await asyncio.shield(call), False
            if (later := permit()) is None:
                break
            await later
        call = asyncio.create_task(self._ask(request, payer, watch, by or self._model))
        self._under_way[request.key] = call
        if by is not None:
            self._persons.add(request.key)
        call.add_done_callback(lambda done: self._done(request.key, done))
        return await asyncio.shield(call), True

    async def finish(self) -> None:
        """Wait for all calls under way; their answers are on disk afterwards. Nobody waits for a person."""
        for key in self._persons & self._under_way.keys():
            self._under_way[key].cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _ask(self, request: Request, payer: Payer, watch: Watch | None, model: Model) -> Reply:
        try:
            with self._telemetry.call(payer.run, payer.path, request.spec.id) as told:
                try:
                    reply = told.paid = await model.answer(request, watch)
                except ModelError as failure:
                    told.paid = failure.paid
                    raise
        except ModelError as failure:
            await self._kept(Arrived(request, payer, None, Payment.of(failure.paid)))
            raise
        await self._kept(Arrived(request, payer, reply, Payment.of(reply)))
        return reply

    def _kept(self, arrived: Arrived) -> asyncio.Future[None]:
        """Done when the answer and what it cost are on disk. Answers that arrive together are written together.

        Where the disk takes none they are held in memory until it does; see `Writer`.
        """
        loop = asyncio.get_running_loop()
        if self._on_disk is None:
            self._on_disk = loop.create_future()
            loop.call_soon(self._write)
        self._arrived.append(arrived)
        return self._on_disk

    def _write(self) -> None:
        arrived, self._arrived = self._arrived, []
        done, self._on_disk = self._on_disk, None
        assert done is not None
        written = asyncio.wrap_future(self._writer.put(partial(self._answers.keep, arrived)))
        written.add_done_callback(partial(_pass_on, done))

    def _done(self, key: str, call: asyncio.Task[Reply]) -> None:
        self._under_way.pop(key, None)
        self._persons.discard(key)
        if not call.cancelled():
            call.exception()  # seen here, so that a call nobody waits for any more is not reported as lost


def _pass_on(to: asyncio.Future[None], written: asyncio.Future[None]) -> None:
    """Notify whoever waits for the answers; nobody may, as their run was stopped."""
    if written.cancelled() or to.done():
        return
    if (error := written.exception()) is not None:
        to.set_exception(error)
        to.exception()  # seen here, in case that nobody waits
    else:
        to.set_result(None)
