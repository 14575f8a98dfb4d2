"""Nothing of a case's own outcome reaches it, whatever was learned from that very case before."""

from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.dispute import Dispute, JurorOpinion, JuryRecord
from courtroom.cases.document import Document
from courtroom.cases.labelled import LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.knowledge.bases import from_dispute
from courtroom.law import Term
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.asked import asked
from tests.samples import sample

DECIDING = [
    name for name, one in PROCEDURES.items() if one.case_kind in ("dispute", "criminal", "document", "labelled")
]
"""The procedures that decide a case. The others learn from what is known of it."""
ONE, OTHER = "quartz", "obsidian"
"""Words that stand in no case, so that each says which outcome was known."""


def dispute(case: Dispute, word: str) -> Dispute:
    votes = (17, 0) if word == ONE else (0, 17)
    opinions = tuple(JurorOpinion(side="buyer" if word == ONE else "seller", text=f"It is {word}.") for _ in range(3))
    return case.model_copy(update={"jury": JuryRecord(buyer=votes[0], seller=votes[1], opinions=opinions)})


def criminal(case: CriminalCase, word: str) -> CriminalCase:
    articles, months = ((264,), 7) if word == ONE else ((232,), 180)
    gold = Gold(relevant_articles=articles, charges=(word,), term_of_imprisonment=Term(imprisonment=months))
    return case.model_copy(update={"gold": gold})


def document(case: Document, word: str) -> Document:
    return case.model_copy(update={"reference": f"A summary of {word}."})


def labelled(case: LabelledTask, word: str) -> LabelledTask:
    """The text that is heard first has one label or the other; its reason says which."""
    heard = case.items[0].model_copy(update={"label": case.labels[word == OTHER], "reason": f"It is {word}."})
    return case.model_copy(update={"items": (heard, *case.items[1:])})


KNOWN: dict[str, Callable[..., Case]] = {
    "dispute": dispute,
    "criminal": criminal,
    "document": document,
    "labelled": labelled,
}


def learn(house: Courthouse, case: Case) -> None:
    """Have everything learned from the case that can be: its precedent, and what VERDICT's memory takes from it."""
    if isinstance(case, Dispute):
        house.knowledge.precedents.add([from_dispute(case)])
    if isinstance(case, CriminalCase):
        house.knowledge.of("cases").add([case])
        verdict = PROCEDURES["verdict"]
        run = house.new_run("verdict", case, verdict.setup.model_validate({"learning": {"on": True}}), 0)
        house.runner.go(run)
        house.runner.wait(run, 60)
        assert house.record(run).run.status == "done", house.record(run).run.reason


@pytest.fixture
def houses(tmp_path: Path) -> Iterator[tuple[Courthouse, Courthouse]]:
    made = Courthouse(Settings(home=tmp_path / ONE)), Courthouse(Settings(home=tmp_path / OTHER))
    yield made
    for house in made:
        house.close()


@pytest.mark.parametrize("name", DECIDING)
@pytest.mark.slow
def test_what_is_asked_is_the_same_whatever_the_outcome_was(houses: tuple[Courthouse, Courthouse], name: str) -> None:
    said = []
    for house, word in zip(houses, (ONE, OTHER), strict=True):
        case = KNOWN[PROCEDURES[name].case_kind](sample(house, PROCEDURES[name].case_kind), word)
        learn(house, case)
        said.append(
            sorted(one.text() for one in asked(house, name, case=case))
        )  # members are asked at once, in any order
    assert said[0]
    assert not any(word in text for texts in said for text in texts for word in (ONE, OTHER))
    assert said[0] == said[1]
