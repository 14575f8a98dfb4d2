"""Writes what each procedure asks in one sample case as text files, for a reader: `python -m tests.write_prompts`."""

import asyncio
import tempfile
import tomllib
from collections.abc import Callable, Mapping, Sequence
from contextlib import closing
from functools import partial
from pathlib import Path
from typing import Any, get_args

from courtroom import Case, Courthouse, CriminalCase, Doubt, Settings, Task
from courtroom.cases.dispute import Dispute, PrecedentBatch
from courtroom.cases.drafts import asked_with
from courtroom.cases.kinds import parse_case
from courtroom.cases.question import Piece
from courtroom.cases.readers.cail import convert_lawbench
from courtroom.declarations.changes import put
from courtroom.engine.asked_court import NO_MORE
from courtroom.engine.interventions import Intervention, ReplyToQuestions
from courtroom.knowledge.bases import bundled_statutes, from_dispute
from courtroom.law import Judgment, Term
from courtroom.models.prompts import Prompts, answer_form
from courtroom.procedures import PROCEDURES
from courtroom.procedures.verdict import tasks
from courtroom.procedures.verdict.setup import VerdictSetup
from courtroom.questions.beside import prompt
from courtroom.questions.mirror import RewriteCase, texts
from tests.asked import Asked, asked
from tests.samples import drafts

FOLDER = Path(__file__).parent / "rendered"
CHINESE = {
    **{f"{procedure}-zh": (procedure, "criminal-night-market") for procedure in ("jurisagents", "verdict")},
    **{f"{procedure}-zh": (procedure, "concert-tickets") for procedure in ("cyberjurors", "discussion")},
    "juris-zh": ("juris", "news-night-bus"),
    "alignment-zh": ("alignment", ""),
    "distillation-zh": ("distillation", ""),
    "jurisagents-choice-zh": ("jurisagents", ""),
    "jurisagents-amount-zh": ("jurisagents", ""),
}
"""Files that hold what is asked in a Chinese case."""
REPORT = Piece(text="The bridge carries 900 cars a day. A pilot would cost 40,000.", source="report.txt")
QUESTION = asked_with("Should the town close the old bridge to cars?", ("Yes", "No", "A pilot of six months")).case
QUESTION = QUESTION.model_copy(update={"material": (REPORT,)})
ASKED = {
    f"{procedure}-{name}": (procedure, case)
    for procedure in ("discussion", "debate", "mock-jury", "council")
    for name, case in (("question", QUESTION), ("open", QUESTION.model_copy(update={"options": ()})))
}
BRIDGE = asked_with("这座老桥应该禁止汽车通行吗？", ("应该", "不应该", "试行六个月")).case
COUNTED = Piece(text="这座桥每天有900辆汽车通过。试行需要四万元。", source="报告.txt")
ASKED["council-zh"] = ("council", BRIDGE.model_copy(update={"material": (COUNTED,)}))
"""Files that hold what is asked about a question, with options and without."""
JURY = {"jury_size": 6, "rounds": 2, "first_votes": 3, "talk": "follow-graph"}
SEVEN = {"jury_size": 7, "rounds": 2, "examination": "shared", "consensus": 1.0}
OFF: dict[str, tuple[str, str, dict[str, object]]] = {
    "mock-jury": ("trial-boatyard-fire", "vote", JURY),
    "cyberjurors": ("phone-battery", "judge", SEVEN),
    "discussion": ("trial-boatyard-fire", "speak", {}),
    "council": ("trial-boatyard-fire", "respond", {}),
}
"""For each procedure that takes the knobs that all voting procedures share: a case, the vote, and a small setup."""
LIVED = {"schooling": "Left school at 16", "jury_service": "Sat in a criminal jury in 2019"}
LIVED |= {"went_through": "Her shop burned down when she was 30"}
DRIVER = {"gender": "woman", "age": 58, "status": "employed", "background": "Drives a bus."}
PEOPLE = [{"name": name, **DRIVER, "traits": [], "interests": [], **LIVED} for name in ("Ann Wood", "Bea Hill")]
SCRIPT: dict[str, object] = {"script.members": 2, "script.seats": [1, 2]}
SCRIPT |= {"script.words": ["For me it is settled.", "I vote guilty and have nothing to add."]}
KNOBS: dict[str, tuple[str, dict[str, object]]] = {
    **{f"count-seen-{whose}": ("mock-jury", {"count_seen": whose}) for whose in ("all", "nobody")},
    **{f"cyberjurors-count-seen-{whose}": ("cyberjurors", {"count_seen": whose}) for whose in ("all", "heard")},
    "cyberjurors-clerk-counts-off": ("cyberjurors", {"clerk_counts": False}),
    "discussion-count-seen-all": ("discussion", {"count_seen": "all"}),
    **{f"recall-{what}": ("mock-jury", {"recall": what}) for what in ("nothing", "last", "line")},
    **{f"discussion-recall-{what}": ("discussion", {"recall": what}) for what in ("nothing", "line")},
    "least-follows": ("mock-jury", {"graph.least": 3}),
    "peers-unnamed": ("mock-jury", {"peers_named": False}),
    "cyberjurors-peers-unnamed": ("cyberjurors", {"peers_named": False}),
    "discussion-peers-unnamed": ("discussion", {"peers_named": False}),
    **{f"doubt-{name}": ("mock-jury", {"doubt": name}) for name in get_args(get_args(Doubt)[0])},
    "discussion-doubt-sure": ("discussion", {"doubt": "sure"}),
    "scripted": ("mock-jury", SCRIPT),
    "people-who-lived": ("mock-jury", {"jury_size": 2, "first_votes": 1, "jury": PEOPLE}),
    "council-doubt-hesitation": ("council", {"doubt": "hesitation"}),
}
"""Knobs that studies of juries turn, each with the procedure in which the vote is shown that is asked last."""


