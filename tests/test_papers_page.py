"""From papers to a case on the page: pieces are given to sides by clicks, and the draft is there after a reload."""

from pathlib import Path

from streamlit.testing.v1 import AppTest

from courtroom.cases.criminal import Trial
from courtroom.cases.dispute import Dispute
from courtroom.cases.drafts import Draft, Drafts, missing
from courtroom.courthouse import Courthouse
from tests.pages import house, page, press, texts
from tests.papers import WHATSAPP, complaint, mail, picture

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
    next(one for one in (*app.text_input, *app.text_area) if one.label == label).set_value(text).run()


def is_disabled(app: AppTest, label: str) -> bool:
    return next(one for one in app.button if one.label == label).disabled


def test_papers_become_a_dispute_by_clicks(house: Courthouse) -> None:
    app = brought("complaint.docx", "answer.docx", "chat.txt")
    assert is_disabled(app, "Save the case")
    give(app, house, "buyer", "buyer", "seller", "out")
    write(app, "Title", "A kettle")
    assert missing(draft_of(app, house)) == ["Say what was sold."]
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


def test_papers_become_a_civil_trial(house: Courthouse) -> None:
    app = brought("answer.docx", "chat.txt", "deliveries.xlsx")
    app.button_group(key=next(str(one.key) for one in app.button_group if str(one.key).endswith("-kind"))).set_value(
        "trial"
    ).run()
    app.button_group(key=next(str(one.key) for one in app.button_group if str(one.key).endswith("-matter"))).set_value(
        "civil"
    ).run()
    give(app, house, "defence", "proof", "facts")
    write(app, "Title", "Lin's kettle")
    write(app, "What the plaintiff claims", "Mr Lin pays 40 euros back.")
    press(app, "Save the case")
    case = house.library.case("lin-s-kettle")
    assert isinstance(case, Trial)
    assert (case.matter, case.charge) == ("civil", "Mr Lin pays 40 euros back.")
    assert case.facts == "[deliveries.xlsx, sheet Deliveries]\nDate | Item\n2025-03-11 | Kettle"
    assert case.proof == (f"[chat.txt]\n{WHATSAPP.strip()}",)


def test_draft_is_there_after_the_page_is_loaded_again(house: Courthouse) -> None:
    app = brought("answer.docx", "chat.txt")
    write(app, "Title", "A kettle")
    give(app, house, "seller", "buyer")
    old = draft_of(app, house)
    again = page(draft=old.id)
    assert next(one.value for one in again.text_input if one.label == "Title") == "A kettle"
    assert [piece.place for piece in draft_of(again, house).pieces] == ["seller", "buyer"]
    press(again, "Give the draft up")
    assert "no longer here" in texts(page(draft=old.id))


def test_pieces_are_moved_by_buttons(house: Courthouse) -> None:
    app = brought("answer.docx", "chat.txt", "deliveries.xlsx")
    next(one for one in app.button if str(one.key).endswith("-1-arrow_downward")).click().run()
    assert [piece.number for piece in draft_of(app, house).pieces] == [2, 1, 3]
    assert next(one for one in app.button if str(one.key).endswith("-3-arrow_downward")).disabled


def test_pasted_text_and_what_can_not_be_read_are_told(house: Courthouse) -> None:
    app = brought("letter.eml", papers={"letter.eml": mail("Take it back.", run_exe=b"MZ")})
    assert any("It was left out" in one.value for one in app.warning)
    write(app, "Or paste a text", "He promised it in front of me.")
    press(app, "Read the papers")
    assert [piece.source for piece in draft_of(app, house).pieces] == ["letter.eml", "pasted text"]


def test_picture_of_a_trial_has_to_be_told_in_words(house: Courthouse) -> None:
    app = brought("a.png", papers={"a.png": picture("burnt")})
    app.button_group(key=next(str(one.key) for one in app.button_group if str(one.key).endswith("-kind"))).set_value(
        "trial"
    ).run()
    give(app, house, "proof")
    write(app, "Title", "A fire")
    write(app, "Charge", "Arson")
    write(app, "Facts that both sides agree on, or a summary", "The shed burnt.")
    assert is_disabled(app, "Save the case")
    write(app, "What it shows, in words, if you like", "A burnt wall.")
    press(app, "Save the case")
    case = house.library.case("a-fire")
    assert isinstance(case, Trial)
    assert case.proof == ("[a.png]\nA burnt wall.",)


def test_draft_can_not_be_reached_by_a_path(tmp_path: Path, house: Courthouse) -> None:
    (tmp_path / "draft.json").write_text(Draft(id="x").model_dump_json())
    for name in ("..", "../..", "x", "../" + "a" * 19):
        assert "no longer here" in texts(page(draft=name))
