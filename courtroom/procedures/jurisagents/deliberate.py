"""Six stages, two instances (section 2.2)."""

from __future__ import annotations

from courtroom.cases.criminal import CriminalCase
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.judging.referred import CaseInformation, charges_of, precedents_of, scores_of, statutes_of
from courtroom.knowledge.search import Search
from courtroom.law.judgment import Judgment
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from courtroom.procedures.jurisagents.tasks import (
    AddUp,
    ChooseOption,
    Decide,
    DecideAlone,
    DefendantInformation,
    DraftPetition,
    ExtractInformation,
    Petition,
    Respond,
    SummariseCase,
)

Hearing = Court[CriminalCase, JurisAgentsSetup]


async def deliberate(court: Hearing) -> Verdict:
    """From the facts to a judgment; where the defendant objects, to the second instance, whose judgment is final."""
    if court.setup.alone:
        return await alone(court)

    await court.stage("Information extraction", "extraction")
    information, summary = await read(court)

    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, summary)

    await court.stage("Decision", "decision")
    if court.case.asked == "case_analysis":
        return await choose(court, summary, found)
    if court.case.asked == "crime_amount":
        return await add_up(court, information, summary)
    first = await decide(court, information, summary, found)

    if not court.setup.appeal:
        return verdict(first, "First instance; an appeal was ruled out in the setup.")
    await court.stage("Objection", "objection")
    response = await court.ask(court.member("defendant"), Respond(case=court.case, judgment=first))
    if response.accepts:
        return verdict(first, "The defendant accepted the judgment of the first instance.")

    await court.stage("Appeal", "appeal")
    task = DraftPetition(case=court.case, judgment=first, objection=response.objection, summary=summary)
    petition = await court.ask(court.member("counsel"), task)

    await court.stage("Second instance", "second-instance")
    information, summary = await read(court, petition)
    final = await decide(court, information, summary, found, petition)
    kept = "The second instance upheld the judgment." if final == first else "The second instance changed the judgment."
    return verdict(final, kept, first)


async def read(court: Hearing, appeal: Petition | None = None) -> tuple[DefendantInformation, str]:
    """Junior and senior judge read the facts (stages I and VI)."""
    extract = ExtractInformation(case=court.case, appeal=appeal)
    information = await court.ask(court.member("junior"), extract)
    summarise = SummariseCase(case=court.case, appeal=appeal, information=information)
    summary = await court.ask(court.member("senior"), summarise)
    return information, summary.summary


async def look_up(court: Hearing, summary: str) -> CaseInformation:
    """The assistant's case information document: statutes and charges dense, precedents hybrid (stage II)."""
    setup, case = court.setup, court.case
    if not setup.recalls:
        return CaseInformation()
    document = CaseInformation()
    if setup.statutes:
        hits = await court.retrieve(
            "statutes", Search(collection="statutes", text=summary, k=setup.statutes, mode=setup.ranking)
        )
        document = document.model_copy(update={"statutes": statutes_of(hits), "statute_scores": scores_of(hits)})
    if setup.charges:
        hits = await court.retrieve(
            "charges", Search(collection="charges", text=summary, k=setup.charges, mode=setup.ranking)
        )
        document = document.model_copy(update={"charges": charges_of(hits), "charge_scores": scores_of(hits)})
    if setup.precedents:
        query = Search(
            collection="cases", text=summary, k=setup.precedents + 2, mode="hybrid", exclude=(case.id,)
        )  # two to spare: the case itself may be among them under another id
        hits = await court.retrieve("precedents", query)
        document = document.model_copy(update={"precedents": precedents_of(hits, case, setup.precedents)})
    return document


async def decide(
    court: Hearing,
    information: DefendantInformation,
    summary: str,
    found: CaseInformation,
    appeal: Petition | None = None,
) -> Judgment:
    """The chief judge's judgment (stages III and VI)."""
    task = Decide(language=court.case.language, information=information, summary=summary, found=found, appeal=appeal)
    return (await court.ask(court.member("chief"), task)).judgment()


async def alone(court: Hearing) -> Verdict:
    """The chief judge with the facts and what is looked up for them (ablation “w/o MA”)."""
    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, court.case.facts)
    await court.stage("Decision", "decision")
    if court.case.asked == "case_analysis":
        return await choose(court, court.case.facts, found)
    if court.case.asked == "crime_amount":
        return await add_up(court, None, court.case.facts)
    answer = await court.ask(court.member("chief"), DecideAlone(case=court.case, found=found))
    return verdict(answer.judgment(), "One judge alone.")


async def choose(court: Hearing, summary: str, found: CaseInformation) -> Verdict:
    """A case analysis ends with the chief judge's choice."""
    answer = await court.ask(court.member("chief"), ChooseOption(case=court.case, summary=summary, found=found))
    return Verdict(outcome=answer.choice, summary=answer.reason, details={"choice": answer.choice})


async def add_up(court: Hearing, information: DefendantInformation | None, summary: str) -> Verdict:
    """A crime amount ends with the chief judge's sum."""
    task = AddUp(case=court.case, information=information, summary=summary)
    answer = await court.ask(court.member("chief"), task)
    parts = " + ".join(f"{part:,.2f}" for part in answer.parts)
    return Verdict(outcome=f"{answer.amount:,.2f} yuan", summary=parts, details={"amount": answer.amount})


def verdict(judgment: Judgment, note: str, first: Judgment | None = None) -> Verdict:
    """The run's verdict, with the first instance's judgment where there were two."""
    details = {"judgment": judgment.model_dump(mode="json")}
    if first is not None:
        details["first_instance"] = first.model_dump(mode="json")
    return Verdict(outcome="; ".join(judgment.charges), summary=str(judgment), note=note, details=details)
