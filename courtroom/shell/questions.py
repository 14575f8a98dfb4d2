"""Questions about a run from a shell: `audit`, `interview`, `mark` and `marks`."""

import json
from typing import Annotated, Any

from pydantic import ValidationError
from typer import Argument, Option

from courtroom.cases.checks import explain
from courtroom.errors import CourtroomError
from courtroom.questions.asides import Cost, cost
from courtroom.questions.audit import MEANINGS, MOST_SEEDS, SEEDS, auditable, shares, why_none
from courtroom.questions.interview import last_call
from courtroom.questions.marks import HIGHEST, LOWEST, Mark, agreement, check_target
from courtroom.shell.options import Json, opened

Member = Annotated[str | None, Option(help="A member's id, e.g. juror-05.")]


def audit(
    run: Annotated[str, Argument(help="The run.")],
    member: Member = None,
    seeds: Annotated[int, Option(help=f"How often each of the four questions is asked, 1 to {MOST_SEEDS}.")] = SEEDS,
    estimate: Annotated[bool, Option(help="Ask nothing; say how many calls the audit would take.")] = False,
    json_: Json = False,
) -> None:
    """Why did members change sides? Their calls are asked again without votes, reasons or both of their peers."""
    with opened() as house:
        record = house.record(run)
        procedure = house.procedures[record.run.procedure]
        chosen = [one for one in auditable(procedure, record) if member in (None, one.vote.member)]
        plan = house.audits.plan(record, [one.call.path for one in chosen], seeds)
        notes = [*plan.left_out, *([] if chosen else filter(None, [why_none(procedure, record, member)]))]
        told: dict[str, Any]
        if estimate:
            told = {
                "ask": plan.estimate.calls - plan.estimate.on_record,
                "serve": plan.estimate.on_record,
                "tokens": sum(load.prompt_tokens + load.completion_tokens for load in plan.estimate.loads),
                "cost": house.price(plan.estimate),
                "notes": notes,
            }
        else:
            stopped = house.audits.start(plan).result().stopped if plan.questions else ""
            found = [one for one in house.audits.of(record) if member in (None, one.member)]
            prices = [one.cost.money for one in found]
            total = Cost(
                calls=sum(one.cost.calls for one in found),
                tokens=sum(one.cost.tokens for one in found),
                money=None if None in prices else sum(price for price in prices if price is not None),
            )
            told = {
                "audits": [one.model_dump(mode="json") for one in found],
                "shares": {name: round(share, 4) for name, share in shares(found).items()},
                "cost": total.model_dump(mode="json"),
                "notes": [*notes, *filter(None, [stopped])],
            }
    _print(told, json_)


def _print(result: dict[str, Any], as_json: bool) -> None:
    if as_json:
        print(json.dumps(result, ensure_ascii=False))
        return
    if "ask" in result:
        text = "free" if result["cost"] == 0 else f"about US$ {result['cost'] or 0:.4g}"
        price = "price unknown" if result["cost"] is None else text
        print(
            f"{result['ask']} calls would be asked, {result['serve']} are on record; "
            f"about {result['tokens']:,} tokens, {price}."
        )
    for one in result.get("audits", ()):
        counted = ", ".join(
            f"{condition} {counts['again']} of {counts['again'] + counts['other'] + counts['missing']}"
            for condition, counts in one["counts"].items()
        )
        change = f"{one['before']} to {one['after']}" if one["before"] else one["after"]
        print(f"{one['member']}\t{one['stage']}\t{change}\t{one['name']}\t{counted}")
    for name, share in result.get("shares", {}).items():
        print(f"{share:.0%} {name}: {MEANINGS[name]}")
    for note in result["notes"]:
        print(note)


def interview(
    run: Annotated[str, Argument(help="The run.")],
    question: Annotated[str, Argument(help="The question.")],
    member: Annotated[str, Option(help="A member's id, e.g. juror-05.")],
    after: Annotated[
        str | None, Option(help="Stage after which it is asked, by name; default: as it stands now.")
    ] = None,
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
            raise CourtroomError(
                f"No model has answered in the seat {member} up to there. Name another member or stage."
            )
        outcome = house.interviews.ask(record, call, question, by).result()
        if outcome.stopped:
            raise CourtroomError(outcome.stopped)
        (called,) = outcome.calls
        assert called is not None
        if called.value is None:
            raise CourtroomError(called.error)
        if json_:
            values = {"member": member, "after": call.path, "question": question, "answer": called.value["answer"]}
            print(json.dumps({**values, "cost": cost([called]).model_dump(mode="json")}, ensure_ascii=False))
        else:
            print(called.value["answer"])


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
        given = {"star": star, "score": score, "tags": tag, "comment": comment}
        try:
            before = house.marks.one(run, on, by) or Mark(target=on, reviewer=by)
            made = before.with_({name: value for name, value in given.items() if value is not None})
        except ValidationError as error:
            raise CourtroomError(" ".join(explain(error))) from error
        check_target(house.record(run), on)
        house.marks.put(run, made)


def marks(run: Annotated[str | None, Argument(help="The run; default: all runs.")] = None, json_: Json = False) -> None:
    """All marks, a line each, and how far reviewers agree in their scores."""
    with opened() as house:
        found = {run: house.marks.of(house.record(run).run.id)} if run else house.marks.all()
    agreed = agreement(found)
    if json_:
        listed = [{"run": name, **one.model_dump(mode="json")} for name, given in found.items() for one in given]
        print(json.dumps({"marks": listed, "agreement": agreed.model_dump(mode="json")}, ensure_ascii=False))
        return
    for name, given in found.items():
        for one in given:
            what = (one.target or "the run", one.reviewer, "star" if one.star else "", one.score or "")
            print("\t".join(map(str, (name, *what, " ".join(one.tags), " ".join(one.comment.split())))))
    if agreed.reviewers < 2:
        return
    alpha = agreed.note if agreed.scores is None else f"Krippendorff's alpha {agreed.scores:.2f}"
    print(f"Agreement of {agreed.reviewers} reviewers on {agreed.marked} scored by two or more: {alpha}")
