"""The recipes of the papers' tables: each fits the procedures as it stands, and runs on bundled cases with the offline model."""

import re
from collections import Counter
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from typing import Any

import pytest
from scipy.stats import binomtest

from courtroom.courthouse import Courthouse
from courtroom.datasets.importing import Order
from courtroom.datasets.samples import add_sample
from courtroom.engine.changes import changed
from courtroom.engine.paper import departures
from courtroom.errors import CourtroomError
from courtroom.experiments.measures import MEASURES
from courtroom.experiments.plan import cells, check
from courtroom.experiments.spec import TITLES, Experiment, adapted, as_toml, parsed, read_toml
from courtroom.experiments.written import frame_of
from courtroom.settings import Settings
from tests.docs import ROOT
from tests.driving import done, shell

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

METHODS = (
    "DeepSeek-V3; Qwen-Plus; GPT-5.2-Chat; GLM-4; Dolphin3.0-R1-24B; Llama-2-13B; Gemini-3-Pro; Gemini-2.5-Flash-Lite; "
    "Doubao-Seed-1.6; Claude-Opus-4.5; GPT-5.2; Grok-4; Qwen3-VL-235B; Llama-3.2-90B-Vision; ChatEval; CyberJurors"
)
JUDGES = ("GPT-4o", "LLaMA 3.1 8B")
STRUCTURES, SHOTS = ("single", "multiple", "parallel", "sequential"), ("0 shots", "1 shot", "2 shots")
COURTS = "; ".join(f"{judge}, {how}, {shots}" for judge in JUDGES for how in STRUCTURES for shots in SHOTS)
CONTROLLED = [
    *(f"a debate: {TITLES[name]}" for name in TITLES if name != "placebo"),
    *(f"a jury: {title}" for title in TITLES.values()),
]
WORDS = "rouge1 rouge2 rougeL bleu bertscore"
SCORES = "accuracy precision recall f1"
ENDS = "accuracy first_accuracy ended_1 ended_2 ended_3"
GAINS = "accuracy ambiguous ambiguous_accuracy clear_accuracy gain ambiguous_gain clear_gain"


def of_law(articles: str, terms: str) -> str:
    """A judgment's columns: the same of articles and charges, then those of terms."""
    asked = {"article": articles, "charge": articles, "term": terms}
    return " ".join(f"{what}_{score}" for what, scores in asked.items() for score in scores.split())


