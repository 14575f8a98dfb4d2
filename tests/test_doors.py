"""What a recipe brings at the shell."""

import json

import pytest

from courtroom.settings import DATA
from tests.driving import shell


@pytest.mark.usefixtures("house")
def test_a_recipe_brings_its_bundled_dataset() -> None:
    assert shell("datasets", "list") == ""
    recipe = str(DATA / "experiments" / "even-splits.toml")
    assert json.loads(shell("experiment", "run", recipe, "--sample", "1", "--estimate", "--json"))["cells"] > 0
    (line,) = shell("datasets", "list").splitlines()
    assert line.startswith("sample-trials\t")
