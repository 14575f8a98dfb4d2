"""Datasets in the store and on the page: versions, rows, splits, examples, statistics, checks; and what papers prepare of them."""

import json
from collections import Counter
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Case, Courthouse, CourtroomError, Settings
from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.cases.dispute import CATEGORIES, Dispute, Evidence, JuryRecord, Transaction
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.datasets import Datasets, Row, Selection
from courtroom.datasets.printed import printed_tables
from courtroom.datasets.selection import CUT_MARK, Preparation, amended
from courtroom.datasets.statistics import examine
from courtroom.experiments.plan import pinned, rows_of
from courtroom.experiments.spec import parsed
from courtroom.law import Term
from courtroom.store.opening import open_store
from tests.driving import done, shell
from tests.pages import NASTY, press, ran, texts
from tests.test_dataset_import import fact


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
    newest = [("cases", split.version), ("other", other.version)]
    assert [(one.name, one.version) for one in datasets.newest()] == newest
    assert len(list(datasets.rows("cases", first.version))) == 3
    datasets.delete("cases", more.version)
    assert len(list(datasets.rows("cases", first.version))) == 3
    datasets.delete("cases")
    assert [one.name for one in datasets.newest()] == ["other"]
    assert datasets.database.connection.execute("SELECT count(*) FROM dataset_rows").fetchone()[0] == 3


def test_rows_of_one_id_are_rows_of_their_own(datasets: Datasets) -> None:
    """However their id ends."""
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


YEAR = Term(imprisonment=12)


def case(number: int, articles: tuple[int, ...] = (264,), charge: str = "盗窃", term: Term | None = YEAR) -> Row:
    gold = Gold(relevant_articles=articles or None, charges=(charge,) if charge else None, term_of_imprisonment=term)
    about = {"id": f"c-{number}", "title": "T", "language": "zh", "facts": f"被告人第{number}次盗窃手机一部。"}
    return Row(id=f"c-{number}", case=CriminalCase(**about, gold=gold), split="test" if number % 2 else "train")


def kept(datasets: Datasets, **wanted: object) -> list[str]:
    return [row.id for row in datasets.rows("cases", wanted=Selection.model_validate(wanted))]


def test_cases_alone_stay_of_which_all_is_known(datasets: Datasets) -> None:
    datasets.add("cases", [case(0), case(1, articles=()), case(2, charge=""), case(3, term=None), case(4, term=Term())])
    assert kept(datasets, complete=True) == ["c-0", "c-4"]
    assert kept(datasets, complete=True, split="test") == []
    cut, whole = (next(datasets.rows("cases", wanted=Selection(cut=most))).case.facts for most in (5, 500))
    assert cut == "被告人第0" + CUT_MARK, "cut facts say that they were cut"
    assert CUT_MARK not in whole


def test_cases_stay_whose_labels_another_dataset_has(datasets: Datasets) -> None:
    datasets.add("benchmark", [case(0), case(1, (234, 67), "故意伤害罪")])
    datasets.add("cases", [case(0), case(1, (234,), "故意伤害"), case(2, (263,), "抢劫"), case(3, (264, 52))])
    assert kept(datasets, labels_of="benchmark") == ["c-0", "c-1", "c-3"], "articles of the general part don't count"
    first = datasets.info("benchmark").version
    datasets.add("benchmark", [case(2, (263,), "抢劫")])
    assert kept(datasets, labels_of="benchmark") == ["c-2"]
    assert kept(datasets, labels_of=f"benchmark@{first}") == ["c-0", "c-1", "c-3"]
    with pytest.raises(CourtroomError, match="There is no dataset “other”"):
        kept(datasets, labels_of="other")


