"""Trains the case-handling judge on exported data by TRL: supervised tuning, then preferences (section 3.3).

`python -m courtroom.procedures.verdict.train FOLDER --to OUT` reads `sft.jsonl`, `dpo.jsonl` and `adapter.json`, as
`courtroom align --to FOLDER` writes them. It needs the extra: `pip install "courtroom[training]"`.
"""

import argparse
import json
import os
import sys
from pathlib import Path
from typing import Any

from courtroom.errors import CourtroomError
from courtroom.procedures.verdict.alignment import FILE, Adapter


def train(folder: Path, to: Path, base_model: str = "", only: str = "") -> Path:
    """Train on the data of a folder, and write the adapters and the whole expert, whose folder is returned.

    Args:
        to: gets `sft` and `dpo`, an adapter each, and `expert`, the model with both merged in.
        base_model: another one than `adapter.json` names, e.g. a folder.
        only: `sft` or `dpo`, one stage alone.

    Raises `CourtroomError`: there is nothing to train on, or the extra is not installed.
    """
    settings = Adapter.model_validate_json(_text(folder / FILE))
    demonstrations = _rows(folder / "sft.jsonl") if only != "dpo" else []
    pairs = _rows(folder / "dpo.jsonl") if only != "sft" else []
    if not demonstrations and not pairs:
        raise CourtroomError(f"{folder} holds neither demonstrations nor pairs. Hear more cases, then align again.")
    try:
        import trl
        from transformers import AutoModelForCausalLM, AutoTokenizer
    except ImportError as error:
        raise CourtroomError('Training needs TRL. Install it: pip install "courtroom[training]".') from error

    name = base_model or settings.base_model
    tokenizer = AutoTokenizer.from_pretrained(name)
    demonstrations, pairs = (fitting(rows, tokenizer, settings.max_length) for rows in (demonstrations, pairs))
    model = AutoModelForCausalLM.from_pretrained(name)
    if demonstrations:  # protocol-aware instruction tuning (section 3.3.1): the loss is that of the answer alone
        data = [{"prompt": row["messages"][:-1], "completion": row["messages"][-1:]} for row in demonstrations]
        config = trl.SFTConfig(learning_rate=settings.sft_learning_rate, **_shared(settings, to / "sft"))
        model = _trained(trl.SFTTrainer, model, tokenizer, data, settings, config)
    if pairs:  # logic-driven contrastive alignment (section 3.3.2); the reference is the model before it
        shared = _shared(settings, to / "dpo")
        config = trl.DPOConfig(learning_rate=settings.dpo_learning_rate, beta=settings.dpo_beta, **shared)
        model = _trained(trl.DPOTrainer, model, tokenizer, pairs, settings, config)
    model.save_pretrained(to / "expert")
    tokenizer.save_pretrained(to / "expert")
    return to / "expert"


def fitting(rows: list[dict[str, Any]], tokenizer: Any, max_tokens: int) -> list[dict[str, Any]]:
    """Return the rows that fit, and say how many do not: cut, a row would lose its answer. Raises `CourtroomError`: no
    row fits."""

    def tokens(messages: list[dict[str, str]]) -> int:
        return len(tokenizer(tokenizer.apply_chat_template(messages, tokenize=False))["input_ids"])

    def texts(row: dict[str, Any]) -> list[list[dict[str, str]]]:
        if "messages" in row:
            return [row["messages"]]
        return [row["prompt"] + row[which] for which in ("chosen", "rejected")]

    fit = [row for row in rows if max(map(tokens, texts(row))) <= max_tokens]
    if len(fit) < len(rows):
        print(f"{len(rows) - len(fit):,} of {len(rows):,} rows have over {max_tokens:,} tokens and are left out.")
    if rows and not fit:
        raise CourtroomError(
            "No row is short enough to train on. Raise max_length in adapter.json, or shorten the cases."
        )
    return fit


def _trained(kind: Any, model: Any, tokenizer: Any, rows: list[dict[str, Any]], settings: Adapter, config: Any) -> Any:
    """Train by a trainer of this kind, keep the adapter, and merge it in."""
    from datasets import Dataset
    from peft import LoraConfig

    data, modules = Dataset.from_list(rows), settings.target_modules
    lora = LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=modules if modules == "all-linear" else [part.strip() for part in modules.split(",")],
        task_type="CAUSAL_LM",
    )
    trainer = kind(model, args=config, train_dataset=data, processing_class=tokenizer, peft_config=lora)
    trainer.train()
    trainer.save_model(config.output_dir)
    return trainer.model.merge_and_unload()


def _shared(settings: Adapter, to: Path) -> dict[str, Any]:
    import torch

    devices = int(os.environ.get("WORLD_SIZE", "1"))  # of a launch, which together come to the batch
    return {
        "output_dir": str(to),
        "num_train_epochs": settings.epochs,
        "per_device_train_batch_size": 1,  # the batch is made up by accumulation
        "gradient_accumulation_steps": max(1, round(settings.batch_size / devices)),
        "max_length": settings.max_length,
        "optim": settings.optimizer,
        "lr_scheduler_type": settings.scheduler,
        "bf16": torch.cuda.is_available() and torch.cuda.is_bf16_supported(),
        "save_strategy": "no",
        "report_to": "none",
    }


def _rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in _text(path).split("\n") if line.strip()]


def _text(path: Path) -> str:
    if not path.is_file():
        raise CourtroomError(f"{path} is not there. Write it with `courtroom align --to {path.parent}`.")
    return path.read_text(encoding="utf-8")


def parser() -> argparse.ArgumentParser:
    made = argparse.ArgumentParser(description="Train an expert on the data that `courtroom align` has written.")
    made.add_argument("folder", type=Path, help="with sft.jsonl, dpo.jsonl and adapter.json")
    made.add_argument("--to", type=Path, required=True, help="a folder for the adapters and the expert")
    made.add_argument("--base", default="", help="another base model than adapter.json names, or a folder")
    made.add_argument("--only", choices=("sft", "dpo"), default="", help="one stage alone")
    return made


def main() -> None:
    given = parser().parse_args()
    try:
        print(f"The expert is in {train(given.folder, given.to, given.base, given.only)}.")
    except CourtroomError as error:
        print(error, file=sys.stderr)
        sys.exit(2)


if __name__ == "__main__":
    main()
