"""Runs from a shell, and questions about one: `audit`, `check`, `interview`, `mark` and `marks`."""

import re
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Annotated, Literal

import typer
from typer import Argument, Option

from courtroom import Courthouse, ModelSpec, StageKind
from courtroom.cases.drafts import asked_with
from courtroom.cases.files import ENDINGS, read_upload
from courtroom.cases.readers.tables import names_from
from courtroom.engine.run import Control
from courtroom.errors import CourtroomError, Unreadable
from courtroom.evaluation.claims import way
from courtroom.evaluation.movement import movement
from courtroom.evaluation.rehearsal import Estimate
from courtroom.evaluation.turnout import turnout
from courtroom.language import speaking
from courtroom.questions.asides import Cost, cost
from courtroom.questions.audit import MEANINGS, MOST_SEEDS, SEEDS, Audit, auditable, shares, why_none
from courtroom.questions.interview import last_call
from courtroom.questions.marks import HIGHEST, LOWEST, Mark, agreement, check_target
from courtroom.shell import options
from courtroom.shell.options import Encoding, Json, Labels, Model, Seed, Set, Until, opened, tell, write
from courtroom.text.files import replacing

Written = Annotated[Path, Option(help="FILE.json, .html, .md, .docx; of the votes .csv or .parquet")]
Files = Annotated[list[Path] | None, Option(help="A text, PDF or picture that goes with it; may be given again.")]
Checker = Annotated[str | None, Option(help="A language model that checks every statement; none: the rules alone.")]


def drive(house: Courthouse, run: str, until: str | None, as_json: bool) -> None:
    """Go on with a run, report its progress, print its result and exit, with 1 if it failed; Ctrl-C pauses it."""
    kinds = house.procedures[house.store.run(run).procedure].stages
    stage = stage_named(kinds, until) if until else None
    record = house.record(run)
    options.tell_warnings(record.setup.warnings())
    before = record.paid
    options.go_on(house, run, Control(stage=stage))
    summary = options.result(house, run, before)
    options.print_result(summary, as_json)
    raise typer.Exit(1 if summary["status"] == "failed" else 0)


def stage_named(kinds: Sequence[StageKind], wanted: str) -> str:
    """A stage as the engine knows it: a title alone means the kind, as stages are named while running."""
    for kind in kinds:
        if wanted.casefold() == kind.title.casefold():
            return kind.name
        names = f"({re.escape(kind.name)}|{re.escape(kind.title)})"
        if re.fullmatch(rf"{names}([ -]\d+)?", wanted, re.IGNORECASE):
            return wanted
    known = ", ".join(kind.title for kind in kinds)
    raise CourtroomError(f"--until: there is no stage “{wanted}”. Stages are: {known}.")


def run(
    case: Annotated[str, Argument(help="A case's id, or a file that the page Cases takes.")],
    procedure: Annotated[str | None, Option(help="By default the first that takes cases of its kind.")] = None,
    model: Model = None,
    seed: Seed = 0,
    set_: Set = None,
    panel: Annotated[str | None, Option(help="A saved panel whose persons are the jurors.")] = None,
    until: Until = None,
    labels: Labels = "",
    encoding: Encoding = "",
    json_: Json = False,
) -> None:
    """Hear a case."""
    with opened() as house:
        path = Path(case)
        if path.is_dir() or path.suffix.lower() in ENDINGS or (path.is_file() and path.suffix):
            (package, *more) = read_upload(path.name, path, names_from(labels) or None, encoding)
            if more:
                several = f"{case} holds {1 + len(more)} cases."
                raise CourtroomError(f"{several} Take them in with `courtroom cases add`, and run one by its id.")
            heard = options.taken_in(house, package)
        else:
            heard = house.library.case(case)
        drive(house, options.begin(house, heard, procedure, options.values_of(set_, model), seed, panel), until, json_)


