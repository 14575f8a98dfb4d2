"""The door to a Dask cluster: nothing else of the program knows that there may be one."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from importlib import import_module
from typing import TYPE_CHECKING

from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.experiments.plan import Cell
from courtroom.experiments.store import StoredExperiment

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

NO_DASK = "A Dask cluster needs the extra `dask`: pip install 'courtroom[dask]'."
NOT_SHARED = (
    "A Dask cluster needs a store that its workers share. Set COURTROOM_DATABASE to a PostgreSQL database, here "
    "and for the workers."
)
Finish = Callable[[Cell, Runner, Mapping[str, str]], Awaitable[None]]
"""Brings a cell to its end, with the keys that a person typed."""


@asynccontextmanager
async def cluster_of(house: Courthouse, kept: StoredExperiment) -> AsyncIterator[Finish | None]:
    """Open the cluster that the settings name, and try it; None where they name none.

    Raises:
        CourtroomError: it can't be used; the sentence says why.
    """
    if not (address := house.settings.dask):
        yield None
        return
    if not house.database.is_shared:
        raise CourtroomError(NOT_SHARED)
    try:
        await asyncio.to_thread(import_module, "distributed")  # it takes a second or two
    except ImportError as error:
        raise CourtroomError(NO_DASK) from error
    from courtroom.experiments.cluster import connected

    async with connected(address, kept, type(house)) as cells:
        yield cells.finish
