"""A film of a run: pictures of its storyboard, one fading into the next, as MP4 or GIF."""

from collections.abc import Callable, Iterator, Sequence
from pathlib import Path

import numpy as np
from PIL import Image, ImageColor

from courtroom.engine.procedure import Procedure
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.film.picture import ACCENT, Painter
from courtroom.film.storyboard import Shot
from courtroom.room.player import read
from courtroom.room.scene import RoomScene, scene
from courtroom.text.files import replacing

PICTURES_A_SECOND = 12
FADE_PICTURES = 5
GIF_SIDE_PX = 800
PROGRESS_LINE_PX = 5
Progress = Callable[[float], object]


def scene_to_film(record: Record, procedure: Procedure) -> RoomScene:
    return RoomScene.model_validate(read(scene(record, procedure.about(record.case)).model_dump(mode="json")))


def film(painter: Painter, shots: Sequence[Shot], to: Path, progress: Progress = lambda share: None) -> None:
    """Draw a film of those shots that are kept, into a file that ends in `.mp4` (H.264) or `.gif`; `progress` is told
    the share that is drawn. Raises `CourtroomError`: another kind of file, no shot is left, or a font is missing."""
    kept = [shot for shot in shots if shot.kept]
    if not kept:
        raise CourtroomError("No moment is left to show. Keep at least one.")
    write = {".mp4": _write_mp4, ".gif": _write_gif}.get(to.suffix)
    if write is None:
        raise CourtroomError("A film's file name ends in .mp4 or .gif.")
    with replacing(to) as part:
        write(painter, kept, part, progress)


def _pictures(painter: Painter, shots: Sequence[Shot]) -> Iterator[tuple[Image.Image, float]]:
    """Each picture with its seconds; a change of mind has two."""
    for shot in shots:
        # The caption of a change is read while the old vote still stands; then the vote moves, and stands a while.
        parts = (True, False) if shot.kind == "change" else (False,)
        for before in parts:
            yield painter.picture(shot, before=before), shot.seconds / len(parts)


def _write_mp4(painter: Painter, shots: Sequence[Shot], to: Path, progress: Progress) -> None:
    import av  # slow to import: only to write a film

    across, down = painter.size
    whole = sum(shot.seconds for shot in shots)
    accent = np.array(ImageColor.getrgb(ACCENT[painter.theme]), np.uint8)
    written, ends, last = 0, 0.0, None
    with av.open(str(to), "w", options={"movflags": "+faststart"}) as container:
        stream = container.add_stream("libx264", rate=PICTURES_A_SECOND)
        stream.width, stream.height, stream.pix_fmt = across, down, "yuv420p"
        stream.options = {"preset": "veryfast", "crf": "23"}
        for image, seconds in _pictures(painter, shots):
            picture = np.asarray(image)
            ends += seconds
            for number in range(round(ends * PICTURES_A_SECOND) - written):
                shown = picture.copy()
                if last is not None and number < FADE_PICTURES:
                    share = (number + 1) / (FADE_PICTURES + 1)
                    shown = (last * (1 - share) + picture * share).astype(np.uint8)
                shown[-PROGRESS_LINE_PX:, : round(across * written / (whole * PICTURES_A_SECOND))] = accent
                container.mux(stream.encode(av.VideoFrame.from_ndarray(shown, format="rgb24")))
                written += 1
            last = picture
            progress(min(1.0, ends / whole))
        container.mux(stream.encode())


def _write_gif(painter: Painter, shots: Sequence[Shot], to: Path, progress: Progress) -> None:
    whole = sum(shot.seconds for shot in shots)
    frames: list[Image.Image] = []
    times: list[int] = []
    for image, seconds in _pictures(painter, shots):
        small = image.copy()
        small.thumbnail((GIF_SIDE_PX, GIF_SIDE_PX), Image.Resampling.LANCZOS)
        frames.append(small.quantize(128, dither=Image.Dither.NONE))
        times.append(round(seconds * 1000))
        progress(min(1.0, sum(times) / 1000 / whole))
    frames[0].save(to, save_all=True, append_images=frames[1:], duration=times, loop=0)
