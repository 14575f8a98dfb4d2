"""All models of a process, each with a limit on its calls at once."""

from __future__ import annotations

import asyncio

from courtroom.media import MediaStore
from courtroom.models.litellm_model import LiteLLMModel
from courtroom.models.offline import OfflineModel
from courtroom.models.request import Reply, Request, Watch
from courtroom.models.spec import OFFLINE


class ModelPool:
    """Passes a request to whoever answers for its model."""

    def __init__(self, media: MediaStore) -> None:
        self._offline, self._online = OfflineModel(), LiteLLMModel(media)
        self._limits: dict[str, asyncio.Semaphore] = {}

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """See `Model.answer`. The first run to use a model sets its limit for the process."""
        if request.spec.id == OFFLINE:
            return await self._offline.answer(request, watch)
        limit = self._limits.setdefault(request.spec.id, asyncio.Semaphore(request.spec.concurrency))
        async with limit:
            return await self._online.answer(request, watch)

    async def warm(self) -> None:
        """Load what asking over the network needs."""
        await self._online.warm()

    async def close(self) -> None:
        """Let go of what asking over the network on this loop holds."""
        await self._online.close()
