"""All that VERDICT asks with a memory, a rejected draft and a lesson in view, rendered: `python -m tests.verdict_questions` writes it."""

import asyncio
import tomllib
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
from tests.docs import ROOT
from tests.write_prompts import FOLDER

FILE = FOLDER / "verdict-with-memory.txt"
TEXTS = ROOT / "tests" / "inputs" / "stall.toml"
TOLD: dict[str, dict[str, str]] = tomllib.loads(TEXTS.read_text(encoding="utf-8"))
"""What stands in the questions, by language."""


def case_in(language: str) -> CriminalCase:
    """The case of the hearing."""
    said = TOLD[language]
    about = {"id": "stall", "title": said["title"], "language": language}
    return CriminalCase(**about, facts=said["facts"], defendants=(said["defendant"],))


def tasks_in(language: str) -> tuple[Task[Any], ...]:
    """Each task once, with all that it may be given."""
    said = TOLD[language]
    case, points = case_in(language), (said["anger"], said["blow"], said["injury"])
    read = {"interpretation": said["interpretation"]}
    statutes = tuple(one.model_copy(update=read) for one in bundled_statutes() if one.number in (234, 293))
    longer, shorter = Term(imprisonment=10), Term(imprisonment=8)
    judged = Judgment(relevant_articles=(293,), charges=(said["right_charge"],), term_of_imprisonment=longer)
    other = Judgment(relevant_articles=(234,), charges=(said["wrong_charge"],), term_of_imprisonment=shorter)
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
    for language in TOLD:
        file_of(language).write_text(rendered(language), encoding="utf-8")
