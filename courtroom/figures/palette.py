"""Colours that stay apart for colour-blind eyes (after Okabe and Ito) and can be read as text (4.5 to 1), for both themes."""

from __future__ import annotations

LIGHT = ("#0072B2", "#B85000", "#00795A", "#A84F82", "#8A6D00", "#5B5EA6")
DARK = ("#56B4E9", "#F0893B", "#2FC79A", "#E3A3C7", "#E0C341", "#9EA1E8")
NEUTRAL = {"light": "#8A8F98", "dark": "#9AA0AA"}
INK = {"light": "#1F2430", "dark": "#E8EAF0"}
LINE = {"light": "#D5D9E0", "dark": "#3A4150"}


def tone(index: int | None, theme: str = "light") -> str:
    """The colour of a choice by its tone; None is an abstention.

    Args:
        theme: `light` or `dark`.
    """
    if index is None:
        return NEUTRAL[theme]
    colours = DARK if theme == "dark" else LIGHT
    return colours[index % len(colours)]
