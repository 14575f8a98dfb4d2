"""The precedents that are closest to a dispute, and the baseline that counts their votes."""

from courtroom.cases.dispute import SIDES
from courtroom.engine.events import Verdict
from courtroom.knowledge.bases import dispute_text, precedent_id
from courtroom.knowledge.index import ALL, Filter
from courtroom.knowledge.search import Hit, Search
from courtroom.procedures.cyberjurors.evidence import Hearing


async def closest(court: Hearing, only: Filter = ALL) -> list[Hit]:
    """The precedents most similar to the dispute, best first. A precedent that was made from this very dispute, and a copy of it
    under another id, is left out: it would give the verdict on record away. `only`: which precedents may be found."""
    case = court.case
    query = Search(
        collection="precedents",
        text=dispute_text(case),
        k=court.setup.precedents,
        exclude=(case.id, precedent_id(case)),
        only=only,
        base=court.setup.base,
        itself=False,
    )
    return list(await court.retrieve("precedents", query))


async def by_precedents(court: Hearing) -> Verdict:
    """The side that got more of the votes on record of the closest precedents (nearest neighbours, Cover and Hart, 1967)."""
    await court.stage("Precedents", "precedents")
    hits = await closest(court) if court.setup.precedents else []
    await court.stage("Verdict", "verdict")
    court.needs(len(hits), max(1, court.setup.precedents), "precedents could be found")
    counts = {side: sum(int(hit.record[f"{side}_votes"]) for hit in hits) for side in SIDES}
    tied = counts["buyer"] == counts["seller"]
    side = court.setup.tie if tied else max(SIDES, key=counts.__getitem__)
    summary = (
        f"The votes on record of {len(hits)} close precedents: buyer {counts['buyer']}, seller {counts['seller']}."
    )
    (seat,) = court.panel("juror")
    court.vote(seat, side, (summary, *(str(hit.record["title"]) for hit in hits[:3])))
    court.tally(SIDES, court.setup.consensus)
    note = f"These votes are a tie; by this run's setting a tie goes to the {side}." if tied else ""
    return Verdict(outcome=side, counts=counts, summary=summary, note=note)
