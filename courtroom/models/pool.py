"""Who answers: the offline model, or one that LiteLLM can reach. Calls leave the process here alone."""

from __future__ import annotations

import asyncio
import inspect
import json
import logging
import math
import time
from collections.abc import AsyncIterator, Iterable
from contextlib import asynccontextmanager, nullcontext, suppress
from functools import cached_property, partial
from typing import TYPE_CHECKING, Any, NamedTuple

from pydantic import BaseModel

from courtroom.errors import MediaError
from courtroom.media.store import MediaStore
from courtroom.models import failures
from courtroom.models.bounds import BOUND, Bound, Overlong
from courtroom.models.capabilities import CONTEXT, IMAGES, MAX_TOKENS, SCHEMA, SYSTEM, VISION, Capabilities, Findings
from courtroom.models.card import card, estimate_tokens, free, load, price, provider
from courtroom.models.keys import PROVIDERS, secret_forms, without_beginnings, without_secrets
from courtroom.models.limits import Limits, ServerClock, Slot, limited_together
from courtroom.models.local import LocalServers
from courtroom.models.longer import leaves_room, ollama_context, room
from courtroom.models.offline import Methods, OfflineModel
from courtroom.models.prompt_cache import Beginning, KeptBeginnings, beginnings, keeps_marked, min_tokens
from courtroom.models.repair import InvalidAnswer, read_answer
from courtroom.models.request import CUT, FILTERED, REFUSAL, CannotSee, ModelError, Reply, Request, Usage, Watch
from courtroom.models.route import Connections, route
from courtroom.models.schema import enforced
from courtroom.models.spec import LOCAL, OFFLINE, SCRIPT, ModelSpec, NotAllowed
from courtroom.models.wire import alternating, to_wire
from courtroom.store.database import Database
from courtroom.store.writer import Writer

if TYPE_CHECKING:
    from courtroom.models.batches import Batches

log = logging.getLogger(__name__)

MOST_TOKENS = 10**8
MOST_MONEY = 10**4
"""In US dollars. What a server says beyond these of a single call is not believed."""


Used = tuple[Usage, float | None]
"""What one call used up, as far as the provider says and can be believed, and its cost in US dollars."""


class Said(NamedTuple):
    """What a model said in one call, before it is known which part of it is the answer."""

    content: str
    call: str
    """What it gave to a tool, though it has none."""
    thought: str
    finish: str
    answered_by: dict[str, str]


NO_TIMEOUT_S = 86_400.0
"""For LiteLLM, which would else have one of its own: `Slot.time_out` says when a server is silent for too long."""
ECHOING = ("text", "finish", "model", "fingerprint")
"""What of a reply a server writes, maybe with a key in it that it was sent."""
BROKEN_STREAMS = 2
"""After so many in a row a model is asked for whole answers, for as long as the process lives."""


HARMS = tuple(
    f"HARM_CATEGORY_{name}" for name in ("HARASSMENT", "HATE_SPEECH", "SEXUALLY_EXPLICIT", "DANGEROUS_CONTENT")
)
"""What Gemini's filter can be set for, by its names."""


