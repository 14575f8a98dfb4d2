"""What a large base costs: `python -m tests.benchmarks.bench_retrieval`.

Invented precedents are imported as a user would import them; then 200 queries are asked, each with facts of its own. In
the same run the same vectors are put into a plain Chroma, with nothing of ours around it: one half before the import
and one after it, and each query is asked of both in turn, so that a busy machine slows both alike. Printed are wall and
CPU time of both, a new process's first query, recall (how many of the ten nearest by exact cosine are among the ten
that the index gives), and each ratio beside what it must reach. CPU time counts processes that were started, too.
"""

import asyncio
import hashlib
import json
import random
import resource
import subprocess
import sys
import tempfile
import time
from collections import defaultdict
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import chromadb
import numpy as np
from chromadb.config import Settings as ChromaSettings

from courtroom.knowledge import embedding
from courtroom.knowledge.bases import bundled_cases, bundled_statutes
from courtroom.knowledge.imports import Imports
from courtroom.knowledge.index import NOTHING, Filter
from courtroom.knowledge.search import Knowledge
from courtroom.knowledge.vectors import Vectors, WordsAndMeaning
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from courtroom.text.words import sentences, words
from tests.benchmarks.tables import options

QUERIES, PROCESSES = 200, 5
OURS = """
import asyncio, sys, time
from pathlib import Path
from courtroom.access import found_by
from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.opening import open_store
ready = time.time()
settings = Settings(home=Path(sys.argv[1]))
found_by(lambda: None)
knowledge = Knowledge(open_store(settings.database), settings)
found = asyncio.run(knowledge.of("cases", "large").search(sys.argv[2], 10))
print(len(found), time.time() - ready, time.time())
knowledge.close()
"""
PLAIN = """
import json, sys, time
import chromadb
from chromadb.config import Settings
ready = time.time()
client = chromadb.PersistentClient(sys.argv[1] + "/chroma-plain", settings=Settings(anonymized_telemetry=False))
vector = json.load(open(sys.argv[1] + "/vector.json"))
found = client.get_collection("plain", embedding_function=None).query(query_embeddings=[vector], n_results=10)
print(len(found["ids"][0]), time.time() - ready, time.time())
"""
BARS = (
    ("nearest vectors, p50 / plain Chroma's", "at most", 1.3),
    ("recall@10 against exact search", "at least", 0.99),
    ("import / (embedding + plain Chroma), wall", "at most", 2.0),
    ("import / (embedding + plain Chroma), CPU", "at most", 2.0),
    ("a new process's first answer / plain Chroma's", "at most", 1.3),
)

Costs = dict[str, np.ndarray]
"""Wall and CPU seconds by what they went into, added up."""


@contextmanager
def counted(costs: Costs, name: str) -> Iterator[None]:
    """Count what is done within."""
    began = np.array([time.perf_counter(), _cpu()])
    yield
    costs[name] = costs.get(name, 0.0) + np.array([time.perf_counter(), _cpu()]) - began


def _cpu() -> float:
    """Of this process and of those that it started and that have ended."""
    used = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(one.ru_utime + one.ru_stime for one in used)


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


class Plain:
    """Chroma as it comes, on disk."""

    def __init__(self, folder: Path) -> None:
        quiet, near = ChromaSettings(anonymized_telemetry=False), {"hnsw": {"space": "cosine"}}
        client = chromadb.PersistentClient(str(folder / "chroma-plain"), settings=quiet)
        self.chroma = client.create_collection("plain", embedding_function=None, configuration=near)

    def add(self, names: list[str], matrix: Vectors) -> None:
        """Into Chroma, until they can be found."""
        for start in range(0, len(names), 1000):
            some = slice(start, start + 1000)
            self.chroma.add(ids=names[some], embeddings=matrix[some])  # type: ignore[arg-type]
        self.chroma.query(query_embeddings=[matrix[0].tolist()], n_results=10)

    def nearest(self, vector: Vectors, k: int) -> None:
        self.chroma.query(query_embeddings=[vector.tolist()], n_results=k, include=["distances"])


def forget() -> None:
    """Nothing that was worked out of a text is remembered: no part may live on another's work."""
    words.cache_clear()
    embedding._hashed.cache_clear()


async def built(plain: Plain, names: list[str], facts: list[str], costs: Costs) -> Vectors:
    """Each part alone, over some records; their vectors."""
    forget()
    with counted(costs, "embedding alone"):
        parts = [await WordsAndMeaning().embed(facts[start : start + 1000]) for start in range(0, len(facts), 1000)]
        matrix = np.concatenate(parts)
    with counted(costs, "plain Chroma: the same vectors"):
        plain.add(names, matrix)
    return matrix


async def imported(home: Path, facts: list[str], costs: Costs) -> Knowledge:
    """Records taken in as a user takes them in."""
    settings = Settings(home=home)
    knowledge = Knowledge(database := open_store(settings.database), settings)
    imports = Imports(database, knowledge)
    meta = {"relevant_articles": [264], "accusation": ["盗窃"], "term_of_imprisonment": {"imprisonment": 8}}
    records = "\n".join(json.dumps({"fact": fact, "meta": meta}, ensure_ascii=False) for fact in facts)
    forget()
    with counted(costs, "import"):
        await imports.run(imports.check("cases", "many.jsonl", records.encode(), "large"))
        knowledge.close()  # what it started has ended, and its CPU time counts
    return knowledge


