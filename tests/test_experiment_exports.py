"""Experiments as logs of Inspect: written from runs of a real server, read back by its own library."""

import zipfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web

from courtroom.courthouse import Courthouse
from courtroom.experiments.measures import MEASURES
from courtroom.settings import Settings
from tests.driving import done, shell
from tests.openai_server import OpenAIServer
from tests.test_experiments import RIGHT, SINGLE, TRIAL, answers, spec, texts

KEY = "sk-very-secret-0123456789"
ARMS = [
    {"name": "one judge", "procedure": "courtroom-llm", "model": "openai/real", "set": SINGLE},
    {"name": "three <b>judges", "procedure": "courtroom-llm", "set": TRIAL},
    {"name": "gone", "procedure": "courtroom-llm", "model": "openai/gone", "set": SINGLE},
]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A store with an experiment: one arm of a real server, one offline, one whose model is not there, one made
    elsewhere."""

    def refuse(body: dict[str, Any]) -> web.Response | None:
        refusal = {"error": {"message": "no such model"}}
        return None if body["model"] == "real" else web.json_response(refusal, status=404)

    folder = tmp_path_factory.mktemp("exports")
    with OpenAIServer(answer=refuse) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_BASE", server.url)
        patch.setenv("OPENAI_API_KEY", KEY)
        house = Courthouse(Settings(home=folder / "home"))
        house.datasets.add("feelings", texts())
        file = answers(folder / "given.jsonl", {"good": RIGHT})
        arms = [*ARMS, {"name": "good", "model": "good", "predictions": str(file)}]
        dataset = {"name": "feelings", "limit": 2}
        done(house, spec(arms=arms, dataset=dataset, measures=("accuracy", "macro_f1")))
        patch.setenv("COURTROOM_HOME", str(house.settings.home))
        yield house
        house.close()


@pytest.fixture(scope="module")
def logs(house: Courthouse) -> dict[str, Any]:
    """By arm, as Inspect reads them from a folder."""
    inspect = pytest.importorskip("inspect_ai.log", reason="the extra `inspect` is not installed")
    folder = str(house.settings.home / "logs")
    told = shell("experiment", "inspect", "feelings", "--to", folder)
    listed = [info.name for info in inspect.list_eval_logs(folder)]
    assert sorted(Path(name).name for name in listed) == sorted(Path(line).name for line in told.splitlines())
    read = [inspect.read_eval_log(name, resolve_attachments=True) for name in listed]
    return {log.eval.metadata["arm"]: log for log in read}


def test_each_arm_is_a_log_with_its_cells(house: Courthouse, logs: dict[str, Any]) -> None:
    found = house.experiments.results("feelings")
    assert logs.keys() == {*found.arms}
    for arm, log in logs.items():
        assert log.status == "success"
        assert (log.eval.dataset.name, log.eval.dataset.samples) == ("feelings", 2)
        assert [(one.id, one.epoch, one.target) for one in log.samples] == [("text-0", 1, "sad"), ("text-1", 1, "glad")]
        rows = [row for row in found.rows if row.arm == arm]
        for sample, row in zip(log.samples, rows, strict=True):
            known = {"accuracy": MEASURES["labelled"]["accuracy"].each(row.scored)} if row.scored else {}
            assert known == {name: score.value for name, score in (sample.scores or {}).items()}
    known = found.table.line("good", "all cases").values
    totals = {one.name: one.metrics["value"].value for one in logs["good"].results.scores}
    assert totals == {name: known[name].value for name in ("accuracy", "macro_f1")}
    assert logs["gone"].results.completed_samples == 0
    assert all(one.error.message for one in logs["gone"].samples), "a failed cell is a sample with its reason"


def test_no_key_is_in_a_log(house: Courthouse, logs: dict[str, Any]) -> None:
    for path in (house.settings.home / "logs").iterdir():
        with zipfile.ZipFile(path) as archive:
            for name in archive.namelist():
                content = archive.read(name)
                assert KEY.encode() not in content
                assert b"uthorization" not in content
