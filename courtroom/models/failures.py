"""What went wrong with a call: whether it may pass, how long to wait, what it is asked again without, and what a user is
shown."""

import asyncio
import json
import logging
import math
import random
import re
import time
import tomllib
from collections.abc import Awaitable, Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeVar

from courtroom.models.bounds import Overlong, WebPage
from courtroom.models.capabilities import ANSWER, CONTEXT, MAX_TOKENS, SCHEMA, SYSTEM
from courtroom.models.card import provider
from courtroom.models.keys import key_name, scrubbed
from courtroom.models.request import CannotSee, ModelError, Request
from courtroom.models.schema import LENGTHS
from courtroom.models.spec import EXTRAS, ModelSpec

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
LONGEST_BACKOFF_S = 20.0
LONGEST_LOADING_S = 120.0
"""How long a server is waited for that is still loading its model."""
LOADING_PAUSE_S = 2.0
EXPLAINED = (
    *("pictures", "keys", "too_long", "memory", "quota"),
    *("too_large", "country", "passing", "unknown_model", "filter"),
)
"""What a server may refuse a request for that no other form of it would mend."""
SENTENCES = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
_PATTERNS = tomllib.loads(Path(__file__).with_name("server_words.toml").read_text(encoding="utf-8"))
WORDS = {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in _PATTERNS.items()}
"""What servers and models say, as patterns by what it means."""
KEYWORDS = (LENGTHS, ("minItems", "maxItems"), ("minimum", "maximum"), ("pattern",), ("additionalProperties",))
"""Of a schema, each with what is left out together."""
PARAMETERS = frozenset({"temperature", "top_p", *EXTRAS}) - {"num_ctx"}
"""What says how a model draws its words, so that an answer is an answer without it."""
_NO_LINE = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror", "SSLError", "ClientSSLError")


Again = Literal["no", "same", "otherwise"]
"""Whether a call that failed is made again; `otherwise`: in a way that its server has not refused yet, at once, and not
counted among the attempts."""


class Incomplete(Exception):
    """A reply that ended before its end."""


class NoAnswer(Incomplete):
    """A whole reply with no answer in it."""


class EmptyStream(Incomplete):
    """A stream that ended without a word. Asked for as a whole, the reply may say why."""


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error came with, if any. LiteLLM gives a 500 to much that came with none."""
    status = getattr(error, "status_code", None)
    if status == 404 and WORDS["no_endpoint"].search(str(error)):
        return 400
    return status if isinstance(status, int) and (status != 500 or _is(error, "HTTPStatusError")) else None


def again_if_it_may_pass(error: BaseException) -> Again:
    """Whether trying again can help: rate limit, time-out, server's fault, a broken line or body."""
    status = getattr(error, "status_code", None)
    if _is(error, Overlong.__name__, WebPage.__name__):
        passes = False
    elif isinstance(error, (TimeoutError, json.JSONDecodeError, ConnectionError, Incomplete)):
        passes = True
    elif not isinstance(status, int) or says(error, "too_long", "memory"):
        passes = False
    elif status == 429:
        passes = not (_is_used_up(error) or WORDS["too_large"].search(str(error)))
    else:
        passes = status in (408, 409, 425) or status >= 500 or (says(error, "passing") and not says(error, "filter"))
    return "same" if passes else "no"


def _is_used_up(error: BaseException) -> bool:
    text = f"{error} {_body(error)}"
    return "insufficient_quota" in text or (
        bool(WORDS["quota"].search(text)) and not WORDS["soon"].search(text) and retry_after(error) is None
    )


def is_loading(error: BaseException | None) -> bool:
    """Whether a server has not loaded its model yet."""
    return error is not None and (status_of(error) or 0) >= 500 and bool(WORDS["loading"].search(str(error)))


def cannot_see(error: BaseException) -> bool:
    """Whether a server says that its model takes no pictures, and leaves no doubt."""
    return (
        says(error, "blind")
        and not WORDS["about_file"].search(str(error))
        and not WORDS["images"].search(str(error).replace("at most 0", ""))
    )


def most_images(error: BaseException) -> int | None:
    """How many pictures a server takes at once, where it refuses more and says so."""
    given = WORDS["images"].search(str(error)) if says(error, "images") else None
    return int(given[1] or given[2]) if given else None


def failed_generation(error: BaseException) -> str:
    """Return what a model said where its provider gives an error in place of an answer that does not fit."""
    body = _body(error)
    said = body.get("failed_generation") if isinstance(body, Mapping) else None
    return said if isinstance(said, str) else ""


def _body(error: BaseException) -> Any:
    return next(filter(None, (getattr(link, "body", None) for link in _chain(error))), None)


def refuses(error: BaseException) -> bool:
    """Whether a server refuses a call. It may do so with a 500: not all tell their faults from ours."""
    in_stream = any((type(link).__module__, type(link).__name__) == ("openai", "APIError") for link in _chain(error))
    status = 500 if in_stream else status_of(error) or 0
    return status == 400 or status >= 500


