"""What one model can do, found out by asking it four times: a schema, a stream, a picture and a long prompt."""

from __future__ import annotations

import io
import random
import tempfile
import time
from collections.abc import AsyncIterator, Iterable, Iterator
from contextlib import closing, suppress
from pathlib import Path
from typing import Any, Literal

from pydantic import BaseModel, Field

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.models.card import card, estimate_tokens
from courtroom.models.local import model_files
from courtroom.models.pool import ModelPool, is_object
from courtroom.models.repair import InvalidAnswer, read_answer
from courtroom.models.request import CUT, Message, Reply, Request
from courtroom.models.route import Connections
from courtroom.models.schema import schema_of
from courtroom.models.spec import ModelSpec
from courtroom.models.task import Answer, Task
from courtroom.settings import Settings
from courtroom.strict import Strict

LONG = 16_000
"""Tokens of the long prompt, about what a run of 17 jurors sends at its end."""
COLOURS = ("red", "green", "blue")
SYSTEM = "You are being tried out. Answer shortly."


class ModelTrial(Strict):
    """What came of one question."""

    about: str
    works: bool
    sentence: str
    prompt_tokens: int = 0
    completion_tokens: int = 0
    cost: float | None = None
    """US dollars; None where no price is known."""
    seconds: float = 0.0


class Colour(Answer):
    """What is in the picture."""

    seen: str = Field(min_length=1, description="What the picture shows, in a few words.")
    colour: Literal["red", "green", "blue", "none"] = Field(description="`none` where you see no picture.")


class CodeWord(Answer):
    """A word that stands at the beginning of a long text."""

    code_word: str = Field(min_length=1)


class LookAtColour(Task[Colour]):
    """Which colour has the picture?"""

    name = "look-at-colour"
    title = "Picture"


class FindCodeWord(Task[CodeWord]):
    """Which code word was given?"""

    name = "find-code-word"
    title = "Code word"


async def trials(spec: ModelSpec, connections: Connections, long: int = LONG) -> AsyncIterator[ModelTrial]:
    """Ask a model four times and say what works.

    Args:
        spec: the model and how it is asked; `structured`, `vision` and `attempts` are chosen here.
        long: about how many tokens the long prompt has; less where the model's card says that it takes less.

    Raises:
        CourtroomError: the model can't be asked at all: no key, or nobody answers.
    """
    with tempfile.TemporaryDirectory() as folder:
        media = MediaStore(Path(folder))
        model = ModelPool(media, connections)
        try:
            word = random.Random(spec.id).choice(("walnut", "harbour", "violet", "copper"))
            short = f"The code word is {word}. Which is the code word?"
            yield await _schema(model, spec, short)
            yield await _stream(model, spec, short)
            yield await _picture(model, spec, media)
            yield await _long(model, spec, word, long)
        finally:
            await model.close()


async def _schema(model: ModelPool, spec: ModelSpec, text: str) -> ModelTrial:
    """The first question of all: an error that has nothing to do with the schema is an error of every question."""
    try:
        reply = await model.answer(_request(spec, FindCodeWord(), text, structured="yes"))
    except CourtroomError:
        reply = await model.answer(_request(spec, FindCodeWord(), text))
        return _of("JSON schema", reply, False, "The schema is refused; answers are asked for in words, and checked.")
    answer = _read(reply, CodeWord)
    return _of("JSON schema", reply, answer is not None, "It is enforced." if answer else "The answer does not fit it.")


async def _stream(model: ModelPool, spec: ModelSpec, text: str) -> ModelTrial:
    parts: list[str] = []
    reply = await model.answer(_request(spec, FindCodeWord(), text, attempts=2), parts.append)
    said = f"It comes in parts: {len(parts)}." if parts else "It comes whole; nothing shows before its end."
    return _of("Stream", reply, bool(parts), said)


async def _picture(model: ModelPool, spec: ModelSpec, media: MediaStore) -> ModelTrial:
    from PIL import Image

    colour = random.Random(spec.id).choice(COLOURS)
    drawn = io.BytesIO()
    Image.new("RGB", (128, 128), colour).save(drawn, "PNG")
    picture = Medium(id="picture", kind="image", file="a.png", sha256=media.take(drawn.getvalue(), "a.png"))
    try:
        reply = await model.answer(_request(spec, LookAtColour(), "Which colour fills the picture?", picture))
    except CourtroomError as error:
        return ModelTrial(about="Picture", works=False, sentence=f"Pictures are refused: {error}")
    answer = _read(reply, Colour)
    sees = isinstance(answer, Colour) and answer.colour == colour
    return _of("Picture", reply, sees, "It sees." if sees else "It takes pictures and does not see what is in them.")