class ModelPool:
    """All models of a process: the offline one, and those that are asked where the server's owner says (`route`).

    Args:
        limits: those of all runs.
        capabilities: where it is kept what models can't do; None forgets it with the process.
        offline: what the offline model answers by.
        kept_in: where batches are put on record; None where no call goes by batch.
    """

    def __init__(
        self,
        media: MediaStore,
        connections: Connections | None = None,
        limits: Limits | None = None,
        capabilities: Capabilities | None = None,
        offline: Methods | None = None,
        kept_in: tuple[Database, Writer] | None = None,
    ) -> None:
        self.limits = limits or Limits()
        self.media = media
        self.connections = Connections() if connections is None else connections
        self.capabilities = capabilities or Capabilities(connections=self.connections)
        self.kept_beginnings = KeptBeginnings()
        self.local = LocalServers()
        self._offline = OfflineModel(offline or {})
        self._kept_in = kept_in
        self.loading: set[str] = set()
        """Models whose servers are waited for, as they are still loading them."""

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        if request.spec.id in (OFFLINE, SCRIPT):
            return await self._offline.answer(request)
        await self.warm()
        spec = request.spec.checked()
        if not spec.id.startswith(LOCAL) or spec.connection:
            return await Call(self, request, await self.capabilities.of(spec), watch).answer()
        async with self.local.asked(spec.id, self.loading):
            return await Call(self, request, await self.capabilities.context(spec), watch).answer()

    def slowed_to(self, specs: Iterable[ModelSpec]) -> int | None:
        """Return calls at once for the slowest of these models; None where all servers keep up."""
        limiters = (self.limits.limiters.get(limited_together(spec)) for spec in specs)
        return min((calls for one in limiters if one and (calls := one.slowed_to)), default=None)

    @cached_property
    def batches(self) -> Batches:
        """The calls that wait for others, and go out with them."""
        from courtroom.models.batches import Batches  # imports httpx, which takes long

        assert self._kept_in is not None, "a batch is on record before it is waited for"
        return Batches(*self._kept_in)

    async def warm(self) -> None:
        """Load LiteLLM, off the loop's thread."""
        if not load.cache_info().currsize:
            await asyncio.to_thread(load)

    async def close(self) -> None:
        """Close the connections made on this loop, end the servers of files, and wait for no batch any more."""
        self.local.close()
        if "batches" in self.__dict__:
            await self.batches.close()
        if load.cache_info().currsize:
            kept = load().in_memory_llm_clients_cache
            of_this_loop = kept.update_cache_key_with_event_loop("")
            for key in [key for key in kept.cache_dict if str(key).endswith(of_this_loop)]:
                client = kept.cache_dict.pop(key)
                if inspect.iscoroutinefunction(getattr(client, "close", None)):
                    await client.close()


