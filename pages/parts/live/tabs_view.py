"""Below the room: the verdict, the votes, and what else can be seen of a run, one tab at a time, also as it stood at the end of any stage."""

import json
from collections.abc import Mapping

import pandas as pd
import streamlit as st

from courtroom.access import acting_account
from courtroom.courthouse import Courthouse
from courtroom.engine.errors import NoSuchRun
from courtroom.engine.events import Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.turnout import call_of, failure_of, stand_in_of, turnout
from courtroom.figures.layout import tone
from courtroom.judging.jurors import other_way, private_votes
from courtroom.language import N_, _, translated
from courtroom.room.player import adapter, part, style, words
from pages.parts.live.answers_view import calls_table, member_grid
from pages.parts.shared.actions import plainly
from pages.parts.shared.blocks_view import blocks_view, choice_html
from pages.parts.shared.differences import family_view
from pages.parts.shared.shown import declared, escaped, inert, literal, one_of, table

vote_bars = st.components.v2.component("courtroom_votes", css=style("votes"), js=part("votes"), isolate_styles=False)


def votes_view(procedure: Procedure, record: Record) -> None:
    if not record.ballots:
        st.info(_("Nobody has voted yet. Votes appear here as they are cast."), icon=":material/how_to_vote:")
        return
    theme = st.context.theme.type or "light"
    sides: list[dict[str, str | None]] = [
        {"name": c.name, "title": translated(c.title), "mark": c.mark, "tone": tone(c.tone, theme)}
        for c in procedure.choices
    ]
    sides.append({"name": None, "title": _("Abstained"), "mark": "○", "tone": tone(None, theme)})
    data = {
        "ballots": [
            {"name": translated(record.ballot_name(ballot)), "votes": {m: vote.choice for m, vote in votes.items()}}
            for ballot, votes in record.ballots.items()
        ],
        "sides": sides,
        "moved": _("How votes moved between ballots") if record.votes_move else "",
        "words": words(),
    }
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=f"votes-{record.run.id}")
    marks: dict[str | None, str] = {
        choice.name: f"{choice.mark} {translated(choice.title)}" for choice in procedure.choices
    }
    rows = []
    for member in record.members:
        votes = {ballot: cast.get(member.id) for ballot, cast in record.ballots.items()}
        if any(votes.values()):
            row = {N_("member"): member.name}
            for ballot, vote in votes.items():
                row[record.ballot_name(ballot)] = _cast(record, vote, marks) if vote else ""
            rows.append(row)
    table(pd.DataFrame(rows))
    _private(procedure, record, sides)


def _cast(record: Record, vote: Voted, marks: Mapping[str | None, str]) -> str:
    """A vote in words: what it is for, whether it changed, and who gave it where that is a stand-in."""
    if vote.choice is None:
        return _("no answer") if failure_of(record, vote) else _("abstained")
    stand_in = stand_in_of(record, vote)
    by = _(" (by its stand-in {model})", model=stand_in.model) if stand_in else ""
    if (call := call_of(record, vote)) and call.speaks_as_model:
        by += _(" (speaks of itself as a language model)")
    return marks.get(vote.choice, vote.choice) + (_(" (changed)") if vote.changed else "") + by


def _private(procedure: Procedure, record: Record, sides: list[dict[str, str | None]]) -> None:
    """Each ballot in public and in private, and who would have gone the other way; nothing where nobody was asked in private."""
    votes = private_votes(record, procedure)
    if (last := other_way(record, votes)) is None:
        return
    ballots: list[dict[str, object]] = []
    for path, private in votes.items():
        name, public = translated(record.ballot_name(path)), {m: v.choice for m, v in record.ballots[path].items()}
        ballots += [
            {"name": _("{ballot}, in public", ballot=name), "votes": public},
            {"name": _("{ballot}, in private", ballot=name), "votes": private},
        ]
    st.subheader(_("In public and in private"))
    data = {"ballots": ballots, "sides": sides, "moved": "", "words": words()}
    vote_bars(data=json.dumps(data, ensure_ascii=False).encode(), key=f"private-{record.run.id}")
    path, asked, apart = last
    values = {"number": len(apart), "asked": asked, "ballot": translated(record.ballot_name(path))}
    said = _("{ballot}: {number} of {asked} would have gone the other way in private.", **values)
    st.markdown(literal(said + (f" {', '.join(apart)}" if apart else "")))


def verdict_view(record: Record, procedure: Procedure) -> None:
    verdict = record.run.verdict
    assert verdict is not None
    with st.container(border=True):
        left, middle, right = st.columns([2, 2, 5], gap="large")
        with left:
            st.caption(declared(procedure.ending.title))
            if verdict.outcome in {choice.name for choice in procedure.choices}:
                st.html(choice_html(procedure, verdict.outcome, "2rem"))
            else:
                st.html(f'<div style="font-size:1.5rem;overflow-wrap:anywhere">{escaped(verdict.outcome)}</div>')
            counts = [f"{choice_html(procedure, name)} {number:d}" for name, number in verdict.counts.items()]
            if verdict.abstained:
                counts.append(_("{number} without a vote", number=f"{verdict.abstained:d}"))
            if counts:
                st.html("&ensp;".join(counts))
            if verdict.note:
                inert(verdict.note, small=True)
            if told := turnout(record):
                st.caption(f":material/person_off: {' '.join(literal(line) for line in told)}")
        with middle:
            if real := procedure.real_counts(record.case):
                same = max(real, key=lambda name: real[name]) == verdict.outcome
                far = [abs(real.get(name, 0) - number) for name, number in verdict.counts.items()]
                as_many = sum(real.values()) == sum(verdict.counts.values())
                text = "&ensp;".join(f"{choice_html(procedure, name)} {number:d}" for name, number in real.items())
                st.caption(translated(record.case.votes_title))
                st.html(f'<div style="line-height:3rem">{text}</div>')
                who = _("The same side won.") if same else _("The other side won.")
                apart = f"{sum(far) / max(1, len(far)):.2g}"
                st.caption(who + _(" Votes apart, on average of the sides: {apart}", apart=apart) * as_many)
            elif real_outcome := record.case.real_outcome():
                st.caption(declared(procedure.ending.real))
                inert(real_outcome)
        with right:
            st.caption(declared(procedure.ending.grounds))
            inert(verdict.summary)


