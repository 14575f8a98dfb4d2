"""Text from outside reaches a page through one door, so that no markup of it takes effect."""

import re
from pathlib import Path

from pages.parts.shared.shown import escaped, html_of, literal

ROOT = Path(__file__).parents[1]


def test_no_template_of_a_page_lets_markup_through() -> None:
    templates = sorted((ROOT / "pages").rglob("*.j2"))
    assert templates
    for template in templates:
        text = template.read_text(encoding="utf-8")
        assert not re.search(r"\|\s*safe|autoescape|Markup", text), template
    assert html_of("diff", pieces=[("new", "<b>&")]).count("&lt;b&gt;&amp;") == 1


def test_the_door_leaves_no_mark_that_markdown_or_html_reads() -> None:
    marks = "![](http://a/b) <img src=x> [a](b) :red[x] $x$ `c` &lt; ~~d~~ | # - + = \"'"
    assert "\n" not in literal("a\n\n    b")
    at = literal(marks)
    assert all(at[place - 1] == "\\" for place, mark in enumerate(at) if mark in "![]()<>*_`$:&~|#-+=\"'{}")
    assert not set("<>\"'") & set(escaped(marks))
