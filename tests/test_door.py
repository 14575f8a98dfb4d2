"""Text from outside reaches a page through one door, so that no markup of it takes effect."""

from __future__ import annotations

from pathlib import Path

import pytest

from pages.parts.shared.inert import escaped, literal
from tests.door import Module, Pages

ROOT = Path(__file__).parents[1]
MOST_ALLOWED = 3
"""Lines that say themselves why they need no door."""

LEAKS = (
    "st.image(data, caption=medium.description)",
    "st.caption(f'of {case.title}')",
    "st.radio('Which', labels, format_func=str)",
    "st.pills('Which', [*choices, 'All'])",
    "st.error(str(error))",
    "st.text_input('A', help=why)",
    "st.html(f'<b>{literal(name)}</b>')",
    "column.markdown(escape(name))",
    "st.write('anything')",
    "st.column_config.TextColumn('A', help=label)",
    "told = f'{x}'\nst.progress(0.5, told)",
    "def told(name):\n    return f'**{name}**'\nst.markdown(told(row.name))",
    "for name, word in table:\n    st.tabs([word])",
)
SOUND = (
    "st.image(data, caption=literal(medium.description))",
    "st.caption('of ' + literal(case.title))",
    "st.radio('Which', labels, format_func=literal)",
    "st.caption(f'{seed:d} · {share:.0%} · {len(rows)}')",
    "st.html('<b>' + escaped(name) + '</b>')",
    "NAMES = {'a': 'A'}\nst.caption(NAMES[kind])",
    "def told(name):\n    return f'**{literal(name)}**'\nst.markdown(told(row.name))",
    "st.dataframe(table)\nst.code(text)\nst.selectbox('Which', names)",
    "st.html(made)  # plain: HTML by another function",
)


def test_every_call_that_reads_markup_is_given_text_through_the_door() -> None:
    pages = Pages.under(ROOT / "pages")
    app = Pages([Module.of(ROOT / "app.py")])
    assert not pages.leaks() + app.leaks()
    allowed = sum(line.count("# plain: ") for module in pages.modules for line in module.lines)
    assert allowed <= MOST_ALLOWED


@pytest.mark.parametrize("source", LEAKS)
def test_what_was_forgotten_is_found(source: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(source)
    assert Pages.under(tmp_path).leaks()


@pytest.mark.parametrize("source", SOUND)
def test_what_went_through_the_door_is_let_be(source: str, tmp_path: Path) -> None:
    (tmp_path / "page.py").write_text(source)
    assert not Pages.under(tmp_path).leaks()


def test_the_door_leaves_no_mark_that_markdown_or_html_reads() -> None:
    marks = "![](http://a/b) <img src=x> [a](b) :red[x] $x$ `c` &lt; ~~d~~ | # - + = \"'"
    assert "\n" not in literal("a\n\n    b")
    at = literal(marks)
    assert all(at[place - 1] == "\\" for place, mark in enumerate(at) if mark in "![]()<>*_`$:&~|#-+=\"'{}")
    assert not set("<>\"'") & set(escaped(marks))
