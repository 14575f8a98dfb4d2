"""Personas: who a juror is (section 4.2, prompt E.2), seeded panels of them, and panels under a name."""

import io
import math
import random
import re
import sys
import time
from collections.abc import Iterable, Iterator, Mapping, Sequence
from functools import cache, partial
from operator import not_
from typing import Any

from pydantic import Field, TypeAdapter, ValidationError

from courtroom.access import Access, needs
from courtroom.errors import CaseError, CourtroomError
from courtroom.settings import DATA
from courtroom.store.connection import read
from courtroom.store.database import Tables, insert
from courtroom.strict import Strict
from courtroom.text import files
from courtroom.text.encoding import decoded, in_utf8
from courtroom.text.table import dialect_of

_if_known = partial(Field, default="", exclude_if=not_)


class Persona(Strict):
    """P_k: a juror's identity and temper."""

    name: str = Field(title="Name", min_length=1, max_length=80)
    gender: str = Field(title="Gender", max_length=40)
    age: int = Field(title="Age", ge=18, le=95)
    status: str = Field(title="Status", max_length=80, description="E.g. employed, student, retired.")
    background: str = Field(title="Background", max_length=400, description="Profession and experience.")
    traits: tuple[str, ...] = Field(default=(), title="Traits", max_length=12)
    interests: tuple[str, ...] = Field(default=(), title="Interests", max_length=12)
    schooling: str = _if_known(title="Schooling", max_length=200)
    jury_service: str = _if_known(title="Jury service", max_length=200, description="E.g. sat in a civil jury in 2019.")
    went_through: str = _if_known(
        title="What the person went through", max_length=400, description="E.g. the flat was burgled twice."
    )

    @property
    def more(self) -> str:
        """Background, and what else is known of its life."""
        return " ".join(filter(None, (self.background, self.schooling, self.jury_service, self.went_through)))

    def text(self) -> str:
        """The persona as one paragraph, for similarity."""
        return f"{self.status}. {self.more} {', '.join(self.traits)}. {', '.join(self.interests)}."

    def features(self) -> frozenset[str]:
        """What two personas can have in common."""
        band = f"age {self.age // 15}"
        more = {text.lower() for text in (self.schooling, self.jury_service, self.went_through) if text}
        return frozenset({self.gender.lower(), self.status.lower(), band, *self.traits, *self.interests, *more})


class PoolPerson(Persona):
    """One of a pool from which panels are drawn, such as a row of a census or a survey."""

    weight: float = Field(title="Weight", ge=0, description="Who weighs twice as much is drawn twice as often.")


DISPUTES, TRIALS = "personas", "personas_trials"
"""Files of bundled personas: people of a marketplace, and people of a jury pool."""
LARGEST_PANEL = 51
"""Persons."""


