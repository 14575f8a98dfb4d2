"""The settings with which the case-handling judge's adapter is trained (section 3.3, appendix C)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field

from courtroom.strict import Strict

FILE = "adapter.json"


class Adapter(Strict):
    """LoRA, supervised tuning (SFT) and preference tuning (DPO). Where no source is named, the value is ours."""

    base_model: str = Field(
        default="Qwen/Qwen2.5-7B-Instruct",
        title="Base model",
        min_length=1,
        max_length=200,
        description="A model of Hugging Face, or a folder (section 4.1.2).",
    )
    rank: int = Field(default=64, title="LoRA rank", ge=1, le=1024, description="Appendix C.")
    alpha: int = Field(default=32, title="LoRA alpha", ge=1, le=1024, description="Appendix C.")
    dropout: float = Field(default=0.05, title="LoRA dropout", ge=0, lt=1, description="Appendix C.")
    target_modules: str = Field(
        default="all-linear", title="Layers with an adapter", max_length=200, description="The paper names none."
    )
    epochs: int = Field(default=2, title="Epochs", ge=1, le=100, description="Appendix C, for SFT.")
    batch_size: int = Field(default=64, title="Batch size", ge=1, le=4096, description="Appendix C.")
    sft_learning_rate: float = Field(default=1e-5, title="Learning rate, SFT", gt=0, le=1, description="Appendix C.")
    dpo_learning_rate: float = Field(default=5e-5, title="Learning rate, DPO", gt=0, le=1, description="Appendix C.")
    dpo_beta: float = Field(
        default=0.1, title="DPO beta", gt=0, le=10, description="The paper names none; TRL's default."
    )
    max_length: int = Field(
        default=4096, title="Longest sequence (tokens)", ge=16, le=1_000_000, description="Appendix C."
    )
    optimizer: Literal["adamw_torch", "adamw_torch_fused"] = Field(
        default="adamw_torch", title="Optimizer", description="AdamW (appendix C)."
    )
    scheduler: Literal["cosine", "linear", "constant"] = Field(
        default="cosine", title="Scheduler", description="Appendix C."
    )
