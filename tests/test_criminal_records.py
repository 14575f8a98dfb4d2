"""Records of CAIL2018, questions of LawBench and records of VerdictBench, read as cases, some of them checked by hand."""

import json
import re
from contextlib import suppress
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.cases.criminal import CriminalCase, Given
from courtroom.cases.files import Package, read_upload
from courtroom.cases.kinds import parse_case
from courtroom.cases.readers import cail, verdictbench
from courtroom.cases.readers.verdictbench import FIELDS
from courtroom.errors import CaseError
from courtroom.law import LONGEST, Term, defendants_in
from tests.real import FOLDER, needs_real_data

READ: dict[str, Any] = json.loads((Path(__file__).parent / "inputs/read.json").read_text(encoding="utf-8"))
ENGLISH: dict[str, Any] = READ["verdictbench"]
FACT = "被告人高某某在商场内窃得他人手机一部，价值2100元。"
TERM = "term_of_imprisonment"
MONTHS = {"death_penalty": False, "life_imprisonment": False, "imprisonment": 8}


def case(fact: str = FACT, **meta: Any) -> Any:
    given = {"relevant_articles": [264], "accusation": ["盗窃"], TERM: MONTHS, **meta}
    (found,) = read_upload("case.json", json.dumps({"fact": fact, "meta": given}).encode())
    return found.case


def real(name: str) -> list[Any]:
    """The cases of a file of the real data."""
    path = FOLDER / name
    return [package.case for package in read_upload(path.name, path)]


@pytest.mark.parametrize(("wrong", "told"), READ["wrong records"])
def test_a_record_that_does_not_fit_is_named(wrong: dict[str, Any], told: str) -> None:
    whole = {"fact": FACT, "meta": {"relevant_articles": [264]}}
    with pytest.raises(CaseError, match="^cases.jsonl, line 2: ") as error:
        read_upload("cases.jsonl", "\n".join(json.dumps(row) for row in (whole, wrong, whole)).encode())
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        ("relevant_articles", "第264条、第266条", (264, 266)),
        ("relevant_articles", [264.0, "266"], (264, 266)),
        ("relevant_articles", ["第385条第1款", "第一百三十三条之一"], (385, 133)),
        ("relevant_articles", ["Article 264", "刑法第二百六十六条", "133-1"], (264, 266, 133)),
        (TERM, {"imprisonment": 36.0, "death_penalty": None}, Term(imprisonment=36)),
        (TERM, {"death_penalty": "false", "life_imprisonment": "true"}, Term(life_imprisonment=True)),
    ],
)
def test_articles_and_terms_are_read_where_they_are_certain(field: str, written: Any, read: object) -> None:
    assert getattr(case(**{field: written}).gold, field) == read


@pytest.mark.parametrize(
    ("field", "written", "told"),
    [
        *(("relevant_articles", text, "`relevant_articles`") for text in ("第264条，第1款", "第264条至第266条")),
        *(("relevant_articles", [one], "`relevant_articles`") for one in (None, True, 26.4, {})),
        (TERM, {"death_penalty": True, "life_imprisonment": True, "imprisonment": 0}, "it is death and life"),
        (TERM, {"life_imprisonment": "true", "imprisonment": "36"}, "it is life and 36 months"),
        (TERM, {"imprisonment": 8.5}, "must be a number of months"),
        (TERM, {"imprisonment": LONGEST + 1}, "longer than the law allows"),
    ],
)
def test_what_is_doubtful_or_not_certain_is_refused(field: str, written: Any, told: str) -> None:
    with pytest.raises(CaseError, match=rf"^case\.json: .*{re.escape(told)}"):
        case(**{field: written})


def test_defendants_are_found_in_the_facts() -> None:
    named = {
        "被告人郑某甲、郑某乙、郑1某共谋。": ("郑某甲", "郑某乙", "郑1某"),
        "被告人高某、石某（已判刑）到场。": ("高某",),
        "被告人王海某伙同张××，被告人李××不知情。": ("王海某", "李××"),
        "被告人段志军，男。被告人供述，与段志军一致。": ("段志军",),
        "被告人到案后，被告人系累犯，被告人于某日在某店被抓获。": (),
        "公诉机关没有指明任何人。": (),
        "The defendant Ms Lin Fang took it; the defendant, Mr Bo, kept watch.": ("Ms Lin Fang", "Mr Bo"),
    }
    assert {facts: defendants_in(facts) for facts in named} == named


