"""A dataset's rows as precedents of the knowledge base: under which ids they stand there."""

from __future__ import annotations

MOST_NAME, MOST = 30, 80
"""Characters of the dataset's name, and of the whole id."""


def precedent_id(dataset: str, row: str) -> str:
    """The id of a row's precedent."""
    return f"{dataset[:MOST_NAME]}-{row}"[:MOST]


def row_id(dataset: str, precedent: str) -> str:
    """The row that a precedent was made of; its own id where it is of no row of this dataset."""
    return precedent.removeprefix(f"{dataset[:MOST_NAME]}-")