def first_queries(home: Path) -> dict[str, list[tuple[float, float, float]]]:
    """New processes that ask once, in turn ours and plain Chroma: seconds from the start, after imports, and of CPU."""
    found: dict[str, list[tuple[float, float, float]]] = {"ours": [], "plain Chroma": []}
    for query in invented(PROCESSES, 3):  # none was asked before
        for name, code in zip(found, (OURS, PLAIN), strict=True):
            cpu, began = _cpu(), time.time()
            command = [sys.executable, "-c", code, str(home), query]
            many, alone, ended = subprocess.run(command, capture_output=True, text=True, check=True).stdout.split()
            assert many == "10"
            found[name].append((float(ended) - began, float(alone), _cpu() - cpu))
    return found


async def asked(
    knowledge: Knowledge, plain: Plain, names: list[str], matrix: Vectors
) -> tuple[dict[str, list[float]], float]:
    """Milliseconds of each part of each query, and the recall."""
    cases, parts, recall = knowledge.of("cases", "large"), defaultdict[str, list[float]](list), []
    narrow, where = Filter(category="盗窃", law="264"), np.array(names)
    await cases.search("盗窃手机", 10)
    for number, query in enumerate(invented(QUERIES, 2)):
        (vector,) = await knowledge.embedding.embed([query])
        works: list[tuple[str, Callable[[], Awaitable[object]]]] = [
            ("whole hybrid query", lambda query=query: cases.search(query, 10)),
            ("nearest vectors, plain Chroma", lambda vector=vector: asyncio.to_thread(plain.nearest, vector, 200)),
            ("nearest vectors", lambda query=query: cases.vectors.nearest(cases, query, 100)),
            ("words", lambda query=query: cases.words.closest(cases, query, 100)),
            ("whole hybrid query, by category and law", lambda query=query: cases.search(query, 10, only=narrow)),
        ]
        for name, work in works if number % 2 == 0 else reversed(works):
            words.cache_clear()
            began = time.perf_counter()
            await work()
            parts[name].append((time.perf_counter() - began) * 1000)
        exact = set(where[np.argsort(-(matrix @ vector))[:10]])
        recall.append(len(exact & {name for name, _ in await cases.vectors.nearest(cases, query, 10)}) / 10)
    return parts, float(np.mean(recall))


async def bench(count: int, home: Path) -> None:
    """Build, open anew, ask, compare."""
    costs, facts, half = Costs(), invented(count, 1), count // 2
    names = [f"case-{hashlib.sha256(fact.encode()).hexdigest()[:16]}" for fact in facts]
    plain = Plain(home)
    await WordsAndMeaning().embed(facts[:1])  # what is loaded once is nobody's cost
    before = await built(plain, names[:half], facts[:half], costs)
    knowledge = await imported(home, facts, costs)
    after = await built(plain, names[half:], facts[half:], costs)
    texts = {entry.id: entry.texts for entry in knowledge.of("cases", "large").changed(NOTHING).entries}
    assert texts == {name: (fact,) for name, fact in zip(names, facts, strict=True)}, "both hold the same"
    matrix = np.concatenate([before, after])
    print(f"{count:,} precedents{'wall s':>{40 - len(f'{count:,}')}}{'CPU s':>10}")
    for name, (wall, cpu) in costs.items():
        print(f"{name:52}{wall:10.2f}{cpu:10.2f}")

    (home / "vector.json").write_text(json.dumps(matrix[0].tolist()))
    first = {name: np.median(rows, axis=0) for name, rows in first_queries(home).items()}
    print(f"\n{'a new process that asks once':30}{'from its start':>16}{'imports left out':>20}{'CPU s':>10}")
    for name, (whole, alone, cpu) in {**first, "ours / plain Chroma": first["ours"] / first["plain Chroma"]}.items():
        print(f"{name:30}{whole:16.2f}{alone:20.2f}{cpu:10.2f}")

    parts, recall = await asked(knowledge, plain, names, matrix)
    print(f"\n{'milliseconds of a query':46}{'p50':>8}{'p95':>8}")
    for name, times in parts.items():
        print(f"{name:46}{np.percentile(times, 50):8.1f}{np.percentile(times, 95):8.1f}")
    look_up = np.median(parts["nearest vectors"]) / np.median(parts["nearest vectors, plain Chroma"])
    ratios = costs["import"] / (costs["embedding alone"] + costs["plain Chroma: the same vectors"])
    reached = (look_up, recall, *ratios, first["ours"][0] / first["plain Chroma"][0])
    print()
    for (name, side, bar), value in zip(BARS, reached, strict=True):
        met = value <= bar if side == "at most" else value >= bar
        print(f"{name:54}{value:8.3f}   {side} {bar:g}: {'reached' if met else 'MISSED'}")
    knowledge.close()


def main() -> None:
    with tempfile.TemporaryDirectory() as folder:
        asyncio.run(bench(options(records=20_000).records, Path(folder)))


if __name__ == "__main__":
    main()