@st.cache_data(max_entries=200, ttl=300, show_spinner=False)
def _worth(_house: Courthouse, run: str, reader: str) -> str:
    return _house.worth(run)


def votes_worth(house: Courthouse, run: str) -> str:
    """What the votes behind a verdict are worth; worked out anew after five minutes, as runs on other cases come to their ends."""
    person = acting_account()
    return _worth(house, run, person.id if person else "")


NOW = "now"
IDLE = "idle-drawing"
"""Where the session keeps the drawing of the page after which the browser had time for more."""

idle = st.components.v2.component("courtroom_idle", js=adapter("idle"))


def back() -> str:
    """The index of the stage at whose end the reader looks, by the address; else NOW."""
    return st.query_params.get("at", NOW)


@st.fragment
def tabs_view(house: Courthouse, procedure: Procedure, run: str, drawing: int, *, family: bool) -> None:
    """Drawn anew by itself: a click on a tab leaves the rest of the page as it is.

    The open tab is drawn with the page. The others of a run at rest follow, unseen, when the browser has time: then a click shows
    at once what is there.

    Args:
        drawing: a number of its own for each drawing of the whole page.
        family: whether there are others in the run's family.
    """
    with plainly():
        record = _record(house, run)
        votes = any(role.votes for role in procedure.roles)
        views = [view.title for view in procedure.views]
        tabs = ["Members", "Votes", *views, "Calls"] if votes else [*views, "Members", "Calls"]
        tabs += ["Family"] if family else []
        with st.container(key="below"):
            shown = one_of(_("Look at"), tabs, f"tab-{run}", tabs[0])
            if len(record.stages) > 1:
                _as_it_stood(record)
            at_rest = record.run.status != "running"
            all_drawn = at_rest and st.session_state.get(IDLE) == drawing
            st.html(_only_the_open_one(len(tabs)))
            with st.container(gap=None):
                for number, tab in enumerate(tabs, 1):
                    if tab == shown or all_drawn:
                        with st.container(key=f"pane-{number}"):
                            _tab(house, procedure, run, tab)
            if at_rest and not all_drawn:
                has_time = {IDLE: drawing}
                idle(key=f"idle-{drawing}", height=1, on_idle_change=lambda: st.session_state.update(has_time))


def _only_the_open_one(tabs: int) -> str:
    """The style by which the browser itself shows the tab that is clicked. Until it is there, the one before stays,
    so that nothing jumps. The others keep their width, which tables and figures need to be drawn."""
    others = ", ".join(
        f'.st-key-below:has([class*="st-key-tab-"] [role="radio"]:nth-child({open:d})[aria-checked="true"])'
        f":has(.st-key-pane-{open:d}) .st-key-pane-{number:d}"
        for open in range(1, tabs + 1)
        for number in range(1, tabs + 1)
        if number != open
    )
    return (
        "<style>.st-key-below { position: relative; }"
        f"{others} {{ position: absolute; visibility: hidden; width: 100%; height: 0; overflow: hidden; }}</style>"
    )


@st.fragment
def _tab(house: Courthouse, procedure: Procedure, run: str, tab: str) -> None:
    """What one tab shows; a click in it draws nothing else."""
    with plainly():
        record = _record(house, run)
        if len(record.stages) > 1 and back() != NOW:
            record = record.until(int(back()))
        if tab == "Members":
            member_grid(house, procedure, record)
        elif tab == "Votes":
            votes_view(procedure, record)
        elif tab == "Calls":
            calls_table(house, record)
        elif tab == "Family":
            family_view(house, run)
        else:
            view = next(view for view in procedure.views if view.title == tab)
            st.caption(declared(view.help))
            blocks_view(view.blocks(record), procedure, key=f"{run}-{view.name}")


def _record(house: Courthouse, run: str) -> Record:
    try:
        return house.runner.latest.of(run)
    except NoSuchRun:
        st.rerun()  # the page says so


def _as_it_stood(record: Record) -> None:
    """Choose the end of a stage to look back to; what is chosen stands in the address."""
    at, run = back(), record.run.id
    names = {str(stage.index): _("after {name}", name=translated(stage.name)) for stage in record.stages}
    names[NOW] = _("now")
    chosen = st.selectbox(
        _("As it stood"),
        list(names),
        list(names).index(at) if at in names else len(names) - 1,
        format_func=names.__getitem__,
        key=f"at-{run}-{len(names)}",
        help=_("What stands here as it was at the end of any stage. Nothing of what came after is lost."),
        width=240,
    )
    if chosen != at:
        if chosen == NOW:
            st.query_params.pop("at", None)
        else:
            st.query_params["at"] = chosen
        st.rerun()  # other parts of the page are for now only
    if chosen != NOW:
        st.info(
            _("You look back: what stands below is how the run stood {names}.", names=literal(names[chosen])),
            icon=":material/history:",
        )
