"""Experiments from a shell: `python -m courtroom experiment ...`."""

import json
import sys
from concurrent.futures import wait
from dataclasses import asdict
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer
from pydantic_core import to_json
from typer import Argument, Option

from courtroom import Courthouse, CourtroomError
from courtroom.questions.asides import Cost
from courtroom.shell.options import LOOK_S, Json, Model, Set, opened, tell, values_of, write
from courtroom.text.files import write_csv

if TYPE_CHECKING:
    from courtroom.experiments.plan import ExperimentEstimate
    from courtroom.experiments.results import ExperimentResults
    from courtroom.experiments.spec import Experiment

app = typer.Typer(no_args_is_help=True, help="Run arms over a dataset, compare them, and write the table.")
CHANGES = "order, name, gender, age, nationality, language, length, words=A>B or rewriting=TEXT; age=71 and so on."
FIGURES = "values, frontier, matrix, mirror; by category, difficulty, rounds, split, real-votes, votes, share, scripted; or learning."
Name = Annotated[str, Argument(help="The experiment's id, or its name for the newest of that name.")]
ANSWERS = "Where the predictions made elsewhere are that the file names."
CLUSTER = "The address of a Dask cluster that drives the cells: tcp://HOST:8786. By default COURTROOM_DASK."
Dask = Annotated[str | None, Option(help=CLUSTER)]
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
    answers: Annotated[Path | None, Option("--predictions", help=ANSWERS)] = None,
    controls: Annotated[list[str] | None, Option(help="Add matched controls to this arm, or to `all`.")] = None,
    seen_by: Annotated[str, Option(help="Who has read what its arms change about the parties.")] = "",
    batch: Annotated[bool, Option("--batch", help="Ask by the provider's batch: at half the price, in hours.")] = False,
    dask: Dask = None,
    json_: Json = False,
) -> None:
    """Run an experiment. The same command again goes on with what is left.

    With --dataset, --split, --sample, --repeats, --model, --set or --controls it is another experiment of that name.
    """
    from courtroom.experiments.mirror import read_by
    from courtroom.experiments.spec import adapted, read_toml  # slow to import: not for other commands

    with opened(dask) as house:
        changes: dict[str, Any] = {"split": split, "sample": sample, "repeats": repeats, "model": model}
        experiment = adapted(read_toml(file), dataset=dataset, **changes, values=values_of(set_), predictions=answers)
        if controls:
            experiment = house.experiments.with_controls(experiment, controls)
        experiment = _with_budget(read_by(experiment, seen_by) if seen_by else experiment, budget)
        experiment = experiment.model_copy(update={"batch": batch or experiment.batch})
        if estimate:
            print_estimate(house.experiments.estimate(experiment, progress), json_, by_batch=experiment.batch)
            return
        name = house.experiments.begin(experiment)
        house.experiments.go(name)
        follow(house, name)
        _print_all(house, name, json_)


@app.command("mirror")
def mirror(
    what: Annotated[str, Argument(metavar="FILE|RUN", help="An experiment's file, or a run that is done.")],
    change: Annotated[list[str], Option(help=CHANGES)],
    to: Annotated[Path, Option(help="The file for the experiment, FILE.toml.")],
    whose: Annotated[str, Option(help="A name in the case, or such as `the seller`; by default the first party.")] = "",
    seeds: Annotated[int, Option(min=1, max=1000, help="Of a run: under how many each change is heard.")] = 6,
    model: Model = None,
) -> None:
    """Would it be the same for somebody else? Write an experiment that changes one thing about the parties at a time.

    Nothing is heard yet. What would be changed is printed; who has read it has it heard with `experiment run`.
    """
    from courtroom.experiments.mirror import drafts, with_mirror
    from courtroom.experiments.spec import as_toml, read_toml
    from courtroom.models.spec import ModelSpec
    from courtroom.questions.mirror import change_of, texts

    with opened() as house:
        named = house.experiments
        experiment = read_toml(Path(what)) if Path(what).is_file() else named.what_ifs.as_it_was(what, seeds)
        cases = {case.id: case for case in named.cases(experiment)}
        spec = ModelSpec(id=model) if model else None
        drafted = drafts(house, cases.values(), [*map(change_of, change)], whose, spec, experiment.budget)
        write(to, as_toml(with_mirror(experiment, drafted)))
    for title, by_case in drafted.items():
        for case, draft in by_case.items():
            how = " (the other order)" if draft.other_order else "" if draft.texts else " stays as it is"
            print(f"\n{title}: {case}{how}")
            for path, text in draft.texts.items():
                print(f"  {path}\n  - {texts(cases[case])[path]}\n  + {text}")
            for line in draft.left:
                print(f"  ! {line}")
    print(f"\nRead it, put right in {to} what you want, then: courtroom experiment run {to} --seen-by NAME")


