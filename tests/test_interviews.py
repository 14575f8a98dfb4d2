"""Interviews: a question to a member, answered from just what it knew."""

from collections.abc import Iterator

import pytest

from courtroom import Budget, Courthouse
from courtroom.questions.interview import last_call
from tests.openai_server import OpenAIServer
from tests.test_audit import hear
from tests.test_audit import house as house  # a fixture

QUESTION = "What would have convinced you of the other side?"


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(keep_bodies=True) as server:
        yield server


def test_a_member_is_asked_with_just_what_it_knew(house: Courthouse, server: OpenAIServer) -> None:
    record = hear(house)
    after = last_call(record.until(record.stage("round-1").index), "juror-02")
    assert after.path == "round-1/juror-02/judge"
    pulse, cost = house.store.pulse(record.run.id), record.cost
    assert not house.interviews.ask(record, after, QUESTION, "Ada").result(30).stopped
    asked = server.bodies[-1]["messages"]
    assert [message["role"] for message in asked] == ["system", "user", "assistant", "user"]
    _, user, answered, question = (message["content"] for message in asked)
    assert answered == house.answers.reply(*after.keys).text
    assert f"> {QUESTION}\n" in question
    assert "the jurors you follow said" not in user  # as in the second round
    ((_, kept),) = house.asides.interviews(record.run.id)
    assert (kept.member, kept.after, kept.who, kept.question) == ("juror-02", after.path, "Ada", QUESTION)
    assert kept.answer.startswith("answer ")
    assert kept.called.asked == 1
    again = house.record(record.run.id)
    assert (house.store.pulse(record.run.id), again.cost, again.events) == (pulse, cost, record.events)
    # The same question after the same call comes from the record, and is listed once.
    calls = server.calls
    house.interviews.ask(record, after, QUESTION, "Ada").result(30)
    assert server.calls == calls
    assert len(house.asides.interviews(record.run.id)) == 1


def test_an_interview_goes_on_from_what_was_said_in_it(house: Courthouse, server: OpenAIServer) -> None:
    record = hear(house)
    after = last_call(record, "juror-02")
    for question in (QUESTION, "And what else?"):
        house.interviews.ask(record, after, question).result(30)
    asked = [(message["role"], message["content"]) for message in server.bodies[-1]["messages"]]
    assert [role for role, _ in asked[2:]] == ["assistant", "user", "assistant", "user"]
    ((_, first), _) = house.asides.interviews(record.run.id)
    assert f"> {QUESTION}" in asked[3][1]
    assert asked[4][1] == first.answer
    assert "> And what else?" in asked[5][1]
    calls = server.calls
    house.interviews.ask(record, after, QUESTION).result(30)
    assert server.calls == calls, "what was answered is on record, whatever was asked since"


def test_one_question_goes_to_all_at_once(house: Courthouse) -> None:
    record = hear(house)
    assert not house.interviews.ask(record, None, QUESTION, "Ada").result(30).stopped
    kept = [one for _, one in house.asides.interviews(record.run.id)]
    spoke = {call.member for call in record.calls if call.keys and call.value is not None}
    assert {one.member for one in kept} == spoke
    assert len(kept) == len(spoke) > 3
    assert {(one.question, one.who) for one in kept} == {(QUESTION, "Ada")}


def test_an_interview_stops_at_the_budget_of_the_run(house: Courthouse, server: OpenAIServer) -> None:
    asked = hear(house).asked + 2
    record = hear(house, budget=Budget(calls=asked), rounds=1)
    after = last_call(record, "juror-01")
    left = asked - record.asked
    for number in range(left):
        assert not house.interviews.ask(record, after, f"Why {number}?").result(30).stopped
    assert "used up" in house.interviews.ask(record, after, "And why now?").result(30).stopped
    assert len(house.asides.interviews(record.run.id)) == left
