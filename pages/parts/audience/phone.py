"""Which phone this is, and the one reading of the store for all phones of this server."""

from collections.abc import Iterator, Mapping, Sequence

import streamlit as st

from courtroom.cases.case import Case
from courtroom.cases.dispute import Dispute
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.language import _, translated
from courtroom.questions.audience import is_phone
from courtroom.room.live_audiences import LiveAudiences
from courtroom.room.scene import Moment
from pages.parts.shared.house import courthouse
from pages.parts.shared.inert import escaped

# The id is made and kept in the browser: a page that is loaded again is the same phone, and no cookie is needed.
_ID = """
export default function ({ setStateValue }) {
  let id = null;
  try { id = localStorage.getItem("courtroom-phone"); } catch (error) { /* a browser that keeps nothing */ }
  if (!id) {
    const bytes = crypto.getRandomValues(new Uint8Array(18));
    id = btoa(String.fromCharCode(...bytes)).replaceAll("+", "-").replaceAll("/", "_");
    try { localStorage.setItem("courtroom-phone", id); } catch (error) { /* it holds for this visit */ }
  }
  setStateValue("id", id);
}
"""
_phone = st.components.v2.component("courtroom_phone", js=_ID)


def phone_id() -> str:
    """The random id of this browser; empty until it has said it, which takes a moment."""
    phone = str(st.session_state.get("phone", ""))
    if phone:
        return phone
    said = str(_phone(key="phone-id", default={"id": ""}, on_id_change=lambda: None, height=1).id or "")
    if is_phone(said):
        st.session_state["phone"] = said
        return said
    return ""


@st.cache_resource(show_spinner=False)
def live_audiences() -> LiveAudiences:
    house = courthouse()
    return LiveAudiences(
        house.audiences, house.procedures, house.record, house.store.pulse, house.settings.audience_phones
    )


def address() -> str:
    """Who visits: the address of the connection, or the last one that the proxy's header names, which the proxy itself wrote."""
    header = courthouse().settings.address_header
    said = (st.context.headers.get(header) or "").rpartition(",")[2].strip() if header else ""
    return said or st.context.ip_address or ""


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
