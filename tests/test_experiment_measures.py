"""The measures of experiments: by hand, and equal to scikit-learn, rouge-score, sacrebleu and LawBench's scorers."""

import csv
import json
import random
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from rouge_score.rouge_scorer import RougeScorer
from sacrebleu import sentence_bleu
from sklearn.metrics import accuracy_score, mean_absolute_error, mean_squared_error, precision_recall_fscore_support

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.dispute import Dispute, JuryRecord, Transaction
from courtroom.cases.labelled import Document, Labelled, LabelledTask
from courtroom.cases.readers import lawbench as reader
from courtroom.errors import CourtroomError
from courtroom.evaluation import lawbench
from courtroom.experiments.measures import MEASURES, Measure, Scored, wanted
from courtroom.experiments.outcome import Outcome, of_text
from courtroom.judging.criminal import candidates
from courtroom.law import Both, Judgment, Statute, Term, term_class
from tests.real import FOLDER, needs_real_data

RANDOM = random.Random(12)


def value(measure: Measure, rows: Sequence[Scored]) -> float:
    return float(measure.finish(measure.parts(rows).sum(axis=0, keepdims=True))[0])


def of(kind: str, name: str, rows: Sequence[Scored]) -> float:
    return value(MEASURES[kind][name], rows)


def dispute(buyer: int, seller: int) -> Dispute:
    return Dispute(
        id="d", title="d", category="Other", transaction=Transaction(product="p", price=1),
        jury=JuryRecord(buyer=buyer, seller=seller),
    )  # fmt: skip


def voted(buyer: int, seller: int) -> Outcome:
    return Outcome(outcome="seller" if seller > buyer else "buyer", counts={"buyer": buyer, "seller": seller})


@pytest.fixture(scope="module")
def disputes() -> list[Scored]:
    def split(of: int) -> tuple[int, int]:
        buyer = RANDOM.randint(0, of)
        return buyer, of - buyer

    return [Scored(dispute(*split(17)), "", voted(*split(17))) for _ in range(60)]


def test_measures_of_disputes_are_scikit_learns(disputes: list[Scored]) -> None:
    real = [_jury(row).winner for row in disputes]
    mine = [row.outcome.outcome for row in disputes]
    assert of("dispute", "accuracy", disputes) == pytest.approx(accuracy_score(real, mine), abs=1e-12)
    for average in ("macro", "weighted"):
        precision, recall, f1, _ = precision_recall_fscore_support(real, mine, average=average, zero_division=0)
        assert of("dispute", f"{average}_f1", disputes) == pytest.approx(f1, abs=1e-12)
        if average == "macro":
            assert of("dispute", "macro_precision", disputes) == pytest.approx(precision, abs=1e-12)
            assert of("dispute", "macro_recall", disputes) == pytest.approx(recall, abs=1e-12)
    votes = [_jury(row).buyer for row in disputes], [row.outcome.counts["buyer"] for row in disputes]
    assert of("dispute", "votes_mae", disputes) == pytest.approx(mean_absolute_error(*votes), abs=1e-12)
    assert of("dispute", "votes_rmse", disputes) == pytest.approx(mean_squared_error(*votes) ** 0.5, abs=1e-12)


def _jury(row: Scored) -> JuryRecord:
    assert row.case.jury is not None
    return row.case.jury


def test_a_small_panels_votes_are_scaled_to_the_real_jury() -> None:
    rows = [Scored(dispute(12, 5), "", voted(2, 1))]
    assert of("dispute", "votes_mae", rows) == pytest.approx(12 - 2 / 3 * 17)
    assert np.isnan(of("dispute", "votes_mae", [Scored(dispute(12, 5), "", voted(1, 0))])), "one model is no panel"


def test_how_well_the_vote_share_is_calibrated_by_hand() -> None:
    rows = [Scored(dispute(12, 5), "", voted(9, 1)), Scored(dispute(5, 12), "", voted(9, 1))]
    assert of("dispute", "brier", rows) == pytest.approx((0.1**2 + 0.9**2) / 2)
    assert of("dispute", "calibration", rows) == pytest.approx(abs(1.8 - 1) / 2)
    assert of("dispute", "majority", rows) == pytest.approx(0.9)
    nobody = [Scored(dispute(12, 5), "", Outcome(outcome="buyer"))]
    assert np.isnan(of("dispute", "brier", nobody))