async def _long(model: ModelPool, spec: ModelSpec, word: str, long: int) -> ModelTrial:
    file = model_files().get(spec.id)
    most = file.slot if file else int((card(spec.id) or {}).get("max_input_tokens") or long)
    tokens = min(long, most - spec.max_tokens - 500)
    line = "The parties repeat what they have said before, and nothing new comes up.\n"
    filling = line * max(1, tokens // estimate_tokens(line))
    asked = f"The code word is {word}.\n{filling}Which is the code word?"
    try:
        reply = await model.answer(_request(spec, FindCodeWord(), asked))
    except CourtroomError as error:
        sentence = f"About {tokens:,} tokens are too many: {error}"
        return ModelTrial(about="Long prompt", works=False, sentence=sentence)
    answer = _read(reply, CodeWord)
    repeated = isinstance(answer, CodeWord) and word in answer.code_word.lower()
    said = f"Of {reply.usage.prompt or tokens:,} tokens the first are known at the end."
    lost = "Its beginning is lost before its end: raise the context size."
    return _of("Long prompt", reply, repeated, said if repeated else lost)


def _request(
    spec: ModelSpec, task: Task[Any], text: str, *media: Medium, structured: str = "no", attempts: int = 1
) -> Request:
    form = f"{text}\nAnswer with one JSON object that fits this JSON schema:\n{schema_of(task.form)}"
    asked = spec.model_copy(update={"structured": structured, "attempts": attempts})
    return Request(asked, (Message("system", (SYSTEM,)), Message("user", (*media, form))), task, "check")


def _read(reply: Reply, form: type[BaseModel]) -> BaseModel | None:
    try:
        return read_answer(reply.text, form, reply.finish)
    except InvalidAnswer:
        return None


def _of(about: str, reply: Reply, works: bool, sentence: str) -> ModelTrial:
    took = {"prompt_tokens": reply.usage.prompt, "completion_tokens": reply.usage.completion}
    return ModelTrial(about=about, works=works, sentence=sentence, cost=reply.cost, seconds=reply.latency_s, **took)


class Tally(Strict):
    """What became of the calls of one run."""

    procedure: str
    calls: int = 0
    """Questions, however often each was asked."""
    valid: int = 0
    """Questions whose first reply was an answer, mended or not."""
    mended: int = 0
    """Of these, where the reply was no JSON as it stood."""
    again: int = 0
    """Questions that were asked more than once."""
    lost: int = 0
    """Questions without an answer."""
    replies: int = 0
    cut: int = 0
    """Replies that were cut at the longest answer."""
    prompt_tokens: int = 0
    completion_tokens: int = 0
    seconds: float = 0.0
    verdict: bool = False

    def row(self) -> str:
        """One row of the table in docs/models.md."""
        shares = (f"{count / max(1, self.calls):.0%}" for count in (self.valid, self.mended, self.again, self.lost))
        replies = max(1, self.replies)
        tokens = f"{self.prompt_tokens / replies:,.0f} + {self.completion_tokens / replies:,.0f}"
        rest = (f"{self.cut / replies:.0%}", tokens, f"{self.seconds:.0f}", "yes" if self.verdict else "no")
        return f"| {' | '.join((self.procedure, str(self.calls), *shares, *rest))} |"


HEAD = (
    "| procedure | calls | valid at once | mended | asked again | lost | cut | tokens a call: prompt + answer | "
    "seconds | verdict |\n"
    f"|{' --- |' * 10}"
)


def tally(house: Courthouse, record: Record, seconds: float = 0.0) -> Tally:
    """What became of the calls of a run, by its record and the stored replies. `seconds`: that it took."""
    series = [(call, [reply for key in call.keys if (reply := house.answers.reply(key))]) for call in record.calls]
    every = [reply for _, replies in series for reply in replies]
    first = [replies[0].text for call, replies in series if call.value is not None and len(replies) == 1]
    return Tally(
        procedure=record.run.procedure,
        calls=len(series),
        valid=len(first),
        mended=sum(not is_object(text) for text in first),
        again=sum(len(replies) > 1 for _, replies in series),
        lost=sum(call.value is None for call, _ in series),
        replies=len(every),
        cut=sum(reply.finish == CUT for reply in every),
        prompt_tokens=sum(reply.usage.prompt for reply in every),
        completion_tokens=sum(reply.usage.completion for reply in every),
        seconds=seconds,
        verdict=record.run.verdict is not None,
    )


def tallies(settings: Settings, spec: ModelSpec, longest_s: float, only: Iterable[str] = ()) -> Iterator[Tally]:
    """Hear a sample case by each procedure, with its settings for a quick look. The runs are kept nowhere.

    Args:
        spec: the model; how it draws its words is each procedure's own default.
        longest_s: for which one run is waited for.
        only: names of procedures; none is all of those for which there is a sample case.
    """
    asked = spec.model_dump(include={"id", "connection", "timeout_s"})
    with tempfile.TemporaryDirectory() as home, closing(Courthouse(settings.apart(Path(home)))) as house:
        cases = {one.kind: one.id for one in reversed(house.library.cases())}
        for name in only or house.procedures:
            procedure = house.procedures[name]
            if not (heard := [cases[kind] for kind in procedure.kinds if kind in cases]):
                continue  # its cases are made from runs
            setup = procedure.setup.model_validate({**procedure.small, "model": asked})
            run = house.new_run(name, house.library.case(heard[0]), setup, 0)
            began = time.monotonic()
            house.runner.go(run)
            with suppress(TimeoutError):  # what it did until then is told
                house.runner.wait(run, longest_s)
            house.runner.pause(run)
            yield tally(house, house.record(run), time.monotonic() - began)
