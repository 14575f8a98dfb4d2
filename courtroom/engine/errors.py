"""What can stop a run. Each message is the sentence a user sees."""

from courtroom.errors import CourtroomError


class Abstained(CourtroomError):
    """A member gave no usable answer; recorded, and the deliberation goes on without it."""


class QuorumLost(CourtroomError):
    """Too many members abstained to go on; the run fails with its state kept."""


class BudgetReached(CourtroomError):
    """The run has used up its calls, tokens or money, and pauses until its budget is raised."""


class NoSuchRun(CourtroomError):
    """No run has this id."""

    def __init__(self, run: str) -> None:
        super().__init__(f"There is no run “{run}” here. See all runs with `python -m courtroom runs`.")


class NotOnRecord(CourtroomError):
    """A run that is played again from its record went no further, or its prompts have changed since."""
