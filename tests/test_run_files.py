"""A run that one install has exported opens in another: whole, to be read and forked; it names no address of a server."""

import json
import shutil
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, CourtroomError, Record, Settings, report
from courtroom.engine.interventions import AddNote
from courtroom.evaluation.comparison import compare
from courtroom.models.route import Connection
from courtroom.report.run_file import imported_id
from tests.driving import drive, hearing, shell
from tests.full_store import SMALL, full_store
from tests.openai_server import OpenAIServer


@pytest.fixture(scope="module")
def there(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """The install in which the runs were made."""
    home = tmp_path_factory.mktemp("there") / "home"
    shutil.copytree(full_store()[0], home)
    house = Courthouse(Settings(home=home))
    yield house
    house.close()


def written(house: Courthouse, run: str) -> bytes:
    return house.files.export(run)[1].encode()


def test_every_run_is_exported_again_byte_by_byte(there: Courthouse, house: Courthouse) -> None:
    runs = [*there.store.each()]
    assert {run.procedure for run in runs} == {"cyberjurors", "verdict"}
    for run in runs:
        data = written(there, run.id)
        here = house.files.take_in(data)
        assert here == imported_id(run.id)
        assert (house.store.run(here).exported_id, house.store.run(here).exported_parent) == (run.id, run.parent)
        assert written(house, here) == data
        before, after = there.record(run.id), house.record(here)
        assert (after.tokens, after.cost, after.asked) == (before.tokens, before.cost, before.asked)
        assert report.as_html(after, house.procedures[run.procedure], house.answers, house.media)
    parent, fork = map(imported_id, full_store()[1:])
    assert house.family(parent)[1].run.id == fork, "a fork is still one of its parent"


def test_an_imported_run_is_not_continued_or_steered_but_forked(there: Courthouse, house: Courthouse) -> None:
    run, fork = (house.files.take_in(written(there, one)) for one in full_store()[1:])
    assert house.store.status(fork) == "paused"
    for act in (
        lambda: house.runner.go(fork),
        lambda: house.runner.step(fork),
        lambda: house.interventions.intervene(fork, AddNote(text="Look again.")),
        lambda: house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 0, run=run),
    ):
        with pytest.raises(CourtroomError, match="was imported from a file and can only be read"):
            act()
    record = house.record(drive(house, house.fork(run, house.record(run).setup)))
    assert record.run.status == "done"
    assert record.asked > 0, "a stranger's answers are not taken for those of a model"
    assert record.recorded == 0
    assert compare([house.record(run), record]).differences.setup == ()


def test_a_changed_file_is_refused_and_leaves_nothing(there: Courthouse, house: Courthouse) -> None:
    data = written(there, full_store()[1])
    with pytest.raises(CourtroomError, match="was changed after the export"):
        house.files.take_in(data.replace(b"Ada", b"Eve"))
    assert [*house.store.each()] == []
    house.files.take_in(data)
    with pytest.raises(CourtroomError, match="is here already"):
        house.files.take_in(data)


@pytest.mark.usefixtures("house")
def test_the_shell_imports_what_it_has_exported(there: Courthouse, tmp_path: Path) -> None:
    run = full_store()[1]
    file, again = tmp_path / "run.json", tmp_path / "again.json"
    file.write_bytes(written(there, run))
    here = shell("import", str(file)).strip()
    assert here == imported_id(run)
    shell("export", here, "--to", str(again))
    assert again.read_bytes() == file.read_bytes()
    assert shell("runs").splitlines()[-1].endswith("\timported")
    with pytest.raises(CourtroomError, match="can only be read"):
        shell("resume", here)
    for seed in (-1, 2**63):  # which no file may have
        shell("run", "oak-table", "--seed", str(seed), code=2)
        with pytest.raises(CourtroomError, match="A seed is a whole number from 0 to"):
            there.fork(run, SMALL, seed)


MOVED = "openai/any was asked at another address: its answers on record are not found, and are asked for again."


def heard(house: Courthouse, **model: Any) -> Record:
    given = {"model": {"id": "openai/any", "vision": "no", **model}, "examination": "shared"}
    return hearing(house, "cyberjurors", jury_size=3, rounds=1, **given)


@pytest.mark.parametrize("connection", ["lab", ""])
def test_an_export_holds_no_servers_address(
    server: OpenAIServer, house: Courthouse, tmp_path: Path, connection: str
) -> None:
    house.connections["lab"] = Connection.model_validate({"provider": "openai", "address": server.url})
    record = heard(house, connection=connection)
    assert server.url in {call.address for call in record.calls}, "the record itself knows it"
    _, text = house.files.export(record.run.id)
    page = report.as_html(record, house.procedures["cyberjurors"], house.answers, house.media)
    place = server.url.removeprefix("http://").removesuffix("/v1")
    assert place not in text
    assert place not in page
    assert {
        (call.get("connection"), call.get("address")) for call in json.loads(text)["events"] if call["kind"] == "call"
    } == {(connection, "" if connection else "not told")}
    fork = house.record(drive(house, house.fork(record.run.id, record.setup)))
    assert fork.asked == 0, "what is on record here is found as before"
    elsewhere = Courthouse(Settings(home=tmp_path / "there"))
    assert elsewhere.files.export(elsewhere.files.take_in(text.encode()))[1] == text


def test_estimates_tell_of_moves(server: OpenAIServer, app_house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    record = heard(app_house)
    run, case = record.run.id, record.case
    same = app_house.estimate("cyberjurors", case, record.setup, 0, run)
    assert (same.on_record, same.warnings) == (same.calls, ())
    with OpenAIServer(known_to=monkeypatch):
        found = app_house.estimate("cyberjurors", case, record.setup, 0, run)
        assert (found.on_record, len(found.warnings)) == (0, 1)
        assert found.warnings[0].startswith(MOVED)
        assert json.loads(shell("fork", run, "--estimate", "--json"))["warnings"] == list(found.warnings)
