"""Hypotheses that are written down before results, and what the results say of each."""

import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from datetime import datetime
from typing import Literal

from pydantic import Field

from courtroom.engine.procedure import Procedure
from courtroom.evaluation.significance import ALPHA, holm
from courtroom.experiments.table import Pair
from courtroom.language import N_
from courtroom.models.prompts import templates
from courtroom.strict import Strict

Direction = Literal["higher", "lower", "different"]
State = Literal["held", "not shown", "refuted", "changed after the lock"]
STATES = (N_("held"), N_("not shown"), N_("refuted"), N_("changed after the lock"))


class Hypothesis(Strict):
    """What somebody expects of two arms, tested once so many cases are done: nobody stops earlier for a result."""

    arm: str = Field(min_length=1, max_length=400)
    than: str = Field(min_length=1, max_length=400, description="The arm that it is compared with.")
    measure: str = Field(min_length=1, max_length=120)
    direction: Direction = "higher"
    least: float = Field(default=0.0, ge=0, description="The least difference that counts, in the measure's own unit.")
    cases: int = Field(default=1, ge=1, description="How many cases both arms must have.")

    def __str__(self) -> str:
        by = f" by at least {self.least:g}" if self.least else ""
        word = "different from" if self.direction == "different" else f"{self.direction} than"
        return f"{self.measure}: {self.arm} is {word} {self.than}{by}, with {self.cases:,} cases"


class Preregistration(Strict):
    """Hypotheses as they were before the first answer, with hashes (SHA-256) of what decides the results."""

    at: datetime
    hypotheses: tuple[Hypothesis, ...]
    dataset: str
    """Its version, a hash of its cases."""
    specification: str
    prompts: str

    @property
    def digest(self) -> str:
        """A hash of the lock itself: published before the experiment, it shows that nothing was changed."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()


class Finding(Strict):
    """What results say of a hypothesis."""

    hypothesis: Hypothesis
    state: State
    reason: str
    p: float | None = None
    """After Holm's correction over the hypotheses."""

    def __str__(self) -> str:
        return f"{self.hypothesis}: {self.state}. {self.reason}"


def prompts_hash(procedures: Mapping[str, Procedure], names: Iterable[str]) -> str:
    """Of all prompt templates of the procedures with these names, as they are now."""
    shown = {name: templates(procedures[name].prompts, *procedures[name].kinds) for name in names}
    return hashlib.sha256(json.dumps(shown, sort_keys=True).encode()).hexdigest()


def findings(
    lock: Preregistration, hypotheses: Sequence[Hypothesis], pairs: Sequence[Pair], specification: str, prompts: str
) -> Iterator[Finding]:
    """What the results say of each hypothesis that was locked, and of those that came later.

    A hypothesis is held where the difference has its direction, p is below 0.05 by the table's own test after Holm's
    correction over the hypotheses, and the 95 % interval lies beyond the least difference. It is refuted where the same
    is so for the other direction, or where the interval lies wholly below the least difference. `hypotheses`, and the
    hashes `specification` and `prompts`, are those of the experiment as it is now; `pairs` are of its table.
    """
    by_arms = {(pair.measure.name, frozenset((pair.a, pair.b))): pair for pair in reversed(pairs)}
    found = [(one, by_arms.get((one.measure, frozenset((one.arm, one.than))))) for one in lock.hypotheses]
    tested = [(one, pair) for one, pair in found if pair and pair.cases >= one.cases]
    corrected = dict(zip([one for one, _ in tested], holm([pair.tested.p for _, pair in tested]), strict=True))
    for one, pair in found:
        if lock.prompts != prompts or lock.specification != specification:
            what = "The prompts" if lock.prompts != prompts else "The specification"
            yield Finding(hypothesis=one, state="changed after the lock", reason=f"{what} changed after it.")
        elif pair is None or pair.cases < one.cases:
            done = pair.cases if pair else 0
            yield Finding(hypothesis=one, state="not shown", reason=f"{done:,} of {one.cases:,} cases are done.")
        else:
            yield _judged(one, pair, corrected[one])
    reason = "It was not among the hypotheses of the lock."
    for one in hypotheses:
        if one not in lock.hypotheses:
            yield Finding(hypothesis=one, state="changed after the lock", reason=reason)


def _judged(one: Hypothesis, pair: Pair, p: float) -> Finding:
    sign = 1.0 if pair.a == one.arm else -1.0
    gap = pair.difference.value * sign
    low, high = sorted((pair.difference.low * sign, pair.difference.high * sign))
    if one.direction == "lower" or (one.direction == "different" and gap < 0):
        gap, low, high = -gap, -high, -low
    state: State = "not shown"
    if p < ALPHA and gap > 0 and (one.least == 0 or low >= one.least):
        state = "held"
    elif (p < ALPHA and gap < 0) or (one.least and high < one.least):
        state = "refuted"
    ends = f", 95 % interval {low:.3g} to {high:.3g}" if pair.difference.known else ", no interval with so few cases"
    reason = f"Difference {gap:.3g} in its direction{ends}; p {p:.3g}; {pair.cases:,} cases."
    return Finding(hypothesis=one, state=state, reason=reason, p=p)
