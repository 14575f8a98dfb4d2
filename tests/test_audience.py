"""The audience of a run: votes and arguments of phones, kept beside the run."""

import json

import pytest

from courtroom import report
from courtroom.access import Access, Account, Forbidden, acts
from courtroom.courthouse import Courthouse
from courtroom.questions.audience import BEFORE, LONGEST, NoSuchAudience, VoteRefused
from courtroom.room.live_audiences import SENT, LiveAudiences, network
from tests.pages import heard

ADA, BEN, EVE = ("ada-" * 5, "ben-" * 5, "eve-" * 5)


def hear(house: Courthouse) -> str:
    return heard(house, "phone-battery", jury_size=3, examination="shared", rounds=2, consensus=1.0)


def test_a_phone_has_one_vote_in_a_poll_and_changes_it_until_the_audience_is_closed(house: Courthouse) -> None:
    run = hear(house)
    before = report.as_json(house.record(run), house.answers)
    audience = house.audiences.open(run)
    assert house.audiences.open(run).token == audience.token
    assert house.audiences.at(audience.token).run == run
    for choice in ("buyer", "seller"):
        house.audiences.vote(run, BEFORE, ADA, choice)
    house.audiences.vote(run, BEFORE, BEN, "buyer")
    house.audiences.vote(run, "round-1", ADA, "buyer")
    assert house.audiences.counts(run) == {BEFORE: {"seller": 1, "buyer": 1}, "round-1": {"buyer": 1}}
    assert house.audiences.voters(run) == 2
    house.audiences.close(run)
    for refused in (
        lambda: house.audiences.vote(run, BEFORE, ADA, "buyer"),
        lambda: house.audiences.argue(run, BEFORE, ADA, "No."),
    ):
        with pytest.raises(VoteRefused, match="closed"):
            refused()
    assert house.audiences.choices(run, ADA) == {BEFORE: "seller", "round-1": "buyer"}
    assert report.as_json(house.record(run), house.answers) == before
    with pytest.raises(NoSuchAudience):
        house.audiences.at(run)


def test_an_argument_is_short_stands_for_a_vote_and_others_vote_for_it(house: Courthouse) -> None:
    run = hear(house)
    house.audiences.open(run)
    for phone in (ADA, BEN):
        with pytest.raises(VoteRefused, match="Vote first"):
            house.audiences.argue(run, BEFORE, phone, "Look at the seal.")
        house.audiences.vote(run, BEFORE, phone, "buyer")
    for text in ("", "  \n ", "x" * (LONGEST + 1)):
        with pytest.raises(VoteRefused, match="characters"):
            house.audiences.argue(run, BEFORE, ADA, text)
    house.audiences.argue(run, BEFORE, ADA, "  Look at\nthe seal. ")
    house.audiences.argue(run, BEFORE, BEN, "x" * LONGEST)
    first, second = (one.argument for one in house.audiences.arguments(run))
    assert (first.text, first.choice, first.phone) == ("Look at the seal.", "buyer", ADA)
    with pytest.raises(VoteRefused, match="your own"):
        house.audiences.like(run, second.number, BEN, True)
    with pytest.raises(VoteRefused, match="Vote first"):
        house.audiences.like(run, second.number, EVE, True)
    for _ in range(2):
        house.audiences.like(run, second.number, ADA, True)
    assert [(one.argument.phone, one.likes) for one in house.audiences.arguments(run)] == [(BEN, 1), (ADA, 0)]
    house.audiences.argue(run, BEFORE, BEN, "Something else.")  # votes were for what it said before
    assert [one.likes for one in house.audiences.arguments(run)] == [0, 0]


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
    house.audiences.vote(run, "round-1", ADA, "buyer")


