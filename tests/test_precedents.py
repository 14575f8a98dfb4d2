"""Files of precedents: what does not fit is told, what is exported comes back."""

from pathlib import Path

import pytest

from courtroom.knowledge.search import Knowledge
from courtroom.settings import Settings
from courtroom.store.database import Database


def knowledge(folder: Path) -> Knowledge:
    settings = Settings(home=folder)
    return Knowledge(Database(settings.database), settings)


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "The file holds no precedents."),
        (b"[" * 100_000, "The file: it is nested too deeply."),
        (b'\n{"id": ' * 100_000, "Line 2: it is not valid JSON at column "),
        (b'{"id": ' * 100_000, "Line 1: it is nested too deeply."),
        (b'{"buyer_votes": ' + b"9" * 5000 + b"}", "Line 1: it holds a number with too many digits."),
        (b'[{"id": "x"},\n{"id" 3}]', "The file: it is not valid JSON at line 2, column "),
        (b"[{}]", "Entry 1: "),
        (b"\xff\xfe", "Line 1: it is not UTF-8 text."),
    ],
)
def test_a_file_that_does_not_fit_gets_a_sentence(tmp_path: Path, data: bytes, told: str) -> None:
    report = knowledge(tmp_path).precedents.import_file(data)
    assert report.taken == ()
    assert report.problems[0].startswith(told)


def test_what_is_exported_can_be_imported_whatever_line_ends_its_text_holds(tmp_path: Path) -> None:
    base = knowledge(tmp_path).precedents
    odd = base.all()[0].model_copy(update={"id": "odd", "dispute": "one\u2028two\u0085three\r\nfour"})
    report = base.import_file(f"{odd.model_dump_json()}\r\n".encode())
    assert report.problems == ()
    assert base.get("odd") == odd
