"""The door for text from outside into figures."""

from __future__ import annotations

from courtroom.language import translated


def plain(text: str) -> str:
    """Text for a figure's labels, names, titles and hover texts, in which Plotly reads links, styles and templates; in the reader's language."""
    return translated(text).replace("&", "&amp;").replace("<", "&lt;").replace("%{", "%&#123;")
