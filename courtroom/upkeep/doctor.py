"""Looks over everything that is kept and everything it needs, says what is wrong, and mends what can be mended."""

from __future__ import annotations

import hashlib
import json
import os
import re
import shutil
import sqlite3
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import closing
from difflib import get_close_matches
from importlib.metadata import PackageNotFoundError, requires, version
from itertools import chain
from urllib.parse import urlsplit

from pydantic import SecretStr

from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError, MediaError, StoreError
from courtroom.models.capabilities import in_words
from courtroom.models.keys import PROVIDERS, first_set
from courtroom.models.offers import listing
from courtroom.models.route import Connections
from courtroom.settings import VARIABLES, Settings, from_environment
from courtroom.store.opening import open_store
from courtroom.store.schema import REVISION
from courtroom.store.sqlite import BACKUP, check, damages, explained
from courtroom.upkeep import stored_rows
from courtroom.upkeep.health import CheckResult, Progress, fine, mended, wrong


def examine(
    settings: Settings, *, mend: bool = False, progress: Progress = lambda about, done: None
) -> Iterator[CheckResult]:
    """Look over everything, one finding after the other; without `mend` nothing is written."""
    yield from libraries()
    yield from variables()
    yield from reachable(settings)
    yield from place(settings)
    progress("store", 0)
    checked = list(store(settings, mend))
    yield from checked
    if any(finding.state == "wrong" for finding in checked) or checked[-1].about != "schema":
        return  # what rests on the file can't be examined
    # The file of connections may be wrong, and was looked at above.
    with closing(Courthouse(settings.model_copy(update={"connections": None}))) as house:
        yield from stored_rows.readable(house, mend, progress)
        yield from stored_rows.belonging(house, mend, progress)
        for model, found in house.capabilities.found().items():
            yield fine(f"model: {model}", f"Found out: it {in_words(found)}. `courtroom models forget` forgets it.")
        try:
            yield from whole(house, mend)
        except MediaError as error:  # the storage does not answer
            yield wrong("media", str(error))
        yield from indexes(house, mend)


ROOM = 2**30
"""Bytes that should be free: runs with many members, and videos, take some."""


def libraries() -> Iterator[CheckResult]:
    """Installed versions against those that the package asks for."""
    from packaging.requirements import Requirement

    try:
        asked = map(Requirement, requires("courtroom") or ())
    except PackageNotFoundError:
        yield wrong("libraries", "Courtroom is not installed as a package. Use `pip install -r requirements.txt`.")
        return
    wanted, bad = [one for one in asked if one.marker is None or one.marker.evaluate({"extra": ""})], list[str]()
    for one in wanted:
        try:
            there = version(one.name)
        except PackageNotFoundError:
            bad.append(f"{one.name} is not installed")
            continue
        if not one.specifier.contains(there, prereleases=True):
            bad.append(f"{one.name} {there} is installed, {one.specifier} is needed")
    if bad:
        yield wrong("libraries", f"{'; '.join(bad)}. Use `pip install -r requirements.txt`.")
    else:
        yield fine("libraries", f"All {len(wanted)} are installed in a version that fits.")


