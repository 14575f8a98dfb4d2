"""Pictures through Pillow: what they are, and upright, small copies for models and pages."""

from __future__ import annotations

import io
import struct
import warnings
from dataclasses import dataclass
from pathlib import Path

from PIL import Image, ImageOps

from courtroom.errors import MediaError
from courtroom.media.types import expect

MAX_IMAGE_BYTES = 25 * 2**20
MAX_PIXELS = 50_000_000
"""A picture that claims more pixels than this is refused before it is decoded."""

# Pillow only warns of a picture somewhat too large; whatever its own limit, ours is the one that counts.
warnings.simplefilter("error", Image.DecompressionBombWarning)

_BOMB = (Image.DecompressionBombError, Image.DecompressionBombWarning)
_BROKEN = (OSError, struct.error, SyntaxError, ValueError, TypeError, EOFError, IndexError, OverflowError, MemoryError)
"""What Pillow's decoders raise on damaged files."""


@dataclass(frozen=True)
class ImageFacts:
    """What is known of a picture after decoding it; width and height in pixels, upright."""

    type: str
    width: int
    height: int


def inspect_image(source: bytes | Path, name: str) -> ImageFacts:
    """Decode a picture once.

    Raises:
        MediaError: too large, no picture, cut off, or of another type than its name says.
    """
    size = len(source) if isinstance(source, bytes) else source.stat().st_size
    if size == 0:
        raise MediaError(f"{name} is empty. Export the picture again.")
    if size > MAX_IMAGE_BYTES:
        limit = MAX_IMAGE_BYTES // 2**20
        raise MediaError(f"{name} has {size / 2**20:.0f} MB; pictures may have {limit} MB. Save it smaller.")
    data = source if isinstance(source, bytes) else source.read_bytes()
    type_ = expect("image", data[:16], name)
    image = _upright(data, name)
    return ImageFacts(type_, image.width, image.height)


def small_jpeg(data: bytes, name: str, max_side: int) -> bytes:
    """A picture as JPEG: upright (EXIF orientation), RGB on white, no side longer than `max_side` pixels.

    Raises:
        MediaError: it can't be decoded.
    """
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
