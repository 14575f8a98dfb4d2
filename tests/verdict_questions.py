"""All that VERDICT asks with a memory, a rejected draft and a lesson in view, rendered: `python -m tests.verdict_questions` writes it."""

import asyncio
from pathlib import Path
from typing import Any

from courtroom import CriminalCase, Task
from courtroom.knowledge.bases import bundled_statutes
from courtroom.law import Judgment, Term
from courtroom.models.prompts import Prompts
from courtroom.procedures import PROCEDURES
from courtroom.procedures.verdict import tasks
from courtroom.procedures.verdict.setup import VerdictSetup
from tests.asked import Asked
from tests.write_prompts import FOLDER

FILE = FOLDER / "verdict-with-memory.txt"
LANGUAGES = ("en", "zh")
TOLD = {
    "title": ("A stall", "烧烤摊"),
    "facts": (
        "Mr Lai, drunk, beat a stranger with a bottle at a barbecue stall because of a look. The stranger has a minor injury.",
        "被告人赖某酒后在烧烤摊因对方看了他一眼，用酒瓶殴打陌生人，致其轻伤。",
    ),
    "defendant": ("Mr Lai", "赖某"),
    "anger": ("Drunk; angry because of a look.", "酒后；因被看了一眼而发怒。"),
    "blow": ("Beat a stranger with a bottle at a barbecue stall.", "在烧烤摊用酒瓶殴打陌生人。"),
    "injury": ("A minor injury.", "轻伤。"),
    "interpretation": (
        "Of a court: a public place is one that is open to anybody.",
        "法院解释：公共场所是任何人都可以进入的场所。",
    ),
    "right_charge": ("picking quarrels and provoking trouble", "寻衅滋事"),
    "wrong_charge": ("intentional injury", "故意伤害"),
    "right_facts": (
        "Mr Kong hit a passer-by in a market because he felt stared at.",
        "孔某在市场因觉得被路人盯着看而殴打路人。",
    ),
    "right_reasoning": (
        "A market is a public place, and a stare is no cause: public order is violated.",
        "市场是公共场所，被看一眼不成其为事由：公共秩序受到侵犯。",
    ),
    "wrong_facts": ("Mr Shen kicked a guest of a teahouse over a spilt cup.", "沈某在茶馆因茶水洒出而踢打一名客人。"),
    "wrong_reasoning": ("The guest was injured, so the injury decides.", "客人受了伤，因此以伤害论。"),
    "directive": (
        "Where somebody is beaten in a public place without a cause in the relation of the two, article 293 applies.",
        "在公共场所无事生非殴打他人，双方之间并无事由的，适用第二百九十三条。",
    ),
    "second_directive": (
        "Who beats a stranger in public because of a look falls under article 293.",
        "因被看一眼而在公共场所殴打陌生人的，属于第二百九十三条。",
    ),
    "first": ("A bottle was used, and there is an injury.", "使用了酒瓶，且有伤情。"),
    "second": ("A stranger was beaten in public because of a look.", "因被看一眼在公共场所殴打陌生人。"),
    "feedback": (
        "The place is public and the motive is provocation. Look at public order.",
        "地点是公共场所，动机是寻衅。请看公共秩序。",
    ),
}
"""What stands in the questions, in English and in Chinese."""


def case_in(language: str) -> CriminalCase:
    """The case of the hearing."""
    said = {name: both[LANGUAGES.index(language)] for name, both in TOLD.items()}
    about = {"id": "stall", "title": said["title"], "language": language}
    return CriminalCase(**about, facts=said["facts"], defendants=(said["defendant"],))


def tasks_in(language: str) -> tuple[Task[Any], ...]:
    """Each task once, with all that it may be given."""
    said = {name: both[LANGUAGES.index(language)] for name, both in TOLD.items()}
    case, points = case_in(language), (said["anger"], said["blow"], said["injury"])
    statutes = tuple(
        statute.model_copy(update={"interpretation": said["interpretation"]})
        for statute in bundled_statutes()
        if statute.number in (234, 293)
    )
    judged = Judgment(
        relevant_articles=(293,), charges=(said["right_charge"],), term_of_imprisonment=Term(imprisonment=10)
    )
    other = Judgment(
        relevant_articles=(234,), charges=(said["wrong_charge"],), term_of_imprisonment=Term(imprisonment=8)
    )
    right = tasks.Recalled(facts=said["right_facts"], reasoning=said["right_reasoning"], verdict=judged)
    wrong = tasks.Recalled(facts=said["wrong_facts"], reasoning=said["wrong_reasoning"], verdict=other)
    memory: dict[str, Any] = {
        "precedents": (right,),
        "directives": (tasks.Directed(text=said["directive"], confidence=0.6, anchor=293, charges=judged.charges),),
        "precedent_similarity": (0.5,),
        "directive_similarity": (0.4,),
    }
    first = tasks.DraftJudgment(predicted_article=234, explanation=said["first"])
    second = tasks.DraftJudgment(predicted_article=293, explanation=said["second"])
    rejected = tasks.Turn(draft=first, feedback=said["feedback"])
    passed = tasks.Turn(draft=second, passed=True, feedback="")
    rule: dict[str, Any] = {"language": language, "anchor": 293, "charges": judged.charges}
    hearing: dict[str, Any] = {"case": case, "points": points, "statutes": statutes}
    return (
        tasks.ExtractPoints(case=case),
        tasks.Rerank(case=case, points=points, candidates=statutes),
        tasks.DraftOpinion(**hearing, turns=(rejected,)),
        tasks.Verify(case=case, draft=second, statutes=statutes, **memory),
        tasks.Preside(**hearing, turns=(rejected, passed), **memory),
        tasks.JudgeAlone(case=case, statutes=statutes, **memory),
        tasks.Induce(**rule, standards=(right, right)),
        tasks.RefineDirective(**rule, directive=said["directive"], positive=right, negative=wrong),
        tasks.Consolidate(**rule, directives=(said["directive"], said["second_directive"])),
        tasks.ReflectOnDraft(
            **hearing, draft=first, turns=(rejected,), real_articles=(293,), real_charges=judged.charges
        ),
    )


def questions(language: str = "en") -> list[Asked]:
    """Each of them as a language model would be sent it."""
    prompts = Prompts(PROCEDURES["verdict"].prompts, {"case": case_in(language), "setup": VerdictSetup()})
    return [Asked(prompts, task, asyncio.run(prompts.render(task, sees=True))) for task in tasks_in(language)]


def file_of(language: str) -> Path:
    """Where they stand."""
    return FILE if language == "en" else FILE.with_stem(f"{FILE.stem}-{language}")


def rendered(language: str = "en") -> str:
    return "\n".join(f"########## {one.task.title} ({one.task.name})\n{one.text()}" for one in questions(language))


if __name__ == "__main__":
    for language in LANGUAGES:
        file_of(language).write_text(rendered(language), encoding="utf-8")
