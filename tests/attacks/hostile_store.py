"""A store in which every text that may come from outside is a canary: cases, answers, people, names, notes, knowledge."""

import asyncio
import json
from collections.abc import Mapping
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from aiohttp import web

from courtroom.cases.case import Case
from courtroom.cases.labelled import LabelledTask
from courtroom.courthouse import Courthouse
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, Overrule
from courtroom.engine.procedure import Procedure
from courtroom.experiments.what_if import evidence_left_out
from courtroom.knowledge.memory import Directive, Standard
from courtroom.law import Judgment
from courtroom.models.prompts import templates
from courtroom.panel.personas import sample_panel
from courtroom.questions.audience import LONGEST
from courtroom.settings import Settings
from tests.attacks.canaries import Canaries
from tests.driving import drive

SAMPLES = {
    "dispute": "oak-table",
    "criminal": "criminal-bus-wallet",
    "document": "interview-surtitles",
    "labelled": "statement-follows",
}
HEARINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "cyberjurors": ("dispute", {"jury_size": 3, "rounds": 1, "empty_seats": []}),
    "jurisagents": ("criminal", {}),
    "verdict": ("criminal", {"learning": {"on": True}}),
    "juris": ("document", {"jury_size": 3, "longest": 3}),
    "courtroom-llm": ("labelled", {"judges": 1, "hearings": 1}),
}
WAIT_S = 60


@dataclass
class Hostile:
    """What was put on record."""

    runs: dict[str, str]
    """Procedure to run; `fork`, `paused` and `seat` beside them."""
    what_if: str
    seat: str
    """A seat's token; a question with a picture waits there."""
    audience: str
    """An audience's token; hostile arguments stand there."""


def refusing(canaries: Canaries, body: dict[str, Any]) -> str | web.Response:
    """Answers with canaries; one model refuses, with a canary as the reason."""
    if "refuses" in body["model"]:
        return web.json_response({"error": {"message": canaries.all(), "type": "bad"}}, status=400)
    return canaries.answer(body)


def hostile_store(home: Path, canaries: Canaries) -> Hostile:
    """Fill a new store; the models' server is the one that the environment names."""
    with closing(Courthouse(Settings(home=home))) as house:
        return _filled(house, canaries)


def _filled(house: Courthouse, canaries: Canaries) -> Hostile:
    cases = {kind: house.library.restore(_case(house, kind, canaries)) for kind in SAMPLES}
    _knowledge(house, cases, canaries)
    runs = {name: _hearing(house, name, cases, canaries) for name in HEARINGS}
    for run in runs.values():
        house.runner.go(run)
    for run in runs.values():
        house.runner.wait(run, WAIT_S)
        assert house.store.status(run) == "done", house.store.run(run).reason
    base = runs["cyberjurors"]
    runs["paused"] = _steered(house, cases, canaries)
    runs["fork"] = _fork(house, base, canaries)
    lab = house.experiments
    what_if = lab.go(lab.begin(lab.what_ifs.experiment(base, evidence_left_out(cases["dispute"])[:2], range(1))))
    lab.wait(what_if, WAIT_S)
    runs["seat"], seat = _seated(house, cases, canaries)
    house.setups.save(canaries.all(), {"procedure": "cyberjurors", "seed": 0, "setup": {}})
    return Hostile(runs, what_if, seat, _audience(house, base, canaries))


def _audience(house: Courthouse, run: str, canaries: Canaries) -> str:
    """Two phones that have voted, and argue with canaries."""
    token = house.audiences.open(run).token
    (poll, *_) = list(house.record(run).tallies)[::-1]
    for phone in ("a" * 20, "b" * 20):
        house.audiences.vote(run, poll, phone, "buyer")
        house.audiences.argue(run, poll, phone, canaries.one(LONGEST))
    return token


def _case(house: Courthouse, kind: str, canaries: Canaries) -> Case:
    case = house.library.case(SAMPLES[kind]).model_copy(update={"id": f"hostile-{kind}"})
    if isinstance(case, LabelledTask):
        names = {label: f"{label} {canaries.one(150)}" for label in case.labels}
        texts = {
            what: [{**one.model_dump(), "label": one.label and names[one.label]} for one in getattr(case, what)[:6]]
            for what in ("items", "examples")
        }
        case = LabelledTask.model_validate({**case.model_dump(), "labels": [*names.values()], **texts})
    return canaries.filled(case)


