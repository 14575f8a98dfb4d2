"""Our messages in the form that OpenAI-compatible providers take."""

import base64
from collections.abc import Iterable, Sequence
from functools import lru_cache
from itertools import count, groupby, pairwise
from math import ceil
from typing import Any

from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.media.videos import clock
from courtroom.models.request import Message


def to_wire(messages: tuple[Message, ...], media: MediaStore) -> list[dict[str, Any]]:
    """Messages as plain data. Text alone is one string; with media, parts in order, each medium named before it."""
    return [{"role": message.role, "content": _content(message, media)} for message in messages]


def alternating(messages: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """The same said by user and assistant in turn, for models that take no system message or no two of one side."""
    turns: list[dict[str, Any]] = []
    for message in messages:
        role = "assistant" if message["role"] == "assistant" else "user"
        if turns and turns[-1]["role"] == role:
            turns[-1]["content"] = _joined(turns[-1]["content"], message["content"])
        else:
            turns.append({"role": role, "content": message["content"]})
    return turns


def _joined(first: str | list[dict[str, Any]], second: str | list[dict[str, Any]]) -> str | list[dict[str, Any]]:
    if isinstance(first, str) and isinstance(second, str):
        return f"{first}\n\n{second}"
    return [
        part
        for content in (first, second)
        for part in ([{"type": "text", "text": content}] if isinstance(content, str) else content)
    ]


def _content(message: Message, media: MediaStore) -> str | list[dict[str, Any]]:
    if all(isinstance(part, str) for part in message.parts):
        return "\n".join(part for part in message.parts if isinstance(part, str))
    content: list[dict[str, Any]] = []
    number = count()
    for is_text, parts in groupby(message.parts, key=lambda part: isinstance(part, str)):
        if is_text:
            content.append({"type": "text", "text": "\n".join(str(part) for part in parts)})
        else:
            content.extend(
                item
                for part in parts
                if isinstance(part, Medium)
                for item in _shown(part, f"{part.kind} {next(number)}", media)
            )
    return content


def _shown(medium: Medium, called: str, media: MediaStore) -> list[dict[str, Any]]:
    """A medium under its number in this message, as its file's name may say what it is to prove."""
    if medium.sha256 is None:
        return [{"type": "text", "text": f"[{called}: the file is missing]"}]
    if medium.kind == "image":
        if medium.views is None:
            return [{"type": "text", "text": f"{called.capitalize()}:"}, _picture(_image_url(media, medium.sha256))]
        return [
            part
            for label, url in _view_urls(media, medium.sha256)
            for part in (
                {"type": "text", "text": f"{called.capitalize()}{f', {label}' if label else ''}:"},
                _picture(url),
            )
        ]
    frames = _frame_urls(media, medium.sha256)
    kept = nearest([second for second, _ in frames], medium.moments) if medium.moments else range(len(frames))
    kept = kept[:: ceil(len(kept) / (medium.most_frames or len(kept)))]
    shown: list[dict[str, Any]] = [{"type": "text", "text": f"{called.capitalize()}, {len(kept)} frames:"}]
    is_close = any(later - earlier < 1 for (earlier, _), (later, _) in pairwise(frames))
    for place in kept:
        second, url = frames[place]
        shown += [{"type": "text", "text": f"at {clock(second, tenths=is_close)}:"}, _picture(url)]
    return shown


def nearest(seconds: Sequence[float], moments: Iterable[float]) -> list[int]:
    """The places of the frames nearest to the moments, each once and in the order of the video; all times in seconds."""
    return sorted({min(range(len(seconds)), key=lambda i: abs(seconds[i] - moment)) for moment in moments if seconds})


def _picture(url: str) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": url}}


@lru_cache(maxsize=128)
def _image_url(media: MediaStore, sha256: str) -> str:
    return _url(media.image(sha256))


@lru_cache(maxsize=16)
def _view_urls(media: MediaStore, sha256: str) -> tuple[tuple[str, str], ...]:
    return tuple((view.label, _url(view.jpeg)) for view in media.sent(sha256).views)


@lru_cache(maxsize=16)
def _frame_urls(media: MediaStore, sha256: str) -> tuple[tuple[float, str], ...]:
    return tuple((frame.timestamp_s, _url(frame.jpeg)) for frame in media.frames(sha256))


def _url(jpeg: bytes) -> str:
    return "data:image/jpeg;base64," + base64.b64encode(jpeg).decode()
