"""CAIL2018 records: `fact` and `meta` with articles, charges and term."""

from __future__ import annotations

import hashlib
from typing import Any

from courtroom.article_numbers import article_number
from courtroom.defendants import defendants_in
from courtroom.errors import CaseError
from courtroom.judgment import LONGEST, bare_charge
from courtroom.text import is_chinese

TERM = ("death_penalty", "life_imprisonment", "imprisonment")


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    return "fact" in row and "kind" not in row


def convert(row: dict[str, Any]) -> dict[str, Any]:
    """A criminal case as plain data.

    Raises:
        CaseError: something is missing or contradicts itself.
    """
    fact = row["fact"]
    if not isinstance(fact, str) or not fact.strip():
        raise CaseError("`fact` must be the text of the facts.")
    meta = row.get("meta")
    if not isinstance(meta, dict):
        raise CaseError("`meta` is missing. A CAIL record holds articles, charges and term there.")
    return criminal(
        fact,
        articles=articles(meta.get("relevant_articles")),
        charges=charges(meta.get("accusation")),
        term=term(meta.get("term_of_imprisonment")),
        defendants=[name for name in meta.get("criminals") or () if isinstance(name, str) and name.strip()],
        source="A CAIL2018 record",
    )


def criminal(facts: str, *, source: str, defendants: list[str] | None = None, **gold: Any) -> dict[str, Any]:
    """A criminal case; its id comes from its facts, so that the same facts have the same id."""
    facts = facts.strip()
    named = {"articles": "relevant_articles", "charges": "charges", "term": "term_of_imprisonment"}
    labels = {named.get(name, name): value for name, value in gold.items() if value is not None}
    first = facts.replace("\n", " ")
    return {
        "kind": "criminal",
        "id": f"case-{hashlib.sha256(facts.encode()).hexdigest()[:16]}",
        "title": first[:40] + ("…" if len(first) > 40 else ""),
        "language": "zh" if is_chinese(facts) else "en",
        "source": source,
        "facts": facts,
        "defendants": defendants or list(defendants_in(facts)),
        "gold": labels or None,
    }


def articles(value: Any) -> list[int] | None:
    """Article numbers; what is certain is repaired, e.g. `第264条`. None at all means that they are not known."""
    items = value if isinstance(value, list) else [value]
    if value is None or not items:
        return None
    try:
        return [article_number(item) for item in items if item != ""]
    except (ValueError, TypeError, AttributeError) as error:
        raise CaseError(f"`relevant_articles`: {error}.") from error


def charges(value: Any) -> list[str] | None:
    """Names of charges; a text holds several with `;` between them, as a name may itself hold `、`."""
    if value is None:
        return None
    items = value.replace("；", ";").split(";") if isinstance(value, str) else value
    if not isinstance(items, list) or not all(isinstance(item, str) for item in items):
        raise CaseError("`accusation` must be a list of charges.")
    return [bare for item in items if (bare := bare_charge(item))]


def term(value: Any) -> dict[str, Any] | None:
    """The term; of death, life and months at most one may be set."""
    if value is None:
        return None
    if isinstance(value, int) and not isinstance(value, bool):
        value = {"imprisonment": value}
    if not isinstance(value, dict):
        raise CaseError(f"`term_of_imprisonment` must hold {', '.join(TERM)}.")
    months = value.get("imprisonment", 0)
    if isinstance(months, str) and months.strip().isdigit():
        months = int(months)
    if isinstance(months, bool) or not isinstance(months, int) or months < 0:
        raise CaseError("`imprisonment` must be a number of months.")
    death, life = bool(value.get("death_penalty")), bool(value.get("life_imprisonment"))
    if death + life + (months > 0) > 1:
        told = [name for name, is_set in (("death", death), ("life", life), (f"{months} months", months > 0)) if is_set]
        raise CaseError(f"the term contradicts itself: it is {' and '.join(told)}. Only one of them can be.")
    if months > LONGEST:
        raise CaseError(f"a term of {months} months is longer than the law allows ({LONGEST}).")
    return {"death_penalty": death, "life_imprisonment": life, "imprisonment": months}
