"""What the app takes from a browser.

Streamlit answers every message of its protocol, takes and gives out every file, to whoever has opened a web socket,
also before signing in, and has no setting for this. `guard` replaces some of its methods, once a process, as `app.py`
starts; what they let through is below. A test fails when a new version has other kinds of messages.
"""

import asyncio
import logging
import time
from collections import deque
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from dataclasses import dataclass, field
from functools import partial, partialmethod
from typing import Annotated, Any
from weakref import WeakKeyDictionary

from pydantic import Field, TypeAdapter
from starlette.datastructures import MutableHeaders
from starlette.exceptions import HTTPException
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from streamlit import config, runtime
from streamlit.proto.BackMsg_pb2 import BackendOperationRequest, BackMsg
from streamlit.runtime import Runtime
from streamlit.runtime.app_session import AppSession
from streamlit.runtime.media_file_storage import MediaFileStorageError
from streamlit.runtime.memory_media_file_storage import MemoryMediaFileStorage
from streamlit.runtime.memory_uploaded_file_manager import MemoryUploadedFileManager
from streamlit.runtime.scriptrunner import add_script_run_ctx, get_script_run_ctx
from streamlit.runtime.state.session_state import Value, WStates

from courtroom.access import Access, Account, Forbidden, acting_account, may
from courtroom.errors import CourtroomError
from courtroom.settings import from_environment
from courtroom.store.connection import FAILURES

log = logging.getLogger("courtroom")

ANSWERED = {"rerun_script", "app_heartbeat", "stop_script", "file_urls_request", "backend_operation_request"}
"""The messages that pages need. `stop_script` stops the session's own page while it is drawn."""
LONGEST_ID = 100
"""Characters of the id that a browser gives to a request."""
AT_ONCE, A_SECOND, MOST_WAITING = 20, 5.0, 100
"""Messages of one session that are answered at once and each second after that, and that may wait; more are dropped.
Without a bound one session would draw so many pages that no other is answered."""
MOST_HELD = 30 * 2**20
"""Bytes of a session's messages that wait. Streamlit takes messages of 25 MB, also from who has not signed in."""
NUMBERS = {"int_value", "double_value"}
"""A browser sends a whole number as such, also for a widget that takes any number."""
UPLOADER = "file_uploader_state_value"
MOST_FILES = 1_000
"""Files that a session keeps at once, and asks addresses for in one message."""
Plain = Annotated[str, Field(max_length=1_000)] | Annotated[int, Field(ge=-(2**31), lt=2**31)] | bool | None
COMPONENT: dict[str, TypeAdapter[Any]] = {
    "json_value": TypeAdapter(Annotated[dict[str, Plain], Field(max_length=20)]),
    "json_trigger_value": TypeAdapter(Annotated[list[dict[str, Plain]], Field(max_length=20)]),
}
"""What our components send: their state, and what was clicked."""
SWEEP_S = 30.0

_shown: dict[str, WeakKeyDictionary[AppSession, Account | None]] = {}
"""For each file of pages: the sessions that may fetch it, each with the account for which it was made."""
_lookup = ThreadPoolExecutor(2, "account")


def guard() -> None:
    """Put our conditions before Streamlit's methods, where that has not been done yet."""
    for owner, name, condition in PLACES:
        if not isinstance(method := vars(owner)[name], partialmethod):
            setattr(owner, name, partialmethod(condition, method))


def still(before: Account | None) -> bool:
    """Whether the person who acts may at least what an account could: access was not taken, and no link has ended."""
    try:
        now = acting_account()
    except Forbidden:
        return False
    if before is None or now is None:
        return before is now
    return now.id == before.id and now.access >= before.access and now.opened >= before.opened


def _now(session: AppSession, question: Callable[[], bool]) -> bool:
    """The answer to a question about the person of a session, whose account is looked up at this moment."""
    context = session.create_detached_script_run_ctx(query_string="", context_info=None)

    def ask() -> bool:
        add_script_run_ctx(ctx=context)
        return question()

    try:
        return _lookup.submit(ask).result()
    except (CourtroomError, *FAILURES):
        log.exception("an account could not be looked up")
        return False


# --- messages -----------------------------------------------------------------------------------------------


