"""Small real pictures, and small real videos, whole, of varying frame rate, and cut off."""

import io
import struct
from pathlib import Path

from PIL import Image


def png(size: tuple[int, int] = (64, 48), colour: str = "teal") -> bytes:
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def clip(path: Path, frames: int = 20, rate: float = 10.0, codec: str = "mp4v") -> Path:
    """A video of noise that gets brighter; noise makes each frame take its share of the file."""
    import cv2
    import numpy as np

    noise = np.random.default_rng(0)
    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*codec), rate, (128, 96))
    for number in range(frames):
        picture = noise.integers(0, 40, (96, 128, 3), dtype=np.uint8)
        writer.write(picture + np.uint8(min(200, number * 200 // frames)))
    writer.release()
    assert path.stat().st_size > 0
    return path


def vary(data: bytes, spans: list[tuple[int, int]]) -> bytes:
    """An MP4 with other frame durations: `spans` of (number of frames, duration as a multiple of the first)."""
    at = data.index(b"stts") - 4
    (size,) = struct.unpack(">I", data[at : at + 4])
    (delta,) = struct.unpack(">I", data[at + 20 : at + 24])
    entries = b"".join(struct.pack(">II", count, delta * factor) for count, factor in spans)
    table = struct.pack(">I4sII", 16 + len(entries), b"stts", 0, len(spans)) + entries
    whole = bytearray(data[:at] + table + data[at + size :])
    for box in (b"moov", b"trak", b"mdia", b"minf", b"stbl"):
        start = whole.index(box) - 4
        (old,) = struct.unpack(">I", whole[start : start + 4])
        whole[start : start + 4] = struct.pack(">I", old + len(table) - size)
    edit = whole.index(b"elst") - 4  # without its edit list, the file plays as long as its frames say
    whole[edit + 4 : edit + 8] = b"free"
    return bytes(whole)