def variables(environment: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """COURTROOM_* variables that nothing reads, with what was probably meant, and values that do not fit."""
    known = [*sorted(VARIABLES), "COURTROOM_REAL_DATA"]  # the last one is for tests and benchmarks
    given = [name for name in environment if name.upper().startswith("COURTROOM_")]
    unknown = [name for name in given if name.upper() not in known]
    for name in sorted(unknown):
        near = get_close_matches(name.upper(), known, 1)
        meant = f"; do you mean {near[0]}?" if near else "."
        yield wrong("settings", f"{name} is not known{meant} Rename it, or unset it.")
    try:
        from_environment()
    except CourtroomError as error:
        yield wrong("settings", str(error))
        return
    if not unknown:
        found = f"Set and fitting: {', '.join(sorted(given))}." if given else "None is set; the defaults hold."
        yield fine("settings", found)


def place(settings: Settings) -> Iterator[CheckResult]:
    home = settings.home
    near = next(folder for folder in (home.absolute(), *home.absolute().parents) if folder.exists())
    if not near.is_dir():
        yield wrong("folder", f"{home} can't be a folder, as {near} is a file. Move it away, or set COURTROOM_HOME.")
        return
    try:
        with tempfile.TemporaryFile(dir=near):
            pass
    except OSError as error:
        yield wrong("folder", f"{home} can't be written to: {error.strerror}. Allow it, or set COURTROOM_HOME.")
        return
    yield fine("folder", f"{home} may be written to.")
    free = shutil.disk_usage(near).free
    text = f"{free / 2**30:.1f} GB are free where {home} lies."
    yield fine("disk", text) if free >= ROOM else wrong("disk", f"{text} Make room.")


WAIT_S = 3.0


def reachable(settings: Settings, environment: Mapping[str, str] = os.environ) -> Iterator[CheckResult]:
    """One GET to each that models are asked at; nothing is asked of a model, and no redirect is followed."""
    places = dict[str, tuple[str, str]]()  # by its name the address with its key; two providers may share one
    for provider, known in PROVIDERS.items():
        name = next((one for one in known.addresses if environment.get(one, "").strip()), "")
        if (address := first_set((name,), environment)).startswith(("http://", "https://")):
            places[name] = listing(provider, address.rstrip("/")), first_set(known.keys, environment)
    try:
        for name, one in Connections.read(settings.connections).items():
            places[f"connection “{name}”"] = listing(one.provider, one.address), one.secret
    except CourtroomError as error:
        yield wrong("connections", str(error))
    for name, (url, key) in places.items():
        yield _asked(name, url, {"Authorization": f"Bearer {key}"} if key else {})
    if settings.chroma_host:
        server = f"http://{settings.chroma_host}:{settings.chroma_port}"
        yield _asked("COURTROOM_CHROMA_HOST", f"{server}/api/v2/heartbeat", {})
    if not places and not settings.chroma_host:
        yield fine("servers", "None is set that could be asked; the offline model needs none.")


def _asked(name: str, url: str, headers: Mapping[str, str]) -> CheckResult:
    import httpx  # only for whoever asks the doctor

    about = f"server: {name}"
    try:
        parts = urlsplit(url)
        at = f"{parts.hostname or ''}:{parts.port}" if parts.port else parts.hostname or ""
        shown = f"{parts.scheme}://{at}{parts.path}"  # without a password
    except ValueError:
        shown = "The address"
    try:
        status = httpx.get(url, headers=dict(headers), timeout=WAIT_S, follow_redirects=False).status_code
    except (httpx.HTTPError, httpx.InvalidURL, UnicodeError) as error:
        # The library's own words may hold the address with a password in it.
        return wrong(about, f"{shown} does not answer ({type(error).__name__}). Start it, or correct {name}.")
    if status in (401, 403):
        return wrong(about, f"{shown} answers, but refuses the key ({status}). Correct the key set beside {name}.")
    if status >= 500:
        return wrong(about, f"{shown} answers with an error ({status}). Look at the server.")
    return fine(about, f"{shown} answers ({status}).")


ABOUT = "store"
CURRENT = fine("schema", f"The store has revision {REVISION}, as this version writes it.")
OLDER = f"The store is older, this version writes revision {REVISION}."
RECOVER = "or save what can be read with `sqlite3 FILE .recover`"


def store(settings: Settings, mend: bool) -> Iterator[CheckResult]:
    """Nothing is written but to mend an index, or to bring an older store up to this version."""
    if isinstance(settings.database, SecretStr):
        try:
            with closing(open_store(settings.database, as_found=not mend)) as database:
                version = database.row("SELECT current_setting('server_version')")[0]
        except StoreError as error:  # it is told as the app tells it
            yield wrong(ABOUT, str(error))
            return
        yield fine(ABOUT, f"It is {database.place}, PostgreSQL {version}. Its server sees to it that it is whole.")
        if mend or database.found == "current":
            yield CURRENT
        elif database.found == "older":
            yield wrong("schema", f"{OLDER} Save it with `pg_dump`. Then open the app once, or use --mend.")
        else:
            yield fine(ABOUT, "It has no tables yet; the first command or visit makes them.")
        return
    path = settings.sqlite
    try:
        current = check(path, thorough=False)
        if not path.exists():
            yield fine(ABOUT, f"There is no store yet; the first command or visit makes {path}.")
            return
        with closing(sqlite3.connect(path, timeout=30)) as db:
            found = damages(db)
            if found and mend and all("index" in line for line in found):
                db.execute("REINDEX")
                if not damages(db):
                    yield mended(ABOUT, f"{path} had damaged indexes; they are made anew.")
                    found = []
    except StoreError as error:
        yield wrong(ABOUT, str(error))
        return
    except sqlite3.Error as error:
        yield wrong(ABOUT, str(explained(error, path)))
        return
    if found:
        more = " and more" if len(found) > 1 else ""
        yield wrong(ABOUT, f"{path} is damaged: {found[0]}{more}; {BACKUP}, {RECOVER}.")
        return
    yield fine(ABOUT, f"The SQLite file {path} is whole.")
    if current:
        yield CURRENT
    elif mend:
        try:
            open_store(path).close()
        except StoreError as error:
            yield wrong("schema", str(error))
        else:
            yield mended(
                "schema", f"The store has revision {REVISION} now; a copy of the old one is in the same folder."
            )
    else:
        yield wrong(
            "schema",
            f"{OLDER} Open the app once, or use --mend: the store is copied and brought up to date. The rest can be "
            "checked then.",
        )


def indexes(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """Tell whether what is on disk is whole; what is not there, or behind its records, the next look-up makes."""
    folders = house.knowledge.folders
    found = folders.state()
    if found == "in use":
        yield fine("indexes", "Another process has them open, so they are not examined. Stop it, then ask again.")
    elif found == "whole":
        yield fine("indexes", "What is there of them is whole; look-ups make the rest.")
    elif mend:
        folders.discard()
        yield mended("indexes", "They were damaged, or not written to the end. Each look-up makes what it needs anew.")
    else:
        again = "The next look-up, or --mend, makes them anew."
        yield wrong("indexes", f"They are damaged, or not written to the end. {again}")


ASIDE = ".damaged"
UNUSED = "unused"
"""The folder for what no case needs."""


_SHA256 = re.compile(r"\b[0-9a-f]{64}\b")


def whole(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """Content hashes, missing files, and files that no case needs any more."""
    needed = _needed(house)  # first: the samples put their media in place
    sizes, broken = dict[str, int](), list[str]()
    for name in house.media.names():
        if name.endswith(ASIDE) or (content := house.media.read(name)) is None:
            continue
        if hashlib.sha256(content).hexdigest() == _digest(name):
            sizes[name] = len(content)
        else:
            broken.append(name)
    for name in broken:
        if mend:
            house.media.set_aside(name, name + ASIDE)
            yield mended("media", f"{name} was damaged and is set aside as {name}{ASIDE}. Upload its case again.")
        else:
            yield wrong("media", f"{name} is damaged. Use --mend to set it aside, then upload its case again.")
    there = {_digest(name) for name in (*sizes, *broken)}
    missing = sorted((digest, title) for digest, title in needed.items() if digest not in there)
    for digest, title in missing:
        yield wrong("media", f"{digest[:12]}…, a picture or video of {title}, is missing. Upload that case again.")
    spare = {name: size for name, size in sizes.items() if _digest(name) not in needed}
    idle = [name for name in spare if house.media.is_idle(name)]
    megabytes = sum(spare.values()) / 2**20
    also = f"; {len(spare)} of them ({megabytes:.1f} MB) belong to no case any more" if spare else ""
    if mend and idle:
        for name in idle:
            house.media.set_aside(name, f"{UNUSED}/{name}")
        unused = house.media.folder / UNUSED
        yield mended("media", f"{len(idle)} files that no case needs are set aside. Delete {unused} to make room.")
    elif idle:
        also += "; --mend sets them aside"
    if not missing and not broken:
        yield fine("media", f"All {len(sizes)} files are whole{also}.")


def _needed(house: Courthouse) -> dict[str, str]:
    """Content hashes with the title of a case that needs each; cases that can't be read are reported elsewhere."""
    cases, unread = house.library.cases(), dict[str, str]()
    for row in house.database.each("SELECT body FROM snapshots UNION ALL SELECT body FROM cases"):
        try:
            cases.append(parse_case(json.loads(row["body"])))
        except (ValueError, CourtroomError):  # such as of a kind whose package is missing: what it has stays
            unread |= dict.fromkeys(_SHA256.findall(str(row["body"])), "a case that can't be read here")
    every = chain(cases, house.datasets.with_media())
    return unread | {one.sha256: f"“{case.title}”" for case in every for one in case.media() if one.sha256}


def _digest(name: str) -> str:
    return name.partition(".")[0]
