"""How often the right article and charge are found: `COURTROOM_REAL_DATA=folder python -m tests.benchmarks.measure_judgment`.

Reads `cail_like.jsonl` (CAIL2018 records) from the folder. Retrieval is asked with the facts; the offline model hears
each case with both benches, and its ranking behind the first place is that of its own scores.
"""

from __future__ import annotations

import asyncio
import os
import sys
import tempfile
from collections.abc import Iterable, Sequence
from itertools import product
from pathlib import Path

from courtroom.case_files import read_upload
from courtroom.courthouse import Courthouse
from courtroom.criminal import CriminalCase
from courtroom.engine.record import Record
from courtroom.judging.referred import CaseInformation, charges_of, precedents_of, scores_of, statutes_of
from courtroom.judging.weighing import article_scores, charge_scores
from courtroom.judgment import Judgment
from courtroom.knowledge.collection import Mode
from courtroom.knowledge.search import Knowledge, Search
from courtroom.procedures.verdict.setup import Learning
from courtroom.settings import Settings

Rankings = tuple[list[int], list[str]]
MODES: tuple[tuple[str, Mode], ...] = (("BM25 alone", "bm25"), ("Dense", "dense"), ("Hybrid", "hybrid"))


def main() -> None:
    """Print one line a method."""
    folder = os.environ.get("COURTROOM_REAL_DATA")
    if not folder:
        sys.exit("Set COURTROOM_REAL_DATA to a folder with cail_like.jsonl.")
    path = Path(folder) / "cail_like.jsonl"
    cases = [package.case for package in read_upload(path.name, path)]
    criminal = [case for case in cases if isinstance(case, CriminalCase)]
    print(f"{len(criminal)} cases; shares of those with a gold label\n")
    print(f"{'':32}{'article':^20}{'charge':^20}")
    print(f"{'':32}{'hit@1':>10}{'hit@5':>10}{'hit@1':>10}{'hit@5':>10}")
    with tempfile.TemporaryDirectory() as home:
        house = Courthouse(Settings(home=Path(home)))
        for title, mode in MODES:
            report(f"Retrieval, {title}", criminal, [retrieved(house.knowledge, case, mode) for case in criminal])
        for name, ranking in product(("jurisagents", "verdict"), ("dense", "hybrid")):
            report(
                f"Offline, {house.procedures[name].title}, {ranking}",
                criminal,
                [heard(house, name, case, ranking) for case in criminal],
            )
        house.close()


def retrieved(knowledge: Knowledge, case: CriminalCase, mode: Mode) -> Rankings:
    """Articles and charges in the order in which they are found."""

    async def look() -> Rankings:
        statutes = await knowledge.statutes.search(case.facts, 20, mode)
        charges = await knowledge.charges.search(case.facts, 20, mode)
        return list(dict.fromkeys(one.record.number for one in statutes)), [one.record.id for one in charges]

    return asyncio.run(look())


def heard(house: Courthouse, procedure: str, case: CriminalCase, ranking: str) -> Rankings:
    """The offline judgment's article and charge, then those that its scores rank next."""
    chosen = house.procedures[procedure]
    setup = chosen.setup().model_copy(update={"ranking": ranking})
    if procedure == "verdict":
        setup = setup.model_copy(update={"learning": Learning(on=False)})
    run = house.new_run(procedure, case, setup, 0)
    house.runner.go(run)
    house.runner.wait(run)
    record = house.record(run)
    assert record.run.verdict is not None, record.run.reason
    judgment = Judgment.model_validate(record.run.verdict.details["judgment"])
    found = looked_up(record, case)
    articles = dict.fromkeys((*judgment.relevant_articles, *shortlisted(record), *article_scores(found)))
    charges = dict.fromkeys((*judgment.charges, *charge_scores(found, case.language)))
    return list(articles), list(charges)


def looked_up(record: Record, case: CriminalCase) -> CaseInformation:
    """What the run looked up."""
    hits = {r.query.collection: r.hits for r in record.retrievals if isinstance(r.query, Search)}
    return CaseInformation(
        statutes=statutes_of(hits.get("statutes", ())),
        charges=charges_of(hits.get("charges", ())),
        precedents=precedents_of(hits.get("cases", ()), case, 5),
        statute_scores=scores_of(hits.get("statutes", ())),
        charge_scores=scores_of(hits.get("charges", ())),
    )


def shortlisted(record: Record) -> Iterable[int]:
    """The judicial assistant's shortlist, where there was one."""
    return (
        number for call in record.calls if call.task == "rerank" and call.value for number in call.value["articles"]
    )


def report(title: str, cases: Sequence[CriminalCase], rankings: Sequence[Rankings]) -> None:
    """One line of the table."""
    cells = []
    for which in (0, 1):
        golds = [(case.gold.relevant_articles, case.gold.charges)[which] or () for case in cases if case.gold]
        judged = [(set(gold), ranking[which]) for gold, ranking in zip(golds, rankings, strict=True) if gold]
        cells += [sum(bool(gold & set(ranked[:k])) for gold, ranked in judged) / len(judged) for k in (1, 5)]
    print(f"{title:32}" + "".join(f"{cell:10.1%}" for cell in cells), flush=True)


if __name__ == "__main__":
    main()
