"""Addresses of strangers: whatever stands behind the question mark, a page tells of it in a sentence, and soon."""

from collections.abc import Iterator
from pathlib import Path

import pytest
from streamlit.testing.v1 import AppTest

from courtroom.courthouse import Courthouse
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.house import courthouse

ROOT = Path(__file__).parents[2]
FIELDS = {
    "cases": ("case",),
    "setup": ("setup", "fork"),
    "deliberation": ("run", "at"),
    "knowledge": ("part",),
    "what_if": ("experiment", "base"),
    "compare": ("runs",),
    "seat": ("seat",),
    "audience": ("audience",),
    "link": ("link", "public"),
}


@pytest.fixture(scope="module")
def run(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """A finished run in the pages' own courthouse."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(tmp_path_factory.mktemp("home")))
        house: Courthouse = courthouse()
        made = house.new_run("cyberjurors", house.library.case("oak-table"), CyberJurorsSetup(jury_size=2, rounds=1), 0)
        house.runner.go(made)
        house.runner.wait(made, 60)
        yield made
        house.close()


@pytest.mark.parametrize(("page", "field"), [(page, field) for page, fields in FIELDS.items() for field in fields])
def test_whatever_an_address_says_the_page_stands(page: str, field: str, run: str) -> None:
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=60)
    if page not in ("cases", "seat", "audience", "link"):
        app.run()
        app.switch_page(f"pages/{page}.py")
    for text in (
        "a\0b",
        "../../../../etc/passwd",
        "x" * 2_000_000,
        ",".join([run] * 2_000),
        "[" * 100_000,
        '{"setup": {"jury_size": 1e400, "model": {"extra": {"seed": 1e999}}}}',
    ):
        if field == "at":
            app.query_params["run"] = run
        app.query_params[field] = text
        app.run()
        assert not app.exception, text[:40]
        assert app.main.children
