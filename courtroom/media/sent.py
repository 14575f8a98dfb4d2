"""What models and pages are shown of a picture, as JPEG: one copy, parts of a long one, or frames of an animation."""

import io
from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from pathlib import Path

from PIL import Image, ImageSequence

from courtroom.errors import MediaError
from courtroom.media.pictures import as_listed, decoding, opened, read_image, upright

MAX_SIDE_PX = 1024
"""Of a picture that is sent."""
LONG = 2
"""A picture that is so many times as long as wide, and longer than as many times `MAX_SIDE_PX`, is cut into parts."""
OVERLAP_PX = 64
"""Two parts of a long picture share so much, so that no line of text is cut in both."""
MAX_VIEWS = 30
"""Of one picture."""
MAX_ANIMATION_PIXELS = 1_000_000_000
"""Of all frames of an animation: what can be decoded in seconds."""
SMALLEST_SHARE = 1 / 3
"""A picture that is sent at less than this share of its size gets a remark."""
VISIBLE = 64
"""Of 255: what is less opaque is taken for see-through."""
LEAST_CONTRAST = 48
"""Of 255: a tone this near to the ground can't be told from it."""
MAX_LOST = 0.01
"""Share of a picture's visible points that may be lost on white; where more are, another ground is taken."""
GROUNDS = {"white": 255, "black": 0, "grey": 128}
ONE_TONE = 24
"""Of 255: tones that differ by less look like one, as those of a scan that uses few of its 65,536."""


@dataclass(frozen=True)
class View:
    """One picture that is sent of a picture; its label says which frame or part, and is empty for the whole."""

    label: str
    jpeg: bytes


@dataclass(frozen=True)
class SentPicture:
    """What is sent of a picture.

    Args:
        plain: whether it is one copy with its own tones on its own ground, or on white.
        remarks: what somebody should know who wants it to be seen.
    """

    views: tuple[View, ...]
    plain: bool
    remarks: tuple[str, ...]


def inspect_image(source: bytes | Path, name: str) -> tuple[str, ...]:
    """Check a picture, and give what somebody should know who wants it to be seen. Raises `MediaError`: it can't be
    used; the sentence says why."""
    data = read_image(source, name)
    return (*as_listed("image", data[:16], name), *sent_picture(data, name).remarks)


def small_jpeg(data: bytes, name: str, max_side: int) -> bytes:
    """Return a picture as JPEG: upright (EXIF orientation), RGB, no side longer than `max_side` pixels."""
    return _jpeg(_rgb(upright(data, name), name)[0], max_side)


def views_of(data: bytes, name: str) -> int | None:
    """Return as how many pictures one is sent; None where it is one plain copy, or no picture that can be read."""
    try:
        image = opened(data, name)
        simple = image.mode in ("1", "L", "P", "RGB", "CMYK") and not image.has_transparency_data
        if simple and _frame_count(image) == 1 and not _is_long(image):
            return None  # known by its head alone: the samples are taken in by each process
        sent = sent_picture(data, name)
    except MediaError:
        return None
    return None if sent.plain else len(sent.views)


def sent_picture(data: bytes, name: str) -> SentPicture:
    """Give what is sent of a picture: the frames of an animation, the parts of a long one, else one copy. Raises
    `MediaError`: it can't be used."""
    image = opened(data, name)
    if _frame_count(image) > 1:
        return _moving(image, name)
    file = upright(data, name)
    whole, changes = _rgb(file, name)
    remarks = [*changes]
    parts, way = _parts(whole), "from left to right" if whole.width > whole.height else "from top to bottom"
    views = [
        View(f"part {number} of {len(parts)}, {way}" if len(parts) > 1 else "", _jpeg(part))
        for number, part in enumerate(parts, start=1)
    ]
    if len(parts) > 1:
        remarks.append(f"{name} is long: it is shown in {len(parts)} parts, {way}.")
    plain = not remarks
    remarks += _shrinking(whole.size, max(parts[0].size), name)
    if _contrast(whole) < ONE_TONE and _contrast(file):
        remarks.append(f"{name} is nearly all of one colour as members see it. Check that it is the right picture.")
    return SentPicture(tuple(views), plain, tuple(remarks))


def _shrinking(size: tuple[int, int], longest: int, name: str) -> tuple[str, ...]:
    """The remark that a picture of this size is sent too small, where its longest part has so many pixels."""
    if (share := MAX_SIDE_PX / longest) >= SMALLEST_SHARE:
        return ()
    return (
        f"{name} has {size[0]:,} x {size[1]:,} pixels and is shown at {share:.0%} of its size: small print "
        "can't be read. Cut out what matters, and add it as a picture of its own.",
    )


