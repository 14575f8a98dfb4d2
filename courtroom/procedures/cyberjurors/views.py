"""What only CyberJurors can show: precedents and norms, the collective summary, the examination."""

from courtroom import Card, Cards, Rank, Record, Search, Table, Text
from courtroom.engine.events import Called
from courtroom.judging.views import Shown


def precedents(record: Record) -> Shown:
    """What was looked up, and which norms each juror was given."""
    cards, rows = [], []
    for hit in (hit for one in record.retrievals if isinstance(one.query, Search) for hit in one.hits):
        votes = f"buyer {hit.record['buyer_votes']}, seller {hit.record['seller_votes']}"
        facts = (("Similarity", f"{hit.similarity:.2f}"), ("Votes", votes), ("Category", str(hit.record["category"])))
        title, body, kept = str(hit.record["title"]), str(hit.record["dispute"]), tuple(hit.record["norms"])
        cards.append(Card(title=title, body=body, facts=facts, items=kept, share=max(0.0, hit.similarity)))
    for retrieval in record.retrievals:
        if isinstance(retrieval.query, Rank):
            member = record.member(retrieval.path.split("/")[1])
            rows += [(member.name if member else "", str(h.record["text"]), h.similarity) for h in retrieval.hits]
    columns = ("Juror", "Norm it was given", "Similarity to its persona")
    norms = Table(columns, tuple(rows), title="Norms by juror", shares=columns[2:], empty="No norms were given.")
    found = Cards(tuple(cards), title="Closest precedents", empty="No precedent was looked up in this run.")
    return {"": [found, norms]}


SECTIONS = {
    "key_arguments": "Arguments and points of view",
    "debate_intensity": "How heated the debate is",
    "prevailing_orientation": "Where the jury leans",
}


def summaries(record: Record) -> Shown:
    shown: Shown = {}
    for call in record.calls:
        if call.task == "summarise" and call.value:
            shown[record.stage(call.stage).name] = [
                Text(str(call.value[section]), title) for section, title in SECTIONS.items() if call.value[section]
            ]
    return shown or {"": [Text("The clerk sums up after the first round.")]}


def piece_of(record: Record, call: Called) -> str:
    """The piece that a perception is of: what was selected before it or, where it was the last one, what was left."""
    before, task, turn = call.path.rpartition("perceive-")
    if not task:
        return ""
    side, _, number = turn.partition("-")
    picked = [record.call(f"{before}select-{side}-{earlier}") for earlier in range(1, int(number) + 1)]
    names = [str(one.value["selected_evidence_id"]) for one in picked if one and one.value]
    left = (name for name, _ in record.case.parts() if name.startswith(f"{side}-") and name not in names)
    return names[-1] if picked[-1] and picked[-1].value else next(left, "")


def examination(record: Record) -> Shown:
    """Which pieces were looked at, in which order, and what they were found to be worth."""
    rows: list[tuple[str | int, ...]] = []
    for call in record.calls:
        if call.task == "perceive" and call.value:
            side, _, turn = call.path.rsplit("/", 1)[1].removeprefix("perceive-").partition("-")
            piece = piece_of(record, call)
            sufficient = "yes" if call.value["is_sufficient"] else "no"
            findings = (
                f"{one['description']} {one.get('benefit_analysis', '')}" for one in call.value["visual_findings"]
            )
            told = "\n• ".join((str(call.value["evidence_summary"]), *map(str.strip, findings)))
            found = str(call.value["support_strength"]), sufficient, told
            rows.append((record.name_of(call.member), side, int(turn), piece, *found))
    columns = ("Examined by", "Side", "Turn", "Piece", "Support", "Sufficient", "What was found")
    return {"": [Table(columns, tuple(rows), empty="Nothing has been looked at yet.")]}
