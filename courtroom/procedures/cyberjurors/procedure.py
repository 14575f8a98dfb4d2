"""What CyberJurors declares of itself."""

from pathlib import Path

from courtroom.cases.dispute import SIDES, Dispute
from courtroom.engine.paper import PaperSetting, changes
from courtroom.engine.procedure import Controls, Counting, Preset, Procedure, Role, StageKind
from courtroom.judging.dispute_weights import CHOICES
from courtroom.judging.first_ballot import BestReasons, best_reasons
from courtroom.procedures.cyberjurors.deliberate import deliberate
from courtroom.procedures.cyberjurors.offline import METHODS
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup, members, without_one
from courtroom.procedures.cyberjurors.tasks import (
    PEERS,
    AnalyseDispute,
    ExtractFocus,
    Judge,
    JudgeAtOnce,
    PerceiveEvidence,
    SelectEvidence,
    Summarise,
)
from courtroom.procedures.cyberjurors.views import VIEWS

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
    PaperSetting("clues", "for-and-against", "Eq. 3", "Prompt E.5 asks for what is in favour of the side."),
    PaperSetting("key_media", None, "E.6", "The paper gives no limit."),
    PaperSetting("field_order", "paper", "E.4, E.5, E.7"),
    PaperSetting("personas", "own", "4.2"),
    PaperSetting("private_ballots", False, "Algorithm 1", "Nobody is asked in private."),
    PaperSetting("tie", "buyer", "Eq. 10", "The seller wins with strictly more votes."),
    PaperSetting("model.temperature", 0.7, "C.1"),
    PaperSetting("model.max_tokens", 2048, "C.1"),
)

MODEL = "gemini/gemini-2.5-flash-lite"
"""Gemini-2.5-Flash-Lite-Nothinking (section 5), which has no thinking unless it is asked for."""
MODELS = (
    PaperSetting("model.id", MODEL, "5"),
    PaperSetting("embedding", "local/longformer", "B.2", "It encodes precedents; here norms and personas too."),
)


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
    verdicts = (
        1
        if setup.single
        else max(setup.rounds, 2 if setup.begins is not None else 1)
        * (jurors * (2 if setup.private_ballots else 1) + 1)
    )
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
    tasks=(ExtractFocus, SelectEvidence, PerceiveEvidence, AnalyseDispute, Judge, JudgeAtOnce, Summarise, BestReasons),
    offline={**METHODS, BestReasons: best_reasons},
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    looks_in=("precedents",),
    at_most=at_most,
    views=VIEWS,
    without_one=without_one,
    controls=Controls(
        seats="jury_size",
        samples={"rounds": 1, "personas": "none"},
        no_talk={"rounds": 1},
        oneself={"jury_size": 1, "consensus": 1.0, "graph.kind": "none"},
        no_personas={"personas": "none"},
        placebo={"personas": "others"},
        not_kept=("first_votes", "empty_seats"),
    ),
    peers=PEERS,
    counting=lambda setup: Counting(above=setup.consensus, tie=setup.tie),
    paper_settings=PAPER,
    small={"jury_size": 3, "rounds": 2, "grounding_rounds": 1},
    presets=(
        Preset(
            "Paper",
            "17 jurors, three rounds; each juror examines the evidence for itself, as its persona would.",
            changes(PAPER),
        ),
        Preset(
            "Paper, with its model",
            f"The same, answered by `{MODEL}`, the paper's model as it can be had today. The embedding is the paper's too; it needs "
            "the extra `embeddings`.",
            changes((*PAPER, *MODELS)),
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
            "A baseline without a model: the votes on record of the three closest precedents decide.",
            {"variant": "nearest-precedents"},
        ),
        Preset(
            "Nearest precedent alone",
            "A baseline without a model: the votes on record of the closest precedent decide.",
            {"variant": "nearest-precedents", "precedents": 1},
        ),
    ),
)
