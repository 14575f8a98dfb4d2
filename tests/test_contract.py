"""The contract of every procedure: what each one in the register keeps to, whatever it does.

Nothing here knows any one procedure. A procedure that is added is tried with the first case of the kind that it hears.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import replace
from html import escape, unescape
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, Procedure, Record, Settings, Setup, report
from courtroom.declarations.changes import merged
from courtroom.engine.events import EVENT, Seated
from courtroom.procedures import PROCEDURES
from tests import forks
from tests.asked import leaves
from tests.driving import drive, finished, replayed
from tests.furnished import copied
from tests.kills import kill_again_and_again
from tests.samples import sample

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

HOW = {"latency_s", "source", "asked", "attempts", "prompt_tokens", "completion_tokens", "cost"}
"""What of a call tells how its answer came, not what it is: found on record, it costs nothing and takes no time."""


@pytest.fixture(scope="module")
def ready(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A home whose knowledge base is indexed, to be copied."""
    home = copied(tmp_path_factory.mktemp("ready"))
    house = Courthouse(Settings(home=home))
    house.runner.do(house.knowledge.warm(tuple(house.knowledge.collections))).result()
    house.close()
    return home


@pytest.fixture
def home(ready: Path, tmp_path: Path) -> Path:
    """A home of the test's own: what one run learns another that it is compared with must not know."""
    return Path(shutil.copytree(ready, tmp_path / "home"))


@pytest.fixture(scope="module", params=list(PROCEDURES.values()), ids=list(PROCEDURES))
def procedure(request: pytest.FixtureRequest) -> Procedure:
    return request.param


Heard = tuple[Courthouse, Record]
"""A run from the first stage to the verdict, and the store in which it is."""


@pytest.fixture(scope="module")
def heard(ready: Path, tmp_path_factory: pytest.TempPathFactory, procedure: Procedure) -> Iterator[Heard]:
    """An unbroken run, to be read by many tests and changed by none."""
    house = Courthouse(Settings(home=shutil.copytree(ready, tmp_path_factory.mktemp("heard") / "home")))
    yield house, finished(house, start(house, procedure))
    house.close()


def few(procedure: Procedure) -> Setup:
    """The procedure's defaults, but for its smallest numbers: what is on by default is on."""
    numbers = {knob: value for knob, value in procedure.small.items() if type(value) is int}
    return procedure.setup.model_validate(merged(procedure.setup().model_dump(mode="json"), numbers))


def start(house: Courthouse, procedure: Procedure) -> str:
    """A new run with few members, not driven yet."""
    return house.new_run(procedure.name, sample(house, procedure.kinds[0]), few(procedure), 0)


def told(house: Courthouse, record: Record) -> list[Any]:
    """A run's events without times and how answers came, its verdict, and what the knowledge base has been taught.

    Its own id is RUN. Members who work at once end in any order.
    """
    events = {f"{event.kind} {event.path}": event.model_dump(mode="json", exclude=HOW) for _, event in record.events}
    learned = sorted([*key, body] for key, body in replayed(house.knowledge.lessons).items())
    verdict = record.run.verdict.model_dump(mode="json")
    return json.loads(json.dumps([events, verdict, learned]).replace(record.run.id, "RUN"))


def test_a_run_keeps_to_what_is_declared(heard: Heard, procedure: Procedure) -> None:
    _, record = heard
    kinds = {kind.name for kind in procedure.stages}
    assert record.stages
    assert {stage.stage_kind for stage in record.stages} <= kinds
    assert [stage.index for stage in record.stages] == list(range(len(record.stages)))
    assert record.ended == {stage.path for stage in record.stages}
    assert len(kinds) == len(procedure.stages)
    declared = {role.name for role in procedure.roles}
    seated = {member.id: member for member in record.members}
    assert len(declared) == len(procedure.roles)
    assert len(record.of(Seated)) == 1
    assert len(seated) == len(record.members)
    assert {member.role for member in record.members} <= declared
    for call in record.calls:
        assert call.model == seated[call.member].spec.id
        assert call.path.startswith(f"{record.stage(call.stage).path}/{call.member}/")
    voters = {role.name for role in procedure.roles if role.votes}
    choices = {choice.name for choice in procedure.about(record.case).choices}
    cast = [vote for ballot in record.ballots.values() for vote in ballot.values()]
    assert {seated[vote.member].role for vote in cast} <= voters
    assert {vote.choice for vote in cast if vote.choice is not None} <= choices
    for tally in record.tallies.values():
        assert set(tally.counts) <= choices
        votes = [vote.choice for vote in record.ballots[tally.path].values()]
        assert tally.counts == {choice: votes.count(choice) for choice in tally.counts}
        assert tally.abstained == votes.count(None)
    assert set(record.run.verdict.counts) <= choices
    looked_in = {getattr(retrieval.query, "collection", None) for retrieval in record.retrievals} - {None}
    assert looked_in <= set(procedure.looks_in)


def test_an_estimate_counts_what_the_run_then_asks(home: Path, heard: Heard, procedure: Procedure) -> None:
    house, (_, record) = Courthouse(Settings(home=home)), heard
    estimate = house.estimate(procedure.name, sample(house, procedure.kinds[0]), few(procedure), 0)
    assert (estimate.calls, estimate.on_record) == (record.asked, 0)
    assert 0 < record.asked <= estimate.at_most


