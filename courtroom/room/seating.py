"""Where members sit in the room: places in a plane that a page of any size can draw."""

from __future__ import annotations

import math
from collections.abc import Sequence

from courtroom.engine.procedure import Seating

Place = tuple[float, float]
"""Across and down, each from 0 to 100."""
ONE_RING = 24
"""Seats that a single ring holds; more sit in an outer and an inner ring."""
PER_ROW = 4
LONGEST_BENCH = 11


def places(seating: Seating, voters: Sequence[str], others: Sequence[str]) -> dict[str, Place]:
    """A place for each member, by id.

    Args:
        voters: those who vote, in the order of their seats.
        others: the rest, in the order of their work.
    """
    if seating == "rows" or not voters:
        return _rows([*others, *voters] if seating == "rows" else [*voters, *others])
    if seating == "bench":
        return _bench(voters, others)
    return _rings(voters) | _line(others, 88 if len(voters) < 3 else 71, 34, 66)


def _rings(members: Sequence[str]) -> dict[str, Place]:
    if len(members) > ONE_RING:
        outer = math.ceil(len(members) * 0.6)
        return _ring(members[:outer], 45, 44) | _ring(members[outer:], 31, 28)
    return _ring(members, 44, 42)


def _ring(members: Sequence[str], across: float, down: float) -> dict[str, Place]:
    """Around an ellipse, clockwise from the top, at equal distances along it as the eye sees them."""
    if len(members) == 1:
        return {members[0]: (50.0, 50.0 - down)}
    # Equal steps along the curve, not of the angle: near its ends a flat ellipse would crowd them.
    fine = 720
    points = [
        (50 + across * math.sin(2 * math.pi * n / fine), 50 - down * math.cos(2 * math.pi * n / fine))
        for n in range(fine + 1)
    ]
    wide = 1.9  # a room is about this much wider than high
    steps = [math.dist((a * wide, b), (c * wide, d)) for (a, b), (c, d) in zip(points, points[1:], strict=False)]
    whole, walked, at, found = sum(steps), 0.0, 0, {}
    for number, member in enumerate(members):
        while at < fine and walked + steps[at] <= whole * number / len(members) + 1e-9:
            walked += steps[at]
            at += 1
        found[member] = points[at]
    return found


def _bench(voters: Sequence[str], others: Sequence[str]) -> dict[str, Place]:
    """Voters on one or several benches at the back, the others before them."""
    rows = math.ceil(len(voters) / LONGEST_BENCH)
    size = math.ceil(len(voters) / rows)
    found: dict[str, Place] = {}
    for row in range(rows):
        found |= _line(voters[row * size : (row + 1) * size], 14 + 21 * row, 9, 91, sag=5)
    return found | _line(others, 87, 9, 91)


def _rows(members: Sequence[str]) -> dict[str, Place]:
    count = max(1, math.ceil(len(members) / PER_ROW))
    size = math.ceil(len(members) / count) if members else 1
    found: dict[str, Place] = {}
    for row in range(count):
        found |= _line(members[row * size : (row + 1) * size], 16 + (30 if count > 2 else 36) * row, 12, 88)
    return found


def _line(members: Sequence[str], down: float, left: float, right: float, *, sag: float = 0) -> dict[str, Place]:
    """Side by side; with a sag the middle sits further back than the ends."""
    if len(members) == 1:
        return {members[0]: ((left + right) / 2, down - sag)}
    step = (right - left) / max(1, len(members) - 1)
    middle = (len(members) - 1) / 2
    return {
        member: (left + step * n, down - sag + sag * 2 * ((n - middle) / max(1.0, middle)) ** 2)
        for n, member in enumerate(members)
    }
