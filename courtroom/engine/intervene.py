"""Interventions as a person makes them: checked, put on record, undone; and forks that begin with some."""

from collections.abc import Sequence
from typing import Any

from pydantic import BaseModel, ValidationError

from courtroom.access import Access, needs, signed
from courtroom.cases.checks import explain
from courtroom.declarations.changes import value_at
from courtroom.declarations.setup import Setup
from courtroom.engine.court import RunInput
from courtroom.engine.interventions import Action, ChangeSetup, Intervention, InterventionRefused, Overrule
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.engine.runner import Runner
from courtroom.engine.store import read_only
from courtroom.errors import CourtroomError
from courtroom.models.apart import refuse


class Interventions:
    """Lets persons intervene in the runs of a store, whichever process drives them."""

    def __init__(self, runner: Runner) -> None:
        self._runner, self._store, self._procedures = runner, runner.store.interventions, runner.procedures

    @needs(Access.RUN)
    def intervene(
        self, run: str, action: Action, who: str = "somebody", seen: int | None = None, name: str | None = None
    ) -> Intervention:
        """Do something to a paused run; it takes effect when the run goes on. `seen`: the store's `count` when the
        person decided. `name`: of the action; the same name twice is done once."""
        record = self._changeable(run)
        if record.run.status == "running" and not self._runner.interrupted(run):
            raise InterventionRefused("The run is under way. Pause it first; what is asked then can be changed.")
        if record.run.status == "done":
            raise InterventionRefused("This run has its verdict. Fork it, and intervene in the fork.")
        made = self._planned(record, action, who, next_stage(record))
        made = made if name is None else made.model_copy(update={"id": name})
        self._check(record, [*record.interventions, made])
        self._runner.release(run)
        self._store.add(run, made, seen, rewind=made.index if isinstance(action, Overrule) else None)
        return made

    @needs(Access.RUN)
    def undo(self, run: str, name: str) -> None:
        """Take the last intervention back, if nothing was asked since."""
        record = self._changeable(run)
        last = record.interventions[-1] if record.interventions else None
        if last is None or last.id != name:
            raise InterventionRefused("Only the last intervention can be undone; undo those after it first.")
        if why := why_not_undo(record, last):
            raise InterventionRefused(why)
        begun = any(stage.index >= last.index for stage in record.stages)
        self._runner.release(run)
        self._store.undo(run, name, rewind=last.index if begun else None)

    def planned(
        self, parent: Record, actions: Sequence[Action], who: str = "somebody", stage: str | None = None
    ) -> tuple[Intervention, ...]:
        """What a fork begins with: its parent's interventions, and new ones, which are refused where they do not fit.
        `stage`: name, path or kind of the stage from which the actions hold; None is from the beginning."""
        index, wanted = 0, stage
        if wanted is not None:
            meant, there = wanted.casefold(), parent.stages
            named = [one.index for one in there if meant in (one.name.casefold(), one.path, one.stage_kind)]
            if not named:
                yet = ", ".join(one.name for one in there) or "none yet"
                raise InterventionRefused(f"The run has no stage “{wanted}”. It has: {yet}.")
            index = named[0]
        new = [self._planned(parent, action, who, index) for action in actions]
        both = [*parent.interventions, *new]
        self._check(parent, both)
        return tuple(one.model_copy(update={"number": number}) for number, one in enumerate(both, start=1))

    def next_setup(self, record: Record) -> Setup:
        """The setup as it will be at the run's next stage."""
        setup: Setup = self._input(record, record.interventions).at(next_stage(record)).setup
        return setup

    def _changeable(self, run: str) -> Record:
        record = self._runner.record(run)
        self._store.demand_change(run)
        if record.run.imported:
            raise InterventionRefused(f"{read_only(record.run)} Fork it, and intervene in the fork.")
        return record

    def _planned(self, record: Record, action: Action, who: str, index: int) -> Intervention:
        before: Any = None
        if isinstance(action, Overrule):
            call = record.call(action.path)
            if call is None:
                why = f"Nothing was answered at {action.path} yet, so nothing can be overruled there."
                raise InterventionRefused(why)
            index, before = record.stage(call.stage).index, call.value
            try:
                answer_of(self._procedures[record.run.procedure], call.task).model_validate(action.value)
            except ValidationError as error:
                raise InterventionRefused(
                    f"This answer doesn't fit what was asked. {' '.join(explain(error)[:3])}"
                ) from error
        elif isinstance(action, ChangeSetup):
            try:
                before = value_at(self._input(record, record.interventions).at(index).setup, action.key)
            except CourtroomError as error:
                raise InterventionRefused(str(error)) from error
        name = next((stage.name for stage in record.stages if stage.index == index), "the next stage")
        signature = signed(who).strip() or "somebody"
        return Intervention(who=signature, index=index, stage=name, action=action, before=before)

    def _check(self, record: Record, interventions: Sequence[Intervention]) -> None:
        """Refuse what together makes no run that can be, or asks a model anew in a way that is refused."""
        run_input, before = self._input(record, interventions), self._input(record, record.interventions)
        try:
            for index in sorted({one.index for one in interventions}):
                setup, was = run_input.at(index).setup, before.at(index).setup
                if new := {*setup.model_problems()} - {*was.model_problems()}:
                    raise CourtroomError(" ".join(sorted(new)))
                refuse(setup.prompts, was.prompts)
                self._procedures[record.run.procedure].check(record.case, setup, was)
        except ValidationError as error:
            raise InterventionRefused(" ".join(explain(error)[:3])) from error
        except CourtroomError as error:
            raise InterventionRefused(str(error)) from error

    def _input(self, record: Record, interventions: Sequence[Intervention]) -> RunInput:
        procedure = self._procedures[record.run.procedure]
        return RunInput(procedure, record.case, record.setup, record.run.seed, interventions)


def next_stage(record: Record) -> int:
    return record.stages[-1].index + 1 if record.stages else 0


def why_not_undo(record: Record, last: Intervention) -> str:
    """Why an intervention can't be undone any more; empty where it can."""
    later = [call.path for call in record.calls if call.asked and record.times[call.path] > last.at]
    if not later:
        return ""
    return (
        f"Since then {len(later)} answers were asked for that may rest on it. "
        f"Fork from {last.stage} without it instead."
    )


def answer_of(procedure: Procedure, task: str) -> type[BaseModel]:
    """Return the form of an answer to a task, by the task's name."""
    for kind in procedure.tasks:
        if kind.name == task:
            return kind.answer
    raise InterventionRefused(f"{procedure.title} has no task “{task}”.")
