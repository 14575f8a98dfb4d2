"""Runs beside others, from a shell: `fork`, `compare`, `what-if` and `yardstick`."""

import json
from collections import Counter
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from pydantic import ValidationError
from typer import Argument, Option

from courtroom import CaseError, Courthouse, CourtroomError, Record
from courtroom.cases.checks import explain
from courtroom.declarations.changes import read_values
from courtroom.engine.interventions import ACTION, Action, ChangeSetup
from courtroom.engine.run import LARGEST_SEED
from courtroom.evaluation import comparison
from courtroom.evaluation.comparison import APART, BallotComparison, Comparison
from courtroom.shell.experiment import follow, print_estimate, progress
from courtroom.shell.options import Json, Otherwise, Set, opened, setup_with, tell, tell_warnings, values_of, write
from courtroom.shell.options import result as result_of_run
from courtroom.shell.runs import drive
from courtroom.text.encoding import decoded
from courtroom.text.files import json_of

if TYPE_CHECKING:
    from courtroom.evaluation.yardstick import Yardstick
    from courtroom.experiments.spec import Experiment
    from courtroom.experiments.what_if import Axis, Result

From = Annotated[str | None, Option("--from", help="Stage from which changes hold; default: from the beginning.")]
DROP = "Leave each of these out in turn: a role in the plural, `evidence`, the key of a list of rules."
PROPOSE = "What would change the verdict? Single changes within this budget of calls."
OF_PROCEDURE = "In place of an experiment: all finished runs of this procedure that were made here."
LETTERS = "ABCD"
WIDTH = 80
MAX_RUNS_READ = 10_000


def lines(comparison: Comparison, records: Sequence[Record]) -> Iterator[str]:
    """Runs by letter, what was put in, votes, and how much of the answers and look-ups is the same."""
    letters = LETTERS[: len(records)]
    for letter, record in zip(letters, records, strict=True):
        yield f"{letter}  {_described(record)}"
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


def _described(record: Record) -> str:
    run = record.run
    facts = [run.id, run.procedure, run.case_id, f"seed {run.seed}", run.status]
    facts += [f"fork of {run.parent}"] if run.parent else []
    facts += ["imported"] if run.is_unverified else []
    facts += [f"verdict {run.verdict.outcome}"] if run.verdict else []
    about = "about " if record.spent.estimated else ""
    cost = "price unknown" if record.cost is None else f"{about}US$ {record.cost:g}"
    facts += [f"{record.asked} asked", f"{record.recorded} from the record", f"{about}{sum(record.tokens)} tokens"]
    return ", ".join([*facts, cost])


def _ballot(letters: str, ballot: BallotComparison) -> str:
    tallies = [tally and ", ".join(f"{name} {n}" for name, n in tally.counts.items()) for tally in ballot.tallies]
    apart = [row.member for row in ballot.members if row.differs]
    return f"{ballot.name}: {_values(letters, tallies)}" + (f"; apart: {', '.join(apart)}" if apart else "")


def _values(letters: str, values: tuple[Any, ...] | list[Any]) -> str:
    there = (value if isinstance(value, str) else json.dumps(value, ensure_ascii=False) for value in values)
    texts = ["-" if value is None else text for value, text in zip(values, there, strict=True)]
    short = (text if len(text) <= WIDTH else f"{text[: WIDTH - 3]}..." for text in texts)
    return " | ".join(f"{letter} {text}" for letter, text in zip(letters, short, strict=True))


def fork(
    run: Annotated[str, Argument(help="The run to fork.")],
    set_: Set = None,
    from_: From = None,
    intervene: Annotated[Path | None, Option(help="JSON: `kind` overrule, change, evidence or note.")] = None,
    who: Annotated[str, Option(help="Who intervenes.")] = "somebody",
    without: Annotated[list[str] | None, Option(help="The id of a part of the case that is left out.")] = None,
    seed: Annotated[int | None, Option(min=0, max=LARGEST_SEED, help="Another asks anew what rests on chance.")] = None,
    otherwise: Otherwise = None,
    estimate: Annotated[bool, Option(help="Ask nothing; say how many calls the fork would take.")] = False,
    json_: Json = False,
) -> None:
    """Run a case again with something changed; what is not touched by it is served from the record."""
    with opened() as house:
        parent = house.record(run)
        actions = read_actions(intervene) if intervene is not None else []
        setup = parent.setup if from_ else setup_with(parent.setup, values_of(set_))
        setup = house.with_stand_in(setup, otherwise) if otherwise else setup
        if from_:
            actions += [ChangeSetup(key=key, value=value) for key, value in values_of(set_).items()]
        planned = house.interventions.planned(parent, actions, who, from_)
        case = parent.case.without(*without) if without else parent.case
        if not estimate:
            drive(house, house.fork(run, setup, seed, case, interventions=planned), None, json_)
        wanted = parent.run.seed if seed is None else seed
        found = house.estimate(parent.run.procedure, case, setup, wanted, run, interventions=planned)
    ask, anew = found.calls - found.on_record, dict(found.anew)
    data: dict[str, Any] = {"calls": found.calls, "ask": ask, "serve": found.on_record, "anew": anew}
    data |= {"warnings": list(found.warnings)} if found.warnings else {}
    tell_warnings(() if json_ else found.warnings)
    why = f" Anew: {', '.join(f'{title} {number}' for title, number in anew.items())}." if anew else ""
    tell(data, [f"{ask} calls would be asked, {found.on_record} are served from the record.{why}"], json_)


