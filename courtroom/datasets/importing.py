"""Files become a dataset: streamed, with what is wrong reported record by record, gone on with after a kill; also while
a person does something else."""

import hashlib
import logging
import re
import threading
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import closing, suppress
from dataclasses import dataclass, field, replace
from itertools import islice
from pathlib import Path
from typing import Any

from pydantic import BaseModel, Field, ValidationError

from courtroom.access import Access, for_server, needs
from courtroom.cases.case import Case
from courtroom.cases.checks import check, explain
from courtroom.cases.files import Package
from courtroom.cases.labelled import Labelled
from courtroom.cases.readers import tables
from courtroom.datasets.draft import CHUNK_ROWS, WrittenElsewhere
from courtroom.datasets.forms import form_of, named
from courtroom.datasets.forms.criminal import is_relevance, relevance_in
from courtroom.datasets.forms.form import Context, Form, row_id
from courtroom.datasets.forms.texts import DOCUMENTS
from courtroom.datasets.records import Damaged, Reading
from courtroom.datasets.row import DatasetInfo, ImportCounts, IncomingRow, LeftOut, Problem, SharedFields
from courtroom.datasets.source import SourceFile, fingerprint, parts
from courtroom.datasets.statistics import MAX_KEPT_PLACES, counted
from courtroom.datasets.store import Datasets
from courtroom.errors import CaseError, CourtroomError, shown
from courtroom.language import N_
from courtroom.media.store import MediaStore
from courtroom.store.connection import passing
from courtroom.strict import Strict
from courtroom.text.table import TableRow, column_name

log = logging.getLogger(__name__)
MAX_CHUNK_CHARACTERS = 4 * 2**20
LOOKED_AT = 2_000
"""Records that are looked at to find the form, the columns and all numbers that stand for labels."""
MOST_LOOKED_AT = 10 * LOOKED_AT
"""Of a source of many files."""
MOST_REASONS, OTHER_REASONS = 20, N_("for other reasons")
Progress = Callable[[int, int, float], None]
"""Rows taken in, records refused, and the share of the source that is read, 0 to 1."""


class ImportState(BaseModel):
    """How far an import is, as it is kept with each chunk."""

    part: int = 0
    records: int = Field(default=0, description="Of this file.")
    taken: int = 0
    refused: int = 0
    read: int = 0
    why: dict[str, tuple[int, list[str]]] = {}
    """How many records were left out for a reason, and where the first ones are."""
    label: str | None = None
    names: tuple[str, ...] = ()
    """What numbers that stand for labels mean, as the first file says that does."""
    remarks: dict[str, int] = {}
    form: str = ""
    kind: str = ""
    frame: SharedFields | None = None


class Order(Strict):
    """What is to be imported, and how."""

    source: str
    name: str
    form: str = Field(
        default="", description="How records are read; empty: the form that fits most of the first records."
    )
    names: dict[str, str] = Field(default={}, description="What labels that are numbers mean.")
    labels: tuple[str, ...] = Field(default=(), description="The label set; empty: all labels that are met.")
    columns: dict[str, str] = Field(default={}, description="Columns under other names, the file's name first.")
    split: str | None = Field(
        default=None, max_length=80, description="The split of all rows; else as files are named."
    )
    config: str = Field(default="", description="Of a folder with several datasets, the one that is wanted.")
    encoding: str = Field(default="", description="Of texts and tables; empty: found from the bytes of each file.")


def dataset_name(source: Path) -> str:
    """Return the name that a dataset has by its file or folder."""
    stem = source.name if source.is_dir() else source.name.partition(".")[0]
    return re.sub(r"[^A-Za-z0-9._-]+", "-", stem).strip("-._")[:80] or "dataset"


def columns_from(pairs: Iterable[str]) -> dict[str, str]:
    """Columns under other names, from texts such as `Tweet=text`; empty texts count for nothing. Raises
    `CourtroomError`: a text is not of this form, or two columns have one name."""
    found: dict[str, str] = {}
    for pair in filter(None, map(str.strip, pairs)):
        old, _, new = (part.strip() for part in pair.partition("="))
        if not old or not new:
            raise CourtroomError(f"{pair}: write OLD=NEW for a column under another name, such as Tweet=text.")
        if column_name(new) in map(column_name, found.values()):
            raise CourtroomError(f"Two columns are renamed to “{new}”. Give each a name of its own.")
        found[old] = new
    return found


