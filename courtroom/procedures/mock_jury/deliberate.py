"""A mock jury: a first ballot before anybody has spoken, then rounds of talk, each with a ballot, until decided or hung."""

from collections.abc import Mapping
from itertools import count

from courtroom import Court, Member, Verdict
from courtroom.cases.criminal import Trial
from courtroom.judging.jurors import BestReasons, ask_alone, seeded
from courtroom.procedures.mock_jury.setup import MockJurySetup
from courtroom.procedures.mock_jury.tasks import Said, Vote, VoteInPrivate

JuryRoom = Court[Trial, MockJurySetup]
HUNG = "Hung jury"


async def deliberate(court: JuryRoom) -> Verdict:
    """Ballots until as many agree as the rule asks for, or the rounds are over. A first ballot that was set decides nothing: at least one free ballot follows."""
    said: dict[str, Said] = {}
    counts: dict[str, int] = {}
    begins = seeded(court, court.panel("juror"), court.setup.first_votes, court.case.sides)
    for number in count():
        await court.stage(f"Round {number}" if number else "First ballot", "round")
        jury, before = court.panel("juror"), dict(said)
        if number and court.setup.talk == "round-table":
            for juror in jury:
                said |= await speak(court, juror, number, said, counts)
        else:
            sides = begins if number == 0 else {}
            for one in await court.all(
                speak(court, juror, number, before, counts, sides.get(juror.id, "")) for juror in jury
            ):
                said |= one or {}
        tally = court.tally(court.case.sides, consensus=(court.setup.needed - 1) / len(jury))
        counts = dict(tally.counts)
        if (tally.consensus and not (begins and number == 0)) or number >= court.setup.rounds:
            break

    ahead = max(counts, key=counts.__getitem__)
    note = "" if tally.consensus else f"After {number} rounds of talk no side had {court.setup.needed} votes."
    return Verdict(
        outcome=ahead if tally.consensus else HUNG,
        counts=counts,
        abstained=tally.abstained,
        summary=" ".join([one.statement for one in said.values() if one.vote == ahead][:2]) if tally.consensus else "",
        note=note,
        details={"standard of proof": court.setup.standard},
    )


async def speak(
    court: JuryRoom, juror: Member, number: int, said: Mapping[str, Said], counts: Mapping[str, int], begins: str = ""
) -> dict[str, Said]:
    """A juror's statement and vote, by its id; without an answer it abstains, and what it said before stands. `number`: of the
    round; 0 is the first ballot. `begins`: the side on which it begins; empty where it is free."""
    assert court.setup.standard != "by-matter"
    if begins:
        given = await court.try_ask(juror, BestReasons(case=court.case, side=begins, persona=juror.persona))
        statement, choice = " ".join(given.reasons) if given else "", begins if given else None
    else:
        alone = court.setup.talk == "follow-graph" and not court.setup.graph.edges
        task = Vote(
            case=court.case,
            standard=court.setup.standard,
            persona=juror.persona,
            round=number,
            own=said.get(juror.id),
            heard=heard(court, juror, said),
            counts={} if alone else dict(counts),
        )
        ballot = await court.try_ask(juror, task)
        statement, choice = (ballot.statement, ballot.vote) if ballot else ("", None)
    court.vote(juror, choice, (statement,) if statement else ())
    if not begins:
        await ask_alone(court, court.setup.private_ballots, juror, task, VoteInPrivate)
    return {juror.id: Said(name=juror.name, statement=statement, vote=choice)} if choice else {}


def heard(court: JuryRoom, juror: Member, said: Mapping[str, Said]) -> tuple[Said, ...]:
    """What the others said last: all of them, or those whom the juror follows; with their votes where ballots are open."""
    jury = [member.id for member in court.panel("juror")]
    heard_from = [other for other in jury if other != juror.id]
    if court.setup.talk == "follow-graph":
        heard_from = [jury[j] for k, j in sorted(court.setup.graph.edges or ()) if k == jury.index(juror.id)]
    is_open = not court.setup.secret_ballots
    found = [said[other] for other in heard_from if other in said]
    return tuple(one if is_open else one.model_copy(update={"vote": None}) for one in found)
