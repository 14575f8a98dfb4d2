"""What went wrong with a call: whether it may pass, how long to wait, and what a user is shown."""

import asyncio
import json
import logging
import math
import random
import re
import time
from collections.abc import Awaitable, Callable, Iterator, Mapping
from email.utils import parsedate_to_datetime
from enum import Enum, auto
from typing import Any, TypeVar

from courtroom.models.bounds import Overlong, WebPage
from courtroom.models.card import provider
from courtroom.models.errors import CannotSee, ModelError
from courtroom.models.keys import key_name, scrubbed
from courtroom.models.request import Request
from courtroom.models.spec import ModelSpec

log = logging.getLogger(__name__)

T = TypeVar("T")

LONGEST_WAIT_S = 60.0
LONGEST_BACKOFF_S = 20.0
LONGEST_LOADING_S = 120.0
"""How long a server is waited for that is still loading its model."""
LOADING_PAUSE_S = 2.0
_PICTURES = re.compile(r"image|picture|vision|visual|multi-?modal", re.IGNORECASE)
_BLIND = re.compile(
    r"missing data required for image input|mmproj|at most 0 image|image_url is only supported by|endpoints found that support image"
    r"|(image|vision|multi-?modal)[^.\n]{0,40}(not|n't|never) (be )?(support|enabl|available)"
    r"|(not|n't|cannot|no) (a |an )?(support|accept|take|see|allow|vision|multi-?modal)[^.\n]{0,40}(image"
    r"|picture|vision|model)",
    re.IGNORECASE,
)
_ABOUT_FILE = re.compile(
    r"(image|picture)s? (file|format|size|dimension|resolution)|(format|size|type) of|(invalid|unsupported"
    r"|corrupt\w*) (image|picture)"
    r"|mime|media.type",
    re.IGNORECASE,
)
"""What is wrong with one picture, which says nothing of others."""
_NO_SIZE = r"(?![\d.,]|\s*(?:[kKmMgG]i?B|bytes|px|pixel|token))"
_IMAGES = re.compile(
    rf"(?:at most|up to|max\w*(?: is| of)?|limit\w*(?: is| of| to)?|more than"
    rf"|only)\D{{0,30}}?(\d{{1,3}}){_NO_SIZE}\s*(?:image|picture|photo)"
    rf"|(?:image|picture|photo)s?\b[^.\n]{{0,60}}(?:at most|max\w*(?: is| of)?|limit\w*(?: is| of| to)?"
    rf"|>)\D{{0,20}}(\d{{1,3}}){_NO_SIZE}",
    re.IGNORECASE,
)
_KEYS = re.compile(r"api[ _-]?key", re.IGNORECASE)
_TOO_LONG = re.compile(
    r"context (length|window|size|limit)|ContextWindowExceeded|too many tokens|`inputs` tokens|(prompt|input) is too long|输入长度|上下文",
    re.IGNORECASE,
)
_MEMORY = re.compile(r"requires more (system |gpu )?memory", re.IGNORECASE)
_LOADING = re.compile(r"loading model|model is (still |currently )?loading|is currently loading", re.IGNORECASE)
_QUOTA = re.compile(
    r"insufficient[_ ](quota|credit|fund|balance)|exceeded your current quota|credit balance|(quota|balance"
    r"|credits?) (is |are )?(used up|exhausted)"
    r"|billing|payment required|arrearage|余额不足|额度|欠费",
    re.IGNORECASE,
)
_SOON = re.compile(r"(retry|again) in|per (minute|second|day)|rate limit", re.IGNORECASE)
"""Of a quota that fills up again by itself."""
_TOO_LARGE = re.compile(r"request (is )?too large|larger than the[^.\n]{0,20} limit", re.IGNORECASE)
_COUNTRY = re.compile(
    r"(country|region|territory|location)[^\n]{0,40}(not|un)[ -]?(support|available|allow)", re.IGNORECASE
)
_NO_ENDPOINT = re.compile(r"no endpoints found (that|matching)", re.IGNORECASE)
"""Of a model that OpenRouter has, and of which no server takes what is asked of it."""
_PASSING = re.compile(
    r"try again|retry(?! your request with)|right now|temporar|failed to generate json|json_validate_failed",
    re.IGNORECASE,
)
"""Of a refusal that does not hold for long."""
_UNKNOWN_MODEL = re.compile(
    r"model[^.\n]{0,80}(not (found|exist)|n't exist|unknown|no such)|(invalid|unknown|no such) model", re.IGNORECASE
)
_NO_LINE = ("ConnectError", "ConnectTimeout", "ConnectionRefusedError", "gaierror", "SSLError", "ClientSSLError")
_FILTER = re.compile(
    r"content[ _](management[ _])?(policy|filter)|safety (system|settings)|moderation|flagged|ContentPolicyViolation"
    r"|data_inspection|inappropriate content|content exists risk|sensitive (content|information)|敏感|违规",
    re.IGNORECASE,
)


class Incomplete(Exception):
    """A reply that ended before its end."""


class NoAnswer(Incomplete):
    """A whole reply with no answer in it."""


