"""CAIL2018 and LawBench records: read, repaired where certain, refused by name."""

from __future__ import annotations

import json
from typing import Any

import pytest

from courtroom.cases.criminal import CriminalCase, Given, Gold
from courtroom.cases.files import read_upload
from courtroom.cases.readers.cail import criminal
from courtroom.errors import CaseError
from courtroom.judging.answers import JudgmentAnswer
from courtroom.law.judgment import Term
from tests.real import FOLDER, needs_real_data

META = {
    "relevant_articles": [264],
    "accusation": ["[盗窃]罪"],
    "term_of_imprisonment": {"death_penalty": False, "life_imprisonment": False, "imprisonment": 8},
}
FACT = "被告人高某某在商场内窃得他人手机一部，价值2100元。"


def record(**meta: Any) -> dict[str, Any]:
    return {"fact": FACT, "meta": {**META, **meta}}


def read(*rows: dict[str, Any]) -> list[CriminalCase]:
    text = "\n".join(json.dumps(row, ensure_ascii=False) for row in rows)
    cases = [package.case for package in read_upload("cases.jsonl", text.encode())]
    return [case for case in cases if isinstance(case, CriminalCase)]


def lawbench(question: str, answer: str) -> CriminalCase:
    (case,) = read({"instruction": "...", "question": question, "answer": answer})
    return case


def test_a_cail_record_becomes_a_criminal_case() -> None:
    (case,) = read(record())
    assert case.facts == FACT
    assert case.language == "zh"
    assert case.defendant == "高某某"
    assert str(case.gold.judgment()) == "article 264; 盗窃; 8 months"
    assert case.blind().gold is None


@pytest.mark.parametrize(
    ("row", "told"),
    [
        ({"fact": FACT}, "`meta` is missing"),
        (record(relevant_articles=[999]), "the Criminal Law has no article 999"),
        (record(relevant_articles=["264 and 266"]), "does not name one article"),
        (
            record(term_of_imprisonment={"death_penalty": False, "life_imprisonment": True, "imprisonment": 36}),
            "contradicts itself: it is life and 36 months",
        ),
        (record(term_of_imprisonment={"imprisonment": -3}), "must be a number of months"),
        (record(term_of_imprisonment={"imprisonment": 4000}), "longer than the law allows"),
        (record(accusation=[7]), "`accusation` must be a list"),
        ({"fact": "", "meta": META}, "`fact` must be the text"),
        ({"instruction": "x", "question": "事实:y", "answer": "something else"}, "of no task that is read here"),
        ({"instruction": "x", "question": "题目没有选项", "answer": "正确答案:C。"}, "needs options A to D"),
    ],
)
def test_a_record_that_does_not_fit_is_named_and_nothing_of_the_file_is_taken(row: dict[str, Any], told: str) -> None:
    with pytest.raises(CaseError, match="^cases.jsonl, line 2: ") as error:
        read(record(), row, record())
    assert told in str(error.value)


def test_what_a_question_gives_beside_the_facts_is_given_and_gold() -> None:
    charges = lawbench(f"事实:{FACT}\r\n罪名:盗窃;诈骗。", "法条:刑法第264、266条")
    assert charges.given == Given(charges=("盗窃", "诈骗"))
    assert charges.source == "LawBench 3-1"
    without = lawbench(f"事实:{FACT}\r\n罪名:盗窃。法条:刑法第264条", "刑期:8个月")
    assert without.given == Given(charges=("盗窃",), relevant_articles=(264,))
    text = "第二百六十四条 盗窃公私财物，数额较大的，处三年以下有期徒刑。"
    with_text = lawbench(f"事实:{FACT}\r\n罪名:盗窃。法条:刑法第264条。法条内容：{text}", "刑期:8个月")
    assert with_text.given == Given(charges=("盗窃",), relevant_articles=(264,), article_text=text)
    assert (without.source, with_text.source) == ("LawBench 3-4", "LawBench 3-5")
    assert without.gold == with_text.gold
    nothing = lawbench(f"事实:{FACT}", "罪名:盗窃")
    assert nothing.given is None
    assert len({nothing.id, without.id, with_text.id, charges.id}) == 4
    assert CriminalCase.model_validate_json(with_text.model_dump_json()) == with_text


