"""Text from outside reaches a page through one door, so that no markup of it takes effect."""

from pathlib import Path

from pages.parts.shared.shown import escaped, literal
from tests.door import Module, Pages

ROOT = Path(__file__).parents[1]
MOST_ALLOWED = 3
"""Lines that say themselves why they need no door."""


def test_every_call_that_reads_markup_is_given_text_through_the_door() -> None:
    pages = Pages.under(ROOT / "pages")
    app = Pages([Module.of(ROOT / "app.py")])
    assert not pages.leaks() + app.leaks()
    allowed = sum(line.count("# plain: ") for module in pages.modules for line in module.lines)
    assert allowed <= MOST_ALLOWED


def test_the_door_leaves_no_mark_that_markdown_or_html_reads() -> None:
    marks = "![](http://a/b) <img src=x> [a](b) :red[x] $x$ `c` &lt; ~~d~~ | # - + = \"'"
    assert "\n" not in literal("a\n\n    b")
    at = literal(marks)
    assert all(at[place - 1] == "\\" for place, mark in enumerate(at) if mark in "![]()<>*_`$:&~|#-+=\"'{}")
    assert not set("<>\"'") & set(escaped(marks))
