"""One defendant's way through the stages, and the steps of it that more than one stage takes."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any

from courtroom.cases.criminal import CriminalCase, Given
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.errors import CourtroomError
from courtroom.judging.referred import (
    CaseInformation,
    Referred,
    candidates,
    charges_of,
    precedents_of,
    scores_of,
    statutes_of,
)
from courtroom.knowledge.search import Search
from courtroom.law.judgment import Judgment, Term
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup
from courtroom.procedures.jurisagents.tasks import (
    Appealed,
    Decide,
    DefendantInformation,
    ExtractInformation,
    Response,
    SummariseCase,
)

Hearing = Court[CriminalCase, JurisAgentsSetup]


@dataclass(eq=False)
class Trial:
    """What is known of one defendant's trial so far."""

    number: int
    """1 for the primary defendant."""
    name: str
    """Empty where the case names nobody."""
    information: DefendantInformation = field(init=False)
    summary: str = field(init=False)
    first: Judgment = field(init=False)
    found: CaseInformation = field(default_factory=CaseInformation)
    response: Response | None = None
    final: Judgment | None = None
    """The judgment of the second instance, if there was one."""

    @property
    def step(self) -> str:
        """Distinguishes what is asked for several defendants; empty for the primary one."""
        return f"defendant-{self.number}" if self.number > 1 else ""

    @property
    def judgment(self) -> Judgment:
        return self.final or self.first


def trials(court: Hearing) -> list[Trial]:
    """Whom the hearing is about: the primary defendant, or each. Raises `CourtroomError`: there are several, and the setup refuses such cases."""
    names = court.case.defendants or ("",)
    if len(names) > 1 and court.setup.defendants == "refuse":
        raise CourtroomError(
            f"This case names {len(names)} defendants, and the setup refuses such cases. Set `defendants` to `each` to judge "
            "every one of them, or to `primary` to judge the first."
        )
    chosen = names if court.setup.defendants == "each" else names[:1]
    return [Trial(number, name) for number, name in enumerate(chosen, start=1)]


async def each(court: Hearing, of: Sequence[Trial], work: Callable[[Trial], Awaitable[None]]) -> list[Trial]:
    """Do the work of one stage for all trials at once; those that can go on. Raises `Abstained`: the only trial can't go on. Raises `QuorumLost`: too few can."""
    if len(of) == 1:
        await work(of[0])
        return list(of)

    async def done(trial: Trial) -> Trial:
        await work(trial)
        return trial

    kept = [trial for trial in await court.all(done(trial) for trial in of) if trial is not None]
    court.needs(len(kept), len(of), "defendants' trials can go on")
    return kept


def material(court: Hearing, trial: Trial | None = None) -> CriminalCase:
    """The case as members read it: with the defendant in question first, and without what the setup leaves out."""
    case, setup = court.case, court.setup
    others = tuple(name for name in case.defendants if trial is None or name != trial.name)
    return case.model_copy(
        update={
            "defendants": (trial.name, *others) if trial and trial.name else case.defendants,
            "frames": case.frames if setup.pictures else (),
            "given": case.given if setup.given else None,
        }
    )


async def read(court: Hearing, trial: Trial, appeal: Appealed | None = None) -> None:
    """Junior and senior judge read the facts (stages I and VI)."""
    case = material(court, trial)
    trial.information = await court.ask(
        court.member("junior"), ExtractInformation(case=case, appeal=appeal), trial.step
    )
    task = SummariseCase(case=case, appeal=appeal, information=trial.information)
    trial.summary = (await court.ask(court.member("senior"), task, trial.step)).summary


async def look_up(court: Hearing, text: str, step: str = "") -> CaseInformation:
    """The assistant's case information document: statutes and charges dense, precedents hybrid (stage II)."""
    setup = court.setup
    document = CaseInformation()
    if not setup.recalls:
        return document
    mark = f"-{step}" if step else ""
    how: dict[str, Any] = {"base": setup.base, "text": text, "mode": setup.ranking}
    if setup.ranking == "hybrid":
        how |= {"mode": "hybrid", "weights": setup.weights}
    if setup.statutes:
        query = Search.model_validate({**how, "collection": "statutes", "k": setup.statutes})
        hits = await court.retrieve(f"statutes{mark}", query)
        document = document.model_copy(update={"statutes": statutes_of(hits), "statute_scores": scores_of(hits)})
    if setup.charges:
        query = Search.model_validate({**how, "collection": "charges", "k": setup.charges})
        hits = await court.retrieve(f"charges{mark}", query)
        document = document.model_copy(update={"charges": charges_of(hits), "charge_scores": scores_of(hits)})
    if setup.precedents:
        document = document.model_copy(update={"precedents": await look_up_precedents(court, text, mark)})
    return document


async def look_up_precedents(court: Hearing, text: str, mark: str = "") -> tuple[Referred, ...]:
    """The nearest precedents of which a judgment is known, dense and by words, best first."""
    setup, case = court.setup, court.case
    k, name = setup.precedents + 2, f"precedents{mark}"  # the case itself may be among them under another id
    while True:
        query = Search(
            collection="cases",
            base=setup.base,
            text=text,
            mode="hybrid",
            weights=setup.weights,
            k=k,
            exclude=(case.id,),
        )
        hits = await court.retrieve(name, query)
        found = precedents_of(hits, case, setup.precedents)
        if len(found) == setup.precedents or len(hits) < k:
            return found
        k, name = 4 * k, f"precedents-{4 * k}{mark}"


