"""Criminal cases: CAIL2018, LawBench, MultiLJP, MUD.

| form | records known by | facts | gold |
| --- | --- | --- | --- |
| CAIL2018 | `fact` with `meta`, or flat with `accusation`, `imprisonment` ... | `fact` | see `cases.readers.cail` |
| LawBench | `instruction`, `question`, `answer` | `question` | `answer`; see `cases.readers.cail` |
| MultiLJP (Lyu et al. 2023) | `fact`, `criminals_info` | `fact` | by defendant `accusations`, `laws`, `term` |
| MUD (Wei et al. 2024) | `facts`, `labels` with `subject`, `charge` | `facts` | of each defendant `charge` |

Where a record judges several defendants, each is one row, in which it is the primary defendant; the rows share a group.

Records of trials: SimuCourt (He et al. 2024) and SimCourt (Zhang et al. 2025).

| | SimuCourt | SimCourt |
| --- | --- | --- |
| known by | `类别`, `基本案情`; on appeal `一审法院认定事实` | `prosecution_statement`, `charge`, `term` |
| facts | the charge (`原告诉请判令（公诉机关指控）`) and `基本案情` | `prosecution_statement_sub`, its penalty masked |
| ... | on appeal `一审法院认定事实`, `上诉请求`, `本院二审查明事实` | else `prosecution_statement`; `evidence` |
| gold | `刑事_罪名`, `刑事_刑期`, `引用法律条文1` ... of the Criminal Law | `charge`, `term` in months or in words |

Of SimuCourt, civil and administrative cases are left out: no procedure hears them. What the court found (`法院意见`,
`result`) and the fine are not taken over.

Queries and candidates of case retrieval: LeCaRD (Ma et al. 2021) and LeCaRDv2 (Li et al. 2024).

| | LeCaRD | LeCaRDv2 |
| --- | --- | --- |
| queries (split `queries`) | `ridx`, `q`, `crime` | `id`, `query`, `fact` |
| candidates (split `candidates`) | `ajjbqk`, `ajName`, `qw`; id: file | `pid`, `fact`, `qw`, `charge`, `article` |
| relevance | `golden_labels.json`, `label_top30_dict.json` | `*.trec`: query, 0, candidate, grade |

Each becomes a criminal case, so that candidates can be taken in as precedents. A candidate that stands under several
queries is one row.
"""

import re
from collections.abc import Iterator
from pathlib import PurePosixPath
from typing import Any

from courtroom.cases.kinds import parse_case
from courtroom.cases.readers import cail
from courtroom.datasets.forms.form import Context, Form, having
from courtroom.datasets.row import IncomingRow
from courtroom.datasets.source import RELEVANCE, SourceFile
from courtroom.errors import CaseError, CourtroomError
from courtroom.law import LONGEST, article_number, defendants_in, numeral
from courtroom.text.files import json_of
from courtroom.text.words import strings

_NUMERAL = r"[\d零〇一二两三四五六七八九十]+"
_MONTHS = re.compile(
    rf"(?:有期徒刑|拘役|管制)\s*(?:(?P<years>{_NUMERAL})年)?(?:零|又)?(?:(?P<half>半)|(?P<months>{_NUMERAL})个?月)?"
)
_NONE = re.compile(r"免[予于]?刑事处罚|罚金|无罪")
_TASK = re.compile(r"\d-\d+")
_MARKS = re.compile(r"^[\[<【]+|[\]>】]+$")
KIND, STORY, FOUND = "类别", "基本案情", "一审法院认定事实"
FIELDS = ("原告诉请判令（公诉机关指控）", STORY, FOUND, "上诉请求", "本院二审查明事实")
"""What a judge is given, in this order. On appeal, that is nothing of how the first court has judged."""
_ORIGINAL = re.compile(r"[（(]原审[^（）()]*[）)]")
_CRIMINAL_LAW = re.compile(r"《(?:中华人民共和国)?刑法》\s*(第[^，,；;《]*)")
_CONVICTED = re.compile(r"犯(?=[^，,。；;]*罪)([^，,。；;]*?罪(?:[、和][^，,。；;]*?罪)*)(?=[，,。；;]|$|判|的|一案)")
_NOTHING = ("", "无", None)
QUERIES, CANDIDATES = "queries", "candidates"
_LABELS = re.compile(r"(golden_labels|label(_top\d+)?(_dict)?)\.json")


