"""What Courtroom-LLM declares of itself."""

from pathlib import Path

from courtroom.cases.labelled import LabelledTask
from courtroom.engine.paper import PaperSetting, changes
from courtroom.engine.procedure import Choice, Counting, Ending, Preset, Procedure, Role, StageKind
from courtroom.procedures.courtroom_llm.deliberate import deliberate
from courtroom.procedures.courtroom_llm.offline import METHODS
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup, members
from courtroom.procedures.courtroom_llm.tasks import PEERS, ChooseLabel, Classify, Explain, Hear, Plead
from courtroom.procedures.courtroom_llm.views import VIEWS, speaks_for

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
    PaperSetting(
        "reasons",
        "judges",
        "Figures 8 and 10, A.3",
        "Figure 10 has the label alone, yet judges pass on their reasoning.",
    ),
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

SHAPES = (("circle", "●"), ("square", "■"), ("diamond", "◆"), ("triangle-up", "▲"), ("star", "★"), ("cross", "✚"))


def at_most(case: LabelledTask, setup: CourtroomLLMSetup) -> int:
    """Upper bound on the calls: hearings, two pleadings, reasons for similar cases, judges; for each text."""
    if setup.structure == "nearest":
        return 0
    in_question = case.labels[:2] if setup.tried else case.labels
    similar = setup.shots * len(setup.labels_of_cases(case.labels, in_question)) if setup.explain else 0
    return (similar + setup.bench + (setup.hearings + 2 if setup.tried else 0)) * max(1, len(setup.texts))


def labels_of(case: LabelledTask) -> tuple[Choice, ...]:
    """The labels, each with a colour, a shape and a mark; of many, some share them and differ by name."""
    return tuple(
        Choice(label, label, tone=number, symbol=SHAPES[number % len(SHAPES)][0], mark=SHAPES[number % len(SHAPES)][1])
        for number, label in enumerate(case.labels)
    )


COURTROOM_LLM = Procedure(
    name="courtroom-llm",
    title="Courtroom-LLM",
    summary="A preliminary hearing names two labels for a text, prosecutor and attorney argue for one each, judges decide in "
    "sequence or in parallel.",
    paper="Jung and Jung, Courtroom-LLM: A Legal-Inspired Multi-LLM Framework for Resolving Ambiguous Text Classifications",
    case_kind="labelled",
    setup=CourtroomLLMSetup,
    roles=(
        Role("hearing", "Preliminary hearing", "Names the most likely label and the alternative."),
        Role("prosecutor", "Prosecutor", "Argues for the label that the lot gave it."),
        Role("attorney", "Attorney", "Argues for the other label."),
        Role("clerk", "Clerk", "Says why a similar case has its label, where that is not on record."),
        Role("judge", "Judge", "Weighs both arguments and decides.", votes=True),
    ),
    stages=(
        StageKind(
            "hearing",
            "Preliminary hearing",
            "Two labels come into question; several hearings show whether it is clear.",
        ),
        StageKind("arguments", "Arguments", "Prosecutor and attorney argue, each for one label, by lot."),
        StageKind("judgment", "Judgment", "Similar cases are looked up; the judges decide."),
    ),
    choices=(),
    choices_in=labels_of,
    tasks=(Hear, Plead, ChooseLabel, Classify, Explain),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    looks_in=("examples",),
    views=VIEWS,
    peers=PEERS,
    ending=Ending("Label", real="The known label", what_if="What would change this label?"),
    seating="bench",
    counting=lambda setup: Counting(by_last=setup.structure == "sequential" and setup.decided_by == "last"),
    speaks_for=speaks_for,
    paper_settings=PAPER,
    small={"judges": 3, "hearings": 2},
    presets=(
        Preset(
            "Paper",
            "Five judges in sequence, one similar case for each of the two labels, five preliminary hearings.",
            changes(PAPER),
        ),
        Preset(
            "Paper, with its models",
            "GPT-4o hears and judges, LLaMA 3.1 8B argues, spaCy compares texts; needs a key of OpenAI, a server of Ollama and the extra "
            "`embeddings`.",
            changes((*PAPER, *MODELS)),
        ),
        Preset("Parallel judges", "Five judges decide independently; the majority counts.", {"structure": "parallel"}),
        Preset(
            "Several models", "The baseline: five models with majority, without a trial.", {"structure": "multiple"}
        ),
        Preset("Single model", "The baseline: one model, without a trial.", {"structure": "single"}),
        Preset(
            "Nearest texts",
            "A baseline without a model: the five nearest labelled texts decide, each by its likeness.",
            {"structure": "nearest"},
        ),
        Preset(
            "Nearest text alone",
            "A baseline without a model: the label of the one nearest text.",
            {"structure": "nearest", "neighbours": 1},
        ),
        Preset("Random cases", "Examples drawn at random in place of similar ones (table 6).", {"cases_by": "random"}),
        Preset("All texts", "The paper's setting on every text of the task.", {"texts": ["all"]}),
    ),
)
