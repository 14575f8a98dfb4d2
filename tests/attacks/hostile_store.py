"""A store in which every text that may come from outside is a canary: cases, answers, people, names, notes, knowledge.

A canary is text that fetches, links or runs something wherever a page reads it as more than text.
"""

import json
from collections.abc import Iterator, Mapping
from contextlib import closing
from dataclasses import dataclass
from itertools import count
from pathlib import Path
from typing import Any, TypeVar

from aiohttp import web
from pydantic import BaseModel, ValidationError

from courtroom import Case, Courthouse, LabelledTask, Settings
from courtroom.engine.interventions import AddEvidence, AddNote, ChangeSetup, Overrule
from courtroom.experiments.what_if import evidence_left_out
from courtroom.knowledge.memory import Directive, Standard
from courtroom.law import Judgment
from courtroom.models.prompts import templates
from courtroom.panel.personas import sample_panel
from courtroom.questions.audience import LONGEST
from tests.driving import drive, until
from tests.furnished import copied
from tests.openai_server import answer_for

MARK = "canary"
"""Stands in every one, so that a test can see that they were shown."""
SHORT: list[str] = json.loads((Path(__file__).parents[1] / "inputs/canaries.json").read_text())
"""H stands for the address of each."""
FIXED = {"sentences": 3, "death_penalty": False, "life_imprisonment": False}
"""Numbers that must fit the setup, or each other."""

Model = TypeVar("Model", bound=BaseModel)


class Canaries:
    """Makes them, each with an address of its own; `hosts` are beginnings of addresses, taken in turn."""

    def __init__(self, *hosts: str) -> None:
        self._hosts, self._number = hosts, count()

    def one(self, room: int = 10_000) -> str:
        """The next that fits into so many characters, or nothing."""
        for _ in SHORT:
            number = next(self._number)
            told = SHORT[number % len(SHORT)].replace("H", f"{self._hosts[number % len(self._hosts)]}/{number}.png")
            if len(told) <= room:
                return told
        return ""

    def all(self) -> str:
        """Every kind, one after the other."""
        return " ".join(self.one() for _ in SHORT)

    def some(self, room: int) -> str:
        """As many as fit."""
        told = ""
        while room - len(told) > 60 and (more := self.one(room - len(told) - 1)) and len(told) < 2_000:
            told += f"{more} "
        return told or self.one(room)

    def filled(self, model: Model) -> Model:
        """The same with canaries in every text that takes some."""
        data = model.model_dump(mode="json")
        for holder, key in _texts(data):
            before = holder[key]
            for told in (f"{self.all()} {before}", f"{self.some(180)}{before[:15]}", self.some(75), self.one(60)):
                holder[key] = told
                try:
                    type(model).model_validate(data)
                    break
                except ValidationError:
                    holder[key] = before
        return type(model).model_validate(data)

    def answer(self, body: Mapping[str, Any]) -> str | web.Response:
        """An answer to the schema asked for, with canaries in every text of it that is free; one model refuses."""
        if "refuses" in body.get("model", ""):
            return web.json_response({"error": {"message": self.all(), "type": "bad"}}, status=400)
        form = (body.get("response_format") or {}).get("json_schema", {}).get("schema")
        plain = answer_for(dict(body), json.dumps(form))
        return plain if form is None else json.dumps(self._answer(json.loads(plain), form, form.get("$defs", {}), ""))

    def _answer(self, value: Any, form: Mapping[str, Any], defs: Mapping[str, Any], name: str) -> Any:
        if "$ref" in form:
            form = defs[form["$ref"].rsplit("/", 1)[1]]
        if "anyOf" in form:
            return self._answer(value, form["anyOf"][0], defs, name)
        if isinstance(value, dict):
            parts = form.get("properties", {})
            return {key: self._answer(part, parts.get(key, {}), defs, key) for key, part in value.items()}
        if isinstance(value, list):
            return [self._answer(part, form.get("items", {}), defs, name) for part in value]
        if not isinstance(value, str):
            return 264 if "article" in name and type(value) is int else FIXED.get(name, value)
        if "enum" in form or "const" in form or name == "selected_evidence_id":
            return value  # one of a list, or a name of something in the case
        return (self.some(min(400, form.get("maxLength", 400))) + value)[: form.get("maxLength", 10_000)]


def _texts(data: Any) -> Iterator[tuple[Any, str | int]]:
    """All places of texts: what holds each, and its name or number there."""
    for key, part in [*(data.items() if isinstance(data, dict) else enumerate(data))]:
        if isinstance(part, str):
            yield data, key
        elif isinstance(part, (dict, list)):
            yield from _texts(part)


SAMPLES = {"dispute": "oak-table", "criminal": "criminal-bus-wallet"}
SAMPLES |= {"document": "interview-surtitles", "labelled": "statement-follows"}
HEARINGS: Mapping[str, tuple[str, Mapping[str, Any]]] = {
    "cyberjurors": ("dispute", {"jury_size": 3, "rounds": 1, "empty_seats": []}),
    "verdict": ("criminal", {"learning": {"on": True}}),
    "juris": ("document", {"jury_size": 3, "longest": 3}),
    "courtroom-llm": ("labelled", {"judges": 1, "hearings": 1}),
}