@app.command("lock")
def lock(
    file: Annotated[Path, Argument(help="The experiment's file, with a [[hypothesis]] for each.")], json_: Json = False
) -> None:
    """Lock hypotheses before anything is asked. Publish the hash: it shows later that nothing was changed."""
    from courtroom.experiments.spec import read_toml  # slow to import: not for other commands

    with opened() as house:
        found = house.experiments.lock(read_toml(file))
    lines = [*found.hypotheses, f"Locked {found.at:%Y-%m-%d %H:%M} UTC, hash {found.digest}"]
    tell({"digest": found.digest, **found.model_dump(mode="json")}, lines, json_)


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
            readable, others = store.page(0, store.number())
            for error in others:
                print(error, file=sys.stderr)
            for kept in readable:
                counts = store.counts(kept.id)
                done = sum(many for (_, state), many in counts.items() if state == "done")
                print(f"{kept.id}\t{kept.status}\t{done} of {sum(counts.values())} cells\t{kept.reason}")
            return
        kept = store.experiment(name)
        counts, took = store.counts(kept.id), store.took(kept.id)
        print(f"{kept.id}\t{kept.status}\t{kept.reason}")
        for place, arm in enumerate(kept.experiment.arms):
            states = ", ".join(f"{many} {state}" for (of, state), many in sorted(counts.items()) if of == place)
            cost = took.get(place, Cost())
            about = "about " if cost.estimated else ""
            money = f"{about if cost.money is not None else ''}{_money(cost.money)}"
            print(f"{arm.name}\t{states}\t{cost.calls} calls\t{about}{cost.tokens} tokens\t{money}")
        cached, batched = store.cheaper(kept.id)
        if cached or batched:
            print(f"{cached} tokens came from a provider's cache, and {batched} went by batch.")


@app.command("results")
def results(name: Name, json_: Json = False) -> None:
    """The table, and which differences hold."""
    with opened() as house:
        _print_results(house.experiments.results(name), json_)


@app.command("export")
def export(
    name: Name,
    to: Annotated[Path, Option(help="FILE.csv, .parquet or .jsonl (a line a cell); .md or .tex (the table).")],
) -> None:
    """Write an experiment's cells, or its table, to a file."""
    from courtroom.experiments.written import file_of, latex, markdown

    with opened() as house:
        found = house.experiments.results(name)
        if to.suffix == ".md":
            write(to, markdown(found))
        elif to.suffix == ".tex":
            write(to, latex(found.table, found.pairs, found.kept.experiment.title, found.notes))
        else:
            write(to, file_of(found.frame, to.suffix))
        print(to)


@app.command("bundle")
def bundle(name: Name, to: Annotated[Path, Option(help="A new folder, or FILE.zip.")]) -> None:
    """Write what a paper needs: table, figures, methods, a checklist, metadata, and what it takes to run it again."""
    from courtroom.experiments.bundle import write_bundle

    with opened() as house:
        write_bundle(house.experiments.results(name), house, to)
        print(to)


