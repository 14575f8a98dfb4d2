"""A council: members answer apart, rank each other's answers without knowing whose they are, and a chair concludes."""

from collections.abc import Mapping
from typing import Self

from courtroom import Case, Court, Doubt, Member, Procedure, ScriptedSetup, Verdict
from courtroom.cases.question import LETTERS
from courtroom.declarations.knobs import knobs
from courtroom.judging.explained import said
from courtroom.judging.options import choices, media, names, outcome
from courtroom.procedures.council import ranks
from courtroom.procedures.council.tasks import METHODS, Conclude, GroupAnswers, RankAnswers, Reply, Respond, Shown
from courtroom.procedures.council.views import drawn
from courtroom.procedures.declared import declared

knob = knobs(__file__)


class CouncilSetup(ScriptedSetup):
    """Who sits in the council, and what they look at."""

    seats: int = knob("seats", 4, ge=3, le=len(ranks.LETTERS))
    show_media: bool = knob("show_media", True)
    doubt: Doubt = "firmly-convinced"

    def complete(self, case: Case, seed: int) -> Self:
        """With the seats written out that are scripted."""
        return self.model_copy(update={"script": self.script.drawn(self.seats, seed)})

    def warnings(self) -> tuple[str, ...]:
        specs = [member.spec for member in members(self) if member.role == "member"]
        if specs[0].temperature == 0 and all(spec == specs[0] for spec in specs):
            return ("All members are one model at temperature 0, so all give the same answer. Seat several models.",)
        return ()


def members(setup: CouncilSetup) -> tuple[Member, ...]:
    """The members and the chair."""
    seats = (setup.seat(f"member-{seat}", "member", f"Member {seat}") for seat in range(1, setup.seats + 1))
    return (*seats, setup.seat("chair", "chair", "Chair"))


Session = Court[Case, CouncilSetup]


async def deliberate(court: Session) -> Verdict:
    """Answers, ranks, conclusion."""
    await court.stage("Answers", "answers")
    seats, seen = court.panel("member"), media(court)
    tasks = [Respond(case=court.case, seat=seat, seen=seen) for seat in range(1, len(seats) + 1)]
    given = await court.all(court.ask(one, task) for one, task in zip(seats, tasks, strict=True))
    replies = {one.id: reply for one, reply in zip(seats, given, strict=True) if reply}
    court.needs(len(replies), len(seats), "members answered")
    proposals, votes = await grouped(court, replies)
    for one in seats:
        court.vote(one, votes.get(one.id), replies[one.id].reasons if one.id in replies else ())
    tally = court.tally(names(court.case, proposals), consensus=0.5)

    await court.stage("Ranking", "ranking")
    given_ranks = await court.all(ranked(court, one, replies) for one in court.panel("member"))
    mean_ranks = ranks.mean_ranks([rank for some in given_ranks if some for rank in some])

    await court.stage("Conclusion", "conclusion")
    letters, answers = dealt(court, "chair", replies)
    known = {letter: {"votes_for": votes[one], "mean_rank": mean_ranks.get(one)} for letter, one in letters.items()}
    answers = tuple(one.model_copy(update=known[one.letter]) for one in answers)
    task = Conclude(case=court.case, proposals=proposals, answers=answers, seen=media(court))
    conclusion = await court.ask(court.member("chair"), task)
    against = said(court.case.language, "council-against", against="\n".join(conclusion.against))
    ahead = [name for name, count in tally.counts.items() if count == max(tally.counts.values())]
    decided, told = outcome(court.case, proposals, conclusion.choice), f"{conclusion.answer}\n\n{against}"
    note = "" if conclusion.choice in ahead else "The chair departs from what most members voted for."
    return Verdict(outcome=decided, counts=tally.counts, abstained=tally.abstained, summary=told, note=note)


async def grouped(court: Session, replies: Mapping[str, Reply]) -> tuple[tuple[str, ...], dict[str, str]]:
    """Return what is voted on where the case has no options, and each author's vote by name."""
    if court.case.choices:
        return (), {author: reply.answer for author, reply in replies.items()}
    letters, answers = dealt(court, "groups", replies)
    found = await court.ask(court.member("chair"), GroupAnswers(case=court.case, answers=answers, seen=media(court)))
    votes = {
        letters[letter]: name for name, group in zip(LETTERS, found.groups, strict=False) for letter in group.letters
    }
    return tuple(group.answer for group in found.groups), votes


async def ranked(court: Session, member: Member, replies: Mapping[str, Reply]) -> tuple[ranks.Rank, ...]:
    """Have a member rank the answers, under letters and in an order that are drawn for it alone."""
    letters, answers = dealt(court, member.id, replies)
    ranking = await court.ask(member, RankAnswers(case=court.case, answers=answers, seen=media(court)))
    return ranks.ranked(member.id, letters, ranking.order)


def dealt(court: Session, to: str, replies: Mapping[str, Reply]) -> tuple[dict[str, str], tuple[Shown, ...]]:
    """Whose answer has which letter, by a lot that is drawn for one reader, and the answers as that one reads them."""
    letters = ranks.dealt(court.random("letters", to), [*replies])
    field = "votes_for" if court.case.choices else "own_words"
    given = ((letter, replies[author]) for letter, author in letters.items())
    shown = ({"letter": letter, "reasons": reply.reasons, field: reply.answer} for letter, reply in given)
    return letters, tuple(map(Shown.model_validate, shown))


COUNCIL = Procedure(
    **declared(__file__, METHODS, draws=(drawn,)),
    setup=CouncilSetup,
    choices_in=choices,
    members=members,
    deliberate=deliberate,
    at_most=lambda case, setup: 2 * setup.seats + (1 if case.choices else 2),
)
