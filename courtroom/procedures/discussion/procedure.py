"""What the discussion declares of itself."""

from pathlib import Path

from courtroom import Preset, Procedure, Role, StageKind
from courtroom.cases.dispute import Dispute
from courtroom.engine.procedure import Controls, Counting
from courtroom.judging.dispute_weights import CHOICES
from courtroom.procedures.discussion.deliberate import deliberate
from courtroom.procedures.discussion.setup import DiscussionSetup, members
from courtroom.procedures.discussion.tasks import METHODS, PEERS, Speak, SumUp


def at_most(case: Dispute, setup: DiscussionSetup) -> int:
    """A statement each in every turn, and a summary between two turns."""
    return setup.speakers * setup.turns * (2 if setup.private_ballots else 1) + (
        setup.turns - 1 if setup.order == "summarised" else 0
    )


DISCUSSION = Procedure(
    name="discussion",
    title="Discussion",
    summary="A baseline: speakers with different points of view discuss a dispute in turns and vote; the last vote decides.",
    paper="Chan et al. (2023), ChatEval, arXiv:2308.07201; with one turn, Wang et al. (2022), Self-Consistency, arXiv:2203.11171",
    case_kind="dispute",
    setup=DiscussionSetup,
    roles=(
        Role("speaker", "Speaker", "Says who is right and why, answers the others, and votes.", votes=True),
        Role("clerk", "Clerk", "Sums up a turn, where the speakers read a summary."),
    ),
    stages=(StageKind("round", "Turn", "Each speaker makes a statement and votes."),),
    choices=CHOICES,
    tasks=(Speak, SumUp),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    controls=Controls(
        seats="speakers",
        samples={"turns": 1, "order": "simultaneous", "points_of_view": False},
        no_talk={"turns": 1, "order": "simultaneous"},
        oneself={"speakers": 1, "order": "one-by-one"},
        no_personas={"points_of_view": False},
    ),
    peers=PEERS,
    counting=lambda setup: Counting(tie=setup.tie),
    small={"speakers": 3, "turns": 2},
    presets=(
        Preset("ChatEval", "Three points of view, one after the other, in two turns.", {}),
        Preset("All at once", "All speak at once and read the turns before.", {"order": "simultaneous"}),
        Preset(
            "All at once, summed up",
            "All speak at once and read a summary of the turns before.",
            {"order": "summarised"},
        ),
        Preset(
            "Self-consistency",
            "Five answers to the same question, none of which sees another; the majority counts.",
            {"speakers": 5, "turns": 1, "order": "simultaneous", "points_of_view": False},
        ),
        Preset(
            "Chain of thought",
            "One answer, its reasons before its verdict.",
            {"speakers": 1, "turns": 1, "order": "simultaneous", "points_of_view": False},
        ),
    ),
)