@dataclass(frozen=True)
class Imported:
    """What has come of an import."""

    info: DatasetInfo
    taken: int
    refused: int
    problems: tuple[Problem, ...]
    remarks: Mapping[str, int]
    counts: ImportCounts


class Stopped(CourtroomError):
    """An import was stopped before its end; it can be gone on with."""


class Import:
    """One import from where it stands to its end. After a kill, the same order goes on behind what is kept.

    Args:
        media: where pictures and videos of cases are kept.
        stopped: asked after each chunk; where it says so, the import stops and can be gone on with.

    Raises:
        CourtroomError: the source or the order can't be used.
    """

    def __init__(
        self, datasets: Datasets, media: MediaStore, order: Order, progress: Progress, stopped: Callable[[], bool]
    ) -> None:
        self._datasets, self._media, self._order = datasets, media, order
        self._progress, self._stopped = progress, stopped
        source = Path(order.source)
        self._files = parts(source, order.config)
        text = order.model_dump_json()
        job = hashlib.sha256(f"{source.resolve()}\n{fingerprint(source)}\n{text}".encode()).hexdigest()
        self._draft = datasets.draft(order.name, order.source, job, text)
        self.now = ImportState.model_validate(self._draft.state)
        self._form: Form | None = None
        self._columns_renamed = {column_name(old): new for old, new in order.columns.items()}
        self._sizes = [max(1, part.size) for part in self._files]
        self._unnamed: set[str] = set()
        self._lines, self._problems, self._characters = list[IncomingRow](), list[Problem](), 0
        """What is to be written next."""

    def run(self) -> Imported:
        """Take the source in to its end.

        Raises:
            NumberedLabels: labels are numbers, and neither the files nor the order say what they mean; nothing is kept.
            CourtroomError: no record of the source can be used.
        """
        try:
            kind, frame = self._through()
            info = self._datasets.finished(self._draft, kind, frame)
        except (Stopped, WrittenElsewhere):
            raise
        except CourtroomError:
            self._draft.give_up()
            raise
        problems, now = tuple(self._datasets.problems(info.name, info.version)), self.now
        why = [LeftOut(reason=reason, records=many, places=tuple(places)) for reason, (many, places) in now.why.items()]
        counts = counted(self._datasets, info, now.read, why, now.label or "", {})
        return Imported(info, now.taken, now.refused, problems, now.remarks, counts)

    def _through(self) -> tuple[str, SharedFields | None]:
        """Read what is left; the kind of the cases, and what labelled texts share."""
        if name := self.now.form or self._order.form:
            self._form = named(name)
        if not self._draft.state:
            self._look()
        first, skip = self.now.part, self.now.records
        for number, part in enumerate(self._files[first:], start=first):
            if is_relevance(part):
                self._draft.relate(relevance_in(part))
            else:
                self._part(number, part, skip if number == first else 0)
        self._write(len(self._files), 0, 0)
        if self._form is None or not self.now.taken:
            why = self._first_problems() or "It holds no records."
            raise CourtroomError(f"Nothing of {self._order.source} can be used. {why}")
        return self.now.kind, self._whole_frame()

    def _part(self, number: int, part: SourceFile, skip: int) -> None:
        """Read a file behind its first `skip` records."""
        reading, done = Reading(part, self._order.encoding, self._columns_renamed), skip
        try:
            for record in reading.records(skip):
                self.now.remarks |= {f"{part.name}: {remark}": 1 for remark in reading.remarks}
                self._one(reading, done, record)
                self.now.read += 1
                done += 1
                if done >= LOOKED_AT:
                    self._ask_names()
                many = len(self._lines) + len(self._problems)
                if many >= CHUNK_ROWS or self._characters > MAX_CHUNK_CHARACTERS:
                    self._write(number, done, reading.position)
        except Damaged as error:
            self._refuse(part.name, str(error))
        self._ask_names()

    def _one(self, reading: Reading, number: int, record: TableRow) -> None:
        try:
            if record.fault:
                raise CaseError(record.fault)
            value = self._renamed(record.cells)
            form = self._fitting(value)
            split = next((one for one in (self._order.split, record.split) if one is not None), reading.part.split)
            names, label = self._names(form, reading), self.now.label or ""
            context = Context(reading.part, number, record.place, split, names, unpack=self._unpack, label=label)
            made = list(form.read(value, context))
            lines = [self._line(one, context) for one in made]
            self._agree(made)
        except tables.NumberedLabels as error:
            self._unnamed.update(error.values)
        except ValidationError as error:
            self._refuse(record.place, " ".join(explain(error)[:3]))
        except CaseError as error:
            self._refuse(record.place, str(error))
        except KeyError as error:
            field = str(error).strip("'")
            self._refuse(record.place, f"`{field}` is missing. Add this field.")
        except (TypeError, ValueError, AttributeError, ArithmeticError) as error:
            log.exception("%s", record.place)
            name = self._form.title if self._form else "unknown"
            self._refuse(record.place, f"it can't be read in the form “{name}” ({error}). Check its fields.")
        else:
            self._lines += lines
            self._characters += sum(len(line.case.model_dump_json()) for line in lines[:1]) * len(lines)
            for remark in {_kind_of_remark(remark) for one in made for remark in one.remarks}:
                self.now.remarks[remark] = self.now.remarks.get(remark, 0) + 1

    def _unpack(self, package: Package) -> Case:
        """A case with its media taken into the store. Raises `CaseError`: the checks found errors."""
        found = check(package.case, package.files)
        if errors := [f"{one.field}: {one.message}" for one in found if one.severity == "error"]:
            raise CaseError(" ".join(errors))
        return package.case.with_media(self._media.keep(package.files))

    def _renamed(self, value: Any) -> dict[str, Any]:
        if not isinstance(value, dict):
            raise CaseError("it is no object with named fields. Check that it is the right file.")
        if not self._columns_renamed:
            return value
        new = {column_name(name) for name in self._columns_renamed.values()}
        return {
            self._columns_renamed.get(column_name(name), str(name)): one
            for name, one in value.items()
            if column_name(name) in self._columns_renamed or column_name(name) not in new
        }

    def _look(self) -> None:
        """Find the form and the column of the labels from the first records of each file, whichever is damaged. Raises
        `CourtroomError`: a column to be renamed is not there, or a person must say which column has the labels."""
        met: dict[str, None] = {}
        fits: Counter[Form] = Counter()
        doubts: Counter[tuple[Form, tuple[str, str]]] = Counter()
        for part, value in self._first_records():
            met |= dict.fromkeys(map(str, value))
            value = self._renamed(value)
            if form := self._form or form_of(value, part):
                fits[form] += 1
                doubts.update((form, columns) for columns in form.may_hold_labels(value))
        known = {column_name(name) for name in met}
        if absent := [old for old in self._order.columns if column_name(old) not in known]:
            raise CourtroomError(
                f"{self._order.source} has no column “{absent[0]}” to rename. "
                f"Its columns are: {', '.join(list(met)[:20])}."
            )
        if len(fits) > 1:
            del fits[DOCUMENTS]  # any record with a text is one, so another form that fits says more
        if not fits:
            return
        self._form = form = fits.most_common(1)[0][0]
        for (doubted, (text, label)), times in doubts.items():
            if doubted == form and 2 * times > fits[form] and not self._order.form:
                raise CourtroomError(
                    f"{self._order.source}: the column “{label}” may hold labels, which the form “{form.title}” does "
                    f"not read. If it does, add --rename {text}=text --rename {label}=label; "
                    f"if not, add --form {form.name}."
                )
        unread = [name for name in self._renamed(dict(met)) if column_name(name) not in form.reads]
        if form.reads and unread:
            listed = ", ".join(f"“{shown(name)[:40]}”" for name in unread[:20])
            self.now.remarks[f"Columns that the form “{form.title}” does not read were left out: {listed}."] = 1
        if form.labels_in:
            columns = {column_name(name) for name in self._renamed(dict(met))}
            self.now.label = tables.first_in(tables.LABEL, columns)
            if not self.now.label and not (self._order.labels or self._order.names):
                raise CourtroomError(f"{self._order.source} has no column of labels. Name it with --rename OLD=label.")
            if doubt := tables.labels_from(self.now.label, columns):
                self.now.remarks[doubt] = 1

    def _first_records(self) -> Iterator[tuple[SourceFile, dict[str, Any]]]:
        """The first records of each file that can be read."""
        looked = 0
        for part in self._files:
            if is_relevance(part) or looked > MOST_LOOKED_AT:
                continue
            reading = Reading(part, self._order.encoding, self._columns_renamed)
            with closing(reading.records()) as records, suppress(Damaged):
                for record in islice(records, LOOKED_AT):
                    looked += 1
                    if not record.fault and isinstance(record.cells, dict):
                        yield part, record.cells

    def _fitting(self, value: dict[str, Any]) -> Form:
        """The order's form, or the one that fits most of the first records."""
        if self._form is None:
            fields = ", ".join(f"`{str(name)[:40]}`" for name in list(value)[:8])
            raise CaseError(
                f"its fields ({fields}) are of no form that is known. Say which column is the text and which the "
                "label, such as --rename Tweet=text --rename Feeling=label, or name the form."
            )
        return self._form

    def _names(self, form: Form, reading: Reading) -> Mapping[str, str] | None:
        """What numbers mean as labels: by the order, else by the file."""
        if not form.labels_in:
            return {}
        if self._order.names:
            return self._order.names
        renamed = self._columns_renamed
        names = {column_name(renamed.get(column_name(name), name)): one for name, one in reading.names.items()}
        text = names.get(self.now.label or "")
        self.now.names = self.now.names or tuple(text or ())
        return {str(number): name for number, name in enumerate(text)} if text else None

    def _line(self, made: IncomingRow, context: Context) -> IncomingRow:
        case = made.case
        if isinstance(case, Labelled) and self._order.labels and case.label not in (None, *self._order.labels):
            raise CaseError(f"`label`: “{case.label}” is not in the label set ({', '.join(self._order.labels)}).")
        split = made.split if made.split is not None else context.split
        name = row_id(made, context)
        return replace(made, id=name, split=split, number=context.number, place=context.place)

    def _agree(self, made: list[IncomingRow]) -> None:
        """All cases of a dataset are of one kind, and labelled texts share what they are asked."""
        for one in made:
            kind = "labelled" if isinstance(one.case, Labelled) else one.case.kind
            self.now.kind = self.now.kind or kind
            if kind != self.now.kind:
                raise CaseError(
                    f"it is of the kind “{kind}”, the records before it are of “{self.now.kind}”. Keep one kind."
                )
            if one.frame and self.now.frame is None:
                self.now.frame = one.frame.model_copy(update={"source": Path(self._order.source).name[:400]})
            elif one.frame and self.now.frame and one.frame.labels not in ((), self.now.frame.labels):
                raise CaseError("its labels are not those of the records before it. Import it as a dataset of its own.")

    def _whole_frame(self) -> SharedFields | None:
        """With the label set: as ordered, as given by numbers' names, or all that were met."""
        if self.now.kind != "labelled" or self.now.frame is None:
            return None
        met = self._draft.outcomes()
        labels = (
            self._order.labels
            or tuple(self._order.names.values())
            or self.now.frame.labels
            or (self.now.names if set(met) <= set(self.now.names) else ())
        )
        labels = tuple(dict.fromkeys((*labels, *met)))
        if len(labels) < 2:
            known = ", ".join(labels) or "none"
            mend = self._first_problems() or "Give the label set with --labels."
            raise CourtroomError(f"{self._order.source} has fewer than two labels ({known}). {mend}")
        if found := tables.alike(labels):  # labels that nobody could tell apart are one label written in two ways
            raise CourtroomError(tables.look_alike(*(f"“{one}” ({self._draft.place_of(one)})" for one in found)))
        question = self.now.frame.question or tables.question_of(self.now.frame.names, labels)
        language = self.now.frame.language if self.now.frame.labels else self._draft.language()
        frame = self.now.frame.model_copy(update={"labels": labels, "question": question, "language": language})
        try:
            frame.task(Labelled(id="check", text="check"), "")
        except ValidationError as error:
            raise CourtroomError(f"{self._order.source}: {' '.join(explain(error)[:3])}") from error
        return frame

    def _refuse(self, place: str, message: str) -> None:
        """Note why a record is left out, in characters that can be stored."""
        self._problems.append(Problem(place=shown(place), message=shown(message)))

    def _write(self, part: int, records: int, position: int) -> None:
        now, lines, problems = self.now, self._lines, self._problems
        self._lines, self._problems, self._characters = [], [], 0
        now.part, now.records, now.form = part, records, self._form.name if self._form else ""
        now.taken += len(lines)
        now.refused += len(problems)
        for problem in problems:
            # Reasons that differ only in a number or in what was quoted are one.
            reason = re.sub(r"“[^”]*”", "“…”", _kind_of_remark(problem.message)).rstrip(".")
            reason = reason if reason in now.why or len(now.why) < MOST_REASONS else OTHER_REASONS
            number, places = now.why.get(reason, (0, []))
            now.why[reason] = number + 1, [*places, problem.place][:MAX_KEPT_PLACES]
        self._draft.put(lines, now.model_dump(mode="json"), problems)
        read = sum(self._sizes[:part]) + min(position, self._sizes[part] if part < len(self._sizes) else 0)
        self._progress(now.taken, now.refused, read / sum(self._sizes))
        if self._stopped():
            raise Stopped(f"The import of “{self._order.name}” is stopped; go on with it at any time.")

    def _ask_names(self) -> None:
        """Stop where numbers stand for labels, with all of them that the first records have."""
        if self._unnamed:
            minus_one = {"-1"} if tables.counted_as_none("-1") in self.now.remarks else set()
            raise tables.NumberedLabels(self._unnamed | minus_one, self._order.source)

    def _first_problems(self) -> str:
        sql = "SELECT place, message FROM dataset_problems WHERE dataset = ? LIMIT 3"
        rows = self._draft.database.execute(sql, (self._draft.number,)).fetchall()
        return " ".join(f"{row['place']}: {row['message']}" for row in rows)


