"""CAIL2018 records: plain ones, odd spellings, doubtful terms, defendants, and records checked by hand; what is known of a judgment."""

import json
import re
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.files import Package, read_upload
from courtroom.cases.readers import cail
from courtroom.errors import CaseError
from courtroom.judging.criminal import JudgmentAnswer
from courtroom.law import LONGEST, Term, defendants_in
from tests.real import FOLDER, needs_real_data

FACT = "被告人高某某在商场内窃得他人手机一部，价值2100元。"
TERM = "term_of_imprisonment"
MONTHS = {"death_penalty": False, "life_imprisonment": False, "imprisonment": 8}


def package(fact: str = FACT, **meta: Any) -> Package:
    row = {
        "fact": fact,
        "meta": {"relevant_articles": [264], "accusation": ["盗窃"], "term_of_imprisonment": MONTHS} | meta,
    }
    (found,) = read_upload("case.json", json.dumps(row).encode())
    return found


def case(fact: str = FACT, **meta: Any) -> CriminalCase:
    found = package(fact, **meta).case
    assert isinstance(found, CriminalCase)
    return found


def gold(**meta: Any) -> Gold:
    found = case(**meta).gold
    assert found is not None
    return found


def test_a_record_becomes_a_criminal_case() -> None:
    assert case().id == case(accusation=["诈骗"]).id != case(FACT + "又查明：").id
    found = case(accusation=["[盗窃]罪"])
    assert (found.facts, found.language, found.defendant) == (FACT, "zh", "高某某")
    assert str(found.gold.judgment()) == "article 264; 盗窃; 8 months"
    assert found.blind().gold is None


@pytest.mark.parametrize(
    ("wrong", "told"),
    [
        ({"fact": FACT}, "`meta` is missing"),
        ({"fact": "", "meta": {}}, "`fact` must be the text"),
        ({"fact": "被告人\ud83d", "meta": {"relevant_articles": [264]}}, "holds half a character"),
        ({"meta": {"accusation": ["盗窃"]}}, "`fact` must be the text"),
        ({"fact": FACT, "meta": {"accusation": [7]}}, "`accusation` must be a list"),
        ({"fact": FACT, "meta": {"relevant_articles": [999]}}, "the Criminal Law has no article 999"),
    ],
)
def test_a_record_that_does_not_fit_is_named_and_nothing_of_the_file_is_taken(wrong: dict[str, Any], told: str) -> None:
    whole = {"fact": FACT, "meta": {"relevant_articles": [264]}}
    with pytest.raises(CaseError, match="^cases.jsonl, line 2: ") as error:
        read_upload("cases.jsonl", "\n".join(json.dumps(row) for row in (whole, wrong, whole)).encode())
    assert told in str(error.value)


@pytest.mark.parametrize(
    ("field", "written", "read"),
    [
        ("relevant_articles", "第264条、第266条", (264, 266)),
        ("relevant_articles", "刑法第280、264条", (280, 264)),
        ("relevant_articles", "264;266", (264, 266)),
        ("relevant_articles", "264, 266", (264, 266)),
        ("relevant_articles", [264.0, "266"], (264, 266)),
        ("relevant_articles", ["第385条第1款", "第一百三十三条之一"], (385, 133)),
        ("relevant_articles", [264, "264"], (264,)),
        ("relevant_articles", 264, (264,)),
        ("relevant_articles", ["Article 264", "刑法第二百六十六条", "133-1"], (264, 266, 133)),
        (TERM, {"imprisonment": "36"}, Term(imprisonment=36)),
        (TERM, {"imprisonment": 36.0, "death_penalty": None}, Term(imprisonment=36)),
        (TERM, {"death_penalty": "false", "life_imprisonment": "true"}, Term(life_imprisonment=True)),
        (TERM, {"death_penalty": 1, "life_imprisonment": 0, "imprisonment": 0}, Term(death_penalty=True)),
        (TERM, MONTHS | {"imprisonment": 0}, Term()),
        (TERM, 12, Term(imprisonment=12)),
        (TERM, {}, None),
    ],
)
def test_articles_and_terms_are_read_as_long_as_they_are_certain(field: str, written: Any, read: object) -> None:
    assert getattr(gold(**{field: written}), field) == read


