"""Errors whose message is the one plain sentence that a user sees.

CourtroomError
├── CaseError        a case or a file of cases that can't be used
├── MediaError       a picture or video that can't be used
├── ModelError       courtroom.models.errors
├── PromptError      courtroom.models.apart
└── Abstained, QuorumLost, BudgetReached, RunBusy, NoSuchRun   courtroom.engine.errors
"""

from __future__ import annotations


class CourtroomError(Exception):
    """Base of all errors that a user may see; the message says what to do."""


class CaseError(CourtroomError):
    """A case or a file of cases that can't be used."""


class MediaError(CourtroomError):
    """A picture or video that can't be used."""
