"""Who can see pictures."""

from pathlib import Path

from courtroom.models.capabilities import Capabilities
from courtroom.models.spec import OFFLINE, ModelSpec
from courtroom.store.database import Database
from courtroom.store.writer import Writer


async def test_a_setting_counts_before_a_card_and_an_unknown_model_is_tried(tmp_path: Path) -> None:
    database = Database(tmp_path / "courtroom.sqlite")
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
