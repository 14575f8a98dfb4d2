"""Six stages, two instances (section 2.2)."""

from courtroom.engine.events import Verdict
from courtroom.procedures.jurisagents import tasks
from courtroom.procedures.jurisagents import trial as steps


async def extension(court: steps.Hearing) -> Verdict:
    """What a case that asks for no judgment ends with."""
    if court.case.asked == "case_analysis":
        return await analyse(court)
    return await add_up(court)


async def analyse(court: steps.Hearing) -> Verdict:
    """Junior and senior judge read the question and state the issue, the assistant looks up, the chief judge chooses."""
    analysis: tasks.QuestionAnalysis | None = None
    issue = ""
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        analysis = await court.ask(court.member("junior"), tasks.AnalyseQuestion(case=steps.material(court)))
        issue = (
            await court.ask(court.member("senior"), tasks.StateIssue(case=steps.material(court), analysis=analysis))
        ).issue
    await court.stage("Retrieval", "retrieval")
    found = await steps.look_up(court, issue or court.case.facts)
    await court.stage("Decision", "decision")
    task = tasks.ChooseOption(case=steps.material(court), analysis=analysis, issue=issue, found=found)
    answer = await court.ask(court.member("chief"), task)
    return Verdict(outcome=answer.choice, summary=answer.reason, details={"choice": answer.choice})


async def add_up(court: steps.Hearing) -> Verdict:
    """Junior and senior judge read the document, the chief judge adds up. Nothing is looked up: no law is in question."""
    information: tasks.DefendantInformation | None = None
    summary = ""
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        trial = steps.Trial(1, court.case.defendant)
        await steps.read(court, trial)
        information, summary = trial.information, trial.summary
    await court.stage("Decision", "decision")
    task = tasks.AddUp(case=steps.material(court), information=information, summary=summary)
    answer = await court.ask(court.member("chief"), task)
    parts = " + ".join(f"{part:,.2f}" for part in answer.parts)
    return Verdict(outcome=f"{answer.amount:,.2f} yuan", summary=parts, details={"amount": answer.amount})


async def deliberate(court: steps.Hearing) -> Verdict:
    """From the facts to a judgment; a defendant who objects gets a second instance, whose judgment is final."""
    if court.setup.variant == "nearest-precedents":
        return await steps.by_precedents(court)
    if court.case.asked != "judgment":
        return await extension(court)
    going_on = everyone = steps.trials(court)
    if court.setup.alone:
        return await alone(court, everyone)

    await court.stage("Information extraction", "extraction")
    going_on = await steps.each(court, going_on, lambda trial: steps.read(court, trial))

    await court.stage("Retrieval", "retrieval")
    going_on = await steps.each(court, going_on, lambda trial: inform(court, trial))

    await court.stage("Decision", "decision")
    going_on = await steps.each(court, going_on, lambda trial: first_instance(court, trial))
    judged = list(going_on)

    if not court.setup.appeal:
        return steps.verdict(court, judged, everyone, "First instance; an appeal was ruled out in the setup.")
    await court.stage("Objection", "objection")
    going_on = await steps.each(court, going_on, lambda trial: respond(court, trial))
    appellants = [trial for trial in going_on if trial.response and not trial.response.accepts]
    if not appellants:
        return steps.verdict(court, judged, everyone)

    await court.stage("Appeal", "appeal")
    appeals: dict[int, tasks.Petition] = {}
    appellants = await steps.each(court, appellants, lambda trial: appeal(court, trial, appeals))

    await court.stage("Second instance", "second-instance")
    await steps.each(court, appellants, lambda trial: second_instance(court, trial, appeals[trial.number]))
    return steps.verdict(court, judged, everyone)


async def inform(court: steps.Hearing, trial: steps.Trial) -> None:
    """The assistant looks things up with the senior judge's summary (stage II)."""
    trial.found = await steps.look_up(court, trial.summary, trial.step)
    if trial.response is None:
        steps.tell_missing(court, trial.found, trial.step)


async def first_instance(court: steps.Hearing, trial: steps.Trial) -> None:
    """The chief judge decides (stage III)."""
    trial.first = await steps.decide(court, trial)


async def respond(court: steps.Hearing, trial: steps.Trial) -> None:
    """The defendant accepts or objects (stage IV)."""
    task = tasks.Respond(case=steps.material(court, trial), judgment=trial.first, reasons=court.setup.reasons)
    trial.response = await court.ask(court.member("defendant"), task, trial.step)


async def appeal(court: steps.Hearing, trial: steps.Trial, appeals: dict[int, tasks.Petition]) -> None:
    """Counsel drafts the petition (stage V)."""
    task = tasks.DraftPetition(
        case=steps.material(court, trial),
        judgment=trial.first,
        objection=trial.response.objection if trial.response else "",
        information=trial.information,
        summary=trial.summary,
    )
    appeals[trial.number] = await court.ask(court.member("counsel"), task, trial.step)


async def second_instance(court: steps.Hearing, trial: steps.Trial, petition: tasks.Petition) -> None:
    """The judges hear the case again with the petition in view; they may uphold (stage VI)."""
    setup, shown = court.setup, tasks.Appealed(petition=petition)
    if setup.first_reading:
        shown = shown.model_copy(update={"information": trial.information, "summary": trial.summary})
    judged = {"first": trial.first}
    await steps.read(court, trial, shown.model_copy(update=judged if setup.first_judgment == "all" else {}))
    if setup.second_look_up:
        await inform(court, trial)
    appealed = tasks.Appealed(petition=petition, first=None if setup.first_judgment == "none" else trial.first)
    trial.final = await steps.decide(court, trial, appealed)


async def alone(court: steps.Hearing, everyone: list[steps.Trial]) -> Verdict:
    """One judge with the facts and what is looked up for them (ablation “w/o MA”, and the plain model)."""
    await court.stage("Retrieval", "retrieval")
    found = await steps.look_up(court, court.case.facts)
    steps.tell_missing(court, found)
    await court.stage("Decision", "decision")

    async def decided(trial: steps.Trial) -> None:
        case = steps.material(court, trial)
        task = tasks.DecideAlone(case=case, found=found, reasons=court.setup.reasons)
        answer = await court.ask(court.member("chief"), task, trial.step)
        trial.first, trial.found = steps.settled(answer.judgment(), case.given), found

    judged = await steps.each(court, everyone, decided)
    return steps.verdict(court, judged, everyone, "One judge alone.")