@app.command("figure")
def figure(
    name: Name,
    what: Annotated[str, Argument(help=FIGURES)],
    measure: Annotated[str, Option(help="Which measure; by default the table's first.")] = "",
    group: Annotated[str, Option(help="Only cases of this group of the table.")] = "",
    to: Annotated[Path | None, Option(help="FILE.html (opens in a browser), .json (Plotly) or .csv (numbers).")] = None,
    theme: Annotated[Literal["light", "dark"], Option(help="Colours of the figure.")] = "light",
    json_: Json = False,
) -> None:
    """Draw one of an experiment's figures into a file. Without --to, print its numbers."""
    from courtroom.experiments.mirror import lines
    from courtroom.experiments.table import ALL
    from courtroom.figures.experiment import draw_breakdown, draw_frontier, draw_matrix, draw_mirror, draw_values

    with opened() as house:
        found = house.experiments.results(name)
    if json_ and to is not None:
        raise CourtroomError("--json prints the numbers, and --to writes a file. Give one of them.")
    by_name = {one.name: one for one in found.measures}
    if not by_name or (measure and measure not in by_name):
        raise CourtroomError(f"The table has no measure “{measure}”. It has: {', '.join(by_name) or 'none'}.")
    valued = [one for one in found.measures if any(one.name in line.values for line in found.table.lines)]
    chosen = by_name[measure] if measure else (valued or found.measures)[0]
    if not group and not found.table.groups:
        raise CourtroomError("No cell is done yet. Start the experiment with `courtroom experiment resume`.")
    among = group or found.table.groups[0]
    rows: list[dict[str, str | float]] = []
    if what == "mirror":
        drawn = draw_mirror(found.mirror, theme)
        rows = lines(found.mirror)
    elif what == "matrix":
        if chosen.each is None:
            raise CourtroomError(f"{chosen.title} has no value for each case. Choose another with --measure.")
        groups = [found.groups[arm, among] for arm in found.arms if (arm, among) in found.groups]
        for one in groups:
            rows += [{"arm": one.arm, "case": case, chosen.title: value} for case, value in one.known(chosen).items()]
        drawn = draw_matrix(groups, chosen, theme)
    elif what in ("values", "frontier"):
        drawn = (draw_values if what == "values" else draw_frontier)(found.table, among, chosen, theme)
        for line in found.table.lines:
            if line.group == among and (value := line.values.get(chosen.name)):
                took, cases = found.table.spent[line.arm], line.counts[chosen.name]
                row = {"arm": line.arm, **value.named(chosen.title), "cases": cases, "tokens": took.tokens}
                rows.append(row if took.cost is None else {**row, "US$": took.cost})
    else:
        broken = found.breakdown(what, chosen, group or ALL)
        rows, drawn = broken.rows(), draw_breakdown(broken, theme)
    if not rows:
        raise CourtroomError(f"{chosen.title} has no value here.")
    if to is None:
        print(json.dumps(rows, ensure_ascii=False) if json_ else _lines(rows, "\t"), end="\n" if json_ else "")
        return
    forms = {".html": partial(drawn.to_html, include_plotlyjs=True), ".json": drawn.to_json}
    forms[".csv"] = partial(_lines, rows, ",")
    if to.suffix not in forms:
        raise CourtroomError(f"--to needs a file name that ends in {', '.join(forms)}.")
    write(to, forms[to.suffix]())
    print(to)


def _lines(rows: list[dict[str, str | float]], between: str) -> str:
    return write_csv(rows[0] if rows else (), (row.values() for row in rows), between)


@app.command("inspect")
def inspect(name: Name, to: Annotated[Path, Option(help="A folder for the logs, one for each arm.")]) -> None:
    """Write an experiment as logs of Inspect: `inspect view --log-dir FOLDER` opens them. Needs the extra `inspect`."""
    from courtroom.experiments.inspect_log import write_logs

    with opened() as house:
        for path in write_logs(house.experiments.results(name), to, house):
            print(path)


