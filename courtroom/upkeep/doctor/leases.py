"""Runs, sweeps and experiments that count as driven by a process that is gone."""

from __future__ import annotations

from collections.abc import Iterator

from courtroom.courthouse import Courthouse
from courtroom.upkeep.doctor.result import CheckResult, fine, mended, wrong


def living(house: Courthouse, mend: bool) -> Iterator[CheckResult]:
    """A lease of a dead process holds nothing up, but shows a run as running that nobody drives.

    A process of another machine counts as living: only its silence over some time would show that it is gone.
    """
    dead: list[str] = []
    for lease in (house.store.lease, house.sweeps.store.lease, house.experiments.store.lease):
        for name, owner, heartbeat in lease.all_held():
            if house.runner.driver.lives(lease, name, owner, heartbeat):
                continue
            dead.append(name)
            if mend:
                lease.release(name, owner)
    if not dead:
        yield fine("leases", "No run, sweep or experiment is held by a process that is gone.")
        return
    named = ", ".join(dead[:10]) + (" ..." if len(dead) > 10 else "")
    if mend:
        yield mended("leases", f"Released: {named}. The app takes them up when it starts, or use `resume RUN`.")
    else:
        yield wrong(
            "leases",
            f"Held by a process that is gone: {named}. Start the app, use `resume RUN`, or --mend to release them.",
        )
