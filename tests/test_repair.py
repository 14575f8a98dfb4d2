"""Reading answers: whatever a model wraps its JSON in, and never half an answer."""

import json
from typing import Literal

import json_repair
import pytest
from hypothesis import given
from hypothesis import strategies as st
from pydantic import BaseModel, Field

from courtroom.models import repair
from courtroom.models.repair import CutOff, InvalidAnswer, Refused, Withheld, read_answer


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
def test_a_wrapped_answer_is_read(before: str, opinion: Opinion, after: str, indent: int | None, fenced: bool) -> None:
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


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("It is the seller's fault.", "^there is no JSON object in it$"),
        ("作为一个人工智能语言模型，我无法作出判决。", "hearing is simulated"),
        ('{"a":' * 20_000 + "1" + "}" * 20_000, "nested too deeply"),
        (f'{{"weights": [{"9" * 4_301}]}}', "too many digits"),
        ('{"vote": "buyer", "reason": "late", "sure": NaN}', "too large, or none"),
        ('{"vote": "buyer", "reason": "late", "sure": 1e999}', "too large, or none"),
        ('{"all": [' + LATE.model_dump_json(), "not closed"),
    ],
    ids=lambda given: given[:60],
)
def test_what_can_not_be_read_is_told(text: str, why: str) -> None:
    with pytest.raises(InvalidAnswer, match=why):
        read_answer(text, Opinion, "stop")


WHOLE = LATE.model_dump_json()
DRAFTED = '<think>{"vote": "seller", "reason": "draft"}</think>'


@pytest.mark.parametrize(
    ("text", "finish"),
    [
        ("{'vote': 'buyer', 'reason': 'late',}", "stop"),
        ('{vote: "buyer", reason: "late"}', "stop"),
        ('{"vote": "buyer" "reason": "late"}', "stop"),
        ("In the form {vote, reason}: " + WHOLE, "stop"),
        ('<think>Perhaps {"vote": "sel… or {} or { </think>' + WHOLE, "stop"),
        (DRAFTED + WHOLE, "stop"),
        ('{"vote": "sell… no.\n\nAgain: ' + WHOLE, "stop"),
        ('{"a"}' * 20_000 + WHOLE, "stop"),
        (WHOLE, "length"),
        (WHOLE + " \n" * 500, "length"),
    ],
    ids=lambda given: given[:60],
)
def test_a_whole_answer_is_read_whatever_is_wrong_around_it(text: str, finish: str) -> None:
    assert read_answer(text, Opinion, finish) == LATE


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


class Verdict(BaseModel):
    vote: Literal["buyer", "seller"]
    sure: bool
    reasons: tuple[str, ...] = Field(min_length=1)
    concern: str = ""
    relief: Literal["full refund", "part_refund"] | None = None
    months: int = Field(default=0, description="How many months?")
    candidates: tuple[Literal["a", "b"], ...] = ()


VERDICT = {"vote": "buyer", "sure": True, "reasons": ["late"]}
SAID = json.dumps(VERDICT)


@pytest.mark.parametrize(
    "text",
    [
        *(json.dumps({name: VERDICT}) for name in ("json_tool_call", "answer")),
        json.dumps({"output": SAID}),
        json.dumps({"name": "answer", "arguments": SAID}),
        json.dumps({"type": "object", "properties": VERDICT}),
        json.dumps({"tool_calls": [{"type": "function", "function": {"name": "answer", "arguments": SAID}}]}),
        json.dumps(f"```json\n{SAID}\n```"),
        json.dumps([[VERDICT]]),
        json.dumps({name.upper(): value for name, value in VERDICT.items()}),
        json.dumps({f"**{name}**": value for name, value in VERDICT.items()}),
        *(json.dumps({**VERDICT, "vote": vote}) for vote in ("**Buyer**", "the buyer", "Vote: Buyer", ["buyer"])),
        *(json.dumps({**VERDICT, "sure": sure}) for sure in ("是", "Yes.", [True])),
        *(json.dumps({**VERDICT, "reasons": reasons}) for reasons in ("late", '["late"]')),
        json.dumps({**VERDICT, "concern": None, "relief": None, "candidates": None}),
        SAID.replace('"', "&quot;"),
        SAID.replace('"', '\\"'),
        f"My answer: {SAID.replace(chr(34), '”')}",
    ],
)
def test_an_answer_in_another_wrapping_or_writing_is_read(text: str) -> None:
    assert read_answer(text, Verdict, "stop") == Verdict.model_validate(VERDICT)


@pytest.mark.parametrize(
    ("change", "read"),
    [
        ({"months": "36个月"}, {"months": 36}),
        ({"months": "3年6个月"}, {"months": 42}),
        ({"relief": "Full Refund"}, {"relief": "full refund"}),
        ({"candidates": ["A", "**b**"]}, {"candidates": ("a", "b")}),
        ({"candidates": "a, b"}, {"candidates": ("a", "b")}),
        ({"concern": ["one", "two"]}, {"concern": "one\ntwo"}),
        ({"sure": "否"}, {"sure": False}),
    ],
    ids=str,
)
def test_what_is_meant_for_certain_is_read(change: dict[str, object], read: dict[str, object]) -> None:
    answer = read_answer(json.dumps({**VERDICT, **change}, ensure_ascii=False), Verdict, "stop")
    assert answer == Verdict.model_validate({**VERDICT, **read})


@pytest.mark.parametrize(
    ("text", "finish", "error", "why"),
    [
        (f"<think>Perhaps {WHOLE}", "length", CutOff, "cut"),
        (f"{WHOLE} Wait, let me think again: the", "length", CutOff, "cut"),
        (f'{{"final": {WHOLE}', "length", CutOff, "cut"),
        (f"{WHOLE}\n```json\n{{", "length", CutOff, "cut"),
        (WHOLE, "refusal", Refused, "late"),
        (WHOLE, "content_filter", Withheld, "filter"),
    ],
)
def test_what_looks_whole_may_be_no_answer(text: str, finish: str, error: type[InvalidAnswer], why: str) -> None:
    with pytest.raises(error, match=why):
        read_answer(text, Opinion, finish)
