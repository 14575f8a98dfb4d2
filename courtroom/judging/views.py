"""What both criminal benches show alike: what was looked up with its ranks, and the judgment beside the real one."""

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from courtroom.cases.criminal import CriminalCase
from courtroom.engine.blocks import Block, Card, Cards, Table, Text
from courtroom.engine.record import Record
from courtroom.knowledge.bases import BUNDLED
from courtroom.knowledge.search import Hit, Search
from courtroom.law import Both, Decided, Judgment, Term, articles_compared, charges_compared

Shown = dict[str, list[Block]]
RANKS = ("Found", "Dense rank", "Similarity", "BM25 rank", "BM25", "Fused")


def retrieved(record: Record) -> Shown:
    """Each look-up with dense, BM25 and fused ranks, then what was found in full."""
    shown: Shown = {}
    language = record.case.language
    for retrieval in record.retrievals:
        if not isinstance(retrieval.query, Search):
            continue
        collection = retrieval.query.collection
        title = TITLES.get(collection, collection.capitalize())
        rows = tuple(_ranks(hit, _name(collection, hit.record, language)) for hit in retrieval.hits)
        titled = title if retrieval.query.base == BUNDLED else f"{title} of the knowledge base {retrieval.query.base}"
        ordered = {"dense": "by meaning", "bm25": "by words", "hybrid": "by both, fused"}[retrieval.query.mode]
        cards = tuple(CARDS[collection](hit, language) for hit in retrieval.hits if collection in CARDS)
        label = title if title not in shown else f"{title} · {retrieval.path}"
        titled = f"{titled}, ordered {ordered}"
        table = Table(RANKS, rows, title=titled, shares=("Similarity",), empty="Nothing was found.")
        shown[label] = [table, *([Cards(cards)] if cards else [])]
    return shown or {"": [Text("Nothing has been looked up in this run.")]}


def compared(record: Record, of: Mapping[str, Any] | None = None, defendant: str = "") -> list[Block]:
    """The judgment beside the first instance's and the real one, where there are any. `of`: what holds `judgment` and perhaps
    `first_instance`, if not the verdict's details. `defendant`: on whom, where there are several; otherwise the primary one."""
    case, verdict = record.case, record.run.verdict
    details = of or (verdict.details if verdict else {})
    if "judgment" not in details:
        return [Text("The judgment stands here once the hearing has come to its end.")]
    names = {"First instance": "first_instance", "Judgment": "judgment"}
    columns = {title: Judgment.model_validate(details[name]) for title, name in names.items() if name in details}
    rows: list[tuple[str, Callable[[Decided], str], Callable[[Decided], object]]] = [
        (
            "Articles",
            lambda j: ", ".join(map(str, j.relevant_articles)),
            lambda j: articles_compared(j.relevant_articles),
        ),
        ("Charges", lambda j: "; ".join(j.charges), lambda j: charges_compared(j.charges)),
        ("Term", lambda j: str(j.term_of_imprisonment or ""), lambda j: j.term_of_imprisonment),
    ]
    if any(judgment.further for judgment in columns.values()):
        rows.append(("Further", lambda j: str(j.further or ""), lambda j: j.further))
    table = [[name, *(shown(judgment) for judgment in columns.values())] for name, shown, _ in rows]
    titles, reach = ["", *columns], tuple[str, ...]()
    if isinstance(case, CriminalCase) and case.gold is not None:
        named = ("", case.defendant, *(one.name for one in case.gold.each))
        real = case.gold.decided(defendant) if defendant in named else Decided()
        for row, (_, shown, compared_by) in zip(table, rows, strict=True):
            known, judgment = shown(real), columns["Judgment"]
            differs = row[0] == "Charges" and known.casefold() != shown(judgment).casefold()
            same = "same, in other words" if differs else "same"
            equal = compared_by(real) == compared_by(judgment)
            row += [known, same if equal else "different"] if known else ["not known", ""]
        titles += [case.judgment_title, "Compared"]
        reach = tuple(within_reach(record, real))
    return [Table(tuple(titles), tuple(tuple(row) for row in table), title="The judgment"), *map(Text, reach)]


def within_reach(record: Record, real: Decided) -> Iterator[str]:
    """Say of each article that really applies where it stood among those that were looked up, or that it was not there."""
    found = [
        [hit.record["number"] for hit in retrieval.hits]
        for retrieval in record.retrievals
        if getattr(retrieval.query, "collection", "") == "statutes" and isinstance(retrieval.query, Search)
    ]
    for number in sorted(articles_compared(real.relevant_articles)) if found else ():
        places = [articles.index(number) + 1 for articles in found if number in articles]
        if places:
            yield f"Article {number}, which applies, stood in place {min(places)} of the articles that were looked up."
        else:
            yield f"Article {number}, which applies, was not among the articles that were looked up: it was not within reach."


TITLES = {"statutes": "Statutes", "charges": "Charges", "cases": "Precedents"}


def _ranks(hit: Hit, name: str) -> tuple[str | float | int | None, ...]:
    s = hit.scores
    if s is None:
        return name, None, hit.similarity, None, None, None
    return name, s.dense_rank, s.similarity, s.bm25_rank, s.bm25, s.fused


def _name(collection: str, record: dict[str, Any], language: str) -> str:
    if collection == "statutes":
        number = f"{record['number']}-{record['suffix']}" if record["suffix"] else str(record["number"])
        return f"Article {number} {_described(record['title'], language)}".strip()
    if collection == "charges":
        return f"{_described(record['name'], language)} (article {', '.join(record['articles'])})"
    return str(record["title"])


def _described(text: dict[str, str], language: str) -> str:
    return Both.model_validate(text).in_language(language)


def _statute(hit: Hit, language: str) -> Card:
    record = hit.record
    bands = tuple(
        f"{_described(band['when'], language)}: {band['least']} to {band['most']} months"
        f"{', or life' if band['life'] else ''}{', or death' if band['death'] else ''}"
        if band["most"] or not band["life"]
        else f"{_described(band['when'], language)}: life{', or death' if band['death'] else ''}"
        for band in record["bands"]
    )
    facts = (("Source", "unofficial digest" if record["digest"] else "imported"),)
    return Card(_name("statutes", record, language), _described(record["text"], language), facts, bands)


def _charge(hit: Hit, language: str) -> Card:
    return Card(_name("charges", hit.record, language), _described(hit.record["text"], language))


def _case(hit: Hit, language: str) -> Card:
    gold = (hit.record.get("gold") or {}) if hit.record else {}
    term = Term.model_validate(gold["term_of_imprisonment"]) if gold.get("term_of_imprisonment") else ""
    known = (
        ("Articles", ", ".join(map(str, gold.get("relevant_articles") or ()))),
        ("Charges", "; ".join(gold.get("charges") or ())),
        ("Term", str(term)),
    )
    facts = tuple((name, text) for name, text in known if text)
    return Card(str(hit.record["title"]), str(hit.record["facts"]), facts, share=max(0.0, hit.similarity))


CARDS: dict[str, Callable[[Hit, str], Card]] = {"statutes": _statute, "charges": _charge, "cases": _case}
