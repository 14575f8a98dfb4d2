"""What a run has used up, against its budget."""

from __future__ import annotations

from dataclasses import dataclass

from courtroom.engine.errors import BudgetReached
from courtroom.engine.setup import Budget


@dataclass
class Spent:
    """What a run has used up; calls under way are counted from their start."""

    calls: int = 0
    tokens: int = 0
    money: float = 0.0
    recorded: int = 0
    failed: int = 0

    def check(self, budget: Budget) -> None:
        """Raise `BudgetReached` when a limit is reached."""
        for name, used, limit in (
            ("calls", self.calls, budget.calls),
            ("tokens", self.tokens, budget.tokens),
            ("US$", self.money, budget.money),
        ):
            if limit is not None and used >= limit:
                raise BudgetReached(
                    f"The budget of {limit:g} {name} is used up. Raise it and continue; nothing is lost."
                )