def test_what_was_decided_on_each_defendant_is_kept_by_name() -> None:
    each = [{"name": "高某某", "charges": ["盗窃罪"]}, {"name": "石某", "charges": ["掩饰犯罪所得"]}]
    plain = cail.criminal("被告人高某某、石某共同窃得手机一部。", source="", charges=["盗窃罪"])
    plain |= {"defendants": ["高某某", "石某"], "gold": {**plain["gold"], "each": each}}
    found = CriminalCase.model_validate({**plain, "title": "x"})
    assert found.defendants == ("高某某", "石某")
    assert [str(found.gold.decided(name)) for name in ("", *found.defendants)] == ["盗窃", "盗窃", "掩饰犯罪所得"]
    assert found.real_outcome() == "Judgment on record · 高某某: 盗窃 · 石某: 掩饰犯罪所得"
    assert found.blind().gold is None
    with pytest.raises(ValueError, match="孙某 is none of them"):
        CriminalCase.model_validate({**plain, "title": "x", "gold": {"each": [{"name": "孙某"}]}})


def ask(question: Any, answer: Any) -> Any:
    row = {"instruction": "...", "question": question, "answer": answer}
    (package,) = read_upload("task.json", json.dumps([row], ensure_ascii=False).encode())
    return package.case


@pytest.mark.parametrize(("question", "answer", "told"), READ["uncertain answers"])
def test_an_answer_that_is_not_certain_is_refused(question: str, answer: Any, told: str) -> None:
    with pytest.raises(CaseError, match=r"^task\.json: ") as error:
        ask(question, answer)
    assert told in str(error.value)


def test_what_a_question_gives_beside_the_facts_is_gold_too() -> None:
    charges = ask(f"事实:{FACT}\r\n罪名:盗窃;诈骗。", "法条:刑法第264、266条")
    assert (charges.given, charges.source) == (Given(charges=("盗窃", "诈骗")), "LawBench 3-1")
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
    articles = "法条：刑法第264条、第266条。法条内容：第二百六十四条 写在\n几行里"
    case = ask(f"事实：{facts}\r\n罪名：盗窃。{articles}", "刑期:8个月")
    assert (case.facts, case.gold.charges, case.gold.relevant_articles) == (facts, ("盗窃",), (264, 266))


@needs_real_data
def test_records_checked_by_hand_are_read_right() -> None:
    cases = real("cail_like.jsonl")
    read = [(one.defendant, one.gold.relevant_articles, one.gold.charges) for one in cases]
    assert read[0] == ("李某某", (236,), ("强奸",))
    assert read[130] == ("唐某某", None, ("贪污", "挪用公款"))
    assert read[198] == ("陆某", (194,), ("票据诈骗",))
    terms = [str(cases[line - 1].gold.term_of_imprisonment) for line in (1, 2, 38, 72, 199)]
    assert terms == ["144 months", "21 months", "life", "0 months", "108 months"]
    articles, charges, without, with_text, choices, amounts = (real(f"lawbench/3-{task}.jsonl") for task in "134567")
    assert (articles[135].gold.relevant_articles, articles[135].gold.charges) == ((384,), ("挪用公款",))
    assert charges[60].gold.charges == ("走私国家禁止进出口的货物、物品",)
    assert charges[199].gold.charges == ("受贿", "滥用职权")
    for found in (without, with_text):
        assert str(found[0].gold.judgment()) == "article 236; 强奸; 144 months"
        assert found[144].gold.charges == ("生产、销售有毒、有害食品",)
        assert [n for n, case in enumerate(found, 1) if str(case.gold.term_of_imprisonment) == "life"] == [38, 55]
    assert (choices[1].gold.choice, choices[1].options[3]) == ("C", "甲应赔偿乙的损失")
    assert [amounts[place].gold.amount for place in (0, 1, 50, 187)] == [8500, 115_000, 6015, 1152]