def _setup(procedure: Procedure, canaries: Canaries, **given: Any) -> Any:
    """The smallest setup with canaries as rules, people and prompts; a model id that holds one is refused."""
    values = {**procedure.setup().model_dump(mode="json"), **given}
    values["model"] = {"id": "openai/hostile", "timeout_s": 20, "attempts": 1, "structured": "yes"}
    shipped = templates(procedure.prompts, procedure.case_kind)
    values["prompts"] = {"_system": "{% raw %}" + canaries.all() + "{% endraw %} " + shipped["_system"]}
    if "rules" in values:
        values["rules"] = [canaries.all() for _ in range(2)]
    if procedure.name == "cyberjurors":
        values["jury"] = [canaries.filled(one).model_dump(mode="json") for one in sample_panel(3, 0)]
        values["members"] = {"juror-02": {**values["model"], "id": "openai/refuses"}, **values["members"]}
        values["quorum"] = 0.1
    return procedure.setup.model_validate(values)


def _hearing(house: Courthouse, name: str, cases: Mapping[str, Case], canaries: Canaries) -> str:
    kind, given = HEARINGS[name]
    return house.new_run(name, cases[kind], _setup(house.procedures[name], canaries, **given), 0)


def _knowledge(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> None:
    house.knowledge.precedents.add([canaries.filled(one) for one in house.knowledge.precedents.all()[:3]])
    for name in ("cases", "charges", "statutes"):
        collection: Any = house.knowledge.collections[name]  # type: ignore[index]
        records: list[Any] = list(collection.page(0, 2))
        collection.add([canaries.filled(one).model_copy(update={"id": one.id}) for one in records])
    case = cases["criminal"]
    told = {"title": canaries.one(190), "facts": canaries.all(), "reasoning": canaries.all()}
    judged = Judgment(relevant_articles=(264,), charges=(canaries.some(200),))
    standard = Standard(id="standard", case="any", verdict=judged, gold=judged, induced=canaries.all(), **told)
    house.knowledge.memory.standards.add([standard])
    directive = Directive(id="directive", text=canaries.all(), anchor=264, charges=judged.charges)
    house.knowledge.memory.directives.add([directive])
    lines = case.model_copy(update={"id": "imported", "frames": ()}).model_dump_json().encode()
    file = house.imports.check("cases", f"{canaries.some(200)}.jsonl", lines)
    house.runner.do(house.imports.run(file)).result()


def _steered(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> str:
    """Paused, with one of each that persons can do to a run."""
    run = _hearing(house, "cyberjurors", cases, canaries)
    house.runner.step(run)
    house.runner.wait(run, WAIT_S)
    record = house.record(run)
    call = next(call for call in record.calls if call.value)
    value = {
        name: f"{canaries.some(300)}{part}" if type(part) is str and "_id" not in name else part
        for name, part in call.value.items()
    }
    who = canaries.one(79)
    for action in (
        AddEvidence(text=canaries.all(), side="buyer"),
        AddNote(text=canaries.all()),
        ChangeSetup(key="jury.1.background", value=canaries.some(300)),
        ChangeSetup(key="rules", value=[canaries.all()]),
        Overrule(path=call.path, value=value),
    ):
        house.interventions.intervene(run, action, who)
    return run


def _fork(house: Courthouse, parent: str, canaries: Canaries) -> str:
    setup = house.record(parent).setup
    return drive(house, house.fork(parent, setup.model_copy(update={"rules": (canaries.all(),)})))


def _seated(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> tuple[str, str]:
    """A run with a person in it, who has answered until a question with a picture came."""
    given = {**HEARINGS["cyberjurors"][1], "members": {"juror-01": {"id": "person"}}}
    run = house.new_run("cyberjurors", cases["dispute"], _setup(house.procedures["cyberjurors"], canaries, **given), 1)
    seat = house.people.seat(run, "juror-01")
    house.runner.go(run)
    while True:
        question = house.runner.do(_asked(house, run)).result(WAIT_S)
        if any(not isinstance(part, str) for _, parts in question.messages for part in parts):
            return run, seat.token
        schema = {"json_schema": {"schema": question.answer_schema}}
        texts = ("\n".join(part for part in parts if isinstance(part, str)) for _, parts in question.messages)
        messages = [{"role": "user", "content": text} for text in texts]
        said = canaries.answer({"response_format": schema, "messages": messages})
        house.people.answer(seat, question, json.loads(said))


async def _asked(house: Courthouse, run: str) -> Any:
    while not (waiting := house.people.waiting(run)):
        await asyncio.sleep(0.05)
    return waiting[0]
