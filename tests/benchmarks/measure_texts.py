"""How good the offline model's summaries and labels are: `python -m tests.benchmarks.measure_texts`.

Summaries: the sample documents against their reference summaries, beside the first sentences (lead-3, and lead-N with
as many sentences as ours); mean F1 by ROUGE, and BLEU. Labels: accuracy on the sample tasks and, where
`COURTROOM_REAL_DATA` names a folder, on its `classification/` (RTE, QNLI, BoolQ, Emotion), beside the most frequent
label.
"""

from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from functools import partial
from pathlib import Path

from courtroom import Case, Courthouse, Document, LabelledTask, Record
from courtroom.cases.files import read_upload
from courtroom.evaluation.summaries import lead, overlap
from courtroom.text.words import sentences
from tests.benchmarks.tables import Row, Table, real_data, samples, share, show
from tests.driving import hearing

VARIANTS = {"JURIS": "juris", "without editor": "no-editor", "generator A alone": "generator-a"}
VARIANTS |= {"generator B alone": "generator-b", "SummIt": "summit", "QA-prompted": "qa-prompt"}
MEASURES = {"ROUGE-1": "rouge1", "ROUGE-2": "rouge2", "ROUGE-L": "rougeL", "BLEU": "bleu"}
STRUCTURES = ("single", "multiple", "parallel", "sequential")
SETS = {"RTE": "RTE.tsv", "QNLI": "QNLI.tsv", "BoolQ": "BoolQ.jsonl", "Emotion": "emotion.txt"}


def tables(house: Courthouse) -> Iterable[Table]:
    """Summaries, then labels."""
    yield summaries(house, samples(house, Document))
    yield labels(house, "Labels of the sample tasks", {case.id: case for case in samples(house, LabelledTask)})
    if folder := real_data():
        public = {name: public_set(folder / "classification", file) for name, file in SETS.items()}
        yield labels(house, "Labels of public test sets", public)


def summaries(house: Courthouse, documents: Sequence[Document]) -> Table:
    """Means over the documents."""
    title = f"Summaries of {len(documents)} sample documents"
    leads = {"lead-3": ("", 3), "lead-N": ("juris", 0)}
    methods = {name: (variant, None) for name, variant in VARIANTS.items()} | leads
    rows = (Row(name, partial(overlaps, house, documents, *method)) for name, method in methods.items())
    return Table(title, ("method", *MEASURES), tuple(rows))


def overlaps(house: Courthouse, documents: Sequence[Document], variant: str, first: int | None) -> Iterable[str]:
    """How much of the reference summaries a variant's hold, or so many first sentences; 0 is as many as the variant's
    has."""
    knobs: dict[str, object] = {"variant": variant, "assess": "none"}
    texts = [heard(house, "juris", case, knobs).run.verdict.summary if variant else "" for case in documents]
    if first is not None:
        counts = [first or len(sentences(text)) for text in texts]
        texts = [lead(case.text, count) for case, count in zip(documents, counts, strict=True)]
    scores = [overlap(text, case.reference) for text, case in zip(texts, documents, strict=True)]
    return [f"{sum(score[name] for score in scores) / len(scores):.3f}" for name in MEASURES.values()]


def public_set(folder: Path, name: str) -> LabelledTask:
    """One public set; the texts that Emotion is trained on are its examples."""
    named = {"0": "entailment", "1": "not_entailment"} if name == "RTE.tsv" else None
    (package,) = read_upload(name, folder / name, named)
    if name != "emotion.txt":
        return package.case
    (training,) = read_upload("emotion.train.txt", folder / "emotion.train.txt")
    return LabelledTask.model_validate({**package.case.model_dump(), "examples": training.case.model_dump()["items"]})


def labels(house: Courthouse, title: str, tasks: dict[str, LabelledTask]) -> Table:
    head = ("accuracy", "texts", "majority class", *STRUCTURES)
    return Table(title, head, tuple(Row(name, partial(accuracies, house, case)) for name, case in tasks.items()))


def accuracies(house: Courthouse, case: LabelledTask) -> Iterable[str]:
    """How many texts there are, and the accuracy of the most frequent label and of each structure."""
    gold = {item.id: item.label for item in case.items}
    yield str(len(gold))
    yield share(Counter(gold.values()).most_common(1)[0][1] / len(gold))
    for structure in STRUCTURES:
        verdict = heard(house, "courtroom-llm", case, {"texts": ["all"], "structure": structure}).run.verdict
        yield share(sum(one["label"] == gold[one["id"]] for one in verdict.details["results"]) / len(gold))


def heard(house: Courthouse, procedure: str, case: Case, knobs: Mapping[str, object]) -> Record:
    """A run brought to its end."""
    return hearing(house, procedure, case, **knobs)


main = partial(show, tables)
if __name__ == "__main__":
    main()
