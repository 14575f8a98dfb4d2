"""What only JURIS can show: the ballot of each sentence, the growing summary, the jurors' agreement, the measures."""

from collections.abc import Iterator
from typing import Any, get_args

from courtroom import Document, Record
from courtroom.declarations.blocks import Beside, Block, Diff, Marked, Span, Table, Text
from courtroom.engine.events import Called, StageBegan
from courtroom.evaluation.summaries import QUALITY, bert_score, by_time, grounding, lead, overlap, where, why_not
from courtroom.judging.views import Shown
from courtroom.procedures.juris.baselines import QUESTIONS
from courtroom.procedures.juris.setup import NOT_ASSESSED, JurisSetup
from courtroom.procedures.juris.tasks import Place, joined
from courtroom.text.words import sentences

LETTERS = {"generator-a": "A", "generator-b": "B"}
"""The candidate that each generator puts forward."""
CONTEXT = 6_000
"""Characters of a document that are shown at once; of a longer one, the part around the support."""
NO_JURY = "There is no jury in this variant."


def ballots(record: Record) -> Shown:
    """Both candidates with their support, then who voted how and why; one label a sentence."""
    shown: Shown = {}
    for stage in _sentences(record):
        offered = _offered(record, stage)
        if not offered:
            continue
        ballot = record.ballots.get(stage.path, {})
        tally = record.tallies.get(stage.path)
        parts = []
        for letter, sentence in offered.items():
            text = f"Candidate {letter} · {grounding(sentence, _text(record)).share:.0%} supported"
            if tally and (votes := tally.counts.get(letter)) is not None:
                text = f"{text} · {votes} vote{'' if votes == 1 else 's'}"
            parts.append(Text(sentence, text))
        rows = []
        for call in _calls(record, "ballot", stage.path):
            value, vote = call.value or {}, ballot.get(call.member)
            evidence = (
                f"“{passage}”" + ("" if where(passage, _text(record)) else " (not found in the document)")
                for passage in value.get("evidence", ())
            )
            choice = vote.choice or "abstained" if vote else None
            on = dict(reason.split(": ", 1) for reason in (vote.reasons if vote else ()))
            rows.append((record.name_of(call.member), choice, on.get("A"), on.get("B"), " / ".join(evidence)))
        columns = ("Juror", "Vote", "On A", "On B", "Passages it names")
        none = "Nobody has voted on this sentence: there was one candidate."
        table = Table(columns, tuple(rows), title="Critiques and votes", empty=none)
        shown[stage.name] = [Beside(tuple(parts)), _support(record, offered), table]
    jury = any(member.role == "juror" for member in record.members)
    none = "The first ballot comes once the length is decided." if jury else NO_JURY
    return shown or {"": [Text(none)]}


def summary(record: Record) -> Shown:
    """The accepted sentences as they came, then what the editor changed, with doubtful sentences marked."""
    rows = []
    for stage in _sentences(record):
        tally, taken = record.tallies.get(stage.path), _taken(record, stage)
        if taken is None:
            continue
        letter, sentence = taken
        counts = f"{tally.counts['A']} : {tally.counts['B']}" if tally else "unopposed"
        rows.append((stage.index, sentence, letter, counts, grounding(sentence, _text(record)).share))
    blocks: list[Block] = []
    if rows or not (record.run.verdict or _calls(record, "write")):
        columns = ("Step", "Accepted sentence", "Candidate", "A : B", "Supported")
        blocks.append(Table(columns, tuple(rows), title="The growing summary", shares=("Supported",)))
    lengths = [
        (record.name_of(c.member), c.value["sentences"], c.value["reason"]) for c in _calls(record, "length") if c.value
    ]
    if lengths:
        blocks.append(Table(("Juror", "Proposed length", "Reason"), tuple(lengths), title="How long it should be"))
    blocks += _baselines(record)
    if verdict := record.run.verdict:
        blocks += _final(record, verdict.details)
    return {"": blocks}