def ask(
    question: Annotated[str, Argument(help="The question.")],
    option: Annotated[list[str] | None, Option(help="An answer to choose from; two to six, or none.")] = None,
    file: Files = None,
    procedure: Annotated[str | None, Option(help="Which procedure; default: the first that takes questions.")] = None,
    model: Model = None,
    seed: Seed = 0,
    set_: Set = None,
    until: Until = None,
    json_: Json = False,
) -> None:
    """Have a panel deliberate on a question. Without options, members propose answers first."""
    with opened() as house:
        files = [(path.name, options.read_bytes(path)) for path in file or ()]
        heard = options.taken_in(house, asked_with(question, option or (), files))
        drive(house, options.begin(house, heard, procedure, options.values_of(set_, model), seed), until, json_)


def resume(run: str, until: Until = None, json_: Json = False) -> None:
    """Go on with a run that is paused, failed or was interrupted."""
    with opened() as house:
        drive(house, run, until, json_)


def show(run: str, json_: Json = False) -> None:
    """How a run stands."""
    with opened() as house:
        summary = options.result(house, run)
        options.print_result({**summary, "worth": found} if (found := house.worth(run)) else summary, json_)


def runs() -> None:
    """All runs, a line each, the id first, oldest first; at its end who has no vote, and what stand-ins answered."""
    with opened() as house:
        incomplete = house.store.incomplete()
        for row in house.store.each():
            if isinstance(row, Unreadable):
                print(row, file=sys.stderr)
                continue
            outcome = row.verdict.outcome if row.verdict else ""
            told = ""
            try:
                told = " ".join(turnout(house.record(row.id))) if row.verdict and row.id in incomplete else ""
            except CourtroomError as error:  # the line needs no more than the row
                print(error, file=sys.stderr)
            imported = "imported" if row.is_unverified else ""
            facts = (row.id, row.status, row.procedure, row.case_id, outcome, told, imported)
            print("\t".join((*facts[:5], *filter(None, facts[5:]))))


def export(run: str, to: Written) -> None:
    """Write a run as JSON, as an HTML report that opens without the app, as Markdown or Word; or its votes."""
    with opened() as house:
        write(to, house.files.written(run, to.suffix))
        print(to)


def film(
    run: str,
    to: Annotated[Path | None, Option(help="FILE.mp4, FILE.gif, or FILE.png for one picture.")] = None,
    shape: Annotated[Literal["wide", "tall"], Option(help="16:9 or 9:16.")] = "wide",
    theme: Annotated[Literal["light", "dark"], Option(help="Dark type on a light ground, or light on dark.")] = "light",
    language: Annotated[Literal["en", "zh"], Option(help="Of everything but what members say.")] = "en",
    seconds: Annotated[float, Option(min=20, max=60, help="About how long it is.")] = 45,
    leave_out: Annotated[list[int] | None, Option(help="The number of a moment in the storyboard.")] = None,
) -> None:
    """Draw a film of a run; without a file, its storyboard: the moments that it shows, with their numbers."""
    from courtroom import film as films  # slow to import: only to draw one

    def drawn(share: float) -> None:
        print(f"{share:.0%} drawn", end="\n" if share >= 1 else "\r", file=sys.stderr, flush=True)

    with opened() as house, speaking(language):
        record = house.record(run)
        told = films.scene_to_film(record, house.procedures[record.run.procedure])
        painter, left_out = films.Painter(told, shape, theme), set(leave_out or ())
        numbered = enumerate(films.storyboard(told, seconds))
        shots = [shot.model_copy(update={"kept": shot.kept and number not in left_out}) for number, shot in numbered]
        if to is None:
            for number, shot in enumerate(shots):
                if shot.kept:
                    print(f"{number}\t{shot.seconds:.1f} s\t{shot.head}\t{shot.caption}")
            print(f"{films.length(shots):.0f} s", file=sys.stderr)
        elif to.suffix == ".png":
            with replacing(to) as part:
                painter.picture(shots[-1]).save(part)
        else:
            films.film(painter, shots, to, drawn)
    if to:
        print(to)


def import_run(file: Annotated[Path, Argument(help="A run that was exported as JSON.")]) -> None:
    """Take in a run that another Courtroom has exported, to be read and forked; a file that was changed is refused."""
    with opened() as house:
        print(house.files.take_in(options.read_bytes(file)))


