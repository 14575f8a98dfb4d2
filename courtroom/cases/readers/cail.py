"""CAIL2018 records: `fact` and `meta` with articles, charges and term.

| here | taken from |
| --- | --- |
| `facts` | `fact` |
| `defendants` | `meta.criminals`; where that is empty, the names that the facts give |
| `gold.relevant_articles` | `meta.relevant_articles`: numbers, or texts such as `第264条`; an empty list means not known |
| `gold.charges` | `meta.accusation`: a list, or one text with `;` between the names |
| `gold.term_of_imprisonment` | `meta.term_of_imprisonment` |
| (a remark) | `meta.punish_of_money`, a fine, which is no part of a judgment here |

In the flat form of Hugging Face's copy, the fields of `meta` and of the term are next to `fact`.
"""

import hashlib
import json
import re
from collections.abc import Mapping, Sequence
from typing import Any

from courtroom.errors import CaseError
from courtroom.law import LONGEST, article_number, bare_charge, defendants_in
from courtroom.text.words import is_chinese

LABELS = ("relevant_articles", "accusation", "term_of_imprisonment")
TERM = ("death_penalty", "life_imprisonment", "imprisonment")
FLAT = (*LABELS, *TERM)
FLAGS = {"true": True, "false": False, "1": True, "0": False, "none": False}
# A comma parts two articles only where the next one follows at once: `Article 264, paragraph 1` is one.
_BETWEEN_ARTICLES = re.compile(r"[;；、]|[,，](?=\s*(?:第|刑法|[Aa]rt|\d))")
_BETWEEN_NAMES = re.compile(r"[;；,，、]")


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    meta = row.get("meta")
    return "kind" not in row and ("fact" in row or (isinstance(meta, dict) and any(name in meta for name in LABELS)))


