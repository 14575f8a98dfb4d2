"""The settings of the published system: Jung and Jung, Courtroom-LLM."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("model.temperature", 0.5, "4.1.3", "Fixed for all roles."),
    PaperSetting("structure", "sequential", "4.2.2", "The better of the two structures in most of its tasks."),
    PaperSetting("judges", 5, "Tables 8, 10 and 12", "Appendix B also measures 1 and 3."),
    PaperSetting("decided_by", "last", "Table 8", "The one example in which the last judge and the majority differ."),
    PaperSetting("shots", 1, "4.2", "Its guideline; tables 3 to 5 also measure 0 and 2."),
    PaperSetting(
        "cases_of", "both labels", "Table 11", "Table 9 shows one of every label; section 3.4 says the nearest."
    ),
    PaperSetting("cases_by", "similarity", "3.4", "Table 6 compares it with random ones."),
    PaperSetting("explain", True, "Tables 7, 9 and 11", "Every similar case has the reason for its label."),
    PaperSetting("hearings", 5, "4.2.3", "Of one text, to know whether it is ambiguous."),
    PaperSetting("argument_sentences", 1, "Figure 9", "Section 3.5 limits the arguments and gives no number."),
)

MODELS: tuple[PaperSetting, ...] = (
    PaperSetting(
        "model.id", "openai/gpt-4o", "4.1.2", "Hears and judges; Gemini 1.5 Flash and LLaMA 3.1 8B judge too there."
    ),
    PaperSetting("roles.prosecutor.id", "ollama/llama3.1:8b", "4.1.2", "As Ollama serves it."),
    PaperSetting("roles.attorney.id", "ollama/llama3.1:8b", "4.1.2", "As Ollama serves it."),
    PaperSetting("embedding", "local/en-core-web-sm", "4.1.3"),
)
"""Its models, as LiteLLM ids, and its embedding. Which model gave the reasons for similar cases the paper does not say: here it is the run's."""
