"""Algorithm 1 of the paper (appendix B.1), from line 5 on; stages I to III stand in `evidence.py`. What CyberJurors declares of itself."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import count
from typing import Any

from courtroom import Counting, Hit, Member, Procedure, Rank, Search, Tallied, Verdict
from courtroom.cases.dispute import SIDES, Dispute, Side
from courtroom.judging import jurors
from courtroom.knowledge.bases import dispute_text, precedent_id
from courtroom.knowledge.index import ALL, Filter
from courtroom.procedures.cyberjurors import offline, tasks
from courtroom.procedures.cyberjurors.evidence import Hearing, says_more, told_rules, unexamined
from courtroom.procedures.cyberjurors.eyes import Views, examine_again, examine_all, examine_newcomers
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, juror_id, members, without_one
from courtroom.procedures.cyberjurors.views import examination, piece_of, precedents, summaries
from courtroom.procedures.declared import declared


@dataclass(frozen=True)
class Round:
    """What a round of discussion begins with."""

    number: int
    views: Views
    memories: Mapping[str, tuple[str, ...]]
    opinions: Mapping[str, tasks.Opinion]
    """Of the round before, by the juror."""
    summary: tasks.Summary | None
    said: Mapping[str, tuple[jurors.Earlier, ...]]
    """What each juror said in earlier rounds."""
    counts: Mapping[str, int]
    new: tuple[str, ...]
    """Ids of the pieces that came in since the round before."""


async def deliberate(court: Hearing) -> Verdict:
    """Hear a dispute: examination, rounds of discussion over the follow-graph, majority vote.

    An examination does not depend on the round, so it is made once (lines 7 to 23 are the same in every round);
    neither does what is retrieved (lines 25, 26). A first ballot that was set decides nothing: a free round follows.
    """
    if court.setup.variant == "nearest-precedents":
        return await by_precedents(court)
    views = dict(await examine_all(court)) if court.setup.examines_evidence else {}
    memories = await recall(court)
    summary: tasks.Summary | None = None
    opinions: dict[str, tasks.Opinion] = {}
    said: dict[str, tuple[jurors.Earlier, ...]] = {}
    counts: dict[str, int] = {}
    begins = jurors.seeded(court, court.panel("juror"), court.setup.begins, SIDES)
    known: tuple[str, ...] = ()

    for number in count(1):
        await court.stage(f"Round {number}", "round")
        setup, jury = court.setup, court.panel("juror")
        late = tuple(piece.id for piece in court.case.evidence if piece.late)
        new, known = tuple(name for name in late if number > 1 and name not in known), late
        views |= await examine_newcomers(court, views)
        if number > 1 and setup.examines_evidence:
            views |= await examine_again(court, views)
        now = Round(number, views, memories, opinions, summary, dict(said), counts, new)
        sides = begins if number == 1 else {}
        given = await court.all(
            begin(court, juror, sides[juror.id]) if juror.id in sides else judge(court, juror, now) for juror in jury
        )
        opinions = {juror.id: opinion for juror, opinion in zip(jury, given, strict=True) if opinion}
        for name, opinion in opinions.items():
            words = "\n".join(opinion.reasoning)
            mine = jurors.Earlier(round=number, vote=opinion.verdict, words=words, by_lot=name in sides)
            said[name] = (*said.get(name, ()), mine)
        tally = court.tally(SIDES, setup.consensus)
        counts = dict(tally.counts)
        ended = (tally.consensus or setup.single or number >= setup.rounds) and not (number == 1 and begins)
        if not setup.single:
            summary = await summarise(court, now, opinions, ended=ended)
        if ended:
            break

    await court.stage("Verdict", "verdict")
    return majority(tally, summary, opinions, setup.tie)


async def judge(court: Hearing, juror: Member, now: Round) -> tasks.Opinion | None:
    """Stage IV for one juror (Eq. 6); its vote is on record as soon as it is cast."""
    setup, others = court.setup, heard(court, juror, now.opinions)
    view, plain = now.views.get(juror.id), says_more(court)
    rules = tasks.ruled(setup.rules if setup.ruled else (), read=plain)
    task: tasks.JudgeAtOnce | tasks.Judge = tasks.JudgeAtOnce(case=court.case, rules=rules)
    if view is not None:
        task = tasks.Judge(
            case=court.case,
            rules=rules,
            examination=view,
            unexamined=unexamined(court, view.buyer, view.seller),
            seat=juror.seat,
            persona=juror.persona,
            memory=now.memories.get(juror.id, ()),
            heard=others,
            summary=now.summary,
            new=now.new,
            round=now.number,
            own=jurors.recalled(now.said.get(juror.id, ()), setup.recall, juror.spec.room),
            counts=jurors.seen_count(setup.count_seen, now.counts, [one.verdict for one in others]),
            others=len(court.panel("juror")) - 1 if plain and now.number > 1 else 0,
            rounds=setup.rounds if plain and setup.rounds > 1 else 0,
            reasons_first=setup.reasons_first,
        )
    elif setup.examines_evidence:
        court.vote(juror, None, ("It has no examination of the evidence to judge by.",))
        return None
    opinion = await court.try_ask(juror, task)
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    await jurors.ask_alone(court, setup.private_ballots and not setup.single, juror, task)
    return opinion


async def begin(court: Hearing, juror: Member, side: str) -> tasks.Opinion | None:
    """The opinion of a juror who begins on a side: its best reasons for it."""
    given = await court.try_ask(juror, jurors.BestReasons(case=court.case, side=side, persona=juror.persona))
    opinion = tasks.Opinion.model_validate({"reasoning": given.reasons, "verdict": side}) if given else None
    court.vote(juror, opinion.verdict if opinion else None, opinion.reasoning if opinion else ())
    return opinion


def heard(court: Hearing, juror: Member, opinions: Mapping[str, tasks.Opinion]) -> tuple[tasks.Heard, ...]:
    """R_k,t: what the jurors whom this one follows said in the round before (Eq. 7)."""
    names = {member.id: member.name for member in court.panel("juror")}
    followed = [juror_id(j + 1) for j in sorted(j for k, j in court.setup.graph.edges or () if k == juror.seat - 1)]
    return tuple(
        tasks.Heard(name=names[other], verdict=opinions[other].verdict, reasoning=opinions[other].reasoning)
        for other in followed
        if other in opinions and other in names  # who has left since is not heard any more
    )


async def recall(court: Hearing) -> dict[str, tuple[str, ...]]:
    """M_k: norms of the closest precedents that have any (Eq. 8), of these the closest to each persona (Eq. 9)."""
    setup = court.setup
    if not setup.recalls:
        return {}
    await court.stage("Precedents", "precedents")
    hits = await closest(court, Filter(with_norms=True))
    norms = tuple(dict.fromkeys(norm for hit in hits for norm in hit.record["norms"]))

    async def memory(juror: Member) -> tuple[str, ...]:
        if not norms or juror.persona is None:
            return norms[: setup.norms]
        wanted = Rank(text=juror.persona.text(), candidates=norms, k=setup.norms)
        return tuple(str(hit.record["text"]) for hit in await court.retrieve(f"{juror.id}/norms", wanted))

    jury = court.panel("juror")
    memories = await court.all(memory(juror) for juror in jury)
    return {juror.id: norms or () for juror, norms in zip(jury, memories, strict=True)}


async def summarise(
    court: Hearing, now: Round, opinions: Mapping[str, tasks.Opinion], *, ended: bool
) -> tasks.Summary | None:
    """S_t+1 from all jurors' reasons (Eq. 7); the earlier one stays where the clerk has no answer."""
    names = {juror.id: juror.name for juror in court.panel("juror")}
    said = tuple(
        tasks.Heard(name=names[i], verdict=opinion.verdict, reasoning=opinion.reasoning)
        for i, opinion in opinions.items()
    )
    plain, voted_again = says_more(court), [i for i in opinions if i in now.opinions]
    shared = next(iter(now.views.values()), None) if plain and court.setup.examination == "shared" else None
    # A clerk that may not tell the count writes as if each saw a part.
    may_tell = court.setup.count_seen != "nobody" or court.setup.clerk_counts
    whose: jurors.CountSeen = court.setup.count_seen if may_tell else "heard"
    task = tasks.Summarise(
        language=court.case.language,
        round=now.number,
        opinions=said,
        before=now.summary,
        new=now.new,
        moved=tuple(names[i] for i in voted_again if plain and opinions[i].verdict != now.opinions[i].verdict),
        rules=told_rules(court),
        evidence=tuple(piece for piece in court.case.evidence if plain and not piece.late),
        examination=shared,
        norms=tuple(dict.fromkeys(norm for norms in now.memories.values() if plain for norm in norms)),
        ended=ended and plain,
        count_seen="nobody" if ended else whose,
    )
    summary = await court.try_ask(court.member("clerk"), task)
    return summary or now.summary