CHARGES = ("盗窃", "诈骗", "抢劫", "故意伤害")


def judgment() -> dict[str, Any]:
    return {
        "relevant_articles": sorted(RANDOM.sample([264, 266, 263, 234], RANDOM.randint(1, 2))),
        "charges": RANDOM.sample(CHARGES, RANDOM.randint(1, 2)),
        "term_of_imprisonment": {"imprisonment": RANDOM.choice([0, 5, 8, 12, 36, 130])},
    }


@pytest.fixture(scope="module")
def judgments() -> list[Scored]:
    def scored() -> Scored:
        case = CriminalCase(id="c", title="c", facts="f", gold=Gold.model_validate(judgment()))
        return Scored(case, "", Outcome(outcome="x", details={"judgment": judgment()}))

    return [scored() for _ in range(50)]


def test_measures_of_judgments_are_scikit_learns(judgments: list[Scored]) -> None:
    mine: Any = [row.outcome.details["judgment"] for row in judgments]
    golds = [row.case.gold for row in judgments if isinstance(row.case, CriminalCase) and row.case.gold]
    sides = {
        "charge": ([{*one["charges"]} for one in mine], [{*(one.charges or ())} for one in golds]),
        "article": ([{*one["relevant_articles"]} for one in mine], [{*(one.relevant_articles or ())} for one in golds]),
        "term": (
            [{term_class(Term(**one["term_of_imprisonment"]))} for one in mine],
            [{term_class(one.term_of_imprisonment or Term())} for one in golds],
        ),
    }
    for name, (predicted, real) in sides.items():
        labels = sorted(set().union(*predicted, *real))
        columns = [[[label in case for label in labels] for case in side] for side in (real, predicted)]
        scores = precision_recall_fscore_support(*columns, average="macro", zero_division=0)
        for part, score in zip(("precision", "recall", "f1"), scores, strict=False):
            assert of("criminal", f"{name}_{part}", judgments) == pytest.approx(score, abs=1e-12)
        exact = [a == b for a, b in zip(predicted, real, strict=True)]
        assert of("criminal", f"{name}_accuracy", judgments) == pytest.approx(sum(exact) / len(exact))


def test_hit_at_2_takes_the_first_two_that_were_named() -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold(charges=("诈骗",)))
    named = {"charges": ["盗窃", "抢劫", "诈骗"], "relevant_articles": [264], "term_of_imprisonment": {}}
    assert of("criminal", "charge_hit2", [Scored(case, "", Outcome(details={"judgment": named}))]) == 0
    named = {**named, "charges": ["盗窃", "诈骗"]}
    assert of("criminal", "charge_hit2", [Scored(case, "", Outcome(details={"judgment": named}))]) == 1


@pytest.mark.parametrize(("asked", "hit"), [("article_hit2", 1), ("charge_hit2", 1), ("article_accuracy", 0)])
def test_hit_at_2_goes_on_with_what_else_came_into_question(asked: str, hit: int) -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold(charges=("诈骗",), relevant_articles=(266,)))
    judged = Judgment(relevant_articles=(264,), charges=("盗窃",))
    statutes = [
        Statute(number=n, text=Both(zh="x"), charges=(Both(zh=name),)) for n, name in ((234, "故意伤害"), (266, "诈骗"))
    ]
    details = {
        "judgment": judged.model_dump(mode="json"),
        "candidates": candidates(judged, statutes, "zh", drafted=(266,)),
    }
    assert of("criminal", asked, [Scored(case, "", Outcome(details=details))]) == hit


def test_an_answer_that_is_no_judgment_is_wrong_not_left_out() -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold(charges=("诈骗",)))
    rows = [
        Scored(case, "", of_text(case, answer))
        for answer in ("I do not know", '{"charges": 7}', '{"charges": ["诈骗"]}')
    ]
    assert of("criminal", "charge_accuracy", rows) == pytest.approx(1 / 3)
    assert np.isnan(of("criminal", "article_accuracy", rows)), "what the record does not tell is left out"


def task(label: str) -> LabelledTask:
    return LabelledTask(
        id="t", title="t", labels=("yes", "no", "maybe"), items=(Labelled(id="t", text="x", label=label),)
    )