def audit(
    run: Annotated[str, Argument(help="The run.")],
    member: Annotated[str | None, Option(help="A member's id, e.g. juror-05.")] = None,
    seeds: Annotated[int, Option(help=f"How often each of the four questions is asked, 1 to {MOST_SEEDS}.")] = SEEDS,
    voices: Annotated[bool, Option(help="Also ask without each peer who was heard: which voice was it?")] = False,
    estimate: Annotated[bool, Option(help="Ask nothing; say how many calls the audit would take.")] = False,
    json_: Json = False,
) -> None:
    """Why did members change sides? Their calls are asked again without votes, reasons or both of their peers."""
    with opened() as house:
        record = house.record(run)
        procedure = house.procedures[record.run.procedure]
        chosen = [one for one in auditable(procedure, record) if member in (None, one.vote.member)]
        plan = house.audits.plan(record, [one.call.path for one in chosen], seeds, voices=voices)
        notes = [*plan.left_out, *([] if chosen else filter(None, [why_none(procedure, record, member)]))]
        if estimate:
            _tell_estimate(house, plan.estimate, notes, json_)
            return
        stopped = house.audits.start(plan).result().stopped if plan.questions else ""
        found = [one for one in house.audits.of(record) if member in (None, one.member)]
    notes += filter(None, [stopped])
    told = {
        "audits": [{**one.model_dump(mode="json"), "carried_by": one.carried_by} for one in found],
        "shares": {name: round(share, 4) for name, share in shares(found).items()},
        "cost": Cost.sum_of(one.cost for one in found).model_dump(mode="json"),
        "notes": notes,
    }
    tell(told, [*_lines(found), *notes], json_)


def check(
    run: Annotated[str, Argument(help="The run.")],
    model: Checker = None,
    estimate: Annotated[bool, Option(help="Ask nothing; say how many calls the check would take.")] = False,
    json_: Json = False,
) -> None:
    """What do statements say of the case that it does not hold? And who said that it is not in the case, who heard it?"""
    with opened() as house:
        record = house.record(run)
        if estimate and not model:
            raise CourtroomError("Without --model nothing is asked, so there is nothing to estimate. Give one.")
        plan = house.checks.plan(record, ModelSpec(id=model, temperature=0.0)) if model else None
        if plan and estimate:
            _tell_estimate(house, plan.estimate, plan.left_out, json_)
            return
        stopped = house.checks.start(plan).result().stopped if plan and plan.questions else ""
        moved = movement(record, house.procedures[record.run.procedure], house.answers.of(record.run))
        claims = []
        for one in house.checks.of(record):
            told = {"said": one.vote.path, "words": one.words, "found_by": one.model or one.why, "passage": one.passage}
            claims.append({**told, "contradicted": one.is_contradicted, "members": way(moved, one).roles})
        notes = [*(plan.left_out if plan else ()), *filter(None, [stopped])]
        lines = (f"{one['said']}\t{one['found_by']}\t{one['words']}" for one in claims)
        tell({"claims": claims, "notes": notes}, [*lines, *notes], json_)


def _tell_estimate(house: Courthouse, estimate: Estimate, notes: Sequence[str], as_json: bool) -> None:
    ask, serve, cost = estimate.calls - estimate.on_record, estimate.on_record, house.price(estimate)
    tokens = sum(load.prompt_tokens + load.completion_tokens for load in estimate.loads)
    price = "price unknown" if cost is None else f"about US$ {cost:.4g}" if cost else "free"
    line = f"{ask} calls would be asked, {serve} are on record; about {tokens:,} tokens, {price}."
    values = {"ask": ask, "serve": serve, "tokens": tokens, "cost": cost, "notes": notes}
    tell(values, [line, *notes], as_json)


