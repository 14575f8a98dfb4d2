"""The mirror: would it be the same for somebody else? Arms that change one thing about the parties, beside the cases as
they were and the same heard again; and what each change moved, held against what hearing the same again moves."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import pairwise, product
from typing import TYPE_CHECKING

from courtroom.access import Access, needs
from courtroom.cases.case import Case
from courtroom.declarations.setup import Budget
from courtroom.errors import CourtroomError
from courtroom.evaluation.significance import fewest_cases, holm
from courtroom.experiments.measures import CaseResult
from courtroom.experiments.measures.measure import mean, share
from courtroom.experiments.outcome import Outcome
from courtroom.experiments.spec import Arm, Experiment, parsed
from courtroom.experiments.table import Pair, gap, grouped, number, p_value, pairs
from courtroom.language import N_
from courtroom.models.spec import OFFLINE, PERSON, ModelSpec
from courtroom.questions.beside import ask_outside_runs
from courtroom.questions.mirror import Change, Mirrored, mirrored, rewriting, rewritten

if TYPE_CHECKING:
    from courtroom.courthouse import Courthouse

Drafts = Mapping[str, Mapping[str, Mirrored]]
"""By the title of a change, and by the case's id, how the case would be heard."""
AGAIN = N_("heard again, unchanged")
NO_LIMIT = Budget()


@needs(Access.RUN)
def drafts(
    house: Courthouse,
    cases: Iterable[Case],
    changes: Sequence[Change],
    who: str = "",
    spec: ModelSpec | None = None,
    budget: Budget = NO_LIMIT,
    keys: Mapping[str, str] | None = None,
) -> Drafts:
    """Draft cases with each change, nothing is heard; a case that a change leaves as it is has a draft too. What is
    approved goes into `with_mirror`.

    Args:
        who: of whom something is changed; see `mirrored`.
        spec: the model that rewrites, where that is among the changes.
        budget: what it may spend on all changes together.
        keys: what the person typed who asks it.

    Raises:
        CourtroomError: a model is to rewrite, and none is named.
    """
    cases, by_rules = tuple(cases), [change for change in changes if change.kind != "rewriting"]
    found: dict[str, dict[str, Mirrored]] = {change.title: {} for change in changes}
    found |= {change.title: {case.id: mirrored(case, change, who) for case in cases} for change in by_rules}
    to_rewrite = [(change, case) for change, case in product(changes, cases) if change not in by_rules]
    if not to_rewrite:
        return found
    if spec is None or spec.id in (OFFLINE, PERSON):
        raise CourtroomError("Choose a language model that rewrites: the offline model can't.")
    asked = [rewriting(case, change.value, spec, budget) for change, case in to_rewrite]
    for (change, case), answer in zip(to_rewrite, ask_outside_runs(house, "mirror-drafts", asked, keys), strict=True):
        found[change.title][case.id] = rewritten(case, answer)
    return found


def with_mirror(experiment: Experiment, drafted: Drafts, seen_by: str = "") -> Experiment:
    """Add to each arm the same heard again and an arm for each change, under seeds other than its own. `seen_by`: who
    has read what is changed; without it the experiment can be kept, not begun. Raises `CourtroomError`: no case is
    changed."""
    arms = [new for arm in experiment.arms for new in _arms(arm, experiment, drafted, seen_by)]
    if not any(arm.kind == "mirror" for arm in arms):
        raise CourtroomError("Nothing would be changed in any of the cases. Choose another change, or say whose it is.")
    given = experiment.model_dump(mode="json")
    return parsed({**given, "arms": [arm.model_dump(mode="json") for arm in arms], "lock": None}, experiment.name)


def _arms(arm: Arm, experiment: Experiment, drafted: Drafts, seen_by: str) -> Iterator[Arm]:
    if arm.predictions:
        yield arm
        return
    repeats, of = arm.repeats or experiment.repeats, f"{arm.name}: " if len(experiment.arms) > 1 else ""
    yield arm.model_copy(update={"kind": "base"})
    other_seeds = arm.model_copy(update={"seed": arm.seed + repeats})
    yield other_seeds.model_copy(update={"kind": "again", "name": of + AGAIN})
    for title, by_case in drafted.items():
        changed = {case: draft.texts for case, draft in by_case.items() if draft.texts}
        other_order = any(draft.other_order for draft in by_case.values())
        if changed or other_order:
            values = {"name": of + title, "rewritten": changed, "other_order": other_order}
            yield other_seeds.model_copy(update={**values, "kind": "mirror", "seen_by": seen_by.strip()})


def read_by(experiment: Experiment, who: str) -> Experiment:
    """Return an experiment of which somebody has read what its arms change about the parties."""
    arms = [arm.model_copy(update={"seen_by": who}) if is_unread(arm) else arm for arm in experiment.arms]
    return experiment.model_copy(update={"arms": tuple(arms)})


def is_mirror(experiment: Experiment) -> bool:
    """Whether an experiment holds changes about the parties against the same heard again."""
    return any(arm.kind == "again" for arm in experiment.arms)


def is_unread(arm: Arm) -> bool:
    """Whether an arm has cases heard in other words, or in another order, that nobody has read."""
    return bool(arm.rewritten or arm.other_order) and not arm.seen_by


