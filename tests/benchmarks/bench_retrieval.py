"""What a hybrid query costs in a large base: `python -m tests.benchmarks.bench_retrieval`.

`--records` says how large (50,000 by default); `--tiny` only shows that it runs.

Invented precedents are imported as a user would import them; then 200 queries are asked, each with facts of its own. Printed
are the time of the import and of a new process's first query, and for a query p50 and p95 with the cost of each part.
Recall is how many of the ten nearest by exact cosine are among the ten that the index gives.
"""

from __future__ import annotations

import argparse
import asyncio
import json
import random
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable
from pathlib import Path

import numpy as np

from courtroom.knowledge import word_index
from courtroom.knowledge.imports import Imports
from courtroom.knowledge.legal import bundled_cases, bundled_statutes
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.text.words import sentences, words

QUERIES = 200
FIRST = """
import asyncio, sys, time
from pathlib import Path
from courtroom.store.database import Database
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
settings = Settings(home=Path(sys.argv[1]))
began = time.perf_counter()
asyncio.run(Knowledge(Database(settings.database), settings).cases.search("盗窃手机", 10))
print(time.perf_counter() - began)
"""


def invented(count: int, seed: int) -> list[str]:
    """Facts put together from the bundled precedents' sentences, digests' cue words, and numbers."""
    draw = random.Random(seed)
    told = [sentence for case in bundled_cases() if case.language == "zh" for sentence in sentences(case.facts)]
    cues = [statute.cues.zh.split() for statute in bundled_statutes()]
    facts = []
    for number in range(count):
        own = draw.choice(cues)
        some = [draw.choice(told) for _ in range(3)]
        extra = "，".join(draw.sample(own, min(5, len(own))))
        facts.append(f"{''.join(some)}{extra}，编号{seed}-{number}，金额{draw.randrange(100, 99_999)}元。")
    return facts


async def timed(parts: dict[str, list[float]], name: str, work: Callable[[], Awaitable[object]]) -> None:
    """Note how long something takes, in milliseconds."""
    began = time.perf_counter()
    await work()
    parts[name].append((time.perf_counter() - began) * 1000)


async def bench(count: int, queries: int, home: Path) -> None:
    """Import, open anew, ask."""
    settings = Settings(home=home)
    database = Database(settings.database)
    knowledge = Knowledge(database, settings)
    imports = Imports(database, knowledge, home / "imports")
    meta = {"relevant_articles": [264], "accusation": ["盗窃"], "term_of_imprisonment": {"imprisonment": 8}}
    lines = "\n".join(json.dumps({"fact": fact, "meta": meta}, ensure_ascii=False) for fact in invented(count, 1))
    began = time.perf_counter()
    await imports.go_on(imports.begin("cases", "many.jsonl", lines.encode()))
    print(f"{len(knowledge.cases)} precedents; imported in {time.perf_counter() - began:.0f} s")
    first = subprocess.run([sys.executable, "-c", FIRST, str(home)], capture_output=True, text=True, check=True)
    print(f"a new process's first query: {float(first.stdout):.1f} s (the graph is made from the vectors on record)")

    parts: dict[str, list[float]] = defaultdict(list)
    cases, embedding, db = knowledge.cases, knowledge.embedding, database.connection
    texts = cases.texts()
    matrix = await embedding.embed(list(texts.values()))
    names = np.array(list(texts))
    recall = []
    for query in invented(queries, 2):
        words.cache_clear()

        async def by_words(query: str = query) -> object:
            return await asyncio.to_thread(word_index.closest, db, "cases", query, 100)

        await timed(parts, "whole hybrid query", lambda query=query: cases.search(query, 10))  # type: ignore[misc]
        words.cache_clear()
        await timed(parts, "of it: segmenting and embedding", lambda query=query: embedding.embed([query + " "]))  # type: ignore[misc]
        await timed(parts, "of it: nearest vectors (Chroma)", lambda query=query: cases.nearest(query, 100))  # type: ignore[misc]
        await timed(parts, "of it: BM25 (SQLite FTS5)", by_words)
        (vector,) = await embedding.embed([query])
        exact = set(names[np.argsort(-(matrix @ vector))[:10]])
        recall.append(len(exact & {name for name, _ in await cases.nearest(query, 10)}) / 10)
    print(f"\n{'milliseconds':36}{'p50':>8}{'p95':>8}")
    for name, times in parts.items():
        print(f"{name:36}{np.percentile(times, 50):8.1f}{np.percentile(times, 95):8.1f}")
    print(f"\nrecall@10 of the index against exact search: {np.mean(recall):.3f}")


def main() -> None:
    """Measure in a base of its own."""
    options = argparse.ArgumentParser()
    options.add_argument("--records", type=int, default=50_000)
    options.add_argument("--tiny", action="store_true")
    given = options.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(bench(*((200, 3) if given.tiny else (given.records, QUERIES)), Path(folder)))


if __name__ == "__main__":
    main()
