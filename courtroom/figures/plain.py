"""The door for text from outside into figures."""

from __future__ import annotations


def plain(text: str) -> str:
    """Text for a figure's labels, names, titles and hover texts, in which Plotly reads links, styles and templates."""
    return text.replace("&", "&amp;").replace("<", "&lt;").replace("%{", "%&#123;")
