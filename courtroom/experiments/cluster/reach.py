"""The way to a cluster: Dask is imported only by who goes it."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib import import_module

from courtroom.errors import CourtroomError
from courtroom.experiments.cell_runs import Brings
from courtroom.experiments.ports import ExperimentHouse
from courtroom.experiments.store import StoredExperiment

MISSING = "A Dask cluster needs the extra `dask`: pip install 'courtroom[dask]'."
NOT_SHARED = (
    "A Dask cluster needs a store that its workers share. Set COURTROOM_DATABASE to a PostgreSQL database, here and for the "
    "workers."
)


@asynccontextmanager
async def reached(address: str, house: ExperimentHouse, kept: StoredExperiment) -> AsyncIterator[Brings]:
    """The cluster at an address, tried: who brings cells of an experiment to their ends there.

    Raises:
        CourtroomError: it can't be used; the sentence says why.
    """
    if house.database.claims is None:
        raise CourtroomError(NOT_SHARED)
    try:
        await asyncio.to_thread(import_module, "distributed")  # it takes a second or two
    except ImportError as error:
        raise CourtroomError(MISSING) from error
    from courtroom.experiments.cluster.client import connected

    async with connected(address, kept, type(house)) as cells:
        yield cells
