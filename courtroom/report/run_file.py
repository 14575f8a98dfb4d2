"""A run as one JSON document: written, and read without trust, checked against its hash and against itself."""

import hashlib
import io
import json
import zipfile
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any, Literal

from pydantic import BeforeValidator, Field, StringConstraints, TypeAdapter, ValidationError

from courtroom.access import Access, acting_account, needs
from courtroom.cases.case import Case
from courtroom.cases.checks import explain
from courtroom.cases.kinds import parse_case
from courtroom.declarations.setup import Setup
from courtroom.engine.answers import AnswerStore, unpack
from courtroom.engine.budget import Payer, Payment
from courtroom.engine.court import RunInput
from courtroom.engine.events import Called, Event, Seated, StageBegan, Tallied, Verdict, Voted
from courtroom.engine.interventions import Intervention
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.run import LARGEST_SEED, RECORDING, Control, Run
from courtroom.errors import CourtroomError
from courtroom.evaluation.comparison import compare
from courtroom.experiments.written import csv_of
from courtroom.judging.jurors import private_votes
from courtroom.models.apart import refuse
from courtroom.models.request import Reply, digest_text
from courtroom.models.spec import RECORDED
from courtroom.questions.asides import Aside, ExportedAudience, KeptBeside
from courtroom.questions.marks import Mark
from courtroom.recordings import Recording
from courtroom.report.page import NOTHING, as_html
from courtroom.report.transcript import as_docx, as_markdown, votes_in_long_form
from courtroom.sharing import NOBODYS
from courtroom.store.connection import REFUSALS
from courtroom.strict import Strict

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

FORMAT = "courtroom-run-2"
NOT_IN_A_FILE = {"control", "imported", "exported_id", "exported_parent"}
"""What a run has only in the store in which it is."""


def as_json(record: Record, answers: AnswerStore, beside: KeptBeside = NOTHING) -> str:
    """Write all that is on record of a run, with a hash over it. Parts of prompts stand once, under their digests."""
    answers = answers.of(record.run)
    named = dict if record.run.imported else _without_address  # an imported run is written as it came
    exported_ids = {"id": record.run.exported_id, "parent": record.run.exported_parent} if record.run.imported else {}
    entries: dict[str, Any] = {}
    parts: dict[str, str] = {}
    calls = (*record.calls, *record.overtaken, *(one.called for _, one in beside.asides))
    for key in (key for call in calls for key in call.keys):
        if key in entries or (entry := answers.entry(key)) is None:
            continue
        request, reply = entry
        entries[key] = {"request": request, "reply": named(reply.model_dump(mode="json"))}
        digests = (part for _, message in request["messages"] for part in message if isinstance(part, str))
        parts.update({digest: answers.text(digest) for digest in digests if digest not in parts})
    document = {
        "format": FORMAT,
        "run": record.run.model_dump(mode="json", exclude=NOT_IN_A_FILE) | exported_ids,
        "case": record.case.model_dump(mode="json"),
        "setup": record.setup.model_dump(mode="json"),
        "events": [{"at": at, **named(event.model_dump(mode="json"))} for at, event in record.events],
        "interventions": [one.model_dump(mode="json") for one in record.interventions],
        "overtaken": [named(call.model_dump(mode="json")) for call in record.overtaken],
        "payments": {
            path: Paid.model_validate(paid, from_attributes=True).model_dump(mode="json")
            for path, paid in sorted(record.paid.items())
        },
        "asides": [
            {"at": at, **(aside := one.model_dump(mode="json")), "called": named(aside["called"])}
            for at, one in beside.asides
        ],
        "marks": [mark.model_dump(mode="json") for mark in beside.marks],
        "audience": beside.audience and beside.audience.model_dump(mode="json"),
        "answers": entries,
        "parts": parts,
    }
    return _written({"sha256": hash_of(document), **document})


NOT_TOLD = "not told"
"""What stands in a file for the address of a server that no connection names."""