def _moving(image: Image.Image, name: str) -> SentPicture:
    """All frames that differ from the one before; where they are too many, some of them, spread evenly."""
    changes: dict[str, None] = {}
    frames: list[tuple[float, bytes]] = []
    for second, frame in _frames(image, name):
        still, changed = _rgb(frame, name)
        changes |= dict.fromkeys(changed)
        jpeg = _jpeg(still)
        if not frames or jpeg != frames[-1][1]:
            frames.append((second, jpeg))
    last = len(frames) - 1
    count = min(len(frames), MAX_VIEWS)
    shown = [frames[round(number * last / max(1, count - 1))] for number in range(count)]
    views = [
        View(f"frame {number} of {count}, at {second:.1f} s" if count > 1 else "", jpeg)
        for number, (second, jpeg) in enumerate(shown, start=1)
    ]
    remarks = [*changes]
    if count > 1:
        remarks.append(f"{name} moves: {count} of its {len(frames)} different frames are shown, in order.")
    shrunk = _shrinking(image.size, max(image.size), name)
    return SentPicture(tuple(views), not remarks, (*remarks, *shrunk))


def _frame_count(image: Image.Image) -> int:
    """How many frames an animation has; 1 for a still picture, also for a JPEG with a second copy inside."""
    return getattr(image, "n_frames", 1) if image.format in ("GIF", "PNG", "WEBP") else 1


def _frames(image: Image.Image, name: str) -> Iterator[tuple[float, Image.Image]]:
    if _frame_count(image) * image.width * image.height > MAX_ANIMATION_PIXELS:
        raise MediaError(f"{name} moves for too long to look at all of it. Save it as MP4, or smaller.")
    second = 0.0
    with decoding(name):
        for frame in ImageSequence.Iterator(image):
            yield second, frame.copy()
            second += float(frame.info.get("duration", 0)) / 1000


def _jpeg(image: Image.Image, max_side: int = MAX_SIDE_PX) -> bytes:
    out, shrunk = io.BytesIO(), image.copy()
    shrunk.thumbnail((max_side, max_side))
    shrunk.save(out, "JPEG", quality=85)
    return out.getvalue()


def _rgb(image: Image.Image, name: str) -> tuple[Image.Image, tuple[str, ...]]:
    """A picture in RGB, all that is visible in it told apart, and what had to be changed for that."""
    if image.mode.startswith(("I", "F")):
        import numpy as np  # takes time to import, and few pictures need it

        tones = np.asarray(image, dtype=np.float64)
        low, high = float(tones.min()), float(tones.max())
        scaled = (tones - low) * (255 / (high - low)) if high > low else tones / 257
        grey = Image.fromarray(scaled.clip(0, 255).astype(np.uint8))
        return grey.convert("RGB"), (
            f"{name} has more than 256 tones of grey: they are scaled, darkest to black, lightest to white.",
        )
    if not image.has_transparency_data:
        return image.convert("RGB"), ()
    image = image.convert("RGBA")
    ground = _ground(image)
    flat = Image.alpha_composite(Image.new("RGBA", image.size, ground), image).convert("RGB")
    if ground == "white":
        return flat, ()
    return flat, (f"{name} is see-through, and part of it is too light to be seen on white: it is shown on {ground}.",)


def _ground(image: Image.Image) -> str:
    """White, or the ground on which least of a see-through picture is lost."""
    import numpy as np

    step = max(1, ceil((image.width * image.height / 1_000_000) ** 0.5))
    points = np.asarray(image.convert("LA"))[::step, ::step]
    tones = points[..., 0][points[..., 1] >= VISIBLE].astype(np.int16)
    if not tones.size or tones.size == points[..., 0].size:
        return "white"
    lost = {name: float((abs(tones - tone) < LEAST_CONTRAST).mean()) for name, tone in GROUNDS.items()}
    return "white" if lost["white"] <= MAX_LOST else min(lost, key=lambda name: lost[name])


def _is_long(image: Image.Image) -> bool:
    return max(image.size) > LONG * MAX_SIDE_PX and max(image.size) >= LONG * min(image.size)


def _parts(image: Image.Image) -> list[Image.Image]:
    """The parts of a long picture in order, as sharp as can be; another picture whole."""
    if not _is_long(image):
        return [image]
    long, short = max(image.size), min(image.size)
    side = max(MAX_SIDE_PX, short)  # a wider picture is shrunk anyway, so that a part may be as long as wide
    count = min(MAX_VIEWS, ceil((long - OVERLAP_PX) / (side - OVERLAP_PX)))
    length = max(side, ceil((long - OVERLAP_PX) / count) + OVERLAP_PX)
    starts = [round(number * (long - length) / (count - 1)) for number in range(count)]
    if image.width > image.height:
        return [image.crop((start, 0, start + length, image.height)) for start in starts]
    return [image.crop((0, start, image.width, start + length)) for start in starts]


def _contrast(image: Image.Image) -> float:
    """How far the lightest and the darkest tone of a band are apart, in the band where that is most."""
    bands = image.getextrema()
    return max(high - low for low, high in (bands if isinstance(bands[0], tuple) else (bands,)))
