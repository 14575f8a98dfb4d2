"""The library, on a real database and a real store; and files with many records, taken in on its page."""

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.testing.v1 import AppTest

from courtroom import CaseError, Courthouse, Dispute
from courtroom.cases.files import Package, read_upload, write_zip
from courtroom.cases.library import Library
from courtroom.media.store import MediaStore
from courtroom.store.opening import open_store
from tests.pages import page, press, texts
from tests.pictures import png
from tests.test_case_files import case
from tests.test_knowledge import records
from tests.test_pdf import SCAN, pdf
from tests.test_pdf import lines as lines_of_text

SAMPLE = "phone-battery"


@pytest.fixture
def store(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


@pytest.fixture
def library(tmp_path: Path, store: MediaStore) -> Library:
    return Library(open_store(tmp_path / "courtroom.sqlite"), store)


def package(name: str = "kettle", files: dict[str, bytes] | None = None, **changes: Any) -> Package:
    made = Dispute.model_validate(case(id=name, **changes))
    return Package(made, {"photos/leak.png": png()} if files is None else files)


def own(library: Library) -> list[str]:
    return [case.id for case in library.cases() if not library.is_sample(case.id)]


def test_a_case_is_taken_in_deleted_and_restored(library: Library, store: MediaStore) -> None:
    added = library.add(package(transaction={"product": "Kettle", "price": 1234.5}))
    (medium,) = added.media()
    assert medium.sha256 is not None
    assert store.path(medium.sha256).read_bytes() == png()
    assert library.case("kettle") == added
    assert library.cases()[0] == added
    assert not library.is_sample("kettle")
    assert added.brief() == ("Digital & Appliances", "1,234.50 CNY", "2 pieces of evidence")
    assert (added.real_outcome(), added.picture) == ("", medium)
    deleted = library.delete("kettle")
    assert deleted == added
    with pytest.raises(CaseError, match="There is no case “kettle”"):
        library.case("kettle")
    assert library.restore(deleted) == library.case("kettle") == added
    assert own(library) == ["kettle"]


def test_a_case_with_errors_is_refused_and_leaves_nothing_behind(library: Library, store: MediaStore) -> None:
    with pytest.raises(CaseError, match=r"The kettle was not taken in. .*leak: photos/leak.png is named but absent"):
        library.add(package(files={}))
    assert not store.folder.exists()
    assert own(library) == []


def test_a_taken_id_gets_a_number(library: Library, store: MediaStore) -> None:
    first = library.add(package())
    assert library.add(package()) == first
    titles = ("Another kettle", "Another kettle", "A third kettle")
    assert [library.add(package(title=title)).id for title in titles] == ["kettle-2", "kettle-2", "kettle-3"]
    assert own(library) == ["kettle-3", "kettle-2", "kettle"]
    sample = library.case(SAMPLE)
    (again,) = read_upload("sample.zip", write_zip(sample, store))
    assert library.add(again) == sample, "a sample is not doubled"


def test_threads_that_add_under_one_id_lose_nothing(library: Library) -> None:
    titles = [f"Kettle {number}" for number in range(8)]
    library.cases()
    with ThreadPoolExecutor(8) as threads:
        added = list(threads.map(lambda title: library.add(package(title=title)), titles))
    assert {case.id for case in added} == {"kettle", *(f"kettle-{number}" for number in range(2, 9))}
    assert [library.case(case.id).title for case in added] == titles


def lines(count: int, *bad: str) -> bytes:
    first, *others = records(count).decode().splitlines()
    return "\n".join((first, *bad, *others)).encode()


def uploaded(name: str, data: bytes, labels: str = "") -> AppTest:
    app = page()
    app.button_group(key="adding").set_value("Upload").run()
    if labels:
        app.text_input(key="label_names").set_value(labels)
    app.file_uploader[1].upload(name, data).run()
    press(app, "Import")
    return app


def test_what_members_will_not_have_is_told_openly(house: Courthouse) -> None:
    app = uploaded("river.pdf", pdf(lines_of_text("The river rose."), SCAN))
    assert app.success[0].value.startswith("Imported: ")
    (told,) = app.warning
    assert "page 2: no text can be read there, only pictures" in told.value.replace("\\", "")


def test_many_cases_are_told_in_one_sentence_with_details_below(house: Courthouse) -> None:
    app = uploaded("cail.jsonl", lines(137, "not json", '{"kind": "nothing"}'))
    (told,) = app.warning
    assert told.value.startswith("137 cases imported, 2 refused: cail\\.jsonl, line 2")
    assert len(app.success) == len(app.error) == 0
    (details,) = app.expander
    assert (details.caption[0].value, details.caption[-1].value) == ("Refused: 2", "Imported: 137")
    assert sum(not house.library.is_sample(case.id) for case in house.library.cases()) == 137


def test_what_numbers_mean_as_labels_is_given_beside_the_file(house: Courthouse) -> None:
    data = b"sentence1\tsentence2\tlabel\nA.\tB.\t1\nC.\tD.\t0\n"
    assert "The labels are numbers" in uploaded("WNLI.tsv", data).error[0].value
    uploaded("WNLI.tsv", data, "0=not_entailment,1=entailment")
    case = house.library.case("wnli")
    assert [item.label for item in case.items] == ["entailment", "not_entailment"]


@pytest.mark.parametrize(
    ("name", "session", "label", "chosen", "button"),
    [
        ("cases", {"adding": "Upload"}, "Cases as", "a.json", "Import"),
        ("cases", {"adding": "Papers"}, "Letters, chats", "a.txt", "Read the papers"),
        ("cases", {"ask_question": "Is it so?"}, "Texts and pictures", "a.txt", "Deliberate"),
        ("setup", {"case": "oak-table", "setup_section": "Save and share"}, "Load a setup", "a.json", "Load this file"),
        ("runs", {}, "JSON file", "a.json", "Import"),
    ],
)
def test_a_file_that_a_restart_took_is_not_done_without(
    name: str, session: dict[str, Any], label: str, chosen: str, button: str,
    house: Courthouse, monkeypatch: pytest.MonkeyPatch,
) -> None:  # fmt: skip
    """After a restart of the server the browser shows a file that the server does not have."""
    app = page(name, session)
    next(one for one in app.file_uploader if one.label.startswith(label)).upload(chosen, b"{}")
    monkeypatch.setattr(MemoryUploadedFileManager, "get_files", lambda self, session_id, file_ids: [])
    if any(one.label == button and not one.disabled for one in app.button):
        press(app, button)
    else:
        app.run()
    assert "The server was started again, and a file that is shown here is gone." in texts(app)
    assert not [*house.store.each()]
