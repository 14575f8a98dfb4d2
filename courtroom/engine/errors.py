"""What can stop a run. Each message is the sentence a user sees.

CourtroomError
├── Abstained        one member has no answer; the deliberation goes on without it
├── QuorumLost       too many abstained; the run fails with its state kept
├── BudgetReached    the run pauses until the budget is raised
├── RunBusy          another process is driving the run
└── NoSuchRun
"""

from __future__ import annotations

from courtroom.errors import CourtroomError


class Abstained(CourtroomError):
    """A member gave no usable answer; recorded, and the deliberation goes on without it."""


class QuorumLost(CourtroomError):
    """Too many members abstained to go on."""


class BudgetReached(CourtroomError):
    """The run has used up its calls, tokens or money."""


class RunBusy(CourtroomError):
    """Another process drives this run."""


NO_SUCH_RUN = "There is no run “{run}” here. See all runs with `python -m courtroom runs`."


class NoSuchRun(CourtroomError):
    """No run has this id."""
