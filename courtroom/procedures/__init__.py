"""The published systems. Adding one means adding its folder and its line here."""

from __future__ import annotations

from courtroom.engine.procedure import Procedure
from courtroom.procedures.courtroom_llm.procedure import COURTROOM_LLM
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.procedures.distillation.procedure import DISTILLATION
from courtroom.procedures.juris.procedure import JURIS
from courtroom.procedures.jurisagents.procedure import JURISAGENTS
from courtroom.procedures.verdict.alignment import ALIGNMENT
from courtroom.procedures.verdict.procedure import VERDICT

PROCEDURES: dict[str, Procedure] = {
    procedure.name: procedure
    for procedure in (CYBERJURORS, DISTILLATION, JURISAGENTS, VERDICT, ALIGNMENT, JURIS, COURTROOM_LLM)
}
