"""Experiments from a shell: `python -m courtroom experiment ...`."""

from __future__ import annotations

import json
import sys
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import wait
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic_core import to_json
from typer import Argument, Option

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.shell.options import LOOK_S, Json, Model, Set, opened, pairs, write
from courtroom.text.files import write_csv

if TYPE_CHECKING:
    from courtroom.experiments.plan import ExperimentEstimate
    from courtroom.experiments.results import ExperimentResults
    from courtroom.experiments.spec import Experiment

WHOLE = ("values", "frontier", "matrix")
"""Figures that need no classes."""


def figure(
    name: Annotated[str, Argument(help="The experiment's id, or its name for the newest of that name.")],
    what: Annotated[
        str,
        Argument(
            help="values, frontier, matrix; or by category, difficulty, rounds, real-votes, votes, share; or learning."
        ),
    ],
    measure: Annotated[str, Option(help="Which measure; by default the table's first.")] = "",
    group: Annotated[str, Option(help="Only cases of this group of the table.")] = "",
    to: Annotated[Path | None, Option(help="FILE.html (opens in a browser), .json (Plotly) or .csv (numbers).")] = None,
    theme: Annotated[Literal["light", "dark"], Option(help="Colours of the figure.")] = "light",
    json_: Json = False,
) -> None:
    """Draw one of an experiment's figures into a file. Without --to, print its numbers."""
    from courtroom.experiments.table import ALL
    from courtroom.figures.experiment import draw_breakdown, draw_frontier, draw_matrix, draw_values

    with opened() as house:
        found = house.experiments.results(name)
    by_name = {one.name: one for one in found.measures}
    if not by_name or (measure and measure not in by_name):
        raise CourtroomError(f"The table has no measure “{measure}”. It has: {', '.join(by_name) or 'none'}.")
    valued = [one for one in found.measures if any(one.name in line.values for line in found.table.lines)]
    chosen = by_name[measure] if measure else (valued or found.measures)[0]
    if not group and not found.table.groups:
        raise CourtroomError("No cell is done yet. Start the experiment with `courtroom experiment resume`.")
    among = group or found.table.groups[0]
    if what in WHOLE:
        groups = [found.groups[arm, among] for arm in found.arms if (arm, among) in found.groups]
        rows: list[dict[str, str | float]] = []
        if what == "matrix":
            if chosen.each is None:
                raise CourtroomError(f"{chosen.title} has no value for each case. Choose another with --measure.")
            rows = [
                {"arm": one.arm, "case": case, chosen.title: value}
                for one in groups
                for case, value in zip(one.by_case, one.values(chosen, list(one.by_case)), strict=True)
                if value is not None
            ]
            drawn = draw_matrix(groups, chosen, theme)
        else:
            drawn = (draw_values if what == "values" else draw_frontier)(found.table, among, chosen, theme)
            for line in found.table.lines:
                if line.group == among and (one := line.values.get(chosen.name)):
                    took, ends = found.table.spent[line.arm], (one.low, one.high) if one.known else ("", "")
                    row: dict[str, str | float] = {
                        "arm": line.arm,
                        chosen.title: one.value,
                        "from": ends[0],
                        "to": ends[1],
                    }
                    row |= {"cases": line.counts[chosen.name], "tokens": took.tokens}
                    rows.append(row if took.cost is None else {**row, "US$": took.cost})
    else:
        broken = found.breakdown(what, chosen, group or ALL)
        rows, drawn = broken.rows(), draw_breakdown(broken, theme)
    if not rows:
        raise CourtroomError(f"{chosen.title} has no value here.")
    if to is None:
        print(json.dumps(rows, ensure_ascii=False) if json_ else _lines(rows, "\t"), end="\n" if json_ else "")
        return
    if to.suffix == ".html":
        write(to, drawn.to_html(include_plotlyjs=True))
    elif to.suffix == ".json":
        write(to, drawn.to_json())
    elif to.suffix == ".csv":
        write(to, _lines(rows, ","))
    else:
        raise CourtroomError("--to needs a file name that ends in .html, .json, .csv.")
    print(to)


def _lines(rows: list[dict[str, str | float]], between: str) -> str:
    return write_csv(rows[0] if rows else (), (row.values() for row in rows), between)


