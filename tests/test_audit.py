"""Audits of changes of sides, on a run against a server whose jurors are unstable, conforming or persuaded; and which voice it was."""

import json
import random
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, ModelSpec, Record, Settings
from courtroom.models.request import Reply, Request, Usage, Watch
from courtroom.questions import audit as naming
from courtroom.questions.audit import Audit, auditable, call_before, new_in, shares
from tests.driving import answered_by, hearing, whole_hearing
from tests.furnished import copied
from tests.openai_server import OpenAIServer, answer_for, texts_of
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
        text = "\n".join(map(texts_of, body["messages"]))
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


@pytest.fixture
def house(house: Courthouse, server: OpenAIServer, monkeypatch: pytest.MonkeyPatch) -> Courthouse:
    server.known(monkeypatch)
    JURY.asked.clear()  # how an unstable juror answers depends on how often it was asked
    return house


def hear(house: Courthouse, **knobs: Any) -> Record:
    given = {"jury_size": 6, "examination": "shared", "rounds": 2, "consensus": 1.0, "graph": {"kind": "complete"}}
    model = ModelSpec(id="openai/any", vision="no")
    return whole_hearing(house, "cyberjurors", "phone-battery", **{"model": model, **given, **knobs})


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
    # Each condition shows what its name says.
    prompts = [text.replace("you voted for the", "") for text in JURY.prompts[start:]]
    seen = Counter(("voted for the" in text, REASON in text) for text in prompts)
    assert seen == dict.fromkeys(((True, True), (True, False), (False, True), (False, False)), 4 * 3)
    # Each answer is paid for and counted; of the run nothing has changed.
    due = plan.estimate.calls - plan.estimate.on_record
    assert server.calls - asked == due == sum(one.cost.calls for one in found.values())
    again = house.record(record.run.id)
    assert (house.store.pulse(record.run.id), again.cost, again.asked) == before
    assert again.events == record.events
    # What an audit has it does not ask again; more seeds ask the rest alone.
    assert house.audits.plan(record, calls).estimate.calls == 0
    assert house.audits.plan(record, calls, 4).estimate.calls == 4 * 4


LEADER = "The petrol at two places settles it for me."
RUNS = 8
AT_LEAST = 7
WRONG = 0.02
"""How often a scripted juror votes otherwise than by its script."""


class Listeners:
    """Juror 1 votes guilty where it hears the leader, juror 2, or by chance alone; the others always vote guilty."""

    def __init__(self, *, listens: bool) -> None:
        self.listens = listens

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        text, chance = text_of(request), random.Random(request.key)
        seat = int(request.tag.partition("/juror-")[2][:2])
        vote = "guilty"
        if seat == 1:
            turned = LEADER in text if self.listens else chance.random() < 0.5
            wrong = self.listens and chance.random() < WRONG
            vote = "guilty" if turned != wrong else "not-guilty"
        statement = LEADER if seat == 2 else f"As juror {seat} I go by the insurance."
        return Reply(text=json.dumps({"statement": statement, "vote": vote}), usage=Usage(prompt=1, completion=1))


def audits(tmp_path: Path, *, listens: bool) -> list[Audit]:
    """An audit with voices of the first change of juror 1 in each of so many runs in which it changes sides."""
    house = answered_by(Courthouse(Settings(home=copied(tmp_path))), Listeners(listens=listens))
    procedure, found, seed = house.procedures["mock-jury"], list[Audit](), 0
    given = {"model": ModelSpec(id="scripted", vision="no"), "jury_size": 4, "rounds": 1, "personas": "none"}
    while len(found) < RUNS:
        seed += 1
        record = hearing(house, "mock-jury", "trial-boatyard-fire", seed, **given)
        calls = [one.call.path for one in auditable(procedure, record) if one.vote.member == "juror-01"]
        if calls:
            house.audits.start(house.audits.plan(record, calls, voices=True)).result(60)
            found += house.audits.of(record)
    house.close()
    return found


@pytest.mark.slow
@pytest.mark.parametrize(("listens", "told"), [(True, ("Juror 2",)), (False, ())])
def test_the_voice_that_is_listened_to_alone_is_told(listens: bool, told: tuple[str, ...], tmp_path: Path) -> None:
    named = [audit.carried_by for audit in audits(tmp_path, listens=listens)]
    assert sum(voices == told for voices in named) >= AT_LEAST