PRINTED = {
    "cyberjurors-table-2": (METHODS, "accuracy weighted_f1 macro_f1 macro_recall macro_precision votes_mae votes_rmse"),
    "cyberjurors-table-3": (
        "Baseline; + Rules; + SR-CoT; + IV-CoT; + Jury; + Precedent",
        "accuracy weighted_f1 macro_f1 votes_rmse",
    ),
    "cyberjurors-table-4": (
        "Gemini-2.5-Flash-Lite; Gemini-3-Pro; 1 juror with IV-CoT; 1 juror with IV-CoT-Lite; 17 jurors within JCV",
        "accuracy",
    ),
    "cyberjurors-figure-5": ("Baseline; CyberJurors", ENDS),
    "cyberjurors-table-8": (METHODS, "accuracy"),
    "cyberjurors-table-9": ("Baseline; SR-CoT; IV-CoT; Jury; Precedent", "accuracy"),
    "cyberjurors-baselines": (
        "Nearest precedents; Chain of thought; Self-consistency of 5; Self-consistency of 51; Debate; ChatEval; "
        "One juror with IV-CoT; CyberJurors, one examination",
        "accuracy macro_f1 votes_rmse",
    ),
    "jurisagents-table-1": (
        "GLM-4V-9B; mPLUG-7B; Qwen2.5-VL-3B; Qwen2.5-VL-7B; Qwen2.5-7B; GPT-4o; JurisAgents; w/o KB; w/o MA",
        f"{of_law(SCORES, SCORES)} log_distance",
    ),
    "jurisagents-table-2": (
        "GPT-4o; GPT-4o with pictures; JurisAgents; JurisAgents with pictures",
        f"{of_law('accuracy f1', '')} log_distance term_f1",
    ),
    "jurisagents-figure-3": (
        "Qwen2.5-7B; GPT-4o; JurisAgents",
        "lawbench entirely_right abstention choice amount article_f1 charge_f1 log_distance",
    ),
    "verdict-table-1": ("VERDICT", of_law(f"{SCORES} hit2", SCORES)),
    "verdict-table-2": ("DeepSeek; VERDICT", of_law(f"{SCORES} hit2", SCORES)),
    "verdict-table-3": (
        "Vanilla; Vanilla+; w/o memory; w/o agents; w/o expert; w/o directives; VERDICT",
        of_law("accuracy f1", "accuracy f1"),
    ),
    "juris-table-1": (
        "Mistral-7B; Gemma3-12B; SummIt; QA-Prompt; JURIS",
        f"{WORDS} faithfulness completeness conciseness quality",
    ),
    "juris-table-2": ("Fixed; Dynamic", WORDS),
    "juris-figure-3": ("With the chief editor; Without the chief editor", WORDS),
    "juris-figure-4": ("1 juror; 3 jurors; 5 jurors; 7 jurors; 9 jurors", "quality cost_effectiveness"),
    "courtroom-llm-figure-6": ("; ".join(f"{one}, {how}" for one in JUDGES for how in ("single", "sequential")), GAINS),
    **{f"courtroom-llm-table-{number}": (COURTS, "accuracy hearing_accuracy") for number in (3, 4, 5)},
    "first-ballot-curve": ("; ".join(f"{votes} of 12" for votes in range(13)), "proven hung"),
    "even-splits": (
        "reasonable-doubt, 12 jurors; reasonable-doubt, 6 jurors; preponderance, 12 jurors; preponderance, 6 jurors",
        "proven hung",
    ),
    "talk-or-tokens": ("; ".join(["a debate", "a jury", *CONTROLLED]), "accuracy"),
    "majority-prevails": ("twelve jurors; six jurors", "proven hung"),
}
"""The rows and columns of each, in the order of its paper; what a recipe leaves out is in docs/reproduce.md."""

FIGURES = dict.fromkeys(
    re.findall(r"`(experiment figure ([\w-]+) [a-z][^`]+)`", (ROOT / "docs" / "reproduce.md").read_text())
)
"""The commands that draw the papers' figures, each with its recipe."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A store with two bundled cases of each kind in the split `test`, and one in `train`."""
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("recipes")))
    add_sample(house.datasets, house.library, "sample-trials")
    for kind, source in BUNDLED.items():
        house.dataset_imports.run(Order(source=str(ROOT / "data" / source), name=f"all-{kind}", split="test"))
    for kind in (*BUNDLED, "trial"):
        first = islice(house.datasets.rows(f"all-{kind}" if kind in BUNDLED else "sample-trials"), 3)
        splits = zip(first, ("test", "test", "train"), strict=True)
        rows = [row.model_copy(update={"split": split}) for row, split in splits]
        house.datasets.add(kind, rows)
        if kind == "criminal":
            house.datasets.add("cail2018", rows[2:])
    yield house
    house.close()


def kind_of(house: Courthouse, experiment: Experiment) -> str:
    """The kind of case that its first arm's procedure hears."""
    return house.procedures[experiment.arms[0].procedure].kinds[0]


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_fits_compares_texts_as_its_paper_does_and_is_documented(file: Path, house: Courthouse) -> None:
    experiment = read_toml(file)
    assert experiment.name == file.stem
    check(experiment, kind_of(house, experiment), house)
    assert f"[{file.stem}](../data/experiments/{file.name})" in (ROOT / "docs" / "reproduce.md").read_text()
    said = file.read_text(encoding="utf-8")
    assert "num_ctx" in said or '"ollama/' not in said, "names the context of its local models"
    looks_up = {"cyberjurors": 'base = "verdictbench"', "jurisagents": "base=NAME", "verdict": "base=NAME"}
    assert looks_up.get(file.stem.partition("-")[0], "") in said, "names its base"
    looking_up = {"cyberjurors": ("cyberjurors", "nearest-precedents")}
    for arm in experiment.arms:
        if arm.procedure == "courtroom-llm" or arm.set.get("variant") in looking_up.get(arm.procedure, ()):
            (preset,) = [one for one in house.procedures[arm.procedure].presets if one.title.startswith("Paper, with")]
            assert arm.set.get("embedding") == preset.changes["embedding"], "compares texts as its paper does"
        assert arm.name != "ChatEval" or arm.set["model.vision"] == "left-out", "is asked on texts alone"