def jurors(record: Record) -> Shown:
    """How often each juror voted with the majority."""
    rows = []
    points_of_view = record.setup.model_dump()["points_of_view"]
    for member in record.members:
        if member.role != "juror":
            continue
        cast = [(ballot, votes[member.id]) for ballot, votes in record.ballots.items() if member.id in votes]
        voted = [(ballot, vote.choice) for ballot, vote in cast if vote.choice]
        tallied = [(ballot, choice) for ballot, choice in voted if ballot in record.tallies]
        agreed = [choice == _majority(record, ballot) for ballot, choice in tallied]
        share = sum(agreed) / len(agreed) if agreed else None
        counts = [sum(choice == letter for _, choice in voted) for letter in "AB"]
        view = points_of_view.get(member.id)
        mine = [call.value["vote"] for call in _calls(record, "ballot") if call.member == member.id and call.value]
        places = [place for place in mine if place in get_args(Place)]  # who chose by letter was told no place
        first = places.count("first") / len(places) if places else None
        rows.append((member.name, member.spec.id, view, len(cast), *counts, len(cast) - len(voted), first, share))
    shares = ("For the first it read", "With the majority")
    columns = ("Juror", "Model", "Point of view", "Ballots", "For A", "For B", "Abstained", *shares)
    return {"": [Table(columns, tuple(rows), shares=shares, empty=NO_JURY)]}


def _baselines(record: Record) -> Iterator[Block]:
    """What SummIt's evaluator advised turn by turn, and the answers of the baseline that answers questions first."""
    advice = [
        (record.stage(call.stage).name, call.value["rationale"], " / ".join(call.value["advice"]) or "none: it stops")
        for call in sorted(_calls(record, "advise"), key=lambda call: record.stage(call.stage).index)
        if call.value
    ]
    if advice:
        yield Table(("Turn", "What the evaluator says", "Advice"), tuple(advice), title="Refinement")
    for call in _calls(record, "answer"):
        if call.value:
            rows = tuple(zip(QUESTIONS, call.value["answers"], strict=False))
            yield Table(("Question", "Answer"), rows, title="Answered before the summary was written")


def _final(record: Record, details: dict[str, Any]) -> Iterator[Block]:
    text = str(details["summary"])
    accepted = joined(tuple(details["accepted"]))
    if accepted and record.setup.model_dump()["variant"] == "juris":
        yield Diff(accepted, text, title="What the chief editor changed")
        edited = next((call.value for call in _calls(record, "edit") if call.value), None)
        if edited and edited["changes"]:
            yield Text("\n".join(f"• {change}" for change in edited["changes"]), "In the editor's words")
    spans = tuple(
        Span(*place, note="Little support") for sentence in details["unsupported"] if (place := where(sentence, text))
    )
    if isinstance(record.case, Document) and record.case.reference:
        yield Text(record.case.reference, "The reference summary, which no member has seen")
    where_from = "in the accepted sentences" if accepted else "in the document"
    line = f"Marked sentences have little support, by their words, {where_from}."
    if not spans and accepted:
        line = "No sentence is made of words that the accepted sentences lack; that says nothing of its meaning."
    elif not spans:
        line = "No sentence is made of words that the document lacks; that says nothing of its meaning."
    assessed = "What the assessor says of each is in the tab Measures." if details.get("fine_grained") else ""
    line = " ".join(filter(None, (line, assessed)))
    yield Marked(text, spans, title="The final text", caption=line)


