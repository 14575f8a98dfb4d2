"""Published forms of datasets, with the field names of their own files. All records here are invented."""

import json
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.criminal import CriminalCase
from courtroom.cases.labelled import LabelledTask
from courtroom.datasets import Selection
from tests.desk import Desk
from tests.real import FOLDER, needs_real_data

FORMS = json.loads((Path(__file__).parent / "inputs/forms.json").read_text(encoding="utf-8"))
"""Records of published forms, and what is read from them."""
FACTS = "经审理查明，被告人张某在商场内窃得他人手机一部，价值2100元。"


def gold(desk: Desk) -> list[dict[str, Any]]:
    """What is known of each row's case, without what is not."""
    cases = [row.case for row in desk.rows()]
    return [case.gold.model_dump(exclude_none=True) for case in cases if isinstance(case, CriminalCase) and case.gold]


def labels(desk: Desk) -> list[str | None]:
    """Each row's label."""
    return [row.case.items[0].label for row in desk.rows() if isinstance(row.case, LabelledTask)]


def task(desk: Desk) -> LabelledTask:
    """The first row's task."""
    case = desk.rows()[0].case
    assert isinstance(case, LabelledTask)
    return case


MONTHS = {"death_penalty": False, "life_imprisonment": False, "imprisonment": 8}
KNOWN = {"relevant_articles": (264,), "charges": ("盗窃",), "term_of_imprisonment": MONTHS}


def test_cail_raw_and_flat_give_the_same_case(desk: Desk) -> None:
    known = {"relevant_articles": [264], "accusation": ["盗窃"], "punish_of_money": 1000, "criminals": ["张某"]}
    raw = {"fact": FACTS, "meta": {**known, "term_of_imprisonment": MONTHS}}
    flat = {"fact": FACTS, **known, **MONTHS}
    done = desk.take(desk.write("data_train.json", [raw, flat]))
    assert (done.taken, done.refused, done.info.splits) == (2, 0, {"train": 2})
    first, second = (row.case.model_copy(update={"id": "x"}) for row in desk.rows())
    assert first == second
    assert gold(desk) == [KNOWN, KNOWN]
    assert [row.category for row in desk.rows()] == ["盗窃", "盗窃"]
    ((remark, times),) = done.remarks.items()
    assert (times, "punish_of_money" in remark) == (2, True)


def test_multiljp_gives_a_row_for_each_defendant(desk: Desk) -> None:
    each = {
        "[被告A]": {"accusations": ["盗窃罪"], "laws": [264, 25], "term": "有期徒刑一年六个月，缓刑二年"},
        "[被告B]": {"accusations": ["盗窃罪", "诈骗罪"], "laws": [264, 266], "term": "拘役三个月"},
    }
    record = {"id": 7, "fact": "[被告A]与[被告B]共同盗窃。", "laws": [264, 25], "criminals_info": each, "relations": []}
    desk.take(desk.write("data_test_v5.03.jsonl", [record]))
    first, second = desk.rows()
    assert (first.case.defendants, second.case.defendants) == (("被告A", "被告B"), ("被告B", "被告A"))
    assert (first.group, first.split) == (second.group, "test")
    assert first.id != second.id
    one, two = gold(desk)
    assert (one["charges"], one["relevant_articles"]) == (("盗窃",), (264, 25))
    assert (two["charges"], two["relevant_articles"]) == (("盗窃", "诈骗"), (264, 266))
    assert [known["term_of_imprisonment"]["imprisonment"] for known in (one, two)] == [18, 3]


def test_simucourt_keeps_criminal_cases_alone(desk: Desk) -> None:
    case = {
        "序号": 1, "案件名": "某人盗窃一审刑事判决书", "类别": "刑事", "案由": "盗窃", "案号": "（2023）某0115刑初1号",
        "审理程序": "一审", "被告": "张某、李某", "原告诉请判令（公诉机关指控）": "起诉书指控被告人张某犯盗窃罪", "基本案情": FACTS,
        "法院意见": "构成盗窃罪。", "引用法律条文1": "《中华人民共和国刑法》第二百六十四条", "引用法律条文2": "《中华人民共和国刑法》第六十七条第一款",
        "引用法律条文3": "《中华人民共和国刑事诉讼法》第十五条", "引用法律条文4": "无", "刑事_罪名": "被告人犯盗窃罪、诈骗罪",
        "刑事_刑期": "判处有期徒刑三年二个月", "刑事_罚金": "处罚金人民币四千元", "民事结果1": "无",
    }  # fmt: skip
    civil = {**case, "序号": 2, "类别": "民事", "刑事_罪名": "无", "刑事_刑期": "无"}
    done = desk.take(desk.write("SimuCourt(1).json", [case, civil]))
    (row,) = desk.rows()
    assert (row.case.defendants, row.category) == (("张某", "李某"), "一审")
    assert "构成盗窃罪" not in row.case.facts
    (known,) = gold(desk)
    assert (known["relevant_articles"], known["charges"]) == ((264, 67), ("盗窃", "诈骗"))
    assert known["term_of_imprisonment"]["imprisonment"] == 38
    (problem,) = done.problems
    assert problem.place == "SimuCourt(1).json, entry 2"
    assert "`类别` is “民事”" in problem.message