def _precedent(house: Courthouse) -> Case:
    """A Chinese dispute of which norms are distilled."""
    dispute = house.library.case("concert-tickets")
    assert isinstance(dispute, Dispute)
    return PrecedentBatch(id="precedents", title="先例", language="zh", precedents=(from_dispute(dispute),))


def _of_lawbench(question: str, answer: str) -> Case:
    return parse_case(convert_lawbench({"instruction": "", "question": question, "answer": answer})[0])


MADE_IN_CHINESE: dict[str, Callable[[Courthouse], Case]] = {
    "alignment-zh": lambda house: drafts(house, "zh"),
    "distillation-zh": _precedent,
    "jurisagents-choice-zh": lambda house: _of_lawbench(
        "甲趁乙不备，从其背包中取走手机一部。甲的行为构成何罪?A:抢劫罪;B:抢夺罪;C:盗窃罪;D:无罪。", "正确答案:C。"
    ),
    "jurisagents-amount-zh": lambda house: _of_lawbench(
        "文书:经审理查明，被告人任某于2023年3月盗窃电动车一辆，价值1200元；同年4月盗窃手机一部，价值800元。",
        "上文涉及到的犯罪金额:2000.0元。",
    ),
}
"""Chinese cases of which the library has none."""


def in_chinese(house: Courthouse, name: str) -> str:
    """What is asked in a Chinese case: of the library, or made here."""
    procedure, case = CHINESE[name]
    return rendered(house, procedure, house.library.case(case) if case else MADE_IN_CHINESE[name](house))


def with_replies(house: Courthouse) -> str:
    """What jurors are asked who may ask the court, and who are told its replies from the second round on."""
    of_neighbour = ("Did the neighbour read the van's number plate?", "Could the neighbour see who drove the van?")
    saw = "The neighbour saw neither the number plate nor the driver."
    replies = ((of_neighbour, saw), (("Does the fire expert rule out the old wiring?",), NO_MORE))
    acts = [Intervention(index=1, action=ReplyToQuestions(questions=asked, text=text)) for asked, text in replies]
    changes = {"asks_court": "yes", "talk": "follow-graph", "rounds": 2, "jury_size": 8}
    return rendered(house, "mock-jury", house.library.case("trial-boatyard-fire"), changes, acts)


def rewriting(house: Courthouse) -> str:
    """What a model is asked that puts a change into a case."""
    told = tuple(text for path, text in texts(house.library.case("trial-market-purse")).items() if path != "title")
    task = RewriteCase(change="The defendant is a man, Paul Voss.", texts=told)
    role = prompt("rewriter")
    asked_for = answer_form(task.form, "generous")
    return f"########## {task.title} ({task.name})\n===== system\n{role}\n===== user\n{task.text()}{asked_for}"


