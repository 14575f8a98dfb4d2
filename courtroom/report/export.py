"""A run as one JSON document: case, setup, events, and every question and answer."""

from __future__ import annotations

import json
from typing import Any

from courtroom.engine.answers import AnswerStore
from courtroom.engine.record import Record
from courtroom.questions.beside import KeptBeside

FORMAT = "courtroom-run-1"


NOTHING = KeptBeside()


def as_json(record: Record, answers: AnswerStore, beside: KeptBeside = NOTHING) -> str:
    """All that is on record of a run. Text parts of prompts stand once, under their digests.

    Args:
        beside: what is kept beside the run.
    """
    entries: dict[str, Any] = {}
    parts: dict[str, str] = {}
    calls = (*record.calls, *record.overtaken, *(one.called for _, one in beside.asides))
    for key in (key for call in calls for key in call.keys):
        entry = answers.entry(key)
        if entry is None or key in entries:
            continue
        request, reply = entry
        entries[key] = {"request": request, "reply": reply.model_dump(mode="json")}
        digests = (part for _, message in request["messages"] for part in message if isinstance(part, str))
        parts.update({digest: answers.text(digest) for digest in digests if digest not in parts})
    document = {
        "format": FORMAT,
        "run": record.run.model_dump(mode="json", exclude={"owner", "heartbeat", "control"}),
        "case": record.case.model_dump(mode="json"),
        "setup": record.setup.model_dump(mode="json"),
        "events": [{"at": at, **event.model_dump(mode="json")} for at, event in record.events],
        "interventions": [one.model_dump(mode="json") for one in record.interventions],
        "overtaken": [call.model_dump(mode="json") for call in record.overtaken],
        "asides": [{"at": at, **one.model_dump(mode="json")} for at, one in beside.asides],
        "marks": [mark.model_dump(mode="json") for mark in beside.marks],
        "audience": beside.audience,
        "answers": entries,
        "parts": parts,
    }
    return json.dumps(document, ensure_ascii=False, indent=1)
