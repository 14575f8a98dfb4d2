"""Speakers with different points of view discuss and vote, turn by turn (ChatEval, arXiv:2308.07201, section 2)."""

from courtroom import Court, Member, Verdict
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.judging.private_ballot import ask_alone
from courtroom.procedures.discussion.setup import DiscussionSetup, point_of_view
from courtroom.procedures.discussion.tasks import Remark, Speak, SpeakInPrivate, Statement, SumUp

Session = Court[Dispute, DiscussionSetup]


async def deliberate(court: Session) -> Verdict:
    """As many turns as the setup says; the majority of the last one decides."""
    said: tuple[Remark, ...] = ()
    summary = ""
    for turn in range(1, court.setup.turns + 1):
        await court.stage(f"Turn {turn}", "round")
        speakers = court.panel("speaker")
        if court.setup.order == "one-by-one":
            now: tuple[Remark, ...] = ()
            for speaker in speakers:
                one = await speak(court, speaker, turn, (*said, *now), "")
                now = (*now, one) if one else now
        else:
            seen = said if court.setup.order == "simultaneous" else ()
            spoken = await court.all(speak(court, speaker, turn, seen, summary) for speaker in speakers)
            now = tuple(one for one in spoken if one)
        tally = court.tally(SIDES, consensus=0.5)
        said = (*said, *now)
        if court.setup.order == "summarised" and turn < court.setup.turns:
            task = SumUp(case=court.case, said=now, before=summary)
            digest = await court.try_ask(court.member("clerk"), task)
            summary = digest.summary if digest else summary

    buyer, seller = tally.counts["buyer"], tally.counts["seller"]
    tie = court.setup.tie
    outcome = tie if buyer == seller else "buyer" if buyer > seller else "seller"
    reasons = [one.statement for one in now if one.verdict == outcome]
    note = f"The vote is a tie; by this run's setting a tie goes to the {tie}." if buyer == seller else ""
    return Verdict(
        outcome=outcome, counts=tally.counts, abstained=tally.abstained, summary=" ".join(reasons[:2]), note=note
    )


async def speak(court: Session, speaker: Member, turn: int, said: tuple[Remark, ...], summary: str) -> Remark | None:
    """One speaker's statement, and its vote; None where it abstains."""
    task = Speak(
        case=court.case,
        seat=court.panel("speaker").index(speaker) + 1,
        speaker=speaker.name,
        point_of_view=point_of_view(court.setup, speaker),
        turn=turn,
        turns=court.setup.turns,
        said=said,
        summary=summary,
    )
    answer: Statement | None = await court.try_ask(speaker, task)
    court.vote(speaker, answer.verdict if answer else None, (answer.statement,) if answer else ())
    await ask_alone(court, court.setup.private_ballots, speaker, task, SpeakInPrivate)
    return Remark(name=speaker.name, turn=turn, statement=answer.statement, verdict=answer.verdict) if answer else None
