"""Six stages, two instances (section 2.2)."""

from __future__ import annotations

from courtroom.engine.events import Verdict
from courtroom.procedures.jurisagents.tasks import (
    AddUp,
    AnalyseQuestion,
    Appealed,
    ChooseOption,
    DecideAlone,
    DefendantInformation,
    DraftPetition,
    Petition,
    QuestionAnalysis,
    Respond,
    StateIssue,
)
from courtroom.procedures.jurisagents.trial import (
    Hearing,
    Trial,
    by_precedents,
    decide,
    each,
    look_up,
    material,
    read,
    settled,
    tell_missing,
    trials,
    verdict,
)


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


async def deliberate(court: Hearing) -> Verdict:
    """From the facts to a judgment; a defendant who objects gets a second instance, whose judgment is final."""
    if court.setup.variant == "nearest-precedents":
        return await by_precedents(court)
    if court.case.asked != "judgment":
        return await extension(court)
    going_on = everyone = trials(court)
    if court.setup.alone:
        return await alone(court, everyone)

    await court.stage("Information extraction", "extraction")
    going_on = await each(court, going_on, lambda trial: read(court, trial))

    await court.stage("Retrieval", "retrieval")
    going_on = await each(court, going_on, lambda trial: inform(court, trial))

    await court.stage("Decision", "decision")
    going_on = await each(court, going_on, lambda trial: first_instance(court, trial))
    judged = list(going_on)

    if not court.setup.appeal:
        return verdict(court, judged, everyone, "First instance; an appeal was ruled out in the setup.")
    await court.stage("Objection", "objection")
    going_on = await each(court, going_on, lambda trial: respond(court, trial))
    appellants = [trial for trial in going_on if trial.response and not trial.response.accepts]
    if not appellants:
        return verdict(court, judged, everyone)

    await court.stage("Appeal", "appeal")
    appeals: dict[int, Petition] = {}
    appellants = await each(court, appellants, lambda trial: appeal(court, trial, appeals))

    await court.stage("Second instance", "second-instance")
    await each(court, appellants, lambda trial: second_instance(court, trial, appeals[trial.number]))
    return verdict(court, judged, everyone)


async def inform(court: Hearing, trial: Trial) -> None:
    """The assistant looks things up with the senior judge's summary (stage II)."""
    trial.found = await look_up(court, trial.summary, trial.step)
    if trial.response is None:
        tell_missing(court, trial.found, trial.step)


async def first_instance(court: Hearing, trial: Trial) -> None:
    """The chief judge decides (stage III)."""
    trial.first = await decide(court, trial)


async def respond(court: Hearing, trial: Trial) -> None:
    """The defendant accepts or objects (stage IV)."""
    task = Respond(case=material(court, trial), judgment=trial.first, reasons=court.setup.reasons)
    trial.response = await court.ask(court.member("defendant"), task, trial.step)


async def appeal(court: Hearing, trial: Trial, appeals: dict[int, Petition]) -> None:
    """Counsel drafts the petition (stage V)."""
    task = DraftPetition(
        case=material(court, trial),
        judgment=trial.first,
        objection=trial.response.objection if trial.response else "",
        information=trial.information,
        summary=trial.summary,
    )
    appeals[trial.number] = await court.ask(court.member("counsel"), task, trial.step)


async def second_instance(court: Hearing, trial: Trial, petition: Petition) -> None:
    """The judges hear the case again with the petition in view; they may uphold (stage VI)."""
    setup, shown = court.setup, Appealed(petition=petition)
    if setup.first_reading:
        shown = shown.model_copy(update={"information": trial.information, "summary": trial.summary})
    judged = {"first": trial.first}
    await read(court, trial, shown.model_copy(update=judged if setup.first_judgment == "all" else {}))
    if setup.second_look_up:
        await inform(court, trial)
    appealed = Appealed(petition=petition, first=None if setup.first_judgment == "none" else trial.first)
    trial.final = await decide(court, trial, appealed)


async def alone(court: Hearing, everyone: list[Trial]) -> Verdict:
    """One judge with the facts and what is looked up for them (ablation “w/o MA”, and the plain model)."""
    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, court.case.facts)
    tell_missing(court, found)
    await court.stage("Decision", "decision")

    async def decided(trial: Trial) -> None:
        case = material(court, trial)
        task = DecideAlone(case=case, found=found, reasons=court.setup.reasons)
        answer = await court.ask(court.member("chief"), task, trial.step)
        trial.first, trial.found = settled(answer.judgment(), case.given), found

    judged = await each(court, everyone, decided)
    return verdict(court, judged, everyone, "One judge alone.")
