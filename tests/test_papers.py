"""docs/papers/: each row that says *same* names a test that is there, each other one says *decided*, and what rows name is in the code."""

import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from tests.docs import INLINE, ROOT

CODE = ROOT / "courtroom"
TEXTS = [(file.stem, set(re.findall(r"\w+", file.read_text(encoding="utf-8")))) for file in CODE.rglob("*.py")]
FILES = {part for file in CODE.rglob("*") for part in (file.name, file.name.split(".")[0])}
TESTS = {
    name
    for file in (ROOT / "tests").rglob("test_*.py")
    for name in re.findall(r"^(?:async )?def (test_\w+)", file.read_text(encoding="utf-8"), re.MULTILINE)
}


@dataclass(frozen=True)
class Row:
    """One element of a paper."""

    page: str
    says: str
    where: str
    told: str
    shown: str


def rows(page: Path) -> Iterator[Row]:
    """The rows of a page's tables."""
    for line in page.read_text(encoding="utf-8").splitlines():
        if line.startswith("| ") and not line.startswith(("| section", "| --- ")):
            cells = [cell.strip() for cell in line[1:-1].split("|")]
            assert len(cells) == 6, f"docs/papers/{page.name}: this row has {len(cells)} cells and not 6: {line}"
            yield Row(page.name, cells[1], cells[2], cells[3].lower(), cells[5])


ROWS = [row for page in sorted((ROOT / "docs" / "papers").glob("*.md")) for row in rows(page)]


def test_each_row_that_is_the_same_names_its_test_and_each_other_one_says_what_was_decided() -> None:
    wrong = []
    for row in ROWS:
        named = INLINE.findall(row.shown)
        gone = [name for name in named if name not in TESTS]
        if gone:
            wrong.append(f"{row.page}, “{row.says}”: the test {gone[0]} is gone; name the one that shows it now")
        elif row.told.startswith("same") and not named:
            wrong.append(f"{row.page}, “{row.says}”: says same and names no test that shows it")
        elif not row.told.startswith("same") and "decided" not in row.told:
            wrong.append(f"{row.page}, “{row.says}”: says neither same nor decided")
    assert not wrong, "\n".join(wrong)


@pytest.mark.parametrize("page", sorted({row.page for row in ROWS}))
def test_what_a_row_says_of_the_code_is_there(page: str) -> None:
    for row in ROWS:
        for name in INLINE.findall(row.where) if row.page == page else ():
            place, *parts = name.strip("/").split("/")[-1].split(".")
            modules = [words for stem, words in TEXTS if stem == place] or [words for _, words in TEXTS]
            inside = {*parts} - {"py", "md", "j2"} or {place} - FILES
            assert any(inside <= words for words in modules), f"{page}, “{row.says}”: {name} is not in the code"
