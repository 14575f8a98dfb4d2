"""What a media file really is, recognised from its first bytes, and which endings its name may have."""

from __future__ import annotations

from pathlib import PurePosixPath

from courtroom.errors import MediaError
from courtroom.media.medium import MediumKind

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
    """The type of a file that is listed as `kind` under `name`.

    Raises:
        MediaError: it is something else than it is listed or named as.
    """
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