async def closest(court: Hearing, only: Filter = ALL) -> list[Hit]:
    """The precedents most similar to the dispute, best first. A precedent that was made from this very dispute, and a copy of it
    under another id, is left out: it would give the verdict on record away. `only`: which precedents may be found."""
    case, own = court.case, (court.case.id, precedent_id(court.case))
    where: dict[str, Any] = {"collection": "precedents", "base": court.setup.base, "k": court.setup.precedents}
    query = Search(**where, text=dispute_text(case), exclude=own, only=only, itself=False)
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


def majority(
    tally: Tallied, summary: tasks.Summary | None, opinions: Mapping[str, tasks.Opinion], tie: Side
) -> Verdict:
    """The side with more votes in the last round (Eq. 10). A tie goes to the buyer there; `tie` is the setting."""
    buyer, seller = tally.counts["buyer"], tally.counts["seller"]
    outcome = tie if buyer == seller else "seller" if seller > buyer else "buyer"
    reasons = [reason for opinion in opinions.values() if opinion.verdict == outcome for reason in opinion.reasoning]
    told = " ".join(reasons[:3])
    if summary:
        parts = summary.prevailing_orientation, summary.key_arguments, summary.debate_intensity
        told = "\n\n".join(filter(None, parts))
    note = f"The vote is a tie; by this run's setting a tie goes to the {tie}." if buyer == seller else ""
    more = summary.model_dump(mode="json") if summary else {}
    counts, abstained = tally.counts, tally.abstained
    return Verdict(outcome=outcome, counts=counts, abstained=abstained, summary=told, note=note, details=more)


def at_most(case: Dispute, setup: CyberJurorsSetup) -> int:
    """Upper bound on the calls: examinations, then a verdict a juror and a summary in each round."""
    seated = len(setup.taken)
    if setup.variant == "nearest-precedents":
        return 0
    if not setup.examines_evidence:
        return 1
    looks = [min(setup.pieces, len(case.by_side(side))) for side in SIDES]
    selects = [min(setup.pieces, max(0, len(case.by_side(side)) - 1)) for side in SIDES]
    examinations = 1 if setup.examination == "shared" else seated
    rounds = max(setup.rounds, 2 if setup.begins is not None else 1)
    verdicts = 1 if setup.single else rounds * (seated * (2 if setup.private_ballots else 1) + 1)
    return examinations * (2 + sum(looks) + sum(selects)) + verdicts


CYBERJURORS = Procedure(
    **declared(__file__, offline.METHODS, draws=(precedents, summaries, examination)),
    setup=CyberJurorsSetup,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    about_what=piece_of,
    without_one=without_one,
    peers=tasks.PEERS,
    counting=lambda setup: Counting(above=setup.consensus, tie=setup.tie),
)
