"""Experiments from a shell: `python -m courtroom experiment ...`."""

from __future__ import annotations

import json
import sys
from concurrent.futures import wait
from dataclasses import asdict
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.shell.experiment_figure import figure
from courtroom.shell.house import opened
from courtroom.shell.options import Json, Model, Set, pairs
from courtroom.shell.output import LOOK_S, write

if TYPE_CHECKING:
    from courtroom.experiments.estimate import ExperimentEstimate
    from courtroom.experiments.results import ExperimentResults
    from courtroom.experiments.spec import Experiment

app = typer.Typer(
    no_args_is_help=True,
    rich_markup_mode=None,
    help="Run arms over a dataset, compare them, and write the table.",
)
Name = Annotated[str, typer.Argument(help="The experiment's id, or its name for the newest of that name.")]
Dask = Annotated[
    str | None,
    typer.Option(
        help="The address of a Dask cluster that drives the cells: tcp://HOST:8786. By default COURTROOM_DASK."
    ),
]
Money = Annotated[float | None, typer.Option("--budget", help="US dollars for the whole experiment.")]


@app.command("run")
def run(
    file: Annotated[Path, typer.Argument(help="The experiment's file, in TOML.")],
    estimate: Annotated[bool, typer.Option("--estimate", help="Ask nothing; say what it would take.")] = False,
    budget: Money = None,
    dataset: Annotated[str | None, typer.Option(help="Another dataset than the file's.")] = None,
    split: Annotated[str | None, typer.Option(help="Another split to test on.")] = None,
    sample: Annotated[int | None, typer.Option(min=1, help="So many cases, drawn by the dataset's seed.")] = None,
    repeats: Annotated[int | None, typer.Option(min=1, help="How often each case runs under each arm.")] = None,
    model: Model = None,
    set_: Set = None,
    dask: Dask = None,
    json_: Json = False,
) -> None:
    """Run an experiment. The same command again goes on with what is left.

    With --dataset, --split, --sample, --repeats, --model or --set it is another experiment under the same name: its own cells, its own table.
    """
    from courtroom.experiments.adapted import adapted  # slow to import: not for other commands
    from courtroom.experiments.spec import read_toml

    with opened(dask) as house:
        wanted = adapted(
            read_toml(file),
            dataset=dataset,
            split=split,
            sample=sample,
            repeats=repeats,
            model=model,
            values=pairs(set_),
        )
        experiment = _with_budget(wanted, budget)
        if estimate:
            _print_estimate(house.experiments.estimate(experiment, _progress), json_)
            return
        name = house.experiments.begin(experiment)
        print(name, file=sys.stderr)
        house.experiments.go(name)
        _follow(house, name, json_)