def _kind_of_remark(remark: str) -> str:
    """Remarks that differ only in a number are one kind; what is quoted stays."""
    return re.sub(r"(“[^”]*”)|\d[\d.,]*", lambda found: found[1] or "…", remark)


@dataclass
class ImportProgress:
    """How far an import is, and what has come of it."""

    order: Order
    taken: int = 0
    refused: int = 0
    share: float = 0.0
    running: bool = True
    error: str = ""
    asks: tuple[str, ...] = ()
    """Numbers that stand for labels, whose names a person must give before it can go on."""
    done: Imported | None = None
    stopped: threading.Event = field(default_factory=threading.Event, repr=False)


class DatasetImports:
    """All imports that this process works on, by the datasets' names. `uploads`: where files wait to be taken in."""

    def __init__(self, datasets: Datasets, media: MediaStore, uploads: Path) -> None:
        self._datasets, self._media, self._uploads = datasets, media, uploads
        self.under_way: dict[str, ImportProgress] = {}
        self._threads: list[threading.Thread] = []

    @needs(Access.RUN)
    def run(self, order: Order, progress: Progress = lambda taken, refused, share: None) -> Imported:
        """Import to the end, in the caller's own thread; see `Import`."""
        return Import(self._datasets, self._media, order, progress, lambda: False).run()

    @needs(Access.RUN)
    def begin(self, order: Order) -> ImportProgress:
        """Import in the background. Raises `CourtroomError`: a dataset of this name is being imported."""
        before = self.under_way.get(order.name)
        if before is not None and before.running:
            raise CourtroomError(f"“{order.name}” is being imported. Wait for it, or give another name.")
        self._datasets.claim(order.name)  # here, as the thread works for nobody
        state = self.under_way[order.name] = ImportProgress(order)
        work = for_server().run
        thread = threading.Thread(target=work, args=(self._work, state), name=f"import-{order.name}", daemon=True)
        self._threads.append(thread)
        thread.start()
        return state

    @needs(Access.RUN)
    def keep(self, name: str, data: bytes) -> Path:
        """An upload as a file, under its content, so that its import can be gone on with after a restart."""
        folder = self._uploads / hashlib.sha256(data).hexdigest()[:16]
        folder.mkdir(parents=True, exist_ok=True)
        path = folder / Path(name).name
        if not path.exists():
            part = path.with_name(f"{path.name}.part")  # one name: what a killed process left is written over
            part.write_bytes(data)
            part.replace(path)
        return path

    def wait(self) -> None:
        for thread in self._threads:
            thread.join()

    def close(self) -> None:
        """Stop imports after the chunk that they are in; they can be gone on with."""
        for state in self.under_way.values():
            state.stopped.set()
        self.wait()
        self._threads.clear()

    def _work(self, state: ImportProgress) -> None:
        def progress(taken: int, refused: int, share: float) -> None:
            state.taken, state.refused, state.share = taken, refused, share

        try:
            state.done = Import(self._datasets, self._media, state.order, progress, state.stopped.is_set).run()
            if (source := Path(state.order.source)).is_relative_to(self._uploads):
                source.unlink(missing_ok=True)
                with suppress(OSError):  # the same content under another name lies there too
                    source.parent.rmdir()
        except CourtroomError as error:
            state.error = str(error)
            state.asks = error.values if isinstance(error, tables.NumberedLabels) else ()
        except Exception as error:
            why = passing(error).partition(";")[0]
            state.error = f"{why or 'The import stopped; the log says why'}. Go on with it: what is in stays in."
            log.exception("import of %s", state.order.name)
        finally:
            state.running = False