@cache
def pool(name: str = DISPUTES) -> tuple[Persona, ...]:
    """All bundled personas of a file."""
    text = (DATA / f"{name}.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Persona, ...]).validate_json(text)


def likeness(one: Persona, other: Persona) -> float:
    """Share of features in common, 0 to 1 (Jaccard)."""
    mine, theirs = one.features(), other.features()
    return len(mine & theirs) / len(mine | theirs)


@cache
def sample_panel(size: int, seed: int, pool_name: str = DISPUTES) -> tuple[Persona, ...]:
    """A diverse panel of 1 to 51: the first by lot, each next one of eight drawn that is least like those seated. A
    smaller panel of the same seed is the beginning of a larger one."""
    if not 1 <= size <= LARGEST_PANEL:
        raise ValueError("a panel has 1 to 51 members")
    draw = random.Random(seed)
    left = list(pool(pool_name))
    panel = [left.pop(draw.randrange(len(left)))]
    while len(panel) < size:
        drawn = draw.sample(range(len(left)), min(8, len(left)))
        best = min(drawn, key=lambda i: max(likeness(left[i], seated) for seated in panel))
        panel.append(left.pop(best))
    return tuple(panel)


def is_pool(panel: Sequence[Persona]) -> bool:
    """Whether a panel is drawn from these persons, who are too many for one or have weights."""
    return len(panel) > LARGEST_PANEL or any(isinstance(one, PoolPerson) for one in panel)


def drawn_panel(people: Sequence[Persona], size: int, seed: int) -> tuple[Persona, ...]:
    """Draw a panel by weight, nobody twice (Efraimidis and Spirakis). A smaller panel of the same seed is the beginning
    of a larger one. Raises `CourtroomError`: there are fewer who have a weight."""
    draw = random.Random(f"{seed}/people")
    lots = ((one, getattr(one, WEIGHT, 1.0), math.log(max(draw.random(), sys.float_info.min))) for one in people)
    keys = [(lot / weight, one) for one, weight, lot in lots if weight]
    if len(keys) < size:
        raise CourtroomError(f"{size} persons can't be drawn: only {len(keys)} have a weight. Draw fewer.")
    best = sorted(keys, key=lambda pair: -pair[0])[:size]
    return tuple(Persona.model_validate(one.model_dump(include={*Persona.model_fields})) for _, one in best)


LONGEST_NAME = 80
PANEL: TypeAdapter[tuple[PoolPerson | Persona, ...]] = TypeAdapter(tuple[PoolPerson | Persona, ...])


class PanelStore(Tables):
    """Saved panels. Methods may be called from any thread."""

    def names(self) -> list[str]:
        """All names, last saved first."""
        return [row["name"] for row in self._database.execute("SELECT name FROM panels ORDER BY saved DESC, name")]

    @needs(Access.RUN)
    def save(self, name: str, panel: Iterable[Persona]) -> None:
        """Save under a name, in place of what had it before. Raises `CourtroomError`: the name is empty or too long, or
        nobody is in the panel."""
        kept, called = tuple(panel), _name(name)
        if not kept:
            raise CourtroomError("A panel needs at least one person. Add one.")
        row = {"name": called, "body": PANEL.dump_json(kept).decode(), "saved": time.time()}
        insert(self._database.connection, "panels", [row], key=["name"])

    def load(self, name: str) -> tuple[Persona, ...]:
        """The panel of a name. Raises `CourtroomError`: there is none. Raises `Unreadable`: its row is damaged."""
        row = self._database.row("SELECT body FROM panels WHERE name = ?", (name,))
        if row is None:
            raise CourtroomError(f"There is no panel “{name}”. See all with `python -m courtroom panels`.")
        return read("panel", name, lambda: PANEL.validate_json(row["body"]))

    @needs(Access.RUN)
    def rename(self, name: str, to: str) -> None:
        """Give a panel another name. Raises `CourtroomError`: there is no such panel, or the other name is taken."""
        called = _name(to)
        with self._database.transaction() as db:
            self.load(name)
            if called == name:
                return
            if called in self.names():
                raise CourtroomError(f"There is a panel “{called}” already. Choose another name.")
            db.execute("UPDATE panels SET name = ? WHERE name = ?", (called, name))

    @needs(Access.RUN)
    def delete(self, name: str) -> tuple[Persona, ...]:
        """Forget a panel; what it was, to be saved again. Raises `CourtroomError`: there is none."""
        with self._database.transaction() as db:
            panel = self.load(name)
            db.execute("DELETE FROM panels WHERE name = ?", (name,))
        return panel


def _name(name: str) -> str:
    called = " ".join(name.split())
    if not called or len(called) > LONGEST_NAME:
        raise CourtroomError(f"Give the panel a name of at most {LONGEST_NAME} characters.")
    return called


LARGEST = 2**20
"""Bytes of a file."""
MOST = 2_000
"""Persons that are saved under one name."""
FIELDS = tuple(Persona.model_fields)
WEIGHT = "weight"
AGES = range(18, 96)
_COLUMN = re.compile(r"\{([^{}]+)\}")
MAY_BE_EMPTY = ("status", "background")
"""Of what a file must have, what may be empty in it: a census need not tell it."""
NEEDED = tuple(name for name, field in Persona.model_fields.items() if field.is_required())
LISTS = ("traits", "interests")
ENDINGS = (".csv", ".yaml", ".yml")


def read_panel(
    name: str, data: bytes, encoding: str = "", columns: Mapping[str, str] | None = None
) -> tuple[tuple[Persona, ...], str]:
    """The persons of a CSV or YAML file, in its order, and what to tell of how it was read.

    CSV has a line with the fields' names first; several traits or interests are parted by `;` or `,` within a cell.
    YAML is a list of persons, each with the fields by their names. The ending of the file's name says which it is;
    `encoding` is as a person says, and empty where it is to be found from the bytes. Raises `CourtroomError`: a
    sentence that names the row and the mend. `columns`: of a CSV file with other columns, such as a census: by the
    field of a person (or `weight`) the column that has it, or a text with columns in braces. Columns that are not named
    here or fields are left out."""
    if len(data) > LARGEST:
        raise CourtroomError(f"{name} has more than {LARGEST // 2**20} MB, which is too much for a panel.")
    if columns and not (name.lower().endswith(".csv") and all(columns.values())):
        raise CourtroomError("Columns are for CSV files alone: write FIELD=COLUMN for each, or leave them out.")
    try:
        if name.lower().endswith(".csv"):
            file, remark = in_utf8(io.BytesIO(data), encoding)
            rows = list(_from_csv(name, file, columns))
            if columns:
                rows, told = _of_age(rows)
                remark = f"{remark} {told}".strip()
        elif name.lower().endswith(ENDINGS):
            text, remark = decoded(data, encoding)
            rows = _from_yaml(name, text)
        else:
            raise CourtroomError(f"{name} can't be read. Give a file that ends in {', '.join(ENDINGS)}.")
    except CaseError as error:
        raise CourtroomError(f"{name}: {error}") from error
    return checked(rows), remark


def checked(rows: Iterable[Any]) -> tuple[Persona, ...]:
    """Return persons from plain rows, as a file or a table has them. Raises `CourtroomError`: it names the row."""
    panel, rows = dict[str, Persona](), list(rows)
    if len(rows) > MOST:
        raise CourtroomError(
            f"At most {MOST:,} persons are kept under a name, and here are {len(rows):,}. Leave some out."
        )
    for number, row in enumerate(rows, start=1):
        person = _person(number, row)
        if person.name in panel:
            raise CourtroomError(f"Row {number}: there is a “{person.name}” already. Give each person another name.")
        panel[person.name] = person
    if not panel:
        raise CourtroomError("There is nobody in this panel. Add a row for each person.")
    return tuple(panel.values())


def write_csv(panel: Iterable[Persona]) -> str:
    """As `read_panel` reads it."""
    rows = [person.model_dump(mode="json") for person in panel]
    names = [name for name in (*FIELDS, WEIGHT) if name in (*NEEDED, *LISTS) or any(name in row for row in rows)]
    for row in rows:
        row.update({name: "; ".join(row[name]) for name in LISTS})
    return files.write_csv(names, ([row.get(name, "") for name in names] for row in rows))


def write_yaml(panel: Iterable[Persona]) -> str:
    """As `read_panel` reads it."""
    import yaml

    rows = [person.model_dump(mode="json") for person in panel]
    return str(yaml.safe_dump(rows, allow_unicode=True, sort_keys=False, width=120))


def _from_csv(name: str, file: io.BufferedReader, columns: Mapping[str, str] | None) -> Iterator[Mapping[str, Any]]:
    table = dialect_of(file.peek(1).decode(errors="replace"), FIELDS).read(file)
    names = [column.casefold() for column in table.columns]
    own = {field: f"{{{field}}}" for field in (*FIELDS, WEIGHT) if field in names}
    # A column, or a text with columns in braces; capitals in columns' names don't matter.
    taken = own | {field: text if _COLUMN.search(text) else f"{{{text}}}" for field, text in (columns or {}).items()}
    needed = ("age",) if columns else NEEDED
    if missing := [field for field in needed if field not in taken]:
        raise CourtroomError(
            f"{name}: the first row must name the columns, and {', '.join(missing)} is not among them. "
            f"The columns are {', '.join(FIELDS)}."
        )
    if unknown := [field for field in taken if field not in (*FIELDS, WEIGHT)]:
        known = ", ".join((*FIELDS, WEIGHT))
        raise CourtroomError(f"“{unknown[0]}” is no field of a person. The fields are {known}.")
    asked = {column.casefold() for text in taken.values() for column in _COLUMN.findall(text)}
    if lacking := sorted(asked - {*names}):
        raise CourtroomError(f"{name} has no column “{lacking[0]}”. It has {', '.join(table.columns)}.")
    for line in table.rows:
        if line.fault:
            raise CourtroomError(f"{name}, {line.place}: {line.fault}")
        row: dict[str, Any] = {column.casefold(): files.cell_text(cell) for column, cell in line.cells.items()}
        if not any(cell.strip() for cell in row.values()):
            continue
        if columns:
            in_row = partial(_COLUMN.sub, lambda found, cells=row: cells.get(found[1].casefold(), ""))
            row = {field: in_row(text) for field, text in taken.items()}
        parts = {field: re.split(";" if ";" in row.get(field, "") else ",", row.get(field, "")) for field in LISTS}
        lists = {field: [part.strip() for part in found if part.strip()] for field, found in parts.items()}
        yield {field: value for field, value in row.items() if value.strip() or field in MAY_BE_EMPTY} | lists


def _of_age(rows: Sequence[Mapping[str, Any]]) -> tuple[list[Mapping[str, Any]], str]:
    """The rows of those who can sit, each with what a person must have, and what to tell of the others."""
    kept: list[Mapping[str, Any]] = [
        {"name": f"Person {number}", "gender": "person", "status": "", "background": "", **row, "age": age}
        for number, row in enumerate(rows, start=1)
        if not (age := str(row.get("age", "")).removesuffix(".0")).isdigit() or int(age) in AGES
    ]
    out = len(rows) - len(kept)
    return kept, f"{out:,} of {len(rows):,} rows are left out: their age is not from 18 to 95." if out else ""


def _from_yaml(name: str, text: str) -> list[Any]:
    import yaml

    try:
        # An alias could make a small file large.
        if any(isinstance(event, yaml.AliasEvent) for event in yaml.parse(text, Loader=yaml.SafeLoader)):
            raise CourtroomError(f"{name} uses aliases (“*name”). Write each person out.")
        found = yaml.safe_load(text)
    except yaml.MarkedYAMLError as error:
        line = error.problem_mark.line + 1 if error.problem_mark else 1
        raise CourtroomError(f"{name} is not valid YAML: line {line}. Mend it there.") from error
    except (yaml.YAMLError, ValueError, RecursionError) as error:
        raise CourtroomError(f"{name} is not valid YAML. Check that it is the right file.") from error
    if not isinstance(found, list):
        raise CourtroomError(f"{name} must be a list of persons, each beginning with “- name:”.")
    return found


def _person(number: int, row: Any) -> Persona:
    if not isinstance(row, Mapping):
        raise CourtroomError(f"Row {number}: this is no person. Give {', '.join(NEEDED)}.")
    try:
        return (PoolPerson if WEIGHT in row else Persona).model_validate(dict(row))
    except ValidationError as error:
        first = error.errors(include_url=False, include_input=False)[0]
        field = str(first["loc"][0])[:40] if first["loc"] else "the row"
        if first["type"] == "extra_forbidden":
            raise CourtroomError(
                f"Row {number}: “{field}” is no field of a person. The fields are {', '.join(FIELDS)}."
            ) from error
        wrong = WRONG.get(first["type"]) or WRONG.get(field, "must be a list of texts.")
        told = wrong.format(**first.get("ctx", {}))
        raise CourtroomError(f"Row {number}: {field} {told}") from error


WRONG = {
    "missing": "is missing. Write it in.",
    "string_too_short": "is empty. Write it in.",
    "string_too_long": "has more than {max_length} characters. Shorten it.",
    "too_long": "has more than {max_length} entries. Leave some out.",
    "string_type": "must be text.",
    WEIGHT: "must be a number, 0 or more.",
    "age": "must be a whole number from 18 to 95.",
}
"""What is told of a field, by the kind of the fault, else by the field."""
