"""What VERDICT's memory costs as it grows: `python -m tests.benchmarks.bench_memory`.

Invented records, each with an article, a charge and facts of its own, are learned one after the other, as training runs
do it: both recalls, the archive or the buffer, and each phase that is due. Members of a hearing are left out: what they
cost does not depend on the memory. Printed are CPU and wall seconds of the first and of the last thousand, and their
ratio: a look-up compares every unit, so it grows with the memory.
"""

import asyncio
import random
import tempfile
import time
from pathlib import Path
from typing import Any

from courtroom.access import found_by
from courtroom.knowledge.bases import bundled_statutes
from courtroom.knowledge.lessons import Frozen, Lesson, Put, Remove
from courtroom.knowledge.memory import Directive, Due, Recall, Standard
from courtroom.knowledge.search import Knowledge
from courtroom.law import Judgment, Statute
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from tests.benchmarks.bench_retrieval import invented
from tests.benchmarks.tables import options

THOUSAND = 1_000
WRONG = 0.3
"""The share of records that are not judged as they really were."""


async def learned(knowledge: Knowledge, number: int, facts: str, statutes: list[Statute], draw: random.Random) -> None:
    """Learn from one record as a training run does, with no model asked."""
    setup = VerdictSetup()
    knobs, (law, other) = setup.learning, draw.sample(statutes, 2)
    gold, seen = (Judgment(relevant_articles=(one.number,), charges=(one.charges[0].zh,)) for one in (law, other))
    is_wrong = draw.random() < WRONG
    reasoning = f"{facts[: draw.randrange(40, 120)]}，符合第{(other if is_wrong else law).number}条。"
    about = {"id": f"standard-{number}", "case": str(number), "language": "zh", "facts": facts}
    standard = Standard(**about, reasoning=reasoning, verdict=seen if is_wrong else gold, gold=gold)
    (frozen,) = await knowledge.answer(Frozen())
    wanted = {name: getattr(setup, name) for name in ("tau", "seeds", "hops", "weights", "topo")}
    wanted |= {"text": facts, "exclude": (standard.id,), "exclude_facts": facts, "at": frozen.record["at"]}
    tags = tuple(sorted(standard.tags))
    for collection, k in (("standards", setup.precedents), ("directives", setup.directives)):
        await knowledge.answer(Recall.model_validate({**wanted, "collection": collection, "k": k, "tags": tags}))
    part = "buffer" if is_wrong else "standards"

    async def learn(phase: str, *ops: Put | Remove) -> None:
        lesson = Lesson.model_validate({"phase": phase, "ops": ops})
        await asyncio.to_thread(knowledge.lessons.teach, str(number), phase, lesson)

    async def due(phase: str, **more: float) -> list[dict[str, Any]]:
        found = await knowledge.answer(Due.model_validate({"phase": phase, "of": standard.id, **more}))
        return [hit.record for hit in found]

    await learn("archive", Put(collection=part, record=standard.model_dump(mode="json")))
    if batch := [] if is_wrong else [Standard.model_validate(one) for one in await due("induction", count=knobs.batch)]:
        rests = {"supporting": tuple(one.id for one in batch), "anchor": law.number, "charges": gold.charges}
        said = {"text": batch[0].reasoning, "language": "zh", "confidence": knobs.start}
        directive = Directive(id=f"directive-{number}", **said, **rests)
        used = [one.model_copy(update={"induced": directive.id}).model_dump(mode="json") for one in batch]
        made = Put(collection="directives", record=directive.model_dump(mode="json"))
        await learn("induction", made, *(Put(collection="standards", record=one) for one in used))
    if found := await due("refinement", threshold=knobs.divergence):
        refined, _, wrong = found
        met = {"contrasting": [*refined["contrasting"], wrong["id"]]}
        await learn("refinement", Put(collection="directives", record=refined | met))
    if cluster := await due("merge", threshold=knobs.alike):
        gone = (Remove(collection="directives", id=str(one["id"])) for one in cluster)
        merged = Put(collection="directives", record={**cluster[0], "id": f"directive-{number}-merged"})
        await learn("merge", *gone, merged)
    if weak := await due("pruning", threshold=knobs.prune):
        await learn("pruning", *(Remove(collection="directives", id=str(one["id"])) for one in weak))


async def costs(home: Path, count: int) -> list[tuple[float, float]]:
    """CPU and wall seconds of each thousand records."""
    settings = Settings(home=home)
    knowledge = Knowledge(open_store(settings.database), settings)
    draw, facts = random.Random(1), invented(count, 1)
    statutes = [statute for statute in bundled_statutes() if statute.charges]
    found = []
    for start in range(0, count, THOUSAND):
        began = time.process_time(), time.perf_counter()
        for number in range(start, min(count, start + THOUSAND)):
            await learned(knowledge, number, facts[number], statutes, draw)
        found.append((time.process_time() - began[0], time.perf_counter() - began[1]))
        print(f"{start + THOUSAND:,} records: {found[-1][0]:.1f} s CPU, {found[-1][1]:.1f} s", flush=True)
    knowledge.close()
    return found


def main() -> None:
    """Print the table."""
    records = options(records=2_000).records
    found_by(lambda: None)
    with tempfile.TemporaryDirectory() as folder:
        (first, *_), last = (every := asyncio.run(costs(Path(folder), records))), every[-1]
    print("\n| records | CPU, s | wall, s |\n| --- | --- | --- |")
    print(f"| first {THOUSAND:,} | {first[0]:.1f} | {first[1]:.1f} |")
    print(f"| last {THOUSAND:,} of {records:,} | {last[0]:.1f} | {last[1]:.1f} |")
    print(f"| ratio | {last[0] / first[0]:.2f} | {last[1] / first[1]:.2f} |")


if __name__ == "__main__":
    main()
