"""An import into the knowledge base in the background, and how far it is."""

from __future__ import annotations

import logging
from dataclasses import dataclass

from courtroom.errors import CourtroomError
from courtroom.knowledge.imports import Imports, PendingImport


@dataclass
class TakingIn:
    """How far an import is."""

    name: str
    total: int
    done: int = 0
    what: str = "Taking in"
    error: str = ""
    running: bool = True


def waiting(imports: Imports, digest: str) -> PendingImport:
    """The import that waits to be gone on with.

    Raises:
        CourtroomError: there is none.
    """
    job = next((job for job in imports.pending() if job.digest == digest), None)
    if job is None:
        raise CourtroomError("This import is done or was given up. Choose the file again to repeat it.")
    return job


async def go_on(imports: Imports, digest: str, state: TakingIn) -> None:
    """Go on with an import to its end, and note in `state` how far it is and what stopped it."""

    def progress(what: str, done: int, total: int) -> None:
        state.what, state.done, state.total = what, done, total

    try:
        job = await imports.go_on(digest, progress)
        state.done = state.total = job.total  # the last steps counted all that is indexed
    except CourtroomError as error:
        state.error = str(error)
    except Exception:
        state.error = "The import stopped; the log says why. Go on with it: what is in stays in."
        logging.getLogger(__name__).exception("import %s", digest)
    finally:
        state.running = False
