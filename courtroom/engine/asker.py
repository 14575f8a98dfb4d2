"""One answer: from the record if it is there, from a call under way if one is, else from the model."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, nullcontext
from functools import partial

from courtroom.engine.answers import AnswerStore, Arrived
from courtroom.engine.budget import Payer, Payment
from courtroom.engine.loop import Batcher
from courtroom.engine.services import Permit
from courtroom.models.errors import ModelError
from courtroom.models.request import Model, Reply, Request, Watch
from courtroom.models.spec import OFFLINE
from courtroom.store.connection import OUTAGES, passing
from courtroom.store.writer import Writer

log = logging.getLogger(__name__)

AGAIN_S = 0.1
"""How often it is tried again to claim a question that another process asks."""


class Asker:
    """Asks each question once, however many runs want to know, and keeps the answer before giving it.

    Where several processes share a store, whoever asks a question has claimed it before; the others wait for the answer.
    """

    def __init__(self, answers: AnswerStore, model: Model, writer: Writer) -> None:
        self._answers, self._model, self._writer = answers, model, writer
        self._under_way: dict[str, asyncio.Task[tuple[Reply, bool]]] = {}
        self._not_ours: set[str] = set()
        """Questions under way whose answers a person, or another process, has yet to give."""
        self._claims: Batcher[str, bool] = Batcher(lambda keys: asyncio.to_thread(answers.claim, keys))
        self._releases: Batcher[str, None] = Batcher(lambda keys: asyncio.to_thread(answers.release, keys))
        self._arrived: list[Arrived] = []
        self._on_disk: asyncio.Future[None] | None = None

    def knows(self, key: str) -> bool:
        return self._answers.reply(key) is not None

    async def answer(
        self, request: Request, payer: Payer, permit: Permit, watch: Watch | None = None, by: Model | None = None
    ) -> tuple[Reply, bool]:
        """See `AnswerSource`. A caller that is cancelled leaves its call to finish: it is billed."""
        while True:
            if (reply := self._answers.reply(request.key)) is not None:
                return reply, False
            call = self._under_way.get(request.key)
            if call is not None:
                return (await asyncio.shield(call))[0], False
            if (later := permit()) is None:
                break
            await later
        call = asyncio.create_task(self._ask(request, payer, watch, by or self._model))
        self._under_way[request.key] = call
        if by is not None:
            self._not_ours.add(request.key)
        call.add_done_callback(lambda done: self._done(request.key, done))
        return await asyncio.shield(call)

    async def finish(self) -> None:
        """Wait for all calls under way; their answers are on disk afterwards. Nobody waits for a person or another process."""
        for key in self._not_ours & self._under_way.keys():
            self._under_way[key].cancel()
        await asyncio.gather(*self._under_way.values(), return_exceptions=True)

    async def _ask(self, request: Request, payer: Payer, watch: Watch | None, model: Model) -> tuple[Reply, bool]:
        key = request.key
        others_ask = self._answers.shared and request.spec.id != OFFLINE and key not in self._not_ours
        async with self._claimed(key) if others_ask else nullcontext():
            if self._answers.shared and (there := self._answers.reply(key)) is not None:
                return there, False
            try:
                reply = await model.answer(request, watch)
            except ModelError as failure:
                await self._kept(Arrived(request, payer, None, Payment.of(failure.paid)))
                raise
            await self._kept(Arrived(request, payer, reply, Payment.of(reply)))
            return reply, True

    @asynccontextmanager
    async def _claimed(self, key: str) -> AsyncIterator[None]:
        """Wait until no other process asks this, and have others wait meanwhile."""
        self._not_ours.add(key)
        while not await self._claim(key):  # noqa: ASYNC110  another process, which can't notify this one
            await asyncio.sleep(AGAIN_S)
        self._not_ours.discard(key)
        try:
            yield
        finally:
            await self._releases(key)

    async def _claim(self, key: str) -> bool:
        try:
            return await self._claims(key)
        except OUTAGES as error:
            if not passing(error):
                raise
            log.warning("a question could not be claimed, and is tried again: %s", error)
            return False

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

    def _done(self, key: str, call: asyncio.Task[tuple[Reply, bool]]) -> None:
        self._under_way.pop(key, None)
        self._not_ours.discard(key)
        if not call.cancelled():
            call.exception()  # seen here, so that a call nobody waits for any more is not reported as lost


def _pass_on(to: asyncio.Future[None], written: asyncio.Future[None]) -> None:
    if written.cancelled() or to.done():
        return
    if (error := written.exception()) is not None:
        to.set_exception(error)
        to.exception()  # seen here, in case that nobody waits
    else:
        to.set_result(None)
