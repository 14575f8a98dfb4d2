"""Criminal cases: CAIL2018, LawBench, MultiLJP, MUD.

| form | records known by | facts | gold |
| --- | --- | --- | --- |
| CAIL2018 | `fact` with `meta`, or flat with `accusation`, `relevant_articles`, `imprisonment` ... | `fact` | see `cases.readers.cail` |
| LawBench | `instruction`, `question`, `answer` | `question` | `answer`; see `cases.readers.lawbench` |
| MultiLJP (Lyu et al. 2023) | `fact`, `criminals_info` | `fact` | of each defendant `accusations`, `laws`, `term` (in words) or `terms` |
| MUD (Wei et al. 2024) | `facts`, `labels` with `subject`, `charge` | `facts` | of each defendant `charge` |

Where a record judges several defendants, each is one row, in which it is the primary defendant; the rows share a group.
"""

import re
from collections.abc import Iterator
from typing import Any

from courtroom.cases.readers import cail, lawbench
from courtroom.datasets.forms.form import Context, Form, ImportedRow, case_of
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError
from courtroom.law import LONGEST

_DIGITS = {sign: value for value, sign in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_NUMERAL = r"[\d零〇一二两三四五六七八九十]+"
_MONTHS = re.compile(
    rf"(?:有期徒刑|拘役|管制)\s*(?:(?P<years>{_NUMERAL})年)?(?:零|又)?(?:(?P<half>半)|(?P<months>{_NUMERAL})个?月)?"
)
_NONE = re.compile(r"免[予于]?刑事处罚|罚金|无罪")


def term_in_words(text: str) -> dict[str, Any] | None:
    """The first term that a judgment names, in CAIL's form; None where it says that there is none on record.

    A suspended sentence counts by its length, not by its probation; a fine alone, and exemption from punishment, are 0
    months.

    Raises:
        CaseError: no term can be read in it.
    """
    line = text.strip()
    if line in ("", "无"):
        return None
    found = [match for match in _MONTHS.finditer(line) if match["years"] or match["months"] or match["half"]]
    death, life = line.find("死刑"), line.find("无期徒刑")
    begins = {kind: place for kind, place in (("death", death), ("life", life)) if place >= 0}
    if found:
        begins["months"] = found[0].start()
    if not begins:
        if _NONE.search(line):
            return {"death_penalty": False, "life_imprisonment": False, "imprisonment": 0}
        raise CaseError(f"“{line[:40]}” names no term. Write it as in 有期徒刑一年六个月.")
    first = min(begins, key=lambda kind: begins[kind])
    months = _months(found[0]) if first == "months" else 0
    if months > LONGEST:
        raise CaseError(f"“{line[:40]}” is {months} months, longer than the law allows ({LONGEST}).")
    return {"death_penalty": first == "death", "life_imprisonment": first == "life", "imprisonment": months}


def _months(match: re.Match[str]) -> int:
    return 12 * _value(match["years"]) + (6 if match["half"] else _value(match["months"]))


def _value(numeral: str | None) -> int:
    """`二十五` as 25, `12` as 12."""
    if not numeral:
        return 0
    if numeral.isdigit():
        return int(numeral)
    tens, found, ones = numeral.rpartition("十")
    if not found:
        return int("".join(str(_DIGITS[sign]) for sign in ones))
    return 10 * (_DIGITS[tens[-1]] if tens else 1) + (_DIGITS[ones[-1]] if ones else 0)


_TASK = re.compile(r"\d-\d+")
_MARKS = re.compile(r"^[\[<【]+|[\]>】]+$")


def _cail(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    data, remarks = cail.convert(record)
    own = record.get("id") or record.get("uid")
    yield ImportedRow(case_of(data), id=str(own) if own is not None else "", remarks=remarks)


def _is_cail(record: dict[str, Any], part: SourceFile) -> bool:
    return cail.looks_like(record)


def _lawbench(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    task = context.part.stem if _TASK.fullmatch(context.part.stem) else ""
    made = case_of(lawbench.convert(record))
    own = f"{task}-{context.number}" if task else ""
    yield ImportedRow(made, id=own, category=task, group=made.id if task else "", asked=task)


def _is_multiljp(record: dict[str, Any], part: SourceFile) -> bool:
    return "fact" in record and isinstance(record.get("criminals_info"), dict)


def _multiljp(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    fact, text = record["fact"], record["criminals_info"]
    if not isinstance(fact, str) or not fact.strip():
        raise CaseError("`fact` must be the text of the facts.")
    if not text:
        raise CaseError("`criminals_info` names no defendant.")
    for name, info in text.items():
        if not isinstance(info, dict):
            raise CaseError(f"`criminals_info › {name}` must be an object with `accusations` and `term`.")
        gold = {
            "charges": cail.charges(info.get("accusations")),
            "relevant_articles": cail.articles(info.get("laws")),
            "term_of_imprisonment": _term(info.get("term", info.get("terms"))),
        }
        yield _of_one(record, context, fact, list(text), name, "A MultiLJP record", gold)


def _is_mud(record: dict[str, Any], part: SourceFile) -> bool:
    labels = record.get("labels")
    return (
        "facts" in record
        and isinstance(labels, list)
        and all(isinstance(one, dict) and "subject" in one for one in labels)
    )


def _mud(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    facts, labels = record["facts"], record["labels"]
    if not isinstance(facts, str) or not facts.strip():
        raise CaseError("`facts` must be the text of the facts.")
    charged: dict[str, list[str]] = {}
    for number, label in enumerate(labels, start=1):
        subject, charge = label.get("subject"), label.get("charge")
        if not isinstance(subject, str) or not isinstance(charge, str):
            raise CaseError(f"`labels {number}` must have `subject` and `charge` as texts.")
        charged.setdefault(subject, []).append(charge)
    if not charged:
        raise CaseError("`labels` names no defendant.")
    for name, names in charged.items():
        yield _of_one(record, context, facts, list(charged), name, "A MUD record", {"charges": cail.charges(names)})


def _of_one(
    record: dict[str, Any], context: Context, facts: str, names: list[str], name: str, source: str, gold: dict[str, Any]
) -> ImportedRow:
    """One defendant's row: that defendant first, then the others in their order."""
    ordered = [name, *(other for other in names if other != name)]
    data = cail.criminal(facts, source=source, defendants=[_MARKS.sub("", one) for one in ordered], **gold)
    own = record.get("id")
    group = f"{context.split or context.part.stem}-{own}" if own is not None else data["id"]
    return ImportedRow(case_of(data), id=f"{group}-{names.index(name) + 1}", group=group[:80], asked=name)


def _term(value: Any) -> dict[str, Any] | None:
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    if isinstance(value, str) and not re.fullmatch(r"-?\d+(\.\d+)?", value.strip()):
        return term_in_words(value)
    return cail.term(value)


CAIL = Form("cail", "CAIL2018, raw or flat", "criminal", _is_cail, _cail)
LAWBENCH = Form("lawbench", "LawBench", "criminal", lambda record, part: lawbench.looks_like(record), _lawbench)
MULTILJP = Form("multiljp", "MultiLJP", "criminal", _is_multiljp, _multiljp)
MUD = Form("mud", "MUD", "criminal", _is_mud, _mud)
