"""Messages as providers take them."""

import base64
import io
from pathlib import Path
from typing import Any

from PIL import Image

from courtroom.cases.dispute import Evidence
from courtroom.media.medium import Medium
from courtroom.media.store import MediaStore
from courtroom.media.videos import MAX_FRAMES
from courtroom.models.request import Message
from courtroom.models.wire import nearest, to_wire
from courtroom.procedures.cyberjurors.evidence import key_media
from courtroom.procedures.cyberjurors.tasks import Clue, Finding, Perception
from tests.pictures import clip
from tests.say import picture
from tests.toy import CASE


def shown(url: str) -> Image.Image:
    head, _, data = url.partition(",")
    assert head == "data:image/jpeg;base64"
    return Image.open(io.BytesIO(base64.b64decode(data)))


def test_text_is_one_string_parts_that_are_shared_come_first_and_a_missing_file_is_named(tmp_path: Path) -> None:
    messages = (Message("system", ("Be fair.",)), Message("user", ("The case.\n", "The question.\n")))
    assert to_wire(messages, MediaStore(tmp_path)) == [
        {"role": "system", "content": "Be fair."},
        {"role": "user", "content": "The case.\n\nThe question.\n"},
    ]
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
    assert shown(content[2]["image_url"]["url"]).size == (64, 48)
    assert nearest([0.0, 1.5, 3.0, 4.5], (3.1, 4.0, 99.0, 2.9)) == [2, 3]
    assert nearest([], (1.0,)) == []


def test_a_video_is_shown_as_frames_each_with_its_time(tmp_path: Path) -> None:
    store = MediaStore(tmp_path / "store")
    made = clip(tmp_path / "a.webm", 80, codec="VP80")
    medium = Medium(id="clip", kind="video", file="a.webm", sha256=store.take(made.read_bytes(), "a.webm"))
    content = to_wire((Message("user", (medium,)),), store)[0]["content"]
    label, rest = content[0], content[1:]
    times, frames = rest[::2], rest[1::2]
    assert label["text"] == f"Video 0, {MAX_FRAMES} frames:"
    assert len(times) == len(frames) == MAX_FRAMES
    assert times[0]["text"] == "at 00:00.0:"
    assert times[-1]["text"] == "at 00:07.9:"
    assert len({time["text"] for time in times}) == MAX_FRAMES, "each frame can be cited"
    first, last = (shown(frames[place]["image_url"]["url"]).convert("L").getpixel((5, 5)) for place in (0, -1))
    assert first < last
    some = to_wire((Message("user", (medium.model_copy(update={"most_frames": 4}),)),), store)[0]["content"]
    labels = [part["text"] for part in some if "text" in part]
    assert (labels[0], [text[:8] for text in labels[1:]]) == (
        "Video 0, 4 frames:",
        [f"at 00:0{second}" for second in (0, 2, 4, 6)],
    )


# --- the pictures and video frames that an analysis is shown --------------------------------------------------


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
