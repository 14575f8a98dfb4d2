"""What JURIS declares of itself."""

import sys
from pathlib import Path

from courtroom.cases.labelled import Document
from courtroom.engine import paper
from courtroom.engine.paper import PaperSetting
from courtroom.engine.procedure import Choice, Ending, Preset, Procedure, Role, StageKind
from courtroom.procedures.juris import offline
from courtroom.procedures.juris.assessment import AlignKeyFacts, Assess, CheckFacts, FindKeyFacts
from courtroom.procedures.juris.baselines import Advise, AnswerAndWrite, RefineSummary, WriteAlone
from courtroom.procedures.juris.deliberate import deliberate
from courtroom.procedures.juris.points_of_view import SEVEN
from courtroom.procedures.juris.setup import JurisSetup, members
from courtroom.procedures.juris.tasks import CastBallot, Edit, NextSentence, ProposeLength
from courtroom.procedures.juris.views import LETTERS, VIEWS

PAPER = (
    PaperSetting("variant", "juris", "Algorithm 1"),
    PaperSetting("jury_size", 5, "4.1, 4.3 and Figure 4"),
    PaperSetting("jury", "fixed", "4.1 and Table 2"),
    PaperSetting("points_of_view", {}, "3.1", "The paper's seats differ by their models alone."),
    PaperSetting("tell_target", False, "Eq. 1", "A candidate is made of the document and the accepted sentences."),
    PaperSetting("check_edit", False, "3.2", "The editor is constrained by its prompt; the paper names no check."),
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


def at_most(case: Document, setup: JurisSetup) -> int:
    """Upper bound on the calls: lengths, then two candidates and a ballot a sentence, editor and assessor."""
    assessed = 3 * ("fine-grained" in setup.ways) + ("holistic" in setup.ways)
    if setup.writer:
        return 1 + 2 * setup.refinements * (setup.variant == "summit") + assessed
    longest = setup.truncated(sys.maxsize, case)
    return setup.jury_size + longest * (2 + setup.jury_size) + (setup.variant == "juris") + assessed


JURIS = Procedure(
    name="juris",
    title="JURIS",
    summary="A heterogeneous jury writes a summary: two generators propose each sentence, the jurors criticise and vote, a "
    "chief editor makes one last pass.",
    paper="Li et al., JURIS: Bringing the Jury System to Multi-Agent Summarization",
    case_kind="document",
    setup=JurisSetup,
    roles=(
        Role("generator", "Generator", "Proposes the next sentence; the two should run on different models."),
        Role("juror", "Juror", "Proposes a length, criticises both candidates, votes.", votes=True),
        Role("editor", "Chief Editor", "Makes one pass over the accepted sentences, without new facts."),
        Role("evaluator", "Evaluator", "Advises the writer in the baseline SummIt; in its paper both are one model."),
        Role(
            "assessor",
            "Assessor",
            "Scores faithfulness, completeness and conciseness of the final text. The run's model never does: it would judge its "
            "own text.",
            own_model=True,
        ),
    ),
    stages=(
        StageKind("length", "Length", "Each juror proposes a length; the majority rule decides."),
        StageKind("sentence", "Sentence", "Two candidates, a critique and a vote of each juror."),
        StageKind("editing", "Editing", "The chief editor's pass."),
        StageKind("alone", "Summary", "A baseline: one model writes all of it."),
        StageKind("refinement", "Refinement", "SummIt: an evaluator advises, the writer refines."),
        StageKind(
            "assessment",
            "Assessment",
            "The assessor scores the text, by key facts and sentence by sentence, and as a whole.",
        ),
    ),
    choices=(
        Choice("A", "Candidate A", tone=0, symbol="circle", mark="●"),
        Choice("B", "Candidate B", tone=1, symbol="square", mark="■"),
    ),
    tasks=(
        *(ProposeLength, NextSentence, CastBallot, Edit),
        *(WriteAlone, Advise, RefineSummary, AnswerAndWrite),
        *(FindKeyFacts, CheckFacts, AlignKeyFacts, Assess),
    ),
    offline=offline.METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    views=VIEWS,
    ending=Ending("Summary", "Text", what_if="What would change this summary?"),
    seating="bench",
    speaks_for=lambda record, call: LETTERS.get(call.member) if call.task == NextSentence.name else None,
    small={"jury_size": 3, "shortest": 2, "longest": 2},
    presets=(
        Preset("Paper", "Five jurors, a fixed jury, two generators, the chief editor.", paper.changes(PAPER)),
        Preset(
            "Paper, with its models",
            "The paper's seven seats, its chief editor and its assessor, each by the model of today that is nearest: all at an Ollama "
            "server, the assessor at OpenAI.",
            paper.changes((*PAPER, *MODELS)),
        ),
        Preset(
            "Seven points of view",
            "For one model in all seats: both generators and the five jurors state what they look at first. Not in the paper.",
            {"points_of_view": dict(SEVEN)},
        ),
        Preset("Dynamic jury", "Five jurors drawn anew from nine for each sentence.", {"jury": "dynamic"}),
        Preset(
            "Without editor",
            "The ablation in which the accepted sentences stand as they are.",
            {"variant": "no-editor"},
        ),
        Preset("One generator alone", "The single-agent baseline.", {"variant": "generator-a"}),
        Preset("SummIt", "The baseline in which an evaluator advises and the writer refines.", {"variant": "summit"}),
        Preset("QA-prompted", "The baseline that answers questions before it writes.", {"variant": "qa-prompt"}),
    ),
    paper_settings=PAPER,
)