@dataclass
class Pace:
    """How many messages of a session may be answered now, and those that wait."""

    left: float = AT_ONCE
    at: float = field(default_factory=time.monotonic)
    waiting: deque[BackMsg] = field(default_factory=deque)

    def free(self) -> bool:
        """Whether one more may be answered at once."""
        now = time.monotonic()
        self.left, self.at = min(AT_ONCE, self.left + (now - self.at) * A_SECOND), now
        if self.waiting or self.left < 1:
            return False
        self.left -= 1
        return True

    def has_room(self, message: BackMsg) -> bool:
        """Whether this one may wait, too."""
        held = sum(one.ByteSize() for one in self.waiting) + message.ByteSize()
        return len(self.waiting) < MOST_WAITING and held <= MOST_HELD


_paces: WeakKeyDictionary[AppSession, Pace] = WeakKeyDictionary()


Handle = Callable[[AppSession, BackMsg], None]


def _handle_message(session: AppSession, handle: Handle, message: BackMsg) -> None:
    kind = message.WhichOneof("type")
    if kind == "app_heartbeat" or (kind in ANSWERED and (pace := _paces.setdefault(session, Pace())).free()):
        _answer(handle, session, message)
    elif kind in ANSWERED and pace.has_room(message):
        pace.waiting.append(message)
        if len(pace.waiting) == 1:
            asyncio.get_running_loop().call_later(1 / A_SECOND, _answer_next, handle, session, pace)


def _answer_next(handle: Handle, session: AppSession, pace: Pace) -> None:
    if runtime.get_instance().get_client(session.id) is None:
        pace.waiting.clear()
        return
    _answer(handle, session, pace.waiting.popleft())
    if pace.waiting:
        asyncio.get_running_loop().call_later(1 / A_SECOND, _answer_next, handle, session, pace)


def _answer(handle: Handle, session: AppSession, message: BackMsg) -> None:
    kind = message.WhichOneof("type")
    if kind == "backend_operation_request":
        request = message.backend_operation_request
        if len(request.request_id) > LONGEST_ID:
            return
        if not _offered(session, request):
            request.ClearField(request.WhichOneof("payload") or "deferred_file")  # Streamlit answers that it can't
    if kind == "file_urls_request" and not _may_upload(session, len(message.file_urls_request.file_names)):
        return
    handle(session, message)


@dataclass(frozen=True)
class Download:
    """What makes a file on a click, and whether the person who acts may have it."""

    make: Callable[[], bytes]
    allowed: Callable[[], bool]

    def __call__(self) -> bytes:
        return self.make()


def _offered(session: AppSession, request: BackendOperationRequest) -> bool:
    """Whether this is a click on a download of the session, by who may have it now."""
    offers = runtime.get_instance().media_file_mgr._deferred_callables
    offer = offers.get(request.deferred_file.file_id) if request.WhichOneof("payload") == "deferred_file" else None
    if offer is None or offer["session_id"] != session.id or not isinstance(offer["callable"], Download):
        return False
    return _now(session, offer["callable"].allowed)


def _value(states: WStates, read: Callable[[WStates, str], Any], widget: str) -> Any:
    """A widget's value that the page could not have sent is as if the widget had not been touched."""
    about, state = states.widget_metadata.get(widget), states.states.get(widget)
    if about is None or state is None or isinstance(state, Value):
        return read(states, widget)
    sent = state.value.WhichOneof("value")
    try:
        if sent != about.value_type and {sent, about.value_type} != NUMBERS:
            raise ValueError(sent, about.value_type)  # sent, and what the widget has
        if sent in COMPONENT:
            COMPONENT[sent].validate_json(getattr(state.value, sent))
        value = read(states, widget)
        states.get_serialized(widget)  # a choice that was not offered can be read, and not sent back
        return value
    except (ValueError, TypeError, AttributeError, LookupError, ArithmeticError, RecursionError) as error:
        log.warning("a widget was sent a value that does not fit: %.300s", error)
        untouched = about.deserializer(None)
        states.states[widget] = Value(untouched)
        return untouched


# --- uploads ------------------------------------------------------------------------------------------------


def _may_upload(session: AppSession, files: int = 1) -> bool:
    """Whether the session's page has an uploader, and its person may look around."""
    state = session.session_state
    drawn = {*state._old_state, *state._new_widget_state.states}
    widgets = list(state._new_widget_state.widget_metadata.values())
    has_uploader = any(one.value_type == UPLOADER and one.id in drawn for one in widgets)
    return has_uploader and files <= MOST_FILES and _now(session, lambda: may(Access.LOOK))


