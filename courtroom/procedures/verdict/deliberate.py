"""Analysis, draft and review in turns, final adjudication (section 3.2); then what the memory learns (section 3.4.2)."""

from __future__ import annotations

from itertools import count

from courtroom.cases.criminal import CriminalCase
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.knowledge.jurisprudence import tags_of
from courtroom.knowledge.memory import Recall
from courtroom.knowledge.search import Fetch, Search
from courtroom.law.judgment import Judgment
from courtroom.law.statute import Statute
from courtroom.procedures.verdict.learning import Trajectory, learn
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.procedures.verdict.tasks import (
    Directed,
    Draft,
    DraftOpinion,
    ExtractPoints,
    FinalJudgment,
    Preside,
    Recalled,
    Rerank,
    Turn,
    Verify,
)

Hearing = Court[CriminalCase, VerdictSetup]
Statutes = tuple[Statute, ...]
Memory = tuple[tuple[Recalled, ...], tuple[Directed, ...]]


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
        "statutes", Search(collection="statutes", text=text, k=court.setup.statutes, mode=court.setup.ranking)
    )
    return tuple(Statute.model_validate(hit.record) for hit in hits)


async def shortlist(court: Hearing, points: tuple[str, ...]) -> Statutes:
    """S_statute: the assistant's shortlist, with the text of articles that it added itself (Eq. 2)."""
    candidates = await coarse(court, "\n".join(points))
    task = Rerank(case=court.case, points=points, candidates=candidates)
    chosen = (await court.ask(court.member("assistant"), task)).articles
    missing = tuple(str(number) for number in chosen if number not in {s.number for s in candidates})
    added = await court.retrieve("added", Fetch(collection="statutes", ids=missing)) if missing else ()
    known = [*candidates, *(Statute.model_validate(hit.record) for hit in added)]
    return tuple(statute for number in chosen for statute in known if statute.number == number)


async def recall(court: Hearing, points: tuple[str, ...], statutes: Statutes) -> Memory:
    """S_std and S_dir: what the memory has to say (Eq. 7). The case's own standard is kept out of sight."""
    setup, case = court.setup, court.case
    if not setup.remembers:
        return (), ()
    charges = tuple(name.in_language(case.language) for statute in statutes for name in statute.charges)
    tags = tuple(sorted(tags_of(tuple(statute.number for statute in statutes), charges)))
    text = "\n".join((case.facts, *points))

    def query(collection: str, k: int) -> Recall:
        return Recall.model_validate(
            {
                "collection": collection,
                "text": text,
                "tags": tags,
                "k": k,
                "tau": setup.tau,
                "seeds": setup.seeds,
                "hops": setup.hops,
                "exclude": (f"standard-{case.id}",),
            }
        )

    standards = await court.retrieve("standards", query("standards", setup.precedents)) if setup.precedents else ()
    directives = (
        await court.retrieve("directives", query("directives", setup.directives))
        if setup.directs and setup.directives
        else ()
    )
    return (
        tuple(
            Recalled(
                facts=hit.record["facts"],
                reasoning=hit.record["reasoning"],
                verdict=Judgment.model_validate(hit.record["verdict"]),
                score=hit.parts.score if hit.parts else 0.0,
                similarity=hit.similarity,
            )
            for hit in standards
        ),
        tuple(
            Directed(
                id=hit.id,
                text=hit.record["text"],
                confidence=hit.record["confidence"],
                anchor=hit.record["anchor"],
                charges=tuple(hit.record["charges"]),
                score=hit.parts.score if hit.parts else 0.0,
                similarity=hit.similarity,
            )
            for hit in directives
        ),
    )


def verdict(final: FinalJudgment, note: str) -> Verdict:
    """The run's verdict."""
    judgment = final.judgment()
    return Verdict(
        outcome="; ".join(judgment.charges),
        summary=f"{judgment}\n\n{final.thought}",
        note=note,
        details={"judgment": judgment.model_dump(mode="json")},
    )


def told(draft: Draft, turns: list[Turn], passed: bool) -> str:
    """How the loop of drafts went, in a sentence."""
    if not turns:
        return "The first draft passed."
    if passed:
        return f"The draft passed in turn {len(turns) + 1}, after {len(turns)} rejection{'s' * (len(turns) > 1)}."
    return f"No draft passed in {len(turns)} turns; the presiding judge decided with the last one, article {draft.predicted_article}."
