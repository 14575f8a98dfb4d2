"""Where a model was asked: an export names the server by its connection, and a fork's estimate says where an address has changed."""

import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.connections import Connection
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import Settings
from tests.driving import drive, shell
from tests.openai_server import OpenAIServer
from tests.pages import house as app_house

__all__ = ["app_house"]  # a fixture
MOVED = "openai/any was asked at another address: its answers on record are not found, and are asked for again."


@pytest.fixture
def server(monkeypatch: pytest.MonkeyPatch) -> Iterator[OpenAIServer]:
    """A server that the environment names, not a connection."""
    with OpenAIServer() as server:
        server.known(monkeypatch)
        yield server


def heard(house: Courthouse, **model: Any) -> Record:
    values = {
        "model": {"id": "openai/any", "vision": "no", **model},
        "jury_size": 3,
        "rounds": 1,
        "examination": "shared",
    }
    setup = CyberJurorsSetup.model_validate(values)
    return house.record(drive(house, house.new_run("cyberjurors", house.library.case("oak-table"), setup, 0)))


@pytest.mark.parametrize("connection", ["lab", ""])
def test_an_export_holds_no_servers_address(server: OpenAIServer, tmp_path: Path, connection: str) -> None:
    house = Courthouse(Settings(home=tmp_path / "here"))
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
    house.close()
    elsewhere = Courthouse(Settings(home=tmp_path / "there"))
    again = elsewhere.files.take_in(text.encode())
    assert elsewhere.files.export(again)[1] == text
    elsewhere.close()


def test_an_estimate_says_that_an_address_has_changed(
    server: OpenAIServer, app_house: Courthouse, monkeypatch: pytest.MonkeyPatch
) -> None:
    record = heard(app_house)
    run, case = record.run.id, record.case
    same = app_house.estimate("cyberjurors", case, record.setup, 0, run)
    assert (same.on_record, same.warnings) == (same.calls, ())
    with OpenAIServer() as other:
        other.known(monkeypatch)
        found = app_house.estimate("cyberjurors", case, record.setup, 0, run)
        assert (found.on_record, len(found.warnings)) == (0, 1)
        assert found.warnings[0].startswith(MOVED)
        told = json.loads(shell("fork", run, "--estimate", "--json"))
        assert told["warnings"] == list(found.warnings)
