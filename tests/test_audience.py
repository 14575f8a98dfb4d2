"""The audience of a run: votes and arguments of phones, kept beside the run; the phones' page and the panel beside the room."""

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, report
from courtroom.access import Access, Account, Forbidden, acts
from courtroom.engine.run import Control
from courtroom.questions.audience import BEFORE, LONGEST, VoteRefused
from courtroom.room.live_audiences import MAX_SENT_A_MINUTE_AND_PHONE, LiveAudiences
from tests.driving import drive
from tests.pages import NASTY, heard, page, press, texts
from tests.pages import house as house  # a fixture

ADA, BEN, EVE = ("ada-" * 5, "ben-" * 5, "eve-" * 5)


@pytest.fixture(autouse=True)
def each_phone_reads_the_store_anew(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test does not wait for a second to pass."""
    monkeypatch.setattr("courtroom.room.live_audiences.SHARED_BY_PHONES_S", 0.0)
    monkeypatch.setattr("courtroom.room.live_audiences.NEW_ARGUMENTS_AFTER_S", 0.0)
    monkeypatch.setattr("pages.parts.live.audience_view.address", lambda: "203.0.113.7")


def hear(house: Courthouse, **until: Control) -> str:
    return heard(house, "phone-battery", **until, jury_size=3, examination="shared", rounds=2, consensus=1.0)


def opened(token: str, phone: str = ADA) -> AppTest:
    """The page of an audience on a phone."""
    return page("", {"phone": phone}, audience=token)


def shown(app: AppTest) -> str:
    """All texts of a page, those in HTML and in headings too."""
    html = (str(element.proto.body) for element in app.get("html"))
    return "\n".join((texts(app), *(str(one.value) for one in app.subheader), *html))


def test_only_phones_take_part_and_only_so_many(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("courtroom.questions.audience.MOST_PHONES", 2)
    run = hear(house)
    house.audiences.open(run)
    for phone in ("", "short", "x" * 65, "a b" * 8, "'; DROP TABLE audiences; --", "é" * 20):
        with pytest.raises(VoteRefused, match="Open the link again"):
            house.audiences.vote(run, BEFORE, phone, "buyer")
    assert house.audiences.counts(run) == {}
    for phone in (ADA, BEN):
        house.audiences.vote(run, BEFORE, phone, "buyer")
    with pytest.raises(VoteRefused, match="2 people"):
        house.audiences.vote(run, BEFORE, EVE, "buyer")
    with pytest.raises(VoteRefused, match="Vote first"):
        house.audiences.argue(run, BEFORE, EVE, "Look at the seal.")
    with pytest.raises(VoteRefused, match="characters"):
        house.audiences.argue(run, BEFORE, ADA, "x" * (LONGEST + 1))
    house.audiences.argue(run, BEFORE, ADA, "  Look at\nthe seal. ")
    (one,) = house.audiences.arguments(run)
    assert (one.text, one.choice, one.phone) == ("Look at the seal.", "buyer", ADA)
    with pytest.raises(VoteRefused, match="your own"):
        house.audiences.like(run, one.number, ADA, True)
    house.audiences.vote(run, "round-1", ADA, "buyer")


def test_one_address_fills_no_audience(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    """And a classroom behind one router takes part."""
    monkeypatch.setattr("courtroom.room.live_audiences.MINUTE_S", 3600.0)
    run = hear(house)
    token = house.audiences.open(run, 0).token
    live = LiveAudiences(house.audiences, house.procedures, house.record, phones=40)
    pupils = [f"pupil-{number:020d}" for number in range(41)]
    for phone in pupils[:40]:
        for choice in ("buyer", "seller"):
            live.vote(token, phone, BEFORE, choice, "203.0.113.7")
    with pytest.raises(VoteRefused, match="40 phones of your network"):
        live.vote(token, pupils[40], BEFORE, "buyer", "203.0.113.7")
    live.vote(token, pupils[40], BEFORE, "buyer", "203.0.113.8")
    live.vote(token, ADA, BEFORE, "buyer", "2001:db8::1")
    for number in range(40 * MAX_SENT_A_MINUTE_AND_PHONE - 80):
        live.argue(token, pupils[0], BEFORE, f"Argument {number}", "203.0.113.7")
    with pytest.raises(VoteRefused, match="last minute"):
        live.vote(token, pupils[0], BEFORE, "buyer", "203.0.113.7")
    live.like(token, house.audiences.arguments(run)[0].number, ADA, True, "2001:db8::1")
    with acts(Account(id="else", access=Access.RUN)), pytest.raises(Forbidden):
        live.empty(token)
    assert house.audiences.voters(run) == 42, "nobody empties the audience of another's run"
    live.empty(token)
    assert (house.audiences.voters(run), house.audiences.arguments(run), house.audiences.likes(run)) == (0, (), ())
    live.vote(token, EVE, BEFORE, "buyer", "2001:db8::2")


def test_an_audience_goes_with_its_run_and_comes_back(house: Courthouse) -> None:
    run = hear(house)
    house.audiences.open(run)
    for poll, phone, choice in ((BEFORE, ADA, "seller"), ("round-1", BEN, "seller")):
        house.audiences.vote(run, poll, phone, choice)
    house.audiences.argue(run, "round-1", BEN, "<b>Bold</b> as brass.")
    record, before = house.record(run), house.beside.of(run)
    assert ADA not in report.as_json(record, house.answers, before)
    html = report.as_html(record, house.procedures["cyberjurors"], house.answers, house.media, before)
    assert "&lt;b&gt;Bold" in html
    assert "<b>Bold" not in html
    deleted = house.store.delete(run)
    assert house.beside.of(run).audience is None
    house.store.restore(deleted)
    assert house.beside.of(run) == before
    data = house.files.export(run)[1].encode()
    house.store.delete(run)
    taken = house.files.take_in(data)
    assert house.beside.of(taken) == before
    assert house.audiences.at(house.audiences.of(taken).token).run == taken  # type: ignore[union-attr]


def test_phones_vote_in_the_round_that_is_open(house: Courthouse) -> None:
    run = hear(house)
    before = report.as_json(house.record(run), house.answers)
    token = house.audiences.open(run, 0).token
    assert house.audiences.open(run).token == token
    ada = opened(token)
    assert "Before the first vote" in shown(ada)
    assert "What was said" not in shown(ada)
    ada.button(key="vote-0").click().run()
    ada.button(key="vote-1").click().run()  # it changes its mind
    assert house.audiences.counts(run) == {BEFORE: {"seller": 1}}
    ada.text_area(key="argument").set_value(NASTY[:LONGEST])
    press(ada, "Send my argument")
    house.audiences.show(run, 1)
    ben = opened(token, BEN)
    assert "What was said" in shown(ben)
    assert "<script>" not in shown(ben)
    ben.button(key="vote-0").click().run()
    poll = next(iter(house.record(run).tallies))
    # A phone that has not looked since votes in a round that is closed.
    ada.button(key="vote-0").click().run()
    assert "This round is closed" in shown(ada)
    assert house.audiences.counts(run) == {BEFORE: {"seller": 1}, poll: {"buyer": 1}}
    house.audiences.close(run)
    with pytest.raises(VoteRefused, match="closed"):
        house.audiences.vote(run, poll, BEN, "seller")
    assert report.as_json(house.record(run), house.answers) == before
    told, kept_back = shown(ben), (run, "on record of its outcome", "Votes invented with the case")
    assert not [one for one in kept_back if one in told], "a phone's page leads nowhere"
    without = opened(token, "")  # it has not said its id yet
    assert all(button.disabled for button in without.button if (button.key or "").startswith("vote-"))
    for wrong in ("", f"{token}'--", run):
        assert "leads to no audience" in shown(opened(wrong))
    house.store.delete(run)
    assert "leads to no audience" in shown(opened(token))


def test_where_the_run_goes_on_its_ballots_open_the_rounds(house: Courthouse) -> None:
    run = hear(house, control=Control(stage="evidence"))
    page("deliberation", run=run).button(key="do-invite").click().run()
    token = house.audiences.of(run).token  # type: ignore[union-attr]
    ada = opened(token)
    assert "Before the first vote" in shown(ada)
    drive(house, run)
    ada.run()
    assert "Round 1" in shown(ada)
    page("deliberation", run=run).button(key="close-audience").click().run()
    closed = shown(opened(token))
    assert "The audience is closed" in closed
    assert "verdict" in closed
