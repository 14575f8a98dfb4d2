"""A mock jury: a first ballot before anybody has spoken, then rounds of talk, each with a ballot, until decided or hung."""

from collections.abc import Mapping, Sequence
from itertools import count

from courtroom import Case, Court, Member, Procedure, Verdict
from courtroom.cases.question import LETTERS
from courtroom.declarations.parts import Counting, Rule
from courtroom.judging.jurors import BestReasons, Earlier, ask_alone, recalled, seeded, seen_count
from courtroom.judging.options import PROPOSING, choices, names, outcome, proposed, titled
from courtroom.procedures.declared import declared
from courtroom.procedures.mock_jury.setup import MockJurySetup, members
from courtroom.procedures.mock_jury.tasks import METHODS, PEERS, Said, Vote

JuryRoom = Court[Case, MockJurySetup]
HUNG = "Hung jury"


async def deliberate(court: JuryRoom) -> Verdict:
    """Ballots until as many agree as the rule asks for, or the rounds are over. A first ballot that was set decides nothing: at least one free ballot follows."""
    said: dict[str, Said] = {}
    own: dict[str, tuple[Earlier, ...]] = {}
    counts: dict[str, int] = {}
    proposals = await proposed(court, court.panel("juror"), identity, tuple(court.case.media()))
    options = names(court.case, proposals)
    begins = seeded(court, court.panel("juror"), court.setup.first_votes, options)
    for number in count():
        await court.stage(f"Round {number}" if number else "First ballot", "round")
        jury, before = court.panel("juror"), dict(said)
        past = dict(own)
        if number and court.setup.talk == "round-table":
            for juror in jury:
                said |= await speak(court, juror, proposals, number, said, counts, past.get(juror.id, ()))
        else:
            sides = begins if number == 0 else {}
            for one in await court.all(
                speak(court, juror, proposals, number, before, counts, past.get(juror.id, ()), sides.get(juror.id, ""))
                for juror in jury
            ):
                said |= one or {}
        for name, spoken in said.items():
            if spoken is not before.get(name) and spoken.vote:
                is_set = number == 0 and name in begins
                mine = Earlier(round=number, vote=spoken.vote, words=spoken.statement, by_lot=is_set)
                own[name] = (*past.get(name, ()), mine)
        tally = court.tally(options, consensus=(court.setup.needed - 1) / len(jury))
        counts = dict(tally.counts)
        if (tally.consensus and not (begins and number == 0)) or number >= court.setup.rounds:
            break

    ahead = max(counts, key=counts.__getitem__)
    told = {name: titled(court.case, proposals, name) for name in ((ahead,) if tally.consensus else options)}
    note = "" if tally.consensus else f"After {number} rounds of talk no side had {court.setup.needed} votes."
    decided = outcome(court.case, proposals, ahead) if tally.consensus else HUNG
    more = {"standard of proof": court.setup.standard} if court.case.burden else {}
    why, abstained = grounds(said, told), tally.abstained
    return Verdict(outcome=decided, counts=counts, abstained=abstained, summary=why, note=note, details=more)


def identity(juror: Member) -> str:
    """In what part a juror proposes an answer."""
    if (persona := juror.persona) is None:
        return ""
    return f"{', '.join((juror.name, persona.status, *persona.traits))}. {persona.background}"


def grounds(said: Mapping[str, Said], sides: Mapping[str, str]) -> str:
    """Return what two jurors of a side said last; of a hung jury, what one of each side did, under its name. `sides`: name to title."""
    spoken = [[one for one in said.values() if one.vote == side] for side in sides]
    if len(sides) == 1:
        return "\n\n".join(one.statement for one in spoken[0][:2])
    return "\n\n".join(f"{some[0].name} ({sides[some[0].vote or '']}): {some[0].statement}" for some in spoken if some)


async def speak(
    court: JuryRoom,
    juror: Member,
    proposals: tuple[str, ...],
    number: int,
    said: Mapping[str, Said],
    counts: Mapping[str, int],
    own: Sequence[Earlier] = (),
    begins: str = "",
) -> dict[str, Said]:
    """A juror's statement and vote, by its id; without an answer it abstains, and what it said before stands. `number`: of the
    round; 0 is the first ballot. `begins`: the side on which it begins; empty where it is free."""
    assert court.setup.standard != "by-matter"
    if begins:
        best = BestReasons(case=court.case, side=begins, persona=juror.persona, proposals=proposals)
        given = await court.try_ask(juror, best)
        statement, choice = " ".join(given.reasons) if given else "", begins if given else None
    else:
        voices, hears_all = heard(court, juror, said), court.setup.talk == "round-table"
        counted = None if hears_all and voices else [one.vote for one in voices]
        # A juror who sees how each of those voted whom it hears is not told their count.
        sees_each = court.setup.count_seen == "heard" and not (hears_all or court.setup.secret_ballots)
        if court.setup.secret_ballots:
            voices = tuple(one.model_copy(update={"vote": None}) for one in voices)
        task = Vote(
            case=court.case,
            proposals=proposals,
            seen=tuple(court.case.media()),
            standard=court.setup.standard,
            persona=juror.persona,
            round=number,
            seats=len(court.panel("juror")),
            own=recalled(own, court.setup.recall, juror.spec.room),
            heard=voices,
            counts={} if sees_each else seen_count(court.setup.count_seen, counts, counted),
        )
        ballot = await court.try_ask(juror, task)
        statement, choice = (ballot.statement, ballot.vote) if ballot else ("", None)
    court.vote(juror, choice, (statement,) if statement else ())
    if not begins:
        await ask_alone(court, court.setup.private_ballots, juror, task)
    return {juror.id: Said(name=juror.name, statement=statement, vote=choice)} if choice else {}


def heard(court: JuryRoom, juror: Member, said: Mapping[str, Said]) -> tuple[Said, ...]:
    """What the others said last: all of them, or those whom the juror follows."""
    jury = [member.id for member in court.panel("juror")]
    heard_from = [other for other in jury if other != juror.id]
    if court.setup.talk == "follow-graph":
        heard_from = [jury[j] for k, j in sorted(court.setup.graph.edges or ()) if k == jury.index(juror.id)]
    return tuple(said[other] for other in heard_from if other in said)


RULES: Mapping[str, Rule] = {"unanimous": "all", "five-sixths": "five-sixths", "majority": "half"}


MOCK_JURY = Procedure(
    **declared(__file__, METHODS, stages=(PROPOSING,)),
    setup=MockJurySetup,
    choices_in=choices,
    members=members,
    deliberate=deliberate,
    at_most=lambda case, setup: (
        setup.jury_size * (setup.rounds + 1) * (2 if setup.private_ballots else 1)
        + (0 if case.choices else min(setup.jury_size, len(LETTERS)))
    ),
    peers=PEERS,
    counting=lambda setup: Counting(above=(setup.needed - 1) / setup.jury_size, rule=RULES[setup.rule]),
)
