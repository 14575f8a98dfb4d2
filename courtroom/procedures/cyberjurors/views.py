"""What only CyberJurors can show: the follow-graph, precedents and norms, the collective summary, the examination."""

from courtroom.engine.blocks import Card, Cards, Edge, Graph, Node, Table, Text
from courtroom.engine.procedure import View
from courtroom.engine.record import Record
from courtroom.judging.views import Shown
from courtroom.knowledge.search import Rank, Search
from courtroom.panel.follow_graph import influence
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, seat_of


def follow_graph(record: Record) -> Shown:
    """Who follows whom, by round; strong where a juror changed to the side that the followed one had taken."""
    assert isinstance(record.setup, CyberJurorsSetup)
    jurors = [member for member in record.members if member.role == "juror"]
    seats = {seat_of(juror) - 1: place for place, juror in enumerate(jurors)}
    edges = [(seats[k], seats[j]) for k, j in record.setup.graph.edges or () if k in seats and j in seats]
    rank = influence(len(jurors), edges)
    ballots = list(record.ballots)
    shown: Shown = {}
    for number, ballot in enumerate(ballots or [""]):
        votes = record.ballots.get(ballot, {})
        before = record.ballots[ballots[number - 1]] if number else {}

        def followed_them(k: int, j: int) -> bool:
            mine, theirs = votes.get(jurors[k].id), before.get(jurors[j].id)  # noqa: B023
            return bool(mine and mine.changed and theirs and theirs.choice == mine.choice)

        strong = [(k, j) for k, j in edges if followed_them(k, j)]
        nodes = tuple(
            Node(
                id=juror.id,
                label=juror.name,
                choice=votes[juror.id].choice if juror.id in votes else None,
                size=rank[seat],
                changed=juror.id in votes and votes[juror.id].changed,
                detail=f"follows {sum(k == seat for k, _ in edges)}, followed by {sum(j == seat for _, j in edges)}",
            )
            for seat, juror in enumerate(jurors)
        )
        lines = [f"{jurors[k].name} came over to the side of {jurors[j].name}." for k, j in strong]
        none = "Nobody has changed sides along a follow in this round." if ballot else "No votes yet."
        drawn = tuple(Edge(jurors[k].id, jurors[j].id, (k, j) in strong) for k, j in edges)
        graph = Graph(nodes, drawn, caption=" ".join(lines) or none)
        shown[record.stage(ballot).name if ballot else ""] = [graph]
    return shown


def precedents(record: Record) -> Shown:
    """What was looked up, and which norms each juror was given."""
    cards = tuple(
        Card(
            title=str(hit.record["title"]),
            body=str(hit.record["dispute"]),
            facts=(
                ("Similarity", f"{hit.similarity:.2f}"),
                ("Votes", f"buyer {hit.record['buyer_votes']}, seller {hit.record['seller_votes']}"),
                ("Category", str(hit.record["category"])),
            ),
            items=tuple(hit.record["norms"]),
            share=max(0.0, hit.similarity),
        )
        for retrieval in record.retrievals
        for hit in retrieval.hits
        if isinstance(retrieval.query, Search)
    )
    rows = []
    for retrieval in record.retrievals:
        if isinstance(retrieval.query, Rank):
            member = record.member(retrieval.path.split("/")[1])
            rows += [(member.name if member else "", str(h.record["text"]), h.similarity) for h in retrieval.hits]
    columns = ("Juror", "Norm it was given", "Similarity to its persona")
    norms = Table(columns, tuple(rows), title="Norms by juror", shares=columns[2:], empty="No norms were given.")
    return {"": [Cards(cards, title="Closest precedents", empty="No precedent was looked up in this run."), norms]}


def summaries(record: Record) -> Shown:
    shown: Shown = {}
    for call in record.calls:
        if call.task == "summarise" and call.value:
            shown[record.stage(call.stage).name] = [
                Text(str(call.value["key_arguments"]), "Arguments and points of view"),
                Text(str(call.value["debate_intensity"]), "How heated the debate is"),
                Text(str(call.value["prevailing_orientation"]), "Where the jury leans"),
            ]
    return shown or {"": [Text("The clerk sums up after the first round.")]}


def examination(record: Record) -> Shown:
    """Which pieces were looked at, in which order, and what they were found to be worth."""
    rows: list[tuple[str | int, ...]] = []
    for call in record.calls:
        if call.task == "perceive" and call.value:
            side, _, turn = call.path.rsplit("/", 1)[1].removeprefix("perceive-").partition("-")
            member = record.member(call.member)
            chosen = record.call(call.path.replace("/perceive-", "/select-"))
            seen = {row[3] for row in rows if row[1] == side and row[0] == (member.name if member else call.member)}
            left = [name for name, _ in record.case.parts() if name.startswith(f"{side}-") and name not in seen]
            piece = str(chosen.value["selected_evidence_id"]) if chosen and chosen.value else left[0] if left else ""
            sufficient = "yes" if call.value["is_sufficient"] else "no"
            found = str(call.value["support_strength"]), sufficient, str(call.value["evidence_summary"])
            rows.append((member.name if member else call.member, side, int(turn), piece, *found))
    columns = ("Examined by", "Side", "Turn", "Piece", "Support", "Sufficient", "What was found")
    return {"": [Table(columns, tuple(rows), empty="Nothing has been looked at yet.")]}


VIEWS = (
    View(
        "graph", "Follow-graph", ":material/hub:",
        "Arrows go from a juror to those it follows. Colour and shape show the vote, size the influence (PageRank), a ring "
        "a change of sides; a strong arrow leads to a followed juror whose side was taken over.",
        follow_graph,
    ),
    View("precedents", "Precedents", ":material/auto_stories:", "Earlier verdicts closest to this dispute, and the norms that each juror was given.", precedents),
    View("summary", "Summary", ":material/summarize:", "The clerk's collective summary after each round.", summaries),
    View("evidence", "Evidence", ":material/search:", "Which evidence was selected, in which order, and what was found in it.", examination),
)  # fmt: skip
