"""The bundled recipes: experiments for the tables and figures of the papers, and whether their datasets are here."""

from collections.abc import Mapping
from dataclasses import dataclass

from courtroom.datasets import Datasets
from courtroom.engine.procedure import Procedure
from courtroom.experiments.spec import Experiment, read_toml
from courtroom.settings import DATA

FOLDER = DATA / "experiments"
FIRST = "first"
"""The one that needs no import."""


@dataclass(frozen=True)
class Recipe:
    """One file of the folder."""

    experiment: Experiment
    remarks: tuple[str, ...]
    """What the first lines of the file say: what it needs, and what is left out."""

    @property
    def name(self) -> str:
        """The file's name without its ending."""
        return self.experiment.name

    @property
    def paper(self) -> str:
        """The paper whose table it is; empty for an example that belongs to none."""
        head, comma, _ = self.experiment.source.partition(", ")
        return head if comma and self.name != FIRST else ""

    @property
    def shows(self) -> str:
        return self.experiment.source.partition(", ")[2] if self.paper else ""

    def kind(self, procedures: Mapping[str, Procedure]) -> str:
        named = next(arm.procedure for arm in self.experiment.arms if arm.procedure)
        return procedures[named].case_kind

    def missing(self, datasets: Datasets) -> str:
        """What of its datasets is not here, in a sentence; empty where all of it is."""
        here = {one.name: one for one in datasets.list()}
        for cases in filter(None, (self.experiment.teaches, self.experiment.dataset)):
            if cases.name not in here:
                return f"Import its dataset under the name “{cases.name}”."
            if cases.split and cases.split not in here[cases.name].splits:
                return f"The dataset “{cases.name}” has no split “{cases.split}”. Split it, or import the file of that split."
        return ""


def recipes() -> tuple[Recipe, ...]:
    """All bundled recipes, by their names; the first one leads."""
    found = [_read(path.stem) for path in sorted(FOLDER.glob("*.toml"))]
    return tuple(sorted(found, key=lambda one: one.name != FIRST))


def recipe(name: str) -> Recipe | None:
    return next((one for one in recipes() if one.name == name), None)


def _read(name: str) -> Recipe:
    path = FOLDER / f"{name}.toml"
    lines = path.read_text(encoding="utf-8").splitlines()
    remarks = tuple(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
    return Recipe(read_toml(path), remarks)