def _support(record: Record, offered: dict[str, str]) -> Block:
    """The document with what supports either candidate."""
    text = _text(record)
    found = {letter: grounding(sentence, text).spans for letter, sentence in offered.items()}
    places = [(start, end, letter) for letter, spans in found.items() for start, end in spans]
    low = max(0, min((start for start, _, _ in places), default=0) - CONTEXT // 4) if len(text) > CONTEXT else 0
    shown = text[low : low + CONTEXT]
    spans = tuple(
        Span(max(0, start - low), end - low, letter, f"Supports candidate {letter}")
        for start, end, letter in places
        if low <= end and start < low + CONTEXT
    )
    return Marked(
        shown, spans, title="Support in the document", caption="" if shown == text else "A part of the document."
    )


def _offered(record: Record, stage: StageBegan) -> dict[str, str]:
    calls = {call.member: call.value for call in _calls(record, "generate", stage.path) if call.value}
    return {letter: str(calls[member]["sentence"]) for member, letter in LETTERS.items() if member in calls}


def _taken(record: Record, stage: StageBegan) -> tuple[str, str] | None:
    offered = _offered(record, stage)
    if stage.path not in record.ended and not record.run.verdict:
        return None
    letter = _majority(record, stage.path) if stage.path in record.tallies else next(iter(offered), None)
    return (letter, offered[letter]) if letter else None


def _majority(record: Record, ballot: str) -> str:
    counts = record.tallies[ballot].counts
    if counts["A"] != counts["B"]:
        return "A" if counts["A"] > counts["B"] else "B"
    offered = _offered(record, record.stage(ballot))
    shares = {letter: grounding(sentence, _text(record)).share for letter, sentence in offered.items()}
    return "B" if shares["B"] > shares["A"] else "A"


def _sentences(record: Record) -> list[StageBegan]:
    return [stage for stage in record.stages if stage.stage_kind == "sentence"]


def _calls(record: Record, task: str, stage: str = "") -> list[Called]:
    """The answers to one task, by member; of one stage alone, where it is given."""
    of = (call for call in record.calls if call.task == task and stage in ("", call.stage))
    return sorted(of, key=lambda call: call.member)


def _text(record: Record) -> str:
    assert isinstance(record.case, Document)
    return record.case.text


def measures(record: Record) -> Shown:
    """ROUGE, BLEU and BERTScore against the reference summary; the assessor's scores; quality by time."""
    verdict = record.run.verdict
    if verdict is None:
        return {"": [Text("Measures come with the verdict.")]}
    blocks = list(_overlap(record, verdict.summary))
    ways = {"Fine-grained": verdict.details.get("fine_grained"), "Holistic": verdict.details.get("assessment")}
    # The time of all calls but the assessor's, one after the other (section 4.3).
    seconds = sum(call.latency_s for call in record.calls) - record.assessed_s
    rows = [_row(name, scores, seconds) for name, scores in ways.items() if scores]
    if rows:
        dimensions = (name.capitalize() for name in QUALITY)
        columns = ("Way", *dimensions, "Combined", "Inference time (s)", "Quality by time")
        title = "By the assessor, 0 to 100 each; quality by time is their sum by the time of all other calls"
        blocks.append(Table(columns, tuple(rows), title=title))
    else:
        assert isinstance(record.setup, JurisSetup)
        why = "The assessor had no answer." if record.setup.ways else NOT_ASSESSED
        blocks.append(Text("The setup asks for no assessment." if record.setup.assess == "none" else why))
    if fine := ways["Fine-grained"]:
        blocks += _made_of(fine)
    return {"": blocks}


def _overlap(record: Record, summary: str) -> Iterator[Block]:
    case = record.case
    if not (isinstance(case, Document) and case.reference):
        yield Text("The document has no reference summary: nothing to compare with.")
        return
    count = len(sentences(summary))
    compared = {
        "This summary": summary,
        "The first 3 sentences (lead-3)": lead(case.text, 3),
        f"The first {count} sentences (lead-{count})": lead(case.text, count),
    }
    missing = why_not([case.reference])
    rows = []
    for name, text in compared.items():
        semantic = None if missing else bert_score(text, case.reference)["f1"]
        rows.append((name, *overlap(text, case.reference).values(), semantic))
    columns = ("Text", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "BERTScore")
    yield Table(columns, tuple(rows), title="Against the reference summary (F1)")
    if missing:
        yield Text(missing)


def _row(way: str, scores: dict[str, Any], seconds: float) -> tuple[Any, ...]:
    values = [scores[name] for name in QUALITY]
    if any(score is None for score in values):
        return (way, *values, None, seconds, None)
    quality = float(sum(values))
    return (way, *values, quality, seconds, by_time(quality, seconds))


def _made_of(fine: dict[str, Any]) -> Iterator[Block]:
    """Each sentence with its error, each key fact with the sentences that say it."""
    checked = tuple((n, one["sentence"], one["category"], one["reason"]) for n, one in enumerate(fine["sentences"], 1))
    none = "The assessor had no answer to the fact check."
    yield Table(("", "Sentence", "Error", "Reason"), checked, title="Faithfulness, sentence by sentence", empty=none)
    facts = tuple(
        (one["key_fact"], None if one["sentences"] is None else ", ".join(map(str, one["sentences"])) or "not stated")
        for one in fine["key_facts"]
    )
    none, title = "The assessor named no key facts.", "Completeness and conciseness, by key facts"
    yield Table(("Key fact", "Stated in sentence"), facts, title=title, empty=none)
