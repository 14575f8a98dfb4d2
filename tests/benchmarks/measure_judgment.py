"""How often the right article and charge are found: `python -m tests.benchmarks.measure_judgment`.

Over the sample cases and, where `COURTROOM_REAL_DATA` names a folder, its `cail_like.jsonl` (CAIL2018 records). Figures
are shares of the cases whose article or charge is known. Retrieval is asked with the facts; the offline model hears
each case with both benches, and its ranking behind the first place is that of its own scores.
"""

import asyncio
from collections.abc import Callable, Iterable, Sequence
from functools import partial
from itertools import chain, product

from courtroom import Case, Courthouse, CriminalCase
from courtroom.cases.files import read_upload
from courtroom.declarations.changes import merged
from courtroom.judging.criminal import article_scores, charge_scores, informed, precedents_of
from courtroom.knowledge.collection import DEPTH, Mode, Weights, fuse
from courtroom.knowledge.search import Knowledge, Search
from courtroom.law import Judgment
from tests.benchmarks.tables import Row, Table, real_data, samples, share, show
from tests.driving import drive

Rankings = tuple[list[int], list[str]]
HEAD = ("method", "article hit@1", "article hit@5", "charge hit@1", "charge hit@5")
MODES: dict[str, Mode] = {"BM25 alone": "bm25", "dense alone": "dense", "both, fused by reciprocal rank": "hybrid"}
HELD_OUT, MANY = "both, with the weights that find most in the other half", 100
WEIGHTS = ((1.0, 0.3), (1.0, 1.0), (0.5, 1.0), (0.3, 1.0))
"""Of the dense ranking and of BM25: as published, equal, the default, and beyond it."""
PRESETS = {"": "", "Paper": ", as published"}


def tables(house: Courthouse) -> Iterable[Table]:
    """The sample cases, then the public records if they are here."""
    yield table(house, "{} sample criminal cases", samples(house, CriminalCase))
    if folder := real_data():
        cail = folder / "cail_like.jsonl"
        public = [package.case for package in read_upload(cail.name, cail)]
        yield table(house, "{} criminal cases of CAIL2018", public)


def table(house: Courthouse, title: str, cases: Sequence[Case]) -> Table:
    criminal = [case for case in cases if isinstance(case, CriminalCase) and case.gold]
    found = {name: partial(retrieved, house.knowledge, mode) for name, mode in MODES.items()}
    rows = [Row(name, partial(hits, rank, criminal)) for name, rank in found.items()]
    if len(criminal) >= MANY:
        rows.append(Row(HELD_OUT, lambda: hits(held_out(house.knowledge, criminal), criminal)))
    for name, preset in product(("jurisagents", "verdict"), PRESETS):
        told = f"{house.procedures[name].title}, offline{PRESETS[preset]}"
        rows.append(Row(told, partial(hits, partial(heard, house, name, preset), criminal)))
    return Table(title.format(len(criminal)), HEAD, tuple(rows))


def hits(rank: Callable[[CriminalCase], Rankings], cases: Sequence[CriminalCase]) -> Iterable[str]:
    """Shares of the cases with a known article, and charge, among the first and among the first five."""
    rankings = [rank(case) for case in cases]
    for which in (0, 1):
        golds = [(case.gold.relevant_articles, case.gold.charges)[which] or () for case in cases if case.gold]
        judged = [(set(gold), ranking[which]) for gold, ranking in zip(golds, rankings, strict=True) if gold]
        for first in (1, 5):
            yield share(sum(bool(gold & set(ranked[:first])) for gold, ranked in judged) / len(judged))


def held_out(knowledge: Knowledge, cases: Sequence[CriminalCase]) -> Callable[[CriminalCase], Rankings]:
    """Both rankings fused, for each case by the weights that find most in the half to which it does not belong."""
    found = {case.id: [retrieved(knowledge, mode, case, DEPTH) for mode in ("dense", "bm25")] for case in cases}

    def fused(weights: Weights, case: CriminalCase) -> Rankings:
        articles, charges = zip(*found[case.id], strict=True)
        numbers = fuse([[str(number) for number in ranking] for ranking in articles], weights)
        return [int(number) for number in numbers], list(fuse(charges, weights))

    def right(weights: Weights, half: Sequence[CriminalCase]) -> float:
        return sum(float(one.split()[0]) for one in hits(partial(fused, weights), half))

    best = [max(WEIGHTS, key=partial(right, half=cases[1 - at :: 2])) for at in (0, 1)]
    of = {case.id: best[number % 2] for number, case in enumerate(cases)}
    return lambda case: fused(of[case.id], case)


def retrieved(knowledge: Knowledge, mode: Mode, case: CriminalCase, k: int = 20) -> Rankings:
    """Articles and charges in the order in which they are found."""

    async def look() -> Rankings:
        statutes = await knowledge.of("statutes").search(case.facts, k, mode)
        charges = await knowledge.of("charges").search(case.facts, k, mode)
        named = [one.record.called(case.language) for one in charges]
        return list(dict.fromkeys(one.record.number for one in statutes)), named

    return asyncio.run(look())


def heard(house: Courthouse, procedure: str, preset: str, case: CriminalCase) -> Rankings:
    """The offline judgment's article and charge, then those that its scores rank next; by the defaults or a preset."""
    chosen = house.procedures[procedure]
    (changes,) = [one.changes for one in chosen.presets if one.title == preset] or [{}]
    setup = chosen.setup.model_validate(merged(chosen.setup().model_dump(mode="json"), changes))
    record = house.record(drive(house, house.new_run(procedure, case, setup, 0)))
    judgment = Judgment.model_validate(record.run.verdict.details["judgment"])
    looked_up = {r.query.collection: r.hits for r in record.retrievals if isinstance(r.query, Search)}
    found = informed(looked_up, precedents_of(looked_up.pop("cases", ()), case, 5))
    listed = [call.value["articles"] for call in record.calls if call.task == "rerank" and call.value]
    articles = dict.fromkeys((*judgment.relevant_articles, *chain(*listed), *article_scores(found)))
    charges = dict.fromkeys((*judgment.charges, *charge_scores(found, case.language)))
    return list(articles), list(charges)


main = partial(show, tables)
if __name__ == "__main__":
    main()
