"""The tables that papers print of a dataset, counted in one's own: labels of judgments, disputes, labelled texts."""

from collections import Counter
from collections.abc import Iterable, Iterator, Mapping
from itertools import chain
from typing import Any

import pandas as pd

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.labelled import LabelledTask
from courtroom.datasets.row import Row
from courtroom.datasets.selection import USUAL, Preparation, Selection
from courtroom.datasets.store import Datasets
from courtroom.language import N_
from courtroom.law import Decided, articles_compared, charge_in_book, term_class
from courtroom.text.words import word_count

ALL = N_("all")
MAX_CUT_TEXTS = 2_000
"""Texts that are cut into words for their mean, as cutting takes longest; the first ones of a split."""
HEARD_TEXTS = 500
"""Texts of a dataset that Courtroom-LLM heard (its table 1)."""
LABELS = {"law articles": "articles", "charges": "charges"}
Tables = Iterator[tuple[str, pd.DataFrame]]


def printed_tables(
    datasets: Datasets, name: str, version: str | None = None, prepared: Preparation | None = None
) -> Tables:
    """Give the tables that papers print of such a dataset, by their titles; of a kind that none describes, nothing.
    `prepared`: what is kept of the dataset. Raises `CourtroomError`: there is no such dataset."""
    kept = Selection(**prepared.model_dump()) if prepared else Selection()
    tables, rows = _BY_KIND.get(datasets.info(name, version).kind), datasets.rows(name, version, kept)
    first = next(rows, None)
    return tables(chain([first], rows)) if tables and first else iter(())


def _by_split(facts: pd.DataFrame) -> Iterator[tuple[str, pd.DataFrame]]:
    """Give all rows, then those of each split, the usual ones first."""
    yield ALL, facts
    splits = sorted(set(facts.split) - {""}, key=lambda split: USUAL.get(split, len(USUAL)))
    yield from ((split, facts[facts.split == split]) for split in splits)


def _judgments(rows: Iterable[Row]) -> Tables:
    names: dict[str, str] = {}
    """The first name by which a charge is written, by its name in the statute book."""
    cut = Counter[str]()
    """Texts of each split that were cut into words."""
    listed = []
    for row in rows:
        assert isinstance(row.case, CriminalCase)
        decided = row.case.gold.decided() if row.case.gold else Decided()
        term = decided.term_of_imprisonment
        cut[row.split] += 1
        listed.append({
            "split": row.split,
            "articles": sorted(articles_compared(decided.relevant_articles)),
            "charges": [names.setdefault(charge_in_book(name), name) for name in decided.charges],
            "class": None if term is None else term_class(term),
            "months": term.imprisonment or None if term else None,
            "words": word_count(row.case.facts) if cut[row.split] <= MAX_CUT_TEXTS else None,
        })  # fmt: skip
    facts = pd.DataFrame(listed).astype({"months": float, "words": float})
    of_splits = (
        {"split": split, "law articles": part.articles.explode().nunique()}
        | {"charges": part.charges.explode().nunique(), "classes of terms": part["class"].nunique()}
        | {"cases": len(part), "words in the facts (mean)": round(part.words.mean(), 2)}
        for split, part in _by_split(facts)
    )
    yield "VERDICT, table 4: labels and cases", pd.DataFrame(of_splits)
    labels = [(title, facts[name].explode().dropna()) for title, name in LABELS.items()]
    kinds = [(title, of.nunique(), len(of) / max(1, of.nunique())) for title, of in labels]
    kinds.append(("months of penalty", None, facts.months.mean()))
    found = pd.DataFrame(kinds, columns=["category", "kinds", "average"]).round(2)
    yield "JurisAgents, table 3: kinds of labels, and how many cases have one", found
    every = facts.explode("charges").dropna(subset="charges")
    if len(every):
        counts = pd.crosstab(every.charges, every.split, margins=True, margins_name=ALL).drop(index=ALL)
        counts = counts.rename(columns={"": N_("no split")}).sort_values(ALL, ascending=False, kind="stable")
        yield "JurisAgents, table 4 and figure 4: charges", _flat(counts)