def test_measures_of_labels_are_scikit_learns_also_for_answers_out_of_the_set() -> None:
    real = [RANDOM.choice(("yes", "no", "maybe")) for _ in range(40)]
    given = [RANDOM.choice(("yes", "No.", "MAYBE", "who knows")) for _ in range(40)]
    rows = [Scored(task(label), "", of_text(task(label), answer)) for label, answer in zip(real, given, strict=True)]
    mine = [{"yes": "yes", "No.": "no", "MAYBE": "maybe"}.get(answer, "") for answer in given]
    assert of("labelled", "accuracy", rows) == pytest.approx(accuracy_score(real, mine), abs=1e-12)
    labels = ["yes", "no", "maybe"]
    for average in ("macro", "weighted"):
        _, _, f1, _ = precision_recall_fscore_support(real, mine, labels=labels, average=average, zero_division=0)
        assert of("labelled", f"{average}_f1", rows) == pytest.approx(f1, abs=1e-12)


def test_ambiguous_and_clear_texts_are_measured_apart() -> None:
    def row(label: str, ambiguous: bool | None) -> Scored:
        return Scored(
            task("yes"), "", Outcome(details={"results": [{"id": "t", "label": label, "ambiguous": ambiguous}]})
        )

    rows = [row("yes", True), row("no", True), row("yes", False), row("no", None)]
    assert of("labelled", "ambiguous_accuracy", rows) == 0.5
    assert of("labelled", "clear_accuracy", rows) == 1.0
    assert of("labelled", "ambiguous", rows) == pytest.approx(2 / 3)


def test_measures_of_summaries_are_those_of_rouge_score_and_sacrebleu() -> None:
    reference, summary = "The bridge was closed after the flood.", "After a flood the old bridge has closed."
    case = Document(id="d", title="d", text="A long text.", reference=reference)
    rows = [Scored(case, "", of_text(case, summary))]
    rouge = RougeScorer(["rouge1", "rouge2", "rougeL"], use_stemmer=True).score(reference, summary)
    for name in ("rouge1", "rouge2", "rougeL"):
        assert of("document", name, rows) == pytest.approx(rouge[name].fmeasure, abs=1e-9)
        assert MEASURES["document"][name].source == "JURIS, section 4.1, table 1"
    bleu = sentence_bleu(summary, [reference], tokenize="13a").score / 100
    assert of("document", "bleu", rows) == pytest.approx(bleu, abs=1e-9)
    assert np.isnan(of("document", "quality", rows))


def test_a_summary_is_scored_by_its_facts_and_its_quality_divided_by_the_time_of_who_made_it() -> None:
    scores = {"faithfulness": 90.0, "completeness": 60.0, "conciseness": 30.0}
    whole = dict.fromkeys(scores, 100.0)
    judged = Outcome(details={"fine_grained": scores, "assessment": whole}, latency_s=50.0, assessed_s=30.0, wall_s=4.0)
    rows = [Scored(Document(id="d", title="d", text="A text."), "", judged)]
    for name, score in {**scores, "quality": 180.0, "cost_effectiveness": 9.0}.items():
        assert of("document", name, rows) == score
    for name in (*scores, "quality"):
        assert of("document", f"holistic_{name}", rows) == (300 if name == "quality" else 100)
    unfinished = judged.model_copy(update={"details": {"fine_grained": {**scores, "completeness": None}}})
    rows = [Scored(rows[0].case, "", unfinished)]
    assert of("document", "faithfulness", rows) == 90
    assert np.isnan(of("document", "quality", rows))


def test_a_measure_that_is_not_there_is_refused_with_those_that_are() -> None:
    with pytest.raises(
        CourtroomError, match=r"no measure “f2” for cases of the kind “dispute”. Choose among: accuracy, "
    ):
        wanted("dispute", ["f2"])
    assert [one.name for one in wanted("labelled", [])] == ["accuracy", "macro_f1"]
    for measures in MEASURES.values():
        assert all(measure.source and measure.title for measure in measures.values())


# --- LawBench ---------------------------------------------------------------------------------------------------

