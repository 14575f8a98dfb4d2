"""What can stop a run. Each message is the sentence a user sees."""

from pathlib import Path
from traceback import extract_tb

from courtroom.errors import CourtroomError


def place_and_error(error: Exception, folder: Path) -> str:
    """The last line of code in an author's folder that an error came through, and what was raised."""
    text = f"{type(error).__name__}: {' '.join(str(error).split())}"
    if isinstance(error, SyntaxError):
        return f"{error.filename}, line {error.lineno}: {text}"
    frames = extract_tb(error.__traceback__)
    frame = next((frame for frame in reversed(frames) if folder in Path(frame.filename).parents), frames[-1])
    return f"{frame.filename}, line {frame.lineno}: {text}"


class Abstained(CourtroomError):
    """A member gave no usable answer; recorded, and the deliberation goes on without it."""


class QuorumLost(CourtroomError):
    """Too many members abstained to go on; the run fails with its state kept."""


class BudgetReached(CourtroomError):
    """The run has used up its calls, tokens or money, and pauses until its budget is raised."""


NO_SUCH_RUN = "There is no run “{run}” here. See all runs with `python -m courtroom runs`."


class NoSuchRun(CourtroomError):
    """No run has this id."""


class NotOnRecord(CourtroomError):
    """A run that is played again from its record went no further, or its prompts have changed since."""
