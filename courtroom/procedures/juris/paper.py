"""What the paper says of the settings of JURIS. It states no temperature, no top-p and no number of tokens."""

from __future__ import annotations

from courtroom.engine.paper import PaperSetting

PAPER = (
    PaperSetting("variant", "juris", "Algorithm 1"),
    PaperSetting("jury_size", 5, "4.1, 4.3 and Figure 4"),
    PaperSetting("jury", "fixed", "4.1 and Table 2"),
    PaperSetting("points_of_view", {}, "3.1", "The paper's seats differ by their models alone."),
    PaperSetting(
        "assess", "both", "4.1", "UniSumEval is fine-grained, G-Eval gives one score each: the paper names both."
    ),
)
"""All but the models, which the preset “Paper, with its models” adds."""

_QUANTISED = "As Ollama serves it; the paper does not say how its weights were stored."
MODELS = (
    PaperSetting("members.generator-a.id", "ollama/mistral:7b", "4.1", _QUANTISED),
    PaperSetting("members.generator-b.id", "ollama/gemma3:12b", "4.1", _QUANTISED),
    PaperSetting("members.juror-01.id", "ollama/qwen2.5:7b", "4.1", _QUANTISED),
    PaperSetting("members.juror-02.id", "ollama/llama3.1:8b", "4.1", _QUANTISED),
    PaperSetting(
        "members.juror-03.id",
        "ollama/deepseek-r1:8b-llama-distill-q4_K_M",
        "4.1",
        "DeepSeek-R1-Distill-Llama-8B; the plain tag `deepseek-r1:8b` is another model by now.",
    ),
    PaperSetting("members.juror-04.id", "ollama/glm4:9b", "4.1", _QUANTISED),
    PaperSetting("members.juror-05.id", "ollama/gemma3:12b", "4.1", "The one model that writes and votes."),
    PaperSetting("members.editor.id", "ollama/mistral:7b", "4.1", _QUANTISED),
    PaperSetting("members.assessor.id", "openai/gpt-4.1", "4.1", "The paper says GPT-4; this is the nearest of today."),
)
"""Who sits where, as LiteLLM names the models today."""
