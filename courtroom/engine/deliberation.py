"""One procedure on one case, ready to deliberate: in a run on disk, or in a rehearsal in memory."""

from __future__ import annotations

from collections.abc import Sequence

from courtroom.cases.case import Case
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.engine.interventions import Intervention
from courtroom.engine.procedure import Procedure
from courtroom.engine.run_input import RunInput
from courtroom.engine.services import Services
from courtroom.engine.setup import Setup
from courtroom.engine.stages import Stages


class Deliberation:
    """Makes the court for a procedure, and has the procedure deliberate in it once.

    Args:
        setup: as a person gave it; what it leaves open is drawn from the seed.
        interventions: what persons did to the run.
        services: what the court has from outside.

    Raises:
        CourtroomError: an intervention does not fit.
    """

    def __init__(
        self,
        procedure: Procedure,
        case: Case,
        setup: Setup,
        seed: int,
        interventions: Sequence[Intervention],
        services: Services,
    ) -> None:
        self.setup, _ = procedure.prepare(case, setup, seed)
        """Complete, as it was before any intervention."""
        run_input = RunInput(procedure, case, self.setup, seed, interventions)
        self._stages = Stages(frozenset(kind.name for kind in procedure.stages), services)
        self._court: Court[Case, Setup] = Court(seed, run_input, self._stages, services)
        self._procedure = procedure

    async def verdict(self) -> Verdict:
        """From the first stage to the verdict; the last stage ends with it.

        Raises:
            BudgetReached, QuorumLost, Abstained: the run can't go on now.
        """
        verdict = await self._procedure.deliberate(self._court)
        self._stages.end()
        return verdict
