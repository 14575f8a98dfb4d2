"""What only JurisAgents can show: the flow of the six roles, what was looked up, the judgments side by side."""

import re

from courtroom import CriminalCase, Record
from courtroom.declarations.blocks import Block, Diff, Flow, Step, Text
from courtroom.engine.events import Called
from courtroom.judging.criminal import judgment_of
from courtroom.judging.views import Shown, compared
from courtroom.procedures.jurisagents.setup import TITLES

DOCUMENT = "Case information document"
STEP = re.compile(r"-defendant-(\d+)$")
QUESTION = ("junior", "senior", "assistant", "chief")


def flow(record: Record) -> Shown:
    """Who handed on what, by instance and, where several are judged, by defendant."""
    shown: Shown = {}
    numbers = sorted({_number(call) for call in record.calls} | {1})
    names = record.case.defendants if isinstance(record.case, CriminalCase) else ()
    for number in numbers:
        name = names[number - 1] if len(numbers) > 1 else ""
        about = f" · {name}" if name else ""
        shown[f"First instance{about}"] = [Flow(tuple(_steps(record, number, second=False)))]
        second = list(_steps(record, number, second=True))
        if any(step.state != "to come" and step.title != DOCUMENT for step in second):
            shown[f"Second instance{about}"] = [Flow(tuple(second)), *_changed(record, number)]
    return shown


def judgments(record: Record) -> Shown:
    """The judgment, the first instance's, and the real one, of each who was judged."""
    verdict = record.run.verdict
    several = verdict.details.get("judgments") if verdict else None
    if not several:
        return {"": compared(record)}
    return {one["defendant"]: compared(record, one, one["defendant"]) for one in several}


def _number(call: Called) -> int:
    step = STEP.search(call.path)
    return int(step[1]) if step else 1


def _steps(record: Record, number: int, *, second: bool) -> list[Step]:
    asked = [call for call in record.calls if _number(call) == number]
    calls = {call.member: call for call in asked if (call.stage == "second-instance") == second}
    found = [
        f"{len(r.hits)} from {getattr(r.query, 'collection', '')}"
        for r in record.retrievals
        if (r.stage == "second-instance") == second and r.path.endswith(f"-defendant-{number}") == (number > 1)
    ]
    question = isinstance(record.case, CriminalCase) and record.case.asked != "judgment"
    steps = []
    for role in QUESTION if question or second else TITLES:
        if role == "assistant":
            if found or not second:
                steps.append(Step(DOCUMENT, TITLES[role], state="done" if found else "to come", items=tuple(found)))
        elif any(member.id == role for member in record.members) or not record.members:
            if (call := calls.get(role)) is None:
                steps.append(Step("", TITLES[role], state="to come"))
            elif call.value is None:
                steps.append(Step(call.title, TITLES[role], call.error, "rejected"))
            else:
                body, items = _described(call)
                steps.append(Step(call.title, TITLES[role], body, items=items))
    return steps


def _described(call: Called) -> tuple[str, tuple[str, ...]]:
    value = call.value or {}
    match call.task:
        case "extract":
            acts = tuple(f"{a['act']} {a['consequence']} ({a['intent']})" for a in value["acts"])
            return f"Defendant: {value['defendant']}", acts
        case "summarise":
            return str(value["summary"]), ()
        case "decide" | "decide-alone":
            return str(judgment_of(value)), ()
        case "respond":
            return ("Accepts." if value["accepts"] else f"Objects: {value['objection']}"), ()
        case "petition":
            parts = ("appellant", "facts_and_reasons", "legal_basis", "conclusion")
            return str(value["request"]), tuple(str(value[part]) for part in parts)
        case "analyse":
            return f"Looks for the {value['wanted']} option", (*value["parties"], *value["points"])
        case _:
            return "; ".join(f"{name}: {text}" for name, text in value.items() if text), ()


def _changed(record: Record, number: int) -> list[Block]:
    asked = [call for call in record.calls if call.value and _number(call) == number]
    summaries, judged = ([_described(c)[0] for c in asked if c.task == task] for task in ("summarise", "decide"))
    if len(summaries) < 2 or len(judged) < 2:
        return [Text("The second instance is under way.")]
    return [
        Diff(summaries[0], summaries[1], "Case summary, from the first instance to the second"),
        Diff(judged[0], judged[1], "Judgment, from the first instance to the second"),
    ]
