"""Prompts as a model is sent them, kept as files that a reviewer reads."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from courtroom.courthouse import Courthouse
from courtroom.procedures import PROCEDURES
from courtroom.settings import Settings
from tests.write_prompts import FOLDER, rendered


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    made = Courthouse(Settings(home=tmp_path_factory.mktemp("rendered")))
    yield made
    made.close()


@pytest.mark.parametrize("name", [name for name in PROCEDURES if (FOLDER / f"{name}.txt").exists()])
def test_the_prompts_of_a_sample_are_those_on_file(house: Courthouse, name: str) -> None:
    kept = (FOLDER / f"{name}.txt").read_text(encoding="utf-8")
    assert rendered(house, name) == kept, "read the new prompts, then write them by python -m tests.write_prompts"