def _without_address(said: dict[str, Any]) -> dict[str, Any]:
    """A call or a reply that names its server by the connection, and not by the address."""
    if not said.get("address"):
        return said
    return {**said, "address": "" if said["connection"] else NOT_TOLD}


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


MAX_FILE_BYTES = 100 * 2**20
MAX_DEPTH = 60
MAX_VALUES = 2_000_000
"""Values in a file, about; each takes room in memory, however short it is. A run has some thirty in a kilobyte."""
MAX_ENTRIES = {"events": 20_000, "interventions": 500, "overtaken": 20_000, "asides": 2_000, "marks": 2_000}
MAX_TIME_S = 1e11
HARMFUL = (LookupError, ValueError, TypeError, AttributeError, StopIteration, ArithmeticError, RecursionError)
"""What reading a file raises that was made up, or by a program of another version."""
NO_RUN = "This is no run that Courtroom has exported as JSON. Export one on the page Runs to see the form."

Name = Annotated[str, Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,79}$")]
Time = Annotated[float, Field(ge=0, le=MAX_TIME_S)]
Count = Annotated[int, Field(ge=0, lt=2**53)]


class Head(Strict):
    """The run as the file has it; what a run has only in its own store is left out."""

    id: Name
    procedure: str = Field(max_length=80)
    case_id: Name
    title: str = Field(min_length=1, max_length=200)
    case_hash: str = Field(pattern=r"^[0-9a-f]{64}$")
    seed: int = Field(ge=0, le=LARGEST_SEED)
    status: Literal["running", "paused", "done", "failed"]
    reason: str = Field(max_length=4_000)
    verdict: Verdict | None
    parent: Name | None
    origin: str = Field(max_length=100)
    created: Time
    wall_s: Time


class Paid(Strict):
    """What was paid for at one path."""

    calls: Count
    attempts: Count
    prompt: Count
    completion: Count
    cost: Annotated[float, Field(ge=0, le=1e12)] | None
    estimated: bool = Field(default=False, exclude_if=lambda estimated: not estimated)
    cached: Count = Field(default=0, exclude_if=lambda tokens: not tokens)
    written: Count = Field(default=0, exclude_if=lambda tokens: not tokens)
    batched: Count = Field(default=0, exclude_if=lambda tokens: not tokens)


class RecordedCall(Strict):
    """A question as it was sent, text parts by their digests, and its answer."""

    request: dict[str, Any]
    reply: Reply


def _timed(row: Any) -> tuple[Any, Any]:
    """Return when something was, and what it was."""
    return row if isinstance(row, tuple) else (row["at"], {name: value for name, value in row.items() if name != "at"})


Moment = Annotated[float, Field(ge=0, le=MAX_TIME_S, strict=True)]
TimedEvent = Annotated[tuple[Moment, Event], BeforeValidator(_timed)]
EVENTS = TypeAdapter(tuple[TimedEvent, ...])


class RunFile(Strict):
    """All that is in the file, checked."""

    format: str
    sha256: str
    run: Head
    case: Case
    setup: Setup
    events: tuple[TimedEvent, ...]
    interventions: tuple[Intervention, ...]
    overtaken: tuple[Called, ...]
    payments: dict[str, Paid]
    asides: tuple[Annotated[tuple[Moment, Aside], BeforeValidator(_timed)], ...]
    marks: tuple[Mark, ...]
    audience: ExportedAudience | None
    answers: dict[str, RecordedCall]
    parts: dict[str, Annotated[str, StringConstraints(strip_whitespace=False)]]
    """Texts of prompts by their digests."""

    def row(self, *, trusted: bool) -> Run:
        """Return the run as it is put on record. `trusted`: its hash is that of a bundled one, so it keeps its id."""
        head = self.run
        named = str if trusted else imported_id
        return Run(
            **{name: getattr(head, name) for name in Head.model_fields if name not in ("id", "parent", "origin")},
            id=named(head.id),
            parent=named(head.parent) if head.parent else None,
            origin=RECORDING if trusted else "input" if head.origin == RECORDING else head.origin,
            control=Control(),
            imported=self.sha256,
            exported_id=head.id,
            exported_parent=head.parent,
        )


