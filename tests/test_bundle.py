"""An experiment as a paper needs it and as logs of Inspect: what is taken away stands in the record, and other programs read it."""

import hashlib
import io
import json
import re
import zipfile
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from aiohttp import web
from rocrate.rocrate import ROCrate

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.datasets.samples import add_sample
from courtroom.experiments.bundle import write_bundle, zipped
from courtroom.experiments.measures import MEASURES
from courtroom.experiments.spec import adapted, recipes
from tests.driving import arms_of, done, shell
from tests.openai_server import OpenAIServer
from tests.test_experiments import RIGHT, SINGLE, TRIAL, answers, spec, texts

NUMBER = re.compile(r"(?<![\w.,-])-?\d+(?:,\d{3})*(?:\.\d+)?(?![\w-])")


@pytest.fixture(scope="module")
def bundle(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The bundle of the first recipe on a few texts, with names that LaTeX and Markdown stumble over."""
    folder = tmp_path_factory.mktemp("bundle")
    house = Courthouse(Settings(home=folder / "home"))
    (recipe,) = [one for one in recipes() if one.name == "first"]
    add_sample(house.datasets, house.library, recipe.experiment.dataset.name)
    experiment = adapted(recipe.experiment, sample=12, repeats=1)
    first, second, *others = experiment.arms
    odd = second.model_copy(update={"name": "50 % & one_judge | $x$ <b>"})
    write_bundle(done(house, experiment.model_copy(update={"arms": (first, odd, *others)})), house, folder / "out")
    house.close()
    return folder / "out"


def printed(value: Any) -> Iterator[str]:
    """Every way in which the numbers of plain data are printed."""
    if isinstance(value, dict):
        for key, one in value.items():
            yield from [*NUMBER.findall(key), *printed(one)]
    elif isinstance(value, list):
        for one in value:
            yield from printed(one)
        yield f"{len(value):,}"
    elif isinstance(value, str):
        yield from NUMBER.findall(value)
    elif isinstance(value, int | float):
        yield from (f"{value:,}", f"{value:g}", f"{value:.3g}", f"{value:.4g}", f"{100 * value:.1f}", f"{value:.3f}")


def test_every_number_of_the_paper_stands_in_its_data(bundle: Path) -> None:
    facts, results = (json.loads((bundle / name).read_text()) for name in ("facts.json", "results.json"))
    known = {*printed(facts), *printed(results)}
    beats = Counter((pair["measure"], arm) for pair in results["pairs"] if pair["holds"] for arm in pair["arms"])
    known |= {str(many) for count in beats.values() for many in range(1, count + 1)}
    methods = NUMBER.findall((bundle / "methods.md").read_text())
    assert {"4", "12", "48"} <= set(methods), "arms, cases and cells"
    assert len(methods) > 12
    table = re.sub(r"(?m)^%.*|\\(?:begin|end|parbox|resizebox)\{.*?\}\S*", "", (bundle / "table.tex").read_text())
    numbers = NUMBER.findall(table.replace(r"\%", "%").replace(r"\!", ""))
    assert len(numbers) > 20
    commands = r"(?m)^%.*|\\(?:begin|end|input|includegraphics\[.*?\]|documentclass|usepackage)\{.*?\}"
    paper = re.sub(commands, "", (bundle / "paper.tex").read_text())
    results_ = NUMBER.findall(paper.replace(r"\%", "%").split("Results}")[1])
    assert len(results_) > 5
    assert [one for one in [*methods, *numbers, *results_] if one not in known] == []
    assert NUMBER.findall("in 1,234.5 cases")[0] not in known, "the check can fail"


def test_the_crate_is_read_by_its_own_library(bundle: Path) -> None:
    crate = ROCrate(bundle)
    assert crate.name
    assert crate.root_dataset["datePublished"]
    files = {path.relative_to(bundle).as_posix() for path in bundle.rglob("*") if path.is_file()}
    listed = {one.id: one for one in crate.data_entities}
    assert {*listed} == files - {"ro-crate-metadata.json"}
    for path, one in listed.items():
        content = (bundle / path).read_bytes()
        assert (one["sha256"], one["contentSize"]) == (hashlib.sha256(content).hexdigest(), str(len(content)))
    action = crate.get("#experiment")
    assert action["object"].id == "experiment.toml"
    assert {one.id for one in action["result"]} == {"results.json", "cells.csv"}


def test_latex_is_balanced_and_uses_only_packages_that_are_named(bundle: Path) -> None:
    paper, table = ((bundle / name).read_text() for name in ("paper.tex", "table.tex"))
    readme = (bundle / "README.md").read_text()
    used = set(re.findall(r"\\usepackage(?:\[\w+\])?\{(\w+)\}", paper))
    assert used == {"booktabs", "graphicx"}
    assert all(one in readme for one in used)
    for text in (paper, table):
        stack: list[str] = []
        for which, name in re.findall(r"\\(begin|end)\{(\w+)\}", text):
            if which == "begin":
                stack.append(name)
            else:
                assert stack.pop() == name
        assert not stack
        bare = re.sub(r"\\[\\{}%&$#_]", "", text)
        assert bare.count("{") == bare.count("}")
        assert not re.search(r"(?<!\\)[#_]", bare)
    figures = {f"figures/{path.name}" for path in (bundle / "figures").glob("*.pdf")}
    assert set(re.findall(r"\{(figures/\S+?)\}", paper)) == figures
    assert r"50 \% \& one\_judge \textbar{} \$x\$ \textless{}b\textgreater{}" in table
    assert "95 \\% intervals" in table


def test_a_zip_has_no_path_of_this_machine(house: Courthouse, tmp_path: Path) -> None:
    house.datasets.add("feelings", texts())
    file = answers(tmp_path / "given.jsonl", {"good": RIGHT})
    arms = [*arms_of({"one judge": SINGLE}), {"name": "好", "model": "good", "predictions": str(file)}]
    archive = zipfile.ZipFile(io.BytesIO(zipped(done(house, spec(arms=arms)), house)))
    files, read = set(archive.namelist()), archive.read
    assert {"table.tex", "figures/accuracy.pdf", "ro-crate-metadata.json"} <= files
    assert b"Predictions made elsewhere (good)" in read("methods.md")
    assert b"given.jsonl" in read("README.md")
    assert b"\\usepackage{ctex}" in read("paper.tex")
    assert str(tmp_path).encode() not in b"".join(read(path) for path in files)


def test_the_shell_writes_a_bundle(house: Courthouse, tmp_path: Path) -> None:
    hypothesis = {"arm": "three judges", "than": "one judge", "measure": "accuracy", "cases": 6}
    house.datasets.add("feelings", texts())
    experiment = spec(hypotheses=[hypothesis])
    lock = house.experiments.lock(experiment)
    name = house.experiments.begin(experiment)
    with pytest.raises(CourtroomError, match="No cell is done yet"):
        write_bundle(house.experiments.results(name), house, tmp_path / "out")
    found = done(house, experiment)
    with pytest.raises(CourtroomError, match="is not empty"):
        write_bundle(found, house, tmp_path)
    assert shell("experiment", "bundle", name, "--to", str(tmp_path / "out")).strip() == str(tmp_path / "out")
    kept = json.loads((tmp_path / "out" / "hypotheses.json").read_text())
    assert kept["lock"]["digest"] == lock.digest
    assert kept["findings"][0]["hypothesis"] == kept["lock"]["hypotheses"][0]
    assert lock.digest in (tmp_path / "out" / "methods.md").read_text()


KEY = "sk-very-secret-0123456789"
ARMS = arms_of({"one judge": SINGLE}, model="openai/real") + arms_of({"three <b>judges": TRIAL})
ARMS += arms_of({"gone": SINGLE}, model="openai/gone")


@pytest.fixture(scope="module")
def exported(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A store with an experiment: one arm of a real server, one offline, one without its model, one made elsewhere."""

    def refuse(body: dict[str, Any]) -> web.Response | None:
        refusal = {"error": {"message": "no such model"}}
        return None if body["model"] == "real" else web.json_response(refusal, status=404)

    folder = tmp_path_factory.mktemp("exports")
    with OpenAIServer(answer=refuse) as server, pytest.MonkeyPatch.context() as patch:
        patch.setenv("OPENAI_API_BASE", server.url)
        patch.setenv("OPENAI_API_KEY", KEY)
        exported = Courthouse(Settings(home=folder / "home"))
        exported.datasets.add("feelings", texts())
        file = answers(folder / "given.jsonl", {"good": RIGHT})
        arms = [*ARMS, {"name": "good", "model": "good", "predictions": str(file)}]
        dataset = {"name": "feelings", "limit": 2}
        done(exported, spec(arms=arms, dataset=dataset, measures=("accuracy", "macro_f1")))
        patch.setenv("COURTROOM_HOME", str(exported.settings.home))
        yield exported
        exported.close()


@pytest.fixture(scope="module")
def logs(exported: Courthouse) -> dict[str, Any]:
    """By arm, as Inspect reads them from a folder."""
    inspect = pytest.importorskip("inspect_ai.log", reason="the extra `inspect` is not installed")
    folder = str(exported.settings.home / "logs")
    told = shell("experiment", "inspect", "feelings", "--to", folder)
    listed = [info.name for info in inspect.list_eval_logs(folder)]
    assert sorted(Path(name).name for name in listed) == sorted(Path(line).name for line in told.splitlines())
    read = [inspect.read_eval_log(name, resolve_attachments=True) for name in listed]
    return {log.eval.metadata["arm"]: log for log in read}


def test_each_arm_is_a_log_with_its_cells(exported: Courthouse, logs: dict[str, Any]) -> None:
    found = exported.experiments.results("feelings")
    assert logs.keys() == {*found.arms}
    for arm, log in logs.items():
        assert log.status == "success"
        assert (log.eval.dataset.name, log.eval.dataset.samples) == ("feelings", 2)
        assert [(one.id, one.epoch, one.target) for one in log.samples] == [("text-0", 1, "sad"), ("text-1", 1, "glad")]
        rows = [row for row in found.rows if row.arm == arm]
        for sample, row in zip(log.samples, rows, strict=True):
            known = {"accuracy": MEASURES["labelled"]["accuracy"].each(row)} if row.state == "done" else {}
            assert known == {name: score.value for name, score in (sample.scores or {}).items()}
    known = found.table.line("good", "all cases").values
    totals = {one.name: one.metrics["value"].value for one in logs["good"].results.scores}
    assert totals == {name: known[name].value for name in ("accuracy", "macro_f1")}
    assert logs["gone"].results.completed_samples == 0
    assert all(one.error.message for one in logs["gone"].samples), "a failed cell is a sample with its reason"
    for path in (exported.settings.home / "logs").iterdir():
        with zipfile.ZipFile(path) as archive:
            content = b"".join(map(archive.read, archive.namelist()))
        assert KEY.encode() not in content
        assert b"uthorization" not in content