def test_simcourt_takes_the_statement_with_the_masked_penalty(desk: Desk) -> None:
    stated = "被告人李某甲醉酒驾驶。建议判处拘役"
    known = {"term": 3.0, "fine": 2000.0, "reprieve": 0.0, "charge": ["危险驾驶罪"], "result": "判决如下：拘役三个月。"}
    statements = {"prosecution_statement": f"{stated}三个月。", "prosecution_statement_sub": f"{stated}XX。"}
    heard = {"evidence": [["1.书证：户籍证明", "2.鉴定意见"], []], "fact": "我酒后驾驶。"}
    record = {"defendant_information": "被告人李某甲，男，1985年生。", **statements, **heard, **known}
    desk.write("data_LJP/12/data_anonymized.json", record)
    desk.write("data_LJP/2/data_anonymized.json", {**record, "charge": ["盗窃罪"]})
    desk.take()
    first, second = desk.rows()
    assert "三个月" not in first.case.facts
    assert "鉴定意见" in first.case.facts
    assert first.case.defendants == ("李某甲",)
    assert [one["charges"] for one in gold(desk)] == [("盗窃",), ("危险驾驶",)]  # folder 2 before folder 12
    assert gold(desk)[0]["term_of_imprisonment"]["imprisonment"] == 3
    assert (first.id, second.id) == ("trial-2", "trial-12")
    assert (first.place, second.place) == ("data_LJP/2/data_anonymized.json", "data_LJP/12/data_anonymized.json")


def test_lecard_gives_queries_candidates_and_relevance(desk: Desk) -> None:
    query = {"path": "a/b.json", "ridx": 1325, "q": FACTS, "crime": ["诈骗罪", "信用卡诈骗罪"]}
    desk.write("query/query.json", [query])
    names = {"ajId": "x", "ajName": "某人贩卖毒品一案", "writId": "y", "writName": "z"}
    candidate = {**names, "ajjbqk": "公诉机关指控……", "pjjg": "判处……", "qw": "全文"}
    desk.write("candidates/1325/38633.json", candidate)
    desk.write("candidates/7/38633.json", candidate)
    desk.write("candidates/1325/5187.json", {**candidate, "ajjbqk": "另一案情。"})
    desk.write("label/golden_labels.json", {"1325": [38633]})
    desk.write("label/label_top30_dict.json", {"1325": {"38633": 3, "5187": 1}})
    done = desk.take()
    assert done.info.splits == {"candidates": 2, "queries": 1}
    assert sorted(row.id for row in desk.rows()) == ["candidate-38633", "candidate-5187", "query-1325"]
    assert desk.datasets.relevance("set") == {"query-1325": {"candidate-38633": 3, "candidate-5187": 1}}
    assert next(desk.datasets.rows("set", wanted=Selection(ids=("query-1325",)))).case.gold.charges == (
        "诈骗",
        "信用卡诈骗",
    )


@needs_real_data
def test_real_records_are_named_by_task_and_item(desk: Desk) -> None:
    done = desk.take(FOLDER / "lawbench")
    assert (done.taken, done.refused) == (1185, 0)
    row = next(desk.datasets.rows("set", wanted=Selection(ids=("3-4-10",))))
    assert (row.category, row.number, row.place) == ("3-4", 10, "3-4.jsonl, line 11")
    asked = {row.category: row.case.asked for row in desk.rows()}
    assert asked == {**dict.fromkeys(asked, "judgment"), "3-6": "case_analysis", "3-7": "crime_amount"}
    assert not any(row.case.facts.startswith(("事实", "文书:")) for row in desk.rows())
    cail = desk.take(FOLDER / "cail_like.jsonl", name="cail")
    assert (cail.taken, cail.refused) == (199, 0)


@pytest.mark.parametrize("form", FORMS["documents"])
def test_documents_come_with_their_summaries(desk: Desk, form: dict[str, Any]) -> None:
    desk.take(desk.write("test.jsonl", [form["record"], form["record"] | {"id": "other"}]))
    case = desk.rows()[0].case
    assert (case.text, case.reference, case.domain) == (form["text"], form["summary"], form["domain"])


@pytest.mark.parametrize("form", FORMS["labelled"], ids=lambda form: form["file"])
def test_labelled_texts_have_the_labels_of_their_files(desk: Desk, form: dict[str, Any]) -> None:
    done = desk.take(desk.write(form["file"], form["content"]), names=form["names"])
    assert done.refused == 0
    assert labels(desk) == form["labels"]
    assert task(desk).names == tuple(form["columns"])
    assert set(filter(None, form["labels"])) <= set(task(desk).labels)