def imported_id(run: str) -> str:
    """Return the id here of an exported run, whatever the file says; another one for each person who imports it."""
    whose = person.id if (person := acting_account()) else NOBODYS
    return f"import-{hashlib.sha256(f'{whose}/{run}'.encode()).hexdigest()[:16]}"


def read_run_file(data: bytes, procedures: Mapping[str, Procedure]) -> RunFile:
    """A run's file, if it is whole, unchanged and consistent; else a `CourtroomError` says why it is refused."""
    document = _document(data)
    name = (document.get("run") or {}).get("procedure") if isinstance(document.get("run"), dict) else None
    if not isinstance(name, str) or name not in procedures:
        raise CourtroomError(
            f"The procedure of this run, “{str(name)[:80]}”, is not installed here. "
            "Install its package, then import the file."
        )
    procedure = procedures[name]
    try:
        if set(document) != {*RunFile.model_fields}:
            raise CourtroomError(NO_RUN)
        for name, most in MAX_ENTRIES.items():
            if len(document[name]) > most:
                raise CourtroomError(f"Its list “{name}” has {len(document[name]):,} entries; {most:,} are allowed.")
        setup = procedure.setup.model_validate(document["setup"])  # not as recorded: what it may ask is checked anew
        refuse(setup.prompts, {})
        events = EVENTS.validate_python(document["events"], context=RECORDED)
        read = {"case": parse_case(document["case"]), "setup": setup, "audience": document["audience"] or None}
        found = RunFile.model_validate({**document, **read, "events": events})
        _belongs_together(found, procedure)
    except (ValidationError, CourtroomError) as error:
        why = explain(error)[0] if isinstance(error, ValidationError) else error
        raise CourtroomError(f"This file holds no run that can be read here. {why}") from error
    except HARMFUL as error:
        raise CourtroomError(NO_RUN) from error
    return found


def _document(data: bytes) -> dict[str, Any]:
    if len(data) > MAX_FILE_BYTES:
        raise CourtroomError(f"This file has {len(data) / 2**20:.0f} MB; {MAX_FILE_BYTES // 2**20} MB are allowed.")
    if sum(map(data.count, (b",", b"[", b"{"))) > MAX_VALUES:
        raise CourtroomError(f"This file has more than {MAX_VALUES:,} values, which no run has. Ask for the file anew.")
    try:
        document = json.loads(data.decode("utf-8"), parse_constant=int)  # no number is NaN or infinite
    except (ValueError, RecursionError) as error:
        raise CourtroomError(NO_RUN) from error
    if not isinstance(document, dict) or not str(document.get("format", "")).startswith("courtroom-run-"):
        raise CourtroomError(NO_RUN)
    if document["format"] != FORMAT:
        raise CourtroomError(
            f"This file has the form {str(document['format'])[:40]}, and this program reads {FORMAT}. "
            "Export the run again with the same version of Courtroom as here."
        )
    if _depth(document) > MAX_DEPTH:
        raise CourtroomError(NO_RUN)
    stated = document.pop("sha256", None)
    if stated != hash_of(document):
        raise CourtroomError("This file was changed after the export: its hash does not fit. Ask for the file anew.")
    return {**document, "sha256": stated}


