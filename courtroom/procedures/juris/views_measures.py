"""How good the final text is: overlap with the reference summary, and the assessor's scores with what they are made of."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from courtroom.cases.document import Document
from courtroom.engine.blocks import Block, Table, Text
from courtroom.engine.record import Record
from courtroom.evaluation.semantic import bert_score, why_not
from courtroom.evaluation.summaries import Quality, cost_effectiveness, lead, overlap
from courtroom.procedures.juris import alike
from courtroom.procedures.juris.setup import JurisSetup
from courtroom.text.words import sentences

DIMENSIONS = ("faithfulness", "completeness", "conciseness")


def measures(record: Record) -> dict[str, list[Block]]:
    """ROUGE, BLEU and BERTScore against the reference summary; the assessor's scores; quality by time."""
    verdict = record.run.verdict
    if verdict is None:
        return {"": [Text("Measures come with the verdict.")]}
    blocks = list(_overlap(record, verdict.summary))
    ways = {"Fine-grained": verdict.details.get("fine_grained"), "Holistic": verdict.details.get("assessment")}
    rows = [_row(name, scores, _seconds(record)) for name, scores in ways.items() if scores]
    if rows:
        columns = (
            "Way",
            *(name.capitalize() for name in DIMENSIONS),
            "Combined",
            "Inference time (s)",
            "Quality by time",
        )
        title = "By the assessor, 0 to 100 each; quality by time is their sum by the time of all other calls"
        blocks.append(Table(columns, tuple(rows), title=title))
    else:
        blocks.append(Text(_why_not_assessed(record)))
    if fine := ways["Fine-grained"]:
        blocks += _made_of(fine)
    return {"": blocks}


def _why_not_assessed(record: Record) -> str:
    setup = record.setup
    assert isinstance(setup, JurisSetup)
    if setup.assess == "none":
        return "The setup asks for no assessment."
    if setup.ways:
        return "The assessor had no answer."
    return "\n".join(alike.assessor(record.members, chosen=False))


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
        got = overlap(text, case.reference)
        semantic = None if missing else bert_score(text, case.reference).f1
        rows.append((name, got.rouge_1, got.rouge_2, got.rouge_l, got.bleu, semantic))
    columns = ("Text", "ROUGE-1", "ROUGE-2", "ROUGE-L", "BLEU", "BERTScore")
    yield Table(columns, tuple(rows), title="Against the reference summary (F1)")
    if missing:
        yield Text(missing)


def _row(way: str, scores: dict[str, Any], seconds: float) -> tuple[Any, ...]:
    found = [scores[name] for name in DIMENSIONS]
    if any(score is None for score in found):
        return (way, *found, None, seconds, None)
    quality = Quality(**dict(zip(DIMENSIONS, found, strict=True)))
    return (way, *found, quality.combined, seconds, cost_effectiveness(quality, seconds))


def _made_of(fine: dict[str, Any]) -> Iterator[Block]:
    """Each sentence with its error, each key fact with the sentences that say it."""
    checked = tuple((n, one["sentence"], one["category"], one["reason"]) for n, one in enumerate(fine["sentences"], 1))
    yield Table(
        ("", "Sentence", "Error", "Reason"),
        checked,
        title="Faithfulness, sentence by sentence",
        empty="The assessor had no answer to the fact check.",
    )
    facts = tuple(
        (one["key_fact"], None if one["sentences"] is None else ", ".join(map(str, one["sentences"])) or "not stated")
        for one in fine["key_facts"]
    )
    yield Table(
        ("Key fact", "Stated in sentence"),
        facts,
        title="Completeness and conciseness, by key facts",
        empty="The assessor named no key facts.",
    )


def _seconds(record: Record) -> float:
    """The time of all calls but the assessor's, one after the other (section 4.3)."""
    return sum(call.latency_s for call in record.calls if call.member != "assessor")
