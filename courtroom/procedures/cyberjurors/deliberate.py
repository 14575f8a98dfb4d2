"""Algorithm 1 of the paper (appendix B.1), read top to bottom."""

from collections.abc import Mapping
from itertools import count

from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.engine.court import Court
from courtroom.engine.events import Tallied, Verdict
from courtroom.engine.setup import Member
from courtroom.judging.first_ballot import BestReasons, seeded
from courtroom.judging.private_ballot import ask_alone
from courtroom.knowledge.indexed_records import ALL, Filter
from courtroom.knowledge.precedents import dispute_text, precedent_id
from courtroom.knowledge.search import Hit, Rank, Search
from courtroom.procedures.cyberjurors.examine import examine_all, examine_newcomers
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, juror_id, seat_of
from courtroom.procedures.cyberjurors.tasks import (
    Examination,
    Heard,
    Judge,
    JudgeAtOnce,
    JudgeInPrivate,
    Opinion,
    Summarise,
    Summary,
)

Hearing = Court[Dispute, CyberJurorsSetup]


async def deliberate(court: Hearing) -> Verdict:
    """Hear a dispute: examination, rounds of discussion over the follow-graph, majority vote.

    An examination does not depend on the round, so it is made once (lines 7 to 23 are the same in every round);
    neither does what is retrieved (lines 25, 26). A first ballot that was set decides nothing: a free round follows.
    """
    if court.setup.variant == "nearest-precedents":
        return await by_precedents(court)
    views = dict(await examine_all(court)) if court.setup.examines else {}
    memories = await recall(court)
    summary: Summary | None = None
    opinions: dict[str, Opinion] = {}
    begins = seeded(court, court.panel("juror"), court.setup.begins, SIDES)

    for number in count(1):
        await court.stage(f"Round {number}", "round")
        setup, jury, before = court.setup, court.panel("juror"), opinions
        views |= await examine_newcomers(court, views)
        given = await court.all(
            begin(court, juror, begins[juror.id])
            if number == 1 and juror.id in begins
            else judge(court, juror, number, views, memories, heard(court, juror, before), summary)
            for juror in jury
        )
        opinions = {juror.id: opinion for juror, opinion in zip(jury, given, strict=True) if opinion}
        tally = court.tally(SIDES, setup.consensus)
        if not setup.single:
            summary = await summarise(court, number, opinions, summary)
        if number == 1 and begins:
            continue
        if tally.consensus or setup.single or number >= setup.rounds:
            break

    await court.stage("Verdict", "verdict")
    return majority(tally, summary, opinions, setup.tie)


async def judge(
    court: Hearing,
    juror: Member,
    number: int,
    views: Mapping[str, Examination | None],
    memories: Mapping[str, tuple[str, ...]],
    others: tuple[Heard, ...],
    summary: Summary | None,
) -> Opinion | None:
    """Stage IV for one juror (Eq. 6); its vote is on record as soon as it is cast."""
    setup = court.setup
    rules = setup.rules if setup.ruled else ()
    view = views.get(juror.id)
    if setup.examines and view is None:
        court.vote(juror, None, ("It has no examination of the evidence to judge by.",))
        return None
    task = (
        JudgeAtOnce(case=court.case, rules=rules)
        if view is None
        else Judge(
            case=court.case,
            rules=rules,
            examination=view,
            seat=seat_of(juror),
            persona=juror.persona,
            memory=memories.get(juror.id, ()),
            heard=others,
            summary=summary,
            round=number,
            reasons_first=setup.reasons_first,
        )
    )
    opinion = await court.try_ask(juror, task)
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    await ask_alone(court, setup.private_ballots and not setup.single, juror, task, JudgeInPrivate)
    return opinion


async def begin(court: Hearing, juror: Member, side: str) -> Opinion | None:
    """The opinion of a juror who begins on a side: its best reasons for it."""
    given = await court.try_ask(juror, BestReasons(case=court.case, side=side, persona=juror.persona))
    opinion = Opinion.model_validate({"reasoning": given.reasons, "verdict": side}) if given else None
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    return opinion


def heard(court: Hearing, juror: Member, opinions: Mapping[str, Opinion]) -> tuple[Heard, ...]:
    """R_k,t: what the jurors whom this one follows said in the round before (Eq. 7)."""
    names = {member.id: member.name for member in court.panel("juror")}
    seat = seat_of(juror) - 1
    followed = [juror_id(j + 1) for j in sorted(j for k, j in court.setup.graph.edges or () if k == seat)]
    return tuple(
        Heard(name=names[other], verdict=opinions[other].verdict, reasoning=opinions[other].reasoning)
        for other in followed
        if other in opinions and other in names  # who has left since is not heard any more
    )


async def recall(court: Hearing) -> dict[str, tuple[str, ...]]:
    """M_k: norms of the closest precedents that have any (Eq. 8), of these the closest to each persona (Eq. 9)."""
    setup = court.setup
    if not setup.recalls:
        return {}
    await court.stage("Precedents", "precedents")
    norms = tuple(
        dict.fromkeys(norm for hit in await closest(court, Filter(with_norms=True)) for norm in hit.record["norms"])
    )

    async def memory(juror: Member) -> tuple[str, ...]:
        if not norms or juror.persona is None:
            return norms[: setup.norms]
        wanted = Rank(text=juror.persona.text(), candidates=norms, k=setup.norms)
        return tuple(str(hit.record["text"]) for hit in await court.retrieve(f"{juror.id}/norms", wanted))

    jury = court.panel("juror")
    memories = await court.all(memory(juror) for juror in jury)
    return {juror.id: norms or () for juror, norms in zip(jury, memories, strict=True)}


async def summarise(
    court: Hearing, number: int, opinions: Mapping[str, Opinion], before: Summary | None
) -> Summary | None:
    """S_t+1 from all jurors' reasons (Eq. 7); the earlier one stays where the clerk has no answer."""
    names = {juror.id: juror.name for juror in court.panel("juror")}
    said = tuple(
        Heard(name=names[i], verdict=opinion.verdict, reasoning=opinion.reasoning) for i, opinion in opinions.items()
    )
    task = Summarise(language=court.case.language, round=number, opinions=said, before=before)
    summary = await court.try_ask(court.member("clerk"), task)
    return summary or before


def majority(tally: Tallied, summary: Summary | None, opinions: Mapping[str, Opinion], tie: Side) -> Verdict:
    """The side with more votes in the last round (Eq. 10). A tie goes to the buyer there; `tie` is the setting."""
    buyer, seller = tally.counts["buyer"], tally.counts["seller"]
    outcome = tie if buyer == seller else "seller" if seller > buyer else "buyer"
    reasons = [reason for opinion in opinions.values() if opinion.verdict == outcome for reason in opinion.reasoning]
    return Verdict(
        outcome=outcome,
        counts=tally.counts,
        abstained=tally.abstained,
        summary=" ".join((summary.key_arguments, summary.prevailing_orientation)) if summary else " ".join(reasons[:3]),
        note=f"The vote is a tie; by this run's setting a tie goes to the {tie}." if buyer == seller else "",
        details=summary.model_dump(mode="json") if summary else {},
    )


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
