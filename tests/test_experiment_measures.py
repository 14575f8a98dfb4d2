"""The measures of experiments: by hand, and equal to those of libraries and LawBench's scorers; near-duplicates."""

import csv
import json
import random
import sys
from collections.abc import Callable, Sequence
from functools import partial
from importlib.machinery import ModuleSpec
from pathlib import Path
from types import ModuleType
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error, precision_recall_fscore_support

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Given, Gold
from courtroom.cases.dispute import Dispute, JuryRecord, Transaction
from courtroom.cases.labelled import Document, Labelled, LabelledTask
from courtroom.cases.readers.cail import convert_lawbench
from courtroom.evaluation import lawbench, summaries
from courtroom.experiments.measures import MEASURES, CaseResult, at_hand, wanted
from courtroom.experiments.outcome import Outcome, of_text
from courtroom.experiments.table import grouped, pairs, table
from courtroom.judging.criminal import candidates
from courtroom.law import Both, Judgment, Statute, Term, term_class
from tests.driving import shell
from tests.real import FOLDER, needs_real_data

RANDOM = random.Random(12)


def of(kind: str, name: str, rows: Sequence[CaseResult]) -> float:
    measure = MEASURES[kind][name]
    return float(measure.finish(measure.parts(rows).sum(axis=0, keepdims=True))[0])


def dispute(buyer: int, seller: int) -> Dispute:
    jury = JuryRecord(buyer=buyer, seller=seller)
    return Dispute(id="d", title="d", category="Other", transaction=Transaction(product="p", price=1), jury=jury)


def criminal(**gold: Any) -> CriminalCase:
    return CriminalCase(id="c", title="c", facts="f", gold=Gold.model_validate(gold))


def judged(**judgment: Any) -> Outcome:
    return Outcome(details={"judgment": judgment})


def voted(buyer: int, seller: int) -> Outcome:
    return Outcome(outcome="seller" if seller > buyer else "buyer", counts={"buyer": buyer, "seller": seller})


def test_measures_of_disputes_are_scikit_learns() -> None:
    splits = [(RANDOM.randint(0, 17), RANDOM.randint(0, 17)) for _ in range(60)]
    disputes = [CaseResult(dispute(real, 17 - real), "", voted(mine, 17 - mine)) for real, mine in splits]
    real = [row.case.jury.winner for row in disputes]
    mine = [row.outcome.outcome for row in disputes]
    assert of("dispute", "accuracy", disputes) == pytest.approx(accuracy_score(real, mine), abs=1e-12)
    scored = partial(precision_recall_fscore_support, real, mine, zero_division=0)
    weighted, macro = (scored(average=average) for average in ("weighted", "macro"))
    assert of("dispute", "weighted_f1", disputes) == pytest.approx(weighted[2], abs=1e-12)
    for name, known in zip(("precision", "recall", "f1"), macro, strict=False):
        assert of("dispute", f"macro_{name}", disputes) == pytest.approx(known, abs=1e-12)
    votes = [row.case.jury.buyer for row in disputes], [row.outcome.counts["buyer"] for row in disputes]
    assert of("dispute", "votes_mae", disputes) == pytest.approx(mean_absolute_error(*votes), abs=1e-12)
    assert of("dispute", "votes_rmse", disputes) == pytest.approx(mean_squared_error(*votes) ** 0.5, abs=1e-12)
    small = [CaseResult(dispute(12, 5), "", voted(2, 1))]
    assert of("dispute", "votes_mae", small) == pytest.approx(12 - 2 / 3 * 17), "scaled to the real jury"
    assert np.isnan(of("dispute", "votes_mae", [CaseResult(dispute(12, 5), "", voted(1, 0))])), "one model is no panel"


CHARGES = ("盗窃", "诈骗", "抢劫", "故意伤害")


def judgment() -> dict[str, Any]:
    return {
        "relevant_articles": sorted(RANDOM.sample([264, 266, 263, 234], RANDOM.randint(1, 2))),
        "charges": RANDOM.sample(CHARGES, RANDOM.randint(1, 2)),
        "term_of_imprisonment": {"imprisonment": RANDOM.choice([0, 5, 8, 12, 36, 130])},
    }


