"""What JURIS declares of itself."""

from __future__ import annotations

from pathlib import Path

from courtroom.cases.document import Document
from courtroom.engine.procedure import Choice, Preset, Procedure, Role, StageKind
from courtroom.procedures.juris.deliberate import deliberate
from courtroom.procedures.juris.offline import METHODS
from courtroom.procedures.juris.setup import JurisSetup, members
from courtroom.procedures.juris.tasks import Assess, CastBallot, Edit, NextSentence, ProposeLength, WriteAlone
from courtroom.procedures.juris.views import LETTERS, VIEWS


def at_most(case: Document, setup: JurisSetup) -> int:
    """Upper bound on the calls: lengths, then two candidates and a ballot a sentence, editor and assessor."""
    assessed = 1 if setup.assess else 0
    if setup.alone:
        return 1 + assessed
    return setup.jury_size + setup.longest * (2 + setup.jury_size) + (setup.variant == "juris") + assessed


JURIS = Procedure(
    name="juris",
    title="JURIS",
    summary="A heterogeneous jury writes a summary: two generators propose each sentence, the jurors criticise and vote, a "
    "chief editor makes one last pass.",
    paper="Li et al., JURIS: Bringing the Jury System to Multi-Agent Summarization",
    hears="document",
    setup=JurisSetup,
    roles=(
        Role("generator", "Generator", "Proposes the next sentence; the two should run on different models."),
        Role("juror", "Juror", "Proposes a length, criticises both candidates, votes.", votes=True),
        Role("editor", "Chief Editor", "Makes one pass over the accepted sentences, without new facts."),
        Role("assessor", "Assessor", "Scores faithfulness, completeness and conciseness of the final text."),
    ),
    stages=(
        StageKind("length", "Length", "Each juror proposes a length; the majority rule decides."),
        StageKind("sentence", "Sentence", "Two candidates, a critique and a vote of each juror."),
        StageKind("editing", "Editing", "The chief editor's pass."),
        StageKind("alone", "Summary", "The baseline: one generator writes all of it."),
        StageKind("assessment", "Assessment", "A judge model scores the text."),
    ),
    choices=(
        Choice("A", "Candidate A", tone=0, symbol="circle", mark="●"),
        Choice("B", "Candidate B", tone=1, symbol="square", mark="■"),
    ),
    tasks=(ProposeLength, NextSentence, CastBallot, Edit, WriteAlone, Assess),
    offline=METHODS,
    prompts=Path(__file__).parent / "prompts",
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    views=VIEWS,
    seating="bench",
    speaks_for=lambda record, call: LETTERS.get(call.member) if call.task == NextSentence.name else None,
    presets=(
        Preset("Paper", "Five jurors, a fixed jury, two generators, the chief editor.", {}),
        Preset("Dynamic jury", "Five jurors drawn anew from nine for each sentence.", {"jury": "dynamic"}),
        Preset(
            "Without editor",
            "The ablation in which the accepted sentences stand as they are.",
            {"variant": "no-editor"},
        ),
        Preset("One generator alone", "The single-agent baseline.", {"variant": "generator-a"}),
    ),
)