def test_what_a_record_does_not_tell_is_not_known_and_charges_are_parted_by_semicolons_only() -> None:
    known = gold(relevant_articles=[], accusation=[])
    assert (known.relevant_articles, known.charges) == (None, None)
    assert case(relevant_articles=[], accusation="", term_of_imprisonment=None).gold is None
    listed = gold(accusation="[走私、贩卖、运输、制造毒品]罪；盗窃罪;盗窃").charges
    assert listed == ("走私、贩卖、运输、制造毒品", "盗窃")


UNCERTAIN = ("Article 264, paragraph 1", "第264条，第1款", "第264条至第266条", [None], [True], [26.4], [{}])


@pytest.mark.parametrize(
    ("field", "written", "told"),
    [
        *(("relevant_articles", written, "`relevant_articles`") for written in UNCERTAIN),
        (TERM, {"death_penalty": True, "life_imprisonment": True, "imprisonment": 0}, "it is death and life"),
        (TERM, {"life_imprisonment": "true", "imprisonment": "36"}, "it is life and 36 months"),
        (TERM, {"death_penalty": "perhaps", "imprisonment": 0}, "`death_penalty` must be true or false"),
        (TERM, {"death_penalty": False, "life_imprisonment": False}, "`imprisonment` is missing"),
        (TERM, {"imprisonment": 8.5}, "must be a number of months"),
        (TERM, {"imprisonment": True}, "must be a number of months"),
        (TERM, [8], "`term_of_imprisonment` must hold"),
        (TERM, {"imprisonment": LONGEST + 1}, "longer than the law allows"),
    ],
)
def test_what_is_doubtful_or_not_certain_is_refused(field: str, written: Any, told: str) -> None:
    with pytest.raises(CaseError, match=rf"^case\.json: .*{re.escape(told)}"):
        case(**{field: written})


def test_defendants_are_those_of_the_record_before_those_of_the_facts() -> None:
    assert case().defendants == ("高某某",)
    assert case(criminals=[]).defendants == ("高某某",)
    assert case(criminals=["郑某甲", " 郑某乙 ", "郑某甲"]).defendants == ("郑某甲", "郑某乙")
    assert case(criminals="郑某甲、郑某乙").defendant == "郑某甲"
    with pytest.raises(CaseError, match="`criminals` must be a list of names"):
        case(criminals={"first": "郑某甲"})


@pytest.mark.parametrize(
    ("facts", "named"),
    [
        ("被告人郑某甲、郑某乙、郑1某共谋。", ("郑某甲", "郑某乙", "郑1某")),
        ("被告人高某、石某（已判刑）到场。", ("高某",)),
        ("被告人王海某伙同张××，被告人李××不知情。", ("王海某", "李××")),
        ("被告人段志军，男。被告人供述，与段志军一致。", ("段志军",)),
        ("被告人到案后，被告人系累犯，被告人于某日在某店被抓获。", ()),
        ("公诉机关没有指明任何人。", ()),
        ("The defendant Ms Lin Fang took it; the defendant, Mr Bo, kept watch.", ("Ms Lin Fang", "Mr Bo")),
    ],
)
def test_defendants_are_found_in_the_facts(facts: str, named: tuple[str, ...]) -> None:
    assert defendants_in(facts) == named


def test_a_fine_is_left_out_with_a_remark() -> None:
    (remark,) = package(punish_of_money=2000).remarks
    assert "2000 yuan" in remark
    assert package(punish_of_money=0).remarks == ()
    assert package().remarks == ()


