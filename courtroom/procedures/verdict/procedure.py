"""The panel analyses, drafts and reviews in turns, and decides (section 3.2); then the memory learns (3.4.2). What VERDICT declares of itself."""

from collections.abc import Sequence
from typing import Any

from courtroom import CriminalCase, Fetch, Procedure, Search, Verdict
from courtroom.declarations.parts import Learns
from courtroom.judging.criminal import candidates
from courtroom.judging.views import compared, retrieved
from courtroom.law import Statute
from courtroom.procedures.declared import declared
from courtroom.procedures.verdict import tasks
from courtroom.procedures.verdict.learning import Hearing, Trajectory, known, learn, recall
from courtroom.procedures.verdict.offline import METHODS
from courtroom.procedures.verdict.setup import VerdictSetup, members
from courtroom.procedures.verdict.views import flow, learned, memory, turns

Statutes = tuple[Statute, ...]


async def deliberate(court: Hearing) -> Verdict:
    """From the facts to a final judgment; in a training run, then to what is learned of it."""
    if court.setup.alone:
        return await alone(court)

    await court.stage("Pre-adjudication", "analysis")
    points = (await court.ask(court.member("clerk"), tasks.ExtractPoints(case=court.case))).points
    statutes = await shortlist(court, points)
    memory = await recall(court, statutes)
    in_view: dict[str, Any] = {"statutes": statutes, **memory.shown()}

    turns: tuple[tasks.Turn, ...] = ()
    while not (turns and turns[-1].passed) and len(turns) < court.setup.turns:
        await court.stage(f"Turn {len(turns) + 1}", "turn")
        # The judge drafts without the memory (Eq. 3), the supervisor checks the draft with it.
        case, first = court.case, court.setup.reasons_first
        opinion = tasks.DraftOpinion(case=case, points=points, statutes=statutes, turns=turns, reasons_first=first)
        draft = await court.ask(court.member("judge"), opinion)
        check = tasks.Verify(case=case, draft=draft, reasons_first=first, **in_view)
        said = await court.ask(court.member("supervisor"), check)
        turns = (*turns, tasks.Turn(draft=draft, passed=not said.need_rejudge, feedback=said.suggestions))

    await court.stage("Final adjudication", "final")
    task = tasks.Preside(case=court.case, points=points, turns=turns, fuller=court.setup.fuller, **in_view)
    final = await court.ask(court.member("presiding"), task)

    if court.panel("meta") and known(court.unsealed.gold):
        await court.stage("Learning", "learning")
        await learn(court, Trajectory(turns, final, memory.directives))
    drafted = tuple(turn.draft.predicted_article for turn in reversed(turns))
    return verdict(court, final, how_it_passed(turns), statutes, drafted)


async def alone(court: Hearing) -> Verdict:
    """One judge without a panel, with statutes and memory (ablation “w/o MAS”, table 3)."""
    await court.stage("Retrieval", "analysis")
    statutes = await coarse_statutes(court, court.case.facts)
    memory = await recall(court, statutes)
    await court.stage("Final adjudication", "final")
    task = tasks.JudgeAlone(case=court.case, statutes=statutes, fuller=court.setup.fuller, **memory.shown())
    return verdict(court, await court.ask(court.member("presiding"), task), "One judge alone.", statutes)


async def coarse_statutes(court: Hearing, text: str) -> Statutes:
    """S_vec: the coarse set (Eq. 1)."""
    setup = court.setup
    query = Search(collection="statutes", text=text, k=setup.statutes, mode=setup.ranking, base=setup.base)
    return tuple(Statute.model_validate(hit.record) for hit in await court.retrieve("statutes", query))


async def shortlist(court: Hearing, points: tuple[str, ...]) -> Statutes:
    """S_statute: the assistant's shortlist, with the texts of articles that it added itself (Eq. 2). A number brings all its texts that
    were found: 133 is a traffic accident, 133-1 dangerous driving."""
    known = await coarse_statutes(court, "\n".join(points))
    task = tasks.Rerank(case=court.case, points=points, candidates=known, about=court.setup.shortlist)
    chosen = (await court.ask(court.member("assistant"), task)).articles
    if missing := [number for number in chosen if number not in {statute.number for statute in known}]:
        wanted = Fetch(collection="statutes", ids=tuple(map(str, missing)), under=True, base=court.setup.base)
        added = [Statute.model_validate(hit.record) for hit in await court.retrieve("added", wanted)]
        known = (*known, *sorted(added, key=lambda statute: statute.suffix))
    return tuple(statute for number in chosen for statute in known if statute.number == number)


def verdict(
    court: Hearing, final: tasks.FinalJudgment, note: str, statutes: Statutes, drafted: tuple[int, ...] = ()
) -> Verdict:
    """The run's verdict, with what came into question for Hit@2."""
    judgment = final.judgment()
    ranked = candidates(judgment, statutes, court.case.language, drafted)
    details = {"judgment": judgment.model_dump(mode="json"), "candidates": ranked}
    return Verdict(outcome=judgment.outcome, summary=f"{judgment}\n\n{final.thought}", note=note, details=details)


def how_it_passed(turns: Sequence[tasks.Turn]) -> str:
    """How the loop of drafts went, in a sentence."""
    rejections = sum(not turn.passed for turn in turns)
    if not rejections:
        return "The first draft passed."
    if turns[-1].passed:
        return f"The draft passed in turn {len(turns)}, after {rejections} rejection{'s' * (rejections > 1)}."
    return f"No draft passed in {len(turns)} turns; the presiding judge decided with all of them in view."


def refuses(case: CriminalCase, setup: VerdictSetup) -> str:
    """Why a case can't be heard: it asks a question."""
    is_question = case.asked != "judgment"
    return "VERDICT gives judgments and answers no question. Hear this case with JurisAgents." if is_question else ""


def at_most(case: CriminalCase, setup: VerdictSetup) -> int:
    """Upper bound on the calls: clerk, assistant, two a turn, presiding judge, three of the meta-model."""
    learns = 3 if setup.learns and setup.directs and known(case.gold) else 0
    return (1 if setup.alone else 3 + 2 * setup.turns) + learns


VERDICT = Procedure(
    **declared(
        __file__, METHODS, draws=(flow, turns, retrieved, memory, learned, lambda record: {"": compared(record)})
    ),
    setup=VerdictSetup,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    refuses=refuses,
    learns=Learns("learning.on", "memory", lambda setup: setup.can_learn),
)
