"""What JurisAgents declares of itself."""

from pathlib import Path

from courtroom.cases.criminal import CriminalCase
from courtroom.engine import paper
from courtroom.engine.paper import PaperSetting
from courtroom.engine.procedure import Ending, Preset, Procedure, Role, StageKind
from courtroom.procedures.jurisagents import tasks
from courtroom.procedures.jurisagents.deliberate import deliberate
from courtroom.procedures.jurisagents.offline import METHODS
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup, members
from courtroom.procedures.jurisagents.views import VIEWS

PAPER: tuple[PaperSetting, ...] = (
    PaperSetting("model.temperature", 0.0, "4.1, C", "For hosted models; open ones are averaged over three runs."),
    PaperSetting("variant", "jurisagents", "2.1", "Six roles; the ablations of table 1 are the other variants."),
    PaperSetting("statutes", 10, "2.2, stage II"),
    PaperSetting("charges", 10, "2.2, stage II"),
    PaperSetting("precedents", 5, "2.2, stage II"),
    PaperSetting("ranking", "dense", "2.2, stage II", "Appendix B.1 speaks of hybrid retrieval throughout."),
    PaperSetting("dense_weight", 1.0, "B.1", "Dense results are primary; the number is ours."),
    PaperSetting("words_weight", 0.3, "B.1", "Sparse results are supplementary; the number is ours."),
    PaperSetting("appeal", True, "2.2, stages IV to VI"),
    PaperSetting("first_judgment", "none", "D, tables 11 to 13"),
    PaperSetting("first_reading", False, "D, tables 11 and 12", "Section 2.2, stage VI, speaks of the same documents."),
    PaperSetting(
        "pictures", True, "4.4, table 2", "Its JurisMM-Text has no pictures; table 2 compares with and without."
    ),
    PaperSetting("defendants", "primary", "D, table 6"),
    PaperSetting("reasons", False, "D, tables 8 and 9", "They forbid thoughts in the output."),
)

MODELS: tuple[PaperSetting, ...] = (
    PaperSetting("model.id", "openai/gpt-4o", "4.1", "All agents are GPT-4o; the paper names no dated version."),
    PaperSetting(
        "embedding", "local/qwen3-embedding-0.6b", "B.1", "By meaning; the paper names no encoder, so this one is ours."
    ),
)


def at_most(case: CriminalCase, setup: JurisAgentsSetup) -> int:
    """Upper bound on the calls: three judges, defendant and counsel, three judges again, for each who is judged."""
    if setup.variant == "nearest-precedents":
        return 0
    tried = len(case.defendants) if setup.defendants == "each" and case.asked == "judgment" else 1
    if setup.alone:
        return max(1, tried)
    return (8 if setup.appeal and case.asked == "judgment" else 3) * max(1, tried)


JURISAGENTS = Procedure(
    name="jurisagents",
    title="JurisAgents",
    summary="Three judges, an assistant, the defendant and counsel hear a criminal case in six stages and predict articles, "
    "charges and term; a defendant who objects gets a second instance.",
    paper="Anonymous (2025), JurisAgents: A Multi-Agent Framework for Legal Judgment Prediction, ACL submission",
    case_kind="criminal",
    setup=JurisAgentsSetup,
    roles=(
        Role("junior", "Junior Judge", "Sets out the defendant's acts, their consequences and the state of mind."),
        Role("senior", "Senior Judge", "Sums the case up in one paragraph."),
        Role("assistant", "Assistant", "Looks up statutes, charges and precedents; no model is asked for it."),
        Role("chief", "Chief Judge", "Decides on articles, charges and term."),
        Role("defendant", "Defendant", "Accepts the judgment, or objects with a reason."),
        Role("counsel", "Legal Counsel", "Drafts the appeal petition."),
    ),
    stages=(
        StageKind("extraction", "Information extraction", "Junior and senior judge read the facts, or the question."),
        StageKind("retrieval", "Retrieval", "The assistant puts together the case information document."),
        StageKind("decision", "Decision", "The chief judge decides."),
        StageKind("objection", "Objection", "The defendant accepts or objects."),
        StageKind("appeal", "Appeal", "Counsel drafts the petition."),
        StageKind("second-instance", "Second instance", "The judges hear the case again with the appeal in view."),
    ),
    choices=(),
    tasks=(
        *(
            tasks.ExtractInformation,
            tasks.SummariseCase,
            tasks.Decide,
            tasks.DecideAlone,
            tasks.Respond,
            tasks.DraftPetition,
        ),
        *(tasks.AnalyseQuestion, tasks.StateIssue, tasks.ChooseOption, tasks.AddUp),
    ),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    looks_in=("statutes", "charges", "cases"),
    at_most=at_most,
    ending=Ending("Judgment", what_if="What would change this judgment?"),
    seating="rows",
    views=VIEWS,
    paper_settings=PAPER,
    small={"appeal": False},
    presets=(
        Preset("Paper", "Six roles, ten statutes, ten charges, five precedents, two instances.", paper.changes(PAPER)),
        Preset(
            "Paper, with its models",
            "The same with GPT-4o in every role, and look-ups by meaning.",
            paper.changes((*PAPER, *MODELS)),
        ),
        Preset("Without knowledge base", "The ablation in which nothing is looked up.", {"variant": "no-knowledge"}),
        Preset("Without other agents", "The ablation in which one judge decides alone.", {"variant": "no-agents"}),
        Preset("Single model", "The baseline: one judge with the facts alone.", {"variant": "single-model"}),
        Preset(
            "Nearest precedents",
            "A baseline without a model: what was decided in the five nearest precedents stands.",
            {"variant": "nearest-precedents"},
        ),
        Preset(
            "Nearest precedent alone",
            "A baseline without a model: the judgment of the nearest precedent stands.",
            {"variant": "nearest-precedents", "precedents": 1},
        ),
        Preset("Text only", "Without the key frames and their descriptions (table 2).", {"pictures": False}),
        Preset("Each defendant", "Facts, charges and term for every defendant of a case.", {"defendants": "each"}),
    ),
)