def test_what_was_decided_on_each_defendant_is_kept_by_name() -> None:
    plain = cail.criminal(
        "被告人高某某、石某共同窃得手机一部。",
        source="",
        each=[{"name": "高某某", "charges": ["盗窃罪"]}, {"name": "石某", "charges": ["掩饰犯罪所得"]}],
    )
    found = CriminalCase.model_validate({**plain, "title": "x"})
    assert found.defendants == ("高某某", "石某")
    assert [str(found.gold.decided(name)) for name in ("", *found.defendants)] == ["盗窃", "盗窃", "掩饰犯罪所得"]
    assert found.real_outcome() == "Judgment on record · 高某某: 盗窃 · 石某: 掩饰犯罪所得"
    assert found.blind().gold is None
    with pytest.raises(ValueError, match="孙某 is none of them"):
        CriminalCase.model_validate({**plain, "title": "x", "gold": {"each": [{"name": "孙某"}]}})


def test_what_is_not_known_of_a_judgment_is_left_out_of_its_words() -> None:
    told = {
        "盗窃": Gold(charges=("盗窃",)),
        "9 months": Gold(term_of_imprisonment=Term(imprisonment=9)),
        "articles 264, 266; 0 months": Gold(relevant_articles=(264, 266), term_of_imprisonment=Term()),
        "": Gold(),
    }
    assert [str(known.decided()) for known in told.values()] == [*told]


def test_a_judgment_that_a_model_writes_as_text_is_repaired_where_it_is_certain() -> None:
    given = {"relevant_articles": "Article 264", "accusation": "盗窃罪；诈骗罪", "term_of_imprisonment": MONTHS}
    answer = JudgmentAnswer.model_validate(given)
    assert str(answer.judgment()) == "article 264; 盗窃; 诈骗; 8 months"
    for wrong, why in (
        ({"relevant_articles": ["Article 9999"]}, "no article 9999"),
        ({"term_of_imprisonment": {"life_imprisonment": True, "imprisonment": 36}}, "only one of the three"),
    ):
        with pytest.raises(ValueError, match=why):
            JudgmentAnswer.model_validate({**given, **wrong})


json_values = st.recursive(
    st.none() | st.booleans() | st.integers(-500, 500) | st.floats() | st.text(max_size=8),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.sampled_from([*MONTHS, "x"]), inner, max_size=3),
    max_leaves=6,
)


@given(json_values, json_values, json_values, json_values)
@pytest.mark.slow
def test_whatever_a_record_holds_it_becomes_a_case_or_is_refused(
    articles: Any, charges: Any, term: Any, criminals: Any
) -> None:
    meta = {"relevant_articles": articles, "accusation": charges, "term_of_imprisonment": term, "criminals": criminals}
    try:
        plain, _ = cail.convert({"fact": FACT, "meta": meta})
    except CaseError:
        return
    assert CriminalCase.model_validate(plain).facts == FACT


@needs_real_data
def test_records_checked_by_hand_are_read_right() -> None:
    path = FOLDER / "cail_like.jsonl"
    cases = [found.case for found in read_upload(path.name, path)]
    read = {}
    for line in (1, 2, 38, 51, 72, 131, 199):
        chosen = cases[line - 1]
        assert chosen.gold is not None
        known = chosen.gold
        read[line] = (chosen.defendant, known.relevant_articles, known.charges, str(known.term_of_imprisonment))
    assert read[1] == ("李某某", (236,), ("强奸",), "144 months")
    assert read[2] == ("张某", (234,), ("故意伤害",), "21 months")
    assert read[38][-1] == "life"
    assert read[51] == ("陈某", None, ("故意伤害",), "24 months")
    assert read[72][-1] == "0 months"
    assert read[131] == ("唐某某", None, ("贪污", "挪用公款"), "120 months")
    assert read[199] == ("陆某", (194,), ("票据诈骗",), "108 months")
