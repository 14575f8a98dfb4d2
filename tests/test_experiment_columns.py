"""Columns of experiments that need more than an outcome: rankings, a second library, repeats, a first hearing; and near-duplicates."""

import json
import math
import random
import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from itertools import combinations
from pathlib import Path
from types import ModuleType

import numpy as np
import pytest
from sklearn.metrics import brier_score_loss, ndcg_score
from statsmodels.stats.contingency_tables import cochrans_q
from typer.testing import CliRunner

from courtroom.__main__ import app
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.labelled import Document
from courtroom.courthouse import Courthouse
from courtroom.datasets import Row
from courtroom.datasets.statistics import SHINGLE, near_duplicates
from courtroom.evaluation import summaries
from courtroom.experiments.measures import MEASURES, Scored, at_hand, wanted
from courtroom.experiments.outcome import Outcome, of_text
from courtroom.experiments.table import CellRow, grouped, overall, summary
from courtroom.settings import Settings
from tests.real import FOLDER, needs_real_data
from tests.test_experiment_measures import dispute, of, task, voted

RANDOM = random.Random(5)
QUERY = CriminalCase(id="query-1", title="q", facts="f")


def shell(*words: str) -> str:
    done = CliRunner().invoke(app, list(words))
    assert done.exit_code == 0, done.output
    return done.stdout


# --- retrieval --------------------------------------------------------------------------------------------------


def ranking(answer: object, grades: dict[str, int]) -> list[Scored]:
    return [Scored(QUERY, "", of_text(QUERY, json.dumps(answer)), grades)]


def test_a_ranking_is_scored_by_hand() -> None:
    rows = ranking(["b", "a", "c"], {"a": 3, "b": 0, "c": 1, "d": 2})
    assert [of("criminal", f"hit_{k}", rows) for k in (1, 5)] == [0.0, 1.0]
    got, best = 3 / math.log2(3) + 1 / 2, 3 + 2 / math.log2(3) + 1 / 2
    assert of("criminal", "ndcg_5", rows) == pytest.approx(got / best, abs=1e-12)


def test_ndcg_of_rankings_is_scikit_learns() -> None:
    rows, known = [], []
    for _ in range(20):
        grades = {f"candidate-{n}": RANDOM.randint(0, 3) for n in range(40)}
        ranked = RANDOM.sample(sorted(grades), 40)
        rows += ranking({"ranking": ranked}, grades)
        known.append(ndcg_score([[grades[name] for name in ranked]], [list(range(40, 0, -1))], k=10))
    assert of("criminal", "ndcg_10", rows) == pytest.approx(sum(known) / 20, abs=1e-9)


def test_candidates_may_have_their_own_numbers_and_grades_below_0_are_not_relevant() -> None:
    rows = ranking([7, 7, 8], {"candidate-7": -1, "candidate-8": 2})
    assert of("criminal", "hit_1", rows) == 0
    assert of("criminal", "ndcg_5", rows) == pytest.approx(1 / math.log2(3))


def test_who_looked_nothing_up_and_who_is_not_judged_is_left_out() -> None:
    assert np.isnan(of("criminal", "hit_1", ranking(["a"], {})))
    silent = [Scored(QUERY, "", Outcome(outcome="x"), {"a": 1})]
    assert np.isnan(of("criminal", "ndcg_5", silent))


FACTS = "被告人在公交车上扒窃被害人手机一部，价值三千元，后被抓获。"


def test_a_run_is_scored_by_the_precedents_that_it_looked_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    folder = tmp_path / "lecard"
    for name, content in {
        "query/query.json": {"ridx": 1, "q": FACTS, "crime": ["盗窃罪"]},
        "candidates/1/11.json": {"ajId": "x", "ajName": "甲盗窃案", "ajjbqk": FACTS + "另查明系累犯。", "qw": "全文"},
        "candidates/1/12.json": {"ajId": "x", "ajName": "乙放火案", "ajjbqk": "被告人点火烧毁仓库。", "qw": "全文"},
        "label/label_top30_dict.json": {"1": {"11": 3, "12": 0}},
    }.items():
        (folder / name).parent.mkdir(parents=True, exist_ok=True)
        (folder / name).write_text(json.dumps(content))
    shell("datasets", "import", str(folder), "--name", "lecard")
    shell("datasets", "precedents", "lecard", "--split", "candidates")
    file = tmp_path / "search.toml"
    file.write_text(
        'name = "search"\nmeasures = ["hit_1", "ndcg_5"]\n[dataset]\nname = "lecard"\nsplit = "queries"\n'
        '[[arm]]\nname = "court"\nprocedure = "jurisagents"\nset = { precedents = 2, statutes = 0, charges = 0 }\n'
        '[[arm]]\nname = "no look-up"\nprocedure = "jurisagents"\nset = { precedents = 0, statutes = 0, charges = 0 }\n'
    )
    found = json.loads(shell("experiment", "run", str(file), "--json"))
    court, other = found["lines"]
    assert court["values"] == {"hit_1": [1.0, 0.025, 1.0], "ndcg_5": [1.0, 0.025, 1.0]}, "one case"
    assert other["values"] == {}