app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run arms over a dataset, compare them, and write the table.",
)
Name = Annotated[str, Argument(help="The experiment's id, or its name for the newest of that name.")]
Dask = Annotated[
    str | None,
    Option(help="The address of a Dask cluster that drives the cells: tcp://HOST:8786. By default COURTROOM_DASK."),
]
Money = Annotated[float | None, Option("--budget", help="US dollars for the whole experiment.")]


@app.command("run")
def run(
    file: Annotated[Path, Argument(help="The experiment's file, in TOML.")],
    estimate: Annotated[bool, Option("--estimate", help="Ask nothing; say what it would take.")] = False,
    budget: Money = None,
    dataset: Annotated[str | None, Option(help="Another dataset than the file's.")] = None,
    split: Annotated[str | None, Option(help="Another split to test on.")] = None,
    sample: Annotated[int | None, Option(min=1, help="So many cases, drawn by the dataset's seed.")] = None,
    repeats: Annotated[int | None, Option(min=1, help="How often each case runs under each arm.")] = None,
    model: Model = None,
    set_: Set = None,
    controls: Annotated[
        list[str] | None,
        Option(
            help="Add matched controls to this arm: samples, no talk, no personas. `all` is every arm with a panel."
        ),
    ] = None,
    dask: Dask = None,
    json_: Json = False,
) -> None:
    """Run an experiment. The same command again goes on with what is left.

    With --dataset, --split, --sample, --repeats, --model, --set or --controls it is another experiment under the same name: its own cells, its own table.
    """
    from courtroom.experiments.spec import adapted, read_toml  # slow to import: not for other commands

    with opened(dask) as house:
        changes: dict[str, Any] = {"split": split, "sample": sample, "repeats": repeats, "model": model}
        experiment = adapted(read_toml(file), dataset=dataset, **changes, values=pairs(set_))
        if controls:
            experiment = house.experiments.with_controls(experiment, controls)
        experiment = _with_budget(experiment, budget)
        if estimate:
            print_estimate(house.experiments.estimate(experiment, progress), json_)
            return
        name = house.experiments.begin(experiment)
        house.experiments.go(name)
        follow(house, name)
        _print_all(house, name, json_)


@app.command("lock")
def lock(
    file: Annotated[Path, Argument(help="The experiment's file, with a [[hypothesis]] for each.")],
    json_: Json = False,
) -> None:
    """Lock hypotheses before anything is asked. Publish the hash: it shows later that nothing was changed."""
    from courtroom.experiments.spec import read_toml  # slow to import: not for other commands

    with opened() as house:
        found = house.experiments.lock(read_toml(file))
    if json_:
        print(json.dumps({"digest": found.digest, **found.model_dump(mode="json")}, ensure_ascii=False))
        return
    for one in found.hypotheses:
        print(one)
    print(f"Locked {found.at:%Y-%m-%d %H:%M} UTC, hash {found.digest}")


@app.command("resume")
def resume(
    name: Name,
    budget: Money = None,
    again: Annotated[bool, Option("--again", help="Also try the cells again that failed.")] = False,
    dask: Dask = None,
    json_: Json = False,
) -> None:
    """Go on with an experiment that was paused or interrupted."""
    with opened(dask) as house:
        kept = house.experiments.store.experiment(name)
        if budget is not None:
            house.experiments.store.replace(_with_budget(kept.experiment, budget))
        if not again or not house.experiments.try_again(kept.id):
            house.experiments.go(kept.id)
        follow(house, kept.id)
        _print_all(house, kept.id, json_)


@app.command("predictions")
def predictions(
    file: Annotated[Path, Argument(help="A file of answers by case, or a folder of such (.jsonl).")],
    dataset: Annotated[str, Option(help="The dataset whose cases they are of.")],
    name: Annotated[str | None, Option(help="The experiment's name; by default the file's.")] = None,
    measure: Annotated[list[str] | None, Option(help="A measure of the table; give it again for more.")] = None,
    by_category: Annotated[bool, Option("--by-category", help="A table for each category of cases.")] = False,
    json_: Json = False,
) -> None:
    """Take in predictions made elsewhere, one arm for each model, and compare them."""
    from courtroom.experiments.outcome import models_in
    from courtroom.experiments.spec import parsed

    with opened() as house:
        arms = [{"name": model or file.stem, "model": model, "predictions": str(file)} for model in models_in(file)]
        values = {"name": name or file.stem, "dataset": {"name": dataset}, "by_category": by_category, "arms": arms}
        kept = house.experiments.begin(parsed({**values, "measures": tuple(measure or ())}, file.name))
        house.experiments.store.set_status(kept, "done")
        _print_results(house.experiments.results(kept), json_)


