"""The published systems, and those that other packages add. Adding one here means adding its folder and its line."""

from courtroom.engine.procedure import Procedure
from courtroom.engine.registration import register
from courtroom.procedures.courtroom_llm.procedure import COURTROOM_LLM
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.procedures.debate.procedure import DEBATE
from courtroom.procedures.discussion.procedure import DISCUSSION
from courtroom.procedures.distillation.procedure import DISTILLATION
from courtroom.procedures.juris.procedure import JURIS
from courtroom.procedures.jurisagents.procedure import JURISAGENTS
from courtroom.procedures.mock_jury.procedure import MOCK_JURY
from courtroom.procedures.outside import Procedures, find
from courtroom.procedures.verdict.alignment import ALIGNMENT
from courtroom.procedures.verdict.procedure import VERDICT

OUTSIDE = find(
    register(
        (
            CYBERJURORS,
            DISTILLATION,
            JURISAGENTS,
            VERDICT,
            ALIGNMENT,
            JURIS,
            COURTROOM_LLM,
            DEBATE,
            DISCUSSION,
            MOCK_JURY,
        )
    )
)
"""What installed packages add, and why some of it can't be used."""
PROCEDURES: dict[str, Procedure] = OUTSIDE.procedures
"""All that can be chosen, by name."""

__all__ = ["OUTSIDE", "PROCEDURES", "Procedures"]
