"""What the engine costs over a bare loop of LiteLLM calls, measured in one run: `python -m tests.benchmarks.bench_engine`.

A server on loopback answers after 0.2 s. 17 jurors hear a case in 3 rounds with everything recorded; then the very same
requests are sent by a bare `litellm.acompletion` loop in the same order of dependence. Printed are the wall time against
the critical path of the calls, the engine's CPU time a call above the bare loop's, and the share of prompt characters
that lie in a prefix already sent.
"""

from __future__ import annotations

import asyncio
import json
import os
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.card import load
from courtroom.models.spec import ModelSpec
from courtroom.models.wire import to_wire
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.openai_server import server_process

DELAY = 0.2
CASE = "phone-battery"
Stages = list[list[list[dict[str, Any]]]]
"""For each stage, chains of calls that can go at once; a chain's calls follow each other."""


def hear(house: Courthouse, setup: CyberJurorsSetup) -> tuple[Record, float, float]:
    """One hearing: its record, wall and CPU seconds."""
    run = house.new_run("cyberjurors", house.library.case(CASE), setup, 0)
    cpu = time.process_time()
    house.runner.go(run)
    house.runner.wait(run)
    cpu = time.process_time() - cpu
    record = house.record(run)
    assert record.run.status == "done", record.run.reason
    return record, record.run.wall_s, cpu


def plan(house: Courthouse, record: Record) -> Stages:
    """The requests of a record as stages of chains: what must wait for what."""
    stages: Stages = []
    for stage in record.stages:
        chains: dict[str, list[dict[str, Any]]] = {}
        clerk: list[dict[str, Any]] = []
        for call in (call for call in record.calls if call.stage == stage.path):
            side = call.path.rsplit("/", 1)[1].split("-")[1] if stage.stage_kind == "clues" else ""
            sent = [to_wire(house.answers.request(key), house.media) for key in call.keys]
            bodies = [{"messages": messages} for messages in sent]
            (clerk if call.member == "clerk" else chains.setdefault(f"{call.member}/{side}", [])).extend(bodies)
        if chains:
            stages.append(list(chains.values()))  # type: ignore[arg-type]
        if clerk:
            stages.append([clerk])  # type: ignore[list-item]
    return stages


def critical_path(stages: Stages) -> int:
    """Calls that must follow each other."""
    return sum(max(len(chain) for chain in chains) for chains in stages)


async def bare(stages: Stages) -> None:
    """The same requests, with nothing but LiteLLM."""
    litellm = load()

    async def chain(bodies: list[dict[str, Any]]) -> None:
        for body in bodies:
            await litellm.acompletion(model="openai/any", num_retries=0, max_retries=0, **body)

    for chains in stages:
        await asyncio.gather(*(chain(bodies) for bodies in chains))  # type: ignore[arg-type]


def shared_prefix(stages: Stages) -> float:
    """Share of prompt characters in the longest prefix that an earlier prompt of the run has too."""
    seen: set[tuple[int, int]] = set()
    total = shared = 0
    for bodies in (body for chains in stages for chain in chains for body in chain):
        text = json.dumps(bodies["messages"], ensure_ascii=False)  # type: ignore[call-overload]
        steps = range(64, len(text), 64)
        longest = 0
        for end in steps:
            mark = (end, hash(text[:end]))
            if mark not in seen:
                break
            longest = end
        seen.update((end, hash(text[:end])) for end in steps)
        total, shared = total + len(text), shared + longest
    return shared / total


def main() -> None:
    repeats = int(sys.argv[1]) if len(sys.argv) > 1 else 3
    spec = ModelSpec(id="openai/any", vision="no")
    setup = CyberJurorsSetup(model=spec, consensus=1.0)
    with server_process(DELAY) as url, tempfile.TemporaryDirectory() as folder:
        os.environ.update(OPENAI_API_BASE=url, OPENAI_API_KEY="none")
        ratios, over, bare_ratios = [], [], []
        for number in range(repeats):
            house = Courthouse(Settings(home=Path(folder) / str(number)))
            house.runner.do(house.pool.warm()).result()
            house.runner.do(house.knowledge.warm()).result()
            house.runner.do(bare([[[{"messages": [{"role": "user", "content": "warm"}]}]]])).result()  # type: ignore[list-item]
            record, wall, cpu = hear(house, setup)
            stages = plan(house, record)
            calls = sum(len(chain) for chains in stages for chain in chains)
            path = critical_path(stages) * DELAY
            began, bare_cpu = time.perf_counter(), time.process_time()
            house.runner.do(bare(stages)).result()
            bare_wall, bare_cpu = time.perf_counter() - began, time.process_time() - bare_cpu
            ratios.append(wall / path)
            bare_ratios.append(bare_wall / path)
            over.append((cpu - bare_cpu) / calls * 1000)
            house.close()
        print(
            f"calls a run                                  {calls}, {critical_path(stages)} of them on the critical path of {path:.1f} s"
        )
        print(f"wall time / critical path, engine            {statistics.median(ratios):.2f}")
        print(f"wall time / critical path, bare LiteLLM loop {statistics.median(bare_ratios):.2f}")
        print(f"engine's CPU a call above the bare loop      {statistics.median(over):.2f} ms")
        print(f"prompt in a prefix already sent              {shared_prefix(stages):.0%}")


if __name__ == "__main__":
    main()
