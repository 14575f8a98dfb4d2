"""What members are told of an order and its evidence: what is known, and no more."""

from pathlib import Path

import pytest

from courtroom.cases.dispute import Dispute
from courtroom.cases.files import read_folder
from courtroom.cases.kinds import PROMPTS
from courtroom.models.rendering import environment, whole
from courtroom.procedures.cyberjurors import tasks
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


def test_a_price_that_is_not_known_is_not_told_as_nothing(case: Dispute) -> None:
    assert "second floor, 750.00 CNY" in told(case)
    without = case.model_copy(update={"transaction": case.transaction.model_copy(update={"price": None})})
    assert "second floor, price not given" in told(without)
    assert without.brief() == (case.category, "4 pieces of evidence")
    given_away = case.model_copy(update={"transaction": case.transaction.model_copy(update={"price": 0.0})})
    assert "second floor, 0.00 CNY" in told(given_away), "it really was free"


def test_a_juror_is_told_when_a_piece_of_evidence_came_in(case: Dispute) -> None:
    assert "buyer-1 (submission 1, came in 2026-04-02 19:10" in told(case)
    silent = tuple(piece.model_copy(update={"at": None}) for piece in case.evidence)
    assert "came in" not in told(case.model_copy(update={"evidence": silent}))


def test_a_juror_that_looks_at_a_piece_is_told_when_it_came_in(case: Dispute) -> None:
    folder = Path(tasks.__file__).parent / "prompts"
    text = (folder / "perceive.md.j2").read_text()
    assert "evidence.at" in text
    line = next(line for line in text.splitlines() if line.startswith("## The piece"))
    rendered = environment(lambda name: line).get_template("line").render(evidence=case.evidence[0], side="buyer")
    assert rendered == "## The piece: buyer-1, from the buyer, submission 1, came in 2026-04-02 19:10"
