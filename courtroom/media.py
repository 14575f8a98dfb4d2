"""Pictures through Pillow, videos through OpenCV, and a store of both by content."""

from __future__ import annotations

import hashlib
import io
import os
import tempfile
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import Any

from PIL import Image, ImageOps, UnidentifiedImageError

from courtroom.case import MediumKind
from courtroom.errors import MediaError

MAX_IMAGE_BYTES = 25 * 2**20
MAX_VIDEO_BYTES = 200 * 2**20
MAX_PIXELS = 50_000_000
"""A picture that claims more pixels than this is refused before it is decoded."""
MAX_FRAMES = 30
"""Frames of a video that are looked at, at most (section 5 of the CyberJurors paper)."""

IMAGE_TYPES = {"PNG": (".png",), "JPEG": (".jpg", ".jpeg"), "WEBP": (".webp",), "GIF": (".gif",)}
VIDEO_TYPES = (".mp4", ".webm", ".mov", ".avi", ".mkv", ".m4v")


@dataclass(frozen=True)
class Frame:
    """One frame of a video."""

    timestamp_s: float
    jpeg: bytes


@dataclass(frozen=True)
class VideoFacts:
    """What is known of a video after opening it."""

    duration_s: float
    width: int
    height: int


def clock(seconds: float) -> str:
    """A point in a video as mm:ss."""
    return f"{int(seconds) // 60:02d}:{int(seconds) % 60:02d}"


def check_image(data: bytes, name: str) -> None:
    """Decode a picture once.

    Raises:
        MediaError: too large, no picture, cut off, or of another type than its name says.
    """
    if not data:
        raise MediaError(f"{name} is empty. Export the picture again.")
    if len(data) > MAX_IMAGE_BYTES:
        raise MediaError(f"{name} has {len(data) / 2**20:.0f} MB; pictures may have 25 MB. Save it smaller.")
    if (found := _video_type(data)) is not None:
        raise MediaError(f"{name} is listed as a picture but is a {found} video. Set its kind to “video”.")
    image = _opened(data, name)
    expected = IMAGE_TYPES.get(image.format or "")
    if expected is None:
        raise MediaError(f"{name} is a {image.format} picture. Save it as PNG, JPEG, WebP or GIF.")
    suffix = Path(name).suffix.lower()
    if suffix and suffix not in expected:
        raise MediaError(f"{name} is really a {image.format} picture. Give it the ending {expected[0]}.")
    try:
        image.load()
    except (OSError, SyntaxError, ValueError) as error:
        raise MediaError(f"{name} is cut off or damaged. Export the picture again.") from error


def check_video(path: Path, name: str) -> VideoFacts:
    """Open a video and read its first frame.

    Raises:
        MediaError: too large, empty, no video, or without a readable frame.
    """
    size = path.stat().st_size
    if size == 0:
        raise MediaError(f"{name} is empty. Export the video again.")
    if size > MAX_VIDEO_BYTES:
        raise MediaError(f"{name} has {size / 2**20:.0f} MB; videos may have 200 MB. Save it smaller.")
    with path.open("rb") as file:
        head = file.read(64)
    if (picture := _picture_type(head)) is not None:
        raise MediaError(f"{name} is listed as a video but is a {picture} picture. Set its kind to “image”.")
    real, suffix = _video_type(head), Path(name).suffix.lower()
    if real and suffix and suffix not in _ENDINGS[real]:
        raise MediaError(f"{name} is really a {real} video. Give it the ending {_ENDINGS[real][0]}.")
    frames = _sampled(path, name, 2)
    cv2, capture = _captured(path)
    width, height = int(capture.get(cv2.CAP_PROP_FRAME_WIDTH)), int(capture.get(cv2.CAP_PROP_FRAME_HEIGHT))
    capture.release()
    return VideoFacts(frames[-1].timestamp_s, width, height)