@pytest.mark.parametrize("tables", [("table-8", "table-9"), ("table-3", "table-4")])
def test_tables_that_share_values_in_the_paper_share_their_cases(tables: tuple[str, str]) -> None:
    one, other = (read_toml(ROOT / "data" / "experiments" / f"cyberjurors-{table}.toml") for table in tables)
    assert (one.dataset, one.repeats) == (other.dataset, other.repeats)


@pytest.mark.parametrize("file", RECIPES, ids=lambda file: file.stem)
def test_a_recipe_runs_by_its_command_on_bundled_cases_and_prints_the_papers_rows_and_columns_in_their_order(
    file: Path, house: Courthouse, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    as_written = read_toml(file)
    kind = kind_of(house, as_written)
    rows, columns = PRINTED[file.stem][0].split("; "), PRINTED[file.stem][1].split()
    assert ([arm.name for arm in as_written.arms], list(as_written.measures)) == (rows, columns)
    arms = tuple(arm.model_copy(update={"set": {**arm.set, **SMALL[arm.procedure]}}) for arm in as_written.arms)
    small = tmp_path / file.name
    small.write_text(as_toml(as_written.model_copy(update={"arms": arms, "repeats": 1})), encoding="utf-8")
    monkeypatch.setenv("COURTROOM_HOME", str(house.settings.home))
    options = ["--dataset", kind, "--split", "test", "--sample", "2", "--repeats", "1", "--model", "offline"]
    printed = shell("experiment", "run", str(small), *options)
    found = house.experiments.results(file.stem)
    assert [row.reason for row in found.rows if row.state != "done"] == []
    assert len(found.rows) == 2 * len(rows)
    shown = [MEASURES[kind][name].title for name in columns if name != "bertscore" or not found.notes]
    tables = re.findall(r"(?:^\|.*\n)+", printed, re.MULTILINE)
    assert tables
    for table in tables:
        head, _, *lines = [[part.strip() for part in line.split(" | ")] for line in table.splitlines()]
        assert [title.rstrip(" ↑↓") for title in head[1:-3]] == shown
        assert [line[0].removeprefix("| ") for line in lines][: len(rows)] == rows
    for command in [one for one, of in FIGURES if of == file.stem]:
        if "ambiguous_" in command:  # both hearings of each text agree
            with pytest.raises(CourtroomError, match=r"^Gain, ambiguous texts has no value here\.$"):
                shell(*command.split())
            continue
        head, *numbers = [line.split("\t") for line in shell(*command.split()).splitlines()]
        assert {line[head.index("arm")] for line in numbers} & {*rows}, command
    if kind == "dispute":  # figures of rounds and votes are drawn from these
        cells = frame_of(found.rows, found.measures)
        assert (cells["votes_buyer"] + cells["votes_seller"] > 0).all()
        assert cells["rounds"].max() >= 1
        juries = [row.outcome for row in found.rows if row.outcome and row.arm in ("CyberJurors", "Jury", "+ Jury")]
        assert all(one.first == one.counts for one in juries), "of one round"
        free = [arm.name for arm in as_written.arms if arm.set.get("variant") == "nearest-precedents"]
        assert (cells[cells["arm"].isin(free)]["calls"] == 0).all()


@pytest.mark.parametrize("file", [file for file in RECIPES if "verdict" in file.stem], ids=lambda file: file.stem)
def test_verdict_learns_from_cail2018_alone_and_each_ablation_with_a_memory_has_a_learned_one(file: Path) -> None:
    experiment = adapted(read_toml(file), dataset="cjo2025")
    assert (experiment.teaches.name, experiment.teaches.split) == ("cail2018", "train")
    alone = [arm for arm in experiment.arms if arm.procedure == "verdict" and arm.set.get("variant") == "no-agents"]
    assert [arm.memory_of for arm in alone] in ([], ["VERDICT"])


ABLATED = {"variant", "pictures", "statutes", "charges", "precedents", "model.temperature"}
OF_LAW = [file for file in RECIPES if file.stem.startswith(("jurisagents", "verdict"))]


@pytest.mark.parametrize("file", OF_LAW, ids=lambda file: file.stem)
def test_arms_differ_from_a_paper_by_what_their_names_say_and_look_up_by_meaning(file: Path, house: Courthouse) -> None:
    experiment = read_toml(file)
    setups = check(experiment, "criminal", house)
    for place, setup in setups.items():
        procedure = house.procedures[experiment.arms[place].procedure]
        if getattr(setup, "recalls", True):
            assert departures(setup, procedure.paper_settings).keys() <= ABLATED
            assert setup.embedding.startswith("local/qwen3-embedding")
            assert all("num_ctx" in spec.extra for spec in setup.models if spec.id.startswith("ollama/"))
        if procedure.name == "verdict":  # not the paper's: for an encoder whose cosines are high
            assert (setup.tau, setup.learning.divergence, setup.learning.alike) == (0.6, 0.85, 0.9)
    tables = {arm.name: setups[place] for place, arm in enumerate(experiment.arms)}
    if one := tables.get("DeepSeek"):
        for name in ("embedding", "statutes", "ranking", "base"):
            assert getattr(one, name) == getattr(tables["VERDICT"], name)


def test_open_models_of_jurisagents_table_1_run_three_times_and_the_others_once(house: Courthouse) -> None:
    experiment = read_toml(ROOT / "data" / "experiments" / "jurisagents-table-1.toml")
    counted = Counter(experiment.arms[cell.arm].name for cell in cells(experiment, ["a", "b"]))
    often = {"GLM-4V-9B", "mPLUG-7B", "Qwen2.5-VL-3B", "Qwen2.5-VL-7B", "Qwen2.5-7B"}
    assert counted == {arm.name: 2 * (3 if arm.name in often else 1) for arm in experiment.arms}
    small = adapted(experiment, dataset="criminal", model="offline")
    assert house.experiments.estimate(small).cells == sum(counted.values())


def test_the_first_experiment_shows_a_difference_that_holds_above_chance(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path), alone=True)
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


