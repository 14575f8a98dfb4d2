"""What the engine costs over a bare loop of LiteLLM calls, measured in one run: `python -m
tests.benchmarks.bench_engine`.

A server on loopback answers after 0.2 s. 17 jurors hear a case in 3 rounds with everything recorded; then the very same
requests are sent by a bare `litellm.acompletion` loop in the same order of dependence. Printed are the wall time
against the critical path of the calls, the engine's CPU time a call above the bare loop's, and the share of prompt
characters that lie in a prefix already sent.
"""

from __future__ import annotations

import asyncio
import json
from contextlib import AbstractAsyncContextManager, nullcontext
from dataclasses import dataclass
from statistics import median
from typing import Any

from courtroom import Courthouse, ModelSpec, Record
from courtroom.models.card import load
from courtroom.models.schema import schema_of
from courtroom.models.wire import to_wire
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.benchmarks.tables import answering, new_house, options, timed
from tests.driving import drive

DELAY = 0.2
CASE = "phone-battery"
SPEC = ModelSpec(id="openai/any", vision="no")
SAMPLING = {"temperature": SPEC.temperature, "top_p": SPEC.top_p, "max_tokens": SPEC.max_tokens}


@dataclass(frozen=True)
class Call:
    """One request."""

    messages: list[dict[str, Any]]
    form: str = ""
    """The JSON schema that goes with it."""

    def parameters(self) -> dict[str, Any]:
        """What the engine sends, for LiteLLM."""
        strict = {"name": "answer", "schema": json.loads(self.form), "strict": True} if self.form else None
        form = {"response_format": {"type": "json_schema", "json_schema": strict}} if strict else {}
        return {"model": SPEC.id, "messages": self.messages, "num_retries": 0, "max_retries": 0, **SAMPLING, **form}


@dataclass(frozen=True)
class InTurn:
    """Each part waits for the one before."""

    parts: list[Plan]


@dataclass(frozen=True)
class AtOnce:
    """No part waits for another."""

    parts: list[Plan]


Plan = Call | InTurn | AtOnce


def plan(house: Courthouse, record: Record) -> Plan:
    """The requests of a record, arranged by what must wait for what."""
    forms = {task.name: schema_of(task.answer) for task in house.procedures["cyberjurors"].tasks}
    stages: list[Plan] = []
    for stage in record.stages:
        steps: dict[str, dict[str, list[Plan]]] = {}
        for call in (call for call in record.calls if call.stage == stage.path):
            wires = (to_wire(house.answers.request(key), house.media) for key in call.keys)
            task, _, step = call.path.rsplit("/", 1)[1].partition("-")
            of_step = steps.setdefault(call.member, {}).setdefault(step.split("-")[0] or task, [])
            of_step.extend(Call(wire, forms[call.task]) for wire in wires)
        clerk = [call for calls in steps.pop("clerk", {}).values() for call in calls]
        stages += [AtOnce([in_turn(own) for own in steps.values()]), *clerk]
    return InTurn(stages)


def in_turn(own: dict[str, list[Plan]]) -> Plan:
    """One member's calls of a stage: both sides at once, after the focus and before the analysis."""
    sides = AtOnce([InTurn(own[side]) for side in ("buyer", "seller") if side in own])
    before = own.get("extract", [])
    after = [call for task in ("analyse", "judge") for call in own.get(task, [])]
    return InTurn([*before, sides, *after])


def critical_path(plan: Plan) -> int:
    """Calls that must follow each other."""
    if isinstance(plan, Call):
        return 1
    lengths = [critical_path(part) for part in plan.parts]
    return sum(lengths) if isinstance(plan, InTurn) else max(lengths, default=0)


def calls_of(plan: Plan) -> list[Call]:
    """All calls, in the order in which they could be sent."""
    return [plan] if isinstance(plan, Call) else [call for part in plan.parts for call in calls_of(part)]


async def bare(plan: Plan, turn: AbstractAsyncContextManager[object] | None = None) -> None:
    """The same requests, with nothing but LiteLLM.

    Args:
        turn: what each call waits for and holds, such as a semaphore.
    """
    if isinstance(plan, Call):
        async with turn or nullcontext():
            await load().acompletion(**plan.parameters())
    elif isinstance(plan, InTurn):
        for part in plan.parts:
            await bare(part, turn)
    else:
        await asyncio.gather(*(bare(part, turn) for part in plan.parts))


def shared_prefix(calls: list[Call]) -> float:
    """Share of prompt characters in the longest prefix that an earlier prompt of the run has too."""
    seen: set[tuple[int, int]] = set()
    total = shared = 0
    for call in calls:
        text = json.dumps(call.messages, ensure_ascii=False)
        steps = range(64, len(text), 64)
        longest = 0
        for end in steps:
            if (end, hash(text[:end])) not in seen:
                break
            longest = end
        seen.update((end, hash(text[:end])) for end in steps)
        total, shared = total + len(text), shared + longest
    return shared / total


def measured(setup: CyberJurorsSetup) -> tuple[Plan, float, float, float]:
    """A hearing, then the bare loop: the requests, wall seconds of both, and CPU seconds of the one above the other."""
    with new_house() as house:
        warm = bare(Call([{"role": "user", "content": "warm"}]))
        for work in (house.pool.warm(), house.knowledge.warm(house.procedures["cyberjurors"].looks_in), warm):
            house.runner.do(work).result()
        run = house.new_run("cyberjurors", house.library.case(CASE), setup, 0)
        _, cpu = timed(lambda: drive(house, run))
        record = house.record(run)
        assert record.run.status == "done", record.run.reason
        whole = plan(house, record)
        bare_wall, bare_cpu = timed(lambda: house.runner.do(bare(whole)).result())
        return whole, record.run.wall_s, bare_wall, cpu - bare_cpu


def main() -> None:
    setup = CyberJurorsSetup(model=SPEC, consensus=1.0)
    repeats = range(options(repeats=7).repeats)
    with answering(DELAY):
        wholes, walls, bare_walls, over = zip(*(measured(setup) for _ in repeats), strict=True)
    calls, following = calls_of(wholes[-1]), critical_path(wholes[-1])
    path = following * DELAY
    print(
        f"calls a run                                  {len(calls)}, "
        f"{following} of them on the critical path of {path:.1f} s"
    )
    print(f"wall time / critical path, engine            {median(walls) / path:.2f}")
    print(f"wall time / critical path, bare LiteLLM loop {median(bare_walls) / path:.2f}")
    print(f"engine's CPU a call above the bare loop      {1000 * median(over) / len(calls):.2f} ms")
    print(f"prompt in a prefix already sent              {shared_prefix(calls):.0%}")


if __name__ == "__main__":
    main()
