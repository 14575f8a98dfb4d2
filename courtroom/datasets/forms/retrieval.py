"""Queries and candidates of case retrieval: LeCaRD (Ma et al. 2021) and LeCaRDv2 (Li et al. 2024).

| | LeCaRD | LeCaRDv2 |
| --- | --- | --- |
| queries (split `queries`) | `ridx`, `q`, `crime` | `id`, `query`, `fact` |
| candidates (split `candidates`) | `ajjbqk`, `ajName`, `qw`; the file's name is the id | `pid`, `fact`, `qw`, `charge`, `article` |
| relevance | `golden_labels.json`, `label_top30_dict.json`: by query a list of ids, or grades by id | `*.trec`: query, 0, candidate, grade |

Each becomes a criminal case, so that candidates can be taken in as precedents. A candidate that stands under several
queries is one row.
"""

import re
from collections.abc import Iterator
from typing import Any

from courtroom.cases.readers import cail
from courtroom.datasets.forms.form import Context, Form, ImportedRow, case_of
from courtroom.datasets.source import RELEVANCE, SourceFile
from courtroom.errors import CaseError, CourtroomError
from courtroom.text.files import json_of

QUERIES, CANDIDATES = "queries", "candidates"
_LABELS = re.compile(r"(golden_labels|label(_top\d+)?(_dict)?)\.json")


def is_relevance(part: SourceFile) -> bool:
    """Whether a file holds judgments of relevance, and no records."""
    return part.ending in RELEVANCE or bool(_LABELS.fullmatch(part.name.rpartition("/")[2]))


def query_id(own: Any) -> str:
    """A query's row by its own id."""
    return f"query-{own}"


def candidate_id(own: Any) -> str:
    """A candidate's row by its own id."""
    return f"candidate-{own}"


def relevance_in(part: SourceFile) -> Iterator[tuple[str, str, int]]:
    """Query, candidate and grade of each judgment in a file.

    Raises:
        CourtroomError: a line, or the file, is no judgment of relevance; the sentence names it.
    """
    with part.open() as file:
        if part.ending == ".json":
            try:
                yield from _in_object(json_of(file.read()))
            except CaseError as error:
                raise CourtroomError(f"{part.name}: {error}") from error
            return
        for number, line in enumerate(file, start=1):
            fields = line.decode(errors="replace").split()
            if fields and (len(fields) != 4 or not re.fullmatch(r"-?\d+", fields[3])):
                raise CourtroomError(
                    f"{part.name}, line {number}: it must be query, 0, candidate and grade, with spaces between."
                )
            if fields:
                yield query_id(fields[0]), candidate_id(fields[2]), int(fields[3])


def _in_object(content: Any) -> Iterator[tuple[str, str, int]]:
    """By query a list of relevant ids, or grades by id."""
    if not isinstance(content, dict):
        raise CaseError("it must be an object with a list of candidates, or their grades, for each query.")
    for query, found in content.items():
        if isinstance(found, dict) and all(isinstance(grade, int) for grade in found.values()):
            yield from ((query_id(query), candidate_id(one), grade) for one, grade in found.items())
        elif isinstance(found, list) and all(isinstance(one, int | str) for one in found):
            yield from ((query_id(query), candidate_id(one), 1) for one in found)
        else:
            raise CaseError(f"`{query}` must be a list of candidates, or their grades.")


def _fits(record: dict[str, Any], part: SourceFile) -> bool:
    names = record.keys()
    v1 = {"ridx", "q"} <= names or {"ajjbqk", "qw"} <= names
    return v1 or {"pid", "qw"} <= names or ({"id", "query"} <= names and ("fact" in names or "query" in part.stem))


def _read(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    gold: dict[str, Any]
    if "ridx" in record:
        own, facts, gold = record["ridx"], record["q"], {"charges": cail.charges(record.get("crime"))}
    elif "ajjbqk" in record:
        own, facts, gold = context.part.stem, record["ajjbqk"] or record["qw"], {}
    elif "pid" in record:
        own, facts = record["pid"], record.get("fact") or record["qw"]
        gold = {
            "charges": cail.charges(record.get("charge")),
            "relevant_articles": cail.articles(record.get("article")),
        }
    else:
        own, facts, gold = record["id"], record.get("fact") or record["query"], {}
    if not isinstance(facts, str) or not facts.strip():
        field = "q" if "ridx" in record else "ajjbqk" if "ajjbqk" in record else "fact"
        raise CaseError(f"`{field}` must be the text of the facts.")
    is_query = "ridx" in record or ("pid" not in record and "ajjbqk" not in record)
    data = cail.criminal(facts, source="LeCaRD" if {"ridx", "ajjbqk"} & record.keys() else "LeCaRDv2", **gold)
    title = str(record.get("ajName") or "").strip()
    if title:
        data["title"] = title[:200]
    name = query_id(own) if is_query else candidate_id(own)
    yield ImportedRow(case_of(data), id=name, split=QUERIES if is_query else CANDIDATES, once=not is_query)


LECARD = Form("lecard", "LeCaRD, first and second edition", "criminal", _fits, _read)
