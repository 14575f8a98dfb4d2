"""Five procedures with SmolLM2 (135 million parameters) in llama.cpp: `python -m tests.benchmarks.bench_real_model [NAME ...]`.

For each run: seconds on the wall, CPU seconds of llama.cpp, tokens read anew, kept from earlier prompts and written, and whether the run
had its verdict within its bar, with no call that timed out. On idle cores the wall counts; CPU seconds hardly depend on what else runs.
"""

import os
import sys
import time
from collections import defaultdict
from collections.abc import Mapping
from contextlib import suppress
from typing import Any

from courtroom.courthouse import Courthouse
from courtroom.models.local import LOCAL_SERVERS
from courtroom.procedures import PROCEDURES
from courtroom.upkeep.model_check import tally
from tests.benchmarks.app_session import cpu_s
from tests.benchmarks.tables import new_house
from tests.real_model import MODEL

MOST_S = 3600

RUNS: Mapping[str, tuple[str, Mapping[str, Any], float]] = {
    "cyberjurors": ("phone-battery", {"jury_size": 5, "rounds": 2, "grounding_rounds": 3, "examination": "own"}, 240),
    "jurisagents": ("criminal-workshop-burglary", {"statutes": 10, "charges": 10, "precedents": 5}, 180),
    "verdict": ("criminal-workshop-burglary", {"statutes": 20}, 180),
    "juris": ("news-harbour-footbridge", {}, 180),
    "courtroom-llm": ("message-feeling", {"texts": [f"m-{number:02}" for number in range(1, 11)]}, 180),
}
"""Each procedure with its case, what is set beside its settings for a quick look, and the seconds that it may take."""


def main(names: list[str]) -> None:
    """Measure, and print each line as soon as it is known."""
    print(f"{os.cpu_count()} cores, load {os.getloadavg()[0]:.1f} at the beginning", flush=True)
    for name in names or RUNS:
        with new_house() as house:
            print(measured(house, name), flush=True)


def measured(house: Courthouse, name: str) -> str:
    """What one run came to."""
    procedure, (case, changes, bar) = PROCEDURES[name], RUNS[name]
    model = procedure.setup().model.model_copy(update={"id": MODEL})
    setup = procedure.setup.model_validate({**procedure.small, **changes, "model": model})
    run, began = house.new_run(name, house.library.case(case), setup, 0), time.monotonic()
    house.runner.go(run)
    with suppress(TimeoutError):  # the figures are printed in any case
        house.runner.wait(run, MOST_S)
    wall, cpu = time.monotonic() - began, sum(map(cpu_s, LOCAL_SERVERS.processes()))
    LOCAL_SERVERS.close()
    record = house.record(run)
    found, written = tally(house, record), defaultdict(list)
    for call in record.calls:
        written[call.task].append(call.completion_tokens)
    keys = [key for call in record.calls for key in call.keys]
    kept = sum(reply.usage.cached for key in keys if (reply := house.answers.reply(key)))
    late = sum("in time" in call.error for call in record.calls)
    fits = "within" if wall <= bar and found.verdict and not late else "ABOVE"
    return (
        f"{name:14}{wall:5.0f} s (bar {bar:.0f}: {fits}), {cpu:4.0f} CPU s of llama.cpp; verdict: {'yes' if found.verdict else 'no'}; "
        f"{found.calls} calls, {found.valid} valid at once, {found.again} asked again, {found.lost} lost, {late} timed out\n"
        f"  tokens: {found.prompt_tokens - kept:,} read, {kept:,} kept, {found.completion_tokens:,} written: "
        + ", ".join(f"{len(lengths)} {task} of {sum(lengths) / len(lengths):.0f}" for task, lengths in written.items())
    )


if __name__ == "__main__":
    main(sys.argv[1:])
