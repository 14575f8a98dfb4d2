"""Six stages, two instances (section 2.2)."""

from __future__ import annotations

from courtroom.engine.events import Verdict
from courtroom.procedures.jurisagents.extensions import extension
from courtroom.procedures.jurisagents.nearest import by_precedents
from courtroom.procedures.jurisagents.tasks import Appealed, DecideAlone, DraftPetition, Respond
from courtroom.procedures.jurisagents.trial import (
    Hearing,
    Trial,
    decide,
    each,
    look_up,
    material,
    read,
    settled,
    tell_missing,
    trials,
)
from courtroom.procedures.jurisagents.verdict import verdict


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
        return verdict(judged, everyone, "First instance; an appeal was ruled out in the setup.")
    await court.stage("Objection", "objection")
    going_on = await each(court, going_on, lambda trial: respond(court, trial))
    appellants = [trial for trial in going_on if trial.response and not trial.response.accepts]
    if not appellants:
        return verdict(judged, everyone)

    await court.stage("Appeal", "appeal")
    appeals: dict[int, Appealed] = {}
    appellants = await each(court, appellants, lambda trial: appeal(court, trial, appeals))

    await court.stage("Second instance", "second-instance")
    await each(court, appellants, lambda trial: second_instance(court, trial, appeals[trial.number]))
    return verdict(judged, everyone)


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


async def appeal(court: Hearing, trial: Trial, appeals: dict[int, Appealed]) -> None:
    """Counsel drafts the petition (stage V)."""
    task = DraftPetition(
        case=material(court, trial),
        judgment=trial.first,
        objection=trial.response.objection if trial.response else "",
        information=trial.information,
        summary=trial.summary,
    )
    petition = await court.ask(court.member("counsel"), task, trial.step)
    appeals[trial.number] = Appealed(first=trial.first, petition=petition)


async def second_instance(court: Hearing, trial: Trial, appealed: Appealed) -> None:
    """The judges hear the case again, with the first judgment and the appeal in view; they may uphold (stage VI)."""
    await read(court, trial, appealed)
    if court.setup.second_look_up:
        await inform(court, trial)
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
        trial.first = settled(answer.judgment(), case.given)

    judged = await each(court, everyone, decided)
    return verdict(judged, everyone, "One judge alone.")