def mirror_pairs(experiment: Experiment, rows: Sequence[CaseResult]) -> list[Pair]:
    """Compare each change with the same heard again, over the cases that it changes, or over the seeds of a single one;
    empty where no arm changes anything about the parties. Holm's correction is over all changes and measures of an arm.
    """
    found, arms = list[Pair](), experiment.arms
    bases = [place for place, arm in enumerate(arms) if arm.kind == "base"]
    for first, end in pairwise((*bases, len(arms))):
        base, family = arms[first], [arm for arm in arms[first:end] if arm.kind in ("again", "mirror")]
        again = next((arm.name for arm in family if arm.kind == "again"), "")
        groups = grouped(_against(base, family, rows), by_category=False)
        mine = pairs(groups, [arm.name for arm in family], MEASURES, again)
        corrected = holm([pair.tested.p for pair in mine])
        found += [replace(pair, corrected=p, pairs=len(mine)) for pair, p in zip(mine, corrected, strict=True)]
    return found


def _against(base: Arm, family: Sequence[Arm], rows: Sequence[CaseResult]) -> Iterator[CaseResult]:
    """The hearings of an arm's changes, each beside the first hearing of its case; a single case stands for as many as
    it has seeds."""
    firsts = {(row.row, row.repeat): row.outcome for row in rows if row.arm == base.name and row.state == "done"}
    single, arms = len({row.row for row in rows}) == 1, {arm.name: arm for arm in family}
    for row in rows:
        arm, first = arms.get(row.arm), firsts.get((row.row, row.repeat))
        if arm and first and row.state == "done" and (arm.kind == "again" or arm.heard(row.case) != row.case):
            outcome = _as_asked(row.outcome, row.case) if arm.other_order else row.outcome
            case = f"{row.row}, {row.repeat}" if single else row.row
            yield replace(row, row=case, outcome=outcome, single=first)


def _as_asked(outcome: Outcome, case: Case) -> Outcome:
    """An outcome of a case in the other order, with the names that its options have in the case as it was."""
    names = {option.title: option.name for option in case.choices}
    known = {option.name: names[option.title] for option in case.in_other_order().choices}
    votes = {member: vote and known.get(vote, vote) for member, vote in outcome.votes.items()}
    counts = {known.get(choice, choice): number for choice, number in outcome.counts.items()}
    decided = known.get(outcome.outcome, outcome.outcome)
    return outcome.model_copy(update={"outcome": decided, "counts": counts, "votes": votes})


def _other_verdict(row: CaseResult) -> float | None:
    return float(row.outcome.outcome != row.single.outcome) if row.single else None


def _other_votes(row: CaseResult) -> float | None:
    before = row.single.votes if row.single else {}
    moved = [vote != before[member] for member, vote in row.outcome.votes.items() if member in before]
    return share(sum(moved), len(moved))


def _for_the_first(row: CaseResult) -> float | None:
    first = next((option.name for option in row.case.choices), "")
    return row.outcome.share(first) if first else None


AGAINST = N_("Share, against the first hearing of the same case")
MEASURES = (
    mean("other_verdict", N_("Verdicts that are another one"), AGAINST, _other_verdict, better="lower"),
    mean("other_votes", N_("Votes that are another one"), AGAINST, _other_votes, better="lower"),
    mean("first_side", N_("Votes for the first side"), N_("Share of the votes cast"), _for_the_first),
)


def sentence(pair: Pair) -> str:
    """Say what a change is shown to move against the same heard again, or that it is not shown to move it."""
    if not pair.knowable:
        least = fewest_cases(pair.pairs)
        return (
            f"{pair.a}: whether it moves anything can't be known from "
            f"{'one case or seed' if pair.cases == 1 else f'{pair.cases:,} cases or seeds'}; "
            f"{least} are needed for {pair.pairs} tests."
        )
    of_a, of_b = (number(value, pair.measure) for value in (pair.of_a, pair.of_b))
    low, high = (gap(end, pair.measure) for end in (pair.difference.low, pair.difference.high))
    facts = (
        f"{pair.measure.title}: {of_a} with the change, {of_b} heard again without it; the 95 % interval of the difference "
        f"is {low} to {high}, p {p_value(pair.corrected)} with Holm's correction for {pair.pairs} tests; {pair.cases:,} "
        "cases or seeds."
    )
    return f"{pair.a}: {'it is not the same' if pair.holds else 'nothing is shown to move'}. {facts}"


def lines(found: Iterable[Pair]) -> list[dict[str, str | float]]:
    """Return a line for each change and measure, as tables and files have them."""
    return [
        {
            **{"change": pair.a, "measure": pair.measure.title, "changed": pair.of_a, "again": pair.of_b},
            **{"difference": pair.difference.value, "from": pair.difference.low, "to": pair.difference.high},
            **{"p": pair.corrected, "n": pair.cases},
        }
        for pair in found
    ]


def told(found: Sequence[Pair]) -> list[str]:
    """Return of each change the sentences of what holds; of one that is not shown to move anything, a single one."""
    by_change = {pair.a: [one for one in found if one.a == pair.a] for pair in found}
    return [sentence(one) for mine in by_change.values() for one in [pair for pair in mine if pair.holds] or mine[:1]]