def test_measures_of_judgments_are_scikit_learns() -> None:
    both = [(judgment(), judgment()) for _ in range(50)]
    judgments = [CaseResult(criminal(**real), "", judged(**mine)) for mine, real in both]
    named: dict[str, Callable[[dict[str, Any]], set[Any]]] = {
        "charge": lambda one: {*one["charges"]},
        "article": lambda one: {*one["relevant_articles"]},
        "term": lambda one: {term_class(Term(**one["term_of_imprisonment"]))},
    }
    for name, of_one in named.items():
        predicted, real = ([of_one(one) for one in side] for side in zip(*both, strict=True))
        labels = sorted(set().union(*predicted, *real))
        columns = [[[label in case for label in labels] for case in side] for side in (real, predicted)]
        scores = precision_recall_fscore_support(*columns, average="macro", zero_division=0)
        for part, score in zip(("precision", "recall", "f1"), scores, strict=False):
            assert of("criminal", f"{name}_{part}", judgments) == pytest.approx(score, abs=1e-12)
        exact = np.mean([a == b for a, b in zip(predicted, real, strict=True)])
        assert of("criminal", f"{name}_accuracy", judgments) == pytest.approx(exact)


def test_hit_at_2_goes_on_with_other_candidates() -> None:
    case = criminal(charges=("诈骗",), relevant_articles=(266,))
    judgment = Judgment(relevant_articles=(264,), charges=("盗窃",))
    charges = {234: "故意伤害", 266: "诈骗"}
    statutes = [Statute(number=n, text=Both(zh="x"), charges=(Both(zh=name),)) for n, name in charges.items()]
    also = candidates(judgment, statutes, "zh", drafted=(266,))
    made = Outcome(details={"judgment": judgment.model_dump(mode="json"), "candidates": also})
    for asked, hit in (("article_hit2", 1), ("charge_hit2", 1), ("article_accuracy", 0)):
        assert of("criminal", asked, [CaseResult(case, "", made)]) == hit


def task(label: str) -> LabelledTask:
    item = Labelled(id="t", text="x", label=label)
    return LabelledTask(id="t", title="t", labels=("yes", "no", "maybe"), items=(item,))


def test_measures_of_labels_are_scikit_learns() -> None:
    real = [RANDOM.choice(("yes", "no", "maybe")) for _ in range(40)]
    given = [RANDOM.choice(("yes", "No.", "MAYBE", "who knows")) for _ in range(40)]
    rows = [CaseResult(task(one), "", of_text(task(one), answer)) for one, answer in zip(real, given, strict=True)]
    mine = [{"yes": "yes", "No.": "no", "MAYBE": "maybe"}.get(answer, "") for answer in given]
    assert of("labelled", "accuracy", rows) == pytest.approx(accuracy_score(real, mine), abs=1e-12)
    labels = ["yes", "no", "maybe"]
    for average in ("macro", "weighted"):
        _, _, f1, _ = precision_recall_fscore_support(real, mine, labels=labels, average=average, zero_division=0)
        assert of("labelled", f"{average}_f1", rows) == pytest.approx(f1, abs=1e-12)


def test_measures_of_summaries_are_those_of_rouge_score_and_sacrebleu() -> None:
    reference, summary = "The bridge was closed after the flood.", "After a flood the old bridge has closed."
    case = Document(id="d", title="d", text="A long text.", reference=reference)
    rows = [CaseResult(case, "", of_text(case, summary))]
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(reference, summary)
    for name in ("rouge1", "rouge2", "rougeL"):
        assert of("document", name, rows) == pytest.approx(rouge[name].fmeasure, abs=1e-9)
        assert MEASURES["document"][name].source == "JURIS, section 4.1, table 1"
    bleu = sentence_bleu(summary, [reference], tokenize="13a").score / 100
    assert of("document", "bleu", rows) == pytest.approx(bleu, abs=1e-9)
    assert np.isnan(of("document", "quality", rows))


