"""An experiment as its file says it, on another dataset or with other models: to try a recipe, or to use it on one's own cases."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from courtroom.experiments.spec import Arm, Experiment, parsed

OF_MODELS = ("model.id", "model.connection", "roles", "members", "embedding")
"""Paths in a setup that say which model answers or compares texts."""


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
) -> Experiment:
    """The experiment with what is given in place of what its file says; its arms and measures stay.

    Args:
        dataset: another dataset, in its newest version. Cases that the file names by their ids are of the file's dataset, so
            they are not chosen any more.
        split: another split to test on; an empty one is all cases.
        sample: so many cases, drawn with the dataset's seed.
        repeats: how often each case runs under each arm.
        model: the model of every member of every procedure. What an arm says of single roles, of members or of the embedding
            is left out. Predictions made elsewhere stay.
        values: values of the setup of every procedure by their paths, such as `jury_size`.
        arms: the names of the arms that are wanted; None is all of them.

    Raises:
        CourtroomError: a value does not fit.
    """
    cases: dict[str, Any] = {"name": dataset, "version": None, "ids": None} if dataset else {}
    cases |= {"split": split or None} if split is not None else {}
    cases |= {"sample": sample, "limit": None} if sample is not None else {}
    given = experiment.model_dump(mode="json")
    given["dataset"] |= cases
    given["repeats"] = experiment.repeats if repeats is None else repeats
    wanted = [arm for arm in experiment.arms if arms is None or arm.name in arms]
    given["arms"] = [_arm(arm, model, values or {}).model_dump(mode="json") for arm in wanted]
    return parsed(given, experiment.name)


def _arm(arm: Arm, model: str | None, values: Mapping[str, Any]) -> Arm:
    if not arm.procedure:
        return arm
    kept = {path: value for path, value in arm.set.items() if not (model and _is_of_models(path))}
    return arm.model_copy(update={"model": model or arm.model, "set": {**kept, **values}})


def _is_of_models(path: str) -> bool:
    return any(path == known or path.startswith(f"{known}.") for known in OF_MODELS)