def compare(
    runs_: Annotated[list[str], Argument(metavar="RUN RUN [RUN RUN]", help="Two to four runs.")], json_: Json = False
) -> None:
    """Put runs beside each other: what was put in, votes, answers, what was looked up."""
    with opened() as house:
        records = [house.record(run) for run in comparison.checked(runs_)]
        compared, each = comparison.compare(records), [result_of_run(house, one.run.id) for one in records]
    tell({"runs": each, **compared.model_dump(mode="json")}, lines(compared, records), json_)


def what_if(
    run: Annotated[str, Argument(help="A finished run, or the id of a what-if to go on with it.")],
    vary: Annotated[list[str] | None, Option(help="KEY=V1,V2,... as in --set; values with commas as JSON.")] = None,
    drop: Annotated[list[str] | None, Option(help=DROP)] = None,
    propose: Annotated[int | None, Option(help=PROPOSE)] = None,
    cross: Annotated[bool, Option("--grid", help="Every combination, not one change at a time.")] = False,
    seeds: Annotated[int, Option(min=1, max=1000, help="How many seeds, from the run's own on.")] = 1,
    otherwise: Otherwise = None,
    estimate: Annotated[bool, Option(help="Ask nothing; say how many calls it would take.")] = False,
    json_: Json = False,
) -> None:
    """Ask what would have changed: many variants of one run; what they share is asked once."""
    with opened() as house:
        if run.startswith("what-if-"):
            if vary or drop or propose is not None or cross or seeds != 1 or otherwise:
                raise CourtroomError("A what-if goes on as it was begun. Give a run to ask something else.")
            kept = house.experiments.store.experiment(run)
            name, experiment = kept.id, kept.experiment
        else:
            name, experiment = "", _experiment(house, run, vary or [], drop or [], propose, cross, seeds, otherwise)
        if estimate:
            print_estimate(house.experiments.estimate(experiment, progress), json_)
            return
        name = name or house.experiments.begin(experiment)
        if not house.experiments.try_again(name):
            house.experiments.go(name)
        follow(house, name)
        summary = result(house, name)
    tell(summary, _lines(summary), json_)
    raise typer.Exit(1 if name in house.experiments.undriven or summary["cells"].get("failed") else 0)


def result(house: Courthouse, name: str) -> dict[str, Any]:
    from courtroom.experiments.what_if import results

    kept, cells = house.experiments.store.experiment(name), list(house.experiments.store.cells(name))
    found = results(kept.experiment, cells)
    states, run = Counter(cell.state for cell in cells), kept.experiment.dataset.run
    told: dict[str, Any] = {"experiment": kept.id, "run": run, "status": kept.status, "reason": kept.reason}
    told |= {"decided": found.decided, "cells": dict(states), "seeds": list(kept.experiment.seeds)}
    told |= {"variants": [*map(_line, found.rows)]}
    return {**told, "influential": [row.name for row in found.influential("member", "evidence")][:5]}


def _line(row: "Result") -> dict[str, Any]:
    shares = {name: [round(n, 4) for n in (s.value, s.low, s.high)] for name, s in row.shares.items()}
    facts = {name: getattr(row, name) for name in ("kind", "done", "outcome", "flips", "pairs")}
    numbers = {"votes": row.votes, "swing": row.swing}
    rounded = {name: None if number is None else round(number, 4) for name, number in numbers.items()}
    return {"variant": row.name, **facts, "shares": shares, **rounded, "runs": list(row.runs)}


