"""What a slow server costs: `python -m tests.benchmarks.bench_slow_server`.

200 calls at once, with the default settings, to a server that works on two at a time and takes 2 s for each. Printed are
the answers, the calls that were asked more than once, and the wall time against what the server needs. `--tiny` only
shows that it runs.
"""

import asyncio
import json
import os
import tempfile
import time
import urllib.request
from pathlib import Path

from courtroom.media.store import MediaStore
from courtroom.models.errors import ModelError
from courtroom.models.pool import ModelPool
from courtroom.models.request import Message, Reply, Request
from courtroom.models.spec import ModelSpec
from tests.benchmarks.tables import options
from tests.openai_server import server_process
from tests.say import SayAWord

SLOTS = 2


async def ask(calls: int, delay: float, folder: Path) -> tuple[list[Reply | ModelError], float]:
    """The answers to so many questions asked at once, and the seconds that they took."""
    pool = ModelPool(MediaStore(folder))
    await pool.warm()
    spec = ModelSpec(id="openai/any", timeout_s=30 * delay)
    requests = [Request(spec, (Message("user", (f"Say word {n}.",)),), SayAWord(), str(n)) for n in range(calls)]
    began = time.perf_counter()
    replies = await asyncio.gather(*(pool.answer(request) for request in requests), return_exceptions=True)
    wall = time.perf_counter() - began
    await pool.close()
    return [reply for reply in replies if isinstance(reply, (Reply, ModelError))], wall


def main() -> None:
    tiny = options().tiny
    calls, delay = (40, 0.05) if tiny else (200, 2.0)
    with server_process(delay, slots=SLOTS) as url, tempfile.TemporaryDirectory() as folder:
        os.environ.update(OPENAI_API_BASE=url, OPENAI_API_KEY="none")
        replies, wall = asyncio.run(ask(calls, delay, Path(folder)))
        with urllib.request.urlopen(f"{url.removesuffix('/v1')}/stats") as answer:
            stats = json.load(answer)
    needed = calls * delay / SLOTS
    print(f"answers                            {sum(isinstance(reply, Reply) for reply in replies)} of {calls}")
    print(f"asked more than once               {stats['repeated']}")
    print(f"wall time / the server's own work  {wall / needed:.2f} ({wall:.0f} s / {needed:.0f} s)")


if __name__ == "__main__":
    main()
