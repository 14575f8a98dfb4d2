"""Options that several commands have, and what they mean."""

import json
import logging
import math
import sys
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import wait
from contextlib import closing, contextmanager
from pathlib import Path
from typing import Annotated, Any, TypeVar

from pydantic import ValidationError
from typer import Option

from courtroom import Case, Courthouse, CourtroomError, Setup
from courtroom.cases.checks import check, explain
from courtroom.cases.files import Package
from courtroom.declarations.changes import changed, read_value
from courtroom.declarations.knobs import seating
from courtroom.declarations.parts import ROUND
from courtroom.engine.budget import Payment
from courtroom.engine.run import LARGEST_SEED, Control
from courtroom.evaluation.turnout import turnout
from courtroom.panel.personas import is_pool
from courtroom.settings import from_environment
from courtroom.store.connection import FAILURES
from courtroom.store.opening import explained
from courtroom.text.files import replacing

LOOK_S = 0.1
Labels = Annotated[str, Option(help="What labels mean that are numbers: 0=NAME,1=NAME.")]
Encoding = Annotated[str, Option(help="Of texts and tables, such as gb18030; by default as the file looks.")]
S = TypeVar("S", bound=Setup)
Json = Annotated[bool, Option("--json", help="Print the result as JSON.")]
Set = Annotated[list[str] | None, Option("--set", help="KEY=VALUE, e.g. model.timeout_s=5.")]
Model = Annotated[str | None, Option(help="`offline`, or any LiteLLM model id.")]
Otherwise = Annotated[str | None, Option(help="Who answers in place of a model that can't be asked here.")]
Seed = Annotated[int, Option(min=0, max=LARGEST_SEED, help="What all chance depends on.")]
Until = Annotated[str | None, Option(help="Pause after this stage.")]


@contextmanager
def opened(dask: str | None = None) -> Iterator[Courthouse]:
    """Open the courthouse that the environment gives; close it however the command ends. `dask`: the address of another
    cluster than the environment's."""
    settings = from_environment()
    with closing(Courthouse(settings if dask is None else settings.model_copy(update={"dask": dask}))) as house:
        try:
            yield house
        except FAILURES as error:  # logged while the log is open
            logging.getLogger(__name__).exception("the store failed")
            raise explained(error, house.settings.database) from error


def follow(house: Courthouse, run: str) -> None:
    """Report a run's progress on stderr until it is done, failed or paused; see `Runner.wait`."""
    settled = house.runner.do(house.runner.settled(run))
    models, fewest = house.runner.record(run).setup.models, math.inf
    count, trouble = 0, ""
    while True:
        over = settled.done()
        if (why := house.runner.trouble(run)) != trouble:
            trouble = why
            print(why or "The run goes on.", file=sys.stderr)
        if (calls := house.pool.slowed_to(models)) is not None and calls < fewest:
            fewest = calls
            print(f"{calls} at once: the server is slow.", file=sys.stderr)
        stages = [stage.name for stage in house.record(run).stages]
        for name in stages[count:]:
            print(f"{name} ...", file=sys.stderr)
        count = len(stages)
        if over:
            settled.result()
            row = house.store.run(run)
            print(f"{row.status}. {row.reason}".strip(), file=sys.stderr)
            return
        wait([settled], timeout=LOOK_S)


def go_on(house: Courthouse, run: str, control: Control | None = None) -> None:
    """Have a run go on, and follow it; Ctrl-C pauses it."""
    try:
        house.runner.go(run, control)
        follow(house, run)
    except KeyboardInterrupt:
        house.runner.stop(run)