def test_labels_have_at_least_and_at_most_so_many_rows(datasets: Datasets) -> None:
    thefts, thefts_and_robbery = [case(number) for number in range(6)], case(6)
    both = thefts_and_robbery.case.gold.model_copy(update={"charges": ("盗窃", "抢劫")})
    last = thefts_and_robbery.model_copy(update={"case": thefts_and_robbery.case.model_copy(update={"gold": both})})
    datasets.add("cases", [*thefts, last, case(7, (234,), "故意伤害")])
    assert kept(datasets, at_most=3) == ["c-4", "c-5", "c-6", "c-7"], "the last ones, over all splits"
    assert kept(datasets, at_least=2) == [f"c-{number}" for number in range(6)], "robbery and injury have one row each"
    assert kept(datasets, at_least=7) == [], "without the row of the robbery the thefts are too few"
    assert kept(datasets, at_most=3, at_least=2, split="test") == ["c-5"]
    assert kept(datasets, at_least=2, sample=2, seed=1) == kept(datasets, at_least=2, sample=2, seed=1)


def test_cases_of_an_amended_article_are_left_out(datasets: Datasets) -> None:
    assert len(amended()["XII"]) == 7
    datasets.add("cases", [case(0), case(1, (390, 67)), case(2, (303, 25)), case(3, (17,)), case(4, (264, 17))])
    assert kept(datasets, unchanged_by=["XII"]) == ["c-0", "c-2", "c-3", "c-4"]
    assert kept(datasets, unchanged_by=["XI", "XII"]) == ["c-0", "c-4"], "17 counts where no article defines a crime"
    datasets.add("cases", [case(0), case(1), case(2, (264, 390))])
    assert kept(datasets, unchanged_by=["XII"], at_most=1) == ["c-1"], "the last of those that stay"


def test_an_experiment_hears_and_learns_from_what_is_kept(house: Courthouse) -> None:
    house.datasets.add("cases", [*(case(number) for number in range(6)), case(7, term=None), case(9, (263,), "抢劫")])
    house.datasets.add("benchmark", [case(0)])
    values = {
        "name": "prepared",
        "dataset": {"name": "cases", "split": "test", "complete": True, "labels_of": "benchmark", "cut": 6},
        "knowledge": {"train": "train", "at_most": 3},
        "arms": [{"name": "VERDICT", "procedure": "verdict", "set": {"turns": 1}}],
    }
    experiment = parsed(values, "here")
    assert [row.id for row in rows_of(house, experiment.teaches)] == ["c-4"], "of the last three thefts, in all splits"
    fixed, _ = pinned(experiment, {}, house)
    assert fixed.dataset.labels_of == f"benchmark@{house.datasets.info('benchmark').version}"
    found = done(house, experiment)
    assert [row.row for row in found.rows] == ["c-1", "c-3", "c-5"]
    assert {row.case.facts for row in found.rows} == {f"被告人第{number}次" + CUT_MARK for number in (1, 3, 5)}
    with pytest.raises(CourtroomError, match="Experiments rest on “benchmark”"):
        house.experiments.delete_dataset("benchmark")


def test_the_shell_makes_a_dataset_as_a_paper_prepared_it(house: Courthouse) -> None:
    house.datasets.add("mine", [case(0), case(1), case(2, term=None), case(3, (263,), "抢劫")])
    house.datasets.add("cail2018", [case(0)])
    taken = ("--take", "complete", "--take", "labels_of=cail2018", "--take", "cut=6")
    told = shell("datasets", "clean", "mine", *taken, "--to", "cjo2025")
    assert "1 rows were taken out, as not all that is decided is known of them." in told
    assert "1 rows were taken out, as the other dataset lacks one of their labels." in told
    shown = json.loads(shell("datasets", "show", "cjo2025", "--json"))
    assert [row["case"]["facts"] for row in shown["rows"]] == [f"被告人第{number}次" + CUT_MARK for number in (0, 1)]
    assert json.loads(shell("datasets", "show", "mine", "--json"))["info"]["count"] == 4
    whole = json.loads(shell("datasets", "show", "mine", "--take", "complete", "--json"))
    assert [row["id"] for row in whole["rows"]] == ["c-0", "c-1", "c-3"]
    with pytest.raises(CourtroomError, match="A version keeps its texts whole"):
        shell("datasets", "clean", "mine", "--take", "cut=6")
    with pytest.raises(CourtroomError, match="There are: complete, distinct"):
        shell("datasets", "clean", "mine", "--take", "whole")


