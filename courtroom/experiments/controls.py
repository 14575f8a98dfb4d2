"""Matched controls: what the talk, the personas and the mere spending of a panel are each worth."""

from collections.abc import Callable, Collection, Iterator, Mapping
from typing import Any

from courtroom.engine.changes import changed
from courtroom.engine.procedure import Controls, Procedure
from courtroom.errors import CourtroomError
from courtroom.experiments.spec import Arm, Experiment, KnowledgeRules, adapted, parsed
from courtroom.language import N_

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
REHEARSED = 4
"""Cases by which tokens are counted."""
Tokens = Callable[[Experiment], int]
MOST = 51
"""Members of a panel at most, so samples too."""


def has_panel(arm: Arm, procedures: Mapping[str, Procedure]) -> bool:
    """Whether there are controls for an arm: its procedure has a panel, and more than one member has a seat."""
    if arm.procedure not in procedures or (known := procedures[arm.procedure]).controls is None:
        return False
    setup = changed(known.setup(), arm.set)
    return getattr(setup, known.controls.seats) > 1 and not getattr(setup, "single", False)


def with_controls(
    experiment: Experiment, procedures: Mapping[str, Procedure], tokens: Tokens, of: Collection[str] = (ALL,)
) -> Experiment:
    """The experiment with the matched controls of these arms behind its own arms; what is there already is not added again.

    The samples are as many as take the tokens of the panel, by a rehearsal; an odd number, so that there is no tie.

    Args:
        tokens: how many an experiment takes.

    Raises:
        CourtroomError: an arm is not there, or is no panel.
    """
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
        few = experiment.dataset.model_copy(update={"limit": min(experiment.dataset.limit or REHEARSED, REHEARSED)})
        one = experiment.model_copy(update={**only, "dataset": few, "knowledge": KnowledgeRules(), "lock": None})
        return tokens(adapted(one, repeats=1, model=COUNTED, values={"model.vision": "no"}))

    one, five = (taken(control.model_copy(update={"set": {**control.set, seats: number}})) for number in (1, 5))
    return min(MOST, max(1, 1 + round((taken(arm) - one) / max(1.0, (five - one) / 4))) | 1)
