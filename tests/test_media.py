"""Pictures and videos, with real files: whole, damaged, mislabelled, too large."""

import io
import struct
import zlib
from pathlib import Path

import pytest
from PIL import Image

from courtroom.errors import MediaError
from courtroom.media.sent import inspect_image
from courtroom.media.store import MediaStore
from courtroom.media.videos import inspect_video
from tests.pictures import clip, png


@pytest.fixture
def store(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


def saved(image: Image.Image, format: str, **options: object) -> bytes:
    out = io.BytesIO()
    image.save(out, format, **options)
    return out.getvalue()


def shown(jpeg: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(jpeg))
    image.load()
    return image


def png_claiming(width: int, height: int) -> bytes:
    """A PNG of a few bytes whose header claims any size."""
    data = bytearray(png())
    data[16:24] = struct.pack(">II", width, height)
    data[29:33] = struct.pack(">I", zlib.crc32(data[12:29]))
    return bytes(data)


def test_a_picture_is_kept_once_under_its_content_with_the_ending_of_what_it_is(store: MediaStore) -> None:
    first, second = store.take(png(), "a.png"), store.take(png(), "other.png")
    assert first == second
    assert [path.name for path in store.folder.iterdir()] == [f"{first}.png"]
    assert store.path(first).read_bytes() == png()
    assert store.path(store.take(png(), "page.html")).suffix == ".png"


def test_a_turned_picture_is_shown_upright_and_transparency_becomes_white(store: MediaStore) -> None:
    data = saved(Image.new("RGBA", (30, 20), (0, 0, 0, 0)), "PNG")
    assert shown(store.image(store.take(data, "clear.png"))).getpixel((5, 5)) == (255, 255, 255)
    image = Image.new("RGB", (60, 40), "red")
    image.paste("blue", (0, 0, 30, 40))  # the left half is blue
    exif = Image.Exif()
    exif[0x0112] = 6  # turn a quarter clockwise to see it upright
    data = saved(image, "JPEG", exif=exif, quality=95)
    upright = shown(store.image(store.take(data, "turned.jpg")))
    assert upright.size == (40, 60)
    red, _, blue = upright.getpixel((20, 10))
    assert blue > 200 > 50 > red, "what was left is now above"


def test_a_file_is_read_as_what_it_is_and_a_play_list_is_never_opened(tmp_path: Path) -> None:
    data = saved(Image.new("RGB", (20, 20)), "JPEG")
    assert inspect_image(data, "a.png") == ("a.png is really a JPEG picture, and is read as one.",)
    assert inspect_image(data, "A.JPEG") == ()
    with pytest.raises(MediaError, match="IMG_1.heic is a HEIC or AVIF picture. Save it as PNG or JPEG"):
        inspect_image(b"\0\0\0\x18ftypheic" + b"\0" * 40, "IMG_1.heic")
    path = clip(tmp_path / "a.webm", codec="VP80")
    assert inspect_video(path, "a.mp4") == ("a.mp4 is really a WebM video, and is read as one.",)
    path = tmp_path / "list.mp4"
    path.write_text("#EXTM3U\n#EXTINF:1,\nhttp://192.0.2.1/secret.ts\n#EXT-X-ENDLIST\n")
    with pytest.raises(MediaError, match="list.mp4 is no video that can be read"):
        inspect_video(path, "list.mp4")
    with pytest.raises(MediaError, match="listed as a picture but is a WebM video. Set its kind to “video”"):
        inspect_image(tmp_path / "a.webm", "a.webm")
    path.write_bytes(png())
    with pytest.raises(MediaError, match="listed as a video but is a PNG picture. Set its kind to “image”"):
        inspect_video(path, "a.mp4")


@pytest.mark.parametrize(("width", "height"), [(7_100, 7_100), (60_000, 60_000)])
def test_a_picture_bomb_is_refused_before_it_is_decoded(width: int, height: int) -> None:
    data = png_claiming(width, height)
    with pytest.raises(MediaError, match=r"bomb.png claims .* pixels.* Save it smaller"):
        inspect_image(data, "bomb.png")


def test_thirty_frames_at_most_spread_evenly_over_the_video(store: MediaStore, tmp_path: Path) -> None:
    sha = store.take(clip(tmp_path / "a.mp4", frames=100).read_bytes(), "a.mp4")
    frames = store.frames(sha)
    times = [frame.timestamp_s for frame in frames]
    gaps = [after - before for before, after in zip(times, times[1:], strict=False)]
    assert len(frames) == 30
    assert (times[0], times[-1]) == (0, pytest.approx(9.9))
    assert max(gaps) - min(gaps) <= 0.1 + 1e-6, "no two gaps differ by more than one frame"
    assert len(store.frames(sha, 500)) == 30
    assert len(store.frames(sha, 1)) == 1
    frames = store.frames(store.take(clip(tmp_path / "a.mp4", frames=40).read_bytes(), "a.mp4"), 5)
    bright = [shown(frame.jpeg).convert("L").resize((1, 1)).getpixel((0, 0)) for frame in frames]
    assert bright == sorted(bright)
    assert bright[-1] - bright[0] > 150


@pytest.mark.parametrize(
    ("ending", "codec", "share"),
    [("mp4", "mp4v", 0.0), ("mp4", "mp4v", 0.8), ("webm", "VP80", 0.5), ("avi", "MJPG", 0.01)],
)
def test_a_video_that_is_cut_off_is_refused_by_name(tmp_path: Path, ending: str, codec: str, share: float) -> None:
    data = clip(tmp_path / f"whole.{ending}", codec=codec).read_bytes()
    path = tmp_path / f"cut.{ending}"
    path.write_bytes(data[: int(len(data) * share)])
    with pytest.raises(MediaError, match=rf"^cut\.{ending} .*(cut off|is empty).*again"):
        inspect_video(path, path.name)