def _belongs_together(file: RunFile, procedure: Procedure) -> None:
    """Raise where one part of the file does not fit another, so that no page falls over it."""
    head, case, setup = file.run, file.case, file.setup
    if head.status == "running":
        raise CourtroomError("The run was under way when it was exported. Export it once it is paused or done.")
    if (head.case_id, head.case_hash) != (case.id, case.content_hash()) or head.title != case.title:
        raise CourtroomError("Its case is not the one that the run names.")
    if case.kind not in procedure.kinds:
        raise CourtroomError(f"{procedure.title} does not hear cases of the kind “{case.kind}”.")
    held = RunInput(procedure, case, setup, head.seed, file.interventions)
    for index in (0, *(one.index for one in file.interventions)):
        scene = held.at(index).setup
        if problems := scene.model_problems():
            raise CourtroomError(problems[0])
        refuse(scene.prompts, {})
    events = [event for _, event in file.events]
    stages = {"", *(event.path for event in events if isinstance(event, StageBegan))}
    seatings = [event.members for event in events if isinstance(event, Seated)]
    for member in (member for seats in seatings for member in seats):
        if problem := member.spec.problem():
            raise CourtroomError(f"{member.id}: {problem}.")
    if any(len({member.id for member in seats}) < len(seats) for seats in seatings):
        raise CourtroomError("A member sits in two seats.")
    members = {member.id for seats in seatings for member in seats}
    ballots: dict[str, Counter[str | None]] = defaultdict(Counter)
    for vote in (event for event in events if isinstance(event, Voted)):
        ballots[vote.ballot][vote.choice] += 1
    for event in events:
        if isinstance(event, Called) and min(event.prompt_tokens, event.completion_tokens, event.cost or 0.0) < 0:
            raise CourtroomError(f"What {event.path[:80]} took is less than nothing.")
        if event.stage not in stages:
            raise CourtroomError(f"Nothing is known of the stage of {event.path[:80]}.")
        if isinstance(event, Called | Voted) and event.member not in members:
            raise CourtroomError(f"Nobody sits in the seat of {event.path[:80]}.")
        if isinstance(event, Tallied) and event.path not in ballots:
            raise CourtroomError(f"There are no votes for {event.path[:80]}.")
        if isinstance(event, Tallied) and Counter(event.counts) + Counter() != _chosen(ballots[event.path]):
            raise CourtroomError(f"The count of {event.path[:80]} is not that of its votes.")
    choices = {choice.name for choice in procedure.about(case).choices}
    named = {choice for votes in ballots.values() for choice in _chosen(votes)}
    if head.verdict and head.verdict.counts:
        # A jury may end without any choice where what can be chosen depends on the case.
        named |= {*head.verdict.counts, *([] if procedure.choices_in else [head.verdict.outcome])}
    if choices and (unknown := named - choices):
        raise CourtroomError(f"“{min(unknown)[:80]}” can't be voted for in this case.")
    answers = {task.name: task.answer for task in procedure.tasks}
    for call in (*(event for event in events if isinstance(event, Called)), *file.overtaken):
        try:
            if call.value is not None:
                answers[call.task].model_validate(call.value)
        except ValidationError as error:  # when it was given, less may have been asked, or choices named otherwise
            found = {(one["type"], type(one["input"])) for one in error.errors() if one["type"] != "missing"}
            if found - {("literal_error", str)}:
                raise
    times = [*(one.at for one in file.interventions), *(mark.at for mark in file.marks)]
    if not all(0 <= at <= MAX_TIME_S for at in times):
        raise CourtroomError(NO_RUN)
    if any(digest_text(text) != digest for digest, text in file.parts.items()):
        raise CourtroomError("A text of a prompt is not the one that was sent.")
    for entry in file.answers.values():
        if set(entry.request) != {"model", "sampling", "tag", "messages"}:
            raise CourtroomError(NO_RUN)
        unpack(entry.request["messages"], file.parts.__getitem__)


def _chosen(votes: Counter[str | None]) -> Counter[str]:
    """Count the votes of a ballot, without abstentions."""
    return Counter({choice: number for choice, number in votes.items() if choice is not None})


def _depth(value: Any) -> int:
    """How deep lists and objects are nested; counted without recursion."""
    deepest, level = 0, [value]
    while level and deepest <= MAX_DEPTH:
        deepest += 1
        level = [inner for one in level for inner in (one.values() if isinstance(one, dict) else one)]
        level = [inner for inner in level if isinstance(inner, dict | list)]
    return deepest