def says(error: BaseException, *meanings: str) -> bool:
    """Whether a server refuses a call with words of one of these meanings."""
    return refuses(error) and any(WORDS[meaning].search(str(error)) for meaning in meanings)


class Refused(NamedTuple):
    """What a server does not take."""

    values: Mapping[str, int]
    """By the names of `capabilities`, what is kept of each: 0 for what is left out, or how much it takes."""
    is_said: bool
    """Whether the server says so; else it is tried without, and kept if that works."""


def refused(error: BaseException, sent: Mapping[str, Any], *, without_schema: bool) -> Refused | None:
    """Return what is to be left out, or written in another way, when a request is sent again; None where nothing is.
    `sent`: the parameters of the call that was refused. `without_schema`: whether the schema may be left out."""
    if not refuses(error):
        return None
    kept = {SCHEMA} if without_schema and "response_format" in sent else set()
    knobs = PARAMETERS & sent.keys() | ({"thinking_budget"} if "thinking" in sent else set())
    text = str(error)
    if context := WORDS["context"].search(text):
        return Refused({CONTEXT: int(context[1])}, is_said=True)
    if longest := WORDS["answer"].search(text):
        return Refused({ANSWER: int(longest[longest.lastindex or 1])}, is_said=True)
    roles = {SYSTEM} if any(message["role"] == "system" for message in sent["messages"]) else set()
    can = kept | roles | ({MAX_TOKENS} if "max_tokens" in sent else set())
    schema = json.dumps(sent.get("response_format", ""))
    said = [name for name in (SYSTEM, MAX_TOKENS, SCHEMA) if name in can and WORDS[name].search(text)]
    names: list[tuple[str, ...]] = [(name,) for name in said]
    names += [pair for pair in KEYWORDS if any(f'"{name}": ' in schema and _named(name, text) for name in pair)]
    names += [(SCHEMA,)] if kept and WORDS["form"].search(text) else []
    # Of two that may not stand together, the more particular one goes.
    names += [(name,) for name in sorted(knobs, key=lambda name: name == "temperature") if _named(name, text)]
    if names:
        return Refused(dict.fromkeys(names[0], 0), is_said=True)
    # Refused for a reason that nobody here knows: another form may pass.
    is_unexplained = status_of(error) == 400 and not says(error, *EXPLAINED)
    return Refused(dict.fromkeys(kept | knobs, 0), is_said=False) if kept | knobs and is_unexplained else None


def _named(name: str, text: str) -> bool:
    """Whether a name is said not to be wanted, whichever way it is written."""
    plain = name.replace("_", "").lower()
    return bool(WORDS["unwanted"].search(text)) and bool(re.search(rf"\b{plain}\b", text.replace("_", "").lower()))


def prompt_tokens(error: BaseException) -> int | None:
    """Return how many tokens the prompt has, where a refusal says it."""
    counts = WORDS["prompt"].findall(str(error))
    return int(counts[0]) if counts else None


class Attempts:
    """The attempts at one call, up to as many as its model may have. A server that loads its model has not failed yet.

    A loop of its own, as a library's makes several objects for a call that succeeds at once, which is nearly every one.
    """

    def __init__(self, spec: ModelSpec) -> None:
        self._model, self._most = spec.id, spec.attempts
        self.number = 0
        """Of the attempt under way."""
        self._loading = self._otherwise = 0
        self._loading_since = 0.0

    @property
    def is_last(self) -> bool:
        """Whether there will be no further attempt if this one fails."""
        return self.number - self._loading - self._otherwise >= self._most

    async def made(self, work: Callable[[], Awaitable[T]], worth_another: Callable[[Exception], Again]) -> T:
        """What the work comes to, which is done again where that is worth it; else the last error is raised."""
        while True:
            self.number += 1
            try:
                return await work()
            except Exception as error:
                again = worth_another(error)
                if again == "otherwise":
                    self._otherwise += 1
                elif again == "no" or self._are_enough(error):
                    raise
                pause_s = 0.0 if again == "otherwise" else self.pause_s(error)
            await asyncio.sleep(pause_s)

    def _are_enough(self, error: Exception) -> bool:
        """Whether there is no further attempt after this one, which failed."""
        if not is_loading(error):
            return self.is_last
        self._loading += 1
        self._loading_since = self._loading_since or time.monotonic()
        return time.monotonic() - self._loading_since > LONGEST_LOADING_S

    def pause_s(self, error: Exception) -> float:
        """Seconds until the next attempt: none to ask in another way, else as the provider says, else ever longer."""
        said = 0.0 if isinstance(error, EmptyStream) else retry_after(error)
        otherwise = LOADING_PAUSE_S if is_loading(error) else backoff_s(self.number)
        pause_s = otherwise if said is None else said
        log.info("%s: attempt %d: %s; again in %.1f s", self._model, self.number, scrubbed(repr(error)), pause_s)
        return pause_s


