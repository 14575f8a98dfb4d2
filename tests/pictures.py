"""Small real pictures and videos."""

import io
from pathlib import Path

from PIL import Image


def png(size: tuple[int, int] = (64, 48), colour: str = "teal") -> bytes:
    """A PNG of one colour."""
    out = io.BytesIO()
    Image.new("RGB", size, colour).save(out, "PNG")
    return out.getvalue()


def video(path: Path, seconds: float = 2.0, rate: float = 10.0) -> Path:
    """A WebM video that gets brighter."""
    import cv2
    import numpy as np

    writer = cv2.VideoWriter(str(path), cv2.VideoWriter_fourcc(*"VP80"), rate, (64, 48))
    for number in range(int(seconds * rate)):
        writer.write(np.full((48, 64, 3), min(255, number * 10), np.uint8))
    writer.release()
    return path
