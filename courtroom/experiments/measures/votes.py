"""Measures of how a panel voted: whether shares of votes and confidence are good probabilities, whether members agree."""

from collections.abc import Callable, Hashable, Iterator, Sequence
from functools import partial
from typing import Any

import numpy as np

from courtroom.cases.case import Case
from courtroom.cases.criminal import Trial
from courtroom.cases.dispute import SIDES, Dispute
from courtroom.cases.labelled import LabelledTask
from courtroom.cases.question import LETTERS
from courtroom.evaluation.calibration import BINS, Forecast, bin_of, brier, forecasts
from courtroom.evaluation.intervals import Sums
from courtroom.experiments.measures.measure import CaseResult, Measure, Printed, mean, of, over_labels, quotient, share
from courtroom.experiments.outcome import Outcome
from courtroom.language import N_
from courtroom.models.beside import HIGHEST_CONFIDENCE

Missing = Callable[[Sequence[CaseResult]], str]
Given = Callable[[CaseResult], Sequence[Forecast]]


def of_votes(row: CaseResult) -> tuple[Forecast, ...]:
    """The share of the votes for the outcome, and whether the outcome is right; empty where either is not known."""
    for_it = row.outcome.share(row.outcome.outcome)
    if for_it is None or row.case.right is None:
        return ()
    return ((for_it, row.outcome.outcome == row.case.right[0]),)


def of_confidence(row: CaseResult) -> tuple[Forecast, ...]:
    """What each member's confidence says of its last vote, and whether that vote is right."""
    votes, sure = row.outcome.votes, row.outcome.confidence
    return forecasts(row.case, [(votes.get(member), confidence) for member, confidence in sure.items()])


def _calibration(
    score: tuple[str, str], error: tuple[str, str], given: Given, missing: Missing = lambda rows: ""
) -> tuple[Measure, Measure]:
    """The Brier score and the calibration error of forecasts, each with its name and title."""

    def parts(rows: Sequence[CaseResult]) -> Sums:
        """Shape (rows, 1 + bins): forecasts, and probability less hit in the bin that the probability lies in."""
        sums = np.zeros((len(rows), 1 + BINS))
        for at, row in enumerate(rows):
            for probability, is_right in given(row):
                sums[at, 0] += 1
                sums[at, 1 + bin_of(probability)] += probability - is_right
        return sums

    def finish(sums: Sums) -> Sums:
        return quotient(np.abs(sums[:, 1:]).sum(axis=1), sums[:, 0])

    def of_case(row: CaseResult) -> float | None:
        return brier(mine) if (mine := given(row)) else None

    return (
        mean(*score, "Brier 1950", of_case, percent=False, better="lower", missing=missing),
        # Chance alone pushes the error up, so no interval around it holds the truth: it has no bounds.
        Measure(*error, "Guo et al. 2017, Eq. 3", parts, finish, bounds=None, better="lower", missing=missing),
    )


def _unless_asked(field: str, knob: str, rows: Sequence[CaseResult]) -> str:
    is_there = not rows or any(getattr(row.outcome, field) for row in rows)
    return "" if is_there else f"What is asked beside votes is left out: nobody was asked. Set {knob}."


_was_not_asked = partial(_unless_asked, "confidence", "asks_confidence")
_not_asked_for_pieces = partial(_unless_asked, "rests_on", "asks_pieces")


def _pieces(row: CaseResult) -> float | None:
    pieces = {name for name, _ in row.case.parts()}
    return share(len(pieces & {*row.outcome.rests_on}), len(pieces)) if row.outcome.rests_on else None


def _with_script(row: CaseResult) -> float | None:
    """Share of the last votes of those who are not scripted that are for what the script holds."""
    made = row.outcome
    free = [vote for member, vote in made.votes.items() if vote and member not in made.scripted]
    return share(free.count(made.held), len(free)) if made.held else None