@app.command("resume")
def resume(
    name: Name,
    budget: Money = None,
    again: Annotated[bool, typer.Option("--again", help="Also try the cells again that failed.")] = False,
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
        _follow(house, kept.id, json_)


@app.command("predictions")
def predictions(
    file: Annotated[Path, typer.Argument(help="A file of answers by case, or a folder of such (.jsonl).")],
    dataset: Annotated[str, typer.Option(help="The dataset whose cases they are of.")],
    name: Annotated[str | None, typer.Option(help="The experiment's name; by default the file's.")] = None,
    measure: Annotated[list[str] | None, typer.Option(help="A measure of the table; give it again for more.")] = None,
    by_category: Annotated[bool, typer.Option("--by-category", help="A table for each category of cases.")] = False,
    json_: Json = False,
) -> None:
    """Take in predictions made elsewhere, one arm for each model, and compare them."""
    from courtroom.experiments.elsewhere import models_in
    from courtroom.experiments.spec import parsed

    with opened() as house:
        arms = [
            {"name": model or file.stem, "model": model, "predictions": str(file)} for model in models_in(file)
        ]  # fmt: skip
        values = {"name": name or file.stem, "dataset": {"name": dataset}, "by_category": by_category, "arms": arms}
        kept = house.experiments.begin(parsed({**values, "measures": tuple(measure or ())}, file.name))
        house.experiments.store.set_status(kept, "done")
        _print_results(house.experiments.results(kept), json_)


@app.command("status")
def status(name: Annotated[str | None, typer.Argument(help="One experiment; all without it.")] = None) -> None:
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
    with opened() as house:
        _print_results(house.experiments.results(name), json_)


@app.command("export")
def export(
    name: Name,
    to: Annotated[Path, typer.Option(help="FILE.csv, .parquet or .jsonl (a line a cell); .md or .tex (the table).")],
) -> None:
    """Write an experiment's cells, or its table, to a file."""
    from courtroom.experiments.frames import write_frame
    from courtroom.experiments.written import latex, markdown

    with opened() as house:
        found = house.experiments.results(name)
        if to.suffix == ".md":
            write(to, markdown(found.table, found.pairs, found.overall, found.notes))
        elif to.suffix == ".tex":
            write(to, latex(found.table, found.pairs))
        else:
            write_frame(found.frame, to)
        print(to)


app.command("figure")(figure)


@app.command("inspect")
def inspect(
    name: Name,
    to: Annotated[Path, typer.Option(help="A folder for the logs, one for each arm.")],
) -> None:
    """Write an experiment as logs of Inspect: `inspect view --log-dir FOLDER` opens them. Needs the extra `inspect`."""
    from courtroom.experiments.inspect_log import write_logs

    with opened() as house:
        for path in write_logs(house.experiments.results(name), to, house.record, house.answers):
            print(path)


@app.command("spans")
def spans(
    name: Name,
    to: Annotated[Path | None, typer.Option(help="A file for OTLP in JSON, a line a run (.jsonl).")] = None,
    endpoint: Annotated[
        str | None,
        typer.Option(help="An OTLP/HTTP receiver's address for traces; by default that of OTEL_EXPORTER_OTLP_*."),
    ] = None,
    texts: Annotated[bool, typer.Option("--texts", help="Also what was sent and what came back.")] = False,
) -> None:
    """Write an experiment's runs as OpenTelemetry spans to a file, or send them to a receiver. Needs the extra `otel`."""
    from courtroom.experiments.spans import as_json, send, traces

    if to is not None and endpoint is not None:
        raise CourtroomError("Give --to for a file or --endpoint for a receiver, not both.")
    with opened() as house:
        several = traces(house.experiments.results(name), house.record, house.answers, texts)
        if to is None:
            print(f"{send(several, endpoint)} runs sent.")
        else:
            write(to, "".join(f"{as_json(one)}\n" for one in several))
            print(to)


@app.command("sure")
def sure(
    run_: Annotated[str, typer.Argument(metavar="RUN", help="A run with a verdict.")],
    budget: Annotated[float | None, typer.Option(help="US dollars for all its repeats.")] = None,
    most: Annotated[int, typer.Option(min=1, max=1000, help="Repeats at most.")] = 40,
    json_: Json = False,
) -> None:
    """How sure is a verdict? Repeat its run with other seeds until a sequential test shows or refutes the same outcome with at least 95 %."""
    with opened() as house:
        if budget is not None and budget <= 0:
            raise CourtroomError("--budget needs an amount above 0.")
        found = house.experiments.repeats.go(
            run_, budget, most, lambda now: print(f"{now.found.of} repeats", file=sys.stderr)
        )
    if json_:
        print(json.dumps({**found.model_dump(mode="json"), "sentence": found.sentence}, ensure_ascii=False))
    else:
        print(f"{found.sentence} {found.reason}".strip())


def _with_budget(experiment: Experiment, money: float | None) -> Experiment:
    if money is None:
        return experiment
    if money <= 0:
        raise CourtroomError("--budget needs an amount above 0.")
    budget = experiment.budget.model_copy(update={"money": money})
    return experiment.model_copy(update={"budget": budget})


def _progress(done: int, total: int) -> None:
    if done % 10 == 0 or done == total:
        print(f"Rehearsed {done} of {total} cells", file=sys.stderr)


def _follow(house: Courthouse, name: str, as_json: bool) -> None:
    """Report progress on stderr until the experiment is done or paused, then print its table; Ctrl-C pauses it."""
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
    found = house.experiments.results(name)
    _print_results(found, as_json)
    raise typer.Exit(1 if any(row.state == "failed" for row in found.rows) else 0)


def _print_results(found: ExperimentResults, as_json: bool) -> None:
    from courtroom.experiments.written import markdown

    if as_json:
        print(json.dumps(_finite(found.as_data()), ensure_ascii=False))
    else:
        print(markdown(found.table, found.pairs, found.overall, found.notes))
        for arm, reason, number in found.failures:
            print(f"{arm}: {number} failed. {reason}", file=sys.stderr)


def _print_estimate(takes: ExperimentEstimate, as_json: bool) -> None:
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


def _finite(value: Any) -> Any:
    """Plain data in which what is no number is null, as JSON has it."""
    if isinstance(value, dict):
        return {key: _finite(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_finite(one) for one in value]
    if isinstance(value, float) and value - value != 0:
        return None
    return value