def test_another_dataset_and_model_take_the_place_of_the_files() -> None:
    knobs = {"members.editor.id": "openai/o3", "embedding": "local/longformer", "model.top_p": 1, "pool": 4}
    arms = [
        {"name": "x", "procedure": "juris", "model": "openai/gpt-4o", "set": knobs},
        {"name": "y", "predictions": "answers.csv", "model": "gpt"},
    ]
    dataset = {"name": "b", "version": "1", "split": "test", "ids": ["x"], "sample": 9}
    written = parsed({"name": "a", "dataset": dataset, "repeats": 3, "arms": arms}, "here")
    changes = {"longest": 3, "pool": 9}
    found = adapted(written, dataset="c", split="dev", sample=2, repeats=1, model="offline", values=changes)
    assert found.dataset.model_dump(exclude_defaults=True) == {"name": "c", "split": "dev", "sample": 2}
    assert found.repeats == 1
    assert (found.arms[0].model, found.arms[0].set) == ("offline", {"model.top_p": 1, "pool": 9, "longest": 3})
    assert found.arms[1] == written.arms[1]
    assert adapted(written) == written


def test_what_does_not_fit_an_arm_is_said_with_its_name(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    shell("datasets", "import", str(ROOT / "data" / "documents"), "--name", "cnndm1", "--split", "test")
    words = ("experiment", "run", str(ROOT / "data" / "experiments" / "juris-figure-3.toml"), "--model", "offline")
    with pytest.raises(CourtroomError, match="With the chief editor"):
        shell(*words, "--set", "seats=3")
    assert "2 cells take about" in shell(*words, "--estimate", "--sample", "1")


OURS = {"model.lengths", "wording", "recall", "graph.least", "field_order", "query", "likeness"}
"""Knobs whose default is ours and not the paper's."""
OF_PAPERS = [file for file in RECIPES if file.stem.startswith(("cyberjurors", "juris", "courtroom-llm", "verdict"))]


@pytest.mark.parametrize("file", OF_PAPERS, ids=lambda file: file.stem)
def test_a_paper_s_recipe_takes_none_of_our_defaults(file: Path, house: Courthouse) -> None:
    for arm in read_toml(file).arms:
        procedure = house.procedures[arm.procedure]
        setup = changed(procedure.setup(), dict(arm.set))
        assert not departures(setup, procedure.paper_settings).keys() & OURS, arm.name
