"""What a view shows, as data: pages and the HTML report draw the same blocks, each in its own way."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Text:
    """A paragraph or several, shown as inert text."""

    body: str
    title: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells. A cell that is a number between 0 and 1 in a column of `shares` is shown as a bar."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int, ...], ...]
    title: str = ""
    shares: tuple[str, ...] = ()
    empty: str = "Nothing here yet."


@dataclass(frozen=True)
class Node:
    """A member in a graph, coloured and shaped by its choice (None: no vote yet)."""

    id: str
    label: str
    choice: str | None
    size: float
    """Influence, 0 to 1."""
    changed: bool = False
    detail: str = ""


@dataclass(frozen=True)
class Edge:
    """`source` follows `target`; `strong` where the target's vote is the one that the source changed to."""

    source: str
    target: str
    strong: bool = False


@dataclass(frozen=True)
class Graph:
    """Who follows whom."""

    nodes: tuple[Node, ...]
    edges: tuple[Edge, ...]
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Card:
    """One thing with a heading, facts in short and text below."""

    title: str
    body: str = ""
    facts: tuple[tuple[str, str], ...] = ()
    items: tuple[str, ...] = ()
    share: float | None = None
    """0 to 1, shown as a bar where given, e.g. a similarity."""


@dataclass(frozen=True)
class Cards:
    """Several cards, best first."""

    cards: tuple[Card, ...]
    title: str = ""
    empty: str = "Nothing here yet."


Block = Text | Table | Graph | Cards