@app.command("status")
def status(name: Annotated[str | None, Argument(help="One experiment; all without it.")] = None) -> None:
    """How experiments stand: a line for each, or for each arm of one."""
    with opened() as house:
        store = house.experiments.store
        if name is None:
            for kept in store.experiments():
                counts = store.counts(kept.id)
                done = sum(many for (_, state), many in counts.items() if state == "done")
                print(f"{kept.id}\t{kept.status}\t{done} of {sum(counts.values())} cells\t{kept.reason}")
            return
        kept = store.experiment(name)
        counts, took = store.counts(kept.id), store.took(kept.id)
        print(f"{kept.id}\t{kept.status}\t{kept.reason}")
        for place, arm in enumerate(kept.experiment.arms):
            states = ", ".join(f"{many} {state}" for (of, state), many in sorted(counts.items()) if of == place)
            calls, tokens, cost = took.get(place, (0, 0, 0.0))
            money = "price not known" if cost is None else f"US$ {cost:.4g}"
            print(f"{arm.name}\t{states}\t{calls} calls\t{tokens} tokens\t{money}")


@app.command("results")
def results(name: Name, json_: Json = False) -> None:
    """The table, and which differences hold."""
    from courtroom.experiments.store import PrintedResults

    with opened() as house:
        store = house.experiments.store
        kept = store.experiment(name)

        def make() -> str:
            return _results_text(house.experiments.results(kept.id), json_)

        # what a lock says also rests on the prompts as they are now
        known = PrintedResults(house.settings.home, store)
        print(make() if kept.experiment.lock else known.text(kept, "json" if json_ else "md", make))
        arms = kept.experiment.arms
        failed = Counter((arms[one.arm].name, one.reason) for one in store.cells(kept.id, "failed", phase="test"))
    if not json_:
        _tell_failures((*one, many) for one, many in failed.most_common())


@app.command("export")
def export(
    name: Name,
    to: Annotated[Path, Option(help="FILE.csv, .parquet or .jsonl (a line a cell); .md or .tex (the table).")],
) -> None:
    """Write an experiment's cells, or its table, to a file."""
    from courtroom.experiments.written import latex, markdown, write_frame

    with opened() as house:
        found = house.experiments.results(name)
        if to.suffix == ".md":
            write(to, markdown(found.table, found.pairs, found.overall, found.notes))
        elif to.suffix == ".tex":
            write(to, latex(found.table, found.pairs, found.kept.experiment.title, found.notes))
        else:
            write_frame(found.frame, to)
        print(to)


@app.command("bundle")
def bundle(
    name: Name,
    to: Annotated[Path, Option(help="A new folder, or FILE.zip.")],
) -> None:
    """Write what a paper needs: table, figures, methods, a checklist, metadata, and what it takes to run it again."""
    from courtroom.experiments.bundle import write_bundle

    with opened() as house:
        write_bundle(house.experiments.results(name), house, to)
        print(to)


app.command("figure")(figure)


@app.command("inspect")
def inspect(
    name: Name,
    to: Annotated[Path, Option(help="A folder for the logs, one for each arm.")],
) -> None:
    """Write an experiment as logs of Inspect: `inspect view --log-dir FOLDER` opens them. Needs the extra `inspect`."""
    from courtroom.experiments.inspect_log import write_logs

    with opened() as house:
        for path in write_logs(house.experiments.results(name), to, house.record, house.answers):
            print(path)


@app.command("certainty")
def certainty(
    run_: Annotated[str, Argument(metavar="RUN", help="A run with a verdict.")],
    budget: Annotated[float | None, Option(help="US dollars for all its repeats.")] = None,
    most: Annotated[int, Option(min=1, max=1000, help="Repeats at most.")] = 40,
    json_: Json = False,
) -> None:
    """How sure is a verdict? Repeat its run with other seeds until a sequential test shows or refutes the same outcome with at least 95 %."""
    with opened() as house:
        if budget is not None and budget <= 0:
            raise CourtroomError("--budget needs an amount above 0.")
        repeats = house.experiments.repeats
        found = repeats.go(run_, budget, most, lambda now: print(f"{now.found.of} repeats", file=sys.stderr))
    told = json.dumps({**found.model_dump(mode="json"), "sentence": found.sentence}, ensure_ascii=False)
    print(told if json_ else f"{found.sentence} {found.reason}".strip())


