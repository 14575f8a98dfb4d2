"""The index of words and the index of meanings against the records that they are over."""

from __future__ import annotations

from collections.abc import Iterator

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong

KINDS = ("words", "vectors")


def indexes(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """What is on disk is whole; what is not there, or behind its records, the next look-up makes."""
    for name, collection in house.knowledge.everything.items():
        faults = dict(zip(KINDS, collection.faults(), strict=True))
        if mend and any(faults.values()):
            collection.discard_indexes()
            try:
                house.runner.do(collection.warm()).result()
            except CourtroomError as error:
                yield wrong(f"indexes: {name}", str(error))
                continue
        for kind, fault in faults.items():
            if not fault:
                yield fine(f"{kind}: {name}", f"{len(collection):,} records can be found.")
            elif mend:
                yield mended(f"{kind}: {name}", f"{fault} It is made anew.")
            else:
                yield wrong(f"{kind}: {name}", f"{fault} The next look-up, or --mend, makes it anew.")
