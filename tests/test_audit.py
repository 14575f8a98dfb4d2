"""Audits of changes of sides, on a run against a server whose jurors are built to be unstable, conforming or persuaded."""

import json
from collections import Counter
from collections.abc import Iterator
from dataclasses import replace
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.declarations.setup import Budget
from courtroom.engine.record import Record
from courtroom.models.request import Request
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions import audit as naming
from courtroom.questions.asides import CONDITIONS
from courtroom.questions.audit import auditable, call_before, new_in, shares, why_none
from tests.driving import drive
from tests.openai_server import OpenAIServer, answer_for
from tests.test_courtroom_llm import court
from tests.test_courtroom_llm import hear as texts_heard
from tests.toy import text_of

REASON = "The seal was opened before it was sent back."
UNSTABLE, CONFORMING, PERSUADED, BOTH = "juror-01", "juror-02", "juror-03", "juror-04"
"""All four vote for the buyer at first. The other two always vote for the seller, and say why."""


class Jury:
    """Votes by what stands in a prompt."""

    def __init__(self) -> None:
        self.asked: Counter[str] = Counter()
        self.prompts: list[str] = []

    def __call__(self, body: dict[str, Any]) -> str | None:
        contents = [message["content"] for message in body["messages"]]
        texts = [one if isinstance(one, str) else "\n".join(part.get("text", "") for part in one) for one in contents]
        text = "\n".join(texts)
        if "You are juror " not in text:
            return None
        self.asked[text] += 1
        self.prompts.append(text)
        seat = int(text.split("You are juror ")[1].split(",")[0])
        votes, reasons = "voted for the seller" in text, REASON in text
        unstable = (votes or reasons) and self.asked[text] % 2 == 1
        seller = {1: unstable, 2: votes, 3: reasons, 4: votes and reasons}.get(seat, True)
        said = ("seller", REASON) if seller else ("buyer", "No.")
        return json.dumps({**json.loads(answer_for(body, text)), "verdict": said[0], "reasoning": [said[1]]})


JURY = Jury()


@pytest.fixture(scope="module")
def server() -> Iterator[OpenAIServer]:
    with OpenAIServer(answer=JURY) as server:
        yield server


@pytest.fixture(autouse=True)
def the_jury_was_asked_nothing() -> None:
    """How an unstable juror answers depends on how often it was asked."""
    JURY.asked.clear()


