"""Datasets in the store: versions, rows, splits, examples, statistics, checks."""

from collections import Counter
from pathlib import Path

import pytest

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.dispute import CATEGORIES, Dispute, Evidence, JuryRecord, Transaction
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.datasets import Datasets, Row, Selection
from courtroom.datasets.statistics import examine
from courtroom.errors import CourtroomError
from courtroom.settings import Settings
from courtroom.store.opening import open_store


@pytest.fixture
def datasets(tmp_path: Path) -> Datasets:
    return Datasets(open_store(Settings(home=tmp_path).database))


def criminal(number: int, charge: str = "theft", facts: str = "") -> CriminalCase:
    facts = facts or f"On day {number} the defendant took item {number}."
    return CriminalCase(id=f"c-{number}", title=f"Case {number}", facts=facts, gold=Gold(charges=(charge,)))


def dispute(number: int, buyer: int, seller: int) -> Dispute:
    deal, jury = Transaction(product=f"Thing {number}", price=1), JuryRecord(buyer=buyer, seller=seller)
    claim = Evidence(id="buyer-1", side="buyer", text=f"It broke, number {number}.")
    about = {"id": f"d-{number}", "title": f"Dispute {number}", "category": CATEGORIES[number % 3]}
    return Dispute(**about, transaction=deal, evidence=(claim,), jury=jury)


def task(number: int, label: str | None, text: str = "") -> LabelledTask:
    item = Labelled(id=f"t-{number}", text=text or f"text number {number}", label=label)
    return LabelledTask(id=f"t-{number}", title="T", labels=("joy", "fear"), question="Which?", items=(item,))


def row(case: Case, **given: str) -> Row:
    return Row(id=case.id, case=case, **given)  # type: ignore[arg-type]


def test_the_version_is_the_contents_and_an_older_one_stays(datasets: Datasets) -> None:
    first = datasets.add("cases", [row(criminal(n)) for n in range(3)])
    again, other = (datasets.add(name, [row(criminal(n)) for n in range(3)]) for name in ("cases", "other"))
    more = datasets.add("cases", [row(criminal(n)) for n in range(4)])
    split = datasets.add("cases", [row(criminal(n), split="test") for n in range(4)])
    assert first.version == again.version == other.version
    assert len({first.version, more.version, split.version}) == 3
    assert [one.version for one in datasets.versions("cases")] == [first.version, more.version, split.version]
    assert [(one.name, one.version) for one in datasets.newest()] == [
        ("cases", split.version),
        ("other", other.version),
    ]
    assert len(list(datasets.rows("cases", first.version))) == 3
    datasets.delete("cases", more.version)
    assert len(list(datasets.rows("cases", first.version))) == 3
    datasets.delete("cases")
    assert [one.name for one in datasets.newest()] == ["other"]
    assert datasets.database.connection.execute("SELECT count(*) FROM dataset_rows").fetchone()[0] == 3


def test_rows_of_one_id_are_rows_of_their_own_however_their_id_ends(datasets: Datasets) -> None:
    of_one_id = f"{'a' * 66}-row-1"
    rows = [Row(id=of_one_id, case=criminal(n).model_copy(update={"id": of_one_id})) for n in range(4)]
    kept = [one.id for one in datasets.rows("cases", datasets.add("cases", rows).version)]
    assert len({*kept}) == 4
    assert max(map(len, kept)) <= 80


def test_what_is_not_there_is_said_in_a_sentence(datasets: Datasets) -> None:
    datasets.add("cases", [row(criminal(1), split="test")])
    other = LabelledTask(id="o", title="O", labels=("a", "b"), items=(Labelled(id="o", text="x"),))
    for call, said in (
        (lambda: datasets.info("none"), "no dataset “none”"),
        (lambda: list(datasets.rows("cases", wanted=Selection(split="dev"))), "no split “dev”. It has: test"),
        (lambda: list(datasets.rows("cases", wanted=Selection(ids=("c-2",)))), "no row c-2"),
        (lambda: datasets.add("mixed", [row(criminal(1)), row(dispute(1, 9, 8))]), "Keep one kind"),
        (lambda: datasets.add("feelings", [row(task(1, "joy")), row(other)]), "same labels and question"),
    ):
        with pytest.raises(CourtroomError, match=said):
            call()


def test_texts_share_their_labels_and_examples(datasets: Datasets) -> None:
    given = [row(task(n, "joy" if n % 2 else "fear"), split="train" if n < 40 else "test") for n in range(50)]
    info = datasets.add("feelings", given)
    test = list(datasets.rows("feelings", wanted=Selection(split="test")))
    case = test[0].case
    assert (case.id, case.labels, case.question, case.examples) == ("t-40", ("joy", "fear"), "Which?", ())
    assert {one.case.pool for one in test if isinstance(one.case, LabelledTask)} == {f"dataset-{info.version}-train"}
    pool = list(datasets.examples(case.pool))
    assert len(pool) == 40
    assert pool[1].id == f"{case.under('joy')}item/t-1"


def test_splits_are_alike_in_category_and_votes(datasets: Datasets) -> None:
    votes = [(9, 8), (12, 5), (17, 0), (8, 9), (2, 15)]
    before = datasets.add("disputes", [row(dispute(n, *votes[n % 5])) for n in range(360)])
    info = datasets.split("disputes", seed=3)
    assert info.splits == {"train": 180, "validation": 60, "test": 120}
    assert info.version != before.version
    assert datasets.info("disputes").version == info.version
    assert datasets.info("disputes", before.version).splits == {}
    share = {"train": 1 / 2, "validation": 1 / 6, "test": 1 / 3}
    counts = Counter((one.split, one.category, one.case.jury.buyer) for one in datasets.rows("disputes"))
    strata = {(category, votes) for _, category, votes in counts}
    assert len(strata) == 15
    for category, votes in strata:
        whole = sum(counts[split, category, votes] for split in share)
        for split, part in share.items():
            assert abs(counts[split, category, votes] - part * whole) <= 1.5


def test_leaks_and_contradictions_are_found(datasets: Datasets) -> None:
    texts = ("He took a phone.", "he  TOOK a phone！", "He took a car.")
    cases = [criminal(n, facts=text) for n, text in enumerate(texts, 1)]
    datasets.add("cases", [row(case, split="train" if case.id == "c-1" else "test") for case in cases])
    found = examine(datasets, "cases")
    assert [(leak.rows, leak.splits) for leak in found.leaks] == [(("c-1", "c-2"), ("test", "train"))]
    assert (found.leaked, found.repeated, found.clean) == (1, 1, False)
    assert any("more than one split" in sentence for sentence in found.sentences())
    datasets.split("cases", parts={"train": 2, "test": 1})
    assert examine(datasets, "cases").leaked == 0
    datasets.add("feelings", [row(task(1, "joy", "so so")), row(task(2, "fear", "So so.")), row(task(3, None))])
    found = examine(datasets, "feelings")
    assert [one.outcomes for one in found.contradictions] == [("fear", "joy")]
    assert (found.contradicted, found.unknown) == (1, 1)
