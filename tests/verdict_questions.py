"""All that VERDICT asks with a memory, a rejected draft and a lesson in view, rendered: `python -m tests.verdict_questions` writes it."""

import asyncio
from typing import Any

from courtroom.cases.criminal import CriminalCase
from courtroom.knowledge.bases import bundled_statutes
from courtroom.law import Judgment, Term
from courtroom.models.prompts import Prompts
from courtroom.models.task import Task
from courtroom.procedures import PROCEDURES
from courtroom.procedures.verdict import tasks
from courtroom.procedures.verdict.setup import VerdictSetup
from tests.asked import Asked
from tests.write_prompts import FOLDER

FILE = FOLDER / "verdict-with-memory.txt"
CASE = CriminalCase(
    id="stall",
    title="A stall",
    facts="Mr Lai, drunk, beat a stranger with a bottle at a barbecue stall because of a look. The stranger has a minor injury.",
    defendants=("Mr Lai",),
)
POINTS = ("Drunk; angry because of a look.", "Beat a stranger with a bottle at a barbecue stall.", "A minor injury.")
STATUTES = tuple(
    statute.model_copy(update={"interpretation": "Of a court: a public place is one that is open to anybody."})
    for statute in bundled_statutes()
    if statute.number in (234, 293)
)
JUDGED = Judgment(
    relevant_articles=(293,),
    charges=("picking quarrels and provoking trouble",),
    term_of_imprisonment=Term(imprisonment=10),
)
RIGHT = tasks.Recalled(
    facts="Mr Kong hit a passer-by in a market because he felt stared at.",
    reasoning="A market is a public place, and a stare is no cause: public order is violated.",
    verdict=JUDGED,
)
WRONG = tasks.Recalled(
    facts="Mr Shen kicked a guest of a teahouse over a spilt cup.",
    reasoning="The guest was injured, so the injury decides.",
    verdict=Judgment(
        relevant_articles=(234,), charges=("intentional injury",), term_of_imprisonment=Term(imprisonment=8)
    ),
)
DIRECTIVE = (
    "Where somebody is beaten in a public place without a cause in the relation of the two, article 293 applies."
)
MEMORY: dict[str, Any] = {
    "precedents": (RIGHT,),
    "directives": (tasks.Directed(text=DIRECTIVE, confidence=0.6, anchor=293, charges=JUDGED.charges),),
    "precedent_similarity": (0.5,),
    "directive_similarity": (0.4,),
}
FIRST = tasks.DraftJudgment(predicted_article=234, explanation="A bottle was used, and there is an injury.")
SECOND = tasks.DraftJudgment(predicted_article=293, explanation="A stranger was beaten in public because of a look.")
REJECTED = tasks.Turn(draft=FIRST, feedback="The place is public and the motive is provocation. Look at public order.")
PASSED = tasks.Turn(draft=SECOND, passed=True, feedback="")
RULE: dict[str, Any] = {"language": "en", "anchor": 293, "charges": JUDGED.charges}

QUESTIONS: tuple[Task[Any], ...] = (
    tasks.ExtractPoints(case=CASE),
    tasks.Rerank(case=CASE, points=POINTS, candidates=STATUTES),
    tasks.DraftOpinion(case=CASE, points=POINTS, statutes=STATUTES, turns=(REJECTED,)),
    tasks.Verify(case=CASE, draft=SECOND, statutes=STATUTES, **MEMORY),
    tasks.Preside(case=CASE, points=POINTS, statutes=STATUTES, turns=(REJECTED, PASSED), **MEMORY),
    tasks.JudgeAlone(case=CASE, statutes=STATUTES, **MEMORY),
    tasks.Induce(**RULE, standards=(RIGHT, RIGHT)),
    tasks.RefineDirective(**RULE, directive=DIRECTIVE, positive=RIGHT, negative=WRONG),
    tasks.Consolidate(
        **RULE, directives=(DIRECTIVE, "Who beats a stranger in public because of a look falls under article 293.")
    ),
    tasks.ReflectOnDraft(case=CASE, draft=FIRST, statutes=STATUTES, real_articles=(293,)),
)


def questions() -> list[Asked]:
    """Each of them as a language model would be sent it."""
    prompts = Prompts(PROCEDURES["verdict"].prompts, {"case": CASE, "setup": VerdictSetup()})
    return [Asked(prompts, task, asyncio.run(prompts.render(task, sees=True))) for task in QUESTIONS]


def rendered() -> str:
    return "\n".join(f"########## {one.task.title} ({one.task.name})\n{one.text()}" for one in questions())


if __name__ == "__main__":
    FILE.write_text(rendered(), encoding="utf-8")