class Call:
    """One question on its way to an answer, and what became of the attempts at it.

    `ModelSpec.attempts` bounds the calls that a server sees for it: nothing below this class retries. Each attempt
    waits for its turn; that wait counts neither for the time-out nor for the latency. The time-out counts the server's
    silence; see `Slot.time_out`.
    """

    def __init__(self, pool: ModelPool, request: Request, findings: Findings, watch: Watch | None) -> None:
        self._pool, self._request, self._spec = pool, request, request.spec
        self._findings, self._watch = findings, watch
        self._attempts = failures.Attempts(request.spec)
        self._made = 0
        """Attempts that had their turn."""
        self._used: list[Used] = []
        """What each of them used up."""
        self._sent: dict[str, Any] = {}
        """The parameters of the latest."""
        self._left_out: set[str] = set()
        """What the question is asked again without, by the names of `capabilities`."""
        self._tries_picture = request.pictures > 0 and request.spec.vision == "auto"

    async def answer(self) -> Reply:
        """Return the reply to the question; see `Model.answer`."""
        try:
            beginning = self._marked_beginning()
            marked = beginning is not None
            made = partial(to_wire, self._request.messages, self._pool.media, marked=marked)
            messages = await asyncio.to_thread(made) if self._request.pictures else made()
            return await self._attempts.made(partial(self._attempt, messages, beginning), self._worth_another)
        except NotAllowed:
            raise
        except MediaError as error:
            raise ModelError(str(error)) from error
        except Exception as error:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
            failure = error if isinstance(error, ModelError) else failures.sentence(error, self._request)
            failure.paid = in_all(self._used, Reply(text=""), attempts=self._made)
            raise failure from None  # the cause may hold a key, and a log would print it
        finally:
            self._pool.loading.discard(self._spec.id)
            if self._request.by_batch:
                self._pool.batches.answered.discard(self._request.key)

    def _marked_beginning(self) -> Beginning | None:
        """What of a prompt is marked for its provider to keep; None where that keeps what it likes, or none so short."""
        if not keeps_marked(self._spec, self._pool.connections):
            return None
        longest = next(reversed(beginnings(self._request, marked=True)), None)
        return longest if longest and longest.tokens >= min_tokens(self._spec) else None

    async def _attempt(self, messages: list[dict[str, Any]], beginning: Beginning | None) -> Reply:
        """Ask once, when it is this call's turn."""
        spec, findings = self._spec, self._findings
        alone = self._first_picture_alone() if self._tries_picture else nullcontext()
        async with alone, self._turn(beginning) as slot:
            if self._tries_picture and findings.get(VISION) == 0:
                raise CannotSee(f"{spec.id} does not take pictures.")
            self._made, secrets = self._attempts.number, secret_forms()
            async with self._pool.local.turn(spec.id, self._request.messages):
                began = time.perf_counter()
                self._sent = self.parameters(messages)
                reply = await _reply(await self._said(slot, self._shown(secrets)), self._request.form)
            reply = in_all(
                self._used,
                reply,
                latency_s=round(time.perf_counter() - began, 4),
                attempts=self._made,
                left_out=tuple(sorted(self._refused())),
                by_batch=slot.by_batch,
                connection=spec.connection,
                address=self._request.address,
                **{name: without_secrets(getattr(reply, name), secrets) for name in ECHOING},
            )
            slot.usage = reply.usage
            for name in self._left_out - findings.keys():
                findings.remember(name, 0)
            if self._tries_picture:
                findings.remember(VISION, 1)
            return reply

    @asynccontextmanager
    async def _turn(self, beginning: Beginning | None) -> AsyncIterator[Slot]:
        """Wait until a call may be made. One that goes by batch takes no turn: it keeps no server busy."""
        if self._request.by_batch:
            with self._pool.batches.taking(self._request.key):
                yield Slot.of(self._request, ServerClock())
        else:
            async with self._pool.kept_beginnings.turn(beginning), self._pool.limits.turn(self._request) as slot:
                yield slot

    @asynccontextmanager
    async def _first_picture_alone(self) -> AsyncIterator[None]:
        """Hold other pictures back while the first is sent: that a model can't see is found out by one call."""
        findings = self._findings
        if not findings.tried_picture:
            async with findings.first_picture:
                if not findings.tried_picture:
                    try:
                        yield
                    except Exception as error:
                        findings.tried_picture = not failures.is_loading(error)
                        raise
                    findings.tried_picture = True
                    return
        yield

    def _shown(self, secrets: tuple[str, ...]) -> Watch | None:
        """Who is shown a stream, without any key that the server may echo; None where the whole answer is asked for."""
        findings, watch = self._findings, self._watch
        must_stream = findings.is_slow or self._spec.id.startswith(LOCAL)  # so that the server is heard
        is_whole = watch is None or self._attempts.is_last  # not every server that says so can stream
        if self._request.by_batch or not findings.streams or (is_whole and not must_stream):
            return None
        return lambda text: watch(without_beginnings(text, secrets)) if watch else None

    async def _said(self, slot: Slot, watch: Watch | None) -> Said:
        """Make one call, within its time-out. What it used up is kept, whatever comes of it."""
        bound = Bound(self._spec.max_tokens, watch is not None, slot.heard)
        before = BOUND.set(bound)
        in_time = nullcontext() if slot.by_batch else slot.time_out(self._spec.timeout_s, whole=watch is None)
        try:
            async with in_time:
                return await (self._whole(slot, bound) if watch is None else self._streamed(slot, bound, watch))
        except TimeoutError:
            self._findings.is_slow = self._findings.is_slow or watch is None
            raise
        except Exception as error:
            if not (text := failures.failed_generation(error)):
                raise
            self._used.append(_used(self._sent["model"], None, slot, text))
            return Said(text, "", "", "stop", {})
        finally:
            BOUND.reset(before)

    async def _whole(self, slot: Slot, bound: Bound) -> Said:
        answer = await load().acompletion(**self._sent)
        choice = answer.choices[0] if answer.choices else None
        message = choice.message if choice else None
        content, thought = getattr(message, "content", None) or "", getattr(message, "reasoning_content", None) or ""
        call = _called(message)
        self._used.append(_used(self._sent["model"], getattr(answer, "usage", None), slot, content + call + thought))
        if choice is None or message is None:
            raise failures.NoAnswer("the reply holds no answer")
        refusal = getattr(message, "refusal", None) or (message.provider_specific_fields or {}).get("refusal")
        if len(content) + len(call) + len(thought) > bound.characters:
            raise Overlong(f"{len(content) + len(call) + len(thought)} characters")
        if refusal and not content:
            return Said(str(refusal), "", "", REFUSAL, _answered_by(answer))
        return Said(content, call, thought, choice.finish_reason or "stop", _answered_by(answer))

    async def _streamed(self, slot: Slot, bound: Bound, watch: Watch) -> Said:
        """An answer that streams in; a model whose streams keep breaking is not asked for one again."""
        findings, model = self._findings, self._sent["model"]
        content, call, thought, usage, answered_by = "", "", "", None, dict[str, str]()
        try:
            usage_too = {"include_usage": True}
            stream = await load().acompletion(stream=True, stream_options=usage_too, **self._sent)
            try:
                async for chunk in stream:
                    usage = getattr(chunk, "usage", None) or usage
                    # What came first counts: the last chunks are LiteLLM's own.
                    answered_by = _answered_by(chunk) | answered_by
                    for choice in chunk.choices[:1]:
                        thought += getattr(choice.delta, "reasoning_content", None) or ""
                        call += _called(choice.delta)
                        if choice.delta.content:
                            content += choice.delta.content
                            if not bound.came_whole:
                                watch(content)
                    if len(content) + len(call) + len(thought) > bound.characters:
                        raise Overlong(f"more than {bound.characters} characters")
            except Overlong:
                raise
            except Exception:
                if not is_object(content):
                    raise
                log.info("a stream broke off behind its whole answer", exc_info=True)
            finally:
                # LiteLLM gives what was used last of all, counted by itself where the server said nothing.
                said = [given for chunk in stream.chunks if (given := getattr(chunk, "usage", None))]
                if usage is not None or said or content or thought:
                    told, cost = _used(model, usage or next(reversed(said), None), slot, content + call + thought)
                    told = told.model_copy(update={"estimated": told.estimated or not said})
                    self._used.append((told, cost))
            # LiteLLM ends each stream with a “stop” of its own; these say how the provider ended it, if it did.
            finish = stream.received_finish_reason or stream.intermittent_finish_reason
            if not finish and not is_object(content):
                raise failures.Incomplete("the stream broke off")
            finish = load().map_finish_reason(finish or "stop")  # which LiteLLM itself does with whole answers alone
            if finish == "stop" and not (content or thought or call):
                raise failures.EmptyStream("the stream ended without a word")  # LiteLLM drops a refusal from a stream
        except (Exception, asyncio.CancelledError) as error:
            if content or failures.breaks_stream(error):
                findings.broken_streams += 1
                findings.streams = findings.streams and findings.broken_streams < BROKEN_STREAMS
            raise
        findings.broken_streams, findings.streams = 0, findings.streams and not bound.came_whole
        return Said(content, call, thought, finish, answered_by)

    def parameters(self, messages: list[dict[str, Any]]) -> dict[str, Any]:
        """What one attempt sends, as far as the model is known to take it by then."""
        spec, request, findings = self._spec, self._request, self._findings
        extra: dict[str, Any] = dict(spec.extra)
        if (tokens := extra.pop("thinking_budget", None)) is not None:
            extra["thinking"] = {"type": "enabled", "budget_tokens": tokens}
        if (threshold := extra.pop("safety_settings", None)) is not None:
            extra["safety_settings"] = [{"category": category, "threshold": threshold} for category in HARMS]
        without = findings.lacking | self._left_out
        longest = "max_completion_tokens" if MAX_TOKENS in without else "max_tokens"
        given: dict[str, Any] = {
            "num_ctx": ollama_context(request, findings),
            **extra,
            "messages": alternating(messages) if SYSTEM in without else messages,
            "temperature": spec.temperature,
            longest: room(request, findings),
            "top_p": spec.top_p,
            "timeout": NO_TIMEOUT_S,
            "num_retries": 0,
            "max_retries": 0,
            **route(spec, self._pool.connections).parameters(),
        }
        if SCHEMA not in self._left_out and self._wants_schema():
            lengths = "minLength" not in without and self._takes_lengths()
            schema = enforced(request.form, room=spec.room, lengths=lengths, lacking=without)
            form = {"name": request.form.__name__, "schema": schema, "strict": True}
            given["response_format"] = {"type": "json_schema", "json_schema": form}
        unwanted = without & failures.PARAMETERS | ({"thinking"} if "thinking_budget" in without else set())
        return {name: value for name, value in given.items() if value is not None and name not in unwanted}

    def _refused(self) -> frozenset[str]:
        """What was wanted of a call, and its server refused."""
        knobs = {name for name in ("temperature", "top_p") if getattr(self._spec, name) is not None}
        forms = {SCHEMA, SYSTEM} if self._spec.structured == "auto" else {SYSTEM}
        return (self._findings.lacking | self._left_out) & (knobs | self._spec.extra.keys() | forms)

    def _wants_schema(self) -> bool:
        """As set; else unless its card says no. A model without a card is asked, and asked no more when it refuses."""
        if self._spec.structured != "auto":
            return self._spec.structured == "yes"
        known = card(self._spec.id)
        return self._findings.get(SCHEMA) != 0 and (known is None or bool(known.get("supports_response_schema")))

    def _takes_lengths(self) -> bool:
        """Servers of one's own take them, models without a card are asked once; hosted providers refuse them."""
        served_by = PROVIDERS.get(provider(self._spec.id))
        own = bool(self._spec.connection) or (served_by is not None and served_by.near)
        return own or card(self._spec.id) is None

    def _worth_another(self, error: BaseException) -> failures.Again:
        """Return whether to try again, and how. What the server says that the model can't do is remembered at once."""
        request, findings = self._request, self._findings
        if failures.is_loading(error):
            self._pool.loading.add(self._spec.id)
            return "same"
        if request.pictures and failures.cannot_see(error):
            findings.remember(VISION, 0)
            return "no"
        if request.pictures and (most := failures.most_images(error)) and most < request.pictures:
            findings.remember(IMAGES, most)
            return "no"
        if self._sent and findings.streams and failures.says(error, "stream"):
            findings.streams = False
            return "otherwise"
        without_schema = self._spec.structured == "auto"
        if not self._sent or (refusal := failures.refused(error, self._sent, without_schema=without_schema)) is None:
            return failures.again_if_it_may_pass(error)
        if refusal.values.keys() <= self._left_out:
            return "no"
        context = refusal.values.get(CONTEXT)
        if context and not leaves_room(request, findings, context, failures.prompt_tokens(error)):
            return "no"
        self._left_out.update(refusal.values)
        if refusal.is_said:
            for name, value in refusal.values.items():
                findings.remember(name, value)
        return "otherwise"