def convert(row: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A record as a criminal case's plain data, with a remark where a fine was not taken over. Raises `CaseError`: something is
    missing, contradicts itself, or can't be read with certainty."""
    fact, meta = row.get("fact"), row.get("meta")
    if not isinstance(fact, str) or not fact.strip():
        raise CaseError("`fact` must be the text of the facts.")
    if "meta" not in row and any(name in row for name in FLAT):
        flat = {name: row[name] for name in TERM if name in row}
        meta = row if "term_of_imprisonment" in row else row | {"term_of_imprisonment": flat}
    if not isinstance(meta, dict):
        raise CaseError("`meta` is missing. A CAIL record holds articles, charges and term there.")
    case = criminal(
        fact,
        source="A CAIL2018 record",
        defendants=_names(meta.get("criminals")),
        relevant_articles=articles(meta.get("relevant_articles")),
        charges=charges(meta.get("accusation")),
        term_of_imprisonment=term(meta.get("term_of_imprisonment")),
    )
    fine = meta.get("punish_of_money")
    text = (
        f"The fine of {fine} yuan (`punish_of_money`) was not taken over: a judgment has articles, charges and a term."
    )
    return case, (text,) if fine not in (None, "", 0, "0") else ()


def criminal(
    facts: str,
    *,
    source: str,
    defendants: Sequence[str] = (),
    given: Mapping[str, Any] | None = None,
    each: Sequence[Mapping[str, Any]] = (),
    **gold: Any,
) -> dict[str, Any]:
    """A criminal case as plain data; its id comes from its facts, so that the same facts have the same id.

    Args:
        given: fields of `Given`, what the record gives beside the facts; with it the id is another one.
        each: fields of `DecidedFor`, where a record says what was decided on each of several defendants. The first is the
            primary one.
        gold: fields of `Gold`; None where a record does not say.
    """
    facts = facts.strip()
    first = facts.replace("\n", " ")
    content = facts + (json.dumps(given, ensure_ascii=False, sort_keys=True) if given else "")
    if each:
        defendants = list(dict.fromkeys((*(one["name"] for one in each), *defendants)))
        gold = {name: value for name, value in each[0].items() if name != "name"} | {"each": list(each)} | gold
    return {
        "kind": "criminal",
        "id": f"case-{hashlib.sha256(content.encode(errors='surrogatepass')).hexdigest()[:16]}",
        "title": first[:40] + ("…" if len(first) > 40 else ""),
        "language": "zh" if is_chinese(facts) else "en",
        "source": source,
        "facts": facts,
        "defendants": list(defendants or defendants_in(facts)),
        "given": dict(given) if given else None,
        "gold": {name: value for name, value in gold.items() if value is not None} or None,
    }


def articles(value: Any) -> list[int] | None:
    """Article numbers; what is certain is repaired, e.g. `第264条`. None where none is given."""
    items = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return list(dict.fromkeys(number for item in items for number in _articles(item))) or None


def charges(value: Any) -> list[str] | None:
    """Names of charges; a text holds several with `;` between them, as a name may itself hold `、`. None where none is given."""
    items = value if isinstance(value, list) else [] if value is None else [value]
    if not all(isinstance(item, str) for item in items):
        raise CaseError("`accusation` must be a list of charges.")
    names = (bare_charge(name) for item in items for name in re.split("[;；]", item))
    return list(dict.fromkeys(filter(None, names))) or None


def term(value: Any) -> dict[str, Any] | None:
    """The term; of death, life and months at most one may be set. None where nothing is given."""
    if isinstance(value, int | str) and not isinstance(value, bool):
        value = {"imprisonment": value}
    if value is not None and not isinstance(value, dict):
        raise CaseError("`term_of_imprisonment` must hold death_penalty, life_imprisonment, imprisonment.")
    values = {name: item for name, item in (value or {}).items() if item not in (None, "")}
    if not values:
        return None
    death, life = _flag(values, "death_penalty"), _flag(values, "life_imprisonment")
    if "imprisonment" not in values and not (death or life):
        raise CaseError("`imprisonment` is missing. Add the months; 0 means no imprisonment.")
    months = _whole(values.get("imprisonment", 0))
    if months is None or months < 0:
        raise CaseError("`imprisonment` must be a number of months.")
    set_ones = [name for name, is_set in (("death", death), ("life", life), (f"{months} months", months > 0)) if is_set]
    if len(set_ones) > 1:
        raise CaseError(f"the term contradicts itself: it is {' and '.join(set_ones)}. Only one of them can be.")
    if months > LONGEST:
        raise CaseError(f"a term of {months} months is longer than the law allows ({LONGEST}).")
    return {"death_penalty": death, "life_imprisonment": life, "imprisonment": months}


def _articles(item: Any) -> list[int]:
    if isinstance(item, str):
        named: list[str | int] = [part for part in _BETWEEN_ARTICLES.split(item) if part.strip()]
    elif (number := _whole(item)) is not None:
        named = [number]
    else:
        raise CaseError("`relevant_articles` must be a list of numbers such as 264.")
    try:
        return [article_number(name) for name in named]
    except ValueError as error:
        raise CaseError(f"`relevant_articles`: {error}.") from error


def _names(value: Any) -> list[str]:
    items = _BETWEEN_NAMES.split(value) if isinstance(value, str) else value or []
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise CaseError("`criminals` must be a list of names.")
    return list(dict.fromkeys(name for item in items if (name := item.strip())))


def _flag(values: dict[str, Any], name: str) -> bool:
    flag = FLAGS.get(str(values.get(name)).strip().casefold())
    if flag is None:
        raise CaseError(f"`{name}` must be true or false.")
    return flag


def _whole(value: Any) -> int | None:
    """A whole number, also where it is written as 36.0 or as a text; None where it is none."""
    if isinstance(value, bool) or not isinstance(value, int | float | str):
        return None
    try:
        number = float(value)
    except ValueError:
        return None
    return int(number) if number.is_integer() else None
