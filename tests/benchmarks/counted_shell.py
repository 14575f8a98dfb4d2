"""A shell whose questions to the offline model are counted, to be forked."""

import os

from courtroom.models.offline import OfflineModel
from courtroom.models.request import Reply, Request, Watch
from tests import forks


def counted(log: str, *words: str) -> None:
    """What `python -m courtroom WORDS` does, to be forked; it adds the key of each question that the offline model is
    asked to a log."""
    asked = os.open(log, os.O_WRONLY | os.O_CREAT | os.O_APPEND)
    answer = OfflineModel.answer

    async def answered(self: OfflineModel, request: Request, watch: Watch | None = None) -> Reply:
        os.write(asked, f"{request.key}\n".encode())
        return await answer(self, request, watch)

    OfflineModel.answer = answered  # type: ignore[method-assign]
    forks.shell(*words)