class EmptyStream(Incomplete):
    """A stream that ended without a word. Asked for as a whole, the reply may say why."""


def status_of(error: BaseException) -> int | None:
    """The HTTP status that an error came with, if any. LiteLLM gives a 500 to much that came with none."""
    status = getattr(error, "status_code", None)
    if not isinstance(status, int):
        return None
    if status == 404 and _NO_ENDPOINT.search(str(error)):
        return 400
    return status if status != 500 or _is(error, "HTTPStatusError") else None


def may_pass(error: BaseException) -> bool:
    """Whether trying again can help: rate limit, time-out, server's fault, a broken line or body."""
    if _is(error, Overlong.__name__, WebPage.__name__):
        return False
    if isinstance(error, (TimeoutError, json.JSONDecodeError, ConnectionError, Incomplete)):
        return True
    status = getattr(error, "status_code", None)
    if not isinstance(status, int) or says(error, _TOO_LONG, _MEMORY):
        return False
    if status == 429:
        return not (_is_used_up(error) or _TOO_LARGE.search(str(error)))
    return status in (408, 409, 425) or status >= 500 or (says(error, _PASSING) and not says(error, _FILTER))


def _is_used_up(error: BaseException) -> bool:
    text = f"{error} {_body(error)}"
    return "insufficient_quota" in text or (
        bool(_QUOTA.search(text)) and not _SOON.search(text) and retry_after(error) is None
    )


def is_loading(error: BaseException | None) -> bool:
    """Whether a server has not loaded its model yet."""
    return error is not None and (status_of(error) or 0) >= 500 and bool(_LOADING.search(str(error)))


def cannot_see(error: BaseException) -> bool:
    """Whether a server says that its model takes no pictures, and leaves no doubt."""
    return (
        says(error, _BLIND)
        and not _ABOUT_FILE.search(str(error))
        and not _IMAGES.search(str(error).replace("at most 0", ""))
    )


def most_images(error: BaseException) -> int | None:
    """How many pictures a server takes at once, where it refuses more and says so."""
    given = _IMAGES.search(str(error)) if says(error, _IMAGES) else None
    return int(given[1] or given[2]) if given else None


def is_unexplained(error: BaseException) -> bool:
    """Whether a server refuses a request for a reason that nobody here knows, so that another form may pass."""
    known = (_PICTURES, _KEYS, _TOO_LONG, _MEMORY, _QUOTA, _TOO_LARGE, _COUNTRY, _PASSING, _UNKNOWN_MODEL, _FILTER)
    return status_of(error) == 400 and not says(error, *known)


def failed_generation(error: BaseException) -> str:
    """Return what a model said where its provider gives an error in place of an answer that does not fit."""
    body = _body(error)
    said = body.get("failed_generation") if isinstance(body, Mapping) else None
    return said if isinstance(said, str) else ""


def _body(error: BaseException) -> Any:
    return next(filter(None, (getattr(link, "body", None) for link in _chain(error))), None)


def says(error: BaseException, *patterns: re.Pattern[str]) -> bool:
    """Whether a server refuses a call with such words. It may do so with a 500: not all tell their faults from ours."""
    in_stream = any((type(link).__module__, type(link).__name__) == ("openai", "APIError") for link in _chain(error))
    status = 500 if in_stream else status_of(error) or 0
    return (status == 400 or status >= 500) and any(pattern.search(str(error)) for pattern in patterns)


class Again(Enum):
    """Whether a call that failed is made again."""

    NO = auto()
    SAME = auto()
    OTHERWISE = auto()
    """In a way that its server has not refused yet: at once, and not counted among the attempts."""


def again_if_it_may_pass(error: BaseException) -> Again:
    """Return whether the same call is to be made again."""
    return Again.SAME if may_pass(error) else Again.NO


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
                if again is Again.OTHERWISE:
                    self._otherwise += 1
                elif again is Again.NO or self._are_enough(error):
                    raise
                pause_s = 0.0 if again is Again.OTHERWISE else self.pause_s(error)
            await asyncio.sleep(pause_s)

    def _are_enough(self, error: Exception) -> bool:
        """Whether there is no further attempt after this one, which failed."""
        if not is_loading(error):
            return self.is_last
        self._loading += 1
        if self._loading == 1:
            self._loading_since = time.monotonic()
        return time.monotonic() - self._loading_since > LONGEST_LOADING_S

    def pause_s(self, error: Exception) -> float:
        """Seconds until the next attempt: none to ask in another way, else as the provider says, else ever longer."""
        if isinstance(error, EmptyStream):
            pause_s = 0.0
        elif (seconds := retry_after(error)) is not None:
            pause_s = seconds
        else:
            pause_s = LOADING_PAUSE_S if is_loading(error) else backoff_s(self.number)
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
    """Seconds for which the provider wants no call; None where it does not say."""
    headers = getattr(error, "litellm_response_headers", None) or {}  # LiteLLM empties those of `response`
    text = _seconds(str(headers.get("retry-after", "")).removesuffix("s"))
    return None if text is None else min(text, LONGEST_WAIT_S)


