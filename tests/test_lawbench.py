"""LawBench's questions beyond the plain ones: forms of options, terms and amounts, and records checked by hand."""

import json
from typing import Any

import pytest

from courtroom.cases.criminal import CriminalCase, Given, Gold
from courtroom.cases.files import read_upload
from courtroom.errors import CaseError
from courtroom.law import Judgment, Term
from tests.real import FOLDER, needs_real_data

FACT = "被告人高某某在商场内窃得他人手机一部，价值2100元。"


def ask(question: Any, answer: Any) -> CriminalCase:
    row = {"instruction": "...", "question": question, "answer": answer}
    (package,) = read_upload("task.json", json.dumps([row], ensure_ascii=False).encode())
    assert isinstance(package.case, CriminalCase)
    return package.case


def known(case: CriminalCase) -> Gold:
    assert case.gold is not None
    return case.gold


def real(task: str) -> list[CriminalCase]:
    path = FOLDER / "lawbench" / f"{task}.jsonl"
    return [package.case for package in read_upload(path.name, path) if isinstance(package.case, CriminalCase)]


@pytest.mark.parametrize(
    "options",
    [
        "A:有罪;B:无罪;C:不起诉;D:撤案。",
        "A、有罪；B、无罪；C、不起诉；D、撤案。",
        "\nA. 有罪\nB. 无罪\nC. 不起诉\nD. 撤案\n",
        "\r\nA：有罪\r\nB：无罪\r\nC：不起诉\r\nD：撤案",
        "A．有罪。B．无罪。C．不起诉。D．撤案。",
    ],
)
def test_options_are_found_in_every_form(options: str) -> None:
    case = ask(f"A公司的甲与B、C两人订约。下列正确的是?{options}", "正确答案:B。")
    assert case.facts == "A公司的甲与B、C两人订约。下列正确的是?"
    assert case.asked == "case_analysis"
    assert case.options == ("有罪", "无罪", "不起诉", "撤案")
    assert known(case).choice == "B"


def test_parties_that_are_named_by_letters_are_no_options() -> None:
    case = ask("A、B、C、D四人共谋。谁是主犯?A:甲;B:乙;C:丙;D:丁。", "正确答案:D")
    assert case.facts == "A、B、C、D四人共谋。谁是主犯?"
    assert case.options == ("甲", "乙", "丙", "丁")


@pytest.mark.parametrize(
    ("answer", "read"),
    [
        ("刑期:42个月", Term(imprisonment=42)),
        ("刑期：42月。", Term(imprisonment=42)),
        ("刑期:3年6个月", Term(imprisonment=42)),
        ("刑期:有期徒刑10年", Term(imprisonment=120)),
        ("刑期:0个月", Term()),
        ("刑期:无期", Term(life_imprisonment=True)),
        ("刑期:无期徒刑。", Term(life_imprisonment=True)),
        ("刑期:死刑", Term(death_penalty=True)),
        ("刑期:死刑，缓期二年执行", Term(death_penalty=True)),
    ],
)
def test_terms_in_words_are_read(answer: str, read: Term) -> None:
    assert known(ask(f"事实:{FACT}\r\n罪名:盗窃。法条:刑法第264条", answer)).term_of_imprisonment == read


def test_amounts_are_read_in_yuan() -> None:
    for answer, read in {"8500.0元。": 8500, "8,500元": 8500, "2.6万元": 26_000, "人民币115000": 115_000}.items():
        assert known(ask(f"文书:{FACT}", f"上文涉及到的犯罪金额:{answer}")).amount == read


@pytest.mark.parametrize(
    ("question", "answer", "told"),
    [
        (FACT, "法条:", "names no article"),
        (FACT, "法条:刑法第999条", "has no article 999"),
        (FACT, "法条:刑法第133条之一第1款、第264条至第266条", "does not name one article"),
        (FACT, "罪名:", "names no charge"),
        (FACT, "刑期:有期徒刑", "is no term"),
        (FACT, "刑期:无期，36个月", "is no term"),
        (FACT, "刑期:400个月", "longer than the law allows"),
        (FACT, "上文涉及到的犯罪金额:1500元或7000元", "is no amount"),
        (FACT, "上文涉及到的犯罪金额:不详", "is no amount"),
        ("下列正确的是?A:一;B:二;C:三。", "正确答案:C", "needs options A to D"),
        ("下列正确的是?A:一;B:二;C:三;D:四。", "正确答案:AC", "one letter"),
        (FACT, None, "must be texts"),
        ("事实:", "罪名:盗窃", "facts"),
        ("事实:y", "something else", "of no task that is read here"),
    ],
)
def test_an_answer_that_is_not_certain_is_refused(question: str, answer: Any, told: str) -> None:
    with pytest.raises(CaseError, match=r"^task\.json: ") as error:
        ask(question, answer)
    assert told in str(error.value)


