"""Pictures and videos: real files, damaged or mislabelled; and nothing of them is lost to members without a word."""

import base64
import io
import struct
import zlib
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image, ImageDraw

from courtroom.cases.checks import check
from courtroom.cases.dispute import Dispute, Evidence
from courtroom.cases.files import Package, read_folder, read_upload, write_zip
from courtroom.errors import MediaError
from courtroom.media.medium import FRAMES_OF_A_VIDEO, Medium
from courtroom.media.pictures import inspect_image
from courtroom.media.store import MediaStore
from courtroom.media.videos import inspect_video
from courtroom.models.longer import fewer_frames
from courtroom.models.request import Message
from courtroom.models.wire import nearest, to_wire
from courtroom.procedures.cyberjurors.evidence import key_media
from courtroom.procedures.cyberjurors.tasks import Clue, Finding, Perception
from courtroom.settings import DATA
from tests.pictures import clip, png, saved
from tests.say import picture
from tests.toy import CASE

SAMPLES = [read_folder(path.parent).case for path in sorted((DATA / "cases").glob("*/case.json"))]


@pytest.fixture
def store(tmp_path: Path) -> MediaStore:
    return MediaStore(tmp_path / "media")


def case_with(data: bytes, store: MediaStore, name: str = "photo.png") -> Dispute:
    """A sample with this picture in place of its own."""
    case = next(case for case in SAMPLES if isinstance(case, Dispute) and len(case.evidence) > 2)
    first = case.evidence[0].model_copy(update={"media": (Medium(id="m1", kind="image", file=name),)})
    alone = case.model_copy(update={"evidence": (first, *case.evidence[1:])})
    others = {medium.file: png() for medium in alone.media() if medium.id != "m1"}
    return alone.with_media(store.keep({**others, name: data}))


def shown(jpeg: bytes) -> Image.Image:
    image = Image.open(io.BytesIO(jpeg))
    image.load()
    return image


def shown_wire(url: str) -> Image.Image:
    head, _, data = url.partition(",")
    assert head == "data:image/jpeg;base64"
    return shown(base64.b64decode(data))


def sent(case: Dispute, store: MediaStore) -> list[tuple[str, Image.Image]]:
    """What a model is sent of its first picture: each with what is said before it."""
    (message,) = to_wire((Message("user", (next(case.media()),)),), store)
    labels = [part["text"] for part in message["content"] if part["type"] == "text"]
    urls = [part["image_url"]["url"] for part in message["content"] if part["type"] == "image_url"]
    return list(zip(labels, map(shown_wire, urls), strict=True))


def remarks(case: Dispute, store: MediaStore) -> str:
    return " ".join(finding.message for finding in check(case, store) if "m1" in finding.field)


@pytest.mark.parametrize("tones", [(20_000, 40_000), (1_000, 4_000)])
def test_deep_tones_of_grey_are_scaled_and_not_clipped(store: MediaStore, tones: tuple[int, int]) -> None:
    steps = np.repeat(np.array([tones], dtype=np.uint16), 40, axis=0).repeat(40, axis=1)
    case = case_with(saved(Image.fromarray(steps)), store)
    ((_, image),) = sent(case, store)
    dark, light = image.convert("L").getpixel((10, 20)), image.convert("L").getpixel((70, 20))
    assert (dark < 10, light > 245) == (True, True)
    assert "has more than 256 tones of grey" in remarks(case, store)


@pytest.mark.parametrize(("colours", "ground"), [(["white"], "black"), (["white", "black"], "grey")])
def test_what_is_visible_stands_out_from_its_ground(store: MediaStore, colours: list[str], ground: str) -> None:
    image = Image.new("RGBA", (300, 100), (0, 0, 0, 0))
    for number, colour in enumerate(colours):
        ImageDraw.Draw(image).rectangle((20, 10 + 40 * number, 200, 30 + 40 * number), fill=colour)
    case = case_with(saved(image), store)
    ((_, copy),) = sent(case, store)
    grey = copy.convert("L")
    around = grey.getpixel((280, 50))
    assert all(abs(grey.getpixel((100, 20 + 40 * n)) - around) > 48 for n in range(len(colours)))
    assert f"it is shown on {ground}" in remarks(case, store)


