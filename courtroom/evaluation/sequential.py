"""Whether an outcome comes again with at least 95 %, by as few repeats as show it: Wald's sequential test."""

from __future__ import annotations

import math
from collections.abc import Iterable
from typing import Literal

from courtroom.strict import Strict

LEAST = 0.95
"""What is to be shown: a repeat has the same outcome with at least this probability."""
UNSURE = 0.80
"""What it is tested against: the same outcome with this probability or less. Between the two, either answer may come."""
ERROR = 0.05
"""The most that each wrong answer may have: `shown` where it is `UNSURE` or less, `refuted` where it is `LEAST` or more."""
State = Literal["shown", "refuted", "open"]

_SAME, _OTHER = math.log(LEAST / UNSURE), math.log((1 - LEAST) / (1 - UNSURE))
_BOUND = math.log((1 - ERROR) / ERROR)


class Series(Strict):
    """Repeats that were looked at, one after the other, until the test ended or there were no more."""

    same: int = 0
    """How many had the same outcome."""
    of: int = 0
    """How many there were."""
    state: State = "open"

    @property
    def fewest(self) -> int:
        """The fewest further repeats after which the test can end; 0 where it has ended."""
        if self.state != "open":
            return 0
        ratio = _ratio(self.same, self.of)
        return min(math.ceil((_BOUND - ratio) / _SAME), math.ceil((_BOUND + ratio) / -_OTHER))


def series(same: Iterable[bool]) -> Series:
    """What the repeats show so far, in their order; those after the test's end are not looked at.

    The sequential probability ratio test of Wald (Sequential Tests of Statistical Hypotheses, Annals of Mathematical Statistics
    16, 1945, section 5.2) for a share: after each repeat, the ratio of the likelihoods of `LEAST` and `UNSURE` is compared with
    (1 - e) / e and e / (1 - e), where e is `ERROR`. Both errors together are at most 2e, and each is at most e / (1 - e). Only ratios
    at these two probabilities count, so looking after each repeat costs nothing.

    Args:
        same: whether each repeat had the same outcome.
    """
    hits = 0
    many = 0
    for many, hit in enumerate(same, start=1):
        hits += hit
        if (state := state_at(hits, many)) != "open":
            return Series(same=hits, of=many, state=state)
    return Series(same=hits, of=many)


def state_at(same: int, of: int) -> State:
    """What the test says where so many repeats were the same, if it did not end before."""
    ratio = _ratio(same, of)
    return "shown" if ratio >= _BOUND else "refuted" if ratio <= -_BOUND else "open"


def _ratio(same: int, of: int) -> float:
    return same * _SAME + (of - same) * _OTHER
