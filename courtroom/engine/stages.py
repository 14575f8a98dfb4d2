"""Where a deliberation stands: its current stage, and the paths that are used already."""

from __future__ import annotations

import re

from courtroom.engine.events import StageBegan, StageEnded
from courtroom.engine.services import Services


class Stages:
    """The stages of one deliberation, one after the other.

    Args:
        kinds: the kinds of stage that the procedure declares.
    """

    def __init__(self, kinds: frozenset[str], services: Services) -> None:
        self._kinds, self._services = kinds, services
        self._current: StageBegan | None = None
        self._used: set[str] = set()

    @property
    def current(self) -> StageBegan:
        """The stage that has begun last."""
        assert self._current is not None, "a stage must begin first"
        return self._current

    @property
    def here(self) -> str:
        """Path of the current stage; empty before the first."""
        return self._current.path if self._current else ""

    def next(self, name: str, kind: str) -> StageBegan:
        """The stage after the current one, not begun yet.

        Raises:
            ValueError: the procedure declares no such kind of stage.
        """
        if kind not in self._kinds:
            raise ValueError(f"stage kind {kind!r} is not declared")
        slug = re.sub(r"[^a-z0-9]+", "-", name.lower()).strip("-")
        index = self._current.index + 1 if self._current else 0
        return StageBegan(path=slug, stage=slug, name=name, stage_kind=kind, index=index)

    async def begin(self, stage: StageBegan) -> None:
        """End the current stage and begin this one, as soon as the run may."""
        self.end()
        await self._services.gate.enter(stage)
        self._current = stage

    def end(self) -> None:
        """All of the current stage's work is done."""
        if self._current is not None:
            self._services.ledger.add(StageEnded(path=self._current.path, stage=self._current.path))

    def path(self, *parts: str) -> str:
        """A path in the current stage; empty parts are left out."""
        return "/".join((self.current.path, *filter(None, parts)))

    def new_path(self, *parts: str) -> str:
        """A path in the current stage that nothing else has.

        Raises:
            ValueError: it is used already.
        """
        path = self.path(*parts)
        if path in self._used:
            raise ValueError(f"{path} is used twice: give the second a step of its own")
        self._used.add(path)
        return path
