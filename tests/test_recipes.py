"""The recipes of the papers' tables: each fits the procedures as it stands, and runs on bundled cases offline."""

import json
import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.datasets.importing import Order
from courtroom.datasets.samples import add_sample
from courtroom.declarations.changes import changed
from courtroom.declarations.paper import departures
from courtroom.experiments.measures import MEASURES
from courtroom.experiments.plan import Plan, cells
from courtroom.experiments.spec import Experiment, adapted, as_toml, read_toml
from tests.docs import ROOT
from tests.driving import done, shell
from tests.furnished import copied

RECIPES = sorted((ROOT / "data" / "experiments").glob("*-*.toml"))
BUNDLED = {
    "dispute": "cases",
    "criminal": "criminal_precedents.jsonl",
    "labelled": "tasks/message-feeling.json",
    "document": "documents",
}
SMALL: dict[str, dict[str, Any]] = {
    "cyberjurors": {"jury_size": 2, "rounds": 1, "grounding_rounds": 1, "base": "bundled"},
    "courtroom-llm": {"judges": 1, "hearings": 2},
    "juris": {"jury_size": 1, "pool": 2, "shortest": 1, "longest": 2},
    "jurisagents": {},
    "verdict": {"turns": 1},
    "discussion": {"speakers": 2, "turns": 1},
    "debate": {"rounds": 1},
    "mock-jury": {"rounds": 1},
}

TEXT_ONLY = {"DeepSeek-V3", "Qwen-Plus", "GPT-5.2-Chat", "GLM-4", "Dolphin3.0-R1-24B", "Llama-2-13B", "ChatEval"}
"""Rows of CyberJurors' table 2 that are asked on texts alone (C.1)."""

PRINTED = json.loads((ROOT / "tests" / "inputs" / "printed.json").read_text(encoding="utf-8"))
"""The rows and columns of each, in the order of its paper; what a recipe leaves out is in docs/reproduce.md."""

REPRODUCE = (ROOT / "docs" / "reproduce.md").read_text(encoding="utf-8")
FIGURES = dict.fromkeys(re.findall(r"`(experiment figure ([\w-]+) [a-z][^`]+)`", REPRODUCE))
"""The commands that draw the papers' figures, each with its recipe."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A store with two bundled cases of each kind in the split `test`, and one in `train`."""
    house = Courthouse(Settings(home=copied(tmp_path_factory.mktemp("recipes"))))
    add_sample(house.datasets, house.library, "sample-trials")
    for kind, source in BUNDLED.items():
        house.dataset_imports.run(Order(source=str(ROOT / "data" / source), name=f"all-{kind}", split="test"))
    for kind in (*BUNDLED, "trial"):
        first = islice(house.datasets.rows(f"all-{kind}" if kind in BUNDLED else "sample-trials"), 3)
        splits = zip(first, ("test", "test", "train"), strict=True)
        rows = [row.model_copy(update={"split": split}) for row, split in splits]
        house.datasets.add(kind, rows)
        if kind == "criminal":
            house.datasets.add("cail2018", rows)
    yield house
    house.close()


def kind_of(house: Courthouse, experiment: Experiment) -> str:
    """The kind of case that its first procedure hears."""
    named = next(arm.procedure for arm in experiment.arms if arm.procedure)
    return house.procedures[named].kinds[0]


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_fits_and_is_documented(file: Path, house: Courthouse) -> None:
    experiment = read_toml(file)
    assert experiment.name == file.stem
    kind = kind_of(house, experiment)
    Plan(adapted(experiment, dataset=kind, split="test"), kind, house).check()
    assert f"[{file.stem}](../data/experiments/{file.name})" in REPRODUCE
    said = file.read_text(encoding="utf-8")
    assert "num_ctx" in said or '"ollama/' not in said, "names the context of its local models"
    looks_up = {"cyberjurors": 'base = "verdictbench"', "jurisagents": "base=NAME", "verdict": "base=NAME"}
    assert looks_up.get(file.stem.partition("-")[0], "") in said, "names its base"
    looking_up = {"cyberjurors": ("cyberjurors", "nearest-precedents")}
    for arm in experiment.arms:
        if arm.procedure == "courtroom-llm" or arm.set.get("variant") in looking_up.get(arm.procedure, ()):
            (preset,) = [one for one in house.procedures[arm.procedure].presets if one.title.startswith("Paper, with")]
            assert arm.set.get("embedding") == preset.changes["embedding"], "compares texts as its paper does"
        assert arm.name not in TEXT_ONLY or arm.set["model.vision"] == "left-out", "is asked on texts alone"


