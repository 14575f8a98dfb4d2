"""Nothing that is not in the file: by rules, by a model beside the run, and the way that a claim went."""

import gzip
import json
import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.events import Voted
from courtroom.engine.record import Record
from courtroom.evaluation.claims import Claim, not_in_file
from courtroom.models.spec import ModelSpec
from courtroom.settings import Settings
from tests.driving import shell
from tests.openai_server import OpenAIServer
from tests.pages import house as app_house
from tests.pages import page, texts

__all__ = ["app_house"]  # a fixture

SHELF = gzip.decompress((Path(__file__).parent / "recorded" / "invented-shelf.json.gz").read_bytes())
"""A hearing in which a juror invents a shelf, and two put it right whom she can't hear."""
CHECKER = ModelSpec(id="openai/checker", temperature=0.0)


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    with_recordings = Courthouse(Settings(home=tmp_path_factory.mktemp("recorded")))
    yield with_recordings
    with_recordings.close()


@pytest.fixture(scope="module")
def shelf(recorded: Courthouse) -> Record:
    return recorded.record(recorded.files.take_in(SHELF))


def by_rules(house: Courthouse, record: Record) -> tuple[Claim, ...]:
    return not_in_file(record, house.answers.of(record.run))


def test_the_invented_shelf_is_found_without_a_model(recorded: Courthouse, shelf: Record) -> None:
    (found,) = by_rules(recorded, shelf)
    assert (found.vote.member, found.words, found.why) == ("juror-12", "Yes, in cans, on one shelf.", "denied")
    assert found.passage.startswith("Petrol was kept in the shed")


def test_the_rules_mark_nothing_in_the_bundled_recordings(recorded: Courthouse) -> None:
    statements, marked = 0, list[tuple[str, frozenset[str]]]()
    for recording in recorded.recordings:
        record = recorded.record(recorded.files.play(recording))
        statements += sum(bool(vote.reasons) for vote in record.of(Voted))
        marked += [(claim.why, claim.terms) for claim in by_rules(recorded, record)]
    assert statements == 330
    assert not marked


class Checker:
    """Answers a check by what the statement says; what it copies is not always there."""

    def __call__(self, body: dict[str, Any]) -> str | None:
        said = body["messages"][-1]["content"].split("# The statement")[1].split("# What you are asked")[0]
        found = []
        if "on one shelf" in said and "Tang Ying" not in said:
            found = [
                {"words": "in cans, on one shelf", "names": "one shelf", "passage": "Petrol was kept on the jetty."},
                {"words": "in boxes on a table", "names": "table", "passage": ""},
            ]
        if "“his van”" in said or '"his van"' in said:
            passage = "It was getting dark; she could have mistaken it."
            found = [{"words": "literally nobody\nat the yard", "names": "nobody", "passage": passage}]
        return json.dumps({"claims": found})


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    with OpenAIServer(answer=Checker(), keep_bodies=True) as server:
        server.known(monkeypatch)
        yield server


def test_a_model_finds_it_and_copies_word_for_word(house: Courthouse, server: OpenAIServer) -> None:
    record = house.record(house.files.take_in(SHELF))
    plan = house.checks.plan(record, CHECKER)
    assert (plan.estimate.calls, plan.estimate.on_record, server.calls) == (48, 0, 0), "a plan asks nothing"
    outcome = house.checks.start(plan).result(60)
    assert not outcome.stopped
    found = {one.words: one for one in house.checks.of(record) if one.why == "model"}
    assert set(found) == {"in cans, on one shelf", "literally nobody at the yard"}, (
        "what does not stand there is dropped"
    )
    one = found["in cans, on one shelf"]
    assert (one.is_contradicted, one.terms) == (False, {"shelf"}), "a passage that stands nowhere is dropped too"
    assert found["literally nobody at the yard"].is_contradicted
    assert len(house.checks.of(record)) == 2, "what a rule found too is told once"
    again = house.record(record.run.id)
    assert (again.events, again.cost) == (record.events, record.cost), "the run stays as it is"
    assert not house.checks.plan(record, CHECKER).questions, "what was asked is not asked again"


def test_the_shell_tells_each_claim_and_who_heard_it(house: Courthouse, server: OpenAIServer) -> None:
    run = house.files.take_in(SHELF)
    (told,) = json.loads(shell("check", run, "--json"))["claims"]
    assert (told["said"], told["found_by"]) == ("round-1/juror-12", "denied")
    assert told["members"]["juror-12"] == "said"
    assert json.loads(shell("check", run, "--model", CHECKER.id, "--estimate", "--json"))["ask"] == 48
    found = {one["found_by"] for one in json.loads(shell("check", run, "--model", CHECKER.id, "--json"))["claims"]}
    assert found == {CHECKER.id}


def test_the_page_shows_mark_passage_way_and_voices(app_house: Courthouse) -> None:
    run = app_house.files.take_in(SHELF)
    app = page("deliberation", {f"tab-{run}": "What moved it"}, run=run)
    shown = "\n".join([texts(app), *(element.proto.body for element in app.get("html"))])
    assert "Tang Ying was never shown that it is not in the case." in shown
    assert "Petrol was kept in the shed for the boats" in shown
    assert re.search(r"Linda Moore.{0,200}named in it", shown, re.DOTALL), "who turned Huang Rui"
    heard = "Elena Popescu, Sam Taylor, Maria Rossi, Stefan Ionescu, Sofia Lindqvist, Tang Ying"
    assert heard in shown, "who could not hear Linda Moore"
