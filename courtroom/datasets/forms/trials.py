"""Records of trials: SimuCourt (He et al. 2024) and SimCourt (Zhang et al. 2025).

| form | records known by | facts | gold |
| --- | --- | --- | --- |
| SimuCourt | `类别`, `基本案情`; on appeal `一审法院认定事实` | what the prosecution charges (`原告诉请判令（公诉机关指控）`) and `基本案情`; on appeal `一审法院认定事实`, `上诉请求`, `本院二审查明事实` | `刑事_罪名`, `刑事_刑期`, `引用法律条文1` ... as far as they are of the Criminal Law |
| SimCourt | `prosecution_statement`, `charge`, `term` | `prosecution_statement_sub`, where the recommended penalty is masked, or else `prosecution_statement`; `evidence` | `charge`, `term` in months or in words |

Of SimuCourt, civil and administrative cases are left out: no procedure hears them. What the court found (`法院意见`,
`result`) and the fine are not taken over.
"""

import re
from collections.abc import Iterator
from typing import Any

from courtroom.cases.readers import cail
from courtroom.datasets.forms.criminal import term_in_words
from courtroom.datasets.forms.form import Context, Form, ImportedRow, case_of
from courtroom.datasets.source import SourceFile
from courtroom.errors import CaseError
from courtroom.law import article_number, defendants_in

KIND, STORY, FOUND = "类别", "基本案情", "一审法院认定事实"
FIELDS = ("原告诉请判令（公诉机关指控）", STORY, FOUND, "上诉请求", "本院二审查明事实")
"""What a judge is given, in this order. On appeal, that is nothing of how the first court has judged."""
_ORIGINAL = re.compile(r"[（(]原审[^（）()]*[）)]")
_CRIMINAL_LAW = re.compile(r"《(?:中华人民共和国)?刑法》\s*(第[^，,；;《]*)")
_CONVICTED = re.compile(r"犯(?=[^，,。；;]*罪)([^，,。；;]*?罪(?:[、和][^，,。；;]*?罪)*)(?=[，,。；;]|$|判|的|一案)")
_NOTHING = ("", "无", None)


def _is_simucourt(record: dict[str, Any], part: SourceFile) -> bool:
    return KIND in record and (STORY in record or FOUND in record)


def _simucourt(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    kind = str(record[KIND]).strip()
    if not kind.startswith("刑事"):
        raise CaseError(f"`{KIND}` is “{kind[:20]}”; only criminal cases (刑事) can be heard.")
    values = {name: text for name in FIELDS if (text := str(record.get(name) or "").strip()) not in _NOTHING}
    if not values.keys() & {STORY, FOUND}:
        raise CaseError(f"`{STORY}`, or `{FOUND}` of an appeal, must be the text of the facts.")
    named = _ORIGINAL.sub("", str(record.get("被告") or record.get("上诉人") or ""))
    data = cail.criminal(
        "\n".join(values.values()),
        source=f"SimuCourt, {record.get('案号', '')}".strip(", "),
        defendants=[name.strip() for name in re.split("[、，,;；]", named) if name.strip() not in _NOTHING],
        charges=_charges(record.get("刑事_罪名")),
        term_of_imprisonment=term_in_words(str(record.get("刑事_刑期") or "")),
        relevant_articles=_articles(record),
    )
    appeal = "appeal" if FOUND in record else "first"
    yield ImportedRow(
        case_of(data),
        id=f"{appeal}-{record['序号']}" if "序号" in record else "",
        category=str(record.get("审理程序") or ""),
    )


def _charges(value: Any) -> list[str] | None:
    if value in _NOTHING:
        return None
    text = str(value)
    found = [charge for match in _CONVICTED.findall(text) for charge in re.split("(?<=罪)[、和]", match)]
    names = found or [charge for charge in re.split("(?<=罪)[、；;，,]", text) if charge.strip().endswith("罪")]
    if not names:
        raise CaseError(f"`刑事_罪名`: “{text[:40]}” names no charge.")
    return cail.charges(names)


def _articles(record: dict[str, Any]) -> list[int] | None:
    """Articles of the Criminal Law; those of other laws are no part of a judgment here."""
    numbers: list[int] = []
    for name, value in record.items():
        if not name.startswith("引用法律条文") or value in _NOTHING:
            continue
        for text in _CRIMINAL_LAW.findall(str(value)):
            for one in re.findall(r"第[零〇一二两三四五六七八九十百\d]+条", text):
                try:
                    numbers.append(article_number(one))
                except ValueError as error:
                    raise CaseError(f"`{name}`: {error}.") from error
    return list(dict.fromkeys(numbers)) or None


def _is_simcourt(record: dict[str, Any], part: SourceFile) -> bool:
    return "prosecution_statement" in record and "charge" in record


def _simcourt(record: dict[str, Any], context: Context) -> Iterator[ImportedRow]:
    statement = record.get("prosecution_statement_sub") or record["prosecution_statement"]
    if not isinstance(statement, str) or not statement.strip():
        raise CaseError("`prosecution_statement` must be the text of the indictment.")
    evidence = list(_flat(record.get("evidence")))
    about = str(record.get("defendant_information") or "")
    months = record.get("term")
    if isinstance(months, bool) or not isinstance(months, int | float | str | None):
        raise CaseError("`term` must be a number of months, or a term in words.")
    data = cail.criminal(
        "\n".join((statement, *evidence)),
        source="SimCourt",
        defendants=defendants_in(about) or defendants_in(statement),
        charges=cail.charges(record["charge"]),
        term_of_imprisonment=_term(months),
    )
    own = context.part.folder if context.part.stem.startswith("data") else context.part.stem
    yield ImportedRow(case_of(data), id=f"trial-{own or context.number}")


def _term(value: int | float | str | None) -> dict[str, Any] | None:
    if isinstance(value, str):
        return term_in_words(value)
    return None if value is None else cail.term(round(value))


def _flat(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for one in value:
            yield from _flat(one)


SIMUCOURT = Form("simucourt", "SimuCourt", "criminal", _is_simucourt, _simucourt)
SIMCOURT = Form("simcourt", "SimCourt", "criminal", _is_simcourt, _simcourt)
