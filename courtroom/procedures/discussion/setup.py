"""The knobs of a discussion: who speaks, how often, in which order."""

from typing import Literal

from courtroom.cases.dispute import Side
from courtroom.engine.knobs import Group, knob
from courtroom.engine.setup import Member, Setup
from courtroom.judging.private_ballot import PrivateBallots

POINTS_OF_VIEW: tuple[tuple[str, str], ...] = (
    ("Member of the public", "You buy and sell online now and then. Judge as most people in your place would."),
    ("Critic", "Look for gaps and contradictions in what each side says, and in what the other speakers say."),
    ("Psychologist", "Ask what each side knew and wanted when it acted, and how the two dealt with each other."),
    ("News author", "Check who said what and when. Keep apart what is shown and what is merely claimed."),
    ("Scientist", "Ask what each piece of evidence proves, what it does not prove, and what would be needed."),
)
"""Names and what each looks at, in our own words. The five parts are those that ChatEval gives its referees."""


class DiscussionSetup(Setup):
    """Who discusses a dispute, and how."""

    speakers: int = knob(3, "Speakers", "Each votes in every turn.", Group.WHO, first=True, ge=1, le=51)
    turns: int = knob(2, "Turns", "How often each speaks. The last turn decides.", ge=1, le=5)
    order: Literal["one-by-one", "simultaneous", "summarised"] = knob(
        "one-by-one",
        "Order",
        "`one-by-one`: each reads all that was said before; `simultaneous`: all speak at once and read the turns before; "
        "`summarised`: all speak at once and read a summary of the turns before.",
        first=True,
    )
    points_of_view: bool = knob(
        True,
        "Points of view",
        "Each speaker has one of five points of view. Off: all are asked the same, and differ by chance alone.",
        Group.WHO,
        first=True,
    )
    private_ballots: PrivateBallots = False
    tie: Side = knob("buyer", "A tie goes to the", "The paper does not say; a setting of ours.")


def speaker_id(seat: int) -> str:
    """`speaker-2`."""
    return f"speaker-{seat}"


def point_of_view(setup: DiscussionSetup, member: Member) -> str:
    """What a speaker looks at; empty where all are asked the same."""
    seat = int(member.id.removeprefix("speaker-"))
    return POINTS_OF_VIEW[(seat - 1) % len(POINTS_OF_VIEW)][1] if setup.points_of_view else ""


def members(setup: DiscussionSetup) -> tuple[Member, ...]:
    """The speakers, and the clerk where turns are summed up."""

    def name(seat: int) -> str:
        if not setup.points_of_view:
            return f"Speaker {seat}"
        again, place = divmod(seat - 1, len(POINTS_OF_VIEW))
        return POINTS_OF_VIEW[place][0] + (f" {again + 1}" if again else "")

    speakers = tuple(
        Member(id=speaker_id(seat), role="speaker", name=name(seat), spec=setup.spec(speaker_id(seat), "speaker"))
        for seat in range(1, setup.speakers + 1)
    )
    if setup.order != "summarised" or setup.turns == 1:
        return speakers
    return (*speakers, Member(id="clerk", role="clerk", name="Clerk", spec=setup.spec("clerk", "clerk")))
