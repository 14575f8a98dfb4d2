"""Pictures through Pillow: what they are, and upright, small copies for models and pages."""

import io
import struct
import warnings
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps

from courtroom.errors import MediaError
from courtroom.media.medium import MediumKind

MAX_IMAGE_BYTES = 25 * 2**20
MAX_PIXELS = 50_000_000
"""A picture that claims more pixels than this is refused before it is decoded."""

# Pillow only warns of a picture somewhat too large; whatever its own limit, ours is the one that counts.
warnings.simplefilter("error", Image.DecompressionBombWarning)

_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)
_BROKEN = (OSError, struct.error, SyntaxError, ValueError, TypeError, EOFError, IndexError, OverflowError, MemoryError)
"""What Pillow's decoders raise on damaged files."""


def inspect_image(source: bytes | Path, name: str) -> None:
    """Decode a picture once; one that can't be used is refused with the reason."""
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size == 0:
        raise MediaError(f"{name} is empty. Export the picture again.")
    if size > MAX_IMAGE_BYTES:
        limit = MAX_IMAGE_BYTES // 2**20
        raise MediaError(f"{name} has {size / 2**20:.0f} MB; pictures may have {limit} MB. Save it smaller.")
    data = source if isinstance(source, bytes) else source.read_bytes()
    expect("image", data[:16], name)
    _upright(data, name)


def small_jpeg(data: bytes, name: str, max_side: int) -> bytes:
    """A picture as JPEG: upright (EXIF orientation), RGB on white, no side longer than `max_side` pixels."""
    image = _upright(data, name)
    if image.has_transparency_data:
        image = image.convert("RGBA")
        image = Image.alpha_composite(Image.new("RGBA", image.size, "white"), image)
    image = image.convert("RGB")
    image.thumbnail((max_side, max_side))
    out = io.BytesIO()
    image.save(out, "JPEG", quality=85)
    return out.getvalue()


def _upright(data: bytes, name: str) -> Image.Image:
    try:
        image = Image.open(io.BytesIO(data), formats=("PNG", "JPEG", "WEBP", "GIF"))
        if image.width * image.height > MAX_PIXELS:
            raise MediaError(
                f"{name} claims {image.width} x {image.height} pixels, too many to look at. Save it smaller."
            )
        image.load()
        return ImageOps.exif_transpose(image)
    except _BOMB as error:
        raise MediaError(f"{name} claims more pixels than any camera takes. Save it smaller.") from error
    except _BROKEN as error:
        raise MediaError(f"{name} is cut off or damaged. Export the picture again.") from error


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


def expect(kind: MediumKind, head: bytes, name: str) -> str:
    """The type of a file that is listed as `kind` under `name`."""
    found = sniff(head)
    if found is None:
        wanted = "PNG or JPEG" if kind == "image" else "MP4 or WebM"
        raise MediaError(f"{name} is no {WORDS[kind]} that can be read. Save it as {wanted}.")
    real, type_ = found
    if real != kind:
        raise MediaError(
            f"{name} is listed as a {WORDS[kind]} but is a {type_} {WORDS[real]}. Set its kind to “{real}”."
        )
    endings = ENDINGS.get(type_)
    if endings is None:
        raise MediaError(f"{name} is a {type_} picture. Save it as PNG or JPEG.")
    ending = PurePosixPath(name).suffix.lower()
    if ending and ending not in endings:
        raise MediaError(f"{name} is really a {type_} {WORDS[kind]}. Give it the ending {endings[0]}, in the case too.")
    return type_
