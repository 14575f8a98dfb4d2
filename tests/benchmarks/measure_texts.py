"""How good the offline model's summaries and labels are: `COURTROOM_REAL_DATA=folder python -m tests.benchmarks.measure_texts`.

Summaries: the sample documents against their reference summaries, beside the first sentences (lead-3, and lead-N with as
many sentences as ours). Labels: the two sample tasks and, with the folder, its `classification/` (RTE, QNLI,
BoolQ, Emotion), beside the majority class.
"""

from __future__ import annotations

import os
import tempfile
from collections import Counter
from collections.abc import Sequence
from pathlib import Path

from courtroom.case_files import read_upload
from courtroom.courthouse import Courthouse
from courtroom.document import Document
from courtroom.engine.record import Record
from courtroom.evaluation.summaries import Overlap, lead, overlap
from courtroom.labelled import LabelledTask
from courtroom.settings import Settings
from courtroom.text import sentences

VARIANTS = ("juris", "no-editor", "generator-a", "generator-b")
STRUCTURES = ("single", "multiple", "parallel", "sequential")
SETS = ("RTE.tsv", "QNLI.tsv", "BoolQ.jsonl", "emotion.txt")


def main() -> None:
    """Print one line a method."""
    with tempfile.TemporaryDirectory() as home:
        house = Courthouse(Settings(home=Path(home)))
        summaries(house)
        tasks = [
            case for listed in house.library.cases() if isinstance(case := house.library.case(listed.id), LabelledTask)
        ]
        if folder := os.environ.get("COURTROOM_REAL_DATA"):
            tasks += [public(Path(folder) / "classification", name) for name in SETS]
        labels(house, tasks)
        house.close()


def summaries(house: Courthouse) -> None:
    """Mean F1 over the sample documents."""
    documents = [
        case for listed in house.library.cases() if isinstance(case := house.library.case(listed.id), Document)
    ]
    print(f"{len(documents)} documents{'':8}{'ROUGE-1':>10}{'ROUGE-2':>10}{'ROUGE-L':>10}{'BLEU':>10}")
    told = {variant: [summary(house, case, variant) for case in documents] for variant in VARIANTS}
    counts = [len(sentences(text)) for text in told["juris"]]
    told["lead-3"] = [lead(case.text, 3) for case in documents]
    told["lead-N"] = [lead(case.text, count) for case, count in zip(documents, counts, strict=True)]
    for name, texts in told.items():
        scores = [overlap(text, case.reference) for text, case in zip(texts, documents, strict=True)]
        print(f"{name:20}" + "".join(f"{mean(scores, m):10.3f}" for m in ("rouge_1", "rouge_2", "rouge_l", "bleu")))


def summary(house: Courthouse, case: Document, variant: str) -> str:
    """One document's summary."""
    verdict = heard(house, "juris", case, {"variant": variant, "assess": False}).run.verdict
    assert verdict is not None
    return verdict.summary


def mean(scores: Sequence[Overlap], measure: str) -> float:
    """Of one measure."""
    return sum(getattr(score, measure) for score in scores) / len(scores)


def public(folder: Path, name: str) -> LabelledTask:
    """One public set; the texts that Emotion is trained on are its examples."""
    (package,) = read_upload(name, folder / name)
    case = package.case
    assert isinstance(case, LabelledTask)
    if name != "emotion.txt":
        return case
    (training,) = read_upload("emotion.train.txt", folder / "emotion.train.txt")
    assert isinstance(training.case, LabelledTask)
    return LabelledTask.model_validate(
        {**case.model_dump(), "examples": [item.model_dump() for item in training.case.items]}
    )


def labels(house: Courthouse, tasks: Sequence[LabelledTask]) -> None:
    """Accuracy of each structure on each set."""
    print(f"\n{'accuracy':20}{'texts':>8}{'majority':>10}" + "".join(f"{name:>12}" for name in STRUCTURES))
    for case in tasks:
        gold = {item.id: item.label for item in case.items}
        most = Counter(gold.values()).most_common(1)[0][1] / len(gold)
        row = f"{case.id[:19]:20}{len(gold):8}{most:10.1%}"
        for structure in STRUCTURES:
            verdict = heard(house, "courtroom-llm", case, {"texts": ["all"], "structure": structure}).run.verdict
            assert verdict is not None
            results = verdict.details["results"]
            row += f"{sum(one['label'] == gold[one['id']] for one in results) / len(gold):12.1%}"
        print(row)


def heard(house: Courthouse, procedure: str, case: Document | LabelledTask, knobs: dict[str, object]) -> Record:
    """A finished run."""
    run = house.new_run(procedure, case, house.procedures[procedure].setup.model_validate(knobs), 0)
    house.runner.go(run)
    house.runner.wait(run, 600)
    return house.record(run)


if __name__ == "__main__":
    main()
