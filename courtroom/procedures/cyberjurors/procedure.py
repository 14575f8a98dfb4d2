"""What CyberJurors declares of itself."""

from __future__ import annotations

from pathlib import Path

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.engine.paper import PaperSetting, changes
from courtroom.engine.procedure import Counting, Preset, Procedure, Role, StageKind
from courtroom.judging.dispute_sides import CHOICES
from courtroom.procedures.cyberjurors.deliberate import deliberate
from courtroom.procedures.cyberjurors.offline.answers import METHODS
from courtroom.procedures.cyberjurors.paper import MODEL, PAPER
from courtroom.procedures.cyberjurors.peers import PEERS
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, members, without_one
from courtroom.procedures.cyberjurors.tasks import (
    AnalyseDispute,
    ExtractFocus,
    Judge,
    JudgeAtOnce,
    PerceiveEvidence,
    SelectEvidence,
    Summarise,
)
from courtroom.procedures.cyberjurors.views import VIEWS


def at_most(case: Dispute, setup: CyberJurorsSetup) -> int:
    """Upper bound on the calls: examinations, then a verdict a juror and a summary in each round."""
    jurors = len(setup.taken)
    if setup.variant == "nearest-precedents":
        return 0
    if not setup.examines:
        return 1
    looks = [min(setup.pieces, len(case.by_side(side))) for side in SIDES]
    selects = [min(setup.pieces, max(0, len(case.by_side(side)) - 1)) for side in SIDES]
    examinations = 1 if setup.examination == "shared" else jurors
    verdicts = 1 if setup.single else setup.rounds * (jurors + 1)
    return examinations * (2 + sum(looks) + sum(selects)) + verdicts


CYBERJURORS = Procedure(
    name="cyberjurors",
    title="CyberJurors",
    summary="A jury with personas judges an e-commerce dispute: each juror examines the evidence in four steps, then "
    "they discuss in rounds over a follow-graph, guided by norms from earlier verdicts.",
    paper="Sun et al. (2026), CyberJurors: A Multi-Agent Simulation Task for E-Commerce Disputes Verdict, arXiv:2605.28369",
    case_kind="dispute",
    setup=CyberJurorsSetup,
    roles=(
        Role("juror", "Juror", "Examines the evidence, hears those whom it follows, votes.", votes=True),
        Role("examiner", "Examiner", "Examines the evidence once for all, where the examination is shared."),
        Role("clerk", "Clerk", "Writes the collective summary after each round."),
    ),
    stages=(
        StageKind("evidence", "Evidence", "Stages I to III: focus, clues of each side apart, adversarial analysis."),
        StageKind("precedents", "Precedents", "Norms of similar earlier verdicts are handed out by persona."),
        StageKind("round", "Round", "Stage IV: every juror votes, then the clerk sums up."),
        StageKind("verdict", "Verdict", "The majority of the last round decides."),
    ),
    choices=CHOICES,
    tasks=(ExtractFocus, SelectEvidence, PerceiveEvidence, AnalyseDispute, Judge, JudgeAtOnce, Summarise),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    looks_in=("precedents",),
    at_most=at_most,
    views=VIEWS,
    without_one=without_one,
    peers=PEERS,
    counting=lambda setup: Counting(above=setup.consensus, tie=setup.tie),
    paper_settings=PAPER,
    presets=(
        Preset(
            "Paper",
            "17 jurors, three rounds; each juror examines the evidence for itself, as its persona would.",
            changes(PAPER),
        ),
        Preset(
            "Paper, with its model",
            f"The same, answered by `{MODEL}`, the paper's model as it can be had today.",
            changes((*PAPER, PaperSetting("model.id", MODEL, "5"))),
        ),
        Preset(
            "Economical",
            "17 jurors share one examination: the same discussion at a fraction of the cost.",
            {"examination": "shared"},
        ),
        Preset(
            "Quick demo",
            "7 jurors, a shared examination, two rounds.",
            {"jury_size": 7, "examination": "shared", "rounds": 2, "grounding_rounds": 2},
        ),
        Preset("Single model", "The baseline: one model, one question, no rules.", {"variant": "baseline"}),
        Preset(
            "Nearest precedents",
            "A baseline without a model: the real votes on the three closest precedents decide.",
            {"variant": "nearest-precedents"},
        ),
        Preset(
            "Nearest precedent alone",
            "A baseline without a model: the real votes on the closest precedent decide.",
            {"variant": "nearest-precedents", "precedents": 1},
        ),
    ),
)
