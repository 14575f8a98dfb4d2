"""Analysis, draft and review in turns, final adjudication (section 3.2); then what the memory learns (section 3.4.2)."""

from __future__ import annotations

from itertools import count

from courtroom.engine.events import Verdict
from courtroom.knowledge.search import Fetch, Search
from courtroom.law.statute import Statute
from courtroom.procedures.verdict.learning import Hearing, Trajectory, learn
from courtroom.procedures.verdict.recall import recall
from courtroom.procedures.verdict.tasks import (
    DraftOpinion,
    ExtractPoints,
    Preside,
    Rerank,
    Turn,
    Verify,
)
from courtroom.procedures.verdict.verdict import told, verdict

Statutes = tuple[Statute, ...]


async def deliberate(court: Hearing) -> Verdict:
    """From the facts to a final judgment, and what was learned of it."""
    if court.setup.alone:
        await court.stage("Retrieval", "analysis")
        statutes = await coarse(court, court.case.facts)
        await court.stage("Final adjudication", "final")
        final = await court.ask(
            court.member("presiding"), Preside(case=court.case, draft=None, passed=False, statutes=statutes)
        )
        return verdict(final, "The presiding judge alone.")

    await court.stage("Pre-adjudication", "analysis")
    points = (await court.ask(court.member("clerk"), ExtractPoints(case=court.case))).points
    statutes = await shortlist(court, points)
    precedents, directives = await recall(court, points, statutes)

    turns: list[Turn] = []
    passed = False
    for number in count(1):
        await court.stage(f"Turn {number}", "turn")
        opinion = DraftOpinion(case=court.case, points=points, statutes=statutes, turns=tuple(turns))
        draft = await court.ask(court.member("judge"), opinion)
        check = Verify(case=court.case, draft=draft, statutes=statutes, precedents=precedents, directives=directives)
        verification = await court.ask(court.member("supervisor"), check)
        passed = not verification.need_rejudge
        if passed:
            break
        turns.append(Turn(draft=draft, feedback=verification.suggestions))
        if number >= court.setup.turns:
            break

    await court.stage("Final adjudication", "final")
    final = await court.ask(
        court.member("presiding"),
        Preside(
            case=court.case, draft=draft, passed=passed, statutes=statutes, precedents=precedents, directives=directives
        ),
    )
    trajectory = Trajectory(tuple(points), draft, tuple(turns), passed, final, directives)
    if court.panel("meta") and court.unsealed.gold is not None:
        await court.stage("Learning", "learning")
        await learn(court, trajectory)
    return verdict(final, told(draft, turns, passed))


async def coarse(court: Hearing, text: str) -> Statutes:
    """S_vec: the coarse set (Eq. 1)."""
    hits = await court.retrieve(
        "statutes",
        Search(
            collection="statutes",
            text=text,
            k=court.setup.statutes,
            mode=court.setup.ranking,
            base=court.setup.base,
        ),
    )
    return tuple(Statute.model_validate(hit.record) for hit in hits)


async def shortlist(court: Hearing, points: tuple[str, ...]) -> Statutes:
    """S_statute: the assistant's shortlist, with the text of articles that it added itself (Eq. 2)."""
    candidates = await coarse(court, "\n".join(points))
    task = Rerank(case=court.case, points=points, candidates=candidates)
    chosen = (await court.ask(court.member("assistant"), task)).articles
    missing = tuple(str(number) for number in chosen if number not in {s.number for s in candidates})
    added = (
        await court.retrieve("added", Fetch(collection="statutes", ids=missing, base=court.setup.base))
        if missing
        else ()
    )
    known = [*candidates, *(Statute.model_validate(hit.record) for hit in added)]
    return tuple(statute for number in chosen for statute in known if statute.number == number)