def test_a_large_picture_arrives_as_parts_in_order(store: MediaStore) -> None:
    page = Image.linear_gradient("L").resize((900, 14_000))  # black at the top, white at the bottom
    case = case_with(saved(page), store)
    parts = sent(case, store)
    labels = [f"Image 0, part {number} of 15, from top to bottom:" for number in (1, 2)]
    assert [label for label, _ in parts][:2] == labels
    assert {image.size for _, image in parts} == {(900, 1024)}, "nothing is shrunk"
    tones = [image.convert("L").getpixel((450, 512)) for _, image in parts]
    assert tones == sorted(set(tones))
    assert "it is shown in 15 parts, from top to bottom" in remarks(case, store)
    assert next(case.media()).pictures == 15, "they count where the tokens of a prompt are estimated"
    assert fewer_frames((Message("user", (next(case.media()),)),)) is None, "no part is left out to save tokens"
    wide = sent(case_with(saved(Image.new("RGB", (5_000, 700), "teal")), store), store)
    assert wide[0][0] == "Image 0, part 1 of 6, from left to right:"
    assert all(image.height == 700 for _, image in wide)
    case = case_with(saved(Image.new("L", (300, 6_001))), store)
    heights = [shown(view.jpeg).height for view in store.sent(next(case.media()).sha256 or "").views]
    assert sum(heights) - 6_001 >= 64 * (len(heights) - 1), "each line is whole in some part"


@pytest.mark.parametrize(("form", "options"), [("GIF", {}), ("WEBP", {"lossless": True})])
def test_an_animation_is_shown_as_its_frames(store: MediaStore, form: str, options: dict[str, Any]) -> None:
    frames = [Image.new("RGB", (60, 40), colour) for colour in ("red", "red", "lime", "blue")]
    data = saved(frames[0], form, save_all=True, append_images=frames[1:], duration=500, **options)
    case = case_with(data, store, f"photo.{form.lower()}")
    shown = sent(case, store)
    labels = [label.rpartition(", at ")[0] for label, _ in shown]
    assert labels == [f"Image 0, frame {number} of 3" for number in (1, 2, 3)]
    assert [max(range(3), key=image.getpixel((30, 20)).__getitem__) for _, image in shown] == [0, 1, 2]
    assert "3 of its 3 different frames are shown" in remarks(case, store)


def test_a_picture_that_loses_what_it_shows_is_told(store: MediaStore) -> None:
    hidden = Image.effect_noise((60, 40), 80).convert("RGBA")
    hidden.putalpha(0)
    near = [Image.new("RGB", (60, 40), (tone,) * 3) for tone in (0, 240)]
    for image in near:
        image.paste(tuple(tone + 15 for tone in image.getpixel((0, 0))), (20, 10, 40, 30))
    for image in (hidden, *near):
        assert "nearly all of one colour as members see it" in remarks(case_with(saved(image), store), store)
    assert not remarks(case_with(png(), store), store).count("colour"), "this file is of one colour itself"
    assert "shown at 25% of its size" in remarks(case_with(png((4_032, 3_024)), store), store)
    frames = [Image.new("RGB", (300, 4_000), colour) for colour in ("red", "blue")]
    moving = saved(frames[0], "GIF", save_all=True, append_images=frames[1:])
    assert "shown at 26% of its size" in remarks(case_with(moving, store, "a.gif"), store)


def test_a_picture_under_another_ending_is_read_with_a_remark(store: MediaStore) -> None:
    case = case_with(saved(Image.effect_noise((60, 40), 80), "JPEG"), store, "photo.png")
    assert sent(case, store)[0][1].size == (60, 40)
    assert "photo.png is really a JPEG picture, and is read as one." in remarks(case, store)
    (package,) = read_upload("case.zip", write_zip(case, store))
    again = {finding.message for finding in check(package.case, package.files) if "m1" in finding.field}
    assert "photo.png is really a JPEG picture, and is read as one." in again


def test_a_case_of_an_earlier_store_says_what_to_do(store: MediaStore) -> None:
    case = case_with(saved(Image.new("RGB", (900, 5_000), "teal")), store)
    first = case.evidence[0]
    media = tuple(medium.model_copy(update={"views": None}) for medium in first.media)
    earlier = case.model_copy(update={"evidence": (first.model_copy(update={"media": media}), *case.evidence[1:])})
    assert len(sent(earlier, store)) == 1, "recorded questions are what they were"
    (now,), (then,) = ([medium for medium in one.media() if medium.id == "m1"] for one in (case, earlier))
    assert Message("user", (now,)).digest() != Message("user", (then,)).digest(), "a copy is no parts"
    assert "views" not in then.model_dump(), "the hash of a case that was taken in earlier stays"
    assert "Download the case as ZIP, and import that" in remarks(earlier, store)
    (package,) = read_upload("case.zip", write_zip(earlier, store))
    assert isinstance(package, Package)
    assert next(package.case.with_media(store.keep(package.files)).media()).views == 6


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