def is_object(text: str) -> bool:
    """Whether a text is one whole JSON object."""
    with suppress(ValueError, RecursionError):
        return isinstance(json.loads(text), dict)
    return False


def _called(message: Any) -> str:
    calls = getattr(message, "tool_calls", None) or ()
    old = getattr(message, "function_call", None)
    return next((str(call.function.arguments or "") for call in calls[:1]), str(getattr(old, "arguments", None) or ""))


async def _reply(said: Said, form: type[BaseModel]) -> Reply:
    """The answer in what was said: the content, what a tool was given, or a thought that ends with a whole answer."""
    text = said.content if "{" in said.content or not said.call else said.call
    if not text and said.finish not in (CUT, REFUSAL, FILTERED) and said.thought.rstrip("` \n").endswith("}"):
        with suppress(InvalidAnswer):  # it is a thought; the answer is empty
            await asyncio.to_thread(read_answer, said.thought, form, CUT)  # of which only what is whole is read
            text = said.thought
    text = (text or said.content).encode(errors="replace").decode()  # half a surrogate pair can't be stored
    return Reply(text=text, finish=said.finish, **said.answered_by)


def _used(model: str, usage: Any, slot: Slot, text: str) -> Used:
    """What one call used up. No prompt has 0 tokens: where the provider says so, or nothing, they are estimated."""
    details = getattr(usage, "prompt_tokens_details", None)
    prompt, all_told = _count(usage, "prompt_tokens"), _count(usage, "total_tokens")
    completion = max(_count(usage, "completion_tokens"), all_told - prompt if prompt else 0)
    cost = _cost(model, usage, by_batch=slot.by_batch)
    estimated = not prompt or (not completion and bool(text))
    if estimated:
        prompt, completion = prompt or slot.prompt_tokens, completion or estimate_tokens(text)
        known = price(model, by_batch=slot.by_batch)
        cost = cost or (known.of(prompt, completion) if known else None)
    cached, written = _count(details, "cached_tokens"), _count(details, "cache_creation_tokens")
    used = Usage(prompt=prompt, completion=completion, cached=cached, written=written, estimated=estimated)
    return used, cost