def read(record: Any) -> Package:
    (package,) = read_upload("record.json", json.dumps(record).encode())
    return package


def test_an_english_record_is_read_whole_and_written_again() -> None:
    package = read(ENGLISH)
    case = package.case
    assert package.remarks == ()
    assert (case.id, case.title, case.language) == ("4711", "Rice cooker", "en")
    assert (case.category, case.subcategory) == ("Digital & Appliances", "Small Appliances")
    deal = case.transaction
    assert (deal.product, deal.price, deal.currency, deal.order_state) == ("Rice cooker", 129.5, "CNY", "delivered")
    assert (deal.delivered_at - deal.ordered_at).days == 2
    assert [(line.speaker, line.text) for line in case.chat] == [("buyer", "Does it heat?"), ("seller", "It does.")]
    assert case.chat[0].at is not None
    assert [(piece.id, piece.round) for piece in case.evidence] == [("buyer-1", 1), ("buyer-2", 2), ("seller-1", 1)]
    assert [(medium.kind, medium.file, medium.description) for medium in case.media()] == [
        *(("image", "img/1.jpg", ""), ("image", "img/2.jpg", "the crack")),
        *(("video", "vid/1.mp4", ""), ("image", "img/3.jpg", "")),
    ]
    assert case.real_counts() == {"buyer": 11, "seller": 6}
    assert case.jury.opinions[0].text == "The crack is plain."
    (again,) = read_upload("again.json", case.model_dump_json().encode())
    assert again.case == case


@pytest.mark.parametrize(("changes", "remark"), READ["doubtful records"])
def test_what_is_doubtful_is_reported(changes: dict[str, Any], remark: str) -> None:
    remarks = read({**ENGLISH, **changes}).remarks
    assert any(remark in told for told in remarks), remarks


@pytest.mark.parametrize(("votes", "winner", "counts"), READ["votes"])
def test_numbers_as_votes_follow_the_winner(votes: list[Any], winner: str | None, counts: dict[str, int]) -> None:
    package = read({**ENGLISH, "votes": votes, "winner": winner})
    assert package.case.real_counts() == counts
    assert any(remark.startswith("The votes are numbers") for remark in package.remarks)


OUTCOME = "closed: seller wins, no refund"


@pytest.mark.parametrize("name", sorted({*FIELDS["status"], *FIELDS["winner"], "label"}))
def test_no_alias_of_a_status_tells_the_outcome_to_members(name: str) -> None:
    deal = {key: value for key, value in ENGLISH["product_info"].items() if key != "status"}
    for record in ({**ENGLISH, name: OUTCOME}, {**ENGLISH, "product_info": {**deal, name: OUTCOME}}):
        package = read(record)
        assert OUTCOME not in package.case.blind().model_dump_json()
        assert package.case.transaction.order_state in ("", "delivered")
        assert package.remarks or name in FIELDS["winner"], "what is left out is told"


def test_a_record_under_unknown_names_hears_the_known_ones() -> None:
    with pytest.raises(CaseError) as refused:
        read({"标题名": "壶", "买家说": "裂了。"})
    assert all(name in str(refused.value) for name in ("buyer_evidence", "买家举证", "标题名, 买家说"))
    assert read({"案件标题": "壶", "产品": "壶", "买家举证": "裂了。"}).case.title == "壶"


names = sorted({name for aliases in FIELDS.values() for name in aliases} | {"buyer", "seller"})
words = st.text(max_size=8)
anything = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | words | st.sampled_from(["buyer", "0"]),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from(names) | words, inner, max_size=4),
    max_leaves=12,
)


@given(st.dictionaries(st.sampled_from(names), anything, max_size=8), st.text(min_size=1, max_size=200))
def test_no_record_of_whatever_shape_breaks_the_reader(record: dict[str, Any], product: str) -> None:
    if product.strip():
        assert parse_case(verdictbench.convert({"product": product, "evidence": []})[0]).id
    data = json.dumps({"product": "Pot", "evidence": [], **record}).encode()
    with suppress(CaseError):
        assert read_upload("record.json", data)[0].case.kind == "dispute"