def _disputes(rows: Iterable[Row]) -> Tables:
    facts = pd.DataFrame(map(_dispute, rows))
    columns = {"category": [*facts.category.unique()], "winner": [*SIDES]}
    of_splits = (
        {"split": split, "cases": len(part)}
        | {str(name): int((part[field] == name).sum()) for field, names in columns.items() for name in names}
        for split, part in _by_split(facts)
    )
    yield "CyberJurors, table 6: categories and winners of each split", pd.DataFrame(of_splits)
    numbers = ["pictures", "videos", "rounds", *(f"{side}'s pieces" for side in SIDES)]
    counts = facts[numbers]
    of_cases = {"mean": counts.mean().round(2), "most": counts.max(), "cases with any": (counts > 0).sum()}
    what = "CyberJurors, table 1 and figures 3 (e) and (f): media and evidence of a case"
    yield what, _flat(pd.DataFrame(of_cases), "what")
    decided = facts[facts.winner != ""]
    if decided.empty:
        return
    won = pd.crosstab(decided.category, decided.winner, normalize="index").mul(100).round(1)
    yield "CyberJurors, figure 3 (c): who wins in a category, in per cent", _flat(won)
    votes = pd.crosstab(decided.votes, decided.winner, normalize="all")
    within = pd.crosstab(decided.votes, decided.category, normalize="columns")
    split = pd.concat([votes, within], axis=1).mul(100).round(1).sort_index(ascending=False)
    yield "CyberJurors, figure 3 (d): votes of the majority and the minority, in per cent", _flat(split)
    gaps = decided.groupby("winner")[["pieces", "text", "media"]].mean().round(3)
    yield "CyberJurors, figure 3 (g): the buyer's lead by who wins, from -1 to 1", _flat(gaps)


def _flat(table: pd.DataFrame, name: str = "") -> pd.DataFrame:
    """Return a table whose lines have their names in the first column."""
    return table.rename_axis(None, axis=1).rename_axis(name or table.index.name).reset_index()


def _dispute(row: Row) -> Mapping[str, Any]:
    assert isinstance(row.case, Dispute)
    case, jury = row.case, row.case.jury
    kinds = [medium.kind for medium in case.media()]
    sides = [[piece for piece in case.evidence if piece.side == side] for side in SIDES]
    high, low = sorted((jury.buyer, jury.seller), reverse=True) if jury else (0, 0)
    known = {"split": row.split, "category": row.category, "winner": jury.winner if jury else ""}
    rounds = max((piece.round for piece in case.evidence), default=0)
    counts = {"pictures": kinds.count("image"), "videos": kinds.count("video"), "rounds": rounds}
    counts |= {f"{side}'s pieces": len(pieces) for side, pieces in zip(SIDES, sides, strict=True)}
    leads = {"pieces": _lead(*map(len, sides))}
    leads["text"] = _lead(*(sum(len(piece.text) for piece in pieces) for pieces in sides))
    leads["media"] = _lead(*(sum(len(piece.media) for piece in pieces) for pieces in sides))
    return {**known, "votes": f"{high:02}:{low:02}", **counts, **leads}


def _lead(buyer: int, seller: int) -> float:
    return (buyer - seller) / (buyer + seller) if buyer + seller else 0.0


def _texts(rows: Iterable[Row]) -> Tables:
    counts, labels = Counter[str](), ""
    for row in rows:
        assert isinstance(row.case, LabelledTask)
        counts[row.split], labels = counts[row.split] + 1, ", ".join(row.case.labels)
    shares = [
        (split or N_("no split"), labels, many, round(100 * min(1.0, HEARD_TEXTS / many), 2))
        for split, many in counts.items()
    ]
    columns = ["split", "labels", "texts", f"{HEARD_TEXTS} of them, in per cent"]
    yield "Courtroom-LLM, table 1: labels and texts", pd.DataFrame(shares, columns=columns)


_BY_KIND = {"criminal": _judgments, "dispute": _disputes, "labelled": _texts}
