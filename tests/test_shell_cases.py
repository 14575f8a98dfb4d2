"""The shell takes the files that the app takes, and says what of them members will not have."""

import json
from pathlib import Path

import pytest
from PIL import Image
from typer.testing import CliRunner

from courtroom.__main__ import app
from courtroom.cases.files import ENDINGS
from courtroom.errors import CourtroomError
from tests.driving import shell
from tests.papers import mail, sheets, slides, word, zipped
from tests.pictures import saved
from tests.test_case_files import as_json, case, kettle
from tests.test_pdf import SCAN, lines, pdf


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))


TABLE = b"text,label\nso good,joy\nso bad,fear\n"
ZIP = zipped({"case.json": kettle("long.png"), "long.png": saved(Image.new("RGB", (900, 5_000), "teal"))})
FILES = {
    ".json": as_json(case(evidence=[{"id": f"{side}-1", "side": side, "text": "x"} for side in ("buyer", "seller")])),
    ".jsonl": b'{"text": "so good", "label": "joy"}\n{"text": "so bad", "label": "fear"}\n',
    ".zip": ZIP,
    ".txt": b"The river rose in the night. The ferry stayed.",
    ".md": b"# The river\n\nThe river rose in the night.",
    ".pdf": pdf(lines("The river rose in the night."), SCAN),
    ".csv": TABLE,
    ".tsv": TABLE.replace(b",", b"\t"),
    ".docx": word("The river rose in the night."),
    ".docm": word("The river rose in the night."),
    ".xlsx": sheets(River=[["The river rose in the night."]]),
    ".xlsm": sheets(River=[["The river rose in the night."]]),
    ".pptx": slides("The river rose in the night."),
    ".rtf": rb"{\rtf1 The river rose in the night.}",
    ".html": b"<p>The river rose in the night.</p>",
    ".htm": b"<p>The river rose in the night.</p>",
    ".eml": mail("The river rose in the night."),
}


@pytest.mark.parametrize("ending", sorted(ENDINGS))
def test_every_file_that_the_app_takes_is_heard_by_the_shell(ending: str, tmp_path: Path) -> None:
    path = tmp_path / f"kettle{ending.upper()}"
    path.write_bytes(FILES[ending])
    assert json.loads(shell("run", str(path), "--json"))["status"] == "done"
    (name,) = shell("cases", "add", str(path)).split()
    assert name in shell("cases")


def test_what_is_not_as_it_seems_is_told_before_the_run(tmp_path: Path) -> None:
    for name, data in (("a.pdf", FILES[".pdf"]), ("a.zip", ZIP)):
        (tmp_path / name).write_bytes(data)
    ran = CliRunner().invoke(app, ["run", str(tmp_path / "a.pdf")])
    assert "a.pdf, page 2: no text can be read there" in ran.stderr
    assert "it is shown in 6 parts" in CliRunner().invoke(app, ["cases", "add", str(tmp_path / "a.zip")]).stderr
    path = tmp_path / "a.csv"
    path.write_bytes(b"text,label\nso good,0\nso bad,1\n")
    with pytest.raises(CourtroomError, match="The labels are numbers"):
        shell("run", str(path))
    assert json.loads(shell("run", str(path), "--labels", "0=joy,1=fear", "--json"))["status"] == "done"
