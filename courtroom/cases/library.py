"""The cases that can be heard: bundled samples and the user's own."""

import json
import time
from collections.abc import Mapping
from functools import cached_property, lru_cache
from itertools import chain, count

from courtroom.access import Access, Resource, needs
from courtroom.cases.case import Case
from courtroom.cases.checks import check
from courtroom.cases.files import Package, read_folder, read_upload
from courtroom.cases.kinds import BUNDLED, parse_case
from courtroom.errors import CaseError, Unreadable
from courtroom.media.store import MediaStore
from courtroom.settings import DATA
from courtroom.sharing import Action, changing, listed, may_see, note, take
from courtroom.store.connection import StoredRow, read, read_all
from courtroom.store.database import Database
from courtroom.store.writer import plainly

BY_CONTENT = "sha256:"
"""Begins what a link calls a case that is no sample; the hash of its content follows."""


class Library:
    """Bundled samples from the project's data, the user's own from SQLite; media of both in one store."""

    def __init__(self, database: Database, media: MediaStore) -> None:
        self._database, self._media = database, media

    def cases(self) -> list[Case]:
        """All cases that can be read, the user's own first; `unreadable` has the others."""
        rank = list(BUNDLED).index
        samples = sorted(self._samples.values(), key=lambda one: (rank(one.kind), one.language != "en", one.title))
        return self._own()[0] + samples

    def unreadable(self) -> list[Unreadable]:
        return self._own()[1]

    def case(self, name: str) -> Case:
        """Return one case; raises `CaseError` where there is none of this id, `Unreadable` where its row is damaged."""
        found = self._find(name) if self._sees(name) else None
        if found is None:
            raise CaseError(f"There is no case “{name}”. See all with `python -m courtroom cases`, or give a file.")
        return found

    @needs(Access.RUN)
    def add(self, package: Package) -> Case:
        """Take in a case with its media. An id that is taken gets a number; the same case is kept once.

        Raises:
            CaseError: the checks found errors; the sentences say which.
            CourtroomError: the disk takes no more; there is no such case then.
        """
        found = check(package.case, package.files, package.there)
        if errors := [f"{one.field}: {one.message}" for one in found if one.severity == "error"]:
            raise CaseError(f"{package.case.title} was not taken in. " + " ".join(errors))
        with plainly("then add the case again"):
            return self._keep(package.case.with_media(self._media.keep(package.files)), "make")

    @needs(Access.RUN)
    def delete(self, name: str) -> Case:
        """Forget a case and return it, for `restore`; raises `CaseError` where there is none, or it is a sample."""
        case = self.case(name)
        if name in self._samples:
            why = "Samples come with the app and can't be deleted. Filter the list by “Your own” to hide them."
            raise CaseError(why)
        with self._database.transaction() as db:
            changing(self._database, "delete", _named(name))
            db.execute("DELETE FROM cases WHERE id = ?", (name,))
            db.execute("DELETE FROM links WHERE kind = 'case' AND id = ?", (name,))
        return case

    @needs(Access.RUN)
    def restore(self, case: Case) -> Case:
        """Bring a deleted case back, under another id where its own has been taken since."""
        with plainly("then try again"):
            return self._keep(case, "restore")

    def is_sample(self, name: str) -> bool:
        return name in self._samples

    @cached_property
    def _samples(self) -> Mapping[str, Case]:
        """Read once a process; they are part of the program."""
        folders = [read_folder(path.parent) for path in sorted((DATA / "cases").glob("*/case.json"))]
        plain = sorted([*(DATA / "documents").glob("*.json"), *(DATA / "tasks").glob("*.json")])
        packages = [*folders, *(package for path in plain for package in read_upload(path.name, path))]
        with plainly("then look at the cases again"):
            return {p.case.id: p.case.with_media(self._media.keep(p.files)) for p in packages}

    def name_in_link(self, case: Case) -> str:
        """What a link calls a case: a sample by its id, another by what is in it, as ids differ between installs."""
        return case.id if self.is_sample(case.id) else f"{BY_CONTENT}{case.content_hash()}"

    def linked(self, name: str) -> Case:
        """Return the case that a link names; raises `CaseError` where it is not here."""
        found = self._samples.get(name)
        if name.startswith(BY_CONTENT):
            wanted = name.removeprefix(BY_CONTENT)
            found = next((case for case in self._own()[0] if case.content_hash() == wanted), None)
        if found is None:
            raise CaseError(
                "The case of this link is not in this install: it was uploaded or changed elsewhere. "
                "Ask for the case as a file, upload it on the page Cases, and open the link again."
            )
        return found

    def _own(self) -> tuple[list[Case], list[Unreadable]]:
        fits, values = listed("case", "cases.id")
        rows = self._database.execute(f"SELECT id, body FROM cases WHERE {fits} ORDER BY added DESC", values)
        return read_all(rows, _case)

    def _find(self, name: str) -> Case | None:
        """A case of this id, whoever may see it."""
        if name in self._samples:
            return self._samples[name]
        row = self._database.row("SELECT id, body FROM cases WHERE id = ?", (name,))
        return _case(row) if row else None

    def _keep(self, case: Case, action: Action) -> Case:
        """Under the first of its ids that nothing has, or that has the very same case where the person may see that."""
        with self._database.transaction():
            for name in chain([case.id], (f"{case.id[:70]}-{number}" for number in count(2))):
                kept, there = case.model_copy(update={"id": name}), self._find(name)
                if there is None:
                    row = (name, kept.model_dump_json(), time.time())
                    self._database.execute("INSERT INTO cases VALUES (?, ?, ?)", row)
                    take(self._database, _named(name), anew=action == "make")
                    note(self._database, action, _named(name))
                if there is None or (there == kept and self._sees(name)):
                    break
        return kept

    def _sees(self, name: str) -> bool:
        return name in self._samples or may_see(self._database, _named(name))


def _named(name: str) -> Resource:
    return Resource(kind="case", id=name)


def _case(row: StoredRow) -> Case:
    return read("case", row["id"], lambda: _parsed(row["body"]))


@lru_cache(maxsize=4096)
def _parsed(body: str) -> Case:
    """A case never changes, so that lists of many are parsed once."""
    return parse_case(json.loads(body))
