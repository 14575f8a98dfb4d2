"""What moved a panel: read off the questions of hearings that are on record."""

import io
import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest
from docx import Document

from courtroom.courthouse import Courthouse
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called, Voted
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import ABOUT_RECORDINGS, RECORDING
from courtroom.evaluation.movement import Movement, movement
from courtroom.report import as_docx, as_markdown
from courtroom.settings import Settings
from tests.driving import shell
from tests.pages import house as app_house
from tests.pages import page, texts

__all__ = ["app_house"]  # a fixture


@pytest.fixture(scope="module")
def recorded(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    with_recordings = Courthouse(Settings(home=tmp_path_factory.mktemp("recorded")))
    yield with_recordings
    with_recordings.close()


def moved(house: Courthouse, record: Record) -> Movement:
    return movement(record, house.procedures[record.run.procedure], house.answers.of(record.run))


@pytest.mark.parametrize("file", ["boatyard-fire.json", "vacuum-charging.json", "vacuum-charging-added.json"])
def test_who_heard_whom_is_the_follow_graph_of_the_run(recorded: Courthouse, file: str) -> None:
    recording = next(one for one in recorded.recordings if one.file.name == file)
    record = recorded.record(recorded.files.play(recording))
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
    whys[0].set_value(True).run()
    assert not app.exception, app.exception
    assert any(one.label == "Why this vote? An audit" for one in app.expander)
    vote = changes[0].vote
    member, stage = app_house.record(run).member(vote.member), app_house.record(run).stage(vote.stage)
    assert member is not None
    assert any(one.label == f"Ask {member.name}" for one in app.expander), "the member is asked on the card"
    (moment,) = [one for one in texts(app).splitlines() if one.startswith("It answers from what it knew after")]
    assert stage.name in moment, "as it stood when it changed sides"


@pytest.fixture(scope="module")
def boatyard(recorded: Courthouse) -> Record:
    recording = next(one for one in recorded.recordings if one.file.name == "boatyard-fire.json")
    return recorded.record(recorded.files.play(recording))


def given(house: Courthouse, record: Record) -> tuple[Record, Procedure, AnswerStore]:
    return record, house.procedures[record.run.procedure], house.answers.of(record.run)


def test_a_transcript_holds_every_statement_whole(recorded: Courthouse, boatyard: Record) -> None:
    markdown = as_markdown(*given(recorded, boatyard)[:2])
    read = " ".join(re.sub(r"\\(.)|^> |\n", lambda found: found[1] or " ", markdown, flags=re.MULTILINE).split())
    document = Document(io.BytesIO(as_docx(*given(recorded, boatyard)[:2])))
    paragraphs = " ".join(" ".join(paragraph.text.split()) for paragraph in document.paragraphs)
    for vote in boatyard.of(Voted):
        for reason in vote.reasons:
            assert " ".join(reason.split()) in read
            assert " ".join(reason.split()) in paragraphs
    assert ABOUT_RECORDINGS[RECORDING] in paragraphs, "it says who answered"


def test_marks_of_what_was_said_take_no_effect(recorded: Courthouse, boatyard: Record) -> None:
    said = "# Order\n<script>alert(1)</script> [click](http://evil.example) **now**"
    events = tuple(
        (at, event.model_copy(update={"value": {"statement": said * 2}}) if isinstance(event, Called) else event)
        for at, event in boatyard.events
    )
    written = as_markdown(*given(recorded, replace(boatyard, events=events))[:2])
    assert "<script>" not in written.replace("\\<", "")
    assert "](http" not in written.replace("\\]", "")


@pytest.mark.parametrize("ending", ["md", "docx", "csv", "parquet"])
def test_the_shell_writes_what_is_taken_along(
    recorded: Courthouse, boatyard: Record, monkeypatch: pytest.MonkeyPatch, tmp_path: Path, ending: str
) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(recorded.settings.home))
    file = tmp_path / f"taken.{ending}"
    shell("export", boatyard.run.id, "--to", str(file))
    read = {"csv": pd.read_csv, "parquet": pd.read_parquet}.get(ending)
    assert len(read(file)) == len(boatyard.of(Voted)) if read else file.stat().st_size > 10_000
