"""The audience's votes beside the members', by shape, word and colour."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import streamlit as st

from courtroom.engine.procedure import Choice
from courtroom.figures.palette import tone
from courtroom.language import _
from courtroom.room.hall import Poll
from pages.parts.shared.inert import escaped

STYLE = (
    "<style>.polls{display:grid;gap:.9rem}.polls .name{font-weight:600;margin-bottom:.2rem;overflow-wrap:anywhere}"
    ".polls .who{display:grid;grid-template-columns:5.5rem 1fr;gap:.1rem .6rem;align-items:center;margin-bottom:.25rem}"
    ".polls .bar{display:flex;height:.8rem;border-radius:.4rem;overflow:hidden;background:rgba(128,128,128,.25);gap:2px}"
    ".polls .told{grid-column:2;font-size:.9rem}.polls .told span{white-space:nowrap;margin-right:.9rem}"
    ".polls .soft{opacity:.75}</style>"
)


def tally_html(polls: Sequence[Poll], choices: Sequence[Choice], members: str) -> str:
    """HTML for the polls, a bar for the audience and one for the members in each.

    Args:
        members: what those who vote in the run are called.
    """
    theme = st.context.theme.type or "light"
    blocks = [
        f'<div><div class="name">{escaped(poll.name)}</div>'
        f"{_bar(_('Audience'), poll.voted, choices, theme, _('no votes yet'))}"
        f"{_bar(members, poll.members, choices, theme, _('not voted yet'), poll.abstained)}</div>"
        for poll in polls
    ]
    return f'{STYLE}<div class="polls">{"".join(blocks)}</div>'


def sides_css(choices: Sequence[Choice]) -> str:
    """A style sheet that gives each button of a vote the colour of its choice."""
    theme = st.context.theme.type or "light"
    ink = "#12161F" if theme == "dark" else "#FFFFFF"
    rules = [
        f".st-key-vote-{number:d} button{{border:2px solid {tone(choice.tone, theme)};min-height:3.2rem}}"
        f".st-key-vote-{number:d} button p{{font-size:1.1rem;font-weight:600}}"
        f".st-key-vote-{number:d} button[kind=primary]{{background:{tone(choice.tone, theme)};color:{escaped(ink)}}}"
        for number, choice in enumerate(choices)
    ]
    return f"<style>{''.join(rules)}</style>"


def _bar(
    who: str, votes: Mapping[str, int], choices: Sequence[Choice], theme: str, none: str, abstained: int = 0
) -> str:
    whole = sum(votes.values()) + abstained
    parts = [
        f'<div style="width:{100 * votes.get(choice.name, 0) / max(1, whole):.1f}%;background:{tone(choice.tone, theme)}"></div>'
        for choice in choices
    ]
    lines = [
        f'<span><b style="color:{tone(choice.tone, theme)}">{escaped(choice.mark)}</b> {escaped(choice.title)} '
        f"<b>{votes.get(choice.name, 0):d}</b></span>"
        for choice in choices
    ]
    if abstained:
        lines.append(f"<span>○ {_('abstained')} <b>{abstained:d}</b></span>")
    words = "".join(lines) if whole else f'<span class="soft">{escaped(none)}</span>'
    return (
        f'<div class="who"><span>{escaped(who)}</span><div class="bar">{"".join(parts)}</div>'
        f'<div class="told">{words}</div></div>'
    )
