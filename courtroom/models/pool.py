"""All models of a process, and the limits that its runs share."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cached_property
from typing import TYPE_CHECKING

from courtroom.media.store import MediaStore
from courtroom.models.capabilities import Capabilities
from courtroom.models.connections import Connections
from courtroom.models.limits import Limits, Turns
from courtroom.models.offline import Methods, OfflineModel
from courtroom.models.request import Reply, Request, Watch
from courtroom.models.spec import OFFLINE, ModelSpec

if TYPE_CHECKING:
    from courtroom.models.litellm_model import LiteLLMModel


class ModelPool:
    """Passes a request to whoever answers for its model. Limits hold over all runs; see `Limits`.

    Args:
        offline: what the offline model answers by.
        capabilities: where it is kept what models can't do; None forgets it with the process.
    """

    def __init__(
        self,
        media: MediaStore,
        connections: Connections | None = None,
        limits: Turns | None = None,
        *,
        offline: Methods | None = None,
        capabilities: Capabilities | None = None,
    ) -> None:
        self._offline = OfflineModel(offline or {})
        self.limits = limits or Limits()
        self._given = media, connections, self.limits, capabilities

    @cached_property
    def _online(self) -> LiteLLMModel:
        """Whoever asks over the network; what it needs takes time to import, and many a command asks nobody."""
        from courtroom.models.litellm_model import LiteLLMModel

        return LiteLLMModel(*self._given)

    @property
    def loading(self) -> frozenset[str]:
        """Models whose servers are waited for, as they are still loading them."""
        return frozenset(self._online.loading) if "_online" in vars(self) else frozenset()

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """See `Model.answer`."""
        model = self._offline if request.spec.id == OFFLINE else self._online
        return await model.answer(request, watch)

    def slowed_to(self, specs: Iterable[ModelSpec]) -> int | None:
        """Calls at once for the slowest of these models; None where all servers keep up with what they are asked."""
        slowed = (self.limits.slowed_to(spec) for spec in specs)
        return min((calls for calls in slowed if calls is not None), default=None)

    async def warm(self) -> None:
        """Load what asking over the network needs."""
        await self._online.warm()

    async def close(self) -> None:
        """Let go of what asking over the network on this loop holds."""
        if "_online" in vars(self):
            await self._online.close()
