"""Training the expert on what was exported: the script runs with TRL's real trainers, on a tiny random model."""

import json
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path

import pytest

from courtroom.errors import CourtroomError
from courtroom.procedures.verdict.train import Adapter, accumulated, train

PROMPT = [{"role": "system", "content": "You judge."}, {"role": "user", "content": "A purse was taken."}]


def draft(number: int) -> dict[str, str]:
    return {"role": "assistant", "content": json.dumps({"predicted_article": number, "explanation": "x"})}


def exported(folder: Path, demonstrations: int = 2, pairs: int = 2) -> Path:
    """A folder as `courtroom align` writes it, with settings for a small model."""
    folder.mkdir()
    small = Adapter(base_model="nobody/has-this", rank=4, alpha=2, batch_size=2, epochs=1, max_length=256)
    shown = json.dumps({"messages": [*PROMPT, draft(264)]}) + "\n"
    pair = json.dumps({"prompt": PROMPT, "chosen": [draft(264)], "rejected": [draft(266)]}) + "\n"
    (folder / "adapter.json").write_text(small.model_dump_json())
    (folder / "sft.jsonl").write_text(shown * demonstrations)
    (folder / "dpo.jsonl").write_text(pair * pairs)
    return folder


@pytest.mark.skipif(not (find_spec("trl") and find_spec("peft")), reason="the extra “training” (TRL) is not installed")
def test_an_expert_is_trained_on_demonstrations_and_then_on_pairs(tmp_path: Path) -> None:
    def python(*arguments: object) -> None:
        done = subprocess.run([sys.executable, "-m", *map(str, arguments)], capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stderr[-3000:]

    python("tests.tiny_expert", tmp_path / "base")
    data, out = exported(tmp_path / "data"), tmp_path / "out"
    python("courtroom.procedures.verdict.train", data, "--to", out, "--base", tmp_path / "base")
    for stage in ("sft", "dpo"):
        adapter = json.loads((out / stage / "adapter_config.json").read_text())
        assert (adapter["r"], adapter["lora_alpha"], adapter["lora_dropout"]) == (4, 2, 0.05)
        assert (out / stage / "adapter_model.safetensors").stat().st_size > 0
    weights = [(folder / "model.safetensors").read_bytes() for folder in (tmp_path / "base", out / "expert")]
    assert weights[0] != weights[1]
    assert json.loads((out / "expert" / "config.json").read_text())["model_type"] == "qwen2"


@pytest.mark.parametrize(("devices", "batch", "steps"), [(1, 64, 64), (4, 64, 16), (6, 64, 11), (8, 4, 1)])
def test_all_devices_together_come_to_the_batch(
    devices: int, batch: int, steps: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("WORLD_SIZE", str(devices))
    assert accumulated(batch) == steps


def test_what_is_not_there_to_train_on_or_with_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    for number, (only, demonstrations, pairs) in enumerate((("", 0, 0), ("sft", 0, 2), ("dpo", 2, 0))):
        with pytest.raises(CourtroomError, match="neither demonstrations nor pairs"):
            train(exported(tmp_path / str(number), demonstrations, pairs), tmp_path / "out", only=only)
    with pytest.raises(CourtroomError, match="courtroom align --to"):
        train(tmp_path, tmp_path / "out")
    monkeypatch.setitem(sys.modules, "transformers", None)
    with pytest.raises(CourtroomError, match=r"pip install \"courtroom\[training\]\""):
        train(exported(tmp_path / "more"), tmp_path / "out")
