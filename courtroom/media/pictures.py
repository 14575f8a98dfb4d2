"""Pictures through Pillow: what a file is, by its content, and opening it without trust."""

import io
import struct
import warnings
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path, PurePosixPath

from PIL import Image, ImageOps
from PIL.ImageFile import ImageFile

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


OTHER_FORMS = {"HEIC": "HEIF", "AVIF": "AVIF", "TIFF": "TIFF", "BMP": "BMP"}
"""Pictures of phones, scanners and older programs, by what Pillow calls them; they are turned into PNG."""
MAX_PAGES = 100
"""Of a TIFF."""


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


def as_listed(kind: MediumKind, head: bytes, name: str) -> tuple[str, ...]:
    """Give a remark where the ending of a file that is listed as `kind` says something else than what it is. Raises
    `MediaError`: it is no file of this kind that can be used."""
    found = sniff(head)
    if found is None:
        wanted = "PNG or JPEG" if kind == "image" else "MP4 or WebM"
        raise MediaError(f"{name} is no {WORDS[kind]} that can be read. Save it as {wanted}.")
    real, type_ = found
    if real != kind:
        raise MediaError(
            f"{name} is listed as a {WORDS[kind]} but is a {type_} {WORDS[real]}. Set its kind to “{real}”."
        )
    if type_ not in ENDINGS:
        raise MediaError(f"{name} is a {type_} picture. Save it as PNG or JPEG.")
    ending = PurePosixPath(name).suffix.lower()
    if not ending or ending in ENDINGS[type_]:
        return ()
    return (f"{name} is really a {type_} {WORDS[kind]}, and is read as one.",)
