"""What VERDICT declares of itself."""

from pathlib import Path

from courtroom.cases.criminal import CriminalCase
from courtroom.engine import paper
from courtroom.engine.procedure import Ending, Learns, Preset, Procedure, Role, StageKind
from courtroom.procedures.verdict.deliberate import deliberate
from courtroom.procedures.verdict.learning import known
from courtroom.procedures.verdict.offline import METHODS
from courtroom.procedures.verdict.setup import MODELS, PAPER, TRAINS, VerdictSetup, members
from courtroom.procedures.verdict.tasks import (
    Consolidate,
    DraftOpinion,
    ExtractPoints,
    Induce,
    JudgeAlone,
    Preside,
    RefineDirective,
    Rerank,
    Verify,
)
from courtroom.procedures.verdict.views import VIEWS


def at_most(case: CriminalCase, setup: VerdictSetup) -> int:
    """Upper bound on the calls: clerk, assistant, two a turn, presiding judge, three of the meta-model."""
    learns = 3 if setup.learns and setup.directs and known(case.gold) else 0
    return (1 if setup.alone else 3 + 2 * setup.turns) + learns


TASKS = (ExtractPoints, Rerank, DraftOpinion, Verify, Preside, JudgeAlone, Induce, RefineDirective, Consolidate)

VERDICT = Procedure(
    name="verdict",
    title="VERDICT",
    summary="A collegial panel predicts a criminal judgment: clerk and assistant prepare, a judge drafts, a supervisor passes "
    "or rejects with a memory of standards and micro-directives in view, the presiding judge decides; the memory learns "
    "from training runs.",
    paper="Liao et al. (2026), VERDICT: Verifiable Evolving Reasoning with Directive-Informed Collegial Teams for Legal "
    "Judgment Prediction",
    case_kind="criminal",
    setup=VerdictSetup,
    roles=(
        Role("clerk", "Court Clerk", "Lists the points of the facts that matter."),
        Role("assistant", "Judicial Assistant", "Picks about five articles from those found, and may add its own."),
        Role("judge", "Case-handling Judge", "Drafts; the memory is out of its sight. The paper's expert model."),
        Role("supervisor", "Adjudication Supervisor", "Passes a draft or rejects it with advice, the memory in view."),
        Role(
            "presiding",
            "Presiding Judge",
            "Decides on articles, charges and term, with all that the panel has produced.",
        ),
        Role(
            "meta", "Meta-model", "In a training run: writes, sharpens and merges micro-directives after the verdict."
        ),
    ),
    stages=(
        StageKind("analysis", "Pre-adjudication", "Event points, statutes, and what the memory recalls."),
        StageKind("turn", "Turn", "A draft and its verification; a rejection leads to the next turn."),
        StageKind("final", "Final adjudication", "The presiding judge decides."),
        StageKind("learning", "Learning", "In a training run whose real judgment is known, the memory learns."),
    ),
    choices=(),
    tasks=TASKS,
    offline={task: METHODS[task] for task in TASKS},
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    looks_in=("statutes", "standards", "directives"),
    at_most=at_most,
    learns=Learns("learning.on", "memory", lambda setup: setup.can_learn),
    ending=Ending("Judgment", what_if="What would change this judgment?"),
    seating="rows",
    views=VIEWS,
    small={"turns": 2},
    presets=(
        Preset("Paper", "The published settings; the memory is read and not taught.", paper.changes(PAPER)),
        Preset(
            "Paper, with its models",
            "DeepSeek-V3 for all, Qwen2.5-7B-Instruct for the judge, which the paper has trained further, and its embedding.",
            paper.changes((*PAPER, *MODELS)),
        ),
        Preset("Training run", "The published settings; the memory learns.", paper.changes((*PAPER, TRAINS))),
        Preset("Without memory", "The ablation without standards and directives.", {"variant": "no-memory"}),
        Preset("Without micro-directives", "The ablation with standards alone.", {"variant": "no-directives"}),
        Preset("Without other agents", "The ablation with one judge, statutes and memory.", {"variant": "no-agents"}),
    ),
    paper_settings=PAPER,
)
