"""Errors whose message is the one plain sentence that a user sees."""

from __future__ import annotations


class CourtroomError(Exception):
    """Base of all errors that a user may see; the message says what to do."""
