"""Pictures and videos: whether each is what its name says, and whether each that a case needs is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import chain
from pathlib import Path

from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong

ABOUT = "media"
ASIDE = ".damaged"


def whole(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """Content hashes, missing files, and files that no case needs any more."""
    needed = _needed(house)  # first: the samples put their media in place
    files = {path for path in house.media.folder.glob("*") if path.is_file() and path.suffix != ASIDE}
    broken = {path for path in files if _digest(path) != path.name.partition(".")[0]}
    for path in sorted(broken):
        if mend:
            path.rename(path.with_name(path.name + ASIDE))
            yield mended(
                ABOUT, f"{path.name} was damaged and is set aside as {path.name}{ASIDE}. Upload its case again."
            )
        else:
            yield wrong(ABOUT, f"{path} is damaged. Use --mend to set it aside, then upload its case again.")
    damaged = {path.name.partition(".")[0] for path in broken}
    there = {path.name.partition(".")[0] for path in files - broken}
    missing = {digest: name for digest, name in needed.items() if digest not in there | damaged}
    for digest, name in sorted(missing.items()):
        yield wrong(ABOUT, f"{digest[:12]}…, a picture or video of {name}, is missing. Upload that case again.")
    spare = [path for path in files - broken if path.name.partition(".")[0] not in needed]
    size = sum(path.stat().st_size for path in spare) / 2**20
    also = f"; {len(spare)} of them ({size:.1f} MB) belong to no case any more and may be deleted" if spare else ""
    if not missing and not broken:
        yield fine(ABOUT, f"All {len(files)} files are whole{also}.")


def _needed(house: Courthouse) -> dict[str, str]:
    """Content hashes with the title of a case that needs each; cases that can't be read are reported elsewhere."""
    needed: dict[str, str] = {}
    cases = [house.library.case(summary.id) for summary in house.library.cases()]
    for row in house.database.each("SELECT body FROM snapshots"):
        try:
            cases.append(parse_case(json.loads(row["body"])))
        except (ValueError, CourtroomError):
            continue
    for case in chain(cases, house.datasets.with_media()):
        needed |= {medium.sha256: f"“{case.title}”" for medium in case.media() if medium.sha256}
    return needed


def _digest(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
