"""The closest precedents: looked up for the jury (Eq. 8), or deciding by themselves, as a baseline without a model."""

from __future__ import annotations

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.knowledge.precedents import dispute_text, precedent_id
from courtroom.knowledge.search import Hit, Search
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup

Hearing = Court[Dispute, CyberJurorsSetup]


async def closest(court: Hearing) -> list[Hit]:
    """The precedents most similar to the dispute, best first.

    A precedent that was made from this very dispute is left out: it would give the real jury's verdict away.
    """
    case = court.case
    text, itself = dispute_text(case), (case.id, precedent_id(case))
    query = Search(collection="precedents", text=text, k=court.setup.precedents, exclude=itself)
    hits = await court.retrieve("precedents", query)
    return [hit for hit in hits if hit.record["dispute"] != query.text]  # nor a copy of it under another id


async def by_precedents(court: Hearing) -> Verdict:
    """The side that the real juries of the closest precedents gave more votes (nearest neighbours, Cover and Hart, 1967)."""
    await court.stage("Precedents", "precedents")
    hits = await closest(court) if court.setup.precedents else []
    await court.stage("Verdict", "verdict")
    court.needs(len(hits), max(1, court.setup.precedents), "precedents could be found")
    counts = {side: sum(int(hit.record[f"{side}_votes"]) for hit in hits) for side in SIDES}
    tied = counts["buyer"] == counts["seller"]
    side = court.setup.tie if tied else max(SIDES, key=counts.__getitem__)
    summary = f"The real juries of {len(hits)} close precedents gave the buyer {counts['buyer']} votes and the seller {counts['seller']}."
    (seat,) = court.panel("juror")
    court.vote(seat, side, (summary, *(str(hit.record["title"]) for hit in hits[:3])))
    court.tally(SIDES, court.setup.consensus)
    note = f"These votes are a tie; by this run's setting a tie goes to the {side}." if tied else ""
    return Verdict(outcome=side, counts=counts, summary=summary, note=note)
