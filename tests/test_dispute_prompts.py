"""What members are told of an order and its evidence: what is known, and no more."""

import pytest

from courtroom.cases.dispute import Dispute
from courtroom.cases.files import read_folder
from courtroom.cases.kinds import PROMPTS
from courtroom.knowledge.bases import dispute_text
from courtroom.models.rendering import environment, whole
from courtroom.settings import DATA


def shared(name: str) -> str | None:
    path = PROMPTS / f"{name}.md.j2"
    return path.read_text() if path.is_file() else None


@pytest.fixture
def case() -> Dispute:
    found = read_folder(DATA / "cases" / "moving-service").case
    assert isinstance(found, Dispute)
    return found


def told(case: Dispute) -> str:
    return whole(environment(shared), "dispute", {"case": case, "setup": {}})


def test_a_case_that_fits_no_category_is_not_called_other(case: Dispute) -> None:
    without = case.model_copy(update={"category": "Other", "subcategory": ""})
    assert "Category: Other" not in told(without)
    assert dispute_text(without) in dispute_text(case)
    assert "Other" not in dispute_text(without)


def test_an_unknown_price_is_not_told_as_nothing(case: Dispute) -> None:
    assert "second floor, 750.00 CNY" in told(case)
    without = case.model_copy(update={"transaction": case.transaction.model_copy(update={"price": None})})
    assert "second floor, price not given" in told(without)
    assert without.brief() == (case.category, "4 pieces of evidence")
    given_away = case.model_copy(update={"transaction": case.transaction.model_copy(update={"price": 0.0})})
    assert "second floor, 0.00 CNY" in told(given_away), "it really was free"


def test_a_piece_left_out_leaves_no_gap(case: Dispute) -> None:
    first, *others = (piece for piece in case.evidence if piece.side == "buyer")
    left = case.without(first.id)
    assert first.text not in told(left)
    assert [piece.text for piece in left.by_side("buyer")] == [piece.text for piece in others]
    assert [piece.id for piece in left.by_side("buyer")] == [f"buyer-{n}" for n in range(1, len(others) + 1)]
    assert "buyer-1 (submission 1," in told(left)
    assert left.by_side("seller") == case.by_side("seller")
    assert case.without() == case
    assert "The buyer submitted none." in told(case.without(*(piece.id for piece in case.by_side("buyer"))))