def _lines(found: Sequence[Audit]) -> Iterator[str]:
    for one in found:
        counted = ", ".join(f"{name} {of.again} of {of.asked}" for name, of in one.counts.items())
        change = f"{one.before} to {one.after}" if one.before else one.after
        yield f"{one.member}\t{one.stage}\t{change}\t{one.name}\t{counted}"
        for peer, of in one.voices.items():
            yield f"  without {peer}\t{of.again} of {of.asked}"
        if one.voices:
            yield f"  carried by {', '.join(one.carried_by) or 'no single voice'}"
    yield from (f"{share:.0%} {name}: {MEANINGS[name]}" for name, share in shares(found).items())


def interview(
    run: Annotated[str, Argument(help="The run.")],
    question: Annotated[str, Argument(help="The question.")],
    member: Annotated[str, Option(help="A member's id, e.g. juror-05.")],
    after: Annotated[str | None, Option(help="Stage after which it is asked; by default now.")] = None,
    by: Annotated[str, Option(help="Who asks.")] = "somebody",
    json_: Json = False,
) -> None:
    """Ask a member something; it answers from what it knew at that moment, and nothing in the run changes."""
    with opened() as house:
        record = house.record(run)
        stages = [one for one in record.stages if after and after.casefold() in (one.name.casefold(), one.path)]
        if after is not None and not stages:
            known = ", ".join(one.name for one in record.stages)
            raise CourtroomError(f"--after: this run has no stage “{after}”. Stages: {known}.")
        call = last_call(record.until(stages[0].index) if stages else record, member)
        if call is None:
            raise CourtroomError(f"No model has answered in the seat {member} up to there. Name another one.")
        outcome = house.interviews.ask(record, call, question, by).result()
        if outcome.stopped:
            raise CourtroomError(outcome.stopped)
        (called,) = outcome.calls
        assert called is not None
        if called.value is None:
            raise CourtroomError(called.error)
        values = {"member": member, "after": call.path, "question": question, "answer": called.value["answer"]}
        tell({**values, "cost": cost([called]).model_dump(mode="json")}, [called.value["answer"]], json_)


def mark(
    run: Annotated[str, Argument(help="The run.")],
    by: Annotated[str, Option(help="Who marks it.")],
    on: Annotated[str, Option(help="A member's id or a call's path; default: the run as a whole.")] = "",
    star: Annotated[bool | None, Option("--star/--no-star", help="Put a star on it, or take it off.")] = None,
    score: Annotated[int | None, Option(help=f"{LOWEST} to {HIGHEST}.")] = None,
    tag: Annotated[list[str] | None, Option(help="A tag; may be given again.")] = None,
    comment: Annotated[str | None, Option(help="A comment.")] = None,
) -> None:
    """Mark a run, a member or an answer. What is not given stays as this reviewer had it."""
    with opened() as house:
        given = {"reviewer": by, "star": star, "score": score, "tags": tag, "comment": comment}
        before = house.marks.one(run, on, by) or Mark(target=on, reviewer="?")
        made = before.with_({name: value for name, value in given.items() if value is not None})
        check_target(house.record(run), on)
        house.marks.put(run, made)


def marks(run: Annotated[str | None, Argument(help="The run; default: all runs.")] = None, json_: Json = False) -> None:
    """All marks, a line each, and how far reviewers agree in their scores."""
    with opened() as house:
        found = {run: house.marks.of(house.record(run).run.id)} if run else house.marks.all()
    agreed = agreement(found)
    each = [(name, one) for name, given in found.items() for one in given]
    lines = []
    for name, one in each:
        what = (one.target or "the run", one.reviewer, "star" if one.star else "", one.score or "")
        lines.append("\t".join(map(str, (name, *what, " ".join(one.tags), " ".join(one.comment.split())))))
    if agreed.reviewers > 1:
        alpha = agreed.note if agreed.scores is None else f"Krippendorff's alpha {agreed.scores:.2f}"
        lines.append(f"Agreement of {agreed.reviewers} reviewers on {agreed.marked} scored by two or more: {alpha}")
    listed = [{"run": name, **one.model_dump(mode="json")} for name, one in each]
    tell({"marks": listed, "agreement": agreed.model_dump(mode="json")}, lines, json_)
