"""The cluster as whoever drives an experiment sees it: tried when it is reached, given one cell after the other."""

from __future__ import annotations

import asyncio
import logging
import secrets
from collections.abc import AsyncIterator, Mapping
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

from distributed import Client, KilledWorker
from distributed.client import FutureCancelledError

from courtroom.engine.runner import Runner
from courtroom.errors import CourtroomError
from courtroom.experiments.cell_runs import CellEnd, NotDriven
from courtroom.experiments.cluster.turns import TurnsAtScheduler
from courtroom.experiments.cluster.worker import OTHER_VERSION, AtWorker, Opens, drive, examine_worker
from courtroom.experiments.plan import Cell
from courtroom.experiments.store import StoredExperiment
from courtroom.version import __version__

log = logging.getLogger(__name__)

PACKAGE = "courtroom"
REACH_S = 10
"""So long the scheduler may take to answer."""
ANSWER_S = 60
"""So long all workers together may take: each opens the store when it is first asked."""


class DaskCells:
    """Has cells of one experiment brought to their ends by workers. Each cell is a task, which goes on elsewhere when its worker dies.

    Keys that persons type stay here: a worker has those of its own environment.
    """

    def __init__(self, client: Client, address: str, experiment: str) -> None:
        self._client, self._address, self._experiment = client, address, experiment

    async def bring(self, cell: Cell, runner: Runner, keys: Mapping[str, str]) -> CellEnd:
        """See `Brings`."""
        plain = cell.model_dump_json(include=set(Cell.model_fields))
        key = f"{PACKAGE}-{cell.run}-{secrets.token_hex(4)}"
        future = self._client.submit(
            drive, self._experiment, runner.driver.owner, __version__, plain, key=key, pure=False
        )
        try:
            return CellEnd.model_validate_json(await future)
        except (ImportError, AttributeError) as error:
            log.warning("cell %s: %s", cell.run, error)
            raise NotDriven(OTHER_VERSION) from error
        except KilledWorker as error:
            log.warning("cell %s: %s", cell.run, error)
            raise CourtroomError(
                f"{error.allowed_failures + 1} workers died while they worked on this cell. Look at their logs, then try it again."
            ) from error
        except FutureCancelledError as error:
            log.warning("cell %s: %s", cell.run, error)
            raise NotDriven(f"The Dask cluster at {self._address} can't be reached any more.") from error
        finally:
            future.release()


@asynccontextmanager
async def connected(address: str, kept: StoredExperiment, opens: Opens) -> AsyncIterator[DaskCells]:
    """A cluster that can be used. Lives on the engine's loop.

    Args:
        opens: opens the house of a worker.

    Raises:
        CourtroomError: it can't be reached, has another version, or its workers have another store.
    """
    async with AsyncExitStack() as stack:
        try:
            client = Client(address, asynchronous=True, timeout=REACH_S, set_as_default=False)
            stack.push_async_callback(client.close)
            await client
        except (OSError, ValueError) as error:
            log.warning("the Dask cluster at %s: %s", address, error)
            raise CourtroomError(
                f"The Dask cluster at {address} can't be reached. Start its scheduler, or check the address: tcp://HOST:8786."
            ) from error
        try:
            async with asyncio.timeout(ANSWER_S):
                await _check(client, address)
                await client.register_plugin(TurnsAtScheduler())
                await client.register_plugin(AtWorker(opens))
                found = await client.run(examine_worker, kept.id, kept.created)
        except TimeoutError as error:
            log.warning("the Dask cluster at %s: no answer for %d s", address, ANSWER_S)
            raise CourtroomError(
                f"A worker of the Dask cluster at {address} does not answer. Start its workers again, then go on."
            ) from error
        if why := next(filter(None, found.values()), ""):
            raise CourtroomError(why)
        yield DaskCells(client, address, kept.id)


async def _check(client: Client, address: str) -> None:
    asked: Any = client.get_versions(packages=[PACKAGE])  # to be awaited, as the client is asynchronous
    versions = await asked
    if not versions["workers"]:
        raise CourtroomError(f"The Dask cluster at {address} has no worker. Start one: dask worker {address}.")
    mine = _version(versions["client"])
    for place in (versions["scheduler"], *versions["workers"].values()):
        if (theirs := _version(place)) != mine:
            raise CourtroomError(
                f"The scheduler and the workers of the Dask cluster at {address} need Courtroom {mine}, as it is here; one of them "
                f"has {theirs or 'none'}. Install the same version."
            )


def _version(place: Mapping[str, Any]) -> str | None:
    version: str | None = place["packages"].get(PACKAGE)
    return version
