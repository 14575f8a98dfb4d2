"""What Courtroom-LLM declares of itself."""

from __future__ import annotations

from pathlib import Path

from courtroom.cases.labelled import LabelledTask
from courtroom.engine.paper import changes
from courtroom.engine.procedure import Choice, Counting, Ending, Preset, Procedure, Role, StageKind
from courtroom.procedures.courtroom_llm.deliberate import deliberate
from courtroom.procedures.courtroom_llm.offline.answers import METHODS
from courtroom.procedures.courtroom_llm.paper import MODELS, PAPER
from courtroom.procedures.courtroom_llm.peers import PEERS
from courtroom.procedures.courtroom_llm.setup import CourtroomLLMSetup, members
from courtroom.procedures.courtroom_llm.tasks import ChooseLabel, Classify, Explain, Hear, Plead
from courtroom.procedures.courtroom_llm.views import VIEWS, speaks_for

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