def _count(told: Any, name: str) -> int:
    value = getattr(told, name, 0)
    is_number = isinstance(value, (int, float)) and 0 <= value <= MOST_TOKENS
    return int(value) if is_number and value == int(value) else 0


def _cost(model: str, usage: Any, *, by_batch: bool) -> float | None:
    """US dollars, with the provider's prices for cached tokens; None where no price is known."""
    if free(model):
        return 0.0
    cost = _money(getattr(usage, "cost", None))
    if cost is not None or usage is None or price(model) is None:
        return cost
    try:
        if by_batch:
            return _money(sum(load().cost_calculator.batch_cost_calculator(usage=usage, model=model)))
        return _money(sum(load().cost_per_token(model=model, usage_object=usage)))
    except Exception:  # noqa: BLE001  LiteLLM has no base of its own for what it raises
        log.warning("%s: no cost can be worked out of %r", model, usage, exc_info=True)
        return None


def _money(value: object) -> float | None:
    if not isinstance(value, (int, float)) or not math.isfinite(value) or not 0 <= value <= MOST_MONEY:
        return None
    return float(value)


def in_all(used: list[Used], reply: Reply, **more: object) -> Reply:
    """A reply with what all calls for it used up."""
    costs = [cost for _, cost in used if cost is not None]
    cost = sum(costs) if len(costs) == len(used) else None
    counts = {name: sum(getattr(usage, name) for usage, _ in used) for name in Usage.model_fields}
    usage = Usage.model_validate({**counts, "estimated": counts["estimated"] > 0})
    return reply.model_copy(update={"usage": usage, "cost": cost, **more})


def _answered_by(answer: Any) -> dict[str, str]:
    # There in a stream, where LiteLLM puts the id that was asked for.
    hidden = getattr(answer, "_hidden_params", None) or {}
    model = hidden.get("provider_response_model") or getattr(answer, "model", None)
    names = {"model": model, "fingerprint": getattr(answer, "system_fingerprint", None)}
    return {field: str(value) for field, value in names.items() if value}