@app.command("canary")
def canary(
    name: Name,
    calls: Annotated[int, Option(min=1, max=1_000, help="Recorded calls that are asked again, each twice.")] = 50,
    budget: Annotated[float | None, Option(help="US dollars for this; the experiment's own holds too.")] = None,
    json_: Json = False,
) -> None:
    """Would it come out today? Ask a sample of the recorded calls again, and compare. The result is kept with the experiment."""
    with opened() as house:
        if budget is not None and budget <= 0:
            raise CourtroomError("--budget needs an amount above 0.")
        found = house.experiments.canary(name, calls, budget)
    print(found.model_dump_json() if json_ else "\n".join(found.lines))


def _with_budget(experiment: Experiment, money: float | None) -> Experiment:
    if money is None:
        return experiment
    if money <= 0:
        raise CourtroomError("--budget needs an amount above 0.")
    budget = experiment.budget.model_copy(update={"money": money})
    return experiment.model_copy(update={"budget": budget})


def progress(done: int, total: int) -> None:
    if done % 10 == 0 or done == total:
        print(f"Rehearsed {done} of {total} cells", file=sys.stderr)


def follow(house: Courthouse, name: str) -> None:
    """Report progress on stderr until the experiment is done or paused; Ctrl-C pauses it."""
    print(name, file=sys.stderr)
    store, shown = house.experiments.store, -1
    settled = house.experiments.settled(name)
    try:
        while not settled.done():
            counts = store.counts(name)
            ended = sum(many for (_, state), many in counts.items() if state != "waiting")
            if ended != shown:
                print(f"{ended} of {sum(counts.values())} cells", file=sys.stderr)
                shown = ended
            wait([settled], timeout=max(LOOK_S, 0.5))
        settled.result()
    except KeyboardInterrupt:
        house.experiments.pause(name)
        house.experiments.wait(name)
    kept = store.experiment(name)
    print(f"{kept.status}. {kept.reason}".strip(), file=sys.stderr)


def _print_all(house: Courthouse, name: str, as_json: bool) -> None:
    """The table; the exit code says whether a cell failed."""
    found = house.experiments.results(name)
    _print_results(found, as_json)
    raise typer.Exit(1 if any(row.state == "failed" for row in found.rows) else 0)


def _print_results(results: ExperimentResults, as_json: bool) -> None:
    print(_results_text(results, as_json))
    if not as_json:
        _tell_failures(results.failures)


def _tell_failures(failures: Iterable[tuple[str, str, int]]) -> None:
    for arm, reason, number in failures:
        print(f"{arm}: {number} failed. {reason}", file=sys.stderr)


def _results_text(results: ExperimentResults, as_json: bool) -> str:
    from courtroom.experiments.written import markdown

    if as_json:
        return to_json(results.as_data(), inf_nan_mode="null").decode()
    said = [*results.repeats_told, *map(str, results.findings)]
    return "\n".join(
        [markdown(results.table, results.pairs, results.overall, results.notes), *(f"- {line}" for line in said)]
    )


def print_estimate(takes: ExperimentEstimate, as_json: bool) -> None:
    """What an experiment takes: a line for each arm, and all together."""
    if as_json:
        print(json.dumps(asdict(takes), ensure_ascii=False))
        return
    for arm in takes.arms:
        money = "price not known" if arm.money is None else f"US$ {arm.money:.4g}"
        print(f"{arm.arm}\t{arm.cells} cells\t{arm.calls} calls\t{arm.tokens} tokens\t{money}")
    teaching = f" ({takes.training} of them only teach)" if takes.training else ""
    money = "an unknown amount of money" if takes.money is None else f"US$ {takes.money:.4g}"
    print(
        f"{takes.cells} cells{teaching} take about {takes.calls} calls, {takes.tokens} tokens, {money} and "
        f"{max(1, round(takes.seconds)):,} seconds. Answers that cells share, "
        f"or that are on record, save {takes.shared} calls. {takes.rehearsed} cells were rehearsed."
    )
