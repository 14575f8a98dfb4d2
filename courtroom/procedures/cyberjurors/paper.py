"""What the paper says of its settings (arXiv:2605.28369)."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("variant", "cyberjurors", "Table 3", "The whole system, the last row."),
    PaperSetting("jury_size", 17, "3.1", "As many as the platform seats; algorithm 1 has the same number."),
    PaperSetting("rounds", 3, "5, Configurations", "T."),
    PaperSetting("grounding_rounds", 3, "5, Configurations", "T_max, for each side."),
    PaperSetting("norms", 3, "5, Configurations", "K."),
    PaperSetting("consensus", 0.8, "5, Configurations", "δ; the share must be larger."),
    PaperSetting("examination", "own", "Algorithm 1, lines 6 to 23"),
    PaperSetting(
        "persona_examines", True, "E.2", "Equations 1 to 4 leave the persona out; the prompt asks for it with evidence."
    ),
    PaperSetting("key_media", None, "E.6", "The paper gives no limit."),
    PaperSetting("field_order", "paper", "E.4, E.5, E.7"),
    PaperSetting("tie", "buyer", "Eq. 10", "The seller wins with strictly more votes."),
    PaperSetting("model.temperature", 0.7, "C.1"),
    PaperSetting("model.max_tokens", 2048, "C.1"),
)

MODEL = "gemini/gemini-2.5-flash-lite"
"""Gemini-2.5-Flash-Lite-Nothinking (section 5), which has no thinking unless it is asked for."""
