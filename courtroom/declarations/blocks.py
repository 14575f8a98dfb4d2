"""What a view shows, as data: pages and the HTML report draw the same blocks, each in its own way."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Literal


@dataclass(frozen=True)
class Text:
    """A paragraph or several, shown as inert text."""

    body: str
    title: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells, None where there is nothing. In a column of `shares` numbers from 0 to 1 are shown as bars."""

    columns: tuple[str, ...]
    rows: tuple[tuple[str | float | int | None, ...], ...]
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
    directed: bool = True


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


@dataclass(frozen=True)
class Step:
    """One role's part in a flow: what it was handed and what it handed on."""

    title: str
    who: str
    body: str = ""
    state: Literal["done", "passed", "rejected", "to come"] = "done"
    items: tuple[str, ...] = ()


@dataclass(frozen=True)
class Flow:
    """Roles in the order in which they hand on their work."""

    steps: tuple[Step, ...]
    title: str = ""


@dataclass(frozen=True)
class Span:
    """A stretch of a text, from `start` up to `end`, with a choice whose colour and mark it gets ("" for none)."""

    start: int
    end: int
    choice: str = ""
    note: str = ""


@dataclass(frozen=True)
class Marked:
    """A text in which stretches are marked, e.g. what supports a claim. Spans may overlap; the first one counts."""

    body: str
    spans: tuple[Span, ...]
    title: str = ""
    caption: str = ""


@dataclass(frozen=True)
class Beside:
    """Two to four blocks side by side."""

    blocks: tuple[Block, ...]
    title: str = ""


@dataclass(frozen=True)
class Diff:
    """What changed from one text to the next."""

    before: str
    after: str
    title: str = ""


Block = Text | Table | Graph | Cards | Flow | Diff | Marked | Beside


def runs(marked: Marked) -> Iterator[tuple[str, Span | None]]:
    """A marked text in stretches, each with its span or None; together they are the whole text."""
    at = 0
    for span in sorted(marked.spans, key=lambda span: (span.start, -span.end)):
        start, end = max(span.start, at), min(span.end, len(marked.body))
        if start < end:
            if at < start:
                yield marked.body[at:start], None
            yield marked.body[start:end], span
            at = end
    if at < len(marked.body):
        yield marked.body[at:], None
