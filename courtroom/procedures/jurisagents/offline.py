"""The offline model's answers to JurisAgents' tasks: sentences of the facts, ranks of what was looked up, penalty bands."""

import random
import re

from courtroom.cases.criminal import LETTERS, CriminalCase
from courtroom.judging import criminal
from courtroom.judging.explained import quotes, said
from courtroom.law import defendants_in
from courtroom.models.offline import methods
from courtroom.procedures.jurisagents import tasks
from courtroom.text.words import sentences, words

LONGEST_SUMMARY = 1200
"""Characters."""


def extract(task: tasks.ExtractInformation, draw: random.Random) -> tasks.DefendantInformation:
    """The named defendant, and the sentences that state acts, with those that state results beside them."""
    found = acts_of(task.case)
    results = [sentence for sentence in found if criminal.FACT_WORDS["result"].search(sentence)]
    stated = [sentence for sentence in found if sentence not in results] or [results.pop(0)]
    intent = "negligence" if criminal.FACT_WORDS["negligent"].search(task.case.facts) else "intent"
    acts = [tasks.Act(act=sentence, intent=intent) for sentence in stated]
    acts[-1] = acts[-1].model_copy(update={"consequence": " ".join(results)})
    return tasks.DefendantInformation(defendant=_named(task.case), acts=tuple(acts[:20]))


def summarise(task: tasks.SummariseCase, draw: random.Random) -> tasks.CaseSummary:
    """The sentences that state the acts, in order; of very long facts as many as have room."""
    acts, kept = acts_of(task.case), list[str]()
    for sentence in acts:
        if sum(map(len, kept)) + len(sentence) <= LONGEST_SUMMARY:
            kept.append(sentence)
    return tasks.CaseSummary(summary=" ".join(kept) or acts[0][:LONGEST_SUMMARY])


def _named(case: CriminalCase) -> str:
    return (*case.defendants, *defendants_in(case.facts), said(case.language, "unnamed"))[0]


def acts_of(case: CriminalCase) -> tuple[str, ...]:
    """The sentences that state what was done; those that name other defendants alone are left out."""
    others = [name for name in case.defendants if name != case.defendant]
    acts = criminal.acts_in(case.facts)
    own = tuple(one for one in acts if case.defendant in one or not any(name in one for name in others))
    return own or acts


def decide(task: tasks.Decide | tasks.DecideAlone, draw: random.Random) -> criminal.JudgmentAnswer:
    """Nearest neighbours over what was looked up, then the article's penalty bands; what is given stands, an appeal can lower the term."""
    if isinstance(task, tasks.Decide):
        given, facts, language, appeal = task.given, task.summary, task.language, task.appeal
    else:
        given, facts, language, appeal = task.case.given, " ".join(acts_of(task.case)), task.case.language, None
    judgment = criminal.judged(facts, language, task.found)
    articles, charges, term = judgment.relevant_articles, judgment.charges, judgment.term_of_imprisonment
    if given:  # the term goes by the given article where it was looked up
        articles, charges = given.relevant_articles or articles, given.charges or charges
        term = criminal.sentenced(facts, articles, charges, task.found).term_of_imprisonment
    if appeal:
        term = criminal.reduced(term, facts, task.found.statute(*articles))
    answer = criminal.JudgmentAnswer(relevant_articles=articles, charge=charges, term_of_imprisonment=term)
    if not task.reasons:
        return answer
    return tasks.ReasonedJudgment(reasons=said(language, "ranked"), **dict(answer))


def respond(task: tasks.Respond, draw: random.Random) -> tasks.Response:
    """Objects where the facts name mitigating circumstances and there is something left to lower."""
    light = criminal.mitigating(task.case.facts)
    months = task.judgment.term_of_imprisonment.imprisonment
    language, accepts = task.case.language, not light or months <= 6
    # words as the facts have them: `compensat` as “compensation”
    whole = (re.search(re.escape(word) + "[A-Za-z]*", task.case.facts) for word in light)
    named = quotes(language, (match.group() for match in whole if match))
    objection = "" if accepts else said(language, "objection", months=months, light=named)
    if not task.reasons:
        return tasks.Response(accepts=accepts, objection=objection)
    reasons = said(language, "accepts") if accepts else named
    return tasks.ReasonedResponse(reasons=reasons, accepts=accepts, objection=objection)


def petition(task: tasks.DraftPetition, draw: random.Random) -> tasks.Petition:
    """The five parts, from the sentences with mitigating circumstances and the objection."""
    language = task.case.language
    acts = [sentence for sentence in acts_of(task.case) if criminal.mitigating(sentence)][:4]
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
    text, wrong = sentences(task.case.facts), criminal.FACT_WORDS["wrong"].search(task.case.facts)
    return tasks.QuestionAnalysis(points=text[:20] or (task.case.facts,), wanted="incorrect" if wrong else "correct")


def state_issue(task: tasks.StateIssue, draw: random.Random) -> tasks.Issue:
    """What the question says; offline there is no other word for its issue."""
    return tasks.Issue(issue=" ".join(criminal.acts_in(task.case.facts))[:LONGEST_SUMMARY])


def choose(task: tasks.ChooseOption, draw: random.Random) -> tasks.ChosenOption:
    """The option whose words the articles and precedents bear out most; the least where the wrong one is asked for."""
    law = set(words(" ".join(f"{s.text.zh} {s.text.en}" for s in task.found.statutes)))
    asked = set(words(task.case.facts))
    ranked = []
    for letter, option in zip(LETTERS, task.case.options, strict=True):
        own = set(words(option))
        ranked.append(((len(own & law) + 0.5 * len(own & asked)) / (len(own) or 1), letter))
    words_for_wrong = criminal.FACT_WORDS["wrong"]
    wrong = task.analysis.wanted == "incorrect" if task.analysis else words_for_wrong.search(task.case.facts)
    return tasks.ChosenOption(choice=min(ranked)[1] if wrong else max(ranked)[1])


def add_up(task: tasks.AddUp, draw: random.Random) -> tasks.Amount:
    """The sums in the sentences that state acts, each once a sentence; a stated total counts instead of its parts."""
    acts, shares = criminal.acts_in(task.case.facts), criminal.FACT_WORDS["shares"]
    lines = [line for line in acts if not shares.search(line) and criminal.sums_in(line)]
    totals = [criminal.sums_in(line)[-1] for line in lines if criminal.FACT_WORDS["total"].search(line)]
    parts = (max(totals),) if totals else tuple(max(criminal.sums_in(line)) for line in lines)
    return tasks.Amount(amount=round(sum(parts), 2), parts=parts)


METHODS = methods(extract, summarise, decide, respond, petition, analyse, state_issue, choose, add_up)