def tell_missing(court: Hearing, found: CaseInformation, step: str = "") -> None:
    """Note which collections of the knowledge base gave nothing."""
    setup = court.setup
    wanted = {"statutes": setup.statutes, "charges": setup.charges, "precedents": setup.precedents}
    for kind, count in wanted.items():
        if setup.recalls and count and not getattr(found, kind):
            text = f"Nothing was found among the {kind} of the knowledge base “{setup.base}”; the judge is shown none."
            court.note(f"no-{kind}{'-' if step else ''}{step}", text)


async def decide(court: Hearing, trial: Trial, appeal: Appealed | None = None) -> Judgment:
    """The chief judge's judgment (stages III and VI)."""
    case = material(court, trial)
    task = Decide(
        language=case.language,
        information=trial.information,
        summary=trial.summary,
        found=trial.found,
        given=case.given,
        appeal=appeal,
        reasons=court.setup.reasons,
    )
    answer = await court.ask(court.member("chief"), task, trial.step)
    return settled(answer.judgment(), case.given)


def settled(judgment: Judgment, given: Given | None) -> Judgment:
    """A judgment in which what was given stands, whatever was answered."""
    known = {"charges": given.charges, "relevant_articles": given.relevant_articles} if given else {}
    return judgment.model_copy(update={name: value for name, value in known.items() if value})


def verdict(court: Hearing, judged: Sequence[Trial], everyone: Sequence[Trial], note: str = "") -> Verdict:
    """The run's verdict: `judgment` and `first_instance` are the primary defendant's, `judgments` those of several.

    Args:
        judged: the trials that came to a judgment.
        everyone: all of them.
        note: how it came about, where all had the same course; otherwise it is said of each.
    """
    details: dict[str, Any] = {}
    for trial in judged:
        if trial.number == 1:
            details |= _judgments(court, trial)
    if len(everyone) == 1:
        (trial,) = judged
        outcome, summary = "; ".join(trial.judgment.charges), str(trial.judgment)
        return Verdict(outcome=outcome, summary=summary, note=note or course(trial), details=details)
    details["judgments"] = [{"defendant": trial.name, **_judgments(court, trial)} for trial in judged]
    lines = [f"{trial.name}: {note or course(trial)}" for trial in judged]
    lines += [f"{trial.name}: no judgment, as an answer is missing." for trial in everyone if trial not in judged]
    return Verdict(
        outcome=" · ".join(f"{trial.name}: {'; '.join(trial.judgment.charges)}" for trial in judged),
        summary="\n".join(f"{trial.name}: {trial.judgment}" for trial in judged),
        note=" ".join(lines),
        details=details,
    )


def course(trial: Trial) -> str:
    """How a judgment came about, in a sentence."""
    if trial.response is None:
        return "The judgment of the first instance; the defendant gave no answer to it."
    if trial.response.accepts:
        return "The defendant accepted the judgment of the first instance."
    if trial.final is None:
        return "The judgment of the first instance; the appeal came to no judgment."
    same_term = trial.final.term_of_imprisonment == trial.first.term_of_imprisonment
    upheld = same_term and trial.final.same_labels(trial.first)
    return f"The second instance {'upheld' if upheld else 'changed'} the judgment."


def _judgments(court: Hearing, trial: Trial) -> dict[str, Any]:
    first = {"first_instance": trial.first.model_dump(mode="json")} if trial.final else {}
    ranked = candidates(trial.judgment, trial.found.statutes, court.case.language)
    return {"judgment": trial.judgment.model_dump(mode="json"), "candidates": ranked} | first


async def by_precedents(court: Hearing) -> Verdict:
    """What was decided in the precedents nearest to the facts, for every defendant alike. Raises `CourtroomError`: the case is a
    question; no precedent answers one. Raises `QuorumLost`: there is no precedent."""
    if court.case.asked != "judgment":
        raise CourtroomError("Precedents answer no question. Choose cases in which a judgment is asked for.")
    everyone = trials(court)
    await court.stage("Retrieval", "retrieval")
    found = await look_up_precedents(court, court.case.facts) if court.setup.precedents else ()
    court.needs(len(found), max(1, court.setup.precedents), "precedents could be found")
    await court.stage("Decision", "decision")
    judgment = prevailing(found)

    async def decided(trial: Trial) -> None:
        trial.first = settled(judgment, material(court, trial).given)

    judged = await each(court, everyone, decided)
    return verdict(court, judged, everyone, f"By the {len(found)} nearest precedents; no model was asked.")


def prevailing(found: Sequence[Referred]) -> Judgment:
    """The charges that most of the precedents have, by their likeness, with articles and term of those that have them.

    The articles are those of the nearest of these, the term is their median, the lower one of two. With one precedent, its judgment.
    """
    likeness: dict[frozenset[str], float] = {}
    for one in found:
        charges = frozenset(one.judgment.charges)
        likeness[charges] = likeness.get(charges, 0.0) + max(0.0, one.similarity)
    most = max(likeness, key=lambda charges: likeness[charges])  # of equal ones, those of the nearest precedent
    alike = [one.judgment for one in found if frozenset(one.judgment.charges) == most]
    articles = next((one.relevant_articles for one in alike if one.relevant_articles), ())
    terms = [term for one in alike if (term := one.term_of_imprisonment) is not None]
    capital = [term for term in terms if term.death_penalty or term.life_imprisonment]
    term = capital[0] if 2 * len(capital) > len(terms) else None
    months = [term.imprisonment for term in terms if term not in capital]
    return Judgment(
        charges=alike[0].charges,
        relevant_articles=articles,
        term_of_imprisonment=term or Term(imprisonment=median_low(months) if months else 0),
    )
