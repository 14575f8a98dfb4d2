"""The offline model's answers to JurisAgents' tasks: sentences of the facts, ranks of what was looked up, penalty bands."""

import random
import re
from collections.abc import Sequence

from courtroom.cases.criminal import LETTERS, CriminalCase, Given
from courtroom.judging.criminal import (
    CaseInformation,
    JudgmentAnswer,
    acts_in,
    judged,
    mitigating,
    reduced,
    sums_in,
    term_for,
)
from courtroom.judging.explained import quotes, said
from courtroom.law import Judgment, defendants_in
from courtroom.models.offline import methods
from courtroom.procedures.jurisagents import tasks
from courtroom.text.words import central, sentences, words

NEGLIGENT = re.compile(
    r"过失|交通事故|疏忽|失火|未注意|negligen|collision|lost control|careless|failed to (notice|brake)"
)
RESULT = re.compile(r"致|造成|死亡|伤|损失|价值|共计|得款|缴获|caus|result|died|injur|loss|worth|in total|seized")
TOTAL = re.compile(r"共计|合计|总计|总价值|累计|in total|altogether")
SHARES = re.compile(r"分得|各分|分给|赔偿|退还|退赔|谅解|each received|compensat|returned")
WRONG = re.compile(r"错误|不正确|不(属于|构成|符合|应)|not correct|incorrect|except")
LONGEST_SUMMARY = 1200
"""Characters."""


def extract(task: tasks.ExtractInformation, draw: random.Random) -> tasks.DefendantInformation:
    """The named defendant, and the sentences that state acts, with those that state results beside them."""
    case = task.case
    found = acts_of(case)
    results = [sentence for sentence in found if RESULT.search(sentence)]
    stated = [sentence for sentence in found if not RESULT.search(sentence)]
    if not stated:
        stated, results = results[:1], results[1:]
    intent = "negligence" if NEGLIGENT.search(case.facts) else "intent"
    acts = [tasks.Act(act=sentence, intent=intent) for sentence in stated]
    acts[-1] = acts[-1].model_copy(update={"consequence": " ".join(results)})
    return tasks.DefendantInformation(defendant=_named(case), acts=tuple(acts[:20]))


def summarise(task: tasks.SummariseCase, draw: random.Random) -> tasks.CaseSummary:
    """The sentences that state the acts, in order; of very long facts the most central ones."""
    acts = acts_of(task.case)
    text = " ".join(acts)
    if len(text) > LONGEST_SUMMARY:
        kept: list[str] = []
        for sentence in central(acts, len(acts)):
            if sum(map(len, kept)) + len(sentence) <= LONGEST_SUMMARY:
                kept.append(sentence)
        text = " ".join(sentence for sentence in acts if sentence in kept) or text[:LONGEST_SUMMARY]
    return tasks.CaseSummary(summary=text)


def _named(case: CriminalCase) -> str:
    return (*case.defendants, *defendants_in(case.facts), said(case.language, "unnamed"))[0]


def acts_of(case: CriminalCase) -> tuple[str, ...]:
    """The sentences that state what was done; those that name other defendants alone are left out."""
    others = [name for name in case.defendants if name != case.defendant]
    acts = acts_in(case.facts)
    own = tuple(one for one in acts if case.defendant in one or not any(name in one for name in others))
    return own or acts


def decide(task: tasks.Decide, draw: random.Random) -> JudgmentAnswer:
    """Nearest neighbours over what was looked up, then the article's penalty bands; an appeal can lower the term."""
    judgment = under(task.given, task.summary, task.language, task.found)
    if task.appeal is not None:
        statute = next((s for s in task.found.statutes if s.number in judgment.relevant_articles), None)
        lighter = reduced(judgment.term_of_imprisonment, task.summary, statute)
        judgment = judgment.model_copy(update={"term_of_imprisonment": lighter})
    return answered(judgment, task.language, task.reasons)


def decide_alone(task: tasks.DecideAlone, draw: random.Random) -> JudgmentAnswer:
    """The same from the facts themselves."""
    judgment = under(task.case.given, " ".join(acts_of(task.case)), task.case.language, task.found)
    return answered(judgment, task.case.language, task.reasons)


def under(given: Given | None, facts: str, language: str, found: CaseInformation) -> Judgment:
    """A judgment in which what is given stands; the term goes by the given article where it was looked up."""
    judgment = judged(facts, language, found)
    if given is None:
        return judgment
    articles = given.relevant_articles or judgment.relevant_articles
    statute = next((s for number in articles for s in found.statutes if s.number == number), None)
    return Judgment(
        relevant_articles=articles,
        charges=given.charges or judgment.charges,
        term_of_imprisonment=term_for(facts, statute, found),
    )


