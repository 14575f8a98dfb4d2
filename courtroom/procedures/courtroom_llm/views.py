"""What only Courtroom-LLM can show: pleadings with their evidence, the bench in order, similar cases, ambiguity, results."""

from collections import Counter
from collections.abc import Callable, Sequence
from typing import Any

from courtroom import Draw, Record
from courtroom.cases.labelled import Labelled, LabelledTask
from courtroom.declarations.blocks import Beside, Block, Card, Cards, Flow, Marked, Span, Step, Table, Text
from courtroom.engine.court import chance
from courtroom.engine.events import Called
from courtroom.evaluation.summaries import where
from courtroom.judging.views import Shown
from courtroom.models.narrow import same
from courtroom.procedures.courtroom_llm.tasks import Plead


def pleadings(record: Record) -> Shown:
    """The text with both sides' evidence, and the two pleadings side by side; one label a text."""
    shown: Shown = {}
    for item in _heard(record):
        lines = [
            (side, record.call(f"arguments/{side}/argue-{item.id}"), _label_of(record, item, side))
            for side in ("prosecutor", "attorney")
        ]
        laid_out, shift = _laid_out(_task(record), item)
        spans = tuple(
            Span(shift(place[0]), shift(place[1]), label, f"{side} for {label}")
            for side, call, label in lines
            for passage in (call.value or {} if call else {}).get("evidence", ())
            if (place := where(passage, item.whole))
        )
        said: Block = Beside(tuple(_pleading(side, call, label, item) for side, call, label in lines))
        if not any(call for _, call, _ in lines):
            tried = getattr(record.setup, "tried", True)
            none = "There is no trial in this structure: nobody pleads."
            said = Text("The pleadings are to come." if tried else none)
        shown[item.id] = [Marked(laid_out, spans, title="The text with the evidence of both sides"), said]
    return shown or {"": [Text("The pleadings come after the preliminary hearing.")]}


def bench(record: Record) -> Shown:
    """The judges in order: what each decided and why, and who departed from the judge before."""
    shown: Shown = {}
    for item in _heard(record):
        votes = record.ballots.get(f"judgment/{item.id}", {})
        steps, before = [], None
        for judge in (member for member in record.members if member.role == "judge"):
            vote = votes.get(judge.id)
            if vote is None:
                steps.append(Step("", judge.name, state="to come"))
                continue
            in_order = getattr(record.setup, "structure", "") == "sequential"
            changed = in_order and None not in (before, vote.choice) and before != vote.choice
            items = (f"Departs from the judge before, who decided for {before}.",) if changed else ()
            title, state = (vote.choice, "done") if vote.choice else ("abstained", "rejected")
            steps.append(Step(title, judge.name, " ".join(vote.reasons), state, items))  # type: ignore[arg-type]
            before = vote.choice or before
        shown[item.id] = [Text(_laid_out(_task(record), item)[0]), Flow(tuple(steps), title="The bench")]
    return shown or {"": [Text("The judges have not begun.")]}


def similar(record: Record) -> Shown:
    """What was looked up for each text, with the reasons that the judges were given."""
    shown: Shown = {}
    reasons = {
        call.path.split("/")[-1]: call.value["reason"] for call in record.calls if call.task == "explain" and call.value
    }
    for item in _heard(record):
        cards = []
        before = f"judgment/similar-{item.id}-"
        for found in record.retrievals:
            number = found.path.removeprefix(before)
            if not number.isdigit():
                continue  # of another text, whose id may begin as this one's
            drawn = isinstance(found.query, Draw)
            for n, hit in enumerate(found.hits, start=1):
                reason = hit.record["reason"] or reasons.get(f"explain-{item.id}-{number}-{n}", "")
                text, _ = _laid_out(_task(record), Labelled.model_validate({**hit.record, "id": "example"}))
                fact = ("chosen", "at random") if drawn else ("similarity", f"{hit.similarity:.2f}")
                why, share = (f"Reason: {reason}",) if reason else (), None if drawn else max(0.0, hit.similarity)
                cards.append(Card(str(hit.record["label"]), text, facts=(fact,), items=why, share=share))
        shown[item.id] = [Cards(tuple(cards), empty="No similar case was looked up.")]
    return shown or {"": [Text("Similar cases are looked up before the judges decide.")]}


def ambiguity(record: Record) -> Shown:
    """Whether the preliminary hearings agree on the first label."""
    rows = []
    for item in _heard(record):
        if not (answers := _hearings(record, item)):
            continue
        counts = Counter(same(one["first"], _task(record).labels) for one in answers)
        clear = "not known" if len(answers) < 2 else "ambiguous" if len(counts) > 1 else "clear"
        text = ", ".join(f"{label} {count}" for label, count in counts.most_common())
        seconds = Counter(str(one["second"]) for one in answers).most_common(1)[0][0]
        rows.append((item.id, clear, text, seconds, item.whole[:120]))
    columns = ("Text", "Is it clear?", "First labels named", "Second, mostly", "Beginning")
    return {"": [Table(columns, tuple(rows), empty="There is no preliminary hearing in this structure, or not yet.")]}


