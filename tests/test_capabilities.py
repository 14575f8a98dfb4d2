"""Who can see pictures, and how what was found out is shown and forgotten."""

from contextlib import closing
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.models.capabilities import Capabilities
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.settings import Settings
from courtroom.store.opening import open_store
from courtroom.store.writer import Writer
from tests.driving import shell


async def test_a_setting_counts_before_a_card_and_an_unknown_model_is_tried(tmp_path: Path) -> None:
    database = open_store(tmp_path / "courtroom.sqlite")
    capabilities = Capabilities(database, Writer(database))
    for model, vision, sees in (
        (OFFLINE, "auto", False),
        (OFFLINE, "yes", False),
        ("openai/gpt-4o-mini", "auto", True),
        ("openai/gpt-4o-mini", "no", False),
        ("openai/gpt-3.5-turbo", "auto", False),
        ("openai/gpt-3.5-turbo", "yes", True),
        ("openai/a-model-of-my-own", "auto", True),
    ):
        spec = ModelSpec.model_validate({"id": model, "vision": vision})
        assert await capabilities.sees(spec) is sees, (model, vision)


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