def _seconds(text: str) -> float | None:
    """What a `Retry-After` asks for, in seconds or as a date; None where it is neither, or already past."""
    try:
        seconds = float(text)
    except ValueError:
        try:
            seconds = parsedate_to_datetime(text).timestamp() - time.time()
        except (ValueError, TypeError, OverflowError):
            return None
    return seconds if seconds >= 0 and not math.isnan(seconds) else None


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
    model, status, detail = request.spec.id, status_of(error), scrubbed(str(error))
    log.warning("%s: %s: %s", model, type(error).__name__, detail)
    if isinstance(error, TimeoutError) or status == 408:
        return ModelError(f"{model} did not answer within {request.spec.timeout_s:g} s. Try again, or allow more time.")
    if status == 504:
        return ModelError(f"The server of {model} got no answer from the model in time (status 504). Try again later.")
    if status == 402 or (status is not None and status < 500 and _is_used_up(error)):
        return ModelError(f"What was paid for {model} at its provider is used up. Pay in there, or take another model.")
    if status in (413, 429) and _TOO_LARGE.search(detail):
        if request.pictures:
            return _fewer_pictures(error, status, request)
        return ModelError(
            f"One question to {model} is larger than its provider lets this key ask. "
            "Take another model, or a larger plan."
        )
    if status == 429:
        return ModelError(f"{model} allows no more calls for now. Wait a little, or lower the calls at once.")
    if status is not None and status < 500:
        return _refusal(error, status, detail, request)
    if says(error, _MEMORY):
        return ModelError(f"The server of {model} has too little memory for it. Take a smaller model.")
    if says(error, _TOO_LONG):
        return _too_long(model)
    if is_loading(error):
        return ModelError(f"The server of {model} is still loading it. Wait until it has, then continue.")
    if request.pictures and status is not None and _PICTURES.search(detail):
        return _fewer_pictures(error, status, request)
    if not provider(model):
        return ModelError(f"{model} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    if status is not None:
        return ModelError(f"The server of {model} failed (status {status}). Look at its log, then continue.")
    return _without_status(error, model)


def _refusal(error: Exception, status: int, detail: str, request: Request) -> ModelError:
    model = request.spec.id
    if 300 <= status < 400:
        return ModelError(
            f"The server of {model} sends calls on to another address, which is not followed. Set that address instead."
        )
    if _FILTER.search(detail):
        return ModelError(
            f"The provider's filter refused what {model} was asked. Change the case's words, or take another model."
        )
    if _COUNTRY.search(detail):
        return ModelError(f"{model} is not offered in the country from which this server asks. Take another model.")
    if status == 403 and str(_body(error)).lstrip()[:1] == "<":
        return ModelError(
            f"Something before {model}, such as a firewall, refuses the call with a web page; the key was not looked "
            "at. Ask whoever looks after the network."
        )
    if status in (401, 403) or (status == 400 and _KEYS.search(detail)):
        if there := request.spec.connection:
            return ModelError(f"The key for {model} at {there} was refused. Ask the server's owner for another.")
        name = key_name(provider(model))
        return ModelError(f"The key for {model} was refused. Set {name}, or type it on the Setup page.")
    if _TOO_LONG.search(detail):
        return _too_long(model)
    if request.pictures and (status in (400, 413, 415) or _PICTURES.search(detail)):
        return _fewer_pictures(error, status, request)
    if status == 413:
        return _too_long(model)
    if not provider(model):
        return ModelError(f"{model} names no provider. Write it as provider/model, such as openai/gpt-4o-mini.")
    if status == 404:
        return ModelError(f"{model} is not known to its provider. Check the model's id.")
    return ModelError(f"{model} refused the request: {detail[:200] or 'it did not say why'}")


def _fewer_pictures(error: Exception, status: int, request: Request) -> CannotSee:
    """Of a question with pictures: how many it may have as the server says, half where it was too large, else none."""
    model = request.spec.id
    if cannot_see(error):
        return CannotSee(f"{model} does not take pictures.")
    most = most_images(error) or (request.pictures // 2 if status in (413, 429) else 0)
    return CannotSee(
        f"{model} does not take the {request.pictures} pictures of this question.",
        most if most < request.pictures else 0,
    )


def _too_long(model: str) -> ModelError:
    return ModelError(f"What is asked is too long for {model}. Take a model with a longer context.")


def _without_status(error: Exception, model: str) -> ModelError:
    if _is(error, "Overlong"):
        return ModelError(f"{model} sent far more than the longest answer allows, so it was cut. Take another model.")
    if _is(error, "WebPage"):
        return ModelError(
            f"What answers in place of {model} is a web page, such as a sign-in. Check its address, and the network."
        )
    if _is(error, *_NO_LINE):
        return ModelError(f"{model} could not be reached: no connection. Check the server and its address.")
    broken = isinstance(error, Incomplete) and not isinstance(error, NoAnswer)
    if broken or _is(error, "ReadError", "WriteError", "RemoteProtocolError", "ConnectionError"):
        return ModelError(f"The reply of {model} broke off. Check the server and the line to it, then continue.")
    return ModelError(
        f"What came from the server of {model} is no whole reply of a model. Check its address and its log."
    )