def test_tables_of_judgments_are_those_of_verdict_and_jurisagents(datasets: Datasets) -> None:
    rows = [case(0), case(1, charge="盗窃罪"), case(2, (234, 67), "故意伤害", Term(imprisonment=36))]
    datasets.add("cases", rows)
    labels, kinds, charges = (table.to_dict("records") for _, table in printed_tables(datasets, "cases"))
    assert [line["split"] for line in labels] == ["all", "train", "test"]
    whole = {"law articles": 2, "charges": 2, "classes of terms": 2, "cases": 3}
    assert labels[0] == {"split": "all", **whole, "words in the facts (mean)": labels[0]["words in the facts (mean)"]}
    assert 4 <= labels[0]["words in the facts (mean)"] <= 12
    assert [(line["kinds"], line["average"]) for line in kinds][:2] == [(2, 1.5), (2, 1.5)]
    assert kinds[2]["average"] == 20, "months in the mean"
    assert charges[0] == {"charges": "盗窃", "test": 1, "train": 1, "all": 2}
    assert list(printed_tables(datasets, "cases", prepared=Preparation(at_least=100))) == []
    bare = [row.model_copy(update={"case": row.case.model_copy(update={"gold": None})}) for row in rows]
    datasets.add("bare", bare)
    assert [len(table) for _, table in printed_tables(datasets, "bare")] == [3, 3], "nobody knows any charge"
    prepared = Preparation(at_least=2)
    assert [len(table) for _, table in printed_tables(datasets, "cases", prepared=prepared)][2] == 1


def test_tables_of_disputes_are_those_of_cyberjurors(datasets: Datasets) -> None:
    def dispute(number: int, buyer: int) -> Row:
        pieces = [Evidence(id=f"buyer-{n}", side="buyer", text="x" * 30, round=n) for n in (1, 2, 3)]
        pieces.append(Evidence(id="seller-1", side="seller", text="x" * 10))
        deal, jury = Transaction(product="Lamp", price=1), JuryRecord(buyer=buyer, seller=17 - buyer)
        about = {"id": f"d-{number}", "title": "D", "category": "Home & Lifestyle"}
        return Row(id=f"d-{number}", case=Dispute(**about, transaction=deal, evidence=pieces, jury=jury), split="train")

    datasets.add("cases", [dispute(0, 17), dispute(1, 8), dispute(2, 9), dispute(3, 0)])
    splits, media, won, votes, gaps = (table.to_dict("records") for _, table in printed_tables(datasets, "cases"))
    assert splits[1] == {"split": "train", "cases": 4, "Home & Lifestyle": 4, "buyer": 2, "seller": 2}
    assert {line["what"]: line["mean"] for line in media}["buyer's pieces"] == 3
    assert {line["what"]: line["most"] for line in media}["rounds"] == 3
    assert won == [{"category": "Home & Lifestyle", "buyer": 50, "seller": 50}]
    assert votes[0] == {"votes": "17:00", "buyer": 25, "seller": 25, "Home & Lifestyle": 50}, "either side's"
    assert [line["votes"] for line in votes] == ["17:00", "09:08"]
    assert gaps[0] == {"winner": "buyer", "pieces": 0.5, "text": 0.8, "media": 0.0}


def test_a_table_of_texts_is_that_of_courtroom_llm(datasets: Datasets) -> None:
    datasets.add("emotion", (row(task(number, "joy"), split="test") for number in range(1_000)))
    ((_, found),) = printed_tables(datasets, "emotion")
    told = {"split": "test", "labels": "joy, fear", "texts": 1_000, "500 of them, in per cent": 50.0}
    assert found.to_dict("records") == [told]


