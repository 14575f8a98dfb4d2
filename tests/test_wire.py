"""Messages as providers take them."""

import base64
import io
from pathlib import Path

from PIL import Image

from courtroom.media.medium import Medium
from courtroom.media.store import MAX_FRAMES, MediaStore
from courtroom.models.request import Message
from courtroom.models.wire import to_wire
from tests.pictures import video
from tests.say import picture


def shown(url: str) -> Image.Image:
    head, _, data = url.partition(",")
    assert head == "data:image/jpeg;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_text_alone_is_one_string(tmp_path: Path) -> None:
    messages = (Message("system", ("Be fair.",)), Message("user", ("The case.\n", "The question.\n")))
    assert to_wire(messages, MediaStore(tmp_path)) == [
        {"role": "system", "content": "Be fair."},
        {"role": "user", "content": "The case.\n\nThe question.\n"},
    ]


def test_members_who_share_parts_share_a_prefix(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    medium = picture(store)
    for common in (("The case.", "The rules."), ("The case.", "The rules.", medium)):
        one, other = (to_wire((Message("user", (*common, own)),), store)[0]["content"] for own in ("A", "B"))
        assert one[:-1] == other[:-1]
        assert one != other


def test_each_picture_stands_behind_its_name(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    content = to_wire((Message("user", ("Look:", picture(store), "Well?")),), store)[0]["content"]
    assert [part["type"] for part in content] == ["text", "text", "image_url", "text"]
    assert "photo" in content[1]["text"]
    assert shown(content[2]["image_url"]["url"]).size == (64, 48)


def test_a_video_is_shown_as_frames_each_with_its_time(tmp_path: Path) -> None:
    store = MediaStore(tmp_path / "store")
    made = video(tmp_path / "a.webm", seconds=8.0)
    medium = Medium(id="clip", kind="video", file="a.webm", sha256=store.take(made.read_bytes(), "a.webm"))
    content = to_wire((Message("user", (medium,)),), store)[0]["content"]
    label, rest = content[0], content[1:]
    times, frames = rest[::2], rest[1::2]
    assert label["text"] == f"Video clip, {MAX_FRAMES} frames:"
    assert len(times) == len(frames) == MAX_FRAMES
    assert times[0]["text"] == "at 00:00:"
    assert times[-1]["text"] == "at 00:07:"
    first, last = (shown(frames[place]["image_url"]["url"]).convert("L").getpixel((5, 5)) for place in (0, -1))
    assert first < last


def test_a_medium_without_a_file_is_named_as_missing(tmp_path: Path) -> None:
    lost = Medium(id="photo", kind="image", file="a.png")
    content = to_wire((Message("user", (lost,)),), MediaStore(tmp_path))[0]["content"]
    assert content == [{"type": "text", "text": "[image photo: the file is missing]"}]
