"""What members said: nothing that is not in the file, by rules and by a model; and what moved a panel."""

import gzip
import io
import json
import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from docx import Document

from courtroom import Courthouse, ModelSpec, Record
from courtroom.engine.events import Called, Voted
from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.evaluation.claims import Claim, not_in_file
from courtroom.evaluation.movement import Movement, movement
from courtroom.procedures import PROCEDURES
from courtroom.report import as_docx, as_markdown
from courtroom.report.transcript import methods
from tests import driving
from tests.driving import shell
from tests.openai_server import OpenAIServer
from tests.pages import page, ran, texts

SHELF = gzip.decompress((Path(__file__).parent / "recorded" / "invented-shelf.json.gz").read_bytes())
"""A hearing in which a juror invents a shelf, and two put it right whom she can't hear."""
CHECKER = ModelSpec(id="openai/checker", temperature=0.0)
recorded = driving.house  # a fixture


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
    assert statements == 313
    assert not marked


def checked(body: dict[str, Any]) -> str:
    """Answers a check by what the statement says; what it copies is not always there."""
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
def server(server: OpenAIServer) -> OpenAIServer:
    server.answer = checked
    return server


def test_a_model_finds_it_and_copies_word_for_word(house: Courthouse, server: OpenAIServer) -> None:
    record = house.record(house.files.take_in(SHELF))
    plan = house.checks.plan(record, CHECKER)
    assert (plan.estimate.calls, plan.estimate.on_record, server.calls) == (48, 0, 0), "a plan asks nothing"
    outcome = house.checks.start(plan).result(60)
    assert not outcome.stopped
    found = {one.words: one for one in house.checks.of(record) if one.why == "model"}
    stands = {"in cans, on one shelf", "literally nobody at the yard"}
    assert set(found) == stands, "what does not stand there is dropped"
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


def moved(house: Courthouse, record: Record) -> Movement:
    return movement(record, house.procedures[record.run.procedure], house.answers.of(record.run))


def played(house: Courthouse, file: str) -> Record:
    return house.record(house.files.play(next(one for one in house.recordings if one.file.name == file)))


@pytest.mark.parametrize("file", ["boatyard-fire.json", "vacuum-charging.json", "vacuum-charging-added.json"])
def test_who_heard_whom_is_the_follow_graph_of_the_run(recorded: Courthouse, file: str) -> None:
    record = played(recorded, file)
    found, graph = moved(recorded, record), record.setup.graph  # type: ignore[attr-defined]
    ids = [member.id for member in found.voters]
    ways = {way for ballot in record.ballots for way in found.heard(ballot)}
    assert ways == {(ids[follower], ids[followed]) for follower, followed in graph.edges}
    assert len(found.changes) == sum(vote.changed for votes in record.ballots.values() for vote in votes.values()) > 0
    for member in found.never_heard_other_side:
        for seen in found.of(member):
            assert set(seen.sides()) <= {seen.vote.before or seen.vote.choice}


def test_the_page_shows_each_change_with_its_audit(app_house: Courthouse) -> None:
    run = app_house.files.play(app_house.recordings[0])
    app = page("deliberation", {f"tab-{run}": "What moved it"}, run=run)
    changes = moved(app_house, app_house.record(run)).changes
    whys = [toggle for toggle in app.toggle if toggle.label.startswith("Why?")]
    assert len(whys) == len(changes) > 0
    assert f"{len(changes)} changes of sides" in texts(app)
    ran(whys[0].set_value(True))
    assert any(one.label == "Why this vote? An audit" for one in app.expander)
    vote = changes[0].vote
    member, stage = app_house.record(run).member(vote.member), app_house.record(run).stage(vote.stage)
    assert any(one.label == f"Ask {member.name}" for one in app.expander), "the member is asked on the card"
    (moment,) = [one for one in texts(app).splitlines() if one.startswith("It answers from what it knew after")]
    assert stage.name in moment, "as it stood when it changed sides"


JURY = PROCEDURES["mock-jury"]


@pytest.fixture(scope="module")
def boatyard(recorded: Courthouse) -> Record:
    return played(recorded, "boatyard-fire.json")


def test_a_transcript_holds_every_statement_whole(boatyard: Record) -> None:
    markdown = as_markdown(boatyard, JURY)
    read = " ".join(re.sub(r"\\(.)|^> |\n", lambda found: found[1] or " ", markdown, flags=re.MULTILINE).split())
    document = Document(io.BytesIO(as_docx(boatyard, JURY)))
    paragraphs = " ".join(" ".join(paragraph.text.split()) for paragraph in document.paragraphs)
    for vote in boatyard.of(Voted):
        for reason in vote.reasons:
            assert " ".join(reason.split()) in read
            assert " ".join(reason.split()) in paragraphs
    assert ABOUT_RECORDINGS[RECORDING] in paragraphs, "it says who answered"


def test_marks_of_what_was_said_take_no_effect(boatyard: Record) -> None:
    said = "# Order\n<script>alert(1)</script> [click](http://evil.example) **now**"
    other = {"value": {"statement": said * 2 + "\f\ufffe"}}
    every = ((at, one.model_copy(update=other) if isinstance(one, Called) else one) for at, one in boatyard.events)
    told = replace(boatyard, events=tuple(every))
    written = as_markdown(told, JURY)
    assert "<script>" not in written.replace("\\<", "")
    assert "](http" not in written.replace("\\]", "")
    assert as_docx(told, JURY), "without what XML can't hold"
    none = [(at, one.model_copy(update={"value": None} if isinstance(one, Called) else {})) for at, one in told.events]
    assert "; 0 answers were given" in methods(replace(boatyard, events=tuple(none)), JURY)


def test_the_shell_writes_what_is_taken_along(
    recorded: Courthouse, boatyard: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(recorded.settings.home))
    for ending, read in (("md", None), ("docx", None), ("csv", pd.read_csv), ("parquet", pd.read_parquet)):
        file = tmp_path / f"taken.{ending}"
        shell("export", boatyard.run.id, "--to", str(file))
        assert len(read(file)) == len(boatyard.of(Voted)) if read else file.stat().st_size > 10_000