SURE = of(Case, lambda _, made: share(sum(made.confidence.values()) / HIGHEST_CONFIDENCE, len(made.confidence)))
NOT_IN_CASE = of(Case, lambda _, made: share(made.not_in_case, made.statements))
MAJORITY = of(Case, lambda _, made: share(max(made.counts.values(), default=0), made.cast))
ALIKE = of(
    Case, lambda _, made: share(sum(many * (many - 1) for many in made.counts.values()), made.cast * (made.cast - 1))
)
BESIDE = N_("As members say beside their last vote")
OF_PIECES = N_("Of all pieces, those that some member names beside its last vote")
BY_RULES = N_("By the rules of docs/questions.md, which find a part of them")
UNSCRIPTED = N_("Last votes of the members who are not scripted")
VOTES: tuple[Measure, ...] = (
    *_calibration(
        ("brier", N_("Brier score of the vote share")),
        ("calibration", N_("Calibration error of the vote share")),
        of_votes,
    ),
    *_calibration(
        ("confidence_brier", N_("Brier score of the confidence")),
        ("confidence_calibration", N_("Calibration error of the confidence")),
        of_confidence,
        _was_not_asked,
    ),
    mean("confidence", N_("Confidence"), BESIDE, SURE, missing=_was_not_asked),
    mean("pieces_used", N_("Pieces of the case that votes rest on"), OF_PIECES, _pieces, missing=_not_asked_for_pieces),
    mean("not_in_case", N_("Statements with a claim that is not in the case"), BY_RULES, NOT_IN_CASE, better="lower"),
    mean("with_script", N_("Others' votes for the scripted side"), UNSCRIPTED, _with_script),
    mean("majority", "Share of the majority", "Votes for the outcome with most, by votes cast", MAJORITY),
)

CYBERJURORS = "CyberJurors, table 2"


def _sides(row: CaseResult) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    assert isinstance(row.case, Dispute)
    if row.case.jury is None:
        return ()
    return ((frozenset({row.outcome.outcome} & {*SIDES}), frozenset({row.case.jury.winner})),)


def _votes_off(case: Dispute, made: Outcome) -> float | None:
    """By how many votes the buyer's count is off, the panel scaled to the jury on record; one vote is no panel."""
    cast, jury = sum(made.counts.get(side, 0) for side in SIDES), case.jury
    if jury is None or cast < 2 or not (real := jury.buyer + jury.seller):
        return None
    return abs(made.counts.get("buyer", 0) / cast * real - jury.buyer)


FIGURE_5 = "CyberJurors, figure 5 (a)"
ROUNDS = 3
"""As many as the paper has at most."""


def _first_right(case: Dispute, made: Outcome) -> float | None:
    """Whether the first ballot alone was right; a tie goes to the buyer, as in equation 10."""
    if not made.first or case.jury is None:
        return None
    buyer, seller = (made.first.get(side, 0) for side in SIDES)
    return float(("seller" if seller > buyer else "buyer") == case.jury.winner)


def _ended_after(number: int) -> Measure:
    each = of(Dispute, lambda _, made: float(made.rounds == number) if made.rounds else None)
    return mean(f"ended_{number}", f"Ended after round {number}", FIGURE_5, each)


WINNER = of(Dispute, lambda case, made: float(made.outcome == case.jury.winner) if case.jury else None)
"""Whether the jury on record decided in the same way."""
OFF: Printed = {"better": "lower", "usual": True, "percent": False, "bounds": None}
DISPUTES: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", CYBERJURORS, WINNER, usual=True),
    over_labels("weighted_f1", "Weighted F1", CYBERJURORS, _sides, "weighted F1", usual=True),
    over_labels("macro_f1", "Macro F1", CYBERJURORS, _sides, "macro F1", usual=True),
    over_labels("macro_recall", "Macro recall", CYBERJURORS, _sides, "macro recall"),
    over_labels("macro_precision", "Macro precision", CYBERJURORS, _sides, "macro precision"),
    mean("votes_mae", "Votes off (MAE)", CYBERJURORS, of(Dispute, _votes_off), **OFF),
    mean("votes_rmse", "Votes off (RMSE)", CYBERJURORS, of(Dispute, _votes_off), root=True, **OFF),
    mean("first_accuracy", "Accuracy after round 1", FIGURE_5, of(Dispute, _first_right)),
    *map(_ended_after, range(1, ROUNDS + 1)),
)

COURTROOM_LLM, GAIN = "Courtroom-LLM, section 4.2", "Courtroom-LLM, section 4.2.3, figure 6"


def _results(outcome: Outcome | None) -> dict[str, dict[str, Any]]:
    """What texts came to, by their ids."""
    results: Any = outcome.details.get("results") if outcome else None
    return {result["id"]: result for result in results or ()}


def _texts(row: CaseResult) -> Iterator[tuple[str, str | None, bool | None, str | None]]:
    """Real and predicted label, whether it is ambiguous, and the single model's label, of each text that was heard."""
    assert isinstance(row.case, LabelledTask)
    made, single = _results(row.outcome), _results(row.single)
    real = {item.id: item.label for item in row.case.items if item.label is not None}
    for name in made.keys() & real.keys() if made else real.keys():
        result = made.get(name, {})
        yield str(real[name]), result.get("label"), result.get("ambiguous"), single.get(name, {}).get("label")


