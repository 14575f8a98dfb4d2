"""What the paper says of its settings."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("model.temperature", 0.0, "4.1, C", "For hosted models; open ones are averaged over three runs."),
    PaperSetting("variant", "jurisagents", "2.1", "Six roles; the ablations of table 1 are the other variants."),
    PaperSetting("statutes", 10, "2.2, stage II"),
    PaperSetting("charges", 10, "2.2, stage II"),
    PaperSetting("precedents", 5, "2.2, stage II"),
    PaperSetting("ranking", "dense", "2.2, stage II", "Appendix B.1 speaks of hybrid retrieval throughout."),
    PaperSetting("appeal", True, "2.2, stages IV to VI"),
    PaperSetting(
        "pictures", True, "4.4, table 2", "Its JurisMM-Text has no pictures; table 2 compares with and without."
    ),
    PaperSetting("defendants", "primary", "D, table 6"),
    PaperSetting("reasons", False, "D, tables 8 and 9", "They forbid thoughts in the output."),
)

MODELS: tuple[PaperSetting, ...] = (
    PaperSetting("model.id", "openai/gpt-4o", "4.1", "All agents are GPT-4o; the paper names no dated version."),
)
