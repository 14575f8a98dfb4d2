"""Videos through OpenCV: what they are, and frames spread evenly over them."""

import os
from bisect import bisect_left
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from courtroom.errors import MediaError
from courtroom.media.medium import FRAMES_OF_A_VIDEO
from courtroom.media.pictures import MAX_PIXELS, as_listed

MAX_VIDEO_BYTES = 200 * 2**20
MAX_VIDEO_FRAMES = 108_000
"""An hour at 30 frames a second; a small file can claim to play for years."""
FRAME_SIDE = 768
WHOLE = 0.9
"""A video that ends before this share of its announced frames and length is taken for cut off."""


@dataclass(frozen=True)
class Frame:
    """One frame of a video; its longer side has at most 768 pixels."""

    timestamp_s: float
    jpeg: bytes


def clock(seconds: float, *, tenths: bool = False) -> str:
    """Return a point in a video as mm:ss, or as mm:ss.t."""
    whole = f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"
    return f"{whole}.{int(seconds * 10) % 10}" if tenths else whole


def inspect_video(path: Path, name: str) -> tuple[str, ...]:
    """Read a video through once, and give a remark where its name says something else than what it is. Raises
    `MediaError`: it can't be used; the sentence says why."""
    size = path.stat().st_size
    if size == 0:
        raise MediaError(f"{name} is empty. Export the video again.")
    if size > MAX_VIDEO_BYTES:
        limit = MAX_VIDEO_BYTES // 2**20
        raise MediaError(f"{name} has {size / 2**20:.0f} MB; videos may have {limit} MB. Save it smaller.")
    with path.open("rb") as file:
        remarks = as_listed("video", file.read(16), name)
    times = _times(path, name)
    with _captured(path) as (cv2, capture):
        announced, fps = int(capture.get(cv2.CAP_PROP_FRAME_COUNT)), float(capture.get(cv2.CAP_PROP_FPS))
    # With a varying frame rate the announced number may be a guess, so the length has to fall short too.
    if fps > 0 and len(times) < WHOLE * announced and times[-1] < WHOLE * announced / fps - 1 / fps:
        ends, says = clock(times[-1]), clock(announced / fps)
        raise MediaError(f"{name} is cut off: it ends at {ends} but says it lasts {says}. Export the video again.")
    return remarks


def sample_frames(path: Path, name: str, count: int) -> tuple[Frame, ...]:
    """The frames nearest to `count` evenly spread times, first and last included; each frame once. Times are those
    the container gives for each frame, so that a variable frame rate is no problem. Raises `MediaError`: not one
    frame can be read."""
    times = _times(path, name)
    count = max(1, min(count, FRAMES_OF_A_VIDEO))
    step = (times[-1] - times[0]) / (count - 1) if count > 1 else 0.0
    places = nearest(times, [times[0] + number * step for number in range(count)])
    frames = []
    with _captured(path) as (cv2, capture):
        for number in range(places[-1] + 1):
            if not capture.grab():
                break
            if number in places:
                frames.append(Frame(round(times[number], 3), _jpeg(cv2, capture.retrieve()[1])))
    return tuple(frames)


def nearest(seconds: Sequence[float], moments: Iterable[float]) -> list[int]:
    """Return the places of the frames nearest to the moments, each once, in the video's order; times in seconds."""
    places = set()
    for moment in moments if seconds else ():
        after = min(bisect_left(seconds, moment), len(seconds) - 1)
        before = max(after - 1, 0)
        places.add(before if moment - seconds[before] <= seconds[after] - moment else after)
    return sorted(places)


def _jpeg(cv2: Any, picture: Any) -> bytes:
    height, width = picture.shape[:2]
    if (scale := FRAME_SIDE / max(height, width)) < 1:
        size = (max(1, int(width * scale)), max(1, int(height * scale)))
        picture = cv2.resize(picture, size, interpolation=cv2.INTER_AREA)
    data: bytes = cv2.imencode(".jpg", picture)[1].tobytes()
    return data


def _times(path: Path, name: str) -> list[float]:
    times: list[float] = []
    with _captured(path) as (cv2, capture):
        rate = capture.get(cv2.CAP_PROP_FPS)
        pixels = capture.get(cv2.CAP_PROP_FRAME_WIDTH) * capture.get(cv2.CAP_PROP_FRAME_HEIGHT)
        if pixels > MAX_PIXELS:
            raise MediaError(f"{name} has frames of too many pixels to look at. Save it smaller.")
        while capture.grab():
            at = max(0.0, capture.get(cv2.CAP_PROP_POS_MSEC) / 1000)
            if times and at <= times[-1]:  # a container without times of its own: go by the frame rate
                at = times[-1] + (1 / rate if rate > 0 else 0.04)
            times.append(at)
            if len(times) > MAX_VIDEO_FRAMES:
                raise MediaError(f"{name} has more than {MAX_VIDEO_FRAMES:,} frames. Cut it to what matters.")
    if not times:
        raise MediaError(f"{name} is no video that can be read, or it is cut off. Export it again as MP4 or WebM.")
    return times


@contextmanager
def _captured(path: Path) -> Iterator[tuple[Any, Any]]:
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # read when cv2 first opens a file
    import cv2  # takes 0.2 s and 60 MB, which only cases with videos should cost

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    # FFmpeg alone: other backends take a file name for a camera or a pattern of pictures.
    capture = cv2.VideoCapture(str(path), cv2.CAP_FFMPEG)
    try:
        yield cv2, capture
    finally:
        capture.release()