def test_a_summarys_quality_is_divided_by_its_makers_time() -> None:
    scores = {"faithfulness": 90.0, "completeness": 60.0, "conciseness": 30.0}
    whole = dict.fromkeys(scores, 100.0)
    judged = Outcome(details={"fine_grained": scores, "assessment": whole}, latency_s=50.0, assessed_s=30.0, wall_s=4.0)
    rows = [CaseResult(Document(id="d", title="d", text="A text."), "", judged)]
    for name, score in {**scores, "quality": 180.0, "cost_effectiveness": 9.0}.items():
        assert of("document", name, rows) == score
    for name in (*scores, "quality"):
        assert of("document", f"holistic_{name}", rows) == (300 if name == "quality" else 100)
    unfinished = judged.model_copy(update={"details": {"fine_grained": {**scores, "completeness": None}}})
    rows = [CaseResult(rows[0].case, "", unfinished)]
    assert of("document", "faithfulness", rows) == 90
    assert np.isnan(of("document", "quality", rows))


def test_a_procedures_judgment_is_scored_like_a_written_one() -> None:
    case = criminal(relevant_articles=(264,), charges=("盗窃",)).model_copy(update={"source": "LawBench 3-1"})
    made = judged(relevant_articles=[264, 266], charges=["盗窃"], term_of_imprisonment={"imprisonment": 5})
    assert of("criminal", "lawbench", [CaseResult(case, "", made)]) == pytest.approx(2 / 3)
    assert of("criminal", "lawbench", [CaseResult(case, "3-3", made)]) == 1.0
    assert of("criminal", "abstention", [CaseResult(case, "3-3", Outcome())]) == 1.0


def test_labels_that_were_given_are_no_predictions() -> None:
    case = criminal(relevant_articles=(264,), charges=("盗窃",), term_of_imprisonment={"imprisonment": 5})
    told = case.model_copy(update={"given": Given(charges=("盗窃",))})
    details = {"relevant_articles": [264], "charges": ["盗窃"], "term_of_imprisonment": {"imprisonment": 5}}
    rows = [CaseResult(told, "", judged(**details))]
    for name in ("charge_accuracy", "charge_hit2"):
        assert np.isnan(of("criminal", name, rows)), name
    assert MEASURES["criminal"]["charge_f1"].parts(rows).sum() == 0
    assert of("criminal", "article_accuracy", rows) == of("criminal", "term_accuracy", rows) == 1.0
    hidden = judged(**details)
    hidden = hidden.model_copy(update={"details": {**hidden.details, "given": False}})
    assert of("criminal", "charge_accuracy", [CaseResult(told, "", hidden)]) == 1.0


