"""CAIL2018 records: `fact` and `meta` with articles, charges and term.

| here | taken from |
| --- | --- |
| `facts` | `fact` |
| `defendants` | `meta.criminals`; where that is empty, the names that the facts give |
| `gold.relevant_articles` | `meta.relevant_articles`: numbers, or texts such as `第264条`; empty: not known |
| `gold.charges` | `meta.accusation`: a list, or one text with `;` between the names |
| `gold.term_of_imprisonment` | `meta.term_of_imprisonment` |
| (a remark) | `meta.punish_of_money`, a fine, which is no part of a judgment here |

In the flat form of Hugging Face's copy, the fields of `meta` and of the term are next to `fact`.

LawBench's lines `instruction`, `question`, `answer` of the tasks 3-1, 3-3, 3-4, 3-5, 3-6 and 3-7.

The task is recognised from the answer's prefix. What a question gives beside the facts (3-1: the charges; 3-4: articles
too; 3-5: their text too) is taken off them and kept as given. It is known to be right, so it is gold as well.
"""

import hashlib
import html
import json
import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from decimal import Decimal
from typing import Any

from courtroom.errors import CaseError
from courtroom.law import LONGEST, article_number, bare_charge, defendants_in
from courtroom.text.languages import language_of

LABELS = ("relevant_articles", "accusation", "term_of_imprisonment")
TERM = ("death_penalty", "life_imprisonment", "imprisonment")
FLAT = (*LABELS, *TERM)
FLAGS = {"true": True, "false": False, "1": True, "0": False, "none": False}
# A comma parts two articles only where the next one follows at once: `Article 264, paragraph 1` is one.
_BETWEEN_ARTICLES = re.compile(r"[;；、]|[,，](?=\s*(?:第|刑法|[Aa]rt|\d))")
_BETWEEN_NAMES = re.compile(r"[;；,，、]")
_GIVEN_CHARGE = re.compile(r"\s*罪名[:：](?P<charges>[^\n。]*)[。.]?\s*$")
_GIVEN_ARTICLE = re.compile(
    r"[。\s]*法条[:：](?P<articles>[^。\n]*)(?:。?\s*法条内容[:：](?P<text>.*))?[。.]?\s*$", re.DOTALL
)
_SIGN, _END = r"\s*[:：、.．]", r"[;；。\s]*(?<![A-Za-z])"
# The question before takes all it can: it may itself list parties as A、B、C.
_OPTIONS = re.compile(
    rf"(.*)(?<![A-Za-z])A{_SIGN}(.*?){_END}B{_SIGN}(.*?){_END}C{_SIGN}(.*?){_END}D{_SIGN}(.*)", re.DOTALL
)
_TERM = re.compile(
    r"(?P<life>无期(?:徒刑)?)|(?P<death>死刑(?:[，,]?缓期.*)?)"
    r"|(?:有期徒刑|拘役)?(?=\d)(?:(?P<years>\d+)年)?(?:(?P<months>\d+)(?:个?月)?)?"
)
_YUAN = re.compile(r"(?:人民币)?\s*(\d+(?:\.\d+)?)\s*(万|亿)?\s*元?")
_TIMES = {"": 1, "万": 10_000, "亿": 100_000_000}


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    meta = row.get("meta")
    return "kind" not in row and ("fact" in row or (isinstance(meta, dict) and any(name in meta for name in LABELS)))


