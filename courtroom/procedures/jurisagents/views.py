"""What only JurisAgents can show: the flow of the six roles, what was looked up, the judgments side by side."""

from __future__ import annotations

from courtroom.engine.blocks import Block, Diff, Flow, Step, Text
from courtroom.engine.events import Called
from courtroom.engine.procedure import View
from courtroom.engine.record import Record
from courtroom.judging.answers import JudgmentAnswer
from courtroom.judging.views import Shown, compared, retrieved
from courtroom.procedures.jurisagents.setup import TITLES

ORDER = ("junior", "senior", "assistant", "chief", "defendant", "counsel")


def flow(record: Record) -> Shown:
    """Who handed on what, by instance."""
    shown: Shown = {"First instance": [Flow(tuple(_steps(record, second=False)))]}
    second = list(_steps(record, second=True))
    if any(step.state != "to come" for step in second):
        shown["Second instance"] = [Flow(tuple(second)), *_changed(record)]
    return shown


def judgments(record: Record) -> Shown:
    """The judgment, the first instance's, and the real one."""
    return {"": compared(record)}


def _steps(record: Record, *, second: bool) -> list[Step]:
    calls = {call.member: call for call in record.calls if (call.stage == "second-instance") == second}
    roles = ("junior", "senior", "chief") if second else ORDER
    steps = []
    for role in roles:
        if role == "assistant":
            found = [f"{len(r.hits)} from {getattr(r.query, 'collection', '')}" for r in record.retrievals]
            steps.append(
                Step(
                    "Case information document", TITLES[role], state="done" if found else "to come", items=tuple(found)
                )
            )
        elif any(member.id == role for member in record.members) or not record.members:
            steps.append(_step(role, calls.get(role)))
    return steps


def _step(role: str, call: Called | None) -> Step:
    if call is None:
        return Step("", TITLES[role], state="to come")
    if call.value is None:
        return Step(call.title, TITLES[role], call.error, "rejected")
    body, items = _told(call)
    return Step(call.title, TITLES[role], body, items=items)


def _told(call: Called) -> tuple[str, tuple[str, ...]]:
    value = call.value or {}
    match call.task:
        case "extract":
            acts = tuple(f"{a['act']} {a['consequence']} ({a['intent']})" for a in value["acts"])
            return f"Defendant: {value['defendant']}", acts
        case "summarise":
            return str(value["summary"]), ()
        case "decide" | "decide-alone":
            return str(JudgmentAnswer.model_validate(value).judgment()), ()
        case "respond":
            return ("Accepts." if value["accepts"] else f"Objects: {value['objection']}"), ()
        case "petition":
            return str(value["request"]), (
                str(value["facts_and_reasons"]),
                str(value["legal_basis"]),
                str(value["conclusion"]),
            )
        case _:
            return "; ".join(f"{name}: {told}" for name, told in value.items() if told), ()


def _changed(record: Record) -> list[Block]:
    told = [_told(call)[0] for call in record.calls if call.task in ("summarise", "decide") and call.value]
    if len(told) < 4:
        return [Text("The second instance is under way.")]
    return [
        Diff(told[0], told[2], "Case summary, from the first instance to the second"),
        Diff(told[1], told[3], "Judgment, from the first instance to the second"),
    ]


VIEWS = (
    View("flow", "Flow", ":material/account_tree:", "The roles in the order of the procedure, and what each handed on.", flow),
    View("retrieval", "Retrieval", ":material/search:", "What the assistant looked up, with its rank by meaning (dense), by words (BM25) and by both (fused).", retrieved),
    View("judgment", "Judgment", ":material/balance:", "The judgment of each instance, and the real one where it is known.", judgments),
)  # fmt: skip
