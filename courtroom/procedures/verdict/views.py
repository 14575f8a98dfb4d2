"""What only VERDICT can show: the panel's flow, the turns of draft and review, the memory, what was learned."""

from typing import Any

from courtroom.declarations.blocks import Block, Card, Cards, Diff, Flow, Step, Table, Text
from courtroom.engine.events import Called, Learned
from courtroom.engine.record import Record
from courtroom.judging.criminal import judgment_of
from courtroom.judging.views import Shown
from courtroom.knowledge.lessons import Adjust, Frozen, Put, Snapshot
from courtroom.knowledge.memory import Recall
from courtroom.procedures.verdict.learning import EMPTY
from courtroom.procedures.verdict.setup import TITLES


def flow(record: Record) -> Shown:
    """Clerk, assistant, then judge and supervisor in turns, then the presiding judge."""
    steps = []
    for call in record.calls:
        if call.member != "meta":
            checked = call.value if call.task == "verify" else None
            state = "done" if not checked else "rejected" if checked["need_rejudge"] else "passed"
            body, items = _said(record, call)
            where = f" · {record.stage(call.stage).name}" if call.task in ("draft", "verify") else ""
            steps.append(Step(f"{call.title}{where}", TITLES[call.member], body, state, items))  # type: ignore[arg-type]
    return {"": [Flow(tuple(steps))] if steps else [Text("Nobody has been asked yet.")]}


def turns(record: Record) -> Shown:
    """Each turn's draft, the supervisor's flag and feedback, and what changed from draft to draft."""
    shown: Shown = {}
    before = ""
    for stage in record.stages:
        calls = {call.task: call for call in record.calls if call.stage == stage.path and call.value}
        draft, check = calls.get("draft"), calls.get("verify")
        if draft is None:
            continue
        said_of_it, basis = _said(record, draft)
        text = "\n".join((said_of_it, *basis))
        blocks: list[Block] = [Text(text, "Draft")]
        if check:
            rejected = bool((check.value or {})["need_rejudge"])
            said = Step(
                "Verification", TITLES["supervisor"], _said(record, check)[0], "rejected" if rejected else "passed"
            )
            blocks.append(Flow((said,)))
        if before:
            blocks.append(Diff(before, text, "What changed since the draft before"))
        shown[stage.name] = blocks
        before = text
    return shown or {"": [Text("No draft has been written yet.")]}


def memory(record: Record) -> Shown:
    """What the memory recalled, with the parts of each score."""
    shown: Shown = {}
    columns = ("Recalled", "Score", "IoU", "Topo", "SemSim")
    for retrieval in record.retrievals:
        if isinstance(retrieval.query, Frozen):
            taken = (Snapshot.model_validate(hit.record) for hit in retrieval.hits)
            shown["Snapshot"] = [Cards(tuple(map(_snapshot, taken)))]
        if isinstance(retrieval.query, Recall):
            alpha, beta, gamma = retrieval.query.weights
            title = "Standards" if retrieval.query.collection == "standards" else "Micro-directives"
            scored = ((_name(hit.record), hit.parts) for hit in retrieval.hits if hit.parts)
            rows = tuple((name, of.score, of.iou, of.topo, of.semsim) for name, of in scored)
            cards = tuple(_card(hit.record) for hit in retrieval.hits)
            score = f"Score = {alpha:g} IoU + {beta:g} Topo + {gamma:g} SemSim"
            table = Table(columns, rows, title=score, shares=columns[1:], empty=EMPTY)
            shown[title] = [table, *([Cards(cards)] if cards else [])]
    return shown or {"": [Text("The memory was not searched in this run.")]}


def learned(record: Record) -> Shown:
    cards = []
    for event in record.of(Learned):
        lesson = event.lesson
        items = []
        for op in lesson.ops:
            if isinstance(op, Put):
                items.append(f"{op.collection}: {_name(op.record)}")
            elif isinstance(op, Adjust):
                items.append(f"{op.id}: confidence {op.by:+.2f}")
            else:
                items.append(f"{op.collection}: {op.id} goes")
        held_back = (("", "held back: a fork leaves the memory as it is"),) if event.held_back else ()
        cards.append(Card(lesson.phase.capitalize(), lesson.why, held_back, tuple(items)))
    untaught = "Nothing was learned: this is no training run, or the real articles and charges are not known."
    return {"": [Cards(tuple(cards), empty=untaught)]}


def _snapshot(one: Snapshot) -> Card:
    name = one.name or "the memory as it was when the run first looked"
    counts = (("Standards", str(one.standards)), ("Micro-directives", str(one.directives)), ("Buffer", str(one.buffer)))
    return Card(name, f"Digest {one.digest}", counts)


def _said(record: Record, call: Called) -> tuple[str, tuple[str, ...]]:
    value: dict[str, Any] = call.value or {}
    if call.value is None:
        return call.error, ()
    match call.task:
        case "extract":
            return "", tuple(value["points"])
        case "rerank":
            return _shortlisted(record, value["articles"]), ()
        case "draft":
            return f"Article {value['predicted_article']}", (str(value["explanation"]),)
        case "verify":
            return str(value["suggestions"]), ()
        case _:
            return str(judgment_of(value)), (str(value["thought"]),)


def _shortlisted(record: Record, articles: list[int]) -> str:
    """The shortlist, and which of its articles nobody was shown, as the knowledge base lacks them."""
    there = {hit.record["number"] for found in record.retrievals for hit in found.hits if "number" in hit.record}
    missing = ", ".join(str(number) for number in articles if number not in there)
    shown = [str(number) for number in articles if number in there]
    named = f"Article{'s' * (len(shown) > 1)} {', '.join(shown)}"
    return f"{named}; not in the knowledge base, so nobody is shown it: {missing}" if missing else named


def _name(record: dict[str, Any]) -> str:
    return str(record.get("title") or record.get("text") or record["id"])


def _card(record: dict[str, Any]) -> Card:
    if "anchor" in record:
        facts = (("Article", str(record["anchor"])), ("Confidence", f"{record['confidence']:.2f}"))
        return Card("; ".join(record["charges"]) or record["id"], record["text"], facts)
    return Card(_name(record), record["facts"], (("Labels", "; ".join(record["gold"]["charges"])),))