def rendered(
    house: Courthouse,
    procedure: str,
    case: Case | None = None,
    changes: Mapping[str, Any] | None = None,
    interventions: Sequence[Intervention] = (),
) -> str:
    """Each task as it is asked first and, where it is asked again and again, as it is asked last."""
    first: dict[str, Asked] = {}
    last: dict[str, Asked] = {}
    for one in asked(house, procedure, changes, case, interventions):
        first.setdefault(one.task.name, one)
        last[one.task.name] = one
    texts = []
    for name, one in first.items():
        texts.append(f"########## {one.task.title} ({name})\n{one.text()}")
        if last[name].text() != one.text():
            texts.append(f"########## {one.task.title} ({name}), as it is asked last\n{last[name].text()}")
    return "\n".join(texts)


TOLD: dict[str, dict[str, str]] = tomllib.loads((FOLDER.parent / "inputs" / "stall.toml").read_text(encoding="utf-8"))
"""What stands in VERDICT's questions about a stall, by language."""


def of_verdict(case: CriminalCase, said: Mapping[str, str]) -> tuple[Task[Any], ...]:
    """Each task of VERDICT once, with all that it may be given: a memory, a rejected draft, a lesson."""
    points, read = (said["anger"], said["blow"], said["injury"]), {"interpretation": said["interpretation"]}
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
    rule: dict[str, Any] = {"language": case.language, "anchor": 293, "charges": judged.charges}
    hearing: dict[str, Any] = {"case": case, "points": points, "statutes": statutes}
    known: dict[str, Any] = {"real_articles": (293,), "real_charges": judged.charges}
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
        tasks.ReflectOnDraft(**hearing, draft=first, turns=(rejected,), **known),
    )


def with_memory(language: str) -> str:
    """All that VERDICT asks with a memory in view."""
    said = TOLD[language]
    about = {"id": "stall", "title": said["title"], "language": language, "facts": said["facts"]}
    case = CriminalCase.model_validate({**about, "defendants": (said["defendant"],)})
    prompts = Prompts(PROCEDURES["verdict"].prompts, {"case": case, "setup": VerdictSetup()})
    every = [Asked(prompts, task, asyncio.run(prompts.render(task, sees=True))) for task in of_verdict(case, said)]
    return "\n".join(f"########## {one.task.title} ({one.task.name})\n{one.text()}" for one in every)


def under(house: Courthouse, procedure: str, changes: Mapping[str, object]) -> str:
    """The vote that is asked last of a small panel under these changes."""
    case, task, small = OFF[procedure]
    values: dict[str, object] = {}
    for path, value in {**small, **changes}.items():
        put(values, path, value)
    found = asked(house, procedure, values, house.library.case(case))
    return [f"########## {one.task.title} ({task})\n{one.text()}" for one in found if one.task.name == task][-1]


FILES: dict[str, Callable[[Courthouse], str]] = {
    **{procedure: partial(rendered, procedure=procedure) for procedure in PROCEDURES},
    **{name: partial(in_chinese, name=name) for name in CHINESE},
    **{name: partial(rendered, procedure=of, case=case) for name, (of, case) in ASKED.items()},
    **{f"knob-{name}": partial(under, procedure=of, changes=changes) for name, (of, changes) in KNOBS.items()},
    "rewrite-case": rewriting,
    "asked-court": with_replies,
}
"""How what each file holds is made."""
WITH_MEMORY = {"verdict-with-memory": "en", "verdict-with-memory-zh": "zh"}
"""Those of `with_memory`, by language."""


def main() -> None:
    FOLDER.mkdir(exist_ok=True)
    with tempfile.TemporaryDirectory() as home, closing(Courthouse(Settings(home=Path(home)))) as house:
        for name, made in FILES.items():
            (FOLDER / f"{name}.txt").write_text(made(house), encoding="utf-8")
    for name, language in WITH_MEMORY.items():
        (FOLDER / f"{name}.txt").write_text(with_memory(language), encoding="utf-8")


if __name__ == "__main__":
    main()
