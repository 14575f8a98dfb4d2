"""The store that a command works on, opened and closed in this one place."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from courtroom.courthouse import Courthouse
from courtroom.settings import from_environment


@contextmanager
def opened(dask: str | None = None) -> Iterator[Courthouse]:
    """The courthouse that the environment gives, closed however the command ends.

    Args:
        dask: the address of another cluster than the environment's.
    """
    settings = from_environment()
    house = Courthouse(settings if dask is None else settings.model_copy(update={"dask": dask}))
    try:
        yield house
    finally:
        house.close()
