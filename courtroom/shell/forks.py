"""Forks from a shell: `fork`, and `compare` to see what came of them."""

import json
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any

import typer
from pydantic import ValidationError

from courtroom.cases.checks import explain
from courtroom.engine.interventions import Action, ChangeSetup, read_actions
from courtroom.engine.rehearsal import Estimate
from courtroom.errors import CourtroomError
from courtroom.evaluation import comparison
from courtroom.evaluation.comparison import APART, BallotComparison, Comparison, RunFacts
from courtroom.shell.options import Json, Set, opened, pairs, setup_with
from courtroom.shell.runs import drive

LETTERS = "ABCD"
WIDTH = 80


def lines(comparison: Comparison) -> Iterator[str]:
    """Runs by letter, what was put in, votes, and how much of the answers and look-ups is the same."""
    letters = LETTERS[: len(comparison.runs)]
    for letter, run in zip(letters, comparison.runs, strict=True):
        yield f"{letter}  {_described(run)}"
    for kind, difference in comparison.differences.all():
        where = difference.path if difference.path == kind else f"{kind} {difference.path}"
        yield f"{where}: {_values(letters, difference.values)}"
    if not any(comparison.differences.all()):
        yield "All runs were given the same."
    for ballot in comparison.ballots:
        yield _ballot(letters, ballot)
    states = Counter[str](answer.state for answer in comparison.answers)
    text = ", ".join(f"{states[state]} {state}" for state in ("same", *APART, "not yet") if states[state])
    yield f"answers: {text or 'none'}" + (f"; from {comparison.parts_at} on" if comparison.parts_at else "")
    found = [all(one.runs) for look_up in comparison.look_ups for one in look_up.found]
    yield f"looked up: {sum(found)} in common, {len(found) - sum(found)} not"


def _described(run: RunFacts) -> str:
    facts = [run.run, run.procedure, run.case, f"seed {run.seed}", run.status]
    facts += [f"fork of {run.parent}"] if run.parent else []
    facts += [f"verdict {run.verdict.outcome}"] if run.verdict else []
    cost = "price unknown" if run.cost is None else f"US$ {run.cost:g}"
    tokens = run.prompt_tokens + run.completion_tokens
    return ", ".join([*facts, f"{run.asked} asked", f"{run.recorded} from the record", f"{tokens} tokens", cost])


def _ballot(letters: str, ballot: BallotComparison) -> str:
    tallies = [tally and ", ".join(f"{name} {n}" for name, n in tally.counts.items()) for tally in ballot.tallies]
    apart = [row.member for row in ballot.members if row.differs]
    return f"{ballot.name}: {_values(letters, tallies)}" + (f"; apart: {', '.join(apart)}" if apart else "")


def _values(letters: str, values: tuple[Any, ...] | list[Any]) -> str:
    return " | ".join(f"{letter} {_short(value)}" for letter, value in zip(letters, values, strict=True))


def _short(value: Any) -> str:
    text = "-" if value is None else value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..."


def fork(
    run: Annotated[str, typer.Argument(help="The run to fork.")],
    set_: Set = None,
    from_: Annotated[
        str | None, typer.Option("--from", help="Stage from which changes hold; default: from the beginning.")
    ] = None,
    intervene: Annotated[
        Path | None, typer.Option(help="Interventions as JSON: objects with `kind` overrule, change, evidence or note.")
    ] = None,
    who: Annotated[str, typer.Option(help="Who intervenes.")] = "somebody",
    seed: Annotated[int | None, typer.Option(help="Another seed asks all that depends on chance anew.")] = None,
    estimate: Annotated[bool, typer.Option(help="Ask nothing; say how many calls the fork would take.")] = False,
    json_: Json = False,
) -> None:
    """Run a case again with something changed; what is not touched by it is served from the record."""
    with opened() as house:
        parent = house.record(run)
        actions = _actions(intervene)
        setup = parent.setup if from_ else setup_with(parent.setup, set_)
        if from_:
            actions += [ChangeSetup(key=key, value=value) for key, value in pairs(set_).items()]
        planned = house.interventions.planned(parent, actions, who, from_)
        if not estimate:
            drive(house, house.fork(run, setup, seed, interventions=planned), None, json_)
        wanted = parent.run.seed if seed is None else seed
        found = house.estimate(parent.run.procedure, parent.case, setup, wanted, run, interventions=planned)
    _report(found, json_)


def compare(
    runs_: Annotated[list[str], typer.Argument(metavar="RUN RUN [RUN RUN]", help="Two to four runs.")],
    json_: Json = False,
) -> None:
    """Put runs beside each other: what was put in, votes, answers, what was looked up."""
    with opened() as house:
        compared = comparison.compare([house.record(run) for run in comparison.checked(runs_)])
    print(compared.model_dump_json() if json_ else "\n".join(lines(compared)))


def _report(estimate: Estimate, as_json: bool) -> None:
    ask = estimate.calls - estimate.on_record
    if as_json:
        print(
            json.dumps({"calls": estimate.calls, "ask": ask, "serve": estimate.on_record, "anew": dict(estimate.anew)})
        )
        return
    why = (
        f" Anew: {', '.join(f'{title} {number}' for title, number in estimate.anew.items())}." if estimate.anew else ""
    )
    print(f"{ask} calls would be asked, {estimate.on_record} are served from the record.{why}")


def _actions(path: Path | None) -> list[Action]:
    if path is None:
        return []
    if not path.is_file():
        raise CourtroomError(f"--intervene {path}: there is no such file.")
    try:
        return read_actions(path.read_text(encoding="utf-8"))
    except ValidationError as error:
        raise CourtroomError(f"--intervene {path}: {' '.join(explain(error))}") from error