def respond(task: tasks.Respond, draw: random.Random) -> tasks.Response:
    """Objects where the facts name mitigating circumstances and there is something left to lower."""
    light = mitigating(task.case.facts)
    months = task.judgment.term_of_imprisonment.imprisonment
    language, named, accepts = task.case.language, _quoted(light, task.case), not light or months <= 6
    objection = "" if accepts else said(language, "objection", months=months, light=named)
    if not task.reasons:
        return tasks.Response(accepts=accepts, objection=objection)
    reasons = said(language, "accepts") if accepts else named
    return tasks.ReasonedResponse(reasons=reasons, accepts=accepts, objection=objection)


def _quoted(found: Sequence[str], case: CriminalCase) -> str:
    """Words as the facts have them: `compensat` as “compensation”."""
    whole = (re.search(re.escape(one) + "[A-Za-z]*", case.facts) for one in found)
    return quotes(case.language, (match.group() if match else one for one, match in zip(found, whole, strict=True)))


def petition(task: tasks.DraftPetition, draw: random.Random) -> tasks.Petition:
    """The five parts, from the sentences with mitigating circumstances and the objection."""
    language = task.case.language
    acts = [sentence for sentence in acts_of(task.case) if mitigating(sentence)][:4]
    articles = ", ".join(map(str, task.judgment.relevant_articles))
    return tasks.Petition(
        appellant=_named(task.case),
        request=said(language, "request", term=task.judgment.term_of_imprisonment),
        facts_and_reasons=" ".join([*acts, task.objection]),
        legal_basis=said(language, "basis", articles=articles),
        conclusion=said(language, "conclusion"),
    )


def analyse(task: tasks.AnalyseQuestion, draw: random.Random) -> tasks.QuestionAnalysis:
    """The sentences of the question; a word for wrong in them says what is looked for."""
    text, wrong = sentences(task.case.facts), WRONG.search(task.case.facts)
    return tasks.QuestionAnalysis(points=text[:20] or (task.case.facts,), wanted="incorrect" if wrong else "correct")


def state_issue(task: tasks.StateIssue, draw: random.Random) -> tasks.Issue:
    """What the question says; offline there is no other word for its issue."""
    return tasks.Issue(issue=" ".join(acts_in(task.case.facts))[:LONGEST_SUMMARY])


def choose(task: tasks.ChooseOption, draw: random.Random) -> tasks.ChosenOption:
    """The option whose words the articles and precedents bear out most; the least where the wrong one is asked for."""
    law = set(words(" ".join(f"{s.text.zh} {s.text.en}" for s in task.found.statutes)))
    asked = set(words(task.case.facts))
    support = {}
    for letter, option in zip(LETTERS, task.case.options, strict=True):
        said = set(words(option))
        support[letter] = (len(said & law) + 0.5 * len(said & asked)) / (len(said) or 1)
    ordered = sorted(LETTERS, key=lambda letter: (support[letter], letter))
    wrong = task.analysis.wanted == "incorrect" if task.analysis else WRONG.search(task.case.facts)
    return tasks.ChosenOption(choice=ordered[0] if wrong else ordered[-1])


def add_up(task: tasks.AddUp, draw: random.Random) -> tasks.Amount:
    """The sums in the sentences that state acts, each once a sentence; a stated total counts instead of its parts."""
    lines = [sentence for sentence in acts_in(task.case.facts) if not SHARES.search(sentence)]
    totals = [sums_in(sentence)[-1] for sentence in lines if TOTAL.search(sentence) and sums_in(sentence)]
    if totals:
        return tasks.Amount(amount=max(totals), parts=(max(totals),))
    parts = tuple(max(sums_in(sentence)) for sentence in lines if sums_in(sentence))
    return tasks.Amount(amount=round(sum(parts), 2), parts=parts)


def answered(judgment: Judgment, language: str, reasons: bool) -> JudgmentAnswer:
    """A judgment in the form of an answer."""
    fields = {
        "relevant_articles": judgment.relevant_articles,
        "charge": judgment.charges,
        "term_of_imprisonment": judgment.term_of_imprisonment,
    }
    if reasons:
        return tasks.ReasonedJudgment.model_validate({"reasons": said(language, "ranked"), **fields})
    return JudgmentAnswer.model_validate(fields)


METHODS = methods(extract, summarise, decide, decide_alone, respond, petition, analyse, state_issue, choose, add_up)
