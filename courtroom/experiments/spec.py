"""An experiment as a file: a dataset, arms, repeats, measures, a budget, a knowledge protocol. The bundled ones, and
the arms that are matched controls: what the talk, the personas and the mere spending of a panel are each worth."""

import hashlib
import re
import tomllib
from collections.abc import Callable, Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Literal, Self

import tomli_w
from pydantic import Field, JsonValue, ValidationError, model_validator

from courtroom.cases.case import CaseT
from courtroom.cases.checks import explain
from courtroom.datasets import Datasets
from courtroom.datasets.selection import VERSION_MARK, Preparation, Selection
from courtroom.declarations.changes import changed
from courtroom.declarations.parts import Controls
from courtroom.declarations.setup import Budget
from courtroom.engine.procedure import Procedure
from courtroom.errors import CourtroomError
from courtroom.experiments.canary import Canary
from courtroom.experiments.hypotheses import Hypothesis, Preregistration
from courtroom.language import N_
from courtroom.questions.mirror import with_texts
from courtroom.settings import DATA
from courtroom.strict import Strict, option

Change = Literal["base", "knob", "rule", "member", "evidence", "grid", "again", "mirror"]
"""What an arm of a what-if changes; `base` is nothing, `grid` several things at once, `again` nothing but the seed,
`mirror` something about the parties."""

OF_MODELS = ("model.id", "model.connection", "model.extra", "roles", "members", "embedding")
"""Paths in a setup that say which model answers or compares texts."""


class _Source(Strict):
    """Where cases are from."""

    name: str = Field("", max_length=120)
    run: str = Field("", max_length=120, description="In place of a dataset: the run whose forks the arms are.")
    version: str | None = None
    """Without one, the newest; it is written out when the experiment begins."""


class Cases(Selection, _Source):
    """Which cases: a dataset at one version, and what is taken of it; or the case of one run."""

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.name) == bool(self.run):
            raise ValueError("name either a dataset or a run")
        return self

    @property
    def rests_on(self) -> set[tuple[str, str | None]]:
        """The datasets that it needs, each with its version and as a whole."""
        other, _, version = self.labels_of.partition(VERSION_MARK)
        needed = [(self.name, self.version), *([(other, version)] if other else [])]
        return {(name, of) for name, known in needed for of in (known, None)}

    def only(self, ids: Iterable[str]) -> Self:
        """Return these of its cases, which were chosen before; they are read in the same way."""
        return type(self)(name=self.name, run=self.run, version=self.version, ids=tuple(ids), cut=self.cut)


class Variant(Strict):
    """Something changed: values by their paths in the setup, parts of the case left out."""

    name: str = Field(min_length=1, max_length=400)
    kind: Change | None = None
    set: dict[str, Any] = Field(default_factory=dict, description="Values of the setup by their paths.")
    without: tuple[str, ...] = Field((), description="Parts of the case that are left out, by their names.")
    other_order: bool = option(False, "Whether the sides of the case stand in the other order.")
    rewritten: dict[str, dict[str, str]] = option({})
    """By a case's id, its texts that are heard in other words, by their paths in the case."""
    seen_by: str = option("", max_length=200)
    """Who has read what is heard in other words or another order; without it nothing is heard."""

    @property
    def changes_case(self) -> bool:
        return bool(self.without or self.rewritten or self.other_order)

    def heard(self, case: CaseT) -> CaseT:
        """Return a case as it is heard with this change."""
        changed_case = with_texts(case.without(*self.without), self.rewritten.get(case.id, {}))
        return changed_case.in_other_order() if self.other_order else changed_case


class Arm(Variant):
    """One row of the table: a procedure with a setup, or predictions made elsewhere."""

    procedure: str = ""
    model: str = Field("", description="`offline`, any LiteLLM model id, or which model's lines of the predictions.")
    set: dict[str, JsonValue] = Field(default_factory=dict, description="Values of the setup by their paths.")
    seed: int = Field(0, ge=0, description="Of the first repeat; each further one has the next.")
    repeats: int | None = option(None, ge=1, le=1_000)
    """How often each case runs under this arm, in place of the experiment's repeats."""
    predictions: str = Field("", description="A file of answers by case.")
    digest: str = Field("", description="Of the predictions; written out when the experiment begins.")
    unknown: int = option(0)
    """Cases of the predictions that the dataset does not have; written out when the experiment begins."""
    memory_of: str = option("", "The arm whose memory it sees, for one that does not learn itself.")

    @model_validator(mode="after")
    def _one_or_the_other(self) -> Self:
        if bool(self.procedure) == bool(self.predictions):
            raise ValueError("an arm names either a procedure or a file of predictions")
        if self.predictions and (self.set or self.changes_case):
            raise ValueError("predictions made elsewhere have no setup")
        return self


