"""Reading answers: whatever a model wraps its JSON in, and never half an answer."""

import json
from typing import Literal

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from courtroom.models import repair
from courtroom.models.repair import CutOff, InvalidAnswer, Refused, Withheld, complaint, read_answer


class Opinion(BaseModel):
    vote: Literal["buyer", "seller"]
    reason: str = Field(min_length=1)
    weights: list[int] = []


LATE = Opinion(vote="buyer", reason="late")
opinions = st.builds(
    Opinion,
    vote=st.sampled_from(["buyer", "seller"]),
    reason=st.text(st.characters(exclude_categories=["Cs"]), min_size=1),
    weights=st.lists(st.integers(0, 9), max_size=3),
)
prose = st.text(st.characters(exclude_categories=["Cs"], exclude_characters="{}"), max_size=40)
forms = st.sampled_from([None, 1, 4])


def wrapped(before: str, opinion: Opinion, after: str, indent: int | None = None) -> str:
    return before + json.dumps(opinion.model_dump(), ensure_ascii=False, indent=indent) + after


@given(prose, opinions, prose, forms, st.booleans())
def test_a_valid_answer_is_read_in_prose_and_in_a_fence(
    before: str, opinion: Opinion, after: str, indent: int | None, fenced: bool
) -> None:
    before, after = (f"{before}\n```json\n", f"\n```\n{after}") if fenced else (before, after)
    assert read_answer(wrapped(before, opinion, after, indent), Opinion, "stop") == opinion


@given(st.data())
def test_no_part_of_an_answer_from_its_start_is_read_as_one(data: st.DataObject) -> None:
    text = wrapped(data.draw(prose), data.draw(opinions), "", data.draw(forms))
    cut = data.draw(st.integers(0, len(text) - 1))
    with pytest.raises(InvalidAnswer):
        read_answer(text[:cut], Opinion, "stop")


@given(st.text() | st.text(alphabet='{}[]",:\\ a1', max_size=60))
def test_any_text_is_read_or_unreadable(text: str) -> None:
    with pytest.raises(InvalidAnswer):
        read_answer(text, Opinion, "stop")


@given(opinions, opinions)
def test_of_a_draft_and_an_answer_the_answer_counts(draft: Opinion, answer: Opinion) -> None:
    text = f"<think>Perhaps {draft.model_dump_json()}? No.</think>\n{answer.model_dump_json()}"
    assert read_answer(text, Opinion, "stop") == answer


@given(opinions, opinions)
def test_a_draft_does_not_stand_in_for_an_answer_that_broke_off(draft: Opinion, answer: Opinion) -> None:
    with pytest.raises(InvalidAnswer):  # which sentence depends on the braces within the reason
        read_answer(f"Draft: {draft.model_dump_json()}\nFinal: {answer.model_dump_json()[:-1]}", Opinion, "stop")


@pytest.mark.parametrize(
    "text",
    [
        "{'vote': 'buyer', 'reason': 'late'}",
        '{"vote": "buyer", "reason": "late",}',
        '{vote: "buyer", reason: "late"}',
        '{"vote": "buyer" "reason": "late"}',
    ],
)
def test_slightly_wrong_json_is_mended(text: str) -> None:
    assert read_answer(text, Opinion, "stop") == LATE


def test_what_does_not_fit_is_named_field_by_field() -> None:
    with pytest.raises(InvalidAnswer) as caught:
        read_answer('{"vote": "neither", "weights": ["many"]}', Opinion, "stop")
    said = complaint(str(caught.value))
    assert "vote: Input should be 'buyer' or 'seller'" in said
    assert "reason: Field required" in said
    assert "weights.0: " in said


def test_a_long_list_of_faults_is_told_in_part() -> None:
    with pytest.raises(InvalidAnswer, match="and 17 more$") as caught:
        read_answer(json.dumps({"vote": "no", "reason": "", "weights": ["x"] * 20}), Opinion, "stop")
    assert len(str(caught.value)) < 600


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("I will not.", "no JSON object"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "nested too deeply"),
        ("[" * 20_000 + "]" * 20_000, "nested too deeply"),
        (f'{{"weights": [{"9" * 4_301}]}}', "too many digits"),
        *(
            (f'{{"vote": "buyer", "reason": "late", "sure": {number}}}', "too large, or none")
            for number in ("NaN", "-Infinity", "1e999", "9" * 400, "1e300")
        ),
        *(
            (outer + LATE.model_dump_json(), "not closed")
            for outer in ('{"all": ', '{"all": [', '{"all": [{"vote": "seller", "reason": "one"}, ')
        ),
    ],
    ids=lambda given: given[:60],
)
def test_what_can_not_be_read_is_told(text: str, why: str) -> None:
    with pytest.raises(InvalidAnswer, match=why):
        read_answer(text, Opinion, "stop")


@pytest.mark.parametrize(
    "before",
    [
        "Consider { well. ",
        "In the form {vote, reason}: ",
        "It says “{x” and then: ",
        '<think>Perhaps {"vote": "sel… or {} or { </think>',
        '<think>{"vote": "seller", "reason": "draft"}</think>',
        '{"vote": "sell… no.\n\nAgain: ',
        "{a}" * 50_000,
        '{"a"}' * 20_000,
    ],
)
def test_braces_before_the_answer_do_not_hide_it(before: str) -> None:
    assert read_answer(before + LATE.model_dump_json(), Opinion, "stop") == LATE


def test_only_so_much_is_mended_whatever_the_text(monkeypatch: pytest.MonkeyPatch) -> None:
    mended: list[int] = []
    monkeypatch.setattr(json_repair, "loads", lambda piece: mended.append(len(piece)))
    wrong = ('{"a" 1}', '{"a": ["x" "y"]}', '{"a" ' + '"x" "y' * 300 + "}")
    for text in (*(one * (290_000 // len(one)) for one in wrong), '{"a" ' + "[" * 50 + "]" * 50 + "}"):
        with pytest.raises(InvalidAnswer):
            read_answer(text, Opinion, "stop")
    assert mended
    assert len(mended) <= 3 * repair.MOST_CANDIDATES
    assert sum(mended) <= 3 * repair.MOST_MENDED


@pytest.mark.parametrize(
    ("finish", "error", "why"),
    [("length", CutOff, "cut off"), ("refusal", Refused, "late"), ("content_filter", Withheld, "filter")],
)
def test_why_there_is_no_answer_is_told_apart_even_where_it_looks_whole(
    finish: str, error: type[InvalidAnswer], why: str
) -> None:
    with pytest.raises(error, match=why):
        read_answer(LATE.model_dump_json(), Opinion, finish)