@pytest.fixture
def house(house: Courthouse, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Courthouse:
    server.known(monkeypatch)
    return house


def hear(house: Courthouse, **knobs: Any) -> Record:
    given = {"jury_size": 6, "examination": "shared", "rounds": 2, "consensus": 1.0, "graph": {"kind": "complete"}}
    setup = CyberJurorsSetup(**{"model": ModelSpec(id="openai/any", vision="no"), **given, **knobs})
    record = house.record(drive(house, house.new_run("cyberjurors", house.library.case("phone-battery"), setup, 0)))
    assert record.run.status == "done", record.run.reason
    return record


def audited(house: Courthouse, record: Record, seeds: int = 3) -> str:
    """Audit all changes; why it stopped, if it did."""
    calls = [one.call.path for one in auditable(house.procedures["cyberjurors"], record)]
    return house.audits.start(house.audits.plan(record, calls, seeds)).result(60).stopped


def test_each_juror_is_named_by_its_votes_when_shown_less(house: Courthouse, server: OpenAIServer) -> None:
    record = hear(house)
    before = house.store.pulse(record.run.id), record.cost, record.asked
    changes = auditable(house.procedures["cyberjurors"], record)
    calls = [one.call.path for one in changes]
    plan = house.audits.plan(record, calls)
    assert plan.estimate.calls == 4 * 4 * 3
    asked, start = server.calls, len(JURY.prompts)
    assert house.audits.start(plan).result(60).stopped == ""
    found = {audit.member: audit for audit in house.audits.of(record)}
    named = {UNSTABLE: "instability", CONFORMING: "conformity", PERSUADED: "persuasion", BOTH: "both"}
    assert {member: audit.name for member, audit in found.items()} == named
    assert found[CONFORMING].counts["votes"] == naming.ConditionCounts(again=3)
    assert found[CONFORMING].counts["reasons"] == naming.ConditionCounts(other=3)
    assert found[PERSUADED].before == "buyer"
    assert shares(tuple(found.values())) == dict.fromkeys(named.values(), 0.25)
    change = next(one.call for one in changes if one.vote.member == PERSUADED)
    before_it = call_before(record, change)
    assert before_it.path == f"round-1/{PERSUADED}/judge"
    news = new_in(house.answers, before_it, change)
    assert f"+> - {REASON}" in news
    assert not [line for line in news if line.startswith("-") and "This is round" not in line]
    # Each condition shows what its name says, and reads as a sentence.
    prompts = JURY.prompts[start:]
    marks = ("voted for the", "prevailing_orientation", REASON, "key_arguments")
    of_peers = [text.replace("you voted for the", "") for text in prompts]  # what it voted itself it knows in any case
    seen = Counter(tuple(mark in text for mark in marks) for text in of_peers)
    shown = ((True, True, True, True), (True, True, False, False), (False, False, True, True), (False,) * 4)
    assert seen == dict.fromkeys(shown, 4 * 3)
    votes_alone = next(text for text in of_peers if "voted for the" in text and REASON not in text)
    assert "voted for the seller.\n" in votes_alone
    assert "(empty)" not in votes_alone
    reasons_alone = next(text for text in of_peers if "voted for the" not in text and REASON in text)
    assert f"gave these reasons:\n> - {REASON}\n" in reasons_alone
    assert "None" not in reasons_alone
    # Each answer is paid for and counted; of the run nothing has changed.
    due = plan.estimate.calls - plan.estimate.on_record
    assert server.calls - asked == due == sum(one.cost.calls for one in found.values())
    again = house.record(record.run.id)
    assert (house.store.pulse(record.run.id), again.cost, again.asked) == before
    assert again.events == record.events
    # What an audit has it does not ask again; more seeds ask the rest alone.
    assert house.audits.plan(record, calls).estimate.calls == 0
    assert house.audits.plan(record, calls, 4).estimate.calls == 4 * 4


def test_an_audit_stops_at_the_budget_of_the_run(house: Courthouse) -> None:
    record = hear(house, budget=Budget(calls=40))
    left = 40 - record.asked
    assert 0 < left < 48
    assert "budget of 40 calls is used up" in audited(house, record)
    assert sum(audit.cost.calls for audit in house.audits.of(record)) == left
    assert house.store.payments.spent(record.run.id, with_beside=True).calls == 40


def test_answers_of_a_lost_process_are_not_asked_again(house: Courthouse, server: OpenAIServer) -> None:
    record = hear(house)
    audited(house, record, 1)
    costs = [audit.cost for audit in house.audits.of(record)]
    assert [cost.calls for cost in costs] == [4] * 4
    house.database.connection.execute("DELETE FROM asides")
    asked = server.calls
    audited(house, record, 1)
    assert server.calls == asked
    assert [audit.cost for audit in house.audits.of(record)] == costs


def test_an_audit_goes_and_comes_back_with_its_run(house: Courthouse) -> None:
    record = hear(house)
    audited(house, record, 1)
    (first, *_) = house.audits.of(record)
    anew = record.call(first.call).model_copy(update={"keys": ("another",)})
    events = tuple((at, anew if event == record.call(first.call) else event) for at, event in record.events)
    assert first.call not in {audit.call for audit in house.audits.of(replace(record, events=events))}
    (one, *_) = house.asides.samples(record.run.id)
    failed = one.model_copy(update={"choice": None})
    assert naming.count([failed, one], "seller" if one.choice == "buyer" else "buyer")[one.condition, ""].missing == 0
    assert naming.count([one, failed], "buyer")[one.condition, ""].missing == 1, "the last answer counts"
    kept = house.asides.of(record.run.id)
    assert len(kept) == 16
    deleted = house.store.delete(record.run.id)
    assert not house.asides.of(record.run.id)
    house.store.restore(deleted)
    assert house.asides.of(record.run.id) == kept


def test_a_procedure_without_peers_has_no_audit(house: Courthouse) -> None:
    procedure, case = house.procedures["jurisagents"], house.library.case("criminal-bus-wallet")
    record = house.record(house.new_run("jurisagents", case, procedure.setup(), 0))
    assert not auditable(procedure, record)
    assert "does not declare" in why_none(procedure, record)


def test_a_judge_who_goes_along_with_those_before_is_named(house: Courthouse) -> None:
    def decides(request: Request) -> dict[str, str]:
        follows = request.tag.endswith("/judge-2") and not any(one.label == "fear" for one in request.task.earlier)
        return {"label": "joy" if follows else "fear"}

    model = court(judge=decides)
    record = texts_heard(house, model, judges=3)
    calls = [one.call.path for one in auditable(house.procedures["courtroom-llm"], record)]
    assert calls == [f"judgment/judge-{seat}/judge-a" for seat in (1, 2, 3)]
    plan = house.audits.plan(record, calls, 2)
    assert plan.left_out == ("judgment/judge-1/judge-a: The member was shown nothing of its peers.",)
    house.audits.start(plan).result(30)
    assert [(one.member, one.before, one.name) for one in house.audits.of(record)] == [
        ("judge-2", None, "conformity"),
        ("judge-3", None, "own view"),
    ]
    prompts = list(map(text_of, model.history))
    assert any("Judge 1 decided for this label:\n> fear\n\n" in text for text in prompts)
    assert any("Judge 1 gave this reason:\n> It says so.\n" in text for text in prompts)


@pytest.mark.parametrize(
    ("again", "changed", "name"),
    [
        ((3, 2, 3, 1), True, "conformity"),
        ((2, 0, 2, 0), True, "persuasion"),
        ((1, 3, 3, 0), True, "instability"),
        ((3, 3, 3, 2), True, "instability"),
        ((3, 3, 3, 2), False, "own view"),
        ((3, 1, 1, 0), True, "both"),
    ],
)
def test_the_rule_by_which_a_change_is_named(again: tuple[int, ...], changed: bool, name: str) -> None:
    counts = {
        one: naming.ConditionCounts(again=number, other=3 - number)
        for one, number in zip(CONDITIONS, again, strict=True)
    }
    assert naming.name(counts, changed=changed) == name
    assert naming.name({**counts, "votes": naming.ConditionCounts(missing=3)}, changed=changed) == "not clear"
