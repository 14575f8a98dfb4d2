"""Six stages, two instances (section 2.2). What JurisAgents declares of itself."""

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass, field
from statistics import median_low
from typing import Any

from courtroom import Court, CourtroomError, Procedure, Search, Verdict
from courtroom.cases.criminal import CriminalCase, Given
from courtroom.judging.criminal import CaseInformation, Referred, candidates, informed, precedents_of
from courtroom.judging.views import retrieved
from courtroom.law import Judgment, Term, charges_compared, heavier
from courtroom.procedures.declared import declared
from courtroom.procedures.jurisagents import offline, tasks, views
from courtroom.procedures.jurisagents.setup import JurisAgentsSetup, members

Hearing = Court[CriminalCase, JurisAgentsSetup]


@dataclass(eq=False)
class Trial:
    """What is known of one defendant's trial so far."""

    number: int
    """1 for the primary defendant."""
    name: str
    """Empty where the case names nobody."""
    information: tasks.DefendantInformation = field(init=False)
    summary: str = field(init=False)
    first: Judgment = field(init=False)
    found: CaseInformation = field(default_factory=CaseInformation)
    response: tasks.Response | None = None
    petition: tasks.Petition = field(init=False)
    final: Judgment | None = None
    """The judgment of the second instance, if there was one."""

    @property
    def step(self) -> str:
        """Distinguishes what is asked for several defendants; empty for the primary one."""
        return f"defendant-{self.number}" if self.number > 1 else ""

    @property
    def judgment(self) -> Judgment:
        return self.final or self.first

    @property
    def reading(self) -> dict[str, Any]:
        """What junior and senior judge made of the facts."""
        return {"information": self.information, "summary": self.summary}


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
    names = (trial.name, *others) if trial and trial.name else case.defendants
    frames, given = case.frames if setup.pictures else (), case.given if setup.given else None
    return case.model_copy(update={"defendants": names, "frames": frames, "given": given})


async def read(court: Hearing, trial: Trial, appeal: tasks.Appealed | None = None) -> None:
    """Junior and senior judge read the facts (stages I and VI)."""
    case = material(court, trial)
    reading = tasks.ExtractInformation(case=case, appeal=appeal)
    trial.information = await court.ask(court.member("junior"), reading, trial.step)
    task = tasks.SummariseCase(case=case, appeal=appeal, information=trial.information)
    trial.summary = (await court.ask(court.member("senior"), task, trial.step)).summary


async def look_up(court: Hearing, text: str, step: str = "") -> CaseInformation:
    """The assistant's case information document: statutes and charges as `ranking` says, precedents hybrid (stage II)."""
    setup = court.setup
    if not setup.recalls:
        return CaseInformation()
    mark = f"-{step}" if step else ""
    how: dict[str, Any] = {"base": setup.base, "text": text, "mode": setup.ranking}
    if setup.ranking == "hybrid":
        how["weights"] = setup.weights
    hits = {}
    for kind, k in (("statutes", setup.statutes), ("charges", setup.charges)):
        if k:
            hits[kind] = await court.retrieve(f"{kind}{mark}", Search(**how, collection=kind, k=k))
    found = await look_up_precedents(court, text, mark) if setup.precedents else ()
    return informed(hits, tuple(one for one in found if not setup.likeness or one.similarity >= setup.likeness))


async def look_up_precedents(court: Hearing, text: str, mark: str = "") -> tuple[Referred, ...]:
    """The nearest precedents of which a judgment is known, dense and by words, best first."""
    setup, case = court.setup, court.case
    k, name = setup.precedents + 2, f"precedents{mark}"  # the case itself may be among them under another id
    while True:
        wanted: dict[str, Any] = {"collection": "cases", "base": setup.base, "text": text, "exclude": (case.id,)}
        hits = await court.retrieve(name, Search(**wanted, mode="hybrid", weights=setup.weights, k=k))
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
            text = f"Nothing near enough was found among the {kind} of the knowledge base “{setup.base}”; the judge is shown none."
            court.note(f"no-{kind}{'-' if step else ''}{step}", text)


async def decide(court: Hearing, trial: Trial, appeal: tasks.Appealed | None = None) -> None:
    """The chief judge decides: in the first instance or, on appeal, in the second (stages III and VI)."""
    case = material(court, trial)
    given: dict[str, Any] = {"language": case.language, "given": case.given, "found": trial.found, "appeal": appeal}
    task = tasks.Decide(**given, **trial.reading, reasons=court.setup.reasons, fuller=court.setup.fuller)
    judgment = settled((await court.ask(court.member("chief"), task, trial.step)).judgment(), case.given)
    if appeal:
        trial.final = judgment
    else:
        trial.first = judgment


def settled(judgment: Judgment, given: Given | None) -> Judgment:
    """A judgment in which what was given stands, whatever was answered."""
    known = {"charges": given.charges, "relevant_articles": given.relevant_articles} if given else {}
    return judgment.model_copy(update={name: value for name, value in known.items() if value})


