"""The part of a page that shows datasets, drawn by Streamlit's own test harness."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.cases.labelled import LabelledTask
from courtroom.courthouse import Courthouse
from tests import pages
from tests.pages import NASTY, house, texts
from tests.test_dataset_import import fact

__all__ = ["house"]  # a fixture


def part() -> None:
    from pages.parts.experiments.datasets import draw_datasets

    draw_datasets()


@pytest.fixture(autouse=True)
def served(house: Courthouse, tmp_path: Path) -> None:  # noqa: F811
    """The test's own folder is the one that the owner offers."""
    house.settings.data_folder = tmp_path


def shown() -> AppTest:
    app = AppTest.from_function(part, default_timeout=60).run()
    assert not app.exception, app.exception
    return app


def press(app: AppTest, label: str, house: Courthouse | None = None) -> None:  # noqa: F811
    """And wait for imports of a house to end, then draw again."""
    pages.press(app, label)
    if house:
        house.dataset_imports.wait()
        assert not app.run().exception, app.exception


def test_from_a_path_to_figures_splits_and_a_check(house: Courthouse, tmp_path: Path) -> None:  # noqa: F811
    source = tmp_path / "cail.jsonl"
    rows = [*(fact(n) for n in range(12)), fact(3), {"fact": NASTY}]
    source.write_text("".join(json.dumps(row) + "\n" for row in rows))
    app = shown()
    app.selectbox(key="dataset_path").select(source.name).run()
    press(app, "Import", house)
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


def test_the_page_asks_for_names_of_numbers(house: Courthouse, tmp_path: Path) -> None:  # noqa: F811
    source = tmp_path / "WNLI.tsv"
    source.write_text("index\tsentence1\tsentence2\tlabel\n0\tA.\tB.\t1\n1\tC.\tD.\t0\n")
    app = shown()
    app.selectbox(key="dataset_path").select(source.name).run()
    press(app, "Import", house)
    assert "are numbers, and the file does not say what they mean" in texts(app)
    assert (house.datasets.newest(), house.datasets.pending()) == ([], []), "nothing is kept"
    app.text_input(key="dataset_name_WNLI_0").set_value("not_entailment")
    app.text_input(key="dataset_name_WNLI_1").set_value("entailment")
    press(app, "Import with these names", house)
    labels = [row.case.items[0].label for row in house.datasets.rows("WNLI") if isinstance(row.case, LabelledTask)]
    assert labels == ["entailment", "not_entailment"]


def test_only_files_of_the_owners_folder_are_offered(house: Courthouse, tmp_path: Path) -> None:  # noqa: F811
    served = tmp_path / "served"
    (served / "glue").mkdir(parents=True)
    (served / "glue" / "rte.tsv").write_text("a\tb\n")
    (tmp_path / "other").mkdir()
    (tmp_path / "other" / "secret.jsonl").write_text("{}\n")
    (served / "way-out").symlink_to(tmp_path / "other")
    house.settings.data_folder = served
    app = shown()
    assert app.selectbox(key="dataset_path").options == ["", "glue", "glue/rte.tsv"]
    house.settings.data_folder = None
    assert not [box for box in shown().selectbox if box.key == "dataset_path"]
