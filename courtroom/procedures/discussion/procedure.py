"""Speakers with different points of view discuss and vote, turn by turn (ChatEval, arXiv:2308.07201, section 2)."""

from collections.abc import Mapping
from typing import Literal, Self

from courtroom import Case, Counting, Court, Member, Procedure, Verdict
from courtroom.cases.question import LETTERS
from courtroom.declarations.knobs import knobs
from courtroom.judging.jurors import Doubt, Earlier, TalkSetup, ask_alone, recalled, seen_count
from courtroom.judging.options import PROPOSING, choices, media, names, outcome, proposed
from courtroom.procedures.declared import declared
from courtroom.procedures.discussion.tasks import METHODS, PEERS, POINTS_OF_VIEW, Remark, Speak, Statement, SumUp

knob = knobs(__file__)


class DiscussionSetup(TalkSetup):
    """Who discusses a case, and how."""

    speakers: int = knob("speakers", 3, ge=1, le=51)
    turns: int = knob("turns", 2, ge=1, le=5)
    order: Literal["one-by-one", "simultaneous", "summarised"] = knob("order", "one-by-one")
    points_of_view: bool = knob("points_of_view", True)
    show_media: bool = knob("show_media", True)
    doubt: Doubt = "firmly-convinced"
    tie: Literal["buyer", "seller", "lot"] = knob("tie", "buyer")

    def complete(self, case: Case, seed: int) -> Self:
        """With a tie that can be in this case."""
        known = {option.name for option in case.choices}
        tie = self.tie if self.tie in known else "lot"
        return self.model_copy(update={"tie": tie, "script": self.script.drawn(self.speakers, seed)})


def members(setup: DiscussionSetup) -> tuple[Member, ...]:
    """The speakers, and the clerk where turns are summed up."""
    seats = range(1, setup.speakers + 1)
    speakers = [setup.seat(f"speaker-{seat}", "speaker", called(setup, seat)) for seat in seats]
    if setup.order != "summarised" or setup.turns == 1:
        return tuple(speakers)
    return (*speakers, setup.seat("clerk", "clerk", "Clerk"))


def called(setup: DiscussionSetup, seat: int, *, chinese: bool = False) -> str:
    """What a speaker is called: by its point of view where it has one, else by its seat."""
    if not setup.points_of_view:
        return f"发言人 {seat}" if chinese else f"Speaker {seat}"
    again, place = divmod(seat - 1, len(POINTS_OF_VIEW))
    view = POINTS_OF_VIEW[place]
    return (view.chinese if chinese else view.name) + (f" {again + 1}" if again else "")


Session = Court[Case, DiscussionSetup]


async def deliberate(court: Session) -> Verdict:
    """As many turns as the setup says; the majority of the last one decides."""
    said: tuple[Remark, ...] = ()
    summary = ""
    counts: dict[str, int] = {}

    def as_whom(one: Member) -> str:
        return f"{one.name}. {view}" if (view := view_of(court, one)) else ""

    proposals = await proposed(court, court.panel("speaker"), as_whom, media(court))
    options = names(court.case, proposals)
    for turn in range(1, court.setup.turns + 1):
        await court.stage(f"Turn {turn}", "round")
        speakers = court.panel("speaker")
        if court.setup.order == "one-by-one":
            now: tuple[Remark, ...] = ()
            for speaker in speakers:
                one = await speak(court, speaker, turn, (*said, *now), "", proposals, counts)
                now = (*now, one) if one else now
        else:
            seen = said if court.setup.order == "simultaneous" else ()
            asked = (speak(court, speaker, turn, seen, summary, proposals, counts) for speaker in speakers)
            now = tuple(one for one in await court.all(asked) if one)
        tally = court.tally(options, consensus=0.5)
        counts = dict(tally.counts)
        said = (*said, *now)
        if court.setup.order == "summarised" and turn < court.setup.turns:
            task = SumUp(case=court.case, proposals=proposals, said=now, before=summary)
            digest = await court.try_ask(court.member("clerk"), task)
            summary = digest.summary if digest else summary

    ahead = [name for name in options if tally.counts[name] == max(tally.counts.values())]
    chosen, note = ahead[0], ""
    if len(ahead) > 1 and court.setup.tie in ahead:
        chosen = court.setup.tie
        note = f"The vote is a tie; by this run's setting a tie goes to the {chosen}."
    elif len(ahead) > 1:
        chosen, note = court.random("tie").choice(ahead), "The vote is a tie; the lot decided."
    told = "\n\n".join([one.statement for one in now if one.verdict == chosen][:2])
    decided = outcome(court.case, proposals, chosen)
    return Verdict(outcome=decided, counts=tally.counts, abstained=tally.abstained, summary=told, note=note)


def view_of(court: Session, speaker: Member) -> str:
    """What a speaker looks at; empty where all are asked the same."""
    place = (speaker.seat - 1) % len(POINTS_OF_VIEW)
    between = any(option.is_party for option in court.case.choices)
    view = POINTS_OF_VIEW[place].looks_at if between else POINTS_OF_VIEW[place].elsewhere
    return view if court.setup.points_of_view else ""


def as_recalled(court: Session, name: str, said: tuple[Remark, ...]) -> tuple[Remark, ...]:
    """What was said, with as much of a speaker's own words as it recalls."""
    own = [Earlier(round=one.turn, vote=one.verdict or "", words=one.statement) for one in said if one.name == name]
    told = recalled(own, court.setup.recall, "generous")
    kept = {(name, one.round): {"statement": one.words, "in_short": one.in_short} for one in told}
    heard = (one for one in said if one.name != name or (name, one.turn) in kept)
    return tuple(one.model_copy(update=kept.get((one.name, one.turn))) for one in heard)


async def speak(
    court: Session,
    speaker: Member,
    turn: int,
    said: tuple[Remark, ...],
    summary: str,
    proposals: tuple[str, ...],
    counts: Mapping[str, int],
) -> Remark | None:
    """One speaker's statement, and its vote; None where it abstains."""
    name = called(court.setup, speaker.seat, chinese=court.case.language.startswith("zh"))
    task = Speak(
        case=court.case,
        proposals=proposals,
        seat=court.panel("speaker").index(speaker) + 1,
        speaker=name,
        point_of_view=view_of(court, speaker),
        turn=turn,
        turns=court.setup.turns,
        said=as_recalled(court, name, said),
        summary=summary,
        counts=seen_count(court.setup.count_seen, counts, None),
        seen=media(court),
    )
    answer: Statement | None = await court.try_ask(speaker, task)
    court.vote(speaker, answer.verdict if answer else None, (answer.statement,) if answer else ())
    await ask_alone(court, court.setup.private_ballots, speaker, task)
    return Remark(name=name, turn=turn, statement=answer.statement, verdict=answer.verdict) if answer else None


def at_most(case: Case, setup: DiscussionSetup) -> int:
    """A statement each in every turn, a summary between two turns, and proposals where there are no options."""
    proposing = 0 if case.choices else min(setup.speakers, len(LETTERS))
    summaries = setup.turns - 1 if setup.order == "summarised" else 0
    return proposing + setup.speakers * setup.turns * (2 if setup.private_ballots else 1) + summaries


DISCUSSION = Procedure(
    **declared(__file__, METHODS, stages=(PROPOSING,)),
    setup=DiscussionSetup,
    choices_in=choices,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    peers=PEERS,
    counting=lambda setup: Counting(tie=None if setup.tie == "lot" else setup.tie),
)
