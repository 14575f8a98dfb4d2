"""What a hybrid query costs in a large base: `python -m tests.benchmarks.bench_retrieval`.

`--records` says how large (50,000 by default); `--tiny` only shows that it runs.

Invented precedents are imported as a user would import them; then 200 queries are asked, each with facts of its own. In the
same run the same vectors and words are put into a plain Chroma and a plain tantivy, with nothing of ours around them.
Printed are the times of both, their ratios, a new process's first query, and recall: how many of the ten nearest by exact
cosine are among the ten that the index gives.
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

from courtroom.knowledge.changes import NOTHING
from courtroom.knowledge.embedding import HashedNgrams, Vectors
from courtroom.knowledge.facets import Filter
from courtroom.knowledge.imports import Imports
from courtroom.knowledge.legal import bundled_cases, bundled_statutes
from courtroom.knowledge.search import Knowledge
from courtroom.knowledge.word_index import line, terms
from courtroom.settings import Settings
from courtroom.store.database import Database
from courtroom.text.words import sentences, words

QUERIES = 200
FIRST = """
import asyncio, sys, time
from pathlib import Path
from courtroom.store.database import Database
from courtroom.knowledge.search import Knowledge
from courtroom.knowledge.word_index import line, terms
from courtroom.settings import Settings
settings = Settings(home=Path(sys.argv[1]))
began = time.perf_counter()
asyncio.run(Knowledge(Database(settings.database), settings).of("cases", "large").search("盗窃手机", 10))
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


class Plain:
    """Chroma and tantivy as they come, on disk."""

    def __init__(self, folder: Path, names: list[str], matrix: Vectors, lines: list[str]) -> None:
        import chromadb
        import tantivy
        from chromadb.config import Settings as ChromaSettings

        began = time.perf_counter()
        client = chromadb.PersistentClient(str(folder / "chroma"), settings=ChromaSettings(anonymized_telemetry=False))
        self.chroma = client.create_collection(
            "plain", embedding_function=None, configuration={"hnsw": {"space": "cosine"}}
        )
        for start in range(0, len(names), 1000):
            some = slice(start, start + 1000)
            self.chroma.add(ids=names[some], embeddings=matrix[some])  # type: ignore[arg-type]
        self.chroma.query(query_embeddings=[matrix[0].tolist()], n_results=10)
        self.chroma_s = time.perf_counter() - began
        began = time.perf_counter()
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("id", stored=True, tokenizer_name="raw", index_option="basic")
        builder.add_text_field("words", tokenizer_name="whitespace", index_option="freq")
        self.schema = builder.build()
        (folder / "tantivy").mkdir()
        self.tantivy = tantivy.Index(self.schema, str(folder / "tantivy"))
        writer = self.tantivy.writer(128_000_000)
        for name, words_of in zip(names, lines, strict=True):
            writer.add_document(tantivy.Document(id=[name], words=[words_of]))
        writer.commit()
        writer.wait_merging_threads()
        self.tantivy.reload()
        self.tantivy_s = time.perf_counter() - began

    async def nearest(self, vector: Vectors, k: int) -> None:
        """The nearest by vector."""
        await asyncio.to_thread(
            lambda: self.chroma.query(query_embeddings=[vector.tolist()], n_results=k, include=["distances"])
        )

    async def closest(self, text: str, k: int) -> None:
        """The best by words."""
        import tantivy

        def look() -> None:
            one = [tantivy.Query.term_query(self.schema, "words", term) for term in dict.fromkeys(terms(text))]
            query = tantivy.Query.boolean_query([(tantivy.Occur.Should, term) for term in one])
            searcher = self.tantivy.searcher()
            for _, place in searcher.search(query, k).hits:
                searcher.doc(place)

        await asyncio.to_thread(look)


async def bench(count: int, queries: int, home: Path) -> None:
    """Import, open anew, ask."""
    settings = Settings(home=home)
    database = Database(settings.database)
    knowledge = Knowledge(database, settings)
    imports = Imports(database, knowledge, home / "imports")
    meta = {"relevant_articles": [264], "accusation": ["盗窃"], "term_of_imprisonment": {"imprisonment": 8}}
    records = "\n".join(json.dumps({"fact": fact, "meta": meta}, ensure_ascii=False) for fact in invented(count, 1))
    began = time.perf_counter()
    await imports.go_on(imports.begin("cases", "many.jsonl", records.encode(), "large"))
    imported = time.perf_counter() - began
    cases, embedding = knowledge.of("cases", "large"), knowledge.embedding
    first = subprocess.run([sys.executable, "-c", FIRST, str(home)], capture_output=True, text=True, check=True)

    texts = cases.changed(NOTHING).texts
    names = list(texts)
    began = time.perf_counter()
    matrix = np.concatenate(
        [await HashedNgrams().embed(list(texts.values())[start : start + 1000]) for start in range(0, len(texts), 1000)]
    )
    embedded = time.perf_counter() - began
    began = time.perf_counter()
    lines = [line(text) for text in texts.values()]
    segmented = time.perf_counter() - began
    plain = Plain(home, names, matrix, lines)
    print(f"{len(cases):,} precedents; seconds")
    print(f"{'  import':44}{imported:8.1f}")
    print(f"{'  embedding alone':44}{embedded:8.1f}")
    print(f"{'  plain Chroma: the same vectors':44}{plain.chroma_s:8.1f}")
    print(f"{'  segmenting into words alone':44}{segmented:8.1f}")
    print(f"{'  plain tantivy: the same words':44}{plain.tantivy_s:8.1f}")
    print(f"{'  import / (embedding + plain Chroma)':44}{imported / (embedded + plain.chroma_s):8.2f}")
    print(f"{'  a new process, its first query':44}{float(first.stdout):8.2f}")

    parts: dict[str, list[float]] = defaultdict(list)
    where = np.array(names)
    recall = []
    narrow = Filter(category="盗窃", law="264")
    for query in invented(queries, 2):
        (vector,) = await embedding.embed([query])
        for name, work in {
            "whole hybrid query": lambda query=query: cases.search(query, 10),
            "whole hybrid query, by category and law": lambda query=query: cases.search(query, 10, only=narrow),
            "nearest vectors": lambda query=query: cases.nearest(query, 100),
            "nearest vectors, plain Chroma": lambda vector=vector: plain.nearest(vector, 200),
            "words": lambda query=query: asyncio.to_thread(cases.closest, query, 100),
            "words, plain tantivy": lambda query=query: plain.closest(query, 100),
        }.items():
            words.cache_clear()
            await timed(parts, name, work)  # type: ignore[arg-type]
        exact = set(where[np.argsort(-(matrix @ vector))[:10]])
        recall.append(len(exact & {name for name, _ in await cases.nearest(query, 10)}) / 10)
    print(f"\n{'milliseconds':46}{'p50':>8}{'p95':>8}")
    for name, times in parts.items():
        print(f"{name:46}{np.percentile(times, 50):8.1f}{np.percentile(times, 95):8.1f}")
    p95 = {name: float(np.percentile(times, 95)) for name, times in parts.items()}
    print(f"\nhybrid p95 / plain Chroma's p95: {p95['whole hybrid query'] / p95['nearest vectors, plain Chroma']:.2f}")
    print(f"recall@10 of the index against exact search: {np.mean(recall):.3f}")
    knowledge.close()


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
