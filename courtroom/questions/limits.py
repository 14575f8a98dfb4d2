"""What is asked beside a run costs too: it is counted, and it stops at the run's budget."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable

from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run_input import RunInput
from courtroom.engine.setup import Budget, Setup
from courtroom.questions.asides import Aside
from courtroom.strict import Strict


class Cost(Strict):
    """What was really asked beside a run."""

    calls: int = 0
    tokens: int = 0
    money: float | None = 0.0
    """US dollars; None where a price is unknown."""


def cost(calls: Iterable[Called]) -> Cost:
    """What calls beside a run took; answers that were on record took nothing."""
    asked = [call for call in calls if call.asked]
    costs = [call.cost for call in asked]
    return Cost(
        calls=sum(call.asked for call in asked),
        tokens=sum(call.prompt_tokens + call.completion_tokens for call in asked),
        money=None if None in costs else sum(one for one in costs if one is not None),
    )


def budget(procedure: Procedure, record: Record) -> Budget:
    """The run's budget as it is now: a person may have raised it."""
    at = RunInput(procedure, record.case, record.setup, record.run.seed, record.interventions)
    setup: Setup = at.at(len(record.stages)).setup
    return setup.budget


def failures(asides: Iterable[Aside]) -> Counter[str]:
    """How often each question, by its path, had no answer."""
    return Counter(one.called.path for one in asides if one.called.value is None)