def test_what_was_decided_on_each_defendant_is_kept_by_name() -> None:
    plain = criminal(
        "被告人高某某、石某共同窃得手机一部。",
        source="",
        each=[{"name": "高某某", "charges": ["盗窃罪"]}, {"name": "石某", "charges": ["掩饰犯罪所得"]}],
    )
    case = CriminalCase.model_validate({**plain, "title": "x"})
    assert case.defendants == ("高某某", "石某")
    assert [str(case.gold.decided(name)) for name in ("", *case.defendants)] == ["盗窃", "盗窃", "掩饰犯罪所得"]
    assert case.real_outcome() == "Judgment on record · 高某某: 盗窃 · 石某: 掩饰犯罪所得"
    assert case.blind().gold is None
    with pytest.raises(ValueError, match="孙某 is none of them"):
        CriminalCase.model_validate({**plain, "title": "x", "gold": {"each": [{"name": "孙某"}]}})


def test_what_is_not_known_of_a_judgment_is_left_out_of_its_words() -> None:
    assert str(Gold(charges=("盗窃",)).decided()) == "盗窃"
    assert str(Gold(term_of_imprisonment=Term(imprisonment=9)).decided()) == "9 months"
    assert (
        str(Gold(relevant_articles=(264, 266), term_of_imprisonment=Term()).decided()) == "articles 264, 266; 0 months"
    )
    assert str(Gold().decided()) == ""


def test_a_judgment_that_a_model_writes_as_text_is_repaired_where_it_is_certain() -> None:
    answer = JudgmentAnswer.model_validate(
        {
            "relevant_articles": "Article 264",
            "accusation": "盗窃罪；诈骗罪",
            "term_of_imprisonment": {"death_penalty": False, "imprisonment": 8, "life_imprisonment": False},
        }
    )
    assert str(answer.judgment()) == "article 264; 盗窃; 诈骗; 8 months"
    for wrong in (
        {"relevant_articles": ["Article 9999"]},
        {"term_of_imprisonment": {"life_imprisonment": True, "imprisonment": 36}},
    ):
        with pytest.raises(ValueError, match="no article 9999|only one of the three"):
            JudgmentAnswer.model_validate(
                {"relevant_articles": [264], "charge": ["盗窃"], "term_of_imprisonment": {}, **wrong}
            )


@needs_real_data
@pytest.mark.parametrize(
    ("name", "count", "asked"),
    [
        ("cail_like.jsonl", 199, "judgment"),
        ("lawbench/3-1.jsonl", 199, "judgment"),
        ("lawbench/3-3.jsonl", 200, "judgment"),
        ("lawbench/3-4.jsonl", 199, "judgment"),
        ("lawbench/3-5.jsonl", 199, "judgment"),
        ("lawbench/3-6.jsonl", 200, "case_analysis"),
        ("lawbench/3-7.jsonl", 188, "crime_amount"),
    ],
)
def test_every_real_record_is_read(name: str, count: int, asked: str) -> None:
    path = FOLDER / name
    cases = [package.case for package in read_upload(path.name, path)]
    assert len(cases) == count
    for case in cases:
        assert case.asked == asked
        assert case.gold is not None
        assert not case.facts.startswith(("事实", "文书:"))
        assert "法条内容" not in case.facts
        given = case.given or Given()
        shown = bool(given.charges), bool(given.relevant_articles), bool(given.article_text)
        assert shown == {"3-1": (1, 0, 0), "3-4": (1, 1, 0), "3-5": (1, 1, 1)}.get(path.stem, (0, 0, 0))
