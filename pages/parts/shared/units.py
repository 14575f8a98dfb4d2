"""Times, tokens and money in human units."""

from __future__ import annotations

from datetime import datetime

from courtroom.language import _, ngettext


def money(dollars: float | None) -> str:
    """US dollars, or that the price isn't known."""
    if dollars is None:
        return _("price unknown")
    if dollars == 0:
        return _("free")
    return f"${dollars:,.2f}" if dollars >= 0.01 else f"{dollars * 100:.2g} ¢"


def count(number: float) -> str:
    """1,234 or 1.2 M."""
    for size, name in ((1e9, " bn"), (1e6, " M"), (1e4, " k")):
        if number >= size:
            return f"{number / (size if size != 1e4 else 1e3):.1f}{name}"
    return f"{number:,.0f}"


def many(number: int, thing: str) -> str:
    """1 run, 2 runs."""
    return ngettext(f"{{number}} {thing}", f"{{number}} {thing}s", number)


def duration(seconds: float) -> str:
    """0.2 s, 45 s, 3 min 20 s, 2 h 5 min."""
    if seconds < 10:
        return f"{seconds:.1f} s"
    if seconds < 60:
        return f"{seconds:.0f} s"
    minutes, rest = divmod(int(seconds), 60)
    if minutes < 60:
        return _("{minutes} min {rest} s", minutes=minutes, rest=rest) if rest else _("{minutes} min", minutes=minutes)
    return _("{hours} h {minutes} min", hours=minutes // 60, minutes=minutes % 60)


def moment(at: float) -> str:
    """A point in time in the server's zone."""
    return datetime.fromtimestamp(at).strftime("%Y-%m-%d %H:%M")
