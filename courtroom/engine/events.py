"""What happens in a run, as a closed union of typed records. Pages, reports and exports only read these.

An event that stands is unique by run, kind and path: a run that is driven again writes nothing twice. `stage` is
the path of the stage in which it happened, empty outside of all stages.
"""

from typing import Annotated, Any, Literal

from pydantic import Field, TypeAdapter

from courtroom.declarations.setup import Member
from courtroom.knowledge.lessons import Lesson
from courtroom.knowledge.search import Hit, Query
from courtroom.models.spec import RECORDED
from courtroom.store.connection import read
from courtroom.strict import Strict

Source = Literal["asked", "recorded", "person"]


class Happened(Strict):
    """What all events say: where it happened, and in which stage."""

    path: str
    stage: str


class Seated(Happened):
    """Who takes part."""

    kind: Literal["seated"] = "seated"
    path: str = "panel"
    members: tuple[Member, ...]


class StageBegan(Happened):
    """A stage began; `path` is its slug, e.g. `round-2`."""

    kind: Literal["stage"] = "stage"
    name: str
    stage_kind: str
    index: int


class StageEnded(Happened):
    """All of a stage's work is done."""

    kind: Literal["stage-end"] = "stage-end"


class Called(Happened):
    """A member was asked and answered, or has no answer (`value` None, `error` says why)."""

    kind: Literal["call"] = "call"
    member: str
    task: str
    title: str
    model: str
    instead_of: str = Field(default="", exclude_if=lambda model: not model)
    """The model, or `person`, whose stand-in `model` is here, as it had no answer."""
    answered: str = ""
    """Which model answered, as its provider names it; of several answers, the last."""
    connection: str = ""
    address: str = ""
    """Where it was asked, without any credentials; empty for its provider's own address."""
    source: Source
    keys: tuple[str, ...]
    """Keys of all answers in turn: the last one counts, those before it did not fit the schema."""
    value: dict[str, Any] | None = None
    error: str = ""
    described: tuple[str, ...] = ()
    """Ids of media that were replaced by their descriptions."""
    asked: int = 0
    """How many of the answers were asked anew, not found on record."""
    attempts: int = 0
    """Calls that were made for them, those that failed included."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    latency_s: float = 0.0
    estimated: bool = Field(default=False, exclude_if=lambda estimated: not estimated)
    """Whether a provider did not count the tokens, so that they, and the cost, are about so many."""
    speaks_as_model: bool = Field(default=False, exclude_if=lambda speaks: not speaks)
    """Whether the answer speaks of its author as a language model, and not as the member."""


class Retrieved(Happened):
    """Something was looked up in the knowledge base."""

    kind: Literal["retrieval"] = "retrieval"
    key: str
    query: Query
    hits: tuple[Hit, ...]
    embedding: str = ""
    """By which embedding texts were compared; empty: by the server's own."""


class Learned(Happened):
    """The knowledge base was taught something; it happens once, however often the run is driven."""

    kind: Literal["learned"] = "learned"
    lesson: Lesson
    held_back: bool = False
    """A fork leaves the knowledge base as it is: this is what it would have taught."""


class Voted(Happened):
    """A member voted, or abstained (`choice` None)."""

    kind: Literal["vote"] = "vote"
    ballot: str
    member: str
    choice: str | None
    reasons: tuple[str, ...] = ()
    before: str | None = None
    """The member's choice in the ballot before this one."""
    confidence: int | None = Field(default=None, exclude_if=lambda confidence: confidence is None)
    """How sure it is of its vote, 0 to 100; None where it was not asked."""
    rests_on: tuple[str, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Names of the pieces of the case on which the vote rests, as far as it was asked."""
    question: str = Field(default="", exclude_if=lambda question: not question)
    """What it asks the court; empty where it has no question."""

    @property
    def changed(self) -> bool:
        return None not in (self.choice, self.before) and self.choice != self.before


class Tallied(Happened):
    """A ballot's result."""

    kind: Literal["tally"] = "tally"
    counts: dict[str, int]
    abstained: int
    share: float
    """Largest count by seats, abstentions included in the seats (CyberJurors, algorithm 1, line 31)."""
    consensus: bool


class Noted(Happened):
    """Something the reader of a run should know, in one sentence."""

    kind: Literal["note"] = "note"
    text: str


class Replied(Happened):
    """The court replied to questions of members, by its list of prepared replies; all are told from here on."""

    kind: Literal["reply"] = "reply"
    questions: tuple[str, ...]
    text: str


class Verdict(Strict):
    """How a deliberation ended."""

    outcome: str
    counts: dict[str, int] = Field(default_factory=dict)
    abstained: int = 0
    summary: str = ""
    note: str = ""
    """How the outcome came about where that isn't obvious, e.g. a tie."""
    details: dict[str, Any] = Field(default_factory=dict)


Event = Annotated[
    Seated | StageBegan | StageEnded | Called | Retrieved | Learned | Voted | Tallied | Noted | Replied,
    Field(discriminator="kind"),
]
EVENT: TypeAdapter[Event] = TypeAdapter(Event)


def read_event(run: str, body: str) -> Event:
    return read("run", run, lambda: EVENT.validate_json(body, context=RECORDED))