@needs_real_data
@pytest.mark.slow
def test_all_48_scores_of_eight_language_models_are_lawbenchs_own() -> None:
    folder = FOLDER / "lawbench_predictions"
    with (folder / "reference_scores.csv").open() as file:
        known = {(row["task"], row["model"]): row for row in csv.DictReader(file)}
    seen = 0
    for name in lawbench.TASKS:
        lines = (FOLDER / "lawbench" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        cases: list[Case] = [CriminalCase.model_validate(convert_lawbench(json.loads(line))[0]) for line in lines]
        by_model: dict[str, list[CaseResult]] = {}
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            case = cases[one["item"]]
            by_model.setdefault(one["model"], []).append(CaseResult(case, name, of_text(case, one["prediction"])))
        for model, rows in by_model.items():
            reference = known[name, model]
            assert len(rows) == int(reference["items"])
            assert of("criminal", "lawbench", rows) == pytest.approx(float(reference["score"]), abs=1e-9)
            assert of("criminal", "abstention", rows) == pytest.approx(float(reference["abstention_rate"]), abs=1e-9)
            seen += 1
    assert seen == len(known) == 48


FACTS = "被告人在公交车上扒窃被害人手机一部，价值三千元，后被抓获。"


def test_a_run_is_scored_by_the_precedents_it_found(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
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
    court, other = json.loads(shell("experiment", "run", str(file), "--json"))["lines"]
    assert court["values"] == {"hit_1": [1.0, 0.025, 1.0], "ndcg_5": [1.0, 0.025, 1.0]}, "one case"
    assert other["values"] == {}


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


def test_bertscore_is_a_column_where_its_model_is_on_disk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    module = ModuleType("bert_score")
    module.__spec__ = ModuleSpec("bert_score", None)
    module.BERTScorer = Scripted  # type: ignore[attr-defined]
    monkeypatch.setitem(sys.modules, "bert_score", module)
    summaries._scorer.cache_clear()
    # An encoder as huggingface_hub keeps it, but for its weights.
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_CACHE", str(tmp_path))
    kept = tmp_path / "models--roberta-large"
    folder = kept / "snapshots" / "abc"
    for file, content in ((kept / "refs" / "main", "abc"), (folder / "config.json", "{}")):
        file.parent.mkdir(parents=True)
        file.write_text(content)
    rows = [CaseResult(BRIDGE, "", of_text(BRIDGE, "span")), CaseResult(BRIDGE, "", of_text(BRIDGE, "bridge closed"))]
    names = ["bertscore_precision", "bertscore_recall", "bertscore"]
    measures, (note,) = at_hand(wanted("document", ["rouge1", *names]), rows)
    assert [one.name for one in measures] == ["rouge1"]
    assert "roberta-large is not on this machine" in note
    (folder / "model.safetensors").write_bytes(b"")
    measures, notes = at_hand(wanted("document", names), rows)
    assert (len(measures), notes) == (3, ())
    precision, recall = 0.8, (0.8 + 0.6) / 2  # of the first by hand; the second is 1
    f1 = 2 * precision * recall / (precision + recall)
    for name, value in zip(names, (precision, recall, f1), strict=True):
        assert of("document", name, rows) == pytest.approx((value + 1) / 2, abs=1e-9)
    assert Scripted.loaded == [(str(folder), 17)], "loaded once, from the disk"


def test_the_gain_on_a_single_model_by_hand() -> None:
    def row(label: str, single: str, ambiguous: bool) -> CaseResult:
        results = [{"id": "t", "label": label, "first": "maybe", "ambiguous": ambiguous}]
        return CaseResult(task("yes"), "", Outcome(details={"results": results}), single=of_text(task("yes"), single))

    rows = [*[row("yes", "no", True)] * 2, row("yes", "yes", True), row("no", "yes", False), row("yes", "yes", False)]
    assert of("labelled", "ambiguous_gain", rows) == pytest.approx(2.0)  # three right instead of one
    assert of("labelled", "clear_gain", rows) == pytest.approx(-0.5)
    assert of("labelled", "gain", rows) == pytest.approx(4 / 3 - 1)
    assert np.isnan(of("labelled", "ambiguous_gain", [row("yes", "no", True)])), "nothing to be measured against"
    alone = CaseResult(task("yes"), "", of_text(task("yes"), "yes"))
    assert np.isnan(of("labelled", "gain", [alone])), "the experiment names no single model"
    assert at_hand(wanted("labelled", ["gain"]), [alone])[0] == ()


def test_macro_scores_are_the_mean_of_runs_not_pooled() -> None:
    real = ["诈骗"] * 5 + ["盗窃"] * 5
    runs = {"three runs": [real, [*real[:4], "骗取", *real[5:]], [*real[:9], "偷盗"]], "one run": [real]}
    rows = []
    for arm, told in runs.items():
        for repeat, charges in enumerate(told):
            for number, (mine, charge) in enumerate(zip(charges, real, strict=True)):
                case = criminal(charges=(charge,))
                made = judged(charges=[mine])
                rows.append(CaseResult(case, "", made, repeat=repeat, arm=arm, row=f"case-{number}"))
    measures = wanted("criminal", ["charge_precision", "charge_recall", "charge_f1"])
    groups = grouped(rows, False)
    found, compared = table(groups, rows, [*runs], measures), pairs(groups, [*runs], measures)
    for one, pair in zip(measures, compared, strict=True):
        average = {"charge_precision": 0, "charge_recall": 1, "charge_f1": 2}[one.name]
        scores = [
            precision_recall_fscore_support(real, charges, average="macro", zero_division=0)[average]
            for charges in runs["three runs"]
        ]
        assert found.lines[0].values[one.name].value == pytest.approx(np.mean(scores))
        assert (pair.of_a, pair.of_b) == (pytest.approx(np.mean(scores)), 1.0), "as often as it takes for three runs"