def _share(row: CaseResult, which: bool | None = None) -> float | None:
    """Share of texts with the right label; of the ambiguous, of the clear, or of all."""
    hits = [real == mine for real, mine, ambiguous, _ in _texts(row) if which is None or ambiguous is which]
    return share(sum(hits), len(hits))


def _hearing(case: LabelledTask, made: Outcome) -> float | None:
    """Share of texts whose preliminary hearing named the right label; the first hearing, by which the trial goes."""
    found = _results(made)
    hits = [found[item.id]["first"] == item.label for item in case.items if found.get(item.id, {}).get("first")]
    return share(sum(hits), len(hits))


def _ambiguous(row: CaseResult) -> float | None:
    known = [ambiguous for _, _, ambiguous, _ in _texts(row) if ambiguous is not None]
    return share(sum(known), len(known))


def _gain(name: str, title: str, which: bool | None) -> Measure:
    """Measure by how much more texts have the right label than a single model gives it; 0.5 is half as many more.

    The experiment names the single model's arm; the arm's own hearings say whether a text is ambiguous. Only texts
    count that the single model was given; without one that it has right there is no value.
    """

    def hits(row: CaseResult) -> tuple[int, int]:
        """Texts with the right label, and those that have it from the single model; one without a label is wrong."""
        both = [one for one in _texts(row) if row.single and (which is None or one[2] is which)]
        return sum(real == mine for real, mine, *_ in both), sum(real == single for real, _, _, single in both)

    def parts(rows: Sequence[CaseResult]) -> Sums:
        return np.array([hits(row) for row in rows], dtype=float).reshape(-1, 2)

    def finish(sums: Sums) -> Sums:
        return quotient(sums[:, 0] - sums[:, 1], sums[:, 1])

    return Measure(name, title, GAIN, parts, finish, bounds=None, ratio=True, missing=_without_single)


def _without_single(rows: Sequence[CaseResult]) -> str:
    if not rows or any(row.single for row in rows):
        return ""
    return "The gain on a single model is left out: name the arm of the single model under gain_over."


def _labels(row: CaseResult) -> Sequence[tuple[frozenset[Hashable], frozenset[Hashable]]]:
    return tuple((frozenset({mine} - {None}), frozenset({real})) for real, mine, *_ in _texts(row))


LABELLED: tuple[Measure, ...] = (
    mean("accuracy", "Accuracy", COURTROOM_LLM, _share, usual=True),
    over_labels("macro_f1", "Macro F1", COURTROOM_LLM, _labels, "macro F1", usual=True),
    over_labels("weighted_f1", "Weighted F1", COURTROOM_LLM, _labels, "weighted F1"),
    mean("ambiguous_accuracy", "Accuracy, ambiguous texts", COURTROOM_LLM, partial(_share, which=True)),
    mean("clear_accuracy", "Accuracy, clear texts", COURTROOM_LLM, partial(_share, which=False)),
    mean("hearing_accuracy", "Accuracy of the hearing", "Courtroom-LLM, figure 3", of(LabelledTask, _hearing)),
    mean("ambiguous", "Ambiguous texts", COURTROOM_LLM, _ambiguous, better="lower"),
    _gain("gain", "Gain on a single model", None),
    _gain("ambiguous_gain", "Gain, ambiguous texts", True),
    _gain("clear_gain", "Gain, clear texts", False),
)


PROVEN = of(Trial, lambda case, made: float(made.outcome == case.sides[0]))
HUNG = of(Trial, lambda case, made: float(made.outcome not in case.sides))
TRIALS: tuple[Measure, ...] = (
    mean("proven", N_("Found guilty, or for the plaintiff"), N_("Share of all juries"), PROVEN, usual=True),
    mean("hung", N_("Hung juries"), N_("Share of all juries"), HUNG, better="lower", usual=True),
)


def _answers(row: CaseResult) -> Sequence[str]:
    """What could be voted for: the options or, where members proposed, the answers that somebody voted for."""
    return [option.name for option in row.case.choices] or sorted(row.outcome.counts)


def _voted_for(letter: str) -> Measure:
    """Share of the votes for an answer."""

    def each(row: CaseResult) -> float | None:
        return row.outcome.share(letter) if letter in _answers(row) else None

    def missing(rows: Sequence[CaseResult]) -> str:
        last = max((max(_answers(row), default="") for row in rows), default=letter)
        return "" if letter <= last else f"No question here has an answer after {last}."

    title = f"Votes for answer {letter}"
    return mean(f"share_{letter.lower()}", title, N_("Share of the votes cast"), each, usual=True, missing=missing)


QUESTIONS: tuple[Measure, ...] = (
    *map(_voted_for, LETTERS),
    mean("agreement", N_("Agreement"), N_("Share of pairs of members who vote alike"), ALIKE, usual=True),
)
