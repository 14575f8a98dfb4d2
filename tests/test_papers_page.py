"""From papers to a case on the page: pieces are given to sides by clicks, and the draft is there after a reload."""

from datetime import date
from pathlib import Path

from streamlit.testing.v1 import AppTest

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.drafts import Draft, Drafts, missing
from courtroom.cases.question import Question
from courtroom.courthouse import Courthouse
from tests.pages import house, page, press, texts
from tests.papers import WHATSAPP, complaint, picture

__all__ = ["house"]


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
        group.set_value(place).run()
        assert not app.exception, app.exception


def write(app: AppTest, label: str, text: str) -> None:
    """The last field of this name: the one of the form, which stands below *Ask a question*."""
    [one for one in (*app.text_input, *app.text_area) if one.label == label][-1].set_value(text).run()
    assert not app.exception, app.exception


def choose(app: AppTest, label: str, value: str) -> None:
    next(one for one in (*app.selectbox, *app.button_group) if one.label == label).set_value(value).run()
    assert not app.exception, app.exception


def is_disabled(app: AppTest, label: str) -> bool:
    return next(one for one in app.button if one.label == label).disabled


def test_papers_become_a_dispute_by_clicks(house: Courthouse) -> None:
    app = brought("complaint.docx", "answer.docx", "chat.txt")
    assert is_disabled(app, "Save the case")
    give(app, house, "buyer", "buyer", "seller", "out")
    write(app, "Title", "A kettle")
    assert missing(draft_of(app, house)) == ["Fill in: Category.", "Fill in: Product."]
    choose(app, "Category", "Home & Lifestyle")
    assert is_disabled(app, "Save the case")
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


def test_draft_is_there_after_the_page_is_loaded_again(house: Courthouse) -> None:
    app = brought("answer.docx", "chat.txt")
    write(app, "Title", "A kettle")
    give(app, house, "seller", "buyer")
    next(one for one in app.button if str(one.key).endswith("-1-arrow_downward")).click().run()
    old = draft_of(app, house)
    assert [piece.number for piece in old.pieces] == [2, 1]
    assert next(one for one in app.button if str(one.key).endswith("-1-arrow_downward")).disabled
    again = page(draft=old.id)
    assert next(one.value for one in again.text_input if one.label == "Title") == "A kettle"
    assert [piece.place for piece in draft_of(again, house).pieces] == ["buyer", "seller"]
    press(again, "Give the draft up")
    assert "no longer here" in texts(page(draft=old.id))


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
        next(one for one in app.number_input if one.label == label).set_value(number).run()
    next(one for one in app.date_input if one.label == "Ordered").set_value(date(2025, 3, 1)).run()
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
    assert [(one.id, one.round, one.text) for one in case.evidence] == [
        ("buyer-1", 1, "Broken."),
        ("seller-1", 2, "Fine."),
    ]
    assert [(one.speaker, one.text) for one in case.chat] == [
        ("buyer", "Is it new?"),
        ("seller", "Yes."),
        ("buyer", "It is not."),
    ]
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
    assert [(one.source, one.by, len(one.media)) for one in case.material] == [
        ("answer.docx", "", 0),
        ("chat.txt", "Shops", 1),
    ]
    assert case.material[1].text == WHATSAPP.strip()


def test_draft_can_not_be_reached_by_a_path(tmp_path: Path, house: Courthouse) -> None:
    (tmp_path / "draft.json").write_text(Draft(id="x").model_dump_json())
    for name in ("..", "../..", "x", "../" + "a" * 19):
        assert "no longer here" in texts(page(draft=name))
