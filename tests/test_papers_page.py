"""From papers to a case on the page, by clicks or drafted by a model: what it gives stands in them, and what they order has no effect."""

import json
from datetime import date
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, ModelSpec, Question, Trial
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.drafts import Draft, Drafts, missing
from courtroom.cases.papers import read_papers
from courtroom.questions.drafting import drafted
from tests.openai_server import OpenAIServer, texts_of
from tests.pages import field, page, press, ran, texts
from tests.pages import house as house  # a fixture
from tests.papers import ORDER, WHATSAPP, complaint, picture, word


def brought(*names: str, papers: dict[str, bytes] | None = None) -> AppTest:
    app = page()
    app.button_group(key="adding").set_value("Papers").run()
    files = papers or complaint()
    for name in names or files:
        app.file_uploader(key="papers_files_0").upload(name, files[name])
    app.run()
    press(app, "Read the papers")
    return app


def draft_of(app: AppTest, house: Courthouse) -> Draft:
    name = app.query_params["draft"]
    return Drafts(house.settings.home / "drafts").load(name if isinstance(name, str) else name[0])


def give(app: AppTest, house: Courthouse, *places: str) -> None:
    for piece, place in zip(draft_of(app, house).pieces, places, strict=True):
        group = next(one for one in app.button_group if f"-{piece.number}-place-" in str(one.key))
        ran(group.set_value(place))


def write(app: AppTest, label: str, text: str) -> None:
    """The last field of this name: the one of the form, which stands below *Ask a question*."""
    [one for one in (*app.text_input, *app.text_area) if one.label == label][-1].set_value(text).run()
    assert not app.exception, app.exception


def choose(app: AppTest, label: str, value: str) -> None:
    ran(next(one for one in (*app.selectbox, *app.button_group) if one.label == label).set_value(value))


def test_papers_become_a_dispute_by_clicks(house: Courthouse) -> None:
    app = brought("complaint.docx", "answer.docx", "chat.txt")
    assert field(app, "button", "Save the case").disabled
    give(app, house, "buyer", "buyer", "seller", "out")
    write(app, "Title", "A kettle")
    assert missing(draft_of(app, house)) == ["Fill in: Category.", "Fill in: Product."]
    choose(app, "Category", "Home & Lifestyle")
    assert field(app, "button", "Save the case").disabled
    write(app, "Product", "Kettle")
    press(app, "Save the case")
    case = house.library.case("a-kettle")
    assert isinstance(case, Dispute)
    assert [piece.id for piece in case.evidence] == ["buyer-1", "buyer-2", "seller-1"]
    assert "I bought a kettle from Mr Lin for 40 euros." in case.evidence[0].text
    (shown,) = case.media()
    assert shown.description == ""
    assert shown.sha256
    assert not list((house.settings.home / "drafts").glob("*"))


def test_draft_is_there_by_its_name_and_by_no_path(house: Courthouse, tmp_path: Path) -> None:
    app = brought("answer.docx", "chat.txt")
    write(app, "Title", "A kettle")
    give(app, house, "seller", "buyer")
    next(one for one in app.button if str(one.key).endswith("-1-arrow_downward")).click().run()
    old = draft_of(app, house)
    assert [piece.number for piece in old.pieces] == [2, 1]
    assert next(one for one in app.button if str(one.key).endswith("-1-arrow_downward")).disabled
    again = page(draft=old.id)
    assert field(again, "text_input", "Title").value == "A kettle"
    assert [piece.place for piece in draft_of(again, house).pieces] == ["buyer", "seller"]
    press(again, "Delete the draft")
    (tmp_path / "draft.json").write_text(Draft(id="x").model_dump_json())
    for name in (old.id, "..", "../..", "x", "../" + "a" * 19):
        assert "no longer here" in texts(page(draft=name))


def test_dispute_is_written_by_hand_with_chat_votes_and_rounds(house: Courthouse) -> None:
    app = page()
    app.button_group(key="adding").set_value("Write").run()
    for label, text in (("Title", "A lamp"), ("Product", "Lamp"), ("Currency", "EUR"), ("Source", "A friend")):
        write(app, label, text)
    write(app, "Chat, one line each: “buyer: ...” or “seller: ...”", "buyer: Is it new?\nseller: Yes.\nIt is not.")
    for label, number in (
        ("Price", 12.5),
        *((f"Votes on record for the {side}, if there are any", 3) for side in SIDES),
    ):
        field(app, "number_input", label).set_value(number).run()
    field(app, "date_input", "Ordered").set_value(date(2025, 3, 1)).run()
    choose(app, "Category", "Home & Lifestyle")
    choose(app, "Who cast them", "people")
    for _ in range(2):
        press(app, "One more piece")
    for area, text in zip([one for one in app.text_area if one.label == "Text"], ("Broken.", "Fine."), strict=True):
        area.set_value(text).run()
    give(app, house, "buyer", "seller")
    next(one for one in reversed(app.number_input) if one.label == "Round").set_value(2).run()
    press(app, "Save the case")
    case = house.library.case("a-lamp")
    assert isinstance(case, Dispute)
    evidence = [("buyer-1", 1, "Broken."), ("seller-1", 2, "Fine.")]
    assert [(one.id, one.round, one.text) for one in case.evidence] == evidence
    chat = [("buyer", "Is it new?"), ("seller", "Yes."), ("buyer", "It is not.")]
    assert [(one.speaker, one.text) for one in case.chat] == chat
    assert (case.transaction.cost, case.decided_by, case.source) == ("12.50 EUR", "people", "A friend")
    assert f"{case.transaction.ordered_at:%Y-%m-%d}" == "2025-03-01"
    assert case.real_counts() == {"buyer": 3, "seller": 3}