@dataclass
class Hostile:
    """What was put on record."""

    runs: dict[str, str]
    """Procedure to run; `fork` and `paused` beside them."""
    what_if: str
    seat: str
    """A seat's token; a question with a picture waits there."""
    audience: str
    """An audience's token; hostile arguments stand there."""


def hostile_store(home: Path, canaries: Canaries) -> Hostile:
    """Fill a new store; the models' server is the one that the environment names."""
    with closing(Courthouse(Settings(home=copied(home)))) as house:
        cases = {kind: house.library.restore(_case(house, kind, canaries)) for kind in SAMPLES}
        _knowledge(house, cases, canaries)
        runs = {name: _hearing(house, name, cases, canaries) for name in HEARINGS}
        for run in runs.values():
            house.runner.go(run)
        for run in runs.values():
            house.runner.wait(run)
            assert house.store.status(run) == "done", house.store.run(run).reason
        base = runs["cyberjurors"]
        runs["paused"] = _steered(house, cases, canaries)
        setup = house.record(base).setup.model_copy(update={"rules": (canaries.all(),)})
        runs["fork"] = drive(house, house.fork(base, setup))
        lab = house.experiments
        what_if = lab.go(lab.begin(lab.what_ifs.experiment(base, evidence_left_out(cases["dispute"])[:2], range(1))))
        lab.wait(what_if)
        seat = _seated(house, cases, canaries)
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


def _hearing(house: Courthouse, name: str, cases: Mapping[str, Case], canaries: Canaries, members: Any = None) -> str:
    """With the smallest setup, and canaries as rules, people and prompts; a model id that holds one is refused."""
    procedure, (kind, given) = house.procedures[name], HEARINGS[name]
    values = {**procedure.setup().model_dump(mode="json"), **given}
    values["model"] = {"id": "openai/hostile", "timeout_s": 20, "attempts": 1, "structured": "yes"}
    shipped = templates(procedure.prompts, procedure.kinds[0])
    values["prompts"] = {"_system": "{% raw %}" + canaries.all() + "{% endraw %} " + shipped["_system"]}
    if "rules" in values:
        values["rules"] = [canaries.all() for _ in range(2)]
    if name == "cyberjurors":
        values["jury"] = [canaries.filled(one).model_dump(mode="json") for one in sample_panel(3, 0)]
        values["members"] = {"juror-02": {**values["model"], "id": "openai/refuses"}, **(members or {})}
        values["quorum"] = 0.1
    return house.new_run(name, cases[kind], procedure.setup.model_validate(values), 0)


def _knowledge(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> None:
    house.knowledge.of("precedents").add([canaries.filled(one) for one in house.knowledge.of("precedents").all()[:3]])
    for name in ("cases", "charges", "statutes"):
        collection: Any = house.knowledge.collections[name]  # type: ignore[index]
        records: list[Any] = list(collection.all(0, 2))
        collection.add([canaries.filled(one).model_copy(update={"id": one.id}) for one in records])
    told = {"title": canaries.one(190), "facts": canaries.all(), "reasoning": canaries.all()}
    judged = Judgment(relevant_articles=(264,), charges=(canaries.some(200),))
    standard = Standard(id="standard", case="any", verdict=judged, gold=judged, induced=canaries.all(), **told)
    house.knowledge.memory.standards.add([standard])
    directive = Directive(id="directive", text=canaries.all(), anchor=264, charges=judged.charges)
    house.knowledge.memory.directives.add([directive])
    lines = cases["criminal"].model_copy(update={"id": "imported", "frames": ()}).model_dump_json().encode()
    file = house.imports.check("cases", f"{canaries.some(200)}.jsonl", lines)
    house.runner.do(house.imports.run(file)).result()


def _steered(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> str:
    """Paused, with one of each that persons can do to a run."""
    run = _hearing(house, "cyberjurors", cases, canaries)
    house.runner.step(run)
    house.runner.wait(run)
    call = next(call for call in house.record(run).calls if call.value)
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


def _seated(house: Courthouse, cases: Mapping[str, Case], canaries: Canaries) -> str:
    """The seat of a person who has answered until a question with a picture came."""
    run = _hearing(house, "cyberjurors", cases, canaries, {"juror-01": {"id": "person"}})
    seat = house.people.seat(run, "juror-01")
    house.runner.go(run)
    while True:
        until(lambda: house.people.waiting(run), "a question")
        question = house.people.waiting(run)[0]
        if any(not isinstance(part, str) for _, parts in question.messages for part in parts):
            return seat.token
        schema = {"json_schema": {"schema": question.answer_schema}}
        texts = ("\n".join(part for part in parts if isinstance(part, str)) for _, parts in question.messages)
        messages = [{"role": "user", "content": text} for text in texts]
        said = canaries.answer({"response_format": schema, "messages": messages})
        house.people.answer(seat, question, json.loads(said))
