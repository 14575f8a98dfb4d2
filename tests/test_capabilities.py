"""Who can see pictures, and how what was found out is shown and forgotten."""

from contextlib import closing
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.models.spec import ModelSpec
from courtroom.settings import Settings
from tests.driving import shell


async def test_what_was_found_out_is_shown_and_forgotten_by_command(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    spec = ModelSpec(id="openai/a-model-of-my-own")
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path))
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        findings = await house.capabilities.of(spec)
        for name, value in (("vision", 0), ("images", 10), ("temperature", 0)):
            findings.remember(name, value)
    assert "at most 10 pictures, no temperature, no pictures" in shell("doctor")
    assert "3 findings of openai/a-model-of-my-own are forgotten" in shell("models", "forget", spec.id)
    with closing(Courthouse(Settings(home=tmp_path))) as house:
        assert not house.capabilities.found()
        assert (await house.capabilities.of(spec)).get("vision") is None
