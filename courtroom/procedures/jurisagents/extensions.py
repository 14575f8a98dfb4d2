"""The two further tasks of section 4.4: a case analysis with four options, and the amount of a crime."""

from __future__ import annotations

from courtroom.engine.events import Verdict
from courtroom.procedures.jurisagents.questions import AnalyseQuestion, ChooseOption, QuestionAnalysis, StateIssue
from courtroom.procedures.jurisagents.tasks import AddUp, DefendantInformation
from courtroom.procedures.jurisagents.trial import Hearing, Trial, look_up, material, read


async def extension(court: Hearing) -> Verdict:
    """What a case that asks for no judgment ends with."""
    if court.case.asked == "case_analysis":
        return await analyse(court)
    return await add_up(court)


async def analyse(court: Hearing) -> Verdict:
    """Junior and senior judge read the question and state the issue, the assistant looks up, the chief judge chooses."""
    analysis: QuestionAnalysis | None = None
    issue = ""
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        analysis = await court.ask(court.member("junior"), AnalyseQuestion(case=material(court)))
        issue = (await court.ask(court.member("senior"), StateIssue(case=material(court), analysis=analysis))).issue
    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, issue or court.case.facts)
    await court.stage("Decision", "decision")
    task = ChooseOption(case=material(court), analysis=analysis, issue=issue, found=found)
    answer = await court.ask(court.member("chief"), task)
    return Verdict(outcome=answer.choice, summary=answer.reason, details={"choice": answer.choice})


async def add_up(court: Hearing) -> Verdict:
    """Junior and senior judge read the document, the chief judge adds up. Nothing is looked up: no law is in question."""
    information: DefendantInformation | None = None
    summary = ""
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        trial = Trial(1, court.case.defendant)
        await read(court, trial)
        information, summary = trial.information, trial.summary
    await court.stage("Decision", "decision")
    task = AddUp(case=material(court), information=information, summary=summary)
    answer = await court.ask(court.member("chief"), task)
    parts = " + ".join(f"{part:,.2f}" for part in answer.parts)
    return Verdict(outcome=f"{answer.amount:,.2f} yuan", summary=parts, details={"amount": answer.amount})
