"""Pictures through Pillow: what a file is, by its content, and opening it without trust; and what models and pages are
shown of one, as JPEG: one copy, parts of a long one, or frames of an animation."""

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from math import ceil
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps, ImageSequence
from PIL.ImageFile import ImageFile

from courtroom.errors import MediaError
from courtroom.media.medium import MediumKind

MAX_IMAGE_BYTES = 25 * 2**20
MAX_PIXELS = 50_000_000
"""A picture that claims more pixels than this is refused before it is decoded."""
OTHER_FORMS = {"HEIC": "HEIF", "AVIF": "AVIF", "TIFF": "TIFF", "BMP": "BMP"}
"""Pictures of phones, scanners and older programs, by what Pillow calls them; they are turned into PNG."""
MAX_PAGES = 100
"""Of a TIFF."""
ENDINGS: dict[str, tuple[str, ...]] = {
    "PNG": (".png",),
    "JPEG": (".jpg", ".jpeg"),
    "WebP": (".webp",),
    "GIF": (".gif",),
    "MP4": (".mp4", ".m4v", ".mov"),
    "WebM": (".webm", ".mkv"),
    "AVI": (".avi",),
}
"""Each type that can be used; the first ending is the one under which such a file is kept."""
WORDS: dict[MediumKind, str] = {"image": "picture", "video": "video"}
_PICTURES = (("PNG", b"\x89PNG\r\n\x1a\n"), ("JPEG", b"\xff\xd8\xff"), ("GIF", b"GIF87a"), ("GIF", b"GIF89a"))
_RIFF: dict[bytes, tuple[MediumKind, str]] = {b"WEBP": ("image", "WebP"), b"AVI ": ("video", "AVI")}
_STILL_BRANDS = (b"heic", b"heix", b"hevc", b"mif1", b"msf1", b"avif", b"avis")
"""Phones' pictures share MP4's outer form."""
_QUICKTIME = (b"moov", b"mdat", b"wide", b"free", b"skip")
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

# Pillow only warns of a picture somewhat too large; whatever its own limit, ours is the one that counts.
warnings.simplefilter("error", Image.DecompressionBombWarning)

_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)
_BROKEN = (OSError, struct.error, SyntaxError, ValueError, TypeError, EOFError, IndexError, OverflowError, MemoryError)
"""What Pillow's decoders raise on damaged files."""


def read_image(source: bytes | Path, name: str) -> bytes:
    """Return a picture's bytes. Raises `MediaError`: it is empty, or larger than may be."""
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size == 0:
        raise MediaError(f"{name} is empty. Export the picture again.")
    if size > MAX_IMAGE_BYTES:
        limit = MAX_IMAGE_BYTES // 2**20
        raise MediaError(f"{name} has {size / 2**20:.0f} MB; pictures may have {limit} MB. Save it smaller.")
    return source if isinstance(source, bytes) else source.read_bytes()


def opened(data: bytes, name: str) -> ImageFile:
    """Open a picture: its size and form are known then, its pixels are not decoded yet. Raises `MediaError`: it claims
    too many pixels, or is damaged."""
    with decoding(name):
        image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF"))
    _refuse_large(image, name)
    return image


def _refuse_large(image: Image.Image, name: str) -> None:
    if image.width * image.height > MAX_PIXELS:
        raise MediaError(f"{name} claims {image.width} x {image.height} pixels, too many to look at. Save it smaller.")


def upright(data: bytes, name: str) -> Image.Image:
    """Decode a picture and turn it as its camera was held."""
    image = opened(data, name)
    with decoding(name):
        image.load()
        return ImageOps.exif_transpose(image)


def as_png(image: Image.Image) -> bytes:
    out = io.BytesIO()
    image.save(out, "PNG")
    return out.getvalue()


def turned(data: bytes, name: str) -> list[bytes]:
    """Return the pages of a picture in one of the `OTHER_FORMS` as PNG, upright. Raises `MediaError`: it is none, is
    damaged, or claims too many pixels or pages."""
    import pillow_heif  # only those who bring such a picture wait for it

    pillow_heif.register_heif_opener(thumbnails=False)
    read_image(data, name)
    with decoding(name):
        image = Image.open(io.BytesIO(data), formats=tuple(OTHER_FORMS.values()))
        count = getattr(image, "n_frames", 1) if image.format == "TIFF" else 1
        if count > MAX_PAGES:
            raise MediaError(f"{name} has {count} pages; {MAX_PAGES} are allowed. Split it.")
        pages: list[bytes] = []
        for number in range(count):
            image.seek(number)
            _refuse_large(image, name)
            page = ImageOps.exif_transpose(image)
            plain = page.mode in ("1", "L", "LA", "P", "RGB", "RGBA", "I;16")
            pages.append(as_png(page if plain else page.convert("RGB")))
    return pages


@contextmanager
def decoding(name: str) -> Iterator[None]:
    """Raise what Pillow's decoders raise as `MediaError`."""
    try:
        yield
    except _BOMB as error:
        raise MediaError(f"{name} claims more pixels than any camera takes. Save it smaller.") from error
    except _BROKEN as error:
        raise MediaError(f"{name} is cut off or damaged. Export the picture again.") from error


def sniff(head: bytes) -> tuple[MediumKind, str] | None:
    """Kind and type of a file by its first 16 bytes; None for what is neither picture nor video."""
    for name, start in _PICTURES:
        if head.startswith(start):
            return "image", name
    if head[:4] == b"RIFF":
        return _RIFF.get(head[8:12])
    if head[4:8] == b"ftyp":
        return ("image", "HEIC or AVIF") if head[8:12] in _STILL_BRANDS else ("video", "MP4")
    if head[4:8] in _QUICKTIME:
        return "video", "MP4"
    return ("video", "WebM") if head.startswith(b"\x1a\x45\xdf\xa3") else None


def as_listed(kind: MediumKind, head: bytes, name: str) -> tuple[str, ...]:
    """Give a remark where the ending of a file that is listed as `kind` says something else than what it is. Raises
    `MediaError`: it is no file of this kind that can be used."""
    found = sniff(head)
    if found is None:
        wanted = "PNG or JPEG" if kind == "image" else "MP4 or WebM"
        raise MediaError(f"{name} is no {WORDS[kind]} that can be read. Save it as {wanted}.")
    real, type_ = found
    if real != kind:
        why = f"{name} is listed as a {WORDS[kind]} but is a {type_} {WORDS[real]}. Set its kind to “{real}”."
        raise MediaError(why)
    if type_ not in ENDINGS:
        raise MediaError(f"{name} is a {type_} picture. Save it as PNG or JPEG.")
    ending = PurePosixPath(name).suffix.lower()
    if not ending or ending in ENDINGS[type_]:
        return ()
    return (f"{name} is really a {type_} {WORDS[kind]}, and is read as one.",)


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
    if _frame_count(image) * image.width * image.height > MAX_ANIMATION_PIXELS:
        raise MediaError(f"{name} moves for too long to look at all of it. Save it as MP4, or smaller.")
    changes: dict[str, None] = {}
    frames: list[tuple[float, bytes]] = []
    second = 0.0
    with decoding(name):
        for frame in ImageSequence.Iterator(image):
            still, changed = _rgb(frame.copy(), name)
            changes |= dict.fromkeys(changed)
            jpeg = _jpeg(still)
            if not frames or jpeg != frames[-1][1]:
                frames.append((second, jpeg))
            second += float(frame.info.get("duration", 0)) / 1000
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
        told = f"{name} has more than 256 tones of grey: they are scaled, darkest to black, lightest to white."
        return grey.convert("RGB"), (told,)
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