def result(house: Courthouse, name: str, before: Mapping[str, Payment] | None = None) -> dict[str, Any]:
    """Return a run's result as plain data. What was billed `before` this command counts as from the record."""
    record = house.record(name)
    billed = {path: paid.calls for path, paid in (before or {}).items()}
    new = {path: paid.calls - billed.get(path, 0) for path, paid in record.paid.items()}
    rounds = [path for path in record.tallies if record.stage(path.partition("/")[0]).stage_kind == ROUND]
    has_rounds = any(kind.name == ROUND for kind in house.procedures[record.run.procedure].stages)
    votes = []
    for path, tally in record.tallies.items():
        place = {"round": rounds.index(path) + 1} if path in rounds else {}
        name = record.ballot_name(path)
        votes.append({"ballot": name, **place, **tally.counts, "abstained": tally.abstained})
    prompt, completion = record.tokens
    more = {name: value for name in ("cached", "batched", "estimated") if (value := getattr(record.spent, name))}
    run, reasks = record.run, sum(max(0, len(call.keys) - 1) for call in record.calls)
    status, verdict = "paused" if run.status == "running" else run.status, run.verdict
    given = {"run": run.id, "imported": run.imported, "procedure": run.procedure, "case": run.case_id}
    summary: dict[str, Any] = {
        **given,
        **{"status": status, "reason": run.reason, "verdict": run.outcome},
        "summary": verdict.summary if verdict else "",
        # What letters of a question's options stand for; elsewhere a vote says in words what it is for.
        "options": {one.name: one.title for one in record.case.choices if len(one.name) == 1},
        "note": verdict.note if verdict else "",
        "details": verdict.details if verdict else {},
        "known": record.case.on_record(),
        "turnout": list(turnout(record)),
        **({"rounds": len(rounds)} if has_rounds else {}),
        **{"ballots": len(record.tallies), "votes": votes, "asked": sum(new.values())},
        "recorded": sum(len(call.keys) - min(new.get(call.path, 0), len(call.keys)) for call in record.calls),
        **{"failed": record.failed, "reasks": reasks},
        "tokens": {"prompt": prompt, "completion": completion, **more},
        **{"cost": record.cost, "wall_s": round(run.wall_s, 3), "seed": run.seed, "members": len(record.members)},
        "stages": [stage.name for stage in record.stages],
        "warnings": list(record.setup.warnings()),
    }
    only_some_have = ("imported", "options", "turnout", "warnings")
    return {name: value for name, value in summary.items() if value or name not in only_some_have}


def write(path: Path, content: str | bytes) -> None:
    try:
        with replacing(path) as part:
            part.write_bytes(content.encode() if isinstance(content, str) else content)
    except OSError as error:
        raise CourtroomError(f"{path} can't be written: {error.strerror}. Name another with --to.") from error


def read_bytes(path: Path) -> bytes:
    """What is in a file; one that can't be read is refused."""
    try:
        return path.read_bytes()
    except OSError as error:
        raise CourtroomError(f"{path} can't be read: {error.strerror}. Check the path.") from error


def taken_in(house: Courthouse, package: Package) -> Case:
    """Add a case to the library, and tell what of it members will not have. Raises `CaseError`: it has errors."""
    case = house.library.add(package)
    warnings = (f"{one.field}: {one.message}" for one in check(case, house.media) if one.severity == "warning")
    for sentence in (*package.remarks, *warnings):
        print(f"{case.id}: {sentence}", file=sys.stderr)
    return case


def tell(data: Any, lines: Iterable[object], as_json: bool) -> None:
    """Print a result as JSON, or in lines."""
    if as_json:
        print(json.dumps(data, ensure_ascii=False))
        return
    for line in lines:
        print(line, flush=True)


def print_result(summary: dict[str, Any], as_json: bool) -> None:
    def line(name: str, value: Any) -> str:
        if isinstance(value, dict):
            value = ", ".join(f"{key} {item}" for key, item in value.items() if item not in ("", {}, []))
        return f"{name:>10}  {value}"

    tell(summary, (line(*one) for one in summary.items()), as_json)


def values_of(changes: Sequence[str] | None, model: str | None = None) -> dict[str, Any]:
    """The values that `--set` and `--model` give, by their paths in a setup. Raises `CourtroomError`: one is not
    KEY=VALUE."""
    values: dict[str, Any] = {"model.id": model} if model else {}
    for change in changes or ():
        key, equals, text = change.partition("=")
        if not equals:
            raise CourtroomError(f"--set {change}: write KEY=VALUE.")
        values[key.strip()] = read_value(text)
    return values


def begin(
    house: Courthouse, case: Case, procedure: str | None, values: dict[str, Any], seed: int, persons: str | None = None
) -> str:
    """Put a hearing on record, and return its id.

    Args:
        procedure: its name; none: the first that hears cases of this kind.
        values: what is set, by paths in its setup.
        persons: a saved panel whose persons are the jurors.
    """
    chosen = house.procedures[procedure] if procedure else house.first_fitting(case.kind)
    setup = chosen.setup()
    if saved := house.panels.load(persons) if persons is not None else ():
        seated = seating(chosen.setup, [one.model_dump(mode="json") for one in saved])
        setup = changed(setup, {"people": persons} if is_pool(saved) else seated)
    setup = setup_with(setup, values)
    made = house.new_run(chosen.name, case, setup, seed)
    tell_warnings(set(setup.warnings()) - set(house.record(made).setup.warnings()))  # of what is not heard
    return made


def tell_warnings(warnings: Iterable[str]) -> None:
    for warning in warnings:
        print(f"Warning: {warning}", file=sys.stderr)


def setup_with(setup: S, values: Mapping[str, Any]) -> S:
    """A setup with values by their paths in it. Raises `CourtroomError`: one does not fit."""
    try:
        return changed(setup, values)
    except ValidationError as error:
        raise CourtroomError(" ".join(explain(error))) from error
