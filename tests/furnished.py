"""A home whose store and indexes hold what is bundled: a courthouse that begins with a copy of it has nothing to work out."""

import atexit
import os
import shutil
import tempfile
from functools import cache
from pathlib import Path

from courtroom import Courthouse, Settings
from tests import forks


@cache
def furnished() -> Path:
    """One such home for all tests of a process, and of those forked from it."""
    home = Path(tempfile.mkdtemp(prefix="courtroom-furnished-"))
    atexit.register(shutil.rmtree, home, ignore_errors=True)
    if forks._server._forkserver_pid:  # as in a worker: what forks from it must not inherit threads of Chroma
        with forks.Fork(furnish, home) as process:
            process.output()
    else:
        furnish(home)
    return home


def furnish(home: Path) -> None:
    house = Courthouse(Settings(home=home))
    house.runner.do(house.knowledge.warm(("precedents", "statutes"))).result()
    house.close()


def copied(home: Path) -> Path:
    """The folder, with a copy of all that in it; what PostgreSQL keeps is not there."""
    if not os.environ.get("COURTROOM_DATABASE"):
        shutil.copytree(furnished(), home, ignore=shutil.ignore_patterns("*.log"), dirs_exist_ok=True)
    return home