def test_what_a_question_gives_beside_the_facts_is_given_and_gold_and_leaves_the_facts_whole() -> None:
    charges = ask(f"事实:{FACT}\r\n罪名:盗窃;诈骗。", "法条:刑法第264、266条")
    assert charges.given == Given(charges=("盗窃", "诈骗"))
    assert charges.source == "LawBench 3-1"
    without = ask(f"事实:{FACT}\r\n罪名:盗窃。法条:刑法第264条", "刑期:8个月")
    assert without.given == Given(charges=("盗窃",), relevant_articles=(264,))
    text = "第二百六十四条 盗窃公私财物，数额较大的，处三年以下有期徒刑。"
    with_text = ask(f"事实:{FACT}\r\n罪名:盗窃。法条:刑法第264条。法条内容：{text}", "刑期:8个月")
    assert with_text.given == Given(charges=("盗窃",), relevant_articles=(264,), article_text=text)
    assert (without.source, with_text.source) == ("LawBench 3-4", "LawBench 3-5")
    assert without.gold == with_text.gold
    nothing = ask(f"事实:{FACT}", "罪名:盗窃")
    assert nothing.given is None
    assert len({nothing.id, without.id, with_text.id, charges.id}) == 4
    assert CriminalCase.model_validate_json(with_text.model_dump_json()) == with_text
    facts = f"{FACT}\n指控的罪名：盗窃。被告人否认。"
    case = ask(
        f"事实：{facts}\r\n罪名：盗窃。法条：刑法第264条、第266条。法条内容：第二百六十四条 写在\n几行里", "刑期:8个月"
    )
    assert case.facts == facts
    assert (known(case).charges, known(case).relevant_articles) == (("盗窃",), (264, 266))


@needs_real_data
def test_records_of_each_task_checked_by_hand_are_read_right() -> None:
    articles, charges, without, with_text = (real(task) for task in ("3-1", "3-3", "3-4", "3-5"))
    assert (known(articles[0]).relevant_articles, known(articles[0]).charges) == ((236,), ("强奸",))
    assert (known(articles[135]).relevant_articles, known(articles[135]).charges) == ((384,), ("挪用公款",))
    assert known(charges[60]).charges == ("走私国家禁止进出口的货物、物品",)
    assert known(charges[100]).charges == ("赌博", "开设赌场")
    assert known(charges[199]).charges == ("受贿", "滥用职权")
    for terms in (without, with_text):
        term = Term(imprisonment=144)
        assert known(terms[0]).judgment() == Judgment(
            relevant_articles=(236,), charges=("强奸",), term_of_imprisonment=term
        )
        assert known(terms[144]).charges == ("生产、销售有毒、有害食品",)
        assert str(known(terms[144]).term_of_imprisonment) == "5 months"
        life = [line for line, case in enumerate(terms, 1) if str(known(case).term_of_imprisonment) == "life"]
        assert life == [38, 55]
    assert [case.facts for case in without] == [case.facts for case in with_text] == [case.facts for case in articles]
    choices, amounts = real("3-6"), real("3-7")
    assert known(choices[1]).choice == "C"
    assert choices[1].facts.endswith("下列哪一选项是错误的?")
    assert len(choices[1].options) == 4
    assert choices[1].options[3] == "甲应赔偿乙的损失"
    assert choices[199].facts == "下列哪种情形不得假释:"
    assert all(option and len(option) > 1 for case in choices for option in case.options)
    counts = [sum(known(case).choice == letter for case in choices) for letter in "ABCD"]
    assert counts == [40, 43, 53, 64]
    assert [known(amounts[place]).amount for place in (0, 1, 50, 187)] == [8500, 115_000, 6015, 1152]
    assert all("&ldquo;" not in case.facts for case in amounts)