LAWBENCH = [
    ("3-1", {"relevant_articles": [264, 266]}, "刑法第二百六十四条、第266条", 1.0),
    (
        "3-1",
        {"relevant_articles": [264, 266]},
        "刑法第264条、第266条第2款",
        2 / 3,
    ),  # its scorer takes the article off too
    ("3-1", {"relevant_articles": [264]}, "刑法第264条、第266条", 2 / 3),
    ("3-1", {"relevant_articles": [264]}, "无法判断", 0.0),
    ("3-3", {"charges": ["盗窃"]}, "盗窃罪;诈骗", 2 / 3),
    ("3-4", {"term_of_imprisonment": {"imprisonment": 12}}, "有期徒刑一年", 1.0),
    ("3-4", {"term_of_imprisonment": {"imprisonment": 12}}, "没有答案", 0.0),
    ("3-4", {"term_of_imprisonment": {"life_imprisonment": True}}, "12个月", None),
    ("3-6", {"choice": "A"}, "A", 1.0),
    ("3-6", {"choice": "A"}, "A或B", 0.0),
    ("3-7", {"amount": 8500.0}, "共计8500元，其中3500元", 1.0),
]


@pytest.mark.parametrize(("name", "gold", "answer", "score"), LAWBENCH)
def test_lawbenchs_scores_by_hand(name: str, gold: dict[str, Any], answer: str, score: float | None) -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold.model_validate(gold))
    assert lawbench.score(name, answer, case) == (None if score is None else pytest.approx(score))


def test_a_term_that_is_farther_off_than_no_answer_scores_below_0() -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold(term_of_imprisonment=Term()))
    found = lawbench.score("3-5", "300个月", case)
    assert found is not None
    assert found < 0


def test_who_names_nothing_abstains() -> None:
    case = CriminalCase(id="c", title="c", facts="f", gold=Gold(term_of_imprisonment=Term(life_imprisonment=True)))
    assert not lawbench.abstains("3-4", "I can not say", case), "a case that is left out counts as answered"
    plain = case.model_copy(update={"gold": Gold(term_of_imprisonment=Term(imprisonment=3))})
    assert lawbench.abstains("3-4", "I can not say", plain)
    assert not lawbench.abstains("3-6", "B", case)


def test_a_procedures_judgment_is_scored_like_a_written_one() -> None:
    case = CriminalCase(
        id="c", title="c", facts="f", source="LawBench 3-1", gold=Gold(relevant_articles=(264,), charges=("盗窃",))
    )
    made = {"relevant_articles": [264, 266], "charges": ["盗窃"], "term_of_imprisonment": {"imprisonment": 5}}
    rows = [Scored(case, "", Outcome(details={"judgment": made}))]
    assert of("criminal", "lawbench", rows) == pytest.approx(2 / 3)
    assert of("criminal", "lawbench", [Scored(case, "3-3", rows[0].outcome)]) == 1.0
    assert of("criminal", "abstention", [Scored(case, "3-3", Outcome())]) == 1.0


@needs_real_data
@pytest.mark.slow
def test_all_48_scores_of_eight_language_models_are_lawbenchs_own() -> None:
    folder = FOLDER / "lawbench_predictions"
    with (folder / "reference_scores.csv").open() as file:
        known = {(row["task"], row["model"]): row for row in csv.DictReader(file)}
    seen = 0
    for name in lawbench.TASKS:
        lines = (FOLDER / "lawbench" / f"{name}.jsonl").read_text(encoding="utf-8").splitlines()
        cases: list[Case] = [CriminalCase.model_validate(reader.convert(json.loads(line))) for line in lines]
        by_model: dict[str, list[Scored]] = {}
        for line in (folder / f"{name}.jsonl").read_text(encoding="utf-8").splitlines():
            one = json.loads(line)
            case = cases[one["item"]]
            by_model.setdefault(one["model"], []).append(Scored(case, name, of_text(case, one["prediction"])))
        for model, rows in by_model.items():
            reference = known[name, model]
            assert len(rows) == int(reference["items"])
            assert of("criminal", "lawbench", rows) == pytest.approx(float(reference["score"]), abs=1e-9)
            assert of("criminal", "abstention", rows) == pytest.approx(float(reference["abstention_rate"]), abs=1e-9)
            seen += 1
    assert seen == len(known) == 48