def test_every_preset_is_written_out_and_read_again(heard: Heard, procedure: Procedure) -> None:
    case = heard[1].case
    for preset in procedure.presets:
        values = merged(procedure.setup().model_dump(mode="json"), preset.changes)
        complete, members = procedure.prepare(case, procedure.setup.model_validate(values), 3)
        again: Setup = procedure.setup.model_validate_json(complete.model_dump_json())
        assert procedure.prepare(case, again, 3) == (complete, members)
        assert members


def test_every_view_draws_after_any_event_of_a_run(heard: Heard, procedure: Procedure) -> None:
    _, record = heard
    last = len(record.events)
    # Each of hundreds of answers looks like its neighbours.
    for known in (*range(0, last - 6, max(7, last // 12)), *range(max(0, last - 6), last + 1)):
        early = replace(record, events=record.events[:known], run=record.run.model_copy(update={"verdict": None}))
        for view in procedure.views:
            assert view.draw(early), f"{view.title} shows nothing after {known} events"
    for view in procedure.views:
        assert any(blocks for blocks in view.draw(record).values()), view.title


def test_stepping_gives_what_one_run_gives(home: Path, heard: Heard, procedure: Procedure) -> None:
    house, (before, whole) = Courthouse(Settings(home=home)), heard
    run = start(house, procedure)
    for done in range(len(whole.stages)):
        house.runner.step(run)
        house.runner.wait(run, 120)
        record = house.record(run)
        assert len(record.stages) == done + 1
    if record.run.status != "done":  # a verdict needs no step of its own where the last stage ends in it
        record = house.record(drive(house, run))
    assert told(house, record) == told(before, whole)
    assert record.stages == whole.stages


def test_a_run_killed_often_ends_as_an_unbroken_one(home: Path, heard: Heard, procedure: Procedure) -> None:
    house, (before, whole) = Courthouse(Settings(home=home)), heard
    run = start(house, procedure)
    house.close()
    environment = {**os.environ, "COURTROOM_HOME": str(home)}
    with forks.Fork(kill_again_and_again, run, environment=environment) as process:
        kills = int(process.output())
    house = Courthouse(Settings(home=home))
    record = house.record(run)
    assert kills >= 2
    assert record.run.status == "done"
    assert record.asked <= whole.asked  # an answer that was on record when the process died is not asked again
    assert told(house, record) == told(before, whole)


def test_a_fork_asks_only_what_its_change_reaches(heard: Heard, procedure: Procedure) -> None:
    house, whole = heard
    events, verdict, learned = told(house, whole)
    estimate = house.estimate(procedure.name, whole.case, whole.setup, 0, whole.run.id)
    fork = house.record(drive(house, house.fork(whole.run.id, whole.setup)))
    assert estimate.calls == estimate.on_record
    assert (fork.asked, fork.recorded) == (0, estimate.calls)
    assert fork.run.status == "done"
    for event in events.values():
        if event["kind"] == "learned":
            event["held_back"] = True
    assert told(house, fork)[:2] == [events, verdict]
    assert told(house, whole)[2] == learned
    other = house.record(drive(house, house.fork(whole.run.id, whole.setup, seed=1)))
    assert other.asked == len(other.calls)


def test_the_json_holds_every_prompt_answer_and_vote(heard: Heard, procedure: Procedure) -> None:
    house, record = heard
    exported = json.loads(report.as_json(record, house.answers))
    assert [EVENT.validate_python({k: v for k, v in event.items() if k != "at"}) for event in exported["events"]] == [
        event for _, event in record.events
    ]
    for key in (key for call in record.calls for key in call.keys):
        sent = [
            part if isinstance(part, dict) else exported["parts"][part]
            for _, parts in exported["answers"][key]["request"]["messages"]
            for part in parts
        ]
        assert sent == [
            part if isinstance(part, str) else part.model_dump(mode="json")
            for message in house.answers.request(key)
            for part in message.parts
        ]
    for export in procedure.exports:
        for events in ((), record.events):  # at any time
            assert isinstance(export.write(replace(record, events=events), house.answers), str)
    for call in record.calls:
        assert json.loads(exported["answers"][call.keys[-1]]["reply"]["text"]) is not None
    assert procedure.setup.model_validate(exported["setup"]) == record.setup
    assert type(record.case).model_validate(exported["case"]) == record.case


def test_the_page_holds_every_prompt_answer_and_vote(heard: Heard, procedure: Procedure) -> None:
    house, record = heard
    page = report.as_html(record, procedure, house.answers, house.media)
    text = unescape(page)
    messages = (message for call in record.calls for key in call.keys for message in house.answers.request(key))
    prompts = {part for message in messages for part in message.parts if isinstance(part, str)}
    replies = {reply.text for call in record.calls for key in call.keys if (reply := house.answers.reply(key))}
    values = {leaf for call in record.calls for leaf in leaves(call.value)}
    assert [wanted for wanted in prompts | replies | values if wanted not in text] == []
    assert [call.path for call in record.calls if f"<summary>{call.path} · " not in page] == []
    marks = {choice.name: f"{choice.mark} {choice.title}" for choice in procedure.about(record.case).choices}
    for vote in (vote for ballot in record.ballots.values() for vote in ballot.values()):
        assert f"<td>{escape(record.member(vote.member).name)}" in page
        assert (marks[vote.choice] if vote.choice else "abstained") in page
