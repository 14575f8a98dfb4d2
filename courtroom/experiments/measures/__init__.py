"""The measures of an experiment by kind of case, each with its source."""

from collections.abc import Mapping, Sequence

from courtroom.errors import CourtroomError
from courtroom.experiments.measures.criminal import CRIMINAL, DOCUMENTS, LAWBENCH, RETRIEVAL
from courtroom.experiments.measures.measure import CaseResult, Measure
from courtroom.experiments.measures.votes import DISPUTES, LABELLED, QUESTIONS, TRIALS, VOTES

__all__ = ["MEASURES", "Measure", "CaseResult", "at_hand", "fitting", "measures_of", "wanted"]

MEASURES: Mapping[str, Mapping[str, Measure]] = {
    kind: {measure.name: measure for measure in measures}
    for kind, measures in (
        ("dispute", (*DISPUTES, *VOTES)),
        ("criminal", (*CRIMINAL, *LAWBENCH, *RETRIEVAL)),
        ("labelled", (*LABELLED, *VOTES)),
        ("document", DOCUMENTS),
        ("trial", (*TRIALS, *VOTES)),
        ("question", (*QUESTIONS, *VOTES)),
    )
}


def measures_of(kind: str) -> Mapping[str, Measure]:
    """All measures of a kind of case, by name; none where the kind has no outcome to measure."""
    return MEASURES.get(kind, {})


def at_hand(measures: Sequence[Measure], rows: Sequence[CaseResult]) -> tuple[tuple[Measure, ...], tuple[str, ...]]:
    """Those of the measures that can be worked out on this machine, and a sentence for each reason why others can't."""
    why = {measure.name: measure.missing(rows) for measure in measures}
    here = tuple(measure for measure in measures if not why[measure.name])
    return here, tuple(dict.fromkeys(filter(None, why.values())))


def fitting(kind: str, rows: Sequence[CaseResult]) -> tuple[Measure, ...]:
    """Those measures of a kind of case that have a value for these, for a table of which nothing else is left."""
    return tuple(
        one
        for one in measures_of(kind).values()
        if one.each and not one.missing(rows) and any(one.each(row) is not None for row in rows)
    )


def wanted(kind: str, names: Sequence[str]) -> tuple[Measure, ...]:
    """The measures of these names; without any, the ones that the kind's paper reports. Raises `CourtroomError`: there
    is no such measure for this kind of case."""
    known = measures_of(kind)
    if unknown := [name for name in names if name not in known]:
        raise CourtroomError(
            f"There is no measure “{unknown[0]}” for cases of the kind “{kind}”. Choose among: {', '.join(known)}."
        )
    return tuple(known[name] for name in names) if names else tuple(one for one in known.values() if one.usual)