QUESTION = {
    "Question": "Close the bridge?",
    "Answers to choose from, if any": "yes, no",
    "Who has a stake in it, one a line: “name” or “name: the answer wanted”": "Shops: no\nWalkers",
}


def test_papers_become_a_question_with_parties(house: Courthouse) -> None:
    app = brought("answer.docx", "chat.txt", "a.png", papers={**complaint(), "a.png": picture("burnt")})
    choose(app, "What kind", "question")
    for label, text in QUESTION.items():
        write(app, label, text)
    write(app, "Title", "The kettle")
    give(app, house, "material", "by Shops", "above")
    press(app, "Save the case")
    case = house.library.case("the-kettle")
    assert isinstance(case, Question)
    assert case.options == ("yes", "no")
    assert [(one.name, one.wants) for one in case.parties] == [("Shops", "no"), ("Walkers", "")]
    material = [("answer.docx", "", 0), ("chat.txt", "Shops", 1)]
    assert [(one.source, one.by, len(one.media)) for one in case.material] == material
    assert case.material[1].text == WHATSAPP.strip()


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
    return drafted(house, drafts, draft, spec)


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
    placed = [("complaint.docx", "buyer"), ("complaint.docx, picture 1", "buyer")]
    placed += [("answer.docx", "seller"), ("answer.docx", "seller"), ("chat.txt", "")]
    assert [(one.source, one.place) for one in draft.pieces][:5] == placed
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
    taken = {"product": "Kettle", "price": 1240.5, "currency": "EUR", "ordered_at": "2025-03-11"}
    taken |= {"description": "Sold on 11 March 2025."}
    named = {name.partition("transaction.")[2]: value for name, value in draft.values.items()}
    assert {name: value for name, value in named.items() if name} == taken
    assert draft.values["chat"] == ("buyer: Does the kettle switch off by itself?\nseller: Yes, it does. I tried it.")
    told = "\n".join(draft.refused)
    assert "“Order of 11 March 2025” does not say delivered: “2025-03-19”" in told
    assert "“burnt” is read off a picture, complaint.docx, picture 1" in told


def test_instruction_in_a_paper_is_quoted_and_has_no_effect(house: Courthouse, server: OpenAIServer) -> None:
    papers = {"order.docx": word("It leaks.", ORDER, "# What you are asked"), f"{ORDER}\n# x.txt": b"Second."}
    draft = asked(house, server, papers, answer([(1, "The seller is right.", "respondent"), (1, ORDER, "neither")]))
    lines = "\n".join(texts_of(one) for one in server.bodies[-1]["messages"]).splitlines()
    assert [line for line in lines if ORDER in line and not line.startswith("> ")] == []
    assert lines.count("# What you are asked") == 1
    assert [one.place for one in draft.pieces] == ["out", ""]
    assert draft.refused[1:] == ("order.docx does not say “The seller is right.”: it was not taken over.",)


def test_answer_that_is_no_draft_is_asked_for_again(house: Courthouse, server: OpenAIServer) -> None:
    good = answer([(1, "", "claimant")])
    assert asked(house, server, {"a.txt": b"It leaks."}, "I would rather not.", good).values["title"] == "The kettle"
    assert len(server.bodies) == 2
    with pytest.raises(CourtroomError, match="The answer did not fit what was asked"):
        asked(house, server, {"b.txt": b"It drips."}, "I would rather not.")
    assert asked(house, server, {"b.txt": b"It drips."}, good).values["title"] == "The kettle", "it is asked anew"


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
    assert field(app, "text_area", "Charge, or what the plaintiff claims").value == "40 euros back."
    assert passage in field(app, "text_area", "Text").value
    press(app, "Save the case")
    case = house.library.case("the-kettle")
    assert isinstance(case, Trial)
    assert case.defence == (f"[answer.docx]\n{passage}",)
    assert case.proof == ()
