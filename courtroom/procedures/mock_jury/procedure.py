"""What the mock jury declares of itself."""

from collections.abc import Mapping
from pathlib import Path

from courtroom import Preset, Procedure, Role, StageKind
from courtroom.cases.kinds import WITH_OPTIONS
from courtroom.cases.question import LETTERS
from courtroom.declarations.parts import Controls, Counting, Rule
from courtroom.judging.jurors import BestReasons, best_reasons
from courtroom.judging.options import PROPOSING, Propose, choices, propose
from courtroom.procedures.mock_jury.deliberate import deliberate
from courtroom.procedures.mock_jury.setup import MockJurySetup, members
from courtroom.procedures.mock_jury.tasks import PEERS, Vote, vote

RULES: Mapping[str, Rule] = {"unanimous": "all", "five-sixths": "five-sixths", "majority": "half"}


MOCK_JURY = Procedure(
    name="mock-jury",
    title="Mock jury",
    summary="6 or 12 jurors hear a case, such as a trial in summary. They vote, talk and vote again until enough agree, or the jury is hung.",
    paper="A design of jury research: MacCoun and Kerr (1988), Asymmetric influence in mock jury deliberation, "
    "J. Pers. Soc. Psychol. 54(1); Devine et al. (2001), Jury decision making, Psychol. Public Policy Law 7(3)",
    case_kind=WITH_OPTIONS,
    designed_for="trial",
    setup=MockJurySetup,
    roles=(Role("juror", "Juror", "Says what decides, hears the others, votes.", votes=True),),
    stages=(
        PROPOSING,
        StageKind("round", "Round", "Every juror speaks and votes; the first ballot is before any talk."),
    ),
    choices=(),
    choices_in=choices,
    tasks=(Propose, Vote, BestReasons),
    offline={Propose: propose, Vote: vote, BestReasons: best_reasons},
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    small={"jury_size": 6, "rounds": 1},
    at_most=lambda case, setup: (
        setup.jury_size * (setup.rounds + 1) * (2 if setup.private_ballots else 1)
        + (0 if case.choices else min(setup.jury_size, len(LETTERS)))
    ),
    controls=Controls(
        seats="jury_size",
        samples={"rounds": 0, "rule": "majority", "personas": "none"},
        no_talk={"rounds": 0, "rule": "majority"},
        oneself={"talk": "follow-graph", "graph.kind": "none", "rule": "majority"},
        no_personas={"personas": "none"},
        placebo={"personas": "others"},
        not_kept=("first_votes",),
    ),
    peers=PEERS,
    counting=lambda setup: Counting(above=(setup.needed - 1) / setup.jury_size, rule=RULES[setup.rule]),
    presets=(
        Preset("Twelve, unanimous", "Twelve jurors talk round the table until all agree.", {}),
        Preset("Six, unanimous", "Six jurors talk round the table until all agree.", {"jury_size": 6}),
        Preset("Ten of twelve", "Ten votes decide.", {"rule": "five-sixths"}),
        Preset("Secret ballots", "Jurors see the count, and not who voted how.", {"secret_ballots": True}),
        Preset("Even split", "Six jurors begin on each side, drawn by lot.", {"first_votes": 6}),
    ),
)
