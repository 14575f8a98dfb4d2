"""Files with many records: each is taken in or refused by itself, and all are told together."""

import json
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.cases.files import Package, read_each, read_upload
from courtroom.courthouse import Courthouse
from courtroom.errors import CaseError
from tests.pages import house, page, press

__all__ = ["house"]  # a fixture


def record(number: int) -> str:
    judgment = {"relevant_articles": [264], "accusation": ["theft"], "term_of_imprisonment": {"imprisonment": number}}
    return json.dumps({"fact": f"The defendant took bicycle {number} from the yard.", "meta": judgment})


def lines(count: int, *bad: str) -> bytes:
    good = [record(number) for number in range(1, count + 1)]
    return "\n".join((*good[:1], *bad, *good[1:])).encode()


def test_each_record_is_read_by_itself_unless_the_file_is_wanted_whole() -> None:
    found = list(read_each("cail.jsonl", lines(2, "not json", '{"kind": "nothing"}', '{"fact": "x"}')))
    assert [type(one) for one in found] == [Package, CaseError, CaseError, CaseError, Package]
    assert [str(one).split(":")[0].split(" is ")[0] for one in found[1:4]] == [
        f"cail.jsonl, line {number}" for number in (2, 3, 4)
    ]
    with pytest.raises(CaseError, match="line 2"):
        read_upload("cail.jsonl", lines(2, "not json"))
    for name in ("cases.txt", "cases.json", "cases.jsonl", "cases.zip"):
        with pytest.raises(CaseError):
            list(read_each(name, b"\xff\xfe"))


def uploaded(name: str, data: bytes, labels: str = "") -> AppTest:
    app = page()
    app.button_group(key="adding").set_value("Upload").run()
    if labels:
        app.text_input(key="label_names").set_value(labels)
    app.file_uploader[0].upload(name, data).run()
    press(app, "Import")
    return app


def test_many_cases_are_told_in_one_sentence_with_details_below(house: Courthouse) -> None:
    app = uploaded("cail.jsonl", lines(137, "not json", '{"kind": "nothing"}'))
    (told,) = app.warning
    assert told.value.startswith("137 cases imported, 2 refused: cail\\.jsonl, line 2")
    assert len(app.success) == len(app.error) == 0
    (details,) = app.expander
    assert [caption.value for caption in details.caption][0] == "Refused: 2"
    assert [caption.value for caption in details.caption][-1] == "Imported: 137"
    assert sum(not case.bundled for case in house.library.cases()) == 137


def test_one_case_is_told_by_its_title_and_none_is_an_error(house: Courthouse, tmp_path: Path) -> None:
    app = uploaded("cail.jsonl", record(1).encode())
    (told,) = app.success
    assert told.value.startswith("Imported: ")
    assert len(app.warning) == len(app.error) == 0
    app = uploaded("cail.jsonl", b"not json\nnor this")
    (told,) = app.error
    assert len(app.expander) == 1
    assert told.value.startswith("0 cases imported, 2 refused: ")


def test_what_numbers_mean_as_labels_is_given_beside_the_file(house: Courthouse) -> None:
    data = b"sentence1\tsentence2\tlabel\nA.\tB.\t1\nC.\tD.\t0\n"
    assert "The labels are numbers" in uploaded("WNLI.tsv", data).error[0].value
    uploaded("WNLI.tsv", data, "0=not_entailment,1=entailment")
    case = house.library.case("wnli")
    assert [item.label for item in case.items] == ["entailment", "not_entailment"]


def test_a_case_is_heard_while_the_form_for_a_new_one_is_open(house: Courthouse) -> None:
    app = page()
    app.button_group(key="adding").set_value("Write").run()
    app.button(key="hear-oak-table").click().run()
    assert not app.exception, app.exception
    assert app.session_state["case"] == "oak-table"
