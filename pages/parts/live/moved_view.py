"""What moved it: changes of sides with what was heard; what is not in the case; each seat's view; who heard whom."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence

import plotly.graph_objects as go
import streamlit as st

from courtroom import Choice, Courthouse, Procedure, Record
from courtroom.declarations.blocks import Edge, Graph, Marked, Node, Span, Table, runs
from courtroom.engine.events import Replied, Voted
from courtroom.evaluation.calibration import forecasts
from courtroom.evaluation.claims import Claim, Way, statement, way
from courtroom.evaluation.movement import Heard, Movement, SeatVote, movement
from courtroom.figures.graph import draw_graph, draw_sureness
from courtroom.language import N_, _, translated
from courtroom.models.beside import REST
from pages.parts.live.questions_view import audit_view, check_view, interview_view
from pages.parts.shared.blocks_view import block_view, choice_html, reliability_view
from pages.parts.shared.shown import escaped, html_of, literal, many, one_of, theme

GRAPH_HEIGHT_PX = 560
ROLES = (
    Choice("said", N_("said it first"), 1, "star", "★"),
    Choice("denied", N_("said that it is not in the case"), 0, "diamond", "◆"),
    Choice("spoke", N_("spoke of it too"), 3, "square", "■"),
    Choice("heard", N_("was shown it, and not that it is not in the case"), 1, "circle", "●"),
    Choice("heard-both", N_("was shown both"), 2, "circle", "●"),
    Choice("heard-denial", N_("was shown only that it is not in the case"), 0, "circle", "●"),
    Choice("heard-neither", N_("was shown neither"), 4, "circle-open", "○"),
)


def moved_view(house: Courthouse, procedure: Procedure, record: Record) -> None:
    if len(record.ballots) < 2 or not record.votes_move:
        st.info(_("Nobody has voted twice on the same question yet, so nobody can have moved."))
        return
    view = _MovedView(house, procedure, record)
    view.summary()
    for number, change in enumerate(view.moved.changes):
        with st.container(border=True, key=f"change-{number}"):
            view.change(change)
    view.all_claims()
    _sureness(procedure, record)
    _pieces(procedure, record)
    st.subheader(_("From each seat"))
    block_view(_seats(procedure, view.moved), procedure, key=f"seats-{record.run.id}")
    st.subheader(_("Who heard whom"))
    view.ballot_graph()


class _MovedView:
    """What the parts of the page have in common."""

    def __init__(self, house: Courthouse, procedure: Procedure, record: Record) -> None:
        self._house, self._procedure, self._record = house, procedure, record
        self.moved = movement(record, procedure, house.answers.of(record.run))
        self._claims = house.checks.of(record)

    def summary(self) -> None:
        moved, again = self.moved, self.moved.asked_again
        changed = {one.vote.member for one in moved.changes}
        values = {"changes": many(len(moved.changes), "change"), "members": len(changed), "voters": len(moved.voters)}
        told = _("**{changes} of sides, by {members} of {voters}.**", **values)
        st.markdown(told if moved.changes else _("**Nobody changed sides.**"))
        findings = (
            (_("Never heard a reason against their own side"), moved.never_heard_other_side),
            (_("Heard nobody"), [one for one in again if not any(seen.heard for seen in moved.of(one))]),
            (_("Heard by nobody"), [one for one in again if not moved.hearers(one)]),
        )
        for title, members in findings:
            if members:
                st.markdown(f"{title}: {literal(', '.join(member.name for member in members))}")
        st.caption(_("Read off the questions on record: who heard another was shown the other's words, not a summary."))

    def change(self, change: SeatVote) -> None:
        vote, call, record = change.vote, change.call, self._record
        before, after = choice_html(self._procedure, vote.before), choice_html(self._procedure, vote.choice)
        name = escaped(record.name_of(vote.member))
        st.html(f"<b>{name}</b> · {escaped(record.ballot_name(vote.ballot))} · {before} → {after}")
        st.html(html_of("marked", parts=self._marked(vote), choices={}))
        for act in record.interventions:
            if act.index == record.stage(vote.stage).index:
                done = act.described(type(record.setup))
                st.caption(_("Before this round {who} {done}.", who=literal(act.who), done=literal(done)))
        for reply in record.of(Replied):
            if reply.stage == vote.stage:
                st.caption(_("Before this round the court replied: “{reply}”", reply=literal(reply.text)))
        if change.heard:
            self._heard((record.name_of(one.vote.member), one) for one in change.heard)
        else:
            st.caption(_("No other member's words stood in its question."))
        if call is None or not call.keys:
            st.caption(_("A person gave this vote."))
        elif st.toggle(_("Why? An audit, and a question of your own"), key=f"why-{call.path}"):
            audit_view(self._house, record, call, place="moved")
            interview_view(self._house, record, call, place="moved")

    def all_claims(self) -> None:
        st.subheader(_("Not in the case"))
        about = _(
            "Marked by two rules: a number with a unit, in digits, that nobody was given; and what another member who was shown it says is not in the case. What nobody puts right and has no number takes a model."
        )
        st.caption(about)
        if not self._claims:
            st.markdown(_("**Nothing is marked.**"))
        for number, claim in enumerate(self._claims):
            with st.container(border=True, key=f"claim-{number}"):
                self._claim(claim, f"{self._record.run.id}-{claim.vote.path}-{number}")
        check_view(self._house, self._record)

    def _claim(self, claim: Claim, key: str) -> None:
        record, went = self._record, way(self.moved, claim)
        name, ballot = record.name_of(claim.vote.member), record.ballot_name(claim.vote.ballot)
        parts, roles = self._marked(claim.vote), list(_parts(record, claim, went))
        st.html(html_of("claim", claim=claim, name=name, ballot=ballot, parts=parts, roles=roles))
        if went.put_right and went.author_heard:
            st.markdown(_("{name} was shown that it is not in the case.", name=literal(name)))
        elif went.put_right:
            st.markdown(_("**{name} was never shown that it is not in the case.**", name=literal(name)))
        if st.toggle(_("Draw its way"), value=bool(went.put_right), key=f"way-{key}"):
            spoke = (claim.vote, *went.spoke_of_it, *went.put_right)
            ways = {pair: [one for one in said if one.vote in spoke] for pair, said in self.moved.heard().items()}
            nodes = tuple(Node(one.id, one.name, went.roles.get(one.id), 0.1) for one in self.moved.voters)
            edges = tuple(Edge(*pair, strong=bool(said)) for pair, said in ways.items())
            figure = draw_graph(Graph(nodes, edges), ROLES, theme(), GRAPH_HEIGHT_PX)
            figure.update_layout(showlegend=False)  # the list above has the same marks, and room on a phone
            st.caption(_("Strong arrows go to those whose words on it a member was shown. Click a seat or an arrow."))
            self._went_along(figure, f"way-graph-{key}", ways)

    def ballot_graph(self) -> None:
        """Who heard whom before a ballot that the reader chooses, at first the one in which most changed sides."""
        record, ballots = self._record, list(self._record.ballots)[1:]
        moves = Counter(change.vote.ballot for change in self.moved.changes)
        first = max(ballots, key=lambda ballot: moves[ballot])
        ballot = one_of(_("Round"), ballots, f"heard-{record.run.id}-{len(ballots)}", first, record.ballot_name)
        text = _(
            "Arrows go from a member to those whose words it was shown; a strong one to a side that it came over to."
        )
        st.caption(text + " " + _("Click a seat or an arrow."))
        ways, votes = self.moved.heard(ballot), record.ballots[ballot]
        hearing, heard_by = (Counter(pair[end] for pair in ways) for end in (0, 1))
        came_over = {member: vote.choice for member, vote in votes.items() if vote.changed}
        nodes = []
        for member in self.moved.voters:
            vote, by = votes.get(member.id), heard_by[member.id]
            detail = _("heard {heard}, heard by {by}", heard=hearing[member.id], by=by)
            choice, size = vote.choice if vote else None, by / len(self.moved.voters)
            nodes.append(Node(member.id, member.name, choice, size, changed=member.id in came_over, detail=detail))
        sides = {way: {one.vote.choice for one in said} - {None} for way, said in ways.items()}
        edges = (Edge(*way, came_over.get(way[0]) in sides[way]) for way in ways)
        figure = draw_graph(Graph(tuple(nodes), tuple(edges)), self._procedure.choices, theme(), GRAPH_HEIGHT_PX)
        self._went_along(figure, f"heard-graph-{record.run.id}-{ballot}", ways)

    def _went_along(self, figure: go.Figure, key: str, ways: Mapping[tuple[str, str], Sequence[Heard]]) -> None:
        """Draw who heard whom; a click shows what went along there. `ways`: what was heard, by hearer and speaker."""
        picked = st.plotly_chart(figure, key=key, on_select="rerun", selection_mode="points")
        chosen = next((str(point["customdata"]) for point in picked.selection.points if point.get("customdata")), "")
        hearer, __, speaker = chosen.partition(" ")
        if not chosen:
            return
        name_of = self._record.name_of
        st.markdown(" → ".join(f"**{literal(name_of(member))}**" for member in (hearer, speaker) if member))
        for title, end in ((_("Heard"), 0), (_("Was heard by"), 1)):
            shown = (way for way in ways if way[end] == hearer and (not speaker or way == (hearer, speaker)))
            if told := [(name_of(way[1 - end]), one) for way in shown for one in ways[way]]:
                st.caption(title)
                self._heard(told)

    def _heard(self, heard: Iterable[tuple[str, Heard]]) -> None:
        """Statements, each with whose name is to stand before it; their words open at a click."""
        choices = {choice.name: choice for choice in self._procedure.choices}
        claimed = {claim.vote.path for claim in self._claims}
        told = {"heard": list(heard), "ballot_name": self._record.ballot_name, "marked": self._marked}
        st.html(html_of("heard", choices=choices, claimed=claimed, **told))

    def _marked(self, vote: Voted) -> list[tuple[str, Span | None]]:
        """A statement in stretches; those with a span are not in the case."""
        said, words = statement(vote), [claim.words for claim in self._claims if claim.vote == vote]
        starts = ((said.find(one), len(one)) for one in words)
        marks = (Span(at, at + long, note=N_("not in the case")) for at, long in starts if at >= 0)
        return list(runs(Marked(said if words else translated(said), tuple(marks))))


def _parts(record: Record, claim: Claim, went: Way) -> Iterator[tuple[Choice, str]]:
    """Who had which part in a claim's way, in words."""
    spoke = {vote.member: vote for vote in (*reversed(went.spoke_of_it), *reversed(went.put_right), claim.vote)}
    said_in = {member: f" ({translated(record.ballot_name(vote.ballot))})" for member, vote in spoke.items()}
    for role in ROLES:
        members = [member for member, mine in went.roles.items() if mine == role.name]
        if members:
            yield role, ", ".join(f"{record.name_of(member)}{said_in.get(member, '')}" for member in members)