def term_in_words(text: str) -> dict[str, Any] | None:
    """The first term that a judgment names, in CAIL's form; None where it says that there is none on record. A
    suspended sentence counts by its length, not by its probation; a fine alone, and exemption from punishment, are 0
    months. Raises `CaseError`: no term can be read in it."""
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
    months = 0
    if first == "months":
        rest = 6 if found[0]["half"] else numeral(found[0]["months"] or "0")
        months = 12 * numeral(found[0]["years"] or "0") + rest
    if months > LONGEST:
        raise CaseError(f"“{line[:40]}” is {months} months, longer than the law allows ({LONGEST}).")
    return {"death_penalty": first == "death", "life_imprisonment": first == "life", "imprisonment": months}


def _cail(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    data, remarks = cail.convert(record)
    own = record.get("id") or record.get("uid")
    yield IncomingRow(parse_case(data), id=str(own) if own is not None else "", remarks=remarks)


def _lawbench(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    task = context.part.stem if _TASK.fullmatch(context.part.stem) else ""
    made = parse_case(cail.convert_lawbench(record)[0])
    own = f"{task}-{context.number}" if task else ""
    yield IncomingRow(made, id=own, category=task, group=made.id if task else "", asked=task)


def _multiljp(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    fact, text = cail.facts_in(record, "fact"), record["criminals_info"]
    if not text:
        raise CaseError("`criminals_info` names no defendant.")
    for name, info in text.items():
        if not isinstance(info, dict):
            raise CaseError(f"`criminals_info › {name}` must be an object with `accusations` and `term`.")
        gold: dict[str, Any] = {"charges": cail.charges(info.get("accusations"))}
        gold |= {"relevant_articles": cail.articles(info.get("laws"))}
        gold |= {"term_of_imprisonment": _term(info.get("term", info.get("terms")))}
        yield _of_one(record, context, fact, list(text), name, "A MultiLJP record", gold)


def _is_mud(record: dict[str, Any], part: SourceFile) -> bool:
    labels = record.get("labels") if "facts" in record else None
    return isinstance(labels, list) and all(isinstance(one, dict) and "subject" in one for one in labels)


def _mud(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    facts, labels = cail.facts_in(record, "facts"), record["labels"]
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
) -> IncomingRow:
    """One defendant's row: that defendant first, then the others in their order."""
    ordered = [name, *(other for other in names if other != name)]
    data = cail.criminal(facts, source=source, defendants=[_MARKS.sub("", one) for one in ordered], **gold)
    own = record.get("id")
    group = f"{context.split or context.part.stem}-{own}" if own is not None else data["id"]
    return IncomingRow(parse_case(data), id=f"{group}-{names.index(name) + 1}", group=group[:80], asked=name)


def _term(value: Any) -> dict[str, Any] | None:
    if isinstance(value, list):
        value = value[0] if len(value) == 1 else None
    if isinstance(value, str) and not re.fullmatch(r"-?\d+(\.\d+)?", value.strip()):
        return term_in_words(value)
    return cail.term(value)


def _simucourt(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    kind = str(record[KIND]).strip()
    if not kind.startswith("刑事"):
        raise CaseError(f"`{KIND}` is “{kind[:20]}”; only criminal cases (刑事) can be heard.")
    values = {name: text for name in FIELDS if (text := str(record.get(name) or "").strip()) not in _NOTHING}
    if not values.keys() & {STORY, FOUND}:
        raise CaseError(f"`{STORY}`, or `{FOUND}` of an appeal, must be the text of the facts.")
    named = _ORIGINAL.sub("", str(record.get("被告") or record.get("上诉人") or ""))
    source = f"SimuCourt, {record.get('案号', '')}".strip(", ")
    names = [name.strip() for name in re.split("[、，,;；]", named) if name.strip() not in _NOTHING]
    gold: dict[str, Any] = {"charges": _charges(record.get("刑事_罪名"))}
    gold |= {"term_of_imprisonment": term_in_words(str(record.get("刑事_刑期") or ""))}
    gold |= {"relevant_articles": _articles(record)}
    data = cail.criminal("\n".join(values.values()), source=source, defendants=names, **gold)
    appeal = "appeal" if FOUND in record else "first"
    own = f"{appeal}-{record['序号']}" if "序号" in record else ""
    yield IncomingRow(parse_case(data), id=own, category=str(record.get("审理程序") or ""))


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


def _simcourt(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    statement = cail.facts_in(record, "prosecution_statement_sub", "prosecution_statement")
    evidence = list(strings(record.get("evidence")))
    about = str(record.get("defendant_information") or "")
    months = record.get("term")
    if isinstance(months, bool) or not isinstance(months, int | float | str | None):
        raise CaseError("`term` must be a number of months, or a term in words.")
    term = term_in_words(months) if isinstance(months, str) else cail.term(None if months is None else round(months))
    facts, names = "\n".join((statement, *evidence)), defendants_in(about) or defendants_in(statement)
    charges = cail.charges(record["charge"])
    data = cail.criminal(facts, source="SimCourt", defendants=names, charges=charges, term_of_imprisonment=term)
    folder = PurePosixPath(context.part.name).parent.name
    own = folder if context.part.stem.startswith("data") else context.part.stem
    yield IncomingRow(parse_case(data), id=f"trial-{own or context.number}")


def is_relevance(part: SourceFile) -> bool:
    """Whether a file holds judgments of relevance, and no records."""
    return part.ending in RELEVANCE or bool(_LABELS.fullmatch(part.name.rpartition("/")[2]))


def candidate_id(own: Any) -> str:
    return f"candidate-{own}"


def relevance_in(part: SourceFile) -> Iterator[tuple[str, str, int]]:
    """Query, candidate and grade of each judgment in a file. Raises `CourtroomError`: a line, or the file, is no
    judgment of relevance; the sentence names it."""
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
                why = f"{part.name}, line {number}: it must be query, 0, candidate and grade, with spaces between."
                raise CourtroomError(why)
            if fields:
                yield f"query-{fields[0]}", candidate_id(fields[2]), int(fields[3])


def _in_object(content: Any) -> Iterator[tuple[str, str, int]]:
    """By query a list of relevant ids, or grades by id."""
    if not isinstance(content, dict):
        raise CaseError("it must be an object with a list of candidates, or their grades, for each query.")
    for query, found in content.items():
        if isinstance(found, dict) and all(isinstance(grade, int) for grade in found.values()):
            yield from ((f"query-{query}", candidate_id(one), grade) for one, grade in found.items())
        elif isinstance(found, list) and all(isinstance(one, int | str) for one in found):
            yield from ((f"query-{query}", candidate_id(one), 1) for one in found)
        else:
            raise CaseError(f"`{query}` must be a list of candidates, or their grades.")


def _fits(record: dict[str, Any], part: SourceFile) -> bool:
    names = record.keys()
    v1 = {"ridx", "q"} <= names or {"ajjbqk", "qw"} <= names
    return v1 or {"pid", "qw"} <= names or ({"id", "query"} <= names and ("fact" in names or "query" in part.stem))


def _read(record: dict[str, Any], context: Context) -> Iterator[IncomingRow]:
    gold: dict[str, Any] = {}
    is_query = "ridx" in record or not {"ajjbqk", "pid"} & record.keys()
    if "ridx" in record:
        own, fields = record["ridx"], ["q"]
        gold = {"charges": cail.charges(record.get("crime"))}
    elif "ajjbqk" in record:
        own, fields = context.part.stem, ["ajjbqk", "qw"]
    elif "pid" in record:
        own, fields = record["pid"], ["fact", "qw"]
        articles = cail.articles(record.get("article"))
        gold = {"charges": cail.charges(record.get("charge")), "relevant_articles": articles}
    else:
        own, fields = record["id"], ["fact", "query"]
    facts = cail.facts_in(record, *fields)
    data = cail.criminal(facts, source="LeCaRD" if {"ridx", "ajjbqk"} & record.keys() else "LeCaRDv2", **gold)
    if title := str(record.get("ajName") or "").strip():
        data["title"] = title[:200]
    name = f"query-{own}" if is_query else candidate_id(own)
    yield IncomingRow(parse_case(data), id=name, split=QUERIES if is_query else CANDIDATES, once=not is_query)


CAIL = Form("cail", "CAIL2018, raw or flat", lambda record, part: cail.looks_like(record), _cail)
LAWBENCH = Form("lawbench", "LawBench", lambda record, part: cail.looks_like_lawbench(record), _lawbench)
MULTILJP = Form(
    *("multiljp", "MultiLJP"),
    lambda record, part: "fact" in record and isinstance(record.get("criminals_info"), dict),
    _multiljp,
)
MUD = Form("mud", "MUD", _is_mud, _mud)
SIMUCOURT = Form(
    *("simucourt", "SimuCourt"),
    lambda record, part: KIND in record and (STORY in record or FOUND in record),
    _simucourt,
)
SIMCOURT = Form("simcourt", "SimCourt", having("prosecution_statement", "charge"), _simcourt)
LECARD = Form("lecard", "LeCaRD, first and second edition", _fits, _read)
