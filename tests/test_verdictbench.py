"""Records of the benchmark's kind, as its paper describes them, read as disputes."""

import json
from contextlib import suppress
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from courtroom.cases.files import Package, read_upload
from courtroom.cases.kinds import parse_case
from courtroom.cases.readers import verdictbench
from courtroom.cases.readers.verdictbench import FIELDS
from courtroom.errors import CaseError

ENGLISH: dict[str, Any] = {
    "case_id": 4711,
    "category": "Small Appliances",
    "product_info": {
        "product_name": "Rice cooker",
        "product_text": "Used twice, no scratches.",
        "price": "¥129.50",
        "order_time": "2025-06-01 10:00:00",
        "delivery_time": "2025-06-03 18:30:00",
        "status": "delivered",
    },
    "chat_history": [
        {"role": "buyer", "content": "Does it heat?", "time": "2025-05-31 09:00:00"},
        {"role": "seller", "content": "It does."},
    ],
    "buyer_evidence": [
        {"text": "The lid is cracked.", "images": ["img/1.jpg", {"path": "img/2.jpg", "caption": "the crack"}]},
        {"text": "Here it is once more.", "videos": ["vid/1.mp4"], "round": 2},
    ],
    "seller_evidence": [{"content": "It left me whole.", "image": "img/3.jpg"}],
    "votes": [{"vote": "buyer", "reason": "The crack is plain."}] * 11
    + [{"vote": "seller", "reason": "No proof."}] * 6,
    "winner": "buyer",
}


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


@pytest.mark.parametrize(
    ("changes", "remark"),
    [
        ({"category": "Weapons"}, "The category (“Weapons”) is none of the five; “Other” is put in its place."),
        ({"chat_history": [{"role": "platform", "text": "Hi"}]}, "Chat line 1 is by neither side (“platform”)"),
        ({"winner": "seller"}, "The record names the seller as winner, but its votes say otherwise"),
        ({"product_info": {"product": "Pot", "price": 5}}, "No currency was found; CNY is put in its place."),
        ({"buyer_evidence": [{"text": "x", "images": [{"caption": "?"}]}]}, "is missing, so this medium was left out."),
    ],
)
def test_what_is_doubtful_is_reported(changes: dict[str, Any], remark: str) -> None:
    remarks = read({**ENGLISH, **changes}).remarks
    assert any(remark in told for told in remarks), remarks


@pytest.mark.parametrize(
    ("votes", "winner", "counts"),
    [
        ([1, 1, 0], "seller", {"buyer": 1, "seller": 2}),
        ([1, 1, 0], "buyer", {"buyer": 2, "seller": 1}),
        ([{"vote": 0, "reason": "Thin."}, {"vote": 0}], "seller", {"buyer": 0, "seller": 2}),
        (["1", "0"], "buyer", {}),
        ([1, 1, 0], None, {}),
        ([1, 1, 0], 1, {}),
        ([2, 2, 1], "buyer", {}),
    ],
)
def test_votes_as_numbers_count_where_the_winner_says_whose(
    votes: list[Any], winner: str | None, counts: dict[str, int]
) -> None:
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
