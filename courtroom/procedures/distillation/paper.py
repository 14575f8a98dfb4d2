"""What the paper says of its settings (CyberJurors, arXiv:2605.28369, appendices B.2 and C.1)."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("model.temperature", 0.7, "C.1", "Said of all generative models."),
    PaperSetting("model.max_tokens", 2048, "C.1"),
)