# --- BERTScore --------------------------------------------------------------------------------------------------

VECTORS = {"bridge": (1.0, 0.0), "span": (0.8, 0.6), "closed": (0.0, 1.0)}
BRIDGE = Document(id="d", title="d", text="A long text.", reference="bridge closed")


class Scripted:
    """The library's border: tokens are words, and each has a vector of its own."""

    loaded: list[tuple[str, int]] = []

    def __init__(self, model_type: str, num_layers: int) -> None:
        self.loaded.append((model_type, num_layers))

    def score(self, candidates: Sequence[str], references: Sequence[str]) -> tuple[list[float], ...]:
        mine, real = ([VECTORS[word] for word in texts[0].split()] for texts in (candidates, references))
        cosines = np.array(mine) @ np.array(real).T
        precision, recall = cosines.max(axis=1).mean(), cosines.max(axis=0).mean()
        return [precision], [recall], [2 * precision * recall / (precision + recall)]


@pytest.fixture
def library(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    module = ModuleType("bert_score")
    module.__spec__ = ModuleSpec("bert_score", None)
    module.BERTScorer = Scripted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bert_score", module)
    monkeypatch.setattr(Scripted, "loaded", [])
    summaries._scorer.cache_clear()
    return module


def on_disk(home: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """An encoder as huggingface_hub keeps it."""
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(home))
    folder = home / "models--roberta-large" / "snapshots" / "abc"
    folder.mkdir(parents=True)
    (home / "models--roberta-large" / "refs").mkdir()
    (home / "models--roberta-large" / "refs" / "main").write_text("abc")
    (folder / "config.json").write_text("{}")
    return folder


def test_bertscore_is_a_column_where_its_model_is_on_disk(
    library: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    folder = on_disk(tmp_path, monkeypatch)
    (folder / "model.safetensors").write_bytes(b"")
    rows = [Scored(BRIDGE, "", of_text(BRIDGE, "span")), Scored(BRIDGE, "", of_text(BRIDGE, "bridge closed"))]
    names = ["bertscore_precision", "bertscore_recall", "bertscore"]
    measures, notes = at_hand(wanted("document", names), rows)
    assert (len(measures), notes) == (3, ())
    precision, recall = 0.8, (0.8 + 0.6) / 2  # of the first by hand; the second is 1
    f1 = 2 * precision * recall / (precision + recall)
    for name, value in zip(names, (precision, recall, f1), strict=True):
        assert of("document", name, rows) == pytest.approx((value + 1) / 2, abs=1e-9)
    assert Scripted.loaded == [(str(folder), 17)], "loaded once, from the disk"


def test_bertscore_is_left_out_with_one_sentence(
    library: ModuleType, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    on_disk(tmp_path, monkeypatch)  # its weights are missing
    rows = [Scored(BRIDGE, "", of_text(BRIDGE, "span"))]
    measures, notes = at_hand(wanted("document", ["rouge1", "bertscore", "bertscore_recall"]), rows)
    assert [one.name for one in measures] == ["rouge1"]
    assert len(notes) == 1
    assert "roberta-large is not on this machine" in notes[0]
    monkeypatch.setattr(summaries, "find_spec", lambda name: None)
    _, notes = at_hand(wanted("document", ["bertscore"]), rows)
    assert "courtroom[metrics]" in notes[0]


def test_the_table_says_which_column_is_left_out(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(summaries, "find_spec", lambda name: None)
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    house = Courthouse(Settings(home=tmp_path / "home"))
    house.datasets.add("texts", [Row(id="d", case=BRIDGE)])
    house.close()
    answers = tmp_path / "answers.jsonl"
    answers.write_text(json.dumps({"case": "d", "model": "m", "prediction": "The bridge"}))
    words = ("experiment", "predictions", str(answers), "--dataset", "texts", "--measure", "rouge1")
    told = shell(*words, "--measure", "bertscore")
    assert "ROUGE-1" in told
    assert "BERTScore is left out" in told


# --- labels, votes, repeats -------------------------------------------------------------------------------------


def test_the_gain_on_a_single_model_by_hand() -> None:
    def row(label: str, single: str, ambiguous: bool) -> Scored:
        results = [{"id": "t", "label": label, "first": "maybe", "ambiguous": ambiguous}]
        outcome = Outcome(details={"results": results})
        return Scored(task("yes"), "", outcome, single=of_text(task("yes"), single))

    rows = [row("yes", "no", True), row("yes", "no", True), row("yes", "yes", True), row("no", "yes", False)]
    rows += [row("yes", "yes", False)]
    assert of("labelled", "ambiguous_gain", rows) == pytest.approx(2.0)  # three right instead of one
    assert of("labelled", "clear_gain", rows) == pytest.approx(-0.5)
    assert of("labelled", "gain", rows) == pytest.approx(4 / 3 - 1)
    assert np.isnan(of("labelled", "ambiguous_gain", [row("yes", "no", True)])), "nothing to be measured against"
    alone = Scored(task("yes"), "", of_text(task("yes"), "yes"))
    assert np.isnan(of("labelled", "gain", [alone])), "the experiment names no single model"
    assert at_hand(wanted("labelled", ["gain"]), [alone])[0] == ()


def test_the_brier_score_is_scikit_learns() -> None:
    splits = [(RANDOM.randint(0, 17), RANDOM.randint(0, 17)) for _ in range(60)]
    rows = [Scored(dispute(real, 17 - real), "", voted(mine, 17 - mine)) for real, mine in splits]
    right = [(real >= 9) == (mine >= 9) for real, mine in splits]
    shares = [max(mine, 17 - mine) / 17 for _, mine in splits]
    assert of("dispute", "brier", rows) == pytest.approx(brier_score_loss(right, shares), abs=1e-12)


def test_cochrans_q_takes_the_majority_of_repeats_and_says_so() -> None:
    answers = {"a": "yyn yyy yny nnn ynn", "b": "nnn nny yyy nnn nnn", "c": "yyy yyy yyy yyy nyy"}
    case, rows = task("yes"), []
    for arm, told in answers.items():
        for number, several in enumerate(told.split()):
            for repeat, letter in enumerate(several):
                outcome = of_text(case, "yes" if letter == "y" else "no")
                rows.append(CellRow(len(rows), arm, f"case-{number}", case, "", repeat, "", "done", "", outcome))
    measure = MEASURES["labelled"]["accuracy"]
    (found,) = overall(grouped(rows, False), list(answers), [measure])
    most = [[several.count("y") > 1 for several in told.split()] for told in answers.values()]
    known = cochrans_q(np.array(most, dtype=int).T)
    assert (found.majority, found.tested.cases) == (True, 5)
    assert found.tested.statistic == pytest.approx(known.statistic, abs=1e-9)
    assert found.tested.p > known.pvalue, "chi-squared says too much of five cases"
    from courtroom.experiments.table import pairs

    told_ = summary(pairs(grouped(rows, False), list(answers), [measure]), [found])
    assert "each case by the majority of its repeats" in told_[0]


# --- near-duplicates --------------------------------------------------------------------------------------------


@pytest.fixture
def house(tmp_path: Path) -> Courthouse:
    return Courthouse(Settings(home=tmp_path / "home"))


def test_near_duplicates_are_shown_with_their_splits(house: Courthouse) -> None:
    text = "The parcel came three weeks late and the seller never answered any of my letters about it"
    texts = {"one": text, "two": text + "!", "three": f"{text}, sadly", "four": "The soup was good and the waiter kind"}
    rows = [
        Row(id=name, case=CriminalCase(id=name, title=name, facts=facts), split="test" if name == "three" else "train")
        for name, facts in texts.items()
    ]
    house.datasets.add("letters", rows)
    found = near_duplicates(house.datasets, "letters")
    assert {one.rows for one in found.pairs} == {("one", "three"), ("two", "three")}, "the very same is no near one"
    assert (found.found, found.across, found.compared) == (2, 2, 4)
    assert "Of these, 2 are in two splits" in found.sentences()[0]
    house.close()


@needs_real_data
def test_near_duplicates_of_real_cases_are_those_of_comparing_each_pair(house: Courthouse) -> None:
    facts = [json.loads(line)["fact"] for line in (FOLDER / "cail_like.jsonl").read_text().splitlines()[:90]]
    facts += [fact[: len(fact) * 24 // 25] for fact in facts[:20]]
    ids = [f"c{n}" for n in range(len(facts))]
    cases = [CriminalCase(id=name, title=name, facts=fact) for name, fact in zip(ids, facts, strict=True)]
    house.datasets.add("cases", [Row(id=case.id, case=case) for case in cases])
    found = near_duplicates(house.datasets, "cases")
    plain = ["".join(filter(str.isalnum, fact.casefold())) for fact in facts]
    sets = [{text[n : n + SHINGLE] for n in range(len(text) - SHINGLE + 1)} for text in plain]
    known = {
        (ids[a], ids[b]): share
        for a, b in combinations(range(len(sets)), 2)
        if (share := len(sets[a] & sets[b]) / len(sets[a] | sets[b])) >= 0.8 and plain[a] != plain[b]
    }
    assert len(known) >= 20
    assert {one.rows: one.alike for one in found.pairs} == pytest.approx(known, abs=1e-12)
    house.close()
