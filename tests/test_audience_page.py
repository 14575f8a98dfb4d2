"""The audience's page and its panel beside the room, drawn by Streamlit's own test harness."""

from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Control
from courtroom.questions.audience import BEFORE, LONGEST
from tests.driving import drive
from tests.pages import NASTY, heard, house, page, texts

ROOT = Path(__file__).parents[1]
ADA, BEN = "ada-" * 5, "ben-" * 5


__all__ = ["house"]  # a fixture


@pytest.fixture(autouse=True)
def each_phone_reads_the_store_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test does not wait for a second to pass."""
    monkeypatch.setattr("courtroom.room.live_audiences.FRESH_S", 0.0)
    monkeypatch.setattr("courtroom.room.live_audiences.ARGUMENTS_S", 0.0)
    monkeypatch.setattr("pages.parts.live.audience_view.address", lambda: "203.0.113.7")


def hear(house: Courthouse, **until: Control) -> str:
    return heard(house, "phone-battery", **until, jury_size=3, examination="shared", rounds=2, consensus=1.0)


def phone(token: str, name: str = ADA) -> AppTest:
    return page("", {"phone": name}, audience=token)


def shown(app: AppTest) -> str:
    """All texts of a page, those in HTML and in headings too."""
    html = (str(element.proto.body) for element in app.get("html"))
    return "\n".join((texts(app), *(str(one.value) for one in app.subheader), *html))


def test_phones_vote_in_the_round_that_is_open_and_see_the_votes_of_those_that_are_closed(house: Courthouse) -> None:
    run = hear(house)
    audience = house.audiences.open(run, 0)
    ada = phone(audience.token)
    assert "Before the first vote" in shown(ada)
    assert "What was said" not in shown(ada)
    ada.button(key="vote-0").click().run()
    ada.button(key="vote-1").click().run()  # it changes its mind
    assert house.audiences.counts(run) == {BEFORE: {"seller": 1}}
    assert ada.button(key="vote-1").proto.type == "primary"
    assert phone(audience.token).button(key="vote-1").proto.type == "primary"  # loaded again
    house.audiences.show(run, 1)
    ben = phone(audience.token, BEN)
    assert "What was said" in shown(ben)
    assert "Round 1" in shown(ben)
    ben.button(key="vote-0").click().run()
    poll = next(iter(house.record(run).tallies))
    assert house.audiences.counts(run) == {BEFORE: {"seller": 1}, poll: {"buyer": 1}}
    # A phone that has not looked since votes in a round that is closed.
    ada.button(key="vote-0").click().run()
    assert "This round is closed" in shown(ada)
    assert house.audiences.counts(run)[BEFORE] == {"seller": 1}
    house.audiences.close(run)
    done = phone(audience.token)
    assert "The audience is closed" in shown(done)
    assert [button.label for button in done.button] == ["中文"]
    ben.button(key="vote-1").click().run()
    assert house.audiences.counts(run)[poll] == {"buyer": 1}


def test_arguments_are_sent_and_voted_for_and_hostile_text_stays_text(house: Courthouse) -> None:
    run = hear(house)
    token = house.audiences.open(run).token
    ada, ben = phone(token), phone(token, BEN)
    assert not ada.text_area
    for app in (ada, ben):
        app.button(key="vote-0").click().run()
    ada.text_area(key="argument").set_value(NASTY[:LONGEST])
    next(button for button in ada.button if button.label == "Send my argument").click().run()
    (one,) = house.audiences.arguments(run)
    assert one.argument.text == " ".join(NASTY[:LONGEST].split())
    ben.run()
    assert "<script>" not in shown(ben)
    like = ben.button(key=f"like-{one.argument.number}")
    like.click().run()
    assert house.audiences.arguments(run)[0].likes == 1
    ada.run()
    assert f"like-{one.argument.number}" not in [button.key for button in ada.button]
    ben.button(key=f"like-{one.argument.number}").click().run()
    assert house.audiences.arguments(run)[0].likes == 0


def test_a_phones_page_leads_nowhere_and_a_wrong_link_says_so(house: Courthouse) -> None:
    run = hear(house)
    token = house.audiences.open(run).token
    app = phone(token)
    assert run not in shown(app)
    assert "on record of its outcome" not in shown(app)
    assert "Invented votes" not in shown(app)
    without = phone(token, "")  # it has not said its id yet
    assert all(button.disabled for button in without.button if (button.key or "").startswith("vote-"))
    for wrong in ("", token[:-1], f"{token}'--", run, "%"):
        assert "leads to no audience" in shown(phone(wrong))
    house.store.delete(run)
    assert "leads to no audience" in shown(phone(token))


def test_where_the_run_goes_on_its_ballots_open_the_rounds(house: Courthouse) -> None:
    run = hear(house, control=Control(stage="evidence"))
    app = page("deliberation", run=run)
    app.button(key="do-invite").click().run()
    token = house.audiences.at(house.audiences.of(run).token).token  # type: ignore[union-attr]
    ada = phone(token)
    assert "Before the first vote" in shown(ada)
    drive(house, run)
    ada.run()
    assert "Round 1" in shown(ada)
    app = page("deliberation", run=run)
    app.button(key="close-audience").click().run()
    assert "The audience is closed" in shown(phone(token))
    assert "verdict" in shown(phone(token))


def test_where_nobody_votes_no_audience_is_invited(house: Courthouse) -> None:
    run = house.new_run("verdict", house.library.case("criminal-bus-wallet"), house.procedures["verdict"].setup(), 0)
    assert "do-invite" not in [button.key for button in page("deliberation", run=run).button]
