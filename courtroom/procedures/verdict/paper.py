"""What the paper says of VERDICT's settings, and of those with which its expert is trained (appendix C)."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("model.temperature", 0, "C"),
    PaperSetting("model.top_p", 0.9, "C"),
    PaperSetting("variant", "verdict", "3", "The other variants are the ablations of table 3."),
    PaperSetting("ranking", "dense", "3.2, equation 1"),
    PaperSetting("shortlist", 5, "E, prompt 2", "“About 5”."),
    PaperSetting("turns", 3, "C"),
    PaperSetting("reasons_first", False, "E, prompts 3 and 4"),
    PaperSetting("precedents", 3, "C"),
    PaperSetting("directives", 3, "C"),
    PaperSetting("alpha", 0.4, "C"),
    PaperSetting("beta", 0.3, "C"),
    PaperSetting("gamma", 0.3, "C"),
    PaperSetting("learning.prune", 0.3, "C"),
)

MODELS: tuple[PaperSetting, ...] = (
    PaperSetting("model.id", "deepseek/deepseek-chat", "4.1.2", "DeepSeek-V3; this id is its newest successor."),
    PaperSetting(
        "roles.judge.id",
        "ollama/qwen2.5:7b-instruct",
        "4.1.2",
        "The model that the paper begins with. Put in the id of yours once it is trained.",
    ),
    PaperSetting("embedding", "local/qwen3-embedding-8b", "C"),
    PaperSetting("roles.judge.temperature", 0, "C"),
    PaperSetting("roles.judge.top_p", 0.9, "C"),
)

TRAINING: tuple[PaperSetting, ...] = (
    PaperSetting("adapter.base_model", "Qwen/Qwen2.5-7B-Instruct", "4.1.2"),
    PaperSetting("adapter.rank", 64, "C"),
    PaperSetting("adapter.alpha", 32, "C"),
    PaperSetting("adapter.dropout", 0.05, "C"),
    PaperSetting(
        "adapter.epochs", 2, "C", "Of supervised tuning; for preferences the paper names none, so these hold too."
    ),
    PaperSetting("adapter.batch_size", 64, "C"),
    PaperSetting("adapter.sft_learning_rate", 1e-5, "C"),
    PaperSetting("adapter.dpo_learning_rate", 5e-5, "C"),
    PaperSetting("adapter.max_length", 4096, "C"),
    PaperSetting("adapter.optimizer", "adamw_torch", "C", "AdamW, as PyTorch has it."),
    PaperSetting("adapter.scheduler", "cosine", "C"),
)
