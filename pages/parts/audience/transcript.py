"""The case and what was said in it, as text that is made once for all phones."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence

from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.room.scene import Moment
from pages.parts.shared.inert import escaped

STYLE = (
    "<style>.said{overflow-wrap:anywhere}.said details{border-top:1px solid rgba(128,128,128,.35);padding:.2rem 0}"
    ".said summary{cursor:pointer;font-weight:600;padding:.55rem 0}.said .line{margin:.3rem 0 .9rem}"
    ".said .who{font-weight:600}.said .text{white-space:pre-wrap;font-size:.95rem}.said .soft{opacity:.75}</style>"
)


def case_html(case: Case) -> str:
    """HTML for all there is to read of a case; nothing of how it was really decided."""
    blocks = [
        f'<div class="line"><div class="who">{escaped(title)}</div><div class="text">{escaped(text)}</div></div>'
        for title, text in _case(case)
    ]
    return f'{STYLE}<div class="said"><details><summary>{_("The case")}</summary>{"".join(blocks)}</details></div>'


def said_html(moments: Sequence[Moment], record: Record, procedure: Procedure) -> str:
    """HTML for what was said, a fold for each stage, the latest first and open."""
    names = {member.id: member.name for member in record.everybody}
    sides = {choice.name: f"{choice.mark} {choice.title}" for choice in procedure.choices}
    folds: list[str] = []
    for stage in (one for one in reversed(moments) if one.kind == "stage"):
        within = [one for one in moments if one.stage == stage.path]
        lines = "".join([_spoken_line(one, names, sides) for one in within])
        if lines:
            opened = "" if folds else " open"
            folds.append(f"<details{opened}><summary>{escaped(stage.title)}</summary>{lines}</details>")
    return f'{STYLE}<div class="said">{"".join(folds)}</div>'


def _spoken_line(moment: Moment, names: Mapping[str, str], sides: Mapping[str, str]) -> str:
    who = escaped(names.get(moment.member, moment.member))
    if moment.kind == "vote":
        choice = sides.get(moment.choice, moment.choice) if moment.choice else _("○ abstains")
        moved = moment.before is not None and moment.choice is not None and moment.before != moment.choice
        was = _(" (changes sides)") if moved else ""
        return f'<div class="line"><span class="who">{who}</span>: {escaped(choice)}{escaped(was)}</div>'
    if moment.kind != "call" or not moment.parts:
        return ""
    text = "\n".join(part.text for part in moment.parts)
    return (
        f'<div class="line"><span class="who">{who}</span> <span class="soft">{escaped(moment.title)}</span>'
        f'<div class="text">{escaped(text)}</div></div>'
    )


def _case(case: Case) -> Iterator[tuple[str, str]]:
    yield from case.sections()
    if isinstance(case, Dispute):
        deal = case.transaction
        yield _("What was ordered"), f"{deal.product}, {deal.price:,.2f} {deal.currency}\n{deal.description}".strip()
        if case.chat:
            yield _("Chat"), "\n".join(f"{line.speaker}: {line.text}" for line in case.chat)
        for piece in case.evidence:
            yield _("Evidence of the {side}", side=translated(piece.side)), piece.text