class MediaStore:
    """Media files under their SHA-256, with the ending that a browser needs."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder

    def take(self, data: bytes, name: str) -> str:
        """Keep a file and return its SHA-256; the same content is kept once."""
        digest = hashlib.sha256(data).hexdigest()
        target = self.folder / f"{digest}{Path(name).suffix.lower()}"
        if not target.exists():
            self.folder.mkdir(parents=True, exist_ok=True)
            with tempfile.NamedTemporaryFile(dir=self.folder, delete=False) as file:
                file.write(data)
            os.replace(file.name, target)
        return digest

    def path(self, sha256: str) -> Path:
        """Where a file is kept.

        Raises:
            MediaError: it isn't there.
        """
        found = next(self.folder.glob(f"{sha256}.*"), None) or next(self.folder.glob(sha256), None)
        if found is None:
            raise MediaError("A picture or video of this case is missing from the store. Upload the case again.")
        return found

    def image(self, sha256: str, max_side: int = 1024) -> bytes:
        """A picture as JPEG, upright (EXIF orientation), no side longer than `max_side` pixels."""
        return _jpeg(self.path(sha256), max_side)

    def frames(self, sha256: str, count: int = MAX_FRAMES) -> tuple[Frame, ...]:
        """Frames spread evenly over a video, each with its time."""
        return _frames(self.path(sha256), min(count, MAX_FRAMES))


@lru_cache(maxsize=256)
def _jpeg(path: Path, max_side: int) -> bytes:
    image = ImageOps.exif_transpose(_opened(path.read_bytes(), path.name))
    image.thumbnail((max_side, max_side))
    if image.mode in ("RGBA", "LA", "P"):
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image.convert("RGBA"))
    out = io.BytesIO()
    image.convert("RGB").save(out, "JPEG", quality=85)
    return out.getvalue()


@lru_cache(maxsize=32)
def _frames(path: Path, count: int) -> tuple[Frame, ...]:
    return _sampled(path, path.name, count)


def _opened(data: bytes, name: str) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data))
    except Image.DecompressionBombError as error:
        raise MediaError(f"{name} claims more pixels than any camera takes. Save it smaller.") from error
    except (UnidentifiedImageError, OSError) as error:
        raise MediaError(f"{name} is no picture that can be read. Save it as PNG or JPEG.") from error
    if image.width * image.height > MAX_PIXELS:
        raise MediaError(f"{name} has {image.width} x {image.height} pixels, too many to look at. Save it smaller.")
    return image


def _sampled(path: Path, name: str, count: int) -> tuple[Frame, ...]:
    """Reads a video once and keeps frames nearest to evenly spread times.

    Times are those the container gives for each frame, so that a variable frame rate is no problem.
    """
    times = _times(path, name)
    step = times[-1] / (count - 1) if count > 1 else 0.0
    targets = [number * step for number in range(count)]
    wanted = sorted({min(range(len(times)), key=lambda i: abs(times[i] - target)) for target in targets})
    cv2, capture = _captured(path)
    frames: list[Frame] = []
    for number in range(wanted[-1] + 1):
        ok, picture = capture.read()
        if not ok:
            break
        if number in wanted:
            height, width = picture.shape[:2]
            scale = min(1.0, 768 / max(height, width))
            small = cv2.resize(picture, (max(1, int(width * scale)), max(1, int(height * scale))))
            frames.append(Frame(round(times[number], 3), cv2.imencode(".jpg", small)[1].tobytes()))
    capture.release()
    return tuple(frames)


def _times(path: Path, name: str) -> list[float]:
    cv2, capture = _captured(path)
    rate = capture.get(cv2.CAP_PROP_FPS) or 0.0
    times: list[float] = []
    while capture.grab():
        at = capture.get(cv2.CAP_PROP_POS_MSEC) / 1000
        if times and at <= times[-1]:  # a container without times of its own: go by the frame rate
            at = times[-1] + (1 / rate if rate > 0 else 0.04)
        times.append(max(0.0, at))
    capture.release()
    if not times:
        raise MediaError(f"{name} is no video that can be read, or it is cut off. Export it again as MP4 or WebM.")
    return times


def _captured(path: Path) -> tuple[Any, Any]:
    os.environ.setdefault("OPENCV_FFMPEG_LOGLEVEL", "-8")  # read when cv2 first opens a file
    import cv2

    cv2.utils.logging.setLogLevel(cv2.utils.logging.LOG_LEVEL_SILENT)
    return cv2, cv2.VideoCapture(str(path))


_ENDINGS = {"MP4": (".mp4", ".m4v", ".mov"), "WebM": (".webm", ".mkv"), "AVI": (".avi",)}


def _video_type(head: bytes) -> str | None:
    if head[4:8] == b"ftyp":
        return "MP4"
    if head.startswith(b"\x1a\x45\xdf\xa3"):
        return "WebM"
    return "AVI" if head[:4] == b"RIFF" and head[8:12] == b"AVI " else None


def _picture_type(head: bytes) -> str | None:
    for kind, start in (("PNG", b"\x89PNG"), ("JPEG", b"\xff\xd8\xff"), ("GIF", b"GIF8")):
        if head.startswith(start):
            return kind
    return "WebP" if head[:4] == b"RIFF" and head[8:12] == b"WEBP" else None


def check_medium(kind: MediumKind, source: Path | bytes, name: str) -> None:
    """Check a picture or a video, from a file or from memory.

    Raises:
        MediaError: a sentence that names the file and the mend.
    """
    if kind == "image":
        check_image(source if isinstance(source, bytes) else source.read_bytes(), name)
    elif isinstance(source, Path):
        check_video(source, name)
    else:
        with tempfile.NamedTemporaryFile(suffix=Path(name).suffix) as file:
            file.write(source)
            file.flush()
            check_video(Path(file.name), name)