def test_one_address_fills_no_audience_and_a_classroom_behind_one_router_takes_part(
    house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("courtroom.room.live_audiences.MINUTE_S", 3600.0)
    run = hear(house)
    token = house.audiences.open(run, 0).token
    live = LiveAudiences(house.audiences, house.procedures, house.record, house.store.pulse, phones=40)
    pupils = [f"pupil-{number:020d}" for number in range(41)]
    for phone in pupils[:40]:
        for choice in ("buyer", "seller"):
            live.vote(token, phone, BEFORE, choice, "203.0.113.7")
    with pytest.raises(VoteRefused, match="40 phones of your network"):
        live.vote(token, pupils[40], BEFORE, "buyer", "203.0.113.7")
    live.vote(token, pupils[40], BEFORE, "buyer", "203.0.113.8")
    live.vote(token, ADA, BEFORE, "buyer", "2001:db8::1")
    for number in range(40 * SENT - 80):
        live.argue(token, pupils[0], BEFORE, f"Argument {number}", "203.0.113.7")
    with pytest.raises(VoteRefused, match="last minute"):
        live.vote(token, pupils[0], BEFORE, "buyer", "203.0.113.7")
    monkeypatch.setattr("courtroom.room.live_audiences.MINUTE_S", 0.0)
    live.vote(token, pupils[0], BEFORE, "buyer", "203.0.113.7")
    assert house.audiences.voters(run) == 42
    assert network("2001:db8::1") == network("2001:db8::ffff:2") != network("2001:db8:0:1::1")
    assert network(" 203.0.113.7 ") == "203.0.113.7" != network("unknown")


def test_an_audience_is_emptied_by_whose_run_it_is_and_by_nobody_else(house: Courthouse) -> None:
    run = hear(house)
    token = house.audiences.open(run, 0).token
    live = LiveAudiences(house.audiences, house.procedures, house.record, house.store.pulse, phones=1)
    live.vote(token, ADA, BEFORE, "buyer", "203.0.113.7")
    live.vote(token, BEN, BEFORE, "buyer", "203.0.113.8")
    live.argue(token, ADA, BEFORE, "The seal was whole.", "203.0.113.7")
    live.like(token, house.audiences.arguments(run)[0].argument.number, BEN, True, "203.0.113.8")
    with acts(Account(id="else", access=Access.RUN)), pytest.raises(Forbidden):
        live.empty(token)
    assert house.audiences.voters(run) == 2
    live.empty(token)
    assert (house.audiences.voters(run), house.audiences.arguments(run), house.audiences.likes(run)) == (0, (), ())
    live.vote(token, EVE, BEFORE, "buyer", "203.0.113.7")


def test_an_audience_goes_with_its_run_into_exports_and_comes_back_with_it(house: Courthouse) -> None:
    run = hear(house)
    house.audiences.open(run)
    house.audiences.vote(run, BEFORE, ADA, "seller")
    house.audiences.vote(run, "round-1", ADA, "buyer")
    house.audiences.argue(run, "round-1", ADA, "<b>Bold</b> as brass.")
    house.audiences.vote(run, "round-1", BEN, "seller")
    house.audiences.like(run, house.audiences.arguments(run)[0].argument.number, BEN, True)
    record = house.record(run)
    written = report.as_json(record, house.answers, house.beside.of(run))
    assert ADA not in written
    audience = json.loads(written)["audience"]
    assert [(vote["poll"], vote["choice"], vote["voter"]) for vote in audience["votes"]] == [
        (BEFORE, "seller", 1),
        ("round-1", "buyer", 1),
        ("round-1", "seller", 2),
    ]
    assert [one["liked_by"] for one in audience["arguments"]] == [[2]]
    page = report.as_html(*(record, house.procedures["cyberjurors"], house.answers, house.media), house.beside.of(run))
    assert "The audience" in page
    assert "&lt;b&gt;Bold" in page
    assert "<b>Bold" not in page
    before = house.beside.of(run)
    deleted = house.store.delete(run)
    assert house.beside.of(run).audience is None
    house.store.restore(deleted)
    assert house.beside.of(run) == before
    data = house.files.export(run)[1].encode()
    house.store.delete(run)
    assert house.files.take_in(data) == run
    assert house.beside.of(run) == before
    assert house.audiences.at(house.audiences.of(run).token).run == run  # type: ignore[union-attr]
