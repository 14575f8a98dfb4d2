"""A run as one JSON document: case, setup, events, and every question and answer; and many runs as one zip."""

import hashlib
import io
import json
import zipfile
from collections.abc import Iterable, Mapping
from dataclasses import asdict
from typing import Any

from courtroom.engine.answers import AnswerStore
from courtroom.engine.record import Record
from courtroom.questions.asides import KeptBeside

FORMAT = "courtroom-run-2"
NOT_IN_A_FILE = {"owner", "heartbeat", "control", "imported"}
"""What a run has only in the store in which it is."""


NOTHING = KeptBeside()


def as_json(record: Record, answers: AnswerStore, beside: KeptBeside = NOTHING) -> str:
    """All that is on record of a run, with a hash over all of it. Text parts of prompts stand once, under their digests."""
    answers = answers.of(record.run)
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
        "run": record.run.model_dump(mode="json", exclude=NOT_IN_A_FILE),
        "case": record.case.model_dump(mode="json"),
        "setup": record.setup.model_dump(mode="json"),
        "events": [{"at": at, **event.model_dump(mode="json")} for at, event in record.events],
        "interventions": [one.model_dump(mode="json") for one in record.interventions],
        "overtaken": [call.model_dump(mode="json") for call in record.overtaken],
        "payments": {
            path: {name: value for name, value in asdict(paid).items() if name != "number"}
            for path, paid in sorted(record.paid.items())
        },
        "asides": [{"at": at, **one.model_dump(mode="json")} for at, one in beside.asides],
        "marks": [mark.model_dump(mode="json") for mark in beside.marks],
        "audience": beside.audience and beside.audience.model_dump(mode="json"),
        "answers": entries,
        "parts": parts,
    }
    return _written({"sha256": hash_of(document), **document})


def hash_of(document: Mapping[str, Any]) -> str:
    return hashlib.sha256(_written(document).encode("utf-8", "surrogatepass")).hexdigest()


def as_zip(runs: Iterable[tuple[str, str]]) -> bytes:
    """Runs in one zip: name and content of each file."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, text in runs:
            archive.writestr(name, text)
    return out.getvalue()


def _written(document: Mapping[str, Any]) -> str:
    return json.dumps(document, ensure_ascii=False, indent=1)