class RunFiles:
    """Writes and reads the files of runs."""

    def __init__(self, house: "Courthouse") -> None:
        self._house, self._store, self._answers, self._beside = house, house.store, house.answers, house.beside

    def export(self, run: str) -> tuple[str, str]:
        """Name and content of a run's file, with what is kept beside it."""
        return f"{run}.json", as_json(self._house.record(run), self._answers, self._beside.of(run))

    def written(self, run: str, ending: str) -> str | bytes:
        """Write a run as a file with this ending: its record, its report, its transcript, or its votes in long form."""
        record = self._house.record(run)
        procedure, answers = self._house.procedures[record.run.procedure], self._answers
        match ending:
            case ".json":
                return self.export(run)[1]
            case ".html":
                sure = " ".join(filter(None, (self._house.experiments.repeats.sentence(run), self._house.worth(run))))
                return as_html(record, procedure, answers, self._house.media, self._beside.of(run), sure)
            case ".md":
                return as_markdown(record, procedure)
            case ".docx":
                return as_docx(record, procedure)
            case ".csv" | ".parquet":
                votes = votes_in_long_form(record, procedure, answers.of(record.run))
                written: str | bytes = csv_of(votes) if ending == ".csv" else votes.to_parquet()
                return written
        raise CourtroomError("Name a file that ends in .json, .html, .md, .docx, .csv or .parquet.")

    @needs(Access.RUN)
    def take_in(self, data: bytes) -> str:
        """Import a run to be read, and forked; its id. All of it is on record or nothing."""
        procedures = self._house.procedures
        file = read_run_file(data, procedures)
        row = file.row(trusted=self._house.recordings.of(file.sha256) is not None)
        run = row.id
        if self._store.is_there(run):
            raise CourtroomError(f"The run {file.run.id} is here already, as {run}. Open it on the page Runs.")
        if row.parent and self._store.stems_from(row.parent, run):
            raise CourtroomError("This run is said to be a fork of itself. Ask for the file anew.")
        try:
            with self._store.together():
                self._store.take_in(row, file.case, file.setup, file.events, file.overtaken)
                self._store.interventions.put(run, file.interventions)
                paid = ((Payer(run, path), "", Payment(**dict(one))) for path, one in file.payments.items())
                self._store.payments.put(paid, in_month=False)
                answers = {key: (one.request, one.reply) for key, one in file.answers.items()}
                self._answers.take_in(row, answers, file.parts)
                self._beside.take_in(run, KeptBeside(file.asides, file.marks, file.audience))
                if not row.is_recording:
                    self._read(run, procedures[file.run.procedure])
        except REFUSALS as error:
            why = "This file says the same thing twice in different words. Ask for the file anew."
            raise CourtroomError(why) from error
        return run

    @needs(Access.RUN)
    def play(self, recording: Recording) -> str:
        """Take in a recorded hearing with its forks, as far as they are not here; the run's id."""
        with self._store.together():  # two people may press the button at once
            for one in self._house.recordings.family(recording):
                if self._store.recorded(one.sha256) is None:
                    self.take_in(one.file.read_bytes())
        run = self._store.recorded(recording.sha256)
        assert run is not None
        return run

    def _read(self, run: str, procedure: Procedure) -> None:
        """Read it once as pages do, before anybody has to: what falls over it is reported now, and it is not kept."""
        try:
            record = self._house.record(run)
            as_html(record, procedure, self._answers, self._house.media, self._beside.of(run))
            for view in procedure.views:
                view.drawn(record)
            private_votes(record, procedure)
            compare([record, replace(record, run=record.run.model_copy(update={"id": f"{run}-twin"}))])
        except (CourtroomError, *HARMFUL) as error:
            why = "This run does not hold together, so that it can't be shown. Ask for the file anew."
            raise CourtroomError(why) from error