def _is_active(own: Runtime, is_active: Callable[[Runtime, str], bool], name: str) -> bool:
    """Streamlit asks this before it reads the first byte of an upload."""
    session = own.get_app_session(name)
    return is_active(own, name) and session is not None and _may_upload(session)


def _add_file(manager: MemoryUploadedFileManager, add: Callable[..., None], session_id: str, file: Any) -> None:
    settings = from_environment()
    kept = {name: [len(one.data) for one in list(files.values())] for name, files in list(manager.file_storage.items())}
    own = kept.get(session_id, [])
    everything = sum(map(sum, kept.values())) + len(file.data)
    if len(own) >= MOST_FILES or sum(own) + len(file.data) > settings.upload_session_mb * 2**20:
        raise HTTPException(413, "This page keeps no more files. Remove some, or load the page again.")
    if everything > settings.upload_server_mb * 2**20:
        raise HTTPException(413, "The server keeps no more files at this time. Try again in some minutes.")
    add(manager, session_id, file)
    if not any(kept.values()):
        with suppress(RuntimeError):  # in a test of a page nothing runs that could sweep
            asyncio.get_running_loop().call_later(SWEEP_S, _sweep, manager, {})


def _sweep(manager: MemoryUploadedFileManager, left: dict[str, float]) -> None:
    """Remove the files of sessions that have ended: Streamlit does so only when another session comes."""
    now, own = time.monotonic(), runtime.get_instance()
    connected = {name: own.get_client(name) is not None for name in list(manager.file_storage)}
    left = {name: left.get(name, now) for name, there in connected.items() if not there}
    for name, since in left.items():
        if now - since >= config.get_option("server.disconnectedSessionTTL"):
            manager.remove_session_files(name)
    if any(manager.file_storage.values()):
        asyncio.get_running_loop().call_later(SWEEP_S, _sweep, manager, left)


# --- files that pages show and give -------------------------------------------------------------------------


def _load(storage: MemoryMediaFileStorage, load: Callable[..., str], *given: Any, **named: Any) -> str:
    file, context = load(storage, *given, **named), get_script_run_ctx(suppress_warning=True)
    session = runtime.get_instance().get_app_session(context.session_id) if context and runtime.exists() else None
    if session is not None:
        _shown.setdefault(file, WeakKeyDictionary())[session] = acting_account()
    return file


def _get_file(storage: MemoryMediaFileStorage, get: Callable[..., Any], filename: str) -> Any:
    shown = _shown.get(filename.partition(".")[0])
    fetched = get_script_run_ctx(suppress_warning=True) is None  # else a page asks for the address
    if fetched and shown is not None:
        sessions = [(session, partial(still, account)) for session, account in list(shown.items())]
        if not any(_now(session, may_fetch) for session, may_fetch in sessions):
            raise MediaFileStorageError("nobody who is here may see this file")
    return get(storage, filename)


def _delete_file(storage: MemoryMediaFileStorage, delete: Callable[..., None], file_id: str) -> None:
    _shown.pop(file_id, None)
    delete(storage, file_id)


SAFE = {"X-Content-Type-Options": "nosniff"}
OF_MEDIA = {
    "Content-Security-Policy": "default-src 'none'; style-src 'unsafe-inline'; media-src 'self'; sandbox",
    "Cache-Control": "private, no-cache",
}
"""With these nothing runs in a file that is opened by its address, and each time it is asked for again."""


def with_headers(app: ASGIApp) -> ASGIApp:
    """Tell browsers that a file is what its type says, and that one from a case is no page of ours."""

    async def asked(scope: Scope, receive: Receive, send: Send) -> None:
        added = SAFE | OF_MEDIA if "/media/" in scope.get("path", "") else SAFE

        async def answer(message: Message) -> None:
            if message["type"] == "http.response.start":
                MutableHeaders(scope=message).update(added)
            await send(message)

        await app(scope, receive, answer)

    return asked


PLACES: tuple[tuple[type, str, Callable[..., Any]], ...] = (
    (AppSession, "handle_backmsg", _handle_message),
    (WStates, "__getitem__", _value),
    (Runtime, "is_active_session", _is_active),
    (MemoryUploadedFileManager, "add_file", _add_file),
    (MemoryMediaFileStorage, "load_and_get_id", _load),
    (MemoryMediaFileStorage, "get_file", _get_file),
    (MemoryMediaFileStorage, "delete_file", _delete_file),
)