@app.command("certainty")
def certainty(
    run_: Annotated[str, Argument(metavar="RUN", help="A run with a verdict.")],
    budget: Annotated[float | None, Option(help="US dollars for all its repeats.")] = None,
    most: Annotated[int, Option(min=1, max=1000, help="Repeats at most.")] = 40,
    json_: Json = False,
) -> None:
    """How sure is a verdict? Repeat its run with other seeds until a sequential test shows or refutes the outcome."""
    _demand_positive(budget)
    with opened() as house:
        repeats = house.experiments.repeats
        found = repeats.go(run_, budget, most, lambda now: print(f"{now.found.of} repeats", file=sys.stderr))
    data = {**found.model_dump(mode="json"), "sentence": found.sentence}
    tell(data, [f"{found.sentence} {found.reason}".strip()], json_)
    raise typer.Exit(1 if found.failed else 0)


@app.command("canary")
def canary(
    name: Name,
    calls: Annotated[int, Option(min=1, max=1_000, help="Recorded calls that are asked again, each twice.")] = 50,
    budget: Annotated[float | None, Option(help="US dollars for this; the experiment's own holds too.")] = None,
    json_: Json = False,
) -> None:
    """Would it come out today? Ask a sample of the recorded calls again; what comes is kept with the experiment."""
    _demand_positive(budget)
    with opened() as house:
        found = house.experiments.canary(name, calls, budget)
    tell(found.model_dump(mode="json"), found.lines, json_)


def _demand_positive(budget: float | None) -> None:
    if budget is not None and budget <= 0:
        raise CourtroomError("--budget needs an amount above 0.")


def _with_budget(experiment: "Experiment", money: float | None) -> "Experiment":
    _demand_positive(money)
    budget = experiment.budget.model_copy(update={"money": money})
    return experiment if money is None else experiment.model_copy(update={"budget": budget})


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
    """The table; the exit code says whether a cell, or all of it, failed."""
    found = house.experiments.results(name)
    _print_results(found, as_json)
    failed = name in house.experiments.undriven or any(row.state == "failed" for row in found.rows)
    raise typer.Exit(1 if failed else 0)


def _print_results(results: "ExperimentResults", as_json: bool) -> None:
    from courtroom.experiments.mirror import told
    from courtroom.experiments.written import markdown

    if as_json:
        print(to_json(results.as_data(), inf_nan_mode="null").decode())
        return
    print(markdown(results))
    for line in [*results.repeats_told, *results.findings, *told(results.mirror)]:
        print(f"- {line}")
    for arm, reason, number in results.failures:
        print(f"{arm}: {number} failed. {reason}", file=sys.stderr)


def print_estimate(takes: "ExperimentEstimate", as_json: bool, *, by_batch: bool = False) -> None:
    """What an experiment takes: a line for each arm, and all together."""
    told = "{0.arm}\t{0.cells} cells\t{0.calls} calls\t{0.tokens} tokens\t{1}"
    lines = [told.format(arm, _money(arm.money)) for arm in takes.arms]
    teaching = f" ({takes.training} of them only teach)" if takes.training else ""
    money = "an unknown amount of money" if takes.money is None else _money(takes.money)
    seconds = "the time of their batches" if by_batch else f"{max(1, round(takes.seconds)):,} seconds"
    whole = f"{takes.cells} cells{teaching} take about {takes.calls} calls, {takes.tokens} tokens, {money}"
    saved = f"Answers that cells share, or that are on record, save {takes.shared} calls."
    tell(asdict(takes), [*lines, f"{whole} and {seconds}. {saved} {takes.rehearsed} cells were rehearsed."], as_json)


def _money(dollars: float | None) -> str:
    return "price not known" if dollars is None else f"US$ {dollars:.4g}"