@pytest.fixture
def house(app_house: Courthouse, tmp_path: Path) -> Courthouse:
    """The test's own folder is the one that the owner offers."""
    app_house.settings.data_folder = tmp_path
    return app_house


def shown() -> AppTest:
    part = "from pages.parts.experiments.datasets import draw_datasets\n\ndraw_datasets()\n"
    return ran(AppTest.from_string(part, default_timeout=60))


def imported(app: AppTest, house: Courthouse, label: str = "Import") -> None:
    """Press a button that imports, and wait for the end."""
    press(app, label)
    house.dataset_imports.wait()
    assert not app.run().exception, app.exception


def test_from_a_path_to_figures_splits_and_a_check(house: Courthouse, tmp_path: Path) -> None:
    source = tmp_path / "cail.jsonl"
    rows = [*(fact(n) for n in range(12)), fact(3), {"fact": NASTY}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    app = shown()
    app.selectbox(key="dataset_path").select(source.name).run()
    imported(app, house)
    (info,) = house.datasets.newest()
    assert (info.name, info.count) == ("cail", 13)
    assert "cail: 13 rows are in; 1 records were refused" in texts(app).replace("\\", "")
    assert [metric.value for metric in app.metric][:2] == ["13", "13"]
    assert len(app.get("plotly_chart")) == 3  # categories, lengths, articles
    app.segmented_control(key="dataset_shown_cail").set_value("Check").run()
    assert "1 rows repeat an earlier one" in texts(app).replace("\\", "")
    app.segmented_control(key="dataset_shown_cail").set_value("Tables").run()
    assert "VERDICT, table 4: labels and cases" in texts(app).replace("\\", "")
    (labels,) = [one.value for one in app.dataframe if "law articles" in one.value.columns]
    assert (list(labels["split"]), list(labels["cases"])) == (["all"], [13])
    app.segmented_control(key="dataset_shown_cail").set_value("Splits").run()
    press(app, "Split")
    assert sum(house.datasets.info("cail").splits.values()) == 13
    assert len(house.datasets.versions("cail")) == 2
    app.segmented_control(key="dataset_shown_cail").set_value("Rows").run()
    assert len(app.expander) >= 13
    app.segmented_control(key="dataset_shown_cail").set_value("Delete").run()
    press(app, "Delete this version")
    assert len(house.datasets.versions("cail")) == 1


def test_the_page_asks_for_names_of_numbers(house: Courthouse, tmp_path: Path) -> None:
    source = tmp_path / "WNLI.tsv"
    source.write_text("index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n1\tC.\tD.\t0\n")
    app = shown()
    app.selectbox(key="dataset_path").select(source.name).run()
    imported(app, house)
    assert "are numbers, and the file does not say what they mean" in texts(app)
    assert (house.datasets.newest(), house.datasets.pending()) == ([], []), "nothing is kept"
    app.text_input(key="dataset_name_WNLI_0").set_value("not_entailment")
    app.text_input(key="dataset_name_WNLI_1").set_value("entailment")
    imported(app, house, "Import with these names")
    assert [row.case.items[0].label for row in house.datasets.rows("WNLI")] == ["entailment", "not_entailment"]


def test_only_files_of_the_owners_folder_are_offered(house: Courthouse, tmp_path: Path) -> None:
    served = tmp_path / "served"
    (served / "glue").mkdir(parents=True)
    (served / "glue" / "rte.tsv").write_text("a\tb\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.jsonl").write_text("{}\n")
    (served / "way-out").symlink_to(tmp_path / "other")
    house.settings.data_folder = served
    assert shown().selectbox(key="dataset_path").options == ["", "glue", "glue/rte.tsv"]
    house.settings.data_folder = None
    assert not [box for box in shown().selectbox if box.key == "dataset_path"]