def verdict(court: Hearing, judged: Sequence[Trial], everyone: Sequence[Trial], note: str = "") -> Verdict:
    """The run's verdict: `judgment` and `first_instance` are the primary defendant's, `judgments` those of several. `judged`: the trials
    that came to a judgment. `note`: how it came about, where all had the same course; otherwise it is said of each."""
    details: dict[str, Any] = next((_judgments(court, trial) for trial in judged if trial.number == 1), {})
    if len(everyone) == 1:
        (trial,) = judged
        outcome, summary = trial.judgment.outcome, str(trial.judgment)
        return Verdict(outcome=outcome, summary=summary, note=note or course(trial), details=details)
    details["judgments"] = [{"defendant": trial.name, **_judgments(court, trial)} for trial in judged]
    lines = [f"{trial.name}: {note or course(trial)}" for trial in judged]
    lines += [f"{trial.name}: no judgment, as an answer is missing." for trial in everyone if trial not in judged]
    outcome = " · ".join(f"{trial.name}: {trial.judgment.outcome}" for trial in judged)
    summary = "\n".join(f"{trial.name}: {trial.judgment}" for trial in judged)
    return Verdict(outcome=outcome, summary=summary, note=" ".join(lines), details=details)


def course(trial: Trial) -> str:
    """How a judgment came about, in a sentence."""
    if trial.response is None:
        return "The judgment of the first instance; the defendant gave no answer to it."
    if trial.response.accepts:
        return "The defendant accepted the judgment of the first instance."
    if trial.final is None:
        return "The judgment of the first instance; the appeal came to no judgment."
    first, final = trial.first.term_of_imprisonment, trial.final.term_of_imprisonment
    if heavier(final, first):
        return (
            f"The second instance changed the judgment, from {first} to {final}: on the defendant's appeal alone the law does not "
            "allow a heavier penalty (Criminal Procedure Law, article 237)."
        )
    if heavier(first, final):
        return f"The second instance changed the judgment, from {first} to {final}."
    return f"The second instance {'upheld' if trial.final.same_labels(trial.first) else 'changed'} the judgment."


def _judgments(court: Hearing, trial: Trial) -> dict[str, Any]:
    first = {"first_instance": trial.first.model_dump(mode="json")} if trial.final else {}
    ranked = candidates(trial.judgment, trial.found.statutes, court.case.language)
    hidden = {"given": False} if court.case.given and not court.setup.given else {}
    return {"judgment": trial.judgment.model_dump(mode="json"), "candidates": ranked} | first | hidden


async def by_precedents(court: Hearing) -> Verdict:
    """What was decided in the precedents nearest to the facts, for every defendant alike. Raises `QuorumLost`: there is no precedent."""
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
        charges = charges_compared(one.judgment.charges)
        likeness[charges] = likeness.get(charges, 0.0) + max(0.0, one.similarity)
    most = max(likeness, key=lambda charges: likeness[charges])  # of equal ones, those of the nearest precedent
    alike = [one.judgment for one in found if charges_compared(one.judgment.charges) == most]
    articles = next((one.relevant_articles for one in alike if one.relevant_articles), ())
    terms = [term for one in alike if (term := one.term_of_imprisonment) is not None]
    capital = [term for term in terms if term.death_penalty or term.life_imprisonment]
    months = [term.imprisonment for term in terms if term not in capital]
    usual = Term(imprisonment=median_low(months) if months else 0)
    term = capital[0] if 2 * len(capital) > len(terms) else usual
    return Judgment(charges=alike[0].charges, relevant_articles=articles, term_of_imprisonment=term)


async def analyse(court: Hearing) -> Verdict:
    """Junior and senior judge read the question and state the issue, the assistant looks up, the chief judge chooses."""
    analysis: tasks.QuestionAnalysis | None = None
    issue = ""
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        analysis = await court.ask(court.member("junior"), tasks.AnalyseQuestion(case=material(court)))
        stating = tasks.StateIssue(case=material(court), analysis=analysis)
        issue = (await court.ask(court.member("senior"), stating)).issue
    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, issue or court.case.facts)
    tell_missing(court, found)
    await court.stage("Decision", "decision")
    task = tasks.ChooseOption(case=material(court), analysis=analysis, issue=issue, found=found)
    answer = await court.ask(court.member("chief"), task)
    return Verdict(outcome=answer.choice, summary=answer.reason, details={"choice": answer.choice})


async def add_up(court: Hearing) -> Verdict:
    """Junior and senior judge read the document, the chief judge adds up. Nothing is looked up: no law is in question."""
    reading: dict[str, Any] = {}
    if not court.setup.alone:
        await court.stage("Information extraction", "extraction")
        trial = Trial(1, court.case.defendant)
        await read(court, trial)
        reading = trial.reading
    await court.stage("Decision", "decision")
    answer = await court.ask(court.member("chief"), tasks.AddUp(case=material(court), **reading))
    parts = " + ".join(f"{part:,.2f}" for part in answer.parts)
    return Verdict(outcome=f"{answer.amount:,.2f} yuan", summary=parts, details={"amount": answer.amount})