def backoff_s(number: int) -> float:
    """Seconds after so many attempts: half a second, twice as long each time, and not the same for all who wait."""
    return min(LONGEST_BACKOFF_S, 0.5 * 2.0 ** (number - 1) + random.uniform(0, 0.5))


def breaks_stream(error: BaseException) -> bool:
    """Whether a stream of which nothing was heard failed as a stream: for no reason that would hold for any call."""
    if isinstance(error, (TimeoutError, asyncio.CancelledError)) or status_of(error) is not None:
        return False
    return not _is(error, *_NO_LINE)


def retry_after(error: BaseException | None) -> float | None:
    """Seconds for which the provider wants no call, as it says or by the date that it names; None where it says neither,
    or what is past."""
    headers = getattr(error, "litellm_response_headers", None) or {}  # LiteLLM empties those of `response`
    text = str(headers.get("retry-after", "")).removesuffix("s")
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return min(seconds, LONGEST_WAIT_S) if seconds >= 0 and not math.isnan(seconds) else None


def _is(error: BaseException, *names: str) -> bool:
    return any(kind.__name__ in names for link in _chain(error) for kind in type(link).__mro__)


def _chain(error: BaseException) -> Iterator[BaseException]:
    link: BaseException | None = error
    for _ in range(20):  # a chain can be a ring
        if link is None:
            return
        yield link
        link = link.__cause__ or link.__context__


def sentence(error: Exception, request: Request) -> ModelError:
    """What a user is shown; the log has the rest, without secrets."""
    spec, status, detail = request.spec, status_of(error), scrubbed(str(error))
    log.warning("%s: %s: %s", spec.id, type(error).__name__, detail)
    fault = next(name for holds, name in _faults(error, request, status, detail) if holds)
    if fault == "pictures":
        return _fewer_pictures(error, status, request)
    said = {"there": spec.connection, "name": key_name(provider(spec.id)), "why": detail[:200] or "it did not say why"}
    return ModelError(SENTENCES[fault].format(model=spec.id, timeout_s=spec.timeout_s, status=status, **said))


def _faults(error: Exception, request: Request, status: int | None, detail: str) -> tuple[tuple[object, str], ...]:
    """What may have gone wrong, of which the first that holds counts, each by its name in `failures.toml`.

    It is `pictures` where fewer pictures can help.
    """
    pictures, served_by = request.pictures, provider(request.spec.id)
    said = {meaning for meaning, pattern in WORDS.items() if pattern.search(detail)}
    refused = status is not None and status < 500
    is_too_large = status in (413, 429) and "too_large" in said
    is_key_refused = status in (401, 403) or (status == 400 and "keys" in said)
    broke_off = isinstance(error, Incomplete) and not isinstance(error, NoAnswer)
    return (
        (isinstance(error, TimeoutError) or status == 408, "late"),
        (status == 504, "late_behind"),
        (status == 402 or (refused and _is_used_up(error)), "used_up"),
        (is_too_large and pictures, "pictures"),
        (is_too_large, "too_large"),
        (status == 429, "too_many"),
        (status is not None and 300 <= status < 400, "redirect"),
        (refused and "filter" in said, "filter"),
        (refused and "country" in said, "country"),
        (status == 403 and str(_body(error)).lstrip()[:1] == "<", "firewall"),
        (is_key_refused, "key_there" if request.spec.connection else "key"),
        (refused and "too_long" in said, "too_long"),
        (refused and pictures and (status in (400, 413, 415) or "pictures" in said), "pictures"),
        (status == 413, "too_long"),
        (refused and not served_by, "no_provider"),
        (status == 404, "unknown"),
        (refused, "refused"),
        (says(error, "memory"), "memory"),
        (says(error, "too_long"), "too_long"),
        (is_loading(error), "loading"),
        (pictures and status is not None and "pictures" in said, "pictures"),
        (not served_by, "no_provider"),
        (status is not None, "failed"),
        (_is(error, "Overlong"), "overlong"),
        (_is(error, "WebPage"), "web_page"),
        (_is(error, *_NO_LINE), "no_line"),
        (broke_off or _is(error, "ReadError", "WriteError", "RemoteProtocolError", "ConnectionError"), "broke_off"),
        (True, "no_reply"),
    )


def _fewer_pictures(error: Exception, status: int | None, request: Request) -> CannotSee:
    """Of a question with pictures: how many it may have as the server says, half where it was too large, else none."""
    model = request.spec.id
    if cannot_see(error):
        return CannotSee(f"{model} does not take pictures.")
    most = most_images(error) or (request.pictures // 2 if status in (413, 429) else 0)
    refused = f"{model} does not take the {request.pictures} pictures of this question."
    return CannotSee(refused, most if most < request.pictures else 0)