def results(record: Record) -> Shown:
    """Each text's label beside the known one, and how often they agree. A text without a label counts as wrong."""
    verdict = record.run.verdict
    if verdict is None:
        return {"": [Text("Results come with the verdict.")]}
    labels = {item.id: item.label for item in _task(record).items}
    decided: dict[str, dict[str, Any]] = {one["id"]: one for one in verdict.details["results"]}
    found = [decided[item.id] for item in _heard(record)]
    rows = []
    for one in found:
        gold, given = labels[one["id"]], one["label"] or f"none: {one['failed'] or 'it could not be heard.'}"
        agrees = None if gold is None else "yes" if gold == one["label"] else "no"
        is_clear = None if one["ambiguous"] is None else "no" if one["ambiguous"] else "yes"
        votes = ", ".join(f"{label} {count}" for label, count in one["votes"].items())
        rows.append((one["id"], given, gold, agrees, is_clear, votes))
    columns = ("Text", "Label", "Known label", "Agrees", "Clear", "Votes")
    blocks: list[Block] = [Table(columns, tuple(rows), title="Every text")]
    labelled = [one for one in found if labels[one["id"]] is not None]
    if labelled:
        ambiguous = [one for one in labelled if one["ambiguous"]]
        clear = [one for one in labelled if one["ambiguous"] is False]
        groups = {"all": labelled, "clear": clear, "ambiguous": ambiguous}
        heard = any(one["first"] for one in labelled)
        scores: list[tuple[str | int | None, ...]] = []
        for name, group in ((name, group) for name, group in groups.items() if group):
            without, right = sum(one["label"] is None for one in group), _right(group, "label", labels)
            scores.append((name, len(group), without, right, _right(group, "first", labels) if heard else None))
        head = ("Texts", "How many", "Without a label", "Right", "Right at the preliminary hearing")
        blocks.insert(0, Table(head, tuple(scores), title="Accuracy"))
    return {"": blocks}


def _right(group: Sequence[dict[str, Any]], which: str, known: dict[str, str | None]) -> str:
    right = sum(result[which] == str(known[result["id"]]) for result in group)
    return f"{right} of {len(group)} ({right / len(group):.0%})"


def _laid_out(task: LabelledTask, item: Labelled) -> tuple[str, Callable[[int], int]]:
    """A text as it is shown, both of a pair with their names; and where a place of the text stands in it."""
    if not item.second:
        return item.text, lambda place: place
    one, other = (f"{name}: " for name in task.names)
    beyond = len(item.text)
    return f"{one}{item.text}\n{other}{item.second}", lambda place: place + len(one) + len(other) * (place > beyond)


def _pleading(side: str, call: Called | None, label: str, item: Labelled) -> Block:
    answer = (call.value or {}) if call else {}
    said = [str(answer.get("argument") or (call.error if call else "to come"))]
    absent = (quote for quote in answer.get("evidence", ()) if where(quote, item.whole) is None)
    said += [f"Not in the text, so the judges are not shown it: “{quote}”" for quote in absent]
    return Text("\n\n".join(said), f"The {side}, for “{label}”")


def _label_of(record: Record, item: Labelled, side: str) -> str:
    """For which label a side argues, as drawn: on record with the verdict, before it in what the judges were given."""
    if not (answers := _hearings(record, item)):
        return "?"
    first, second = (same(answers[0][name], _task(record).labels) for name in ("first", "second"))
    swapped = chance(record.run.seed, "assignment", item.id).random() < 0.5
    return str(second if swapped == (side == "prosecutor") else first)


def _hearings(record: Record, item: Labelled) -> list[dict[str, Any]]:
    """The answers of the preliminary hearings on a text; the first one counts."""
    hearings = (member.id for member in record.members if member.role == "hearing")
    calls = (record.call(f"preliminary-hearing/{member}/hear-{item.id}") for member in hearings)
    return [call.value for call in calls if call and call.value]


def speaks_for(record: Record, call: Called) -> str | None:
    if call.task != Plead.name:
        return None
    item = next((item for item in _task(record).items if item.id == text_of(record, call)), None)
    return _label_of(record, item, call.member) if item else None


def text_of(record: Record, call: Called) -> str:
    """The id of the text that a call is on."""
    return call.path.rpartition("/")[2].removeprefix(f"{call.task}-")


def _task(record: Record) -> LabelledTask:
    assert isinstance(record.case, LabelledTask)
    return record.case


def _heard(record: Record) -> list[Labelled]:
    wanted = set(getattr(record.setup, "texts", ()))
    return [item for item in _task(record).items if item.id in wanted] if record.stages else []