def test_the_time_of_a_jury_is_that_of_its_calls_alone(house: Courthouse) -> None:
    experiment = read_toml(ROOT / "data" / "experiments" / "juris-figure-4.toml")
    assert experiment.at_once == 1
    for setup in Plan(experiment, "document", house).setups.values():
        assert {spec.concurrency for spec in setup.models} == {1}


def test_datasets_are_prepared_as_their_papers_say() -> None:
    found = {file.stem: read_toml(file) for file in RECIPES}
    for table in ("verdict-table-1", "verdict-table-2", "verdict-table-3"):
        assert found[table].dataset.complete
        assert found[table].teaches.complete
        assert found[table].dataset.cut == found[table].teaches.cut == 4_000
    assert found["verdict-table-2"].dataset.labels_of == "cail2018"
    assert adapted(found["verdict-table-3"], dataset="cjo2025").dataset.labels_of == "cail2018"
    cases = found["jurisagents-table-1"].dataset
    assert (cases.at_most, cases.at_least, cases.unchanged_by) == (2_000, 100, ("XI", "XII"))
    assert adapted(found["jurisagents-table-1"], dataset="mine").dataset.at_least is None
    eight, nine, four = (found[f"cyberjurors-table-{number}"] for number in (8, 9, 4))
    assert (eight.dataset, eight.repeats) == (nine.dataset, nine.repeats), "which share values in the paper"
    assert (eight.dataset.split, eight.dataset.sample) == ("test", 100)
    assert (four.dataset.split, four.dataset.sample) == ("validation", 100)


ASKED = {
    "3-1": ("事实:被告人盗窃手机一部。\n罪名:盗窃", "法条:刑法第264条", "[法条]刑法第264条<eoa>"),
    "3-3": ("事实:被告人盗窃手机一部。", "罪名:盗窃", "[罪名]盗窃;抢劫<eoa>"),
    "3-4": ("事实:被告人盗窃手机一部。\n罪名:盗窃\n相关法条:刑法第264条", "刑期:12个月", "[刑期]12个月<eoa>"),
    "3-5": ("事实:被告人盗窃手机一部。\n罪名:盗窃\n相关法条:刑法第264条:……", "刑期:12个月", "[刑期]12个月<eoa>"),
    "3-6": ("甲盗窃手机。甲构成何罪?A:盗窃罪;B:抢劫罪;C:诈骗罪;D:无罪。", "正确答案:A。", "[正确答案]B<eoa>"),
    "3-7": ("被告人盗窃价值100元的手机和价值200元的电脑。", "上文涉及到的犯罪金额:300.0元。", "[金额]300.0<eoa>元"),
}
"""A question of each task of LawBench as it is asked, what is right, and what a model answers."""


def published(house: Courthouse, folder: Path) -> Path:
    """Take in a question of each task, and write answers of five models as LawBench publishes them."""
    answers, questions = folder / "predictions", folder / "lawbench"
    questions.mkdir()
    for task, (question, right, told) in ASKED.items():
        asked = {"instruction": f"LawBench {task}", "question": question, "answer": right}
        (questions / f"{task}.json").write_text(json.dumps([asked]), encoding="utf-8")
        for arm in read_toml(ROOT / "data" / "experiments" / "jurisagents-figure-3.toml").arms:
            if arm.predictions:
                (answers / arm.model).mkdir(parents=True, exist_ok=True)
                line = {"0": {"origin_prompt": [], "prediction": told, "refr": right}}
                (answers / arm.model / f"{task}.json").write_text(json.dumps(line, indent=4), encoding="utf-8")
    house.dataset_imports.run(Order(source=str(questions), name="lawbench"))
    return answers