def test_text_is_one_string_parts_that_are_shared_come_first_and_a_missing_file_is_named(tmp_path: Path) -> None:
    messages = (Message("system", ("Be fair.",)), Message("user", ("The case.\n", "The question.\n")))
    said = {"system": "Be fair.", "user": "The case.\n\nThe question.\n"}
    assert to_wire(messages, MediaStore(tmp_path)) == [{"role": who, "content": said[who]} for who in said]
    lost = Medium(id="photo", kind="image", file="a.png")
    content = to_wire((Message("user", (lost,)),), MediaStore(tmp_path))[0]["content"]
    assert content == [{"type": "text", "text": "[image 0: the file is missing]"}]
    store = MediaStore(tmp_path)
    medium = picture(store)
    for common in (("The case.", "The rules."), ("The case.", "The rules.", medium)):
        one, other = (to_wire((Message("user", (*common, own)),), store)[0]["content"] for own in ("A", "B"))
        assert one[:-1] == other[:-1]
        assert one != other


def test_each_picture_stands_behind_its_name_and_frames_are_those_nearest_to_the_moments(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    content = to_wire((Message("user", ("Look:", picture(store), "Well?")),), store)[0]["content"]
    assert [part["type"] for part in content] == ["text", "text", "image_url", "text"]
    assert content[1]["text"] == "Image 0:"
    assert shown_wire(content[2]["image_url"]["url"]).size == (64, 48)
    assert nearest([0.0, 1.5, 3.0, 4.5], (3.1, 4.0, 99.0, 2.9)) == [2, 3]
    assert nearest([], (1.0,)) == []


def test_a_video_is_shown_as_frames_each_with_its_time(tmp_path: Path) -> None:
    store = MediaStore(tmp_path / "store")
    made = clip(tmp_path / "a.webm", 80, codec="VP80")
    medium = Medium(id="clip", kind="video", file="a.webm", sha256=store.take(made.read_bytes(), "a.webm"))
    content = to_wire((Message("user", (medium,)),), store)[0]["content"]
    label, rest = content[0], content[1:]
    times, frames = rest[::2], rest[1::2]
    assert label["text"] == f"Video 0, {FRAMES_OF_A_VIDEO} frames:"
    assert len(times) == len(frames) == FRAMES_OF_A_VIDEO
    assert times[0]["text"] == "at 00:00.0:"
    assert times[-1]["text"] == "at 00:07.9:"
    assert len({time["text"] for time in times}) == FRAMES_OF_A_VIDEO, "each frame can be cited"
    first, last = (shown_wire(frames[place]["image_url"]["url"]).convert("L").getpixel((5, 5)) for place in (0, -1))
    assert first < last
    some = to_wire((Message("user", (medium.model_copy(update={"most_frames": 4}),)),), store)[0]["content"]
    labels = [part["text"] for part in some if "text" in part]
    seconds = [f"at 00:0{second}" for second in (0, 2, 4, 6)]
    assert (labels[0], [text[:8] for text in labels[1:]]) == ("Video 0, 4 frames:", seconds)


PHOTO = Medium(id="photo", kind="image", file="p.png")
CLIP = Medium(id="clip", kind="video", file="c.webm")
KETTLE = CASE.model_copy(update={"evidence": (Evidence(id="buyer-1", side="buyer", media=(PHOTO, CLIP)),)})


def clues(*findings: dict[str, Any]) -> tuple[Clue, ...]:
    found = tuple(Finding.model_validate({"media_type": "image", "description": "A dent.", **f}) for f in findings)
    seen = Perception(visual_findings=found, evidence_summary="A dent.", support_strength="weak", is_sufficient=False)
    return (Clue(evidence_id="buyer-1", media=("photo", "clip"), perception=seen),)


def test_what_findings_name_is_shown_and_a_video_at_their_moments() -> None:
    assert key_media(KETTLE, clues(), None) == ()
    assert key_media(KETTLE, clues({"media_index": 1}, {"media_index": 7}), None) == ()
    assert key_media(KETTLE, clues({"media_index": 0}), None) == (PHOTO,)
    at = [{"media_index": 1, "timestamp": t} for t in ("00:09", "00:05", "00:05")]
    assert key_media(KETTLE, clues(*at), None) == (CLIP.model_copy(update={"moments": (5.5, 9.5)}),)
