"""A short document, and a scripted panel that summarises it, for the tests of JURIS."""

import json
from collections.abc import Callable, Mapping
from typing import Any

from courtroom.cases.labelled import Document
from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.models.request import Request
from courtroom.models.spec import ModelSpec
from courtroom.procedures.juris.setup import JurisSetup
from tests.toy import Scripted

TEXT = (
    "The river rose two metres in the night. Forty families left their houses. "
    "The mayor opened the school as a shelter. Nobody was hurt. The bridge stays closed until Friday."
)
CASE = Document(
    id="flood", title="The flood", text=TEXT, reference="A flood drove forty families out; nobody was hurt."
)
GOOD, OTHER = "Forty families left their houses.", "The river rose two metres."
INVENTED = "A film crew from Paris interviewed penguins."
ASSESSOR = {"assessor": {"id": "judge"}}
"""A model of its own, without which nobody assesses."""


def panel(
    votes: Callable[[Request], str] = lambda request: "A",
    lengths: Callable[[Request], int] = lambda request: 3,
    sentences: Callable[[Request], str] = lambda request: "",
    edited: tuple[str, ...] = (),
    told: Mapping[str, Any] | None = None,
) -> Scripted:
    """A model that answers every task.

    Args:
        told: other answers, by the task's name.
    """

    def said(request: Request) -> str:
        task: Any = request.task
        step = len(getattr(task, "accepted", ()))
        given = sentences(request) if task.name == "generate" else ""
        answers: dict[str, Callable[[], dict[str, Any]]] = {
            "length": lambda: {"reason": "short", "sentences": lengths(request)},
            "generate": lambda: {
                "evidence": [GOOD],
                "sentence": given or f"{GOOD if task.letter == 'A' else OTHER} {step}",
            },
            "ballot": lambda: {
                **{"evidence": ["Forty families"], "critique_a": "a", "critique_b": "b"},
                "vote": votes(request),
            },
            "edit": lambda: {"changes": ["joined"], "sentences": edited or task.accepted},
            "write": lambda: {"sentences": [GOOD]},
            "advise": lambda: {"rationale": "good", "advice": [], "stop": True},
            "answer": lambda: {"answers": ["yes"] * len(task.questions), "sentences": [OTHER]},
            "keyfacts": lambda: {"key_facts": ["Families left.", "Nobody was hurt."]},
            "factcheck": lambda: {
                "checks": [
                    {"sentence": n, "reason": "so", "category": "no error"} for n in range(1, len(task.sentences) + 1)
                ]
            },
            "align": lambda: {
                "alignments": [{"key_fact": 1, "line_numbers": [1]}, {"key_fact": 2, "line_numbers": []}]
            },
            "assess": lambda: {"reason": "fine", "faithfulness": 90, "completeness": 60, "conciseness": 80},
        }
        return json.dumps((told or {}).get(task.name) or answers[task.name]())

    return Scripted(reply=said)


def write(house: Courthouse, model: Scripted | None = None, case: Document = CASE, **knobs: object) -> Record:
    """A run to its end, by a scripted model or offline."""
    if model is not None:
        house.pool = model  # type: ignore[assignment, misc]
        model.warm = lambda: _nothing()  # type: ignore[attr-defined]
    spec = ModelSpec(id="scripted") if model else ModelSpec()
    run = house.new_run("juris", case, JurisSetup.model_validate({"model": spec, **knobs}), 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    return house.record(run)


def rendered(request: Request) -> str:
    """All text of a request."""
    return "\n".join(part for message in request.messages for part in message.parts if isinstance(part, str))


async def _nothing() -> None:
    return None
