"""The published systems, and those of other packages: each names its `Procedure` as an entry point of the group `courtroom.procedures`. Adding a published one means adding its folder and its line."""

import logging
import sys
import tomllib
from collections.abc import Mapping
from importlib.metadata import EntryPoint, entry_points
from importlib.util import find_spec
from pathlib import Path

from courtroom.cases.kinds import broken_kinds
from courtroom.engine.procedure import Procedure
from courtroom.errors import CourtroomError, place_and_error
from courtroom.procedures.check_templates import unseen as unseen
from courtroom.procedures.council.procedure import COUNCIL
from courtroom.procedures.courtroom_llm.procedure import COURTROOM_LLM
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.procedures.debate.procedure import DEBATE
from courtroom.procedures.discussion.procedure import DISCUSSION
from courtroom.procedures.distillation.procedure import DISTILLATION
from courtroom.procedures.juris.procedure import JURIS
from courtroom.procedures.jurisagents.procedure import JURISAGENTS
from courtroom.procedures.mock_jury.procedure import MOCK_JURY
from courtroom.procedures.registration import RegistrationError
from courtroom.procedures.registration import register as register
from courtroom.procedures.verdict.alignment import ALIGNMENT
from courtroom.procedures.verdict.procedure import VERDICT

GROUP = "courtroom.procedures"
log = logging.getLogger(__name__)


class Procedures(dict[str, Procedure]):
    """Procedures by name. Who asks for one that is not there is told why.

    `broken` has a sentence for each that can't be used; `origins` gives the package of a procedure of another package by
    the procedure's name.
    """

    def __init__(
        self, procedures: Mapping[str, Procedure], broken: Mapping[str, str], origins: Mapping[str, str] | None = None
    ) -> None:
        super().__init__(procedures)
        self.broken, self.origins = broken, origins or {}

    def __missing__(self, name: str) -> Procedure:
        """Raise a CourtroomError with the author's mistake, or with the names that are known."""
        unknown = f"There is no procedure “{name}”. Known: {', '.join(self)}."
        raise CourtroomError(self.broken.get(name) or " ".join((unknown, *self.broken.values())))


def find(known: Mapping[str, Procedure]) -> Procedures:
    """The known procedures and those of installed packages. One that can't be used leaves the others alone."""
    procedures, origins, broken = dict(known), {}, dict(broken_kinds())
    for point in sorted(entry_points(group=GROUP), key=lambda point: point.name):
        origin = f"{point.dist.name} {point.dist.version}" if point.dist else point.value
        try:
            procedure = _loaded(point)
            procedures = register((procedure,), procedures)
            origins[procedure.name] = origin
        except Exception as error:  # noqa: BLE001  a stranger's package can fail in any way; the log has the rest
            log.exception("the procedure “%s” of %s can't be used", point.name, origin)
            broken[point.name] = f"The procedure “{point.name}” of {origin} can't be used: {_why(error, point)}"
    return Procedures(procedures, broken, origins)


def _loaded(point: EntryPoint) -> Procedure:
    procedure = point.load()
    if not isinstance(procedure, Procedure):
        raise CourtroomError(f"{point.value} is no Procedure. Mend the entry point in its pyproject.toml.")
    return procedure


def in_folder(folder: Path) -> list[Procedure]:
    """The procedures of a package that need not be installed, by the entry points in its pyproject.toml. Raises `CourtroomError`:
    the folder has none, or one can't be loaded."""
    toml = folder / "pyproject.toml"
    try:
        project = tomllib.loads(toml.read_text(encoding="utf-8")).get("project", {})
    except (OSError, ValueError) as error:
        raise CourtroomError(f"{toml} can't be read: {error}. Name the folder that holds it.") from error
    points = project.get("entry-points", {}).get(GROUP, {})
    if not points:
        raise CourtroomError(f'{toml} names no procedure. Add it under [project.entry-points."{GROUP}"].')
    sys.path.insert(0, str(folder.resolve()))
    found = []
    for point in (EntryPoint(name, value, GROUP) for name, value in points.items()):
        try:
            found.append(_loaded(point))
        except Exception as error:
            raise CourtroomError(_why(error, point)) from error
        module = Path(str(sys.modules[point.module].__file__))
        if folder.resolve() not in module.resolve().parents:
            raise CourtroomError(
                f"{point.module} is installed from {module}. Remove it, or install with `pip install -e {folder}`."
            )
    return found


def _why(error: Exception, point: EntryPoint) -> str:
    """An author's error in one sentence: the first mistake, else what was raised and where."""
    if isinstance(error, RegistrationError):
        first, *more = str(error).splitlines()
        return first + (f" ({len(more)} more in the log)" if more else "")
    if isinstance(error, CourtroomError):
        return str(error)
    package = find_spec(point.module.partition(".")[0])
    folder = Path(package.origin).parent if package and package.origin else Path()
    return f"{place_and_error(error, folder)}. Mend it there, or remove the package."


OF_PAPERS = (CYBERJURORS, DISTILLATION, JURISAGENTS, VERDICT, ALIGNMENT, JURIS, COURTROOM_LLM)
OTHERS = (DISCUSSION, DEBATE, MOCK_JURY, COUNCIL)
# A test looks for mistakes in them: at each start that would take longer than all the rest.
PROCEDURES = find({one.name: one for one in (*OF_PAPERS, *OTHERS)})
"""All that can be chosen, by name."""