def convert(row: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a record as a criminal case's plain data, with a remark where a fine was not taken over."""
    fact, meta = facts_in(row, "fact"), row.get("meta")
    if "meta" not in row and any(name in row for name in FLAT):
        flat = {name: row[name] for name in TERM if name in row}
        meta = row if "term_of_imprisonment" in row else row | {"term_of_imprisonment": flat}
    if not isinstance(meta, dict):
        raise CaseError("`meta` is missing. A CAIL record holds articles, charges and term there.")
    names = _names(meta.get("criminals"))
    gold: dict[str, Any] = {"relevant_articles": articles(meta.get("relevant_articles"))}
    gold |= {"charges": charges(meta.get("accusation")), "term_of_imprisonment": term(meta.get("term_of_imprisonment"))}
    case = criminal(fact, source="A CAIL2018 record", defendants=names, **gold)
    fine = meta.get("punish_of_money")
    text = (
        f"The fine of {fine} yuan (`punish_of_money`) was not taken over: a judgment has articles, charges and a term."
    )
    return case, (text,) if fine not in (None, "", 0, "0") else ()


def facts_in(row: Mapping[str, Any], *fields: str) -> str:
    """Return the text of the facts, from the first of these fields that has something."""
    facts = next((row[name] for name in fields if row.get(name)), None)
    if not isinstance(facts, str) or not facts.strip():
        raise CaseError(f"{' or '.join(f'`{name}`' for name in fields)} must be the text of the facts.")
    return facts


def criminal(
    facts: str, *, source: str, defendants: Sequence[str] = (), given: Mapping[str, Any] | None = None, **gold: Any
) -> dict[str, Any]:
    """A criminal case as plain data; its id comes from its facts, so that the same facts have the same id.

    Args:
        given: fields of `Given`, what the record gives beside the facts; with it the id is another one.
        gold: fields of `Gold`; None where a record does not say.
    """
    facts = facts.strip()
    first = facts.replace("\n", " ")
    content = facts + (json.dumps(given, ensure_ascii=False, sort_keys=True) if given else "")
    digest = hashlib.sha256(content.encode(errors="surrogatepass")).hexdigest()[:16]
    title = first[:40] + ("…" if len(first) > 40 else "")
    case: dict[str, Any] = {"kind": "criminal", "id": f"case-{digest}", "title": title, "source": source}
    case |= {"language": language_of(facts), "facts": facts, "defendants": list(defendants or defendants_in(facts))}
    known = {name: value for name, value in gold.items() if value is not None}
    return {**case, "given": dict(given) if given else None, "gold": known or None}


def articles(value: Any) -> list[int] | None:
    """Article numbers; what is certain is repaired, e.g. `第264条`. None where none is given."""
    items = value if isinstance(value, list) else [] if value in (None, "") else [value]
    return list(dict.fromkeys(number for item in items for number in _articles(item))) or None


def charges(value: Any) -> list[str] | None:
    """Return names of charges, in a text with `;` between them, as a name may hold `、`; None where none is given."""
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
    if isinstance(value, int | float | str) and not isinstance(value, bool):
        with suppress(ValueError):
            number = float(value)
            return int(number) if number.is_integer() else None
    return None


def looks_like_lawbench(row: dict[str, Any]) -> bool:
    """Whether a record is meant to be of this form."""
    return {"instruction", "question", "answer"} <= row.keys() and "kind" not in row


def convert_lawbench(row: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a record as plain data, without a remark; raises `CaseError` where task or answer can't be read with certainty."""
    question, answer = row["question"], row["answer"]
    if not isinstance(question, str) or not isinstance(answer, str):
        raise CaseError("`question` and `answer` must be texts.")
    for prefix, read in READERS.items():
        if answer.strip().startswith(prefix):
            return read(question.strip(), re.split(r"[:：]", answer, maxsplit=1)[-1].strip(" \r\n\t。")), ()
    raise CaseError("the answer's beginning is of no task that is read here (3-1, 3-3, 3-4, 3-5, 3-6, 3-7).")


def _given_articles(question: str, answer: str) -> dict[str, Any]:
    facts, given = _given(question)
    gold = _labels(given) | {"relevant_articles": _known(articles(answer), "article")}
    return criminal(facts, source="LawBench 3-1", given=given, **gold)


def _charges(question: str, answer: str) -> dict[str, Any]:
    facts, _ = _given(question)
    return criminal(facts, source="LawBench 3-3", charges=_known(charges(answer), "charge"))


def _term(question: str, answer: str) -> dict[str, Any]:
    facts, given = _given(question)
    source = f"LawBench {'3-5' if 'article_text' in given else '3-4'}"
    return criminal(facts, source=source, given=given, term_of_imprisonment=_months(answer), **_labels(given))


def _labels(given: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in given.items() if name != "article_text"}


def _choice(question: str, answer: str) -> dict[str, Any]:
    found, letters = _OPTIONS.fullmatch(question), re.findall(r"[A-D]", answer)
    if found is None or len(letters) != 1:
        raise CaseError("a case analysis needs options A to D and one letter as its answer.")
    facts, *options = found.groups()
    case = criminal(facts, source="LawBench 3-6", choice=letters[0])
    return case | {"asked": "case_analysis", "options": [option.strip(" ;；。\r\n") for option in options]}


def _amount(question: str, answer: str) -> dict[str, Any]:
    found = _YUAN.fullmatch(answer.replace(",", "").replace("，", ""))
    if found is None:
        raise CaseError(f"the answer “{answer[:40]}” is no amount in yuan.")
    facts = re.sub(r"^文书[:：]\s*", "", html.unescape(question))
    amount = float(Decimal(found[1]) * _TIMES[found[2] or ""])
    return criminal(facts, source="LawBench 3-7", amount=amount) | {"asked": "crime_amount"}


READERS: dict[str, Callable[[str, str], dict[str, Any]]] = {
    "法条": _given_articles,
    "罪名": _charges,
    "刑期": _term,
    "正确答案": _choice,
    "上文涉及到的犯罪金额": _amount,
}


def _given(question: str) -> tuple[str, dict[str, Any]]:
    """The facts, and what the question gives beside them."""
    facts = re.sub(r"^事实[:：]\s*", "", question)
    given: dict[str, Any] = {}
    if found := _GIVEN_ARTICLE.search(facts):
        given["relevant_articles"] = articles(found["articles"])
        if text := (found["text"] or "").strip():
            given["article_text"] = text
        facts = facts[: found.start()]
    if found := _GIVEN_CHARGE.search(facts):
        given["charges"] = charges(found["charges"])
        facts = facts[: found.start()]
    return facts, given


def _known(labels: list[Any] | None, what: str) -> list[Any]:
    if labels is None:
        raise CaseError(f"the answer names no {what}.")
    return labels


def _months(text: str) -> dict[str, Any] | None:
    found = _TERM.fullmatch(text)
    if found is None:
        raise CaseError(f"the answer “{text[:40]}” is no term.")
    months = 12 * int(found["years"] or 0) + int(found["months"] or 0)
    flags = {"death_penalty": bool(found["death"]), "life_imprisonment": bool(found["life"])}
    return term({**flags, "imprisonment": months})
