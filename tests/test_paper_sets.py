"""Ten sets of papers become cases without a model: every piece is there, word for word."""

import json
from pathlib import Path

import pytest

from courtroom.cases.drafts import Draft, Drafts
from courtroom.cases.files import Package
from courtroom.cases.kinds import case_kinds
from courtroom.cases.papers import read_papers
from courtroom.courthouse import Courthouse
from tests.driving import house
from tests.paper_sets import SETS, PaperSet

__all__ = ["house"]  # a fixture

FILLED = {
    "dispute": {"category": "Other", "transaction.product": "It"},
    "criminal": {"matter": "criminal", "charge": "Theft", "facts": "It happened."},
    "civil": {"matter": "civil", "charge": "Money", "facts": "It happened."},
    "question": {"question": "What is to be done?", "parties": "Shopkeepers"},
}


def begun(folder: Path, papers: PaperSet) -> tuple[Drafts, Draft]:
    drafts = Drafts(folder)
    return drafts, drafts.add(drafts.begin("en"), [read_papers(name, data) for name, data in papers.files.items()])


def placed(drafts: Drafts, draft: Draft, kind: str) -> Package:
    """The case whose pieces were given to the first and the second side in turn."""
    named = "trial" if kind in ("criminal", "civil") else kind
    draft = draft.model_copy(update={"kind": named, "values": {"title": "Papers", "language": "en", **FILLED[kind]}})
    sides = list(case_kinds()[named].places(draft.values))[:2]
    pieces = (one.model_copy(update={"place": sides[number % 2]}) for number, one in enumerate(draft.pieces))
    return drafts.package(draft.model_copy(update={"pieces": tuple(pieces)}))


@pytest.mark.parametrize("name", SETS)
def test_set_becomes_a_case_with_every_piece_in_it(house: Courthouse, tmp_path: Path, name: str) -> None:
    papers = SETS[name]
    drafts, draft = begun(tmp_path / "drafts", papers)
    texts = {piece.source: piece.text for piece in draft.pieces if not piece.file}
    assert set(texts) == set(papers.texts)
    assert all(sentence in texts[source] for source, said in papers.texts.items() for sentence in said)
    assert tuple(piece.source for piece in draft.pieces if piece.file) == papers.pictures
    case = house.library.add(placed(drafts, draft, papers.kind))
    whole = json.dumps(case.model_dump(mode="json"), ensure_ascii=False)
    for source, text in texts.items():
        assert json.dumps(source, ensure_ascii=False)[1:-1] in whole
        assert json.dumps(text.strip(), ensure_ascii=False)[1:-1] in whole
    assert len(list(case.media())) == len(papers.pictures)
    assert all(medium.sha256 for medium in case.media())