class KnowledgeRules(Preparation):
    """What runs may see of what was learned: by default the memory as it is, and no cell teaches it anything."""

    train: str | None = None
    """A split from which each arm that can learns first, case by case, in the order of the dataset."""
    dataset: str = option("", "The dataset that has this split; empty: the one that is tested.", max_length=120)
    version: str | None = option(None)
    """Of that dataset; without one, the newest, which is written out when the experiment begins."""
    limit: int | None = option(None, "Learn from the first so many.", ge=1)
    sample: int | None = option(None, "Learn from so many, drawn with this table's `seed`.", ge=1)
    seed: int = option(0, "Of the draw.")
    leave_out: float = option(0.05, ge=0, le=1)
    """Share of the cases that an arm's training may go on without, where they can't be answered."""
    test_on_trained: bool = Field(False, description="Allow the tested split to be the one trained on.")


PRESENTED: dict[str, Any] = {
    **dict.fromkeys(("title", "source", "measures", "by_category", "gain_over", "at_once", "batch", "budget"), True),
    **dict.fromkeys(("hypotheses", "lock", "canaries"), True),
    "arms": {"__all__": {"seen_by"}},
}
"""What decides nothing of what is asked."""


class Experiment(Strict):
    """All that an experiment is. The same file with the same dataset has the same digest, and so the same cells."""

    name: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,59}$")
    title: str = Field("", max_length=200)
    source: str = Field("", max_length=400, description="Which table or figure of which paper it is.")
    dataset: Cases
    repeats: int = Field(1, ge=1, le=1_000)
    seeds: tuple[int, ...] = ()
    """Of the repeats under every arm, in place of each arm's own seed and those after it."""
    measures: tuple[str, ...] = ()
    """By their names; without any, the usual ones of the kind of case."""
    by_category: bool = Field(False, description="A table for each category of cases.")
    gain_over: dict[str, str] = {}
    """By an arm's name, the arm of a single model whose right answers its gain is over."""
    at_once: int = Field(64, ge=1, le=1_000, description="Cells under way at once, within each model's own limits.")
    batch: bool = option(False)
    """Calls that are ready at the same time go out as one batch, at half the price, where the provider takes batches:
    OpenAI and Anthropic do. Each round may take up to a day."""
    budget: Budget = Field(default_factory=Budget, description="Of the whole experiment.")
    knowledge: KnowledgeRules = Field(default_factory=KnowledgeRules)
    arms: tuple[Arm, ...] = Field(min_length=1, max_length=2_000)
    hypotheses: tuple[Hypothesis, ...] = Field((), max_length=200)
    lock: Preregistration | None = Field(None, description="The hypotheses as they were before the first answer.")
    canaries: tuple[Canary, ...] = Field((), description="What came of asking recorded calls again.")

    @model_validator(mode="before")
    @classmethod
    def _as_in_a_file(cls, values: Any) -> Any:
        """Take an `[[arm]]` for each arm, a `[[hypothesis]]` for each hypothesis, and a dataset by its name alone."""
        if not isinstance(values, dict):
            return values
        values = {{"arm": "arms", "hypothesis": "hypotheses"}.get(name, name): value for name, value in values.items()}
        dataset = values.get("dataset")
        return values | ({"dataset": {"name": dataset}} if isinstance(dataset, str) else {})

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if self.seeds and len(self.seeds) != self.repeats:
            raise ValueError(f"{self.repeats} repeats need as many seeds; there are {len(self.seeds)}")
        if self.seeds and any(arm.repeats for arm in self.arms):
            raise ValueError("an arm with repeats of its own needs seeds of its own: leave out `seeds`")
        if self.dataset.run and (self.knowledge.train or any(arm.predictions for arm in self.arms)):
            raise ValueError("forks of a run neither train nor are predictions made elsewhere")
        names = [arm.name for arm in self.arms]
        if doubled := {name for name in names if names.count(name) > 1}:
            raise ValueError(f"each arm has a name of its own; used more than once: {', '.join(sorted(doubled))}")
        if unknown := {*self.gain_over, *self.gain_over.values()} - {*names}:
            raise ValueError(f"gain_over names what is no arm: {', '.join(sorted(unknown))}")
        compared = {name for one in self.hypotheses for name in (one.arm, one.than)}
        if unknown := compared - {*names}:
            raise ValueError(f"a hypothesis names what is no arm: {', '.join(sorted(unknown))}")
        learned = [arm.memory_of for arm in self.arms if arm.memory_of]
        if missing := next((name for name in learned if name not in names), ""):
            raise ValueError(f"no arm has the name “{missing}”, whose memory another arm is to see")
        if learned and not self.knowledge.train:
            raise ValueError("arms that see another arm's memory need knowledge.train, from which that arm learns")
        train, tested = self.teaches, self.dataset
        same = train is not None and (train.name, train.split) == (tested.name, tested.split)
        if same and not self.knowledge.test_on_trained:
            raise ValueError(
                f"the split “{self.dataset.split}” would be tested on what was learned from it; test another split, or "
                "set knowledge.test_on_trained = true"
            )
        return self

    @property
    def teaches(self) -> Cases | None:
        """What arms learn from; None where they learn nothing."""
        rules, tested = self.knowledge, self.dataset
        if rules.train is None:
            return None
        of = {"name": rules.dataset, "version": rules.version}
        source = of if rules.dataset else tested.model_dump(include={*_Source.model_fields})
        chosen = rules.model_dump(include={"limit", "sample", "seed", *Preparation.model_fields})
        return Cases(**source, **chosen, split=rules.train)

    @property
    def digest(self) -> str:
        """SHA-256 of all that decides what is asked; how much may be spent, and how fast, is no part of it."""
        decides = self.model_dump_json(exclude=PRESENTED)
        return hashlib.sha256(decides.encode()).hexdigest()

    @property
    def id(self) -> str:
        return f"{self.name}-{self.digest[:8]}"

    def seed(self, arm: int, repeat: int) -> int:
        return self.seeds[repeat] if self.seeds else self.arms[arm].seed + repeat

    def repeats_of(self, arm: int) -> int:
        return self.arms[arm].repeats or self.repeats

    @property
    def procedures(self) -> frozenset[str]:
        return frozenset(arm.procedure for arm in self.arms if arm.procedure)