def _experiment(
    house: Courthouse, run: str, vary: list[str], drop: list[str], budget: int | None, cross: bool, many: int,
    otherwise: str | None,
) -> "Experiment":  # fmt: skip
    from courtroom.experiments.plan import finished  # slow to import
    from courtroom.experiments.what_if import grid, left_out, singly, values

    what_ifs = house.experiments.what_ifs
    base = finished(run, house)
    procedure = house.procedures[base.run.procedure]
    seeds = list(range(base.run.seed, base.run.seed + many))
    axes: list[Axis] = []
    for text in vary:
        path, _equals, given = text.partition("=")
        if not given:
            raise typer.BadParameter(f"--vary {text}: write KEY=V1,V2,...")
        if path.strip() == "seed":
            seeds = read_values(given)
            for value in seeds:
                if type(value) is not int or value < 0:
                    raise typer.BadParameter(f"--vary seed: {value} is no seed; seeds are whole numbers from 0 on.")
        else:
            axes.append(values(procedure.setup, path.strip(), read_values(given)))
    offered = left_out(procedure, base.setup, base.case, base.run.seed) if drop else {}
    for what in dict.fromkeys(drop):
        if what not in offered:
            known = f"'{what}' is not one of {', '.join(offered)}" if offered else "nothing can be left out here"
            raise typer.BadParameter(f"--drop {what}: {known}.")
        axes.append(offered[what])
    if budget is not None:
        axes.append(tuple(variant for variant, _ in what_ifs.propose(run, budget, progress)))
    return what_ifs.experiment(run, grid(*axes) if cross else singly(*axes), seeds, otherwise or "")


def _lines(summary: dict[str, Any]) -> Iterator[str]:
    yield f"{summary['experiment']}  {summary['status']}  {summary['reason']}".rstrip()
    for line in summary["variants"]:
        swing = "" if line["swing"] is None else f"{line['swing']:+.0%}"
        flips = f"{line['flips']} of {line['pairs']} flipped" if line["pairs"] else ""
        yield f"{line['outcome'] or '-':12}  {swing:>6}  {flips:16}  {line['variant']}"
    if summary["influential"]:
        yield f"Most influential: {'; '.join(summary['influential'])}"


def yardstick(
    experiment: Annotated[str, Argument(help="The id of an experiment or a what-if, or an experiment's name.")] = "",
    arm: Annotated[str, Option(help="Only this arm; by default all arms together.")] = "",
    procedure: Annotated[str, Option(help=OF_PROCEDURE)] = "",
    to: Annotated[Path | None, Option(help="The curve as FILE.html, which opens in a browser.")] = None,
    json_: Json = False,
) -> None:
    """Hold juries of runs against juries of people: do they move as those do, and how many voices have they?"""
    from courtroom.evaluation.run_list import RunFilter, RunList
    from courtroom.evaluation.yardstick import of_runs
    from courtroom.figures.experiment import draw_yardstick

    if bool(experiment) == bool(procedure) or (procedure and arm):
        raise CourtroomError("Name either an experiment, with --arm if you like, or, with --procedure, a procedure.")
    with opened() as house:
        if procedure:
            done = RunFilter(status="done", procedure=procedure, made_here=True)
            runs = [one.id for one in RunList(house.database).newest(done, MAX_RUNS_READ)]
        else:
            runs = house.experiments.runs(experiment, arm)
        found = of_runs(runs, house.record, house.procedures)
    if not found.lines:
        raise CourtroomError("Nobody has voted in these runs. Run some in which members vote first.")
    if to is not None:
        write(to, draw_yardstick(found).to_html(include_plotlyjs=True))
    tell(found.as_data(), _yardstick_lines(found), json_)


def _yardstick_lines(found: "Yardstick") -> Iterator[str]:
    yield from found.sentences
    yield "first ballot\truns\tproven\tpeople\tproven"
    for size, votes, wins, n, others, of in found.curve.itertuples(index=False):
        mine, theirs = (f"{hits / many:.0%}" if many else "-" for hits, many in ((wins, n), (others, of)))
        yield f"{votes} of {size}\t{n}\t{mine}\t{of}\t{theirs}"
    yield "\nmeasure\tthese runs\tpeople\tp\tsource"
    yield from ("\t".join(line.in_words().values()) for line in found.lines)


def read_actions(file: Path) -> list[Action]:
    """Actions from a JSON file: one object, or a list of them. What is no JSON, or does not fit, is refused."""
    try:
        data = json_of(decoded(file.read_bytes())[0])
        return [ACTION.validate_python(item) for item in (data if isinstance(data, list) else [data])]
    except CaseError as error:
        raise CourtroomError(f"The file of interventions: {error}") from error
    except ValidationError as error:
        raise CourtroomError(f"--intervene {file}: {' '.join(explain(error))}") from error