async def deliberate(court: Hearing) -> Verdict:
    """From the facts to a judgment; a defendant who objects gets a second instance, whose judgment is final."""
    if court.setup.variant == "nearest-precedents":
        return await by_precedents(court)
    if court.case.asked != "judgment":
        return await (analyse(court) if court.case.asked == "case_analysis" else add_up(court))
    going_on = everyone = trials(court)
    if court.setup.alone:
        return await alone(court, everyone)

    await court.stage("Information extraction", "extraction")
    going_on = await each(court, going_on, lambda trial: read(court, trial))

    await court.stage("Retrieval", "retrieval")
    going_on = await each(court, going_on, lambda trial: inform(court, trial))

    await court.stage("Decision", "decision")
    going_on = await each(court, going_on, lambda trial: decide(court, trial))
    judged = list(going_on)

    if not court.setup.appeal:
        return verdict(court, judged, everyone, "First instance; an appeal was ruled out in the setup.")
    await court.stage("Objection", "objection")
    going_on = await each(court, going_on, lambda trial: respond(court, trial))
    appellants = [trial for trial in going_on if trial.response and not trial.response.accepts]
    if not appellants:
        return verdict(court, judged, everyone)

    await court.stage("Appeal", "appeal")
    appellants = await each(court, appellants, lambda trial: appeal(court, trial))

    await court.stage("Second instance", "second-instance")
    await each(court, appellants, lambda trial: second_instance(court, trial))
    return verdict(court, judged, everyone)


async def inform(court: Hearing, trial: Trial) -> None:
    """The assistant looks things up with the senior judge's summary (stage II)."""
    text = trial.summary if court.setup.query == "summary" else f"{trial.summary}\n{court.case.facts}"
    trial.found = await look_up(court, text, trial.step)
    again = "second-instance" if trial.response else ""
    tell_missing(court, trial.found, "-".join(filter(None, (again, trial.step))))


async def respond(court: Hearing, trial: Trial) -> None:
    """The defendant accepts or objects (stage IV)."""
    task = tasks.Respond(case=material(court, trial), judgment=trial.first, reasons=court.setup.reasons)
    trial.response = await court.ask(court.member("defendant"), task, trial.step)


async def appeal(court: Hearing, trial: Trial) -> None:
    """Counsel drafts the petition (stage V)."""
    case, objection = material(court, trial), trial.response.objection if trial.response else ""
    task = tasks.DraftPetition(case=case, judgment=trial.first, objection=objection, **trial.reading)
    trial.petition = await court.ask(court.member("counsel"), task, trial.step)


async def second_instance(court: Hearing, trial: Trial) -> None:
    """The judges hear the case again with the petition in view; they may uphold (stage VI)."""
    setup = court.setup
    shown: dict[str, Any] = {"first": trial.first} if setup.first_judgment == "all" else {}
    shown |= trial.reading if setup.first_reading else {}
    await read(court, trial, tasks.Appealed(petition=trial.petition, **shown))
    if setup.second_look_up:
        await inform(court, trial)
    first = None if setup.first_judgment == "none" else trial.first
    await decide(court, trial, tasks.Appealed(petition=trial.petition, first=first))


async def alone(court: Hearing, everyone: list[Trial]) -> Verdict:
    """One judge with the facts and what is looked up for them (ablation “w/o MA”, and the plain model)."""
    await court.stage("Retrieval", "retrieval")
    found = await look_up(court, court.case.facts)
    tell_missing(court, found)
    await court.stage("Decision", "decision")

    async def decided(trial: Trial) -> None:
        case = material(court, trial)
        task = tasks.DecideAlone(case=case, found=found, reasons=court.setup.reasons, fuller=court.setup.fuller)
        answer = await court.ask(court.member("chief"), task, trial.step)
        trial.first, trial.found = settled(answer.judgment(), case.given), found

    judged = await each(court, everyone, decided)
    return verdict(court, judged, everyone, "One judge alone.")


def refuses(case: CriminalCase, setup: JurisAgentsSetup) -> str:
    """Why a case can't be heard with this setup: precedents alone are asked a question."""
    is_asked = setup.variant == "nearest-precedents" and case.asked != "judgment"
    return "Precedents answer no question. Choose cases in which a judgment is asked for." if is_asked else ""


def at_most(case: CriminalCase, setup: JurisAgentsSetup) -> int:
    """Upper bound on the calls: three judges, defendant and counsel, three judges again, for each who is judged."""
    if setup.variant == "nearest-precedents":
        return 0
    tried = len(case.defendants) if setup.defendants == "each" and case.asked == "judgment" else 1
    if setup.alone:
        return max(1, tried)
    return (8 if setup.appeal and case.asked == "judgment" else 3) * max(1, tried)


JURISAGENTS = Procedure(
    **declared(__file__, offline.METHODS, draws=(views.flow, retrieved, views.judgments)),
    setup=JurisAgentsSetup,
    members=members,
    deliberate=deliberate,
    at_most=at_most,
    refuses=refuses,
)