def read_toml(path: Path) -> Experiment:
    """An experiment from its file; an `[[arm]]` for each arm. Predictions are found beside the file. Raises
    `CourtroomError`: it can't be read, or does not fit; the sentence says where."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
        raise CourtroomError(f"{path} can't be read as an experiment: {error}.") from error
    read = parsed(values, path.name)
    beside = [
        arm.model_copy(update={"predictions": str(path.parent / arm.predictions)}) if arm.predictions else arm
        for arm in read.arms
    ]
    return read.model_copy(update={"arms": tuple(beside)})


def parsed(values: Any, what: str) -> Experiment:
    """An experiment from plain data. Raises `CourtroomError`: it does not fit."""
    try:
        return Experiment.model_validate(values)
    except ValidationError as error:
        raise CourtroomError(f"{what}: {' '.join(explain(error))}") from error


def as_toml(experiment: Experiment) -> str:
    """Return the file of an experiment, without what is only known once it has begun."""
    values = experiment.model_dump(mode="json", exclude_defaults=True, exclude={"lock", "canaries"})
    tables = {"hypothesis": values.pop("hypotheses", []), "arm": values.pop("arms")}
    return tomli_w.dumps(_without_none({**values, **{name: rows for name, rows in tables.items() if rows}}))


def _without_none(value: Any) -> Any:
    if isinstance(value, dict):
        return {name: _without_none(one) for name, one in value.items() if one is not None}
    return [_without_none(one) for one in value] if isinstance(value, list) else value


def adapted(
    experiment: Experiment,
    *,
    dataset: str | None = None,
    split: str | None = None,
    sample: int | None = None,
    repeats: int | None = None,
    model: str | None = None,
    values: Mapping[str, Any] | None = None,
    arms: Collection[str] | None = None,
    predictions: Path | None = None,
) -> Experiment:
    """The experiment with what is given in place of what its file says; its arms and measures stay. Raises
    `CourtroomError`: a value does not fit.

    Args:
        dataset: another dataset to test on, in its newest version. Ids, categories and numbers of rows a label
            that the file names are of its own dataset, so these don't count any more. A dataset that the file names
            for learning stays.
        split: another split to test on; an empty one is all cases.
        sample: so many cases, drawn with the dataset's seed.
        repeats: how often each case runs under each arm.
        model: the model of every member of every procedure. What an arm says of single roles, of members or of the
            embedding is left out. Predictions made elsewhere stay.
        values: values of the setup of every procedure by their paths, such as `jury_size`.
        arms: the names of the arms that are wanted; None is all of them.
        predictions: where the predictions made elsewhere are that the file names.
    """
    of_its_own = dict.fromkeys(("version", "ids", "at_most", "at_least"))
    cases: dict[str, Any] = {"name": dataset, "category": (), **of_its_own} if dataset else {}
    cases |= {"split": split or None} if split is not None else {}
    cases |= {"sample": sample, "limit": None} if sample is not None else {}
    data = experiment.model_dump(mode="json")
    data["dataset"] |= cases
    data["repeats"] = experiment.repeats if repeats is None else repeats
    own = {} if repeats is None else {"repeats": None}
    elsewhere = {"predictions": str(predictions)} if predictions else {}
    chosen = [arm for arm in experiment.arms if arms is None or arm.name in arms]
    made = [
        arm.model_copy(update=own | (_of_setup(arm, model, values) if arm.procedure else elsewhere)) for arm in chosen
    ]
    data["arms"] = [arm.model_dump(mode="json") for arm in made]
    names = {arm.name for arm in chosen}
    data |= {"lock": None, "canaries": ()}
    data["hypotheses"] = [one for one in data["hypotheses"] if {one["arm"], one["than"]} <= names]
    data["gain_over"] = {arm: single for arm, single in experiment.gain_over.items() if {arm, single} <= names}
    return parsed(data, experiment.name)


def _of_setup(arm: Arm, model: str | None, values: Mapping[str, Any] | None) -> dict[str, Any]:
    of_models = re.compile(rf"({'|'.join(map(re.escape, OF_MODELS))})(\..*)?")
    kept = {path: value for path, value in arm.set.items() if not (model and of_models.fullmatch(path))}
    return {"model": model or arm.model, "set": {**kept, **(values or {})}}


FOLDER = DATA / "experiments"
FIRST = "first"
"""The one that needs no import."""


@dataclass(frozen=True)
class Recipe:
    """One file of the folder."""

    experiment: Experiment
    remarks: tuple[str, ...]
    """What the first lines of the file say: what it needs, and what is left out."""
    paper: str
    """The paper, or the papers, whose finding it is, with their years; empty for an example that belongs to none."""
    shows: str
    """What of the paper it is."""

    @property
    def name(self) -> str:
        return self.experiment.name

    def kind(self, procedures: Mapping[str, Procedure]) -> str:
        named = next(arm.procedure for arm in self.experiment.arms if arm.procedure)
        return procedures[named].kinds[0]

    def missing(self, datasets: Datasets) -> str:
        """What of its datasets is not here, in a sentence; empty where all of it is."""
        here = {one.name: one for one in datasets.newest()}
        for cases in filter(None, (self.experiment.teaches, self.experiment.dataset)):
            if cases.name not in here:
                return f"Import its dataset under the name “{cases.name}”."
            if cases.split and cases.split not in here[cases.name].splits:
                return (
                    f"The dataset “{cases.name}” has no split “{cases.split}”. "
                    "Split it, or import the file of that split."
                )
            if (other := cases.labels_of.partition(VERSION_MARK)[0]) and other not in here:
                return f"Import the dataset under the name “{other}”, whose labels count."
        return ""


def recipes() -> tuple[Recipe, ...]:
    """All bundled recipes, by their names; the first one leads."""
    found = []
    for path in sorted(FOLDER.glob("*.toml")):
        lines = path.read_text(encoding="utf-8").splitlines()
        remarks = tuple(line.removeprefix("#").strip() for line in lines if line.startswith("#"))
        experiment = read_toml(path)
        # Papers, and what of them: in small letters, behind the first comma before such.
        paper, *shows = re.split(r", (?=[a-z])", experiment.source, maxsplit=1)
        of = (paper, *shows) if shows and experiment.name != FIRST else ("", "")
        found.append(Recipe(experiment, remarks, *of))
    return tuple(sorted(found, key=lambda one: one.name != FIRST))


def recipe(name: str) -> Recipe | None:
    return next((one for one in recipes() if one.name == name), None)


TITLES = {
    "samples": N_("one model, as many tokens"),
    "no_talk": N_("without talk"),
    "oneself": N_("talk with oneself"),
    "no_personas": N_("without personas"),
    "placebo": N_("personas of others"),
}
ALL = "all"
COUNTED = "counted"
"""A model that nobody has, so that nothing of it is on record."""
REHEARSED_CASES = 4
Tokens = Callable[[Experiment], int]
MAX_PANEL_MEMBERS = 51


def has_panel(arm: Arm, procedures: Mapping[str, Procedure]) -> bool:
    """Whether there are controls for an arm: its procedure has a panel, and more than one member has a seat."""
    if arm.procedure not in procedures or (known := procedures[arm.procedure]).controls is None:
        return False
    setup = changed(known.setup(), arm.set)
    return getattr(setup, known.controls.seats) > 1 and not getattr(setup, "single", False)


def with_controls(
    experiment: Experiment, procedures: Mapping[str, Procedure], tokens: Tokens, of: Collection[str] = (ALL,)
) -> Experiment:
    """The experiment with the matched controls of these arms behind its own arms; what is there already is not added
    again. The samples are as many as take the tokens of the panel, by a rehearsal; an odd number, so that there is no
    tie. `tokens`: how many an experiment takes. Raises `CourtroomError`: an arm is not there, or is no panel."""
    panels = {arm.name: arm for arm in experiment.arms if has_panel(arm, procedures)}
    if wrong := [name for name in of if name != ALL and name not in panels]:
        known = ", ".join(panels) or "none"
        raise CourtroomError(f"“{wrong[0]}” is no arm with a panel. Panels are: {known}.")
    there = [(arm.procedure, arm.model, dict(arm.set)) for arm in experiment.arms]
    added: list[dict[str, Any]] = []
    for arm in panels.values() if ALL in of else (panels[name] for name in of):
        declared = procedures[arm.procedure].controls
        assert declared is not None
        for one in _controls(arm, declared, experiment, tokens):
            if (same := (one.procedure, one.model, dict(one.set))) not in there:
                there.append(same)
                added.append(one.model_dump(mode="json"))
    if not added:
        raise CourtroomError("No arm of this experiment has a panel whose controls are missing.")
    given = experiment.model_dump(mode="json")
    return parsed({**given, "arms": [*given["arms"], *added], "lock": None}, experiment.name)


def _controls(arm: Arm, declared: Controls, experiment: Experiment, tokens: Tokens) -> Iterator[Arm]:
    kept = {path: value for path, value in arm.set.items() if path not in declared.not_kept}
    for name, title in TITLES.items():
        changes: Mapping[str, Any] | None = getattr(declared, name)
        if changes is None:
            continue
        values = {"name": f"{arm.name[:360]}: {title}", "set": {**kept, **changes}, "memory_of": ""}
        control = arm.model_copy(update=values)
        if name == "samples":
            number = _samples(arm, control, declared.seats, experiment, tokens)
            control = control.model_copy(update={"set": {**control.set, declared.seats: number}})
        yield control


def _samples(arm: Arm, control: Arm, seats: str, experiment: Experiment, tokens: Tokens) -> int:
    """How many samples take about as many tokens as the arm, counted as if no answer were on record."""

    def taken(tried: Arm) -> int:
        only = {"arms": (tried.model_copy(update={"memory_of": ""}),), "seeds": (), "hypotheses": (), "gain_over": {}}
        limit = min(experiment.dataset.limit or REHEARSED_CASES, REHEARSED_CASES)
        few = experiment.dataset.model_copy(update={"limit": limit})
        one = experiment.model_copy(update={**only, "dataset": few, "knowledge": KnowledgeRules(), "lock": None})
        return tokens(adapted(one, repeats=1, model=COUNTED, values={"model.vision": "no"}))

    one, five = (taken(control.model_copy(update={"set": {**control.set, seats: number}})) for number in (1, 5))
    return min(MAX_PANEL_MEMBERS, max(1, 1 + round((taken(arm) - one) / max(1.0, (five - one) / 4))) | 1)
