"""Small real pictures, and small real videos, whole, of varying frame rate, and cut off."""

import io
from pathlib import Path
from typing import Any

from PIL import Image


def saved(image: Image.Image, form: str = "PNG", **options: Any) -> bytes:
    out = io.BytesIO()
    image.save(out, form, **options)
    return out.getvalue()


def png(size: tuple[int, int] = (64, 48), colour: str = "teal") -> bytes:
    return saved(Image.new("RGB", size, colour))


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
