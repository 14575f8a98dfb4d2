"""A model drafts a case of papers: what it gives as evidence stands in them, and what they order has no effect."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.criminal import Trial
from courtroom.cases.drafts import Draft, Drafts, missing
from courtroom.cases.papers import read_papers
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.models.spec import ModelSpec
from courtroom.questions.drafting import drafted
from tests.openai_server import OpenAIServer, texts_of
from tests.pages import house, page, press, texts
from tests.papers import ORDER, complaint, word

__all__ = ["house"]


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(keep_bodies=True) as server:
        server.known(monkeypatch)
        yield server


def answer(pieces: list[tuple[int, str, str]], **changes: Any) -> str:
    listed = [{"piece": number, "text": text, "whose": whose} for number, text, whose in pieces]
    return json.dumps(
        {
            "title": "The kettle", "claim": "40 euros back.", "facts": "Sold on 11 March 2025.", "answers": [],
            "stated": [], "chat": [], "pieces": listed, "questions": ["Who paid for the parcel?"], "kind": "dispute", **changes,
        }
    )  # fmt: skip


def begun(folder: Path, papers: dict[str, bytes]) -> tuple[Drafts, Draft]:
    drafts = Drafts(folder)
    return drafts, drafts.add(drafts.begin("en"), [read_papers(name, data) for name, data in papers.items()])


def asked(house: Courthouse, server: OpenAIServer, papers: dict[str, bytes], *answers: str, **changes: Any) -> Draft:
    """The draft after the server has given these answers; the last one is given again and again."""
    drafts, draft = begun(house.settings.home / "drafts", papers)
    draft = draft.model_copy(update=changes)
    left = list(answers)
    server.answer = lambda body: left.pop(0) if len(left) > 1 else left[0]
    spec = ModelSpec(id="openai/test", temperature=0.0)
    return drafted(house, draft, spec, lambda piece: drafts.medium(draft, piece))


def test_evidence_that_stands_in_the_papers_is_taken_over(house: Courthouse, server: OpenAIServer) -> None:
    passages = [
        (1, "It does not switch  off\nby itself.", "claimant"),
        (2, "", "claimant"),
        (3, "The kettle was tried before it was sent.", "respondent"),
        (3, "It was used without water.", "respondent"),
        (4, "I never said this.", "claimant"),
        (99, "x", "both"),
    ]
    draft = asked(house, server, complaint(), answer(passages))
    assert [(one.source, one.place) for one in draft.pieces][:5] == [
        ("complaint.docx", "buyer"),
        ("complaint.docx, picture 1", "buyer"),
        ("answer.docx", "seller"),
        ("answer.docx", "seller"),
        ("chat.txt", ""),
    ]
    assert all(" ".join(one.text.split()) in " ".join(one.paper.split()) for one in draft.pieces)
    assert draft.refused == (
        "In the model's own words, to be compared with the papers: Title · What the buyer asks for · The seller's listing.",
        "chat.txt does not say “I never said this.”: it was not taken over.",
        "There is no piece 99: “x” was not taken over.",
    )
    assert draft.questions == ("Who paid for the parcel?",)
    assert missing(draft) == ["Fill in: Product.", "Give each piece to a side, or leave it out: 7 are open."]


def stated(what: str, words: str, value: str, piece: int = 1) -> dict[str, Any]:
    return {"piece": piece, "what": what, "words": words, "value": value}


def test_order_and_chat_are_read_word_for_word(house: Courthouse, server: OpenAIServer) -> None:
    papers = {name: data for name, data in complaint().items() if name != "letter.eml"}
    papers["order.txt"] = b"Order of 11 March 2025: one kettle, EUR 1,240.50."
    listed = [
        stated("product", "one kettle", "Kettle", 8),
        stated("price", "EUR 1,240.50", "1240.5", 8),
        stated("currency", "EUR 1,240.50", "EUR", 8),
        stated("ordered", "Order of 11 March 2025", "2025-03-11", 8),
        stated("delivered", "Order of 11 March 2025", "2025-03-19", 8),
        stated("product", "burnt", "Burnt", 2),
    ]
    chat = [
        {"piece": 4, "text": "Does the kettle switch off by itself?", "whose": "claimant"},
        {"piece": 4, "text": "Yes, it does. I tried it.", "whose": "respondent"},
    ]
    draft = asked(house, server, papers, answer([], stated=listed, chat=chat))
    assert {name: value for name, value in draft.values.items() if name.startswith("transaction.")} == {
        "transaction.product": "Kettle",
        "transaction.price": 1240.5,
        "transaction.currency": "EUR",
        "transaction.ordered_at": "2025-03-11",
        "transaction.description": "Sold on 11 March 2025.",
    }
    assert draft.values["chat"] == ("buyer: Does the kettle switch off by itself?\nseller: Yes, it does. I tried it.")
    told = "\n".join(draft.refused)
    assert "“Order of 11 March 2025” does not say delivered: “2025-03-19”" in told
    assert "“burnt” is read off a picture, complaint.docx, picture 1" in told


def test_instruction_in_a_paper_is_quoted_and_has_no_effect(house: Courthouse, server: OpenAIServer) -> None:
    papers = {"order.docx": word("It leaks.", ORDER, "# What you are asked"), f"{ORDER}\n# x.txt": b"Second."}
    draft = asked(
        house, server, papers, answer([(1, "The seller is right in all.", "respondent"), (1, ORDER, "neither")])
    )
    lines = "\n".join(texts_of(one) for one in server.bodies[-1]["messages"]).splitlines()
    assert [line for line in lines if ORDER in line and not line.startswith("> ")] == []
    assert lines.count("# What you are asked") == 1
    assert [one.place for one in draft.pieces] == ["out", ""]
    assert draft.refused[1:] == ("order.docx does not say “The seller is right in all.”: it was not taken over.",)


def test_answer_that_is_no_draft_is_asked_for_again(house: Courthouse, server: OpenAIServer) -> None:
    good = answer([(1, "", "claimant")])
    assert asked(house, server, {"a.txt": b"It leaks."}, "I would rather not.", good).values["title"] == "The kettle"
    assert len(server.bodies) == 2
    with pytest.raises(CourtroomError, match="The answer did not fit what was asked"):
        asked(house, server, {"b.txt": b"It drips."}, "I would rather not.")
    assert asked(house, server, {"b.txt": b"It drips."}, good).values["title"] == "The kettle", (
        "who asks again is asked anew"
    )


def test_draft_of_a_model_is_seen_corrected_and_saved(house: Courthouse, server: OpenAIServer) -> None:
    drafts, draft = begun(house.settings.home / "drafts", {"answer.docx": complaint()["answer.docx"]})
    passage = "It was used without water."
    server.answer = lambda body: answer([(1, passage, "respondent"), (1, "He lied.", "claimant")], kind="civil")
    app = page(draft=draft.id)
    app.toggle(key=f"draft-{draft.id}-asks").set_value(True).run()
    models = app.selectbox(key=f"draft-{draft.id}-model-id")
    models.set_value(next(one for one in models.options if one.startswith("openai/"))).run()
    press(app, "Draft the case")
    shown = texts(app)
    assert "Who paid for the parcel?" in shown
    assert "He lied" in shown
    assert (
        next(one.value for one in app.text_area if one.label == "Charge, or what the plaintiff claims")
        == "40 euros back."
    )
    assert passage in next(one.value for one in app.text_area if one.label == "Text")
    press(app, "Save the case")
    case = house.library.case("the-kettle")
    assert isinstance(case, Trial)
    assert case.defence == (f"[answer.docx]\n{passage}",)
    assert case.proof == ()
