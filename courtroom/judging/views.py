"""What both criminal benches show alike: what was looked up with its ranks, and the judgment beside the real one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from courtroom.cases.criminal import CriminalCase
from courtroom.declarations.blocks import Block, Card, Cards, Table, Text
from courtroom.engine.record import Record
from courtroom.knowledge.bases import BUNDLED
from courtroom.knowledge.search import Hit, Search
from courtroom.law import Charge, Decided, Judgment, Statute, articles_compared, charges_compared

Shown = dict[str, list[Block]]
RANKS = {
    "Dense rank": "dense_rank",
    "Similarity": "similarity",
    "BM25 rank": "bm25_rank",
    "BM25": "bm25",
    "Fused": "fused",
}
"""The columns of what was found, with the scores that stand in them."""


def retrieved(record: Record) -> Shown:
    """Each look-up with dense, BM25 and fused ranks, then what was found in full."""
    shown: Shown = {}
    language = record.case.language
    for retrieval in record.retrievals:
        if not isinstance(retrieval.query, Search):
            continue
        collection, base = retrieval.query.collection, retrieval.query.base
        title, card = KINDS[collection]
        cards = tuple(card(hit, language) for hit in retrieval.hits)
        rows = tuple(
            (shown_as.title, *(getattr(hit.scores, score, getattr(hit, score, None)) for score in RANKS.values()))
            for hit, shown_as in zip(retrieval.hits, cards, strict=True)
        )
        ordered = {"dense": "by meaning", "bm25": "by words", "hybrid": "by both, fused"}[retrieval.query.mode]
        titled = title if base == BUNDLED else f"{title} of the knowledge base {base}"
        label = title if title not in shown else f"{title} · {retrieval.path}"
        titled = f"{titled}, ordered {ordered}"
        table = Table(("Found", *RANKS), rows, title=titled, shares=("Similarity",), empty="Nothing was found.")
        shown[label] = [table, Cards(cards)] if cards else [table]
    return shown or {"": [Text("Nothing has been looked up in this run.")]}


def compared(record: Record, of: Mapping[str, Any] | None = None, defendant: str = "") -> list[Block]:
    """The judgment of `of` beside the first instance's and the real one, where there are any."""
    case, verdict = record.case, record.run.verdict
    details = of or (verdict.details if verdict else {})
    if "judgment" not in details:
        return [Text("The judgment stands here once the hearing has come to its end.")]
    names = {"First instance": "first_instance", "Judgment": "judgment"}
    columns = {title: Judgment.model_validate(details[name]) for title, name in names.items() if name in details}
    parts = [name for name in COMPARED if name != "Further" or any(one.further for one in columns.values())]
    table = [[name, *(_parts(judgment)[name] for judgment in columns.values())] for name in parts]
    titles, reach = ["", *columns], tuple[str, ...]()
    if isinstance(case, CriminalCase) and case.gold is not None:
        named = ("", case.defendant, *(one.name for one in case.gold.each))
        real = case.gold.decided(defendant) if defendant in named else Decided()
        for row in table:
            known, told = _parts(real)[row[0]], _parts(columns["Judgment"])[row[0]]
            differs = row[0] == "Charges" and known.casefold() != told.casefold()
            same = "same, in other words" if differs else "same"
            equal = COMPARED[row[0]](real) == COMPARED[row[0]](columns["Judgment"])
            row += [known, same if equal else "different"] if known else ["not known", ""]
        titles += [case.judgment_title, "Compared"]
        reach = tuple(within_reach(record, real))
    return [Table(tuple(titles), tuple(tuple(row) for row in table), title="The judgment"), *map(Text, reach)]


COMPARED: dict[str, Callable[[Decided], object]] = {
    "Articles": lambda judgment: articles_compared(judgment.relevant_articles),
    "Charges": lambda judgment: charges_compared(judgment.charges),
    "Term": lambda judgment: judgment.term_of_imprisonment,
    "Further": lambda judgment: judgment.further,
}
"""The parts of a judgment, with what of each is compared."""


def _parts(of: Decided) -> dict[str, str]:
    found = (", ".join(map(str, of.relevant_articles)), "; ".join(of.charges), of.term_of_imprisonment, of.further)
    return dict(zip(COMPARED, (str(part or "") for part in found), strict=True))


def within_reach(record: Record, real: Decided) -> Iterator[str]:
    """Say of each article that really applies where it stood among those that were looked up, or that it was not there."""
    looked = (one for one in record.retrievals if isinstance(one.query, Search) and one.query.collection == "statutes")
    found = [[hit.record["number"] for hit in one.hits] for one in looked]
    for number in sorted(articles_compared(real.relevant_articles)) if found else ():
        places = [articles.index(number) + 1 for articles in found if number in articles]
        if places:
            yield f"Article {number}, which applies, stood in place {min(places)} of the articles that were looked up."
        else:
            yield f"Article {number}, which applies, was not among the articles that were looked up: it was not within reach."


def _statute(hit: Hit, language: str) -> Card:
    statute = Statute.model_validate(hit.record)
    bands = tuple(
        f"{band.when.in_language(language)}: {band.least} to {band.most} months"
        f"{', or life' if band.life else ''}{', or death' if band.death else ''}"
        if band.most or not band.life
        else f"{band.when.in_language(language)}: life{', or death' if band.death else ''}"
        for band in statute.bands
    )
    facts = (("Source", "unofficial digest" if statute.digest else "imported"),)
    number = statute.id
    title = " · ".join(filter(None, (f"Article {number}", statute.title.in_language(language))))
    return Card(title, statute.text.in_language(language), facts, bands)


def _charge(hit: Hit, language: str) -> Card:
    charge = Charge.model_validate(hit.record)
    title = f"{charge.called(language)} (article {', '.join(charge.articles)})"
    return Card(title, charge.text.in_language(language))


def _case(hit: Hit, language: str) -> Card:
    case = CriminalCase.model_validate(hit.record)
    gold = case.gold.decided() if case.gold else Decided()
    facts = tuple((name, text) for name, text in _parts(gold).items() if text and name != "Further")
    return Card(case.title, case.facts, facts, share=max(0.0, hit.similarity))


KINDS: dict[str, tuple[str, Callable[[Hit, str], Card]]] = {
    "statutes": ("Statutes", _statute),
    "charges": ("Charges", _charge),
    "cases": ("Precedents", _case),
}
