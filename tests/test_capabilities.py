"""Who can see pictures."""

from pathlib import Path

import pytest

from courtroom.models.capabilities import Capabilities
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.store.database import Database
from courtroom.store.writer import Writer


@pytest.mark.parametrize(
    ("model", "vision", "sees"),
    [
        (OFFLINE, "auto", False),
        (OFFLINE, "yes", False),
        ("openai/gpt-4o-mini", "auto", True),
        ("openai/gpt-4o-mini", "no", False),
        ("openai/gpt-3.5-turbo", "auto", False),
        ("openai/gpt-3.5-turbo", "yes", True),
        ("openai/a-model-of-my-own", "auto", True),
    ],
)
async def test_a_setting_counts_before_a_card_and_an_unknown_model_is_tried(
    model: str, vision: str, sees: bool, tmp_path: Path
) -> None:
    spec, database = ModelSpec.model_validate({"id": model, "vision": vision}), Database(tmp_path / "courtroom.sqlite")
    assert await Capabilities(database, Writer(database)).sees(spec) is sees
