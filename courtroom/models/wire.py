"""Our messages in the form that OpenAI-compatible providers take."""

import base64
from collections.abc import Sequence
from itertools import chain, count, groupby, pairwise
from math import ceil
from typing import Any

from courtroom.media.medium import Medium
from courtroom.media.pictures import View
from courtroom.media.store import MediaStore
from courtroom.media.videos import clock, nearest
from courtroom.models.prompt_cache import marked_parts
from courtroom.models.request import Message

MARK = {"cache_control": {"type": "ephemeral"}}
"""Stands where a beginning ends that the provider is to keep for a while."""


def to_wire(messages: tuple[Message, ...], media: MediaStore, *, marked: bool = False) -> list[dict[str, Any]]:
    """Messages as plain data. Text alone is one string; with media, parts in order, each medium named before it.
    `marked`: whether the question is sent in its parts, with marks behind those that other calls share."""
    question = next((message for message in messages if message.role == "user"), None) if marked else None
    return [{"role": one.role, "content": _content(one, media, marked=one is question)} for one in messages]


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
    parts = (
        [{"type": "text", "text": content}] if isinstance(content, str) else content for content in (first, second)
    )
    return [*chain.from_iterable(parts)]


def _content(message: Message, media: MediaStore, *, marked: bool) -> str | list[dict[str, Any]]:
    marks = marked_parts(len(message.parts)) if marked else ()
    if not marks and all(isinstance(part, str) for part in message.parts):
        return "\n".join(part for part in message.parts if isinstance(part, str))
    content: list[dict[str, Any]] = []
    number = count()
    for is_text, parts in groupby(enumerate(message.parts), key=lambda part: isinstance(part[1], str)):
        if is_text and not marks:
            content.append({"type": "text", "text": "\n".join(str(part) for _, part in parts)})
            continue
        for place, part in parts:
            if isinstance(part, Medium):
                content += _shown(part, f"{part.kind} {next(number)}", media)
            else:
                content.append({"type": "text", "text": part})
            if place in marks:
                content[-1] |= MARK
    return content


def _shown(medium: Medium, called: str, media: MediaStore) -> list[dict[str, Any]]:
    """A medium under its number in this message, as its file's name may say what it is to prove."""
    if medium.sha256 is None:
        return [{"type": "text", "text": f"[{called}: the file is missing]"}]
    shown: list[dict[str, Any]] = []
    if medium.kind == "image":
        views = (View("", media.image(medium.sha256)),) if medium.views is None else media.sent(medium.sha256).views
        for view in views:
            text = f"{called.capitalize()}{f', {view.label}' if view.label else ''}:"
            shown += [{"type": "text", "text": text}, _picture(view.jpeg)]
        return shown
    frames = media.frames(medium.sha256)
    times = [frame.timestamp_s for frame in frames]
    kept = nearest(times, medium.moments) if medium.moments else range(len(frames))
    kept = kept[:: ceil(len(kept) / (medium.most_frames or len(kept)))]
    shown.append({"type": "text", "text": f"{called.capitalize()}, {len(kept)} frames:"})
    is_close = any(later - earlier < 1 for earlier, later in pairwise(times))
    for place in kept:
        text = f"at {clock(times[place], tenths=is_close)}:"
        shown += [{"type": "text", "text": text}, _picture(frames[place].jpeg)]
    return shown


def _picture(jpeg: bytes) -> dict[str, Any]:
    return {"type": "image_url", "image_url": {"url": f"data:image/jpeg;base64,{base64.b64encode(jpeg).decode()}"}}
