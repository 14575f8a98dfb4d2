"""Pictures and videos: whether each is what its name says, and whether each that a case needs is there."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from itertools import chain

from courtroom.cases.kinds import parse_case
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError, MediaError
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong

ABOUT = "media"
ASIDE = ".damaged"


def whole(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """Content hashes, missing files, and files that no case needs any more."""
    try:
        yield from _whole(house, mend)
    except MediaError as error:  # the storage does not answer
        yield wrong(ABOUT, str(error))


def _whole(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
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
            yield mended(ABOUT, f"{name} was damaged and is set aside as {name}{ASIDE}. Upload its case again.")
        else:
            yield wrong(ABOUT, f"{name} is damaged. Use --mend to set it aside, then upload its case again.")
    there = {_digest(name) for name in (*sizes, *broken)}
    missing = {digest: title for digest, title in needed.items() if digest not in there}
    for digest, title in sorted(missing.items()):
        yield wrong(ABOUT, f"{digest[:12]}…, a picture or video of {title}, is missing. Upload that case again.")
    spare = [size for name, size in sizes.items() if _digest(name) not in needed]
    also = (
        f"; {len(spare)} of them ({sum(spare) / 2**20:.1f} MB) belong to no case any more and may be deleted"
        if spare
        else ""
    )
    if not missing and not broken:
        yield fine(ABOUT, f"All {len(sizes)} files are whole{also}.")


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


def _digest(name: str) -> str:
    """The content hash that a file's name says."""
    return name.partition(".")[0]
