"""What the mock jury declares of itself."""

from collections.abc import Mapping

from courtroom import Procedure
from courtroom.cases.question import LETTERS
from courtroom.declarations.parts import Counting, Rule
from courtroom.judging.jurors import BestReasons, best_reasons
from courtroom.judging.options import PROPOSING, Propose, choices, propose
from courtroom.procedures.declared import declared
from courtroom.procedures.mock_jury.deliberate import deliberate
from courtroom.procedures.mock_jury.setup import MockJurySetup, members
from courtroom.procedures.mock_jury.tasks import PEERS, Vote, vote

RULES: Mapping[str, Rule] = {"unanimous": "all", "five-sixths": "five-sixths", "majority": "half"}


MOCK_JURY = Procedure(
    **declared(__file__, stages=(PROPOSING,)),
    setup=MockJurySetup,
    choices_in=choices,
    tasks=(Propose, Vote, BestReasons),
    offline={Propose: propose, Vote: vote, BestReasons: best_reasons},
    members=members,
    deliberate=deliberate,
    at_most=lambda case, setup: (
        setup.jury_size * (setup.rounds + 1) * (2 if setup.private_ballots else 1)
        + (0 if case.choices else min(setup.jury_size, len(LETTERS)))
    ),
    peers=PEERS,
    counting=lambda setup: Counting(above=(setup.needed - 1) / setup.jury_size, rule=RULES[setup.rule]),
)
