"""What goes over the model border, in both directions, and what goes wrong there."""

import hashlib
import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from typing import Annotated, Any, Literal, Protocol

from pydantic import BaseModel, Field, StringConstraints

from courtroom.errors import CourtroomError
from courtroom.media.medium import Medium
from courtroom.models.schema import schema_of
from courtroom.models.spec import OFFLINE, SCRIPT, ModelSpec
from courtroom.models.task import Task
from courtroom.strict import Strict

LATE = "late"
CUT = "length"
REFUSAL = "refusal"
FILTERED = "content_filter"


@dataclass(frozen=True)
class Message:
    """One message; its parts are texts and media, in order."""

    role: Literal["system", "user", "assistant"]
    parts: tuple[str | Medium, ...]

    def packed(self, text: Callable[[str], str] = str) -> list[object]:
        """Role and parts as they are stored, each text by what stands in its place."""
        return [self.role, [text(p) if isinstance(p, str) else p.model_dump(mode="json") for p in self.parts]]

    def digest(self) -> list[object]:
        """Role and content hashes: equal exactly where the message is byte-identical."""
        return [self.role, [digest_text(p) if isinstance(p, str) else f"medium:{p.shown}" for p in self.parts]]


def pictures_in(messages: Sequence[Message]) -> int:
    """Return how many pictures these show at most, frames of videos included."""
    return sum(part.pictures for message in messages for part in message.parts if not isinstance(part, str))


@lru_cache(maxsize=4096)
def digest_text(text: str) -> str:
    """SHA-256 of a text part. Cached, as calls share most of their parts."""
    return hashlib.sha256(text.encode()).hexdigest()


@dataclass(frozen=True)
class Request:
    """One question to one model.

    `tag` is the sample's name, run seed and member: two members who are asked the same words draw two samples.
    `address` is where the model is asked where that is not its provider's own address; it holds no credentials.
    `by_address`: its key is made as stores of before know it, in which the address of a connection counted.
    `by_batch`: it waits for others, and goes out with them by its provider's batch; its key is the same.
    """

    spec: ModelSpec
    messages: tuple[Message, ...]
    task: Task[Any] = field(repr=False)
    tag: str
    address: str = ""
    by_address: bool = False
    by_batch: bool = False

    @cached_property
    def pictures(self) -> int:
        """How many pictures go with it at most, frames of videos included."""
        return pictures_in(self.messages)

    @cached_property
    def form(self) -> type[BaseModel]:
        """What the answer must fit; a task may put it together of its inputs each time that it is asked for it."""
        return self.task.asked_form

    @cached_property
    def key(self) -> str:
        """SHA-256 of all that can change the answer; under it the answer is stored and found again.

        The offline model and a script read a task's inputs and not the prompt. The prompt counts for them too: beside
        an answer is shown what was asked.

        A connection counts by its name, so that its answers are found where nobody lists it, or it has moved. Else the
        address counts, so that two servers with one model name never share answers; a provider's own does not.
        """
        prompt = [message.digest() for message in self.messages]
        if self.spec.id in (OFFLINE, SCRIPT):
            return digest_text(json.dumps([self.inputs, prompt], ensure_ascii=False))
        return self._digest(prompt)

    @cached_property
    def inputs(self) -> str:
        """SHA-256 of what the offline model and a script read, and draw by: other words of a prompt change none of
        their answers. Where the offline model stands in for another, as in a rehearsal, it is the key."""
        if self.spec.id not in (OFFLINE, SCRIPT):
            return self.key
        return self._digest([self.task.name, digest_text(self.task.model_dump_json()), len(self.messages)])

    def _digest(self, asked: object) -> str:
        form = digest_text(schema_of(self.form, room=self.spec.room))
        content = [self.spec.id, self.spec.sampling(), asked, form, self.tag]
        if self.spec.connection or self.address:
            content.append([self.spec.connection, self.address if self.by_address or not self.spec.connection else ""])
        return digest_text(json.dumps(content, ensure_ascii=False, sort_keys=True))


class Usage(Strict):
    """Tokens as the provider counts them."""

    prompt: int = 0
    completion: int = 0
    cached: int = 0
    """Of the prompt, read from the provider's cache."""
    written: int = Field(default=0, exclude_if=lambda tokens: not tokens)
    """Of the prompt, written to the provider's cache."""
    estimated: bool = Field(default=False, exclude_if=lambda estimated: not estimated)
    """Whether the provider did not count them, so that they are about so many."""


class Reply(Strict):
    """What came back, as it came back. It is stored before it is read."""

    text: Annotated[str, StringConstraints(strip_whitespace=False)]
    usage: Usage = Usage()
    cost: float | None = None
    """US dollars; None where no price is known."""
    latency_s: float = 0.0
    finish: str = "stop"
    """Why the model ended: `stop`, `length` where the answer was cut, `refusal` where the text says why there is none,
    `content_filter` where the provider withheld it, or `late` where a person did not answer in time and a model is to.
    """
    attempts: int = 1
    """Calls that were made for it; `usage` and `cost` are of all of them."""
    model: str = ""
    """Which model answered, as its provider names it."""
    fingerprint: str = ""
    """What else the provider says of the system that answered."""
    connection: str = ""
    address: str = ""
    """Where it was asked, without any credentials; empty for its provider's own address."""
    by_batch: bool = Field(default=False, exclude_if=lambda by_batch: not by_batch)
    """Whether it came by the provider's batch."""
    left_out: tuple[str, ...] = Field(default=(), exclude_if=lambda names: not names)
    """What its server refused to take, by the names of `capabilities`, so that it was asked without."""


class ModelError(CourtroomError):
    """No answer could be had from a model; the sentence says why, and what to do.

    A model that may not be asked raises `spec.NotAllowed` instead, which stops a run.
    """

    paid: Reply | None = None
    """What the calls that were made for it used up, as far as the provider said: a reply without a text."""


class CannotSee(ModelError):
    """The server refuses so many pictures; fewer can help. `most`: how many may be shown of this question."""

    def __init__(self, sentence: str, most: int = 0) -> None:
        super().__init__(sentence)
        self.most = most


Watch = Callable[[str], None]
"""Is given the text so far while an answer streams in."""


class Model(Protocol):
    """Whoever answers: a language model, the offline model, a person in a seat, a script in a test."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        """Answer one request. `watch`: is given the text so far, where the model can stream; pass None to ask for the
        answer whole. Raises `ModelError`: no answer could be had; the message says in one plain sentence why;
        `CannotSee`: the model refuses pictures; asking again without them can help."""