def _sureness(procedure: Procedure, record: Record) -> None:
    if not any(vote.confidence is not None for vote in record.of(Voted)):
        return
    st.subheader(_("How sure are they?"))
    st.plotly_chart(draw_sureness(record, procedure.choices, theme()), key=f"sureness-{record.run.id}")
    about = _(
        "As each says of its own vote, from 0 (it could as well be otherwise) to 100 (certain). Nobody else was told."
    )
    st.caption(about)
    last = list(record.ballots.values())[-1].values()
    if given := forecasts(record.case, [(vote.choice, vote.confidence) for vote in last]):
        st.subheader(_("Are they as sure as they are right?"))
        reliability_view({record.case.votes_title: given}, key=record.run.id)


def _pieces(procedure: Procedure, record: Record) -> None:
    """Which pieces of the case carried votes: for each ballot, how many members rested a vote for what on it."""
    if not any(vote.rests_on for vote in record.of(Voted)):
        return
    st.subheader(_("What do votes rest on?"))
    texts = dict(record.case.parts())
    told = {**texts, REST[0]: _("what else is known of the case")}
    cast = [vote for votes in record.ballots.values() for vote in votes.values() if vote.choice]
    counts = Counter((piece, vote.ballot, vote.choice) for vote in cast for piece in vote.rests_on)
    used = dict.fromkeys(piece for piece, _ballot, _choice in counts)

    def cell(piece: str, ballot: str) -> str:
        each = ((choice.mark, counts[piece, ballot, choice.name]) for choice in procedure.choices)
        return "  ".join(f"{mark} {number}" for mark, number in each if number) or "–"

    rows = ((f"{one}: {told.get(one, '')}", *(cell(one, ballot) for ballot in record.ballots)) for one in texts | used)
    columns = (_("Piece"), *map(record.ballot_name, record.ballots))
    block_view(Table(columns, tuple(rows)), procedure, key=f"pieces-{record.run.id}")
    sides = ", ".join(f"{choice.mark} {translated(choice.title)}" for choice in procedure.choices)
    st.caption(_("So many members rest a vote on the piece: {sides}.", sides=literal(sides)))
    if unused := [one for one in texts if one not in used]:
        st.caption(_("No vote rests on: {pieces}.", pieces=literal(", ".join(unused))))


def _seats(procedure: Procedure, moved: Movement) -> Table:
    """Of those whose words each member was shown before its last vote, how many were for what; and who could not hear it."""
    titles = {choice.name: translated(choice.title) for choice in procedure.choices}
    heard = [_("last heard for {choice}", choice=title) for title in titles.values()]
    columns = (N_("member"), N_("first vote"), N_("last vote"), *heard, N_("heard by"), N_("not heard by"))
    rows = []
    for member in moved.voters:
        if not (seen := moved.of(member)):
            continue
        votes = (titles.get(one.vote.choice or "", _("abstained")) for one in (seen[0], seen[-1]))
        sides, hearers = seen[-1].sides(), moved.hearers(member)
        others = [(one.name, one.id in hearers) for one in moved.voters if one.id != member.id]
        by = (", ".join(name for name, hears in others if hears is wanted) or "–" for wanted in (True, False))
        rows.append((member.name, *votes, *(str(sides[name]) for name in titles), *by))
    return Table(columns, tuple(rows))