def test_lawbenchs_published_answers_fill_the_five_rows(house: Courthouse, tmp_path: Path) -> None:
    written = read_toml(ROOT / "data" / "experiments" / "jurisagents-figure-3.toml")
    chosen = adapted(written, predictions=published(house, tmp_path), model="offline")
    found = done(house, chosen)
    table = {line.arm: {name: value.value for name, value in line.values.items()} for line in found.table.lines}
    scores = {"lawbench_articles": 1.0, "lawbench_term": 1.0, "lawbench_choice": 0.0, "lawbench_amount": 1.0}
    assert table["GPT-4"] == pytest.approx({**scores, "lawbench_charges": 2 / 3})
    assert set(table["JurisAgents"]) == set(table["GPT-4"])
    assert {row.category for row in found.rows} == {"3-1", "3-3", "3-4", "3-6", "3-7"}, "the paper's five tasks"


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_prints_its_papers_rows_and_columns(
    file: Path, house: Courthouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_written = read_toml(file)
    kind = kind_of(house, as_written)
    rows, columns = PRINTED[file.stem]["rows"], PRINTED[file.stem]["columns"]
    assert ([arm.name for arm in as_written.arms], list(as_written.measures)) == (rows, columns)
    own = (({**arm.set, **SMALL[arm.procedure]} if arm.procedure else {}) for arm in as_written.arms)
    arms = tuple(arm.model_copy(update={"set": knobs}) for arm, knobs in zip(as_written.arms, own, strict=True))
    small = tmp_path / file.name
    small.write_text(as_toml(as_written.model_copy(update={"arms": arms, "repeats": 1})), encoding="utf-8")
    monkeypatch.setenv("COURTROOM_HOME", str(house.settings.home))
    options = ["--repeats", "1", "--model", "offline"]
    if of_lawbench := file.stem == "jurisagents-figure-3":
        options += ["--predictions", str(published(house, tmp_path))]
    else:
        options += ["--dataset", kind, "--split", "test", "--sample", "2"]
    printed = shell("experiment", "run", str(small), *options)
    found = house.experiments.results(file.stem)
    assert [row.reason for row in found.rows if row.state != "done"] == []
    assert len(found.rows) == (5 if of_lawbench else 2) * len(rows)
    shown = [MEASURES[kind][name].title for name in columns if name != "bertscore" or not found.notes]
    tables = re.findall(r"(?:^\|.*\n)+", printed, re.MULTILINE)
    assert tables
    for table in tables:
        head, _, *lines = [[part.strip() for part in line.split(" | ")] for line in table.splitlines()]
        assert [title.rstrip(" ↑↓") for title in head[1:-3]] == shown
        assert head[-3:] == ["Cases", "Tokens a case", "US$ a case |"]
        assert [line[0].removeprefix("| ") for line in lines][: len(rows)] == rows
    for command in [one for one, of in FIGURES if of == file.stem]:
        if "ambiguous_" in command:  # both hearings of each text agree
            with pytest.raises(CourtroomError, match=r"^Gain, ambiguous texts has no value here\.$"):
                shell(*command.split())
            continue
        head, *numbers = [line.split("\t") for line in shell(*command.split()).splitlines()]
        assert "arm" in head
        assert {cell for line in numbers for cell in line} & {*rows}, command
    if kind == "dispute":  # figures of rounds and votes are drawn from these
        cells = found.frame
        assert (cells["votes_buyer"] + cells["votes_seller"] > 0).all()
        assert cells["rounds"].max() >= 1
        juries = [row.outcome for row in found.rows if row.outcome and row.arm in ("CyberJurors", "Jury", "+ Jury")]
        assert all(one.first == one.counts for one in juries), "of one round"
        free = [arm.name for arm in as_written.arms if arm.set.get("variant") == "nearest-precedents"]
        assert (cells[cells["arm"].isin(free)]["calls"] == 0).all()


@pytest.mark.parametrize("file", [file for file in RECIPES if "verdict" in file.stem], ids=lambda file: file.stem)
def test_verdict_learns_from_cail2018_alone(file: Path) -> None:
    experiment = adapted(read_toml(file), dataset="cjo2025")
    assert (experiment.teaches.name, experiment.teaches.split) == ("cail2018", "train")
    alone = [arm for arm in experiment.arms if arm.procedure == "verdict" and arm.set.get("variant") == "no-agents"]
    assert [arm.memory_of for arm in alone] in ([], ["VERDICT"])


ABLATED = {"variant", "pictures", "statutes", "charges", "precedents", "model.temperature"}
OF_LAW = [file for file in RECIPES if file.stem.startswith(("jurisagents", "verdict"))]


@pytest.mark.parametrize("file", OF_LAW, ids=lambda file: file.stem)
def test_arms_differ_from_a_paper_as_their_names_say(file: Path, house: Courthouse) -> None:
    experiment = read_toml(file)
    setups = Plan(experiment, "criminal", house).setups
    for place, setup in setups.items():
        procedure = house.procedures[experiment.arms[place].procedure]
        if getattr(setup, "recalls", True):
            assert departures(setup, procedure.paper_settings).keys() <= ABLATED
            assert setup.embedding.startswith("local/qwen3-embedding")
            assert all("num_ctx" in spec.extra for spec in setup.models if spec.id.startswith("ollama/"))
        if procedure.name == "verdict":  # not the paper's: for an encoder whose cosines are high
            assert (setup.tau, setup.learning.divergence, setup.learning.alike) == (0.6, 0.85, 0.9)
            assert setup.embedding == "local/qwen3-embedding-8b"
    tables = {experiment.arms[place].name: setup for place, setup in setups.items()}
    if file.stem == "verdict-table-3":
        drafting = {name: {one.spec(role, role).id for role in ("judge", "presiding")} for name, one in tables.items()}
        taught = {name for name, ids in drafting.items() if "hosted_vllm/verdict-expert" in ids}
        assert taught == tables.keys() - {"Vanilla", "w/o expert"}
    if one := tables.get("DeepSeek"):
        for name in ("embedding", "statutes", "ranking", "base"):
            assert getattr(one, name) == getattr(tables["VERDICT"], name)


def test_open_models_of_jurisagents_run_three_times(house: Courthouse) -> None:
    experiment = read_toml(ROOT / "data" / "experiments" / "jurisagents-table-1.toml")
    counted = Counter(experiment.arms[cell.arm].name for cell in cells(experiment, ["a", "b"]))
    often = {"GLM-4V-9B", "mPLUG-7B", "Qwen2.5-VL-3B", "Qwen2.5-VL-7B", "Qwen2.5-7B"}
    assert counted == {arm.name: 2 * (3 if arm.name in often else 1) for arm in experiment.arms}
    small = adapted(experiment, dataset="criminal", model="offline")
    assert house.experiments.estimate(small).cells == sum(counted.values())


def test_the_first_experiment_shows_a_difference_that_holds_above_chance(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path))
    experiment = read_toml(ROOT / "data" / "experiments" / "first.toml")
    info = add_sample(house.datasets, house.library, experiment.dataset.name)
    most = max(Counter(row.category or row.case.real_outcome() for row in house.datasets.rows(info.name)).values())
    found = done(house, experiment)
    assert {arm.procedure for arm in experiment.arms} == {"courtroom-llm"}, "all arms are asked offline"
    assert found.table.spent["one judge"].cost == 0.0

    right: dict[str, dict[str, bool]] = {}
    for row in found.rows:
        right.setdefault(row.arm, {})[row.row] = row.outcome.outcome == row.case.real_outcome()
    baseline = right.pop("nearest text")
    chance = most / info.count
    assert chance == 0.5
    for arm, of in right.items():
        better = sum(of[case] and not baseline[case] for case in of)
        worse = sum(baseline[case] and not of[case] for case in of)
        assert better - worse >= 12
        p = binomtest(better, better + worse).pvalue
        assert 6 * p < 0.05, f"{arm}: McNemar's exact test, corrected for 6 pairs"
        assert binomtest(sum(of.values()), len(of), chance, alternative="greater").pvalue < 0.001
    said = (ROOT / "docs" / "experiments.md").read_text(encoding="utf-8").replace(" %", "%")
    assert f"nearest text is right on {sum(baseline.values()) / 60:.1%}" in said
    assert f"one judge on {sum(right['one judge'].values()) / 60:.1%}" in said


OURS = {"model.lengths", "wording", "recall", "graph.least", "field_order", "query", "likeness"}
OURS |= {"hearing_reasons", "earlier", "passages", "jurors_read_accepted"}
"""Knobs whose default is ours and not the paper's."""
OF_PAPERS = [file for file in RECIPES if file.stem.startswith(("cyberjurors", "juris", "courtroom-llm", "verdict"))]


@pytest.mark.parametrize("file", OF_PAPERS, ids=lambda file: file.stem)
def test_a_paper_s_recipe_takes_none_of_our_defaults(file: Path, house: Courthouse) -> None:
    for arm in (arm for arm in read_toml(file).arms if arm.procedure):
        procedure = house.procedures[arm.procedure]
        setup = changed(procedure.setup(), dict(arm.set))
        assert not departures(setup, procedure.paper_settings).keys() & OURS, arm.name


def test_a_recipe_brings_its_bundled_dataset(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    assert shell("datasets", "list") == ""
    recipe = str(ROOT / "data" / "experiments" / "even-splits.toml")
    assert json.loads(shell("experiment", "run", recipe, "--sample", "1", "--estimate", "--json"))["cells"] > 0
    (line,) = shell("datasets", "list").splitlines()
    assert line.startswith("sample-trials\t")
