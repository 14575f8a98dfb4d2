"""What works with what: each procedure from a case to a verdict with one model, and what became of its calls."""

from __future__ import annotations

import json
import tempfile
import time
from collections.abc import Iterable, Iterator
from contextlib import suppress
from pathlib import Path

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.request import CUT
from courtroom.models.spec import ModelSpec
from courtroom.settings import Settings
from courtroom.strict import Strict


class Tally(Strict):
    """What became of the calls of one run."""

    procedure: str
    calls: int = 0
    """Questions, however often each was asked."""
    valid: int = 0
    """Questions whose first reply was an answer, mended or not."""
    mended: int = 0
    """Of these, where the reply was no JSON as it stood."""
    again: int = 0
    """Questions that were asked more than once."""
    lost: int = 0
    """Questions without an answer."""
    replies: int = 0
    cut: int = 0
    """Replies that were cut at the longest answer."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    verdict: bool = False

    def __add__(self, other: Tally) -> Tally:
        """Both together."""
        summed = {name: getattr(self, name) + getattr(other, name) for name in _NUMBERS}
        return Tally(procedure="all", verdict=self.verdict and other.verdict, **summed)

    def row(self) -> str:
        """One row of the table in docs/models.md."""
        shares = (f"{count / max(1, self.calls):.0%}" for count in (self.valid, self.mended, self.again, self.lost))
        calls = max(1, self.replies)
        tokens = f"{self.prompt_tokens / calls:,.0f} + {self.completion_tokens / calls:,.0f}"
        cells = (self.procedure, self.calls, *shares, tokens, f"{self.seconds:.0f}", "yes" if self.verdict else "no")
        return f"| {' | '.join(map(str, cells))} |"


_NUMBERS = [name for name in Tally.model_fields if name not in ("procedure", "verdict")]
HEAD = (
    "| procedure | calls | valid at once | mended | asked again | lost | tokens a call: prompt + answer | seconds | verdict |\n"
    f"|{' --- |' * 9}"
)


def tally(house: Courthouse, record: Record, seconds: float = 0.0) -> Tally:
    """What became of the calls of a run, by its record and the stored replies. `seconds`: that it took."""
    series = [(call, [reply for key in call.keys if (reply := house.answers.reply(key))]) for call in record.calls]
    every = [reply for _, replies in series for reply in replies]
    first = [replies[0].text for call, replies in series if call.value is not None and len(replies) == 1]
    return Tally(
        procedure=record.run.procedure,
        calls=len(series),
        valid=len(first),
        mended=sum(not _is_whole(text) for text in first),
        again=sum(len(replies) > 1 for _, replies in series),
        lost=sum(call.value is None for call, _ in series),
        replies=len(every),
        cut=sum(reply.finish == CUT for reply in every),
        prompt_tokens=sum(reply.usage.prompt for reply in every),
        completion_tokens=sum(reply.usage.completion for reply in every),
        seconds=seconds,
        verdict=record.run.verdict is not None,
    )


def tallies(settings: Settings, spec: ModelSpec, longest_s: float, only: Iterable[str] = ()) -> Iterator[Tally]:
    """Hear a sample case by each procedure, with its settings for a quick look. The runs are kept nowhere.

    Args:
        spec: the model; how it draws its words is each procedure's own default.
        longest_s: for which one run is waited for.
        only: names of procedures; none is all of those for which there is a sample case.
    """
    asked = spec.model_dump(include={"id", "connection", "timeout_s"})
    with tempfile.TemporaryDirectory() as home:
        house = Courthouse(settings.model_copy(update={"home": Path(home), "server": None}), alone=True)
        try:
            cases = {one.kind: one.id for one in reversed(house.library.cases())}
            for name in only or house.procedures:
                if (procedure := house.procedures[name]).case_kind not in cases:
                    continue  # its cases are made from runs
                setup = procedure.setup.model_validate({**procedure.small, "model": asked})
                run = house.new_run(name, house.library.case(cases[procedure.case_kind]), setup, 0)
                began = time.monotonic()
                house.runner.go(run)
                with suppress(TimeoutError):  # what it did until then is told
                    house.runner.wait(run, longest_s)
                house.runner.pause(run)
                yield tally(house, house.record(run), time.monotonic() - began)
        finally:
            house.close()


def _is_whole(text: str) -> bool:
    """Whether a reply is one JSON object as it stands."""
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
