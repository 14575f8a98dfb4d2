"""A run as one HTML page with everything inside: the room to play it in, pictures, every prompt and answer."""

import base64
import math
import secrets
import time
from collections import Counter, defaultdict
from collections.abc import Iterator
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from jinja2 import Environment, FileSystemLoader
from jinja2.utils import htmlsafe_json_dumps
from markupsafe import Markup

from courtroom.declarations.blocks import Graph, runs
from courtroom.engine.answers import AnswerStore
from courtroom.engine.events import Called
from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.evaluation.turnout import failure_of, given_by, stand_in_of, turnout
from courtroom.figures.layout import tone
from courtroom.language import _, translated
from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.media.videos import Frame
from courtroom.models.offline import NOTICE, SHORT_NOTICE
from courtroom.questions.asides import Interview, KeptBeside, Sample
from courtroom.questions.audience import BEFORE
from courtroom.questions.audit import MEANINGS, results
from courtroom.room.player import program, read, static, words
from courtroom.room.scene import scene
from courtroom.text.words import changes


def places(graph: Graph) -> dict[str, tuple[float, float]]:
    """Return a place for each node around an ellipse, by its id: across and down a drawing of 860 by 560."""
    step = 2 * math.pi / max(1, len(graph.nodes))
    return {
        node.id: (430 + 340 * math.sin(step * n), 280 - 220 * math.cos(step * n)) for n, node in enumerate(graph.nodes)
    }


NOTHING = KeptBeside()
MAX_FRAMES = 6
MAX_FRAME_SIDE_PX = 480
POLICY = (
    "default-src 'none'; script-src 'nonce-{nonce}'; style-src 'unsafe-inline'; img-src data:; "
    "base-uri 'none'; form-action 'none'"
)
"""The page asks for nothing over a network, and only its own scripts run. (The room places its seats by styles.)"""


def as_html(
    record: Record,
    procedure: Procedure,
    answers: AnswerStore,
    media: MediaStore,
    beside: KeptBeside = NOTHING,
    sure: str = "",
) -> str:
    """The report. Whatever a case, a model or a user wrote is shown as text and nothing in it takes effect."""
    procedure, answers = procedure.about(record.case), answers.of(record.run)
    environment = Environment(loader=FileSystemLoader(Path(__file__).parent), autoescape=True)
    environment.filters.update({one.__name__: one for one in (label, runs, moment, places, tone)})
    environment.filters.update(t=translated, kind=lambda block: type(block).__name__)
    environment.globals.update({one.__name__: one for one in (_, changes, failure_of, given_by, stand_in_of)})
    parts: dict[str, str] = {}
    nonce = secrets.token_urlsafe(16)
    return environment.get_template("page.html.j2").render(
        record=record,
        procedure=procedure,
        choices={choice.name: choice for choice in procedure.choices},
        turnout=turnout(record),
        sure=sure,
        views=[(view, view.blocks(record)) for view in procedure.views],
        exchanges={call.path: list(_exchange(call, answers, parts)) for call in record.calls},
        parts=parts,
        pictures=list(_pictures(record, media)),
        answered_by=[NOTICE if sentence == SHORT_NOTICE else sentence for sentence in record.answered_by],
        scene=htmlsafe_json_dumps(read(scene(record, procedure).model_dump(mode="json", exclude_defaults=True))),
        texts=htmlsafe_json_dumps(words()),
        style=Markup(static("room.css")),
        program=Markup(f"{program()}\n{static('in_report.js')}"),
        nonce=nonce,
        policy=POLICY.format(nonce=nonce),
        audits=results(procedure, record, [one for _, one in beside.asides if isinstance(one, Sample)]),
        meanings=MEANINGS,
        interviews=[(at, one) for at, one in beside.asides if isinstance(one, Interview)],
        beside=beside,
        audience=audience_table(record, beside),
        made=moment(time.time()),
    )


def audience_table(record: Record, beside: KeptBeside) -> list[tuple[str, dict[str, int], dict[str, int]]]:
    """Each poll of the audience: its name, the audience's votes by choice, and the members'."""
    counts = defaultdict[str, Counter[str]](Counter)
    for vote in beside.audience.votes if beside.audience else ():
        counts[vote.poll][vote.choice] += 1
    before = [("Before the first vote", dict(counts[BEFORE]), dict[str, int]())] if BEFORE in counts else []
    told = [(poll, tally.counts) for poll, tally in record.tallies.items() if poll in counts]
    return before + [(record.ballot_name(poll), dict(counts[poll]), given) for poll, given in told]


def moment(at: float) -> str:
    return datetime.fromtimestamp(at, UTC).strftime("%Y-%m-%d %H:%M UTC")


def label(name: str) -> str:
    return translated(name.replace("_", " ").capitalize())


def _exchange(call: Called, answers: AnswerStore, parts: dict[str, str]) -> Iterator[dict[str, Any]]:
    """Question and answer of each key; the text of a part that many prompts share stands in the page once."""
    for key in call.keys:
        if (entry := answers.entry(key)) is None:
            continue
        request, reply = entry
        for part in (part for _role, contents in request["messages"] for part in contents if isinstance(part, str)):
            parts.setdefault(part, answers.text(part))
        messages = [
            (role, [("text", part) if isinstance(part, str) else ("medium", part["id"]) for part in contents])
            for role, contents in request["messages"]
        ]
        yield {"messages": messages, "reply": reply}


def _pictures(record: Record, media: MediaStore) -> Iterator[tuple[Medium, list[tuple[str, str]], str]]:
    for medium in record.case.media():
        if medium.sha256 is None:
            yield medium, [], _("The file was not there.")
            continue
        try:
            if medium.kind == "image":
                yield medium, [(_url(media.image(medium.sha256, MAX_FRAME_SIDE_PX)), "")], ""
            else:
                frames: tuple[Frame, ...] = media.frames(medium.sha256, MAX_FRAMES)
                yield medium, [(_url(frame.jpeg), f"{frame.timestamp_s:.1f} s") for frame in frames], ""
        except CourtroomError as error:
            yield medium, [], str(error)


def _url(data: bytes) -> str:
    kind = "png" if data.startswith(b"\x89PNG") else "jpeg"
    return f"data:image/{kind};base64," + base64.b64encode(data).decode()
