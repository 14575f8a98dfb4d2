"""Experiments: planned, estimated, run, paused, failed and tried again, within a budget; predictions made elsewhere;
hypotheses that are locked before the first answer, and matched controls of a panel."""

import json
import operator
import shutil
import signal
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import pandas as pd
import pytest
from scipy.stats import ttest_rel

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.datasets import Row
from courtroom.datasets.samples import add_sample
from courtroom.evaluation import significance
from courtroom.evaluation.intervals import Interval
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.experiments import frame
from courtroom.experiments.hypotheses import Hypothesis, Preregistration, findings
from courtroom.experiments.measures import MEASURES, measures_of
from courtroom.experiments.spec import TITLES, Experiment, adapted, as_toml, parsed, read_toml
from courtroom.experiments.table import ALL, Pair, sentence
from courtroom.experiments.written import markdown
from courtroom.figures.experiment import draw_frontier, draw_values
from courtroom.models.request import Reply, Request, Watch
from courtroom.upkeep.doctor import examine
from tests.driving import answered_by, arms_of, done, shell
from tests.forks import Fork
from tests.kills import go_on_with_experiment
from tests.openai_server import OpenAIServer
from tests.scripted_jury import Jury

TEXTS = (
    *("The parcel came late", "A fine day by the lake", "My train was cancelled", "We won the match"),
    *("It rains again", "Good soup"),
)
SINGLE = {"structure": "single", "judges": 1, "shots": 0, "explain": False}
BETTER = {"arm": "three judges", "than": "one judge", "measure": "accuracy", "cases": 6}
TRIAL = {"structure": "parallel", "judges": 3, "shots": 0, "explain": False, "hearings": 1}
JUDGES = {"one judge": SINGLE, "three judges": TRIAL}


def texts() -> Iterator[Row]:
    for number, text in enumerate(TEXTS):
        item = Labelled(id=f"text-{number}", text=text, label="glad" if number % 2 else "sad")
        asked = {"labels": ("sad", "glad"), "question": "How does the writer feel?"}
        case = LabelledTask(id=item.id, title=text, items=(item,), **asked)
        yield Row(id=case.id, case=case, category="odd" if number % 2 else "even", split="test")


def spec(**given: Any) -> Experiment:
    return parsed({"name": "feelings", "dataset": {"name": "feelings"}, "arms": arms_of(JUDGES), **given}, "here")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the dataset."""
    home = tmp_path_factory.mktemp("experiments") / "home"
    house = Courthouse(Settings(home=home))
    house.datasets.add("feelings", texts())
    house.close()
    return home


@pytest.fixture
def house(home: Path, tmp_path: Path) -> Courthouse:
    return Courthouse(Settings(home=shutil.copytree(home, tmp_path / "home")))


HEAD = 'name = "a"\ndataset = "b"\n'
ARM = '[[arm]]\nname = "x"\nprocedure = "p"\n'
SAME = 'name = "a"\n[dataset]\nname = "b"\nsplit = "test"\n[knowledge]\ntrain = "test"\n'


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ("name = [", "can't be read as an experiment"),
        (HEAD + '[[arm]]\nname = "x"\n', "either a procedure or a file of predictions"),
        (HEAD + 'gain_over = { x = "y" }\n' + ARM, "is no arm: y"),
        (SAME + ARM, "would be tested on what was learned from it"),
    ],
)
def test_a_file_that_does_not_fit_is_refused(text: str, why: str, tmp_path: Path) -> None:
    file = tmp_path / "a.toml"
    file.write_text(text)
    with pytest.raises(CourtroomError, match=why):
        read_toml(file)


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"dataset": {"name": "nothing"}}, "nothing"),
        ({"arms": [{"name": "x", "procedure": "juris"}]}, "x: JURIS hears cases of the kind “document”"),
        ({"arms": [{"name": "x", "procedure": "courtroom-llm", "set": {"judges": 2}}]}, "x: .*odd"),
        ({"arms": [{"name": "x", "predictions": "/nowhere.csv"}]}, "is not there"),
    ],
)
def test_what_does_not_fit_is_refused_before_any_call(house: Courthouse, given: dict[str, Any], why: str) -> None:
    with pytest.raises(CourtroomError, match=why):
        house.experiments.begin(spec(**given))
    assert house.experiments.store.experiments() == []


def test_the_table_adds_up_cells_that_are_ordinary_runs(house: Courthouse) -> None:
    experiment = spec(repeats=2)
    takes = house.experiments.estimate(experiment)
    found = done(house, experiment)
    assert (found.kept.status, found.kept.reason) == ("done", "")
    assert len(found.rows) == len(TEXTS) * 2 * 2
    records = [house.record(row.run) for row in found.rows]
    assert {record.run.status for record in records} == {"done"}
    assert {record.run.origin for record in records} == {"cell"}
    assert takes.calls == sum(record.asked for record in records), "the estimate is what it took"
    labels = {row.id: row.case.items[0].label for row in texts()}
    right = {(row.arm, row.row, row.repeat): row.outcome.outcome == labels[row.row] for row in found.rows}
    for arm in found.arms:
        line = found.table.line(arm, "all cases")
        mine = [row for row in found.rows if row.arm == arm]
        hits = [right[arm, row.row, row.repeat] for row in mine]
        assert line.values["accuracy"].value == pytest.approx(sum(hits) / len(hits))
        assert found.table.spent[arm].calls == sum(len(house.record(row.run).calls) for row in mine)
    steady = found.steady["three judges"]
    once, again = ([right["three judges", f"text-{n}", repeat] for n in range(len(TEXTS))] for repeat in (0, 1))
    less, more = (sum(map(operator.gt, *pair)) for pair in ((once, again), (again, once)))
    as_mcnemars = (less - more) ** 2 / (less + more) if less + more else 0.0
    assert steady.repeats.statistic == pytest.approx(as_mcnemars)
    shares = [[sum(right[arm, f"text-{n}", at] for n in range(len(TEXTS))) for at in (0, 1)] for arm in found.arms]
    if steady.before.p not in (0.0, 1.0):  # scipy divides by 0 where all repeats differ by the same
        assert steady.before.statistic == pytest.approx(ttest_rel(shares[1], shares[0]).statistic)
    assert found.steady["one judge"].before is None, "the first arm has none before it"
    assert found.repeats_told[1].startswith("Over repeats, three judges: P ")
    assert [one["test"] for one in found.as_data()["pairs"][0]["others"]] == ["paired t", "Wilcoxon"]
    head, _, first, second, *_ = markdown(found).splitlines()
    assert " | P over repeats | T against the arm above | Cases | " in head
    assert f" | {steady.before.statistic:.3g} | " in second
    assert " | – | " in first, "the first arm has none above it"
    assert len(found.pairs) == 2, "accuracy and macro F1 of the one pair"


def test_an_experiment_is_made_once_and_is_one_line(house: Courthouse) -> None:
    first = done(house, spec())
    runs = len([*house.store.each()])
    over, measures = {"three judges": "one judge"}, ("accuracy", "gain")
    again = done(house, spec(title="Under a title", measures=measures, gain_over=over))
    assert (again.kept.id, again.kept.experiment.title) == (first.kept.id, "Under a title")
    assert len([*house.store.each()]) == runs
    assert [row.outcome for row in again.rows] == [row.outcome for row in first.rows]
    single, court = (again.table.line(arm, "all cases").values for arm in again.arms)
    assert court["gain"].value == pytest.approx(court["accuracy"].value / single["accuracy"].value - 1)
    listed = RunList(house.database)
    assert listed.count(RunFilter()) == 1
    (line,) = listed.page(RunFilter(), 0, 10)
    assert (line.id, line.title, line.runs, line.status) == (first.kept.id, "feelings", 12, "done")
    assert listed.page(RunFilter(text="no such case"), 0, 10) == []
    findings = [one for one in examine(house.settings) if one.about.startswith(("rows: experiments", "rows: strays"))]
    assert [one.state for one in findings] == ["fine", "fine"]
    house.datasets.add("feelings", (row for row in texts() if row.category == "odd"), source="changed")
    assert len(house.experiments.results(first.kept.id).rows) == len(first.rows) == 12
    changed = house.experiments.begin(spec())
    assert changed != first.kept.id, "the file now means the new version"
    for one in (changed, first.kept.id):
        house.experiments.delete(one)
    assert [*house.store.each()] == [], "one that is deleted takes its runs along"
    with pytest.raises(CourtroomError, match="There is no experiment"):
        house.experiments.results(first.kept.id)


def test_a_budget_stops_an_experiment_until_it_is_raised(house: Courthouse) -> None:
    found = done(house, spec(budget={"calls": 17}, at_once=4))
    assert found.kept.status == "paused"
    assert {row.state for row in found.rows} == {"done", "waiting"}
    assert 10 < sum(row.outcome.asked for row in found.rows if row.outcome) <= 17
    whole = done(house, spec(at_once=4))
    assert whole.kept.id == found.kept.id, "how much may be spent is no part of what it is"
    assert whole.kept.status == "done"


def test_a_failed_cell_has_a_reason_and_is_tried_again(house: Courthouse) -> None:
    poor = {**SINGLE, "budget.calls": 1, "structure": "multiple", "judges": 3}
    found = done(house, spec(arms=arms_of({"one judge": SINGLE, "poor": poor}), at_once=1))
    assert found.kept.status == "done"
    assert found.kept.reason == "6 cells failed. The rows of these cells say why; try them again."
    failed = [row for row in found.rows if row.state == "failed"]
    assert {row.arm for row in failed} == {"poor"}
    assert failed[0].reason.startswith("The budget of 1 calls is used up.")
    assert failed[-1].reason.startswith("Not tried: the first 5 cells of this arm failed.")
    assert {row.state for row in found.rows if row.arm == "one judge"} == {"done"}
    assert found.table.spent["poor"].failed == 6
    setup = house.procedures["courtroom-llm"].setup
    for row in failed:
        if house.store.status(row.run) != "deleted":
            kept = house.store.setup(row.run, setup)
            house.store.replace_setup(row.run, kept.model_copy(update={"budget": setup().budget}))
    assert house.experiments.try_again(found.kept.id) == 6
    house.experiments.wait(found.kept.id, 60)
    again = house.experiments.results(found.kept.id)
    assert sum(row.state == "done" for row in again.rows if row.arm == "poor") == 5


class Slow(Jury):
    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        return (await super().answer(request, watch)).model_copy(update={"latency_s": 0.5})


def test_a_knob_without_effect_leaves_an_arms_tokens_alone(house: Courthouse) -> None:
    answered_by(house, Slow())
    settings = {"as it is": {**SINGLE, "hearings": 5}, "with a dead knob": {**SINGLE, "hearings": 3}}
    found = done(house, spec(arms=arms_of(settings, model="scripted"), at_once=1))
    spent = [found.table.spent[arm] for arm in found.arms]
    assert spent[0].tokens == spent[1].tokens > 0, "both arms do the same work"
    assert spent[0].seconds == spent[1].seconds > 0, "in the same time, though one found its answers on record"
    paid = house.experiments.store.took(found.kept.id)
    assert sorted(cost.tokens for cost in paid.values()) == [0, spent[0].tokens], "one of them paid for both"
    head, _, *lines = markdown(found).splitlines()
    assert head.endswith(" | Cases | Tokens a case | US$ a case |")
    assert [line.split(" | ")[-2] for line in lines[:2]] == [f"{spent[0].tokens / len(TEXTS):,.0f}"] * 2


def killed(experiment: Experiment, kills: Sequence[int]) -> tuple[str, Courthouse]:
    """An experiment whose processes died after so many writes each, until one came to the end; and its store."""
    house = Courthouse()
    name = house.experiments.begin(experiment)
    house.close()
    for last in (*kills, 0):
        assert Fork(go_on_with_experiment, name, last).finish().returncode == (-signal.SIGKILL if last else 0)
    return name, Courthouse()


def test_an_experiment_killed_has_the_same_table(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    arm = {"procedure": "courtroom-llm", "set": SINGLE}
    experiment = spec(arms=[{**arm, "name": name, "model": f"openai/{name}"} for name in ("a", "b")], at_once=1)
    tables, calls = [], []
    for name, kills in (("broken", (5, 4)), ("whole", ())):
        with OpenAIServer(known_to=monkeypatch) as server:
            monkeypatch.setenv("COURTROOM_HOME", str(shutil.copytree(home, tmp_path / name)))
            kept, house = killed(experiment, kills)
            found = house.experiments.results(kept)
            tables.append([(row.arm, row.row, row.state, row.outcome and row.outcome.details) for row in found.rows])
            calls.append(server.calls)
            assert found.kept.status == "done"
            assert len([*house.store.each()]) == 12
            house.close()
    assert tables[0] == tables[1]
    assert calls[0] == calls[1] == 12


def test_cells_of_a_process_killed_twice_go_on(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(shutil.copytree(home, tmp_path / "home")))
    name, house = killed(spec(at_once=12), (1, 1))  # most are under way at each kill, with nothing new on record
    assert [row.reason for row in house.experiments.results(name).rows if row.state != "done"] == []


def answers(path: Path, models: dict[str, list[str]]) -> Path:
    with path.open("w") as file:
        for model, given in models.items():
            for number, answer in enumerate(given):
                file.write(json.dumps({"case": f"text-{number}", "model": model, "prediction": answer}) + "\n")
    return path


RIGHT = ["sad", "glad"] * 3


def test_predictions_are_arms_beside_procedures(house: Courthouse, tmp_path: Path) -> None:
    file = answers(tmp_path / "given.jsonl", {"good": RIGHT, "bad": ["glad"] * 6})
    told = [{"name": name, "model": name, "predictions": str(file)} for name in ("good", "bad")]
    with pytest.raises(CourtroomError, match="has those of: good, bad"):
        house.experiments.begin(spec(arms=[{"name": "whose?", "predictions": str(file)}]))
    found = done(house, spec(arms=[*arms_of({"one judge": SINGLE}), *told]))
    values = {line.arm: line.values["accuracy"].value for line in found.table.lines}
    assert (values["good"], values["bad"]) == (1.0, 0.5)
    assert found.notes == (), "answers that fit need no remark"
    accuracy = MEASURES["labelled"]["accuracy"]
    assert list(draw_values(found.table, "all cases", accuracy, "dark").data[0].x)[1:] == [1.0, 0.5]
    costs = draw_frontier(found.table, "all cases", accuracy, "dark")
    assert [trace.name for trace in costs.data[1:]] == ["one judge"], "what predictions took is not known"
    assert {row.run for row in found.rows if row.arm == "good"} == {""}
    (pair,) = [one for one in found.pairs if {one.a, one.b} == {"good", "bad"} and one.measure.name == "accuracy"]
    assert (pair.tested.test, pair.cases, pair.difference.value) == ("McNemar", 6, 0.5)
    assert sentence(pair) == (
        "Accuracy: whether good and bad differ can't be known from so few cases "
        "(100.0 % against 50.0 %; 6 cases; at least 7 are needed)."
    )
    alone = sentence(replace(pair, pairs=1))
    assert alone.startswith(
        "Accuracy: no difference between good and bad is shown (100.0 % against 50.0 %, 95 % interval "
    )
    assert "by McNemar's exact test; 6 cases). About 15 cases would show a difference of this size" in alone


def test_answers_that_count_for_nothing_are_counted_beside_the_score(house: Courthouse, tmp_path: Path) -> None:
    file = answers(tmp_path / "given.jsonl", {"all": [*RIGHT, "sad", "glad"], "some": [*RIGHT[:3], "no idea", ""]})
    found = done(house, spec(arms=[{"name": one, "model": one, "predictions": str(file)} for one in ("all", "some")]))
    assert found.as_data()["accounts"] == [
        {"arm": "all", "cases": 6, "unanswered": 0, "unknown": 2, "unreadable": 0},
        {"arm": "some", "cases": 5, "unanswered": 1, "unknown": 0, "unreadable": 2},
    ]
    assert found.notes == (
        "all: 2 of the answered cases are not in the dataset and count for nothing.",
        "some: 2 answers can't be read and count as wrong.",
        "The arms are not over the same cases (all 6, some 5); a pair is compared on the cases that both have.",
    )
    again = answers(tmp_path / "again.jsonl", {"m": RIGHT})
    again.write_text(again.read_text() + json.dumps({"case": "text-0", "model": "m", "prediction": "glad"}))
    found = done(house, spec(name="again", arms=[{"name": "m", "predictions": str(again)}]))
    assert found.table.lines[0].values["accuracy"].value == pytest.approx(6 / 7), "several answers are repeats"
    assert found.steady["m"].consistency == 0.5


def test_measures_that_want_judgments_are_not_offered_for_texts(house: Courthouse, tmp_path: Path) -> None:
    theft = CriminalCase(id="x", title="x", facts="A phone was taken.", gold=Gold(charges=("盗窃",)))
    house.datasets.add("thefts", [Row(id=f"text-{n}", case=theft, category="3-3") for n in range(3)])
    file = answers(tmp_path / "given.jsonl", {"m": ["罪名:盗窃", "盗窃", "?"]})
    found = done(house, spec(dataset={"name": "thefts"}, arms=[{"name": "m", "predictions": str(file)}]))
    assert not [one.name for one in found.measures if one.name.startswith("charge")]
    assert found.table.lines[0].values["lawbench"].value == pytest.approx(2 / 3)
    assert "m: 1 answers can't be read and count as wrong." in found.notes
    assert any(note.startswith("The answers are plain texts") for note in found.notes)


@pytest.mark.parametrize(
    ("text", "why"),
    [
        ('{"case": "text-0"}\n', "line 1: the answer is missing"),
        ('{"case": "text-0", "prediction": "sad"}\nno\n', "line 2: it is not valid JSON"),
        (None, "given.jsonl is not there. Check the path."),
        ('{"case": "elsewhere", "prediction": "sad"}\n', "none of the 1 predictions is of a case"),
    ],
)
def test_unreadable_predictions_are_refused(house: Courthouse, tmp_path: Path, text: str | None, why: str) -> None:
    file = tmp_path / "given.jsonl"
    if text is not None:
        file.write_text(text)
    with pytest.raises(CourtroomError, match=why):
        house.experiments.begin(spec(arms=[{"name": "m", "predictions": str(file)}]))


def test_the_shell_runs_a_file_and_writes_results(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(shutil.copytree(home, tmp_path / "home")))
    file = tmp_path / "feelings.toml"
    file.write_text(as_toml(spec()))
    takes = json.loads(shell("experiment", "run", str(file), "--estimate", "--json"))
    assert (takes["cells"], takes["money"]) == (12, 0.0)
    with monkeypatch.context() as broken:
        broken.setattr("courtroom.experiments.driver.DrivenExperiment.drive", None)
        shell("experiment", "run", str(file), code=1)
    found = json.loads(shell("experiment", "run", str(file), "--json"))
    assert found["cells"] == {"done": 12, "failed": 0, "waiting": 0}
    assert shell("experiment", "status").split("\t")[1:3] == ["done", "12 of 12 cells"]
    assert "one judge\t6 done\t" in shell("experiment", "status", "feelings")
    assert "| one judge |" in shell("experiment", "results", "feelings")
    for name in ("cells.csv", "cells.parquet", "cells.jsonl", "table.md", "table.tex"):
        shell("experiment", "export", "feelings", "--to", str(tmp_path / name))
    whole = frame("feelings")
    assert list(whole.columns[:8]) == ["arm", "case", "category", "repeat", "run", "state", "reason", "outcome"]
    csv, parquet = pd.read_csv(tmp_path / "cells.csv"), pd.read_parquet(tmp_path / "cells.parquet")
    assert len(csv) == len(parquet) == len(whole) == 12
    assert whole.groupby("arm")["accuracy"].mean().to_dict() == {
        line["arm"]: pytest.approx(line["values"]["accuracy"][0]) for line in found["lines"]
    }
    assert r"\begin{tabular}{lrrr}" in (tmp_path / "table.tex").read_text()


def test_a_lock_stands_before_the_first_answer(house: Courthouse) -> None:
    experiment = spec(hypotheses=[BETTER])
    lock = house.experiments.lock(experiment)
    assert lock == house.experiments.lock(experiment), "the same lock is made once"
    kept = house.experiments.store.experiment("feelings").experiment
    assert (lock.specification, lock.dataset) == (kept.digest, kept.dataset.version)
    (found,) = done(house, experiment).findings
    assert found.hypothesis == experiment.hypotheses[0]
    assert found.state in ("held", "not shown", "refuted")
    assert house.experiments.store.experiment("feelings").experiment.lock == lock, "going on keeps the lock"
    assert json.loads(json.dumps(house.experiments.results("feelings").as_data(), default=str))["hypotheses"]


def test_what_comes_after_the_lock_is_marked(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    experiment = spec(hypotheses=[BETTER])
    house.experiments.lock(experiment)
    other = {**BETTER, "direction": "lower"}
    with pytest.raises(CourtroomError, match="can't be changed any more"):
        house.experiments.lock(spec(hypotheses=[other]))
    states = [one.state for one in done(house, spec(hypotheses=[BETTER, other])).findings]
    assert states[1] == "changed after the lock"
    monkeypatch.setattr("courtroom.experiments.service.prompts_hash", lambda *given: "other prompts")
    (first, _) = house.experiments.results("feelings").findings
    assert (first.state, first.reason) == ("changed after the lock", "The prompts changed after it.")


def test_results_cannot_be_locked_afterwards(house: Courthouse) -> None:
    done(house, spec())
    with pytest.raises(CourtroomError, match="has results already"):
        house.experiments.lock(spec(hypotheses=[BETTER]))
    with pytest.raises(CourtroomError, match="no hypothesis"):
        house.experiments.lock(spec())
    with pytest.raises(CourtroomError, match="no arm: nobody"):
        spec(hypotheses=[{**BETTER, "than": "nobody"}])


@pytest.mark.parametrize(
    ("given", "gap", "ends", "p", "cases", "state"),
    [
        ({}, 0.3, (0.1, 0.5), 0.01, 60, "held"),
        ({}, 0.3, (-0.1, 0.5), 0.2, 60, "not shown"),
        ({}, -0.3, (-0.5, -0.1), 0.01, 60, "refuted"),
        ({"direction": "different"}, -0.3, (-0.5, -0.1), 0.01, 60, "held"),
        ({"least": 0.2}, 0.3, (0.1, 0.5), 0.01, 60, "not shown"),
        ({"least": 0.2}, 0.05, (-0.02, 0.12), 0.3, 60, "refuted"),
    ],
)
@pytest.mark.parametrize("turned", [False, True])
def test_a_hypothesis_is_held_not_shown_or_refuted(
    given: dict[str, object], gap: float, ends: tuple[float, float], p: float, cases: int, state: str, turned: bool
) -> None:
    one = Hypothesis.model_validate({**BETTER, "cases": 60, **given})
    experiment = spec(hypotheses=[one.model_dump()])
    names, sign = (("one judge", "three judges"), -1) if turned else (("three judges", "one judge"), 1)
    low, high = sorted(sign * end for end in ends)
    pair = Pair(
        measures_of("labelled")["accuracy"], ALL, *names, 0.0, 0.0, Interval(sign * gap, low, high),
        significance.Tested("McNemar", 0.0, p, cases), p, cases, 1,
    )  # fmt: skip
    given = {"at": "2026-01-01T00:00:00Z", "dataset": "", "prompts": "p", "hypotheses": experiment.hypotheses}
    lock = Preregistration.model_validate({**given, "specification": experiment.digest})
    (found,) = findings(lock, experiment.hypotheses, [pair], experiment.digest, "p")
    assert found.state == state


def test_a_panel_has_its_controls_and_the_samples_take_as_many_tokens(house: Courthouse) -> None:
    add_sample(house.datasets, house.library, "sample-trials")
    arms = [{"name": "panel", "procedure": "mock-jury", "set": {"jury_size": 6, "rounds": 2, "first_votes": 3}}]
    panel = parsed({"name": "x", "dataset": {"name": "sample-trials", "limit": 2}, "arms": arms}, "x")
    whole = house.experiments.with_controls(panel)
    assert [arm.name for arm in whole.arms[1:]] == [f"panel: {title}" for title in TITLES.values()]
    values = {"model.vision": "no", "first_votes": None}
    tokens = {}
    for arm in whole.arms[:3]:
        counted = adapted(whole, arms=[arm.name], model="counted", values=values)
        tokens[arm.name] = house.experiments.estimate(counted).tokens
    assert tokens["panel: one model, as many tokens"] == pytest.approx(tokens["panel"], rel=0.3)
    assert tokens["panel: without talk"] <= tokens["panel"]
    with pytest.raises(CourtroomError, match="no arm with a panel"):
        house.experiments.with_controls(whole, ["nobody"])
