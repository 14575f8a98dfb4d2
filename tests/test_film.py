"""The film of a run: what it shows, how long it can be read, and that it plays."""

from pathlib import Path

import av
import pytest
from PIL import Image, ImageFont

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.film import film, length, poster, scene_to_film, storyboard
from courtroom.film import picture as pictures
from courtroom.film.film import PICTURES_A_SECOND
from courtroom.film.picture import SIZES, Painter, fitted, standing
from courtroom.film.storyboard import CHARACTERS_A_SECOND, Shot, key_sentence, shortened
from courtroom.language import speaking
from courtroom.room.scene import RoomScene, SpokenPart
from tests import pages
from tests.driving import house
from tests.test_room import RUNS, heard

__all__ = ["house"]  # a fixture


@pytest.fixture(scope="module")
def scenes(house: Courthouse) -> dict[str, RoomScene]:
    """A run of each of the procedures, and of seventeen jurors in three rounds."""
    records = {name: heard(house, name) for name in RUNS}
    whole = pages.heard(house, "phone-battery", jury_size=17, rounds=3, consensus=1.0)
    records["three rounds"] = house.record(whole)
    return {name: scene_to_film(one, house.procedures[one.run.procedure]) for name, one in records.items()}


@pytest.mark.parametrize("seconds", [20, 45, 60])
def test_every_caption_of_a_film_can_be_read(scenes: dict[str, RoomScene], seconds: int) -> None:
    for scene in scenes.values():
        shots = storyboard(scene, seconds)
        assert 20 - 1e-6 <= length(shots) <= 60
        first, last = shots[0], shots[-1]
        assert (first.kind, first.kept, last.kind, last.kept) == ("title", True, "verdict", True)
        for shot in shots:
            assert shot.seconds >= len(shot.caption) / CHARACTERS_A_SECOND


def test_what_matters_is_shown_rounds_changes_and_how_it_ended(scenes: dict[str, RoomScene]) -> None:
    shots = storyboard(scenes["three rounds"], 45)
    kept = [shot for shot in shots if shot.kept]
    assert sum(shot.kind == "count" for shot in kept) == 3
    changes = [shot for shot in shots if shot.kind == "change"]
    assert 0 < sum(shot.kept for shot in changes) <= len(changes)
    said = [shot.caption for shot in kept if shot.kind != "count"]
    assert len({*said}) == len(said), "nothing is said twice"
    assert [shot.moment for shot in shots] == sorted(shot.moment for shot in shots)


def test_the_change_that_turns_the_verdict_comes_before_other_changes(scenes: dict[str, RoomScene]) -> None:
    moments: list[dict[str, object]] = []
    before: dict[str, str] = {}
    for ballot, votes in enumerate(("aabbb", "aaabb", "aaaab")):
        for member, choice in zip("12345", votes, strict=True):
            path, said = f"{ballot}/{member}", f"This is what juror {member} thinks in ballot {ballot}."
            moments.append({"kind": "call", "path": path, "member": member, "parts": [{"label": "", "text": said}]})
            vote = {"choice": choice, "before": before.get(member), "call": path}
            moments.append({"kind": "vote", "ballot": str(ballot), "member": member, **vote})
            before[member] = choice
    scene = scenes["three rounds"].model_dump()
    scene["sides"] = [{**scene["sides"][0], "name": name} for name in "ab"]
    scene["verdict"] |= {"choice": True, "counts": {"a": 4, "b": 1}}
    shots = storyboard(RoomScene.model_validate({**scene, "moments": moments}))
    changes = [shot for shot in shots if shot.kind == "change"]
    assert [(shot.member, shot.weight) for shot in changes] == [("3", 9.0), ("4", 6.0)]


def test_a_caption_names_whom_a_member_followed() -> None:
    followed = "Grace Okafor is right about the light, but it was late."
    parts = (SpokenPart(label="Reason", text=f"The light was on. {followed}"),)
    assert key_sentence(parts) == f"The light was on. {followed}", "what is short goes on"
    assert key_sentence((*parts, *parts)) == f"The light was on. {followed} …", "it says that more was said"
    assert key_sentence(parts, ["Grace Okafor"]) == followed
    assert shortened("one two three four five six", 15) == "one two three…"
    assert len(shortened("这是一个很长的句子" * 30)) <= 60


@pytest.mark.parametrize("shape", ["wide", "tall"])
@pytest.mark.parametrize("language", ["en", "zh"])
def test_nothing_is_cut_off(scenes: dict[str, RoomScene], shape: pictures.Shape, language: str) -> None:
    """Every caption has room in type that can be read, and every picture has the film's size."""
    across, down = (1160, 84) if shape == "wide" else (648, 240)
    with speaking(language):
        for scene in scenes.values():
            shots = storyboard(scene)
            for shot in shots:
                size, rows = fitted(shot.caption, across, down, 30)
                assert len(rows) * size * pictures.LINE_HEIGHT <= down
                assert size >= 20 or shot.kind == "verdict"
            assert Painter(scene, shape, "dark").picture(shots[-1]).size == SIZES[shape]


def test_a_picture_shows_the_votes_as_they_stood(scenes: dict[str, RoomScene]) -> None:
    scene = scenes["three rounds"]
    change = next(shot for shot in storyboard(scene) if shot.kind == "change")
    before, after = standing(scene, change.moment - 1), standing(scene, change.moment)
    assert before.votes[change.member].choice != after.votes[change.member].choice
    painter = Painter(scene, "wide", "light")
    assert painter.picture(change, before=True).tobytes() != painter.picture(change).tobytes()
    last = standing(scene, len(scene.moments) - 1)
    assert scene.verdict is not None
    assert sum(vote.choice == "buyer" for vote in last.votes.values()) == scene.verdict.counts["buyer"]


def test_an_mp4_is_h264_with_the_seconds_of_its_storyboard(scenes: dict[str, RoomScene], tmp_path: Path) -> None:
    scene, told = scenes["three rounds"], []
    shots = storyboard(scene, 20)
    file = tmp_path / "film.mp4"
    film(scene, shots, file, progress=told.append)
    with av.open(str(file)) as container:
        stream = container.streams.video[0]
        assert stream.codec_context.name == "h264"
        assert (stream.width, stream.height) == SIZES["wide"]
        assert sum(1 for _frame in container.decode(stream)) == pytest.approx(length(shots) * PICTURES_A_SECOND, abs=1)
    assert file.stat().st_size <= 12_000_000
    assert told == sorted(told)
    assert told[-1] == pytest.approx(1)


def test_a_gif_shows_the_moments_that_are_kept(scenes: dict[str, RoomScene], tmp_path: Path) -> None:
    scene = scenes["three rounds"]
    shots = [shot.model_copy(update={"kept": shot.kind in ("title", "verdict")}) for shot in storyboard(scene)]
    file = tmp_path / "film.gif"
    film(scene, shots, file, shape="tall", theme="dark")
    with Image.open(file) as image:
        assert image.format == "GIF"
        assert getattr(image, "n_frames", 1) == 2
        assert max(image.size) == 800
    assert poster(scene, shots).size == SIZES["wide"]


def test_what_cannot_be_drawn_is_said_in_a_sentence(
    scenes: dict[str, RoomScene], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    scene = scenes["three rounds"]
    with pytest.raises(CourtroomError, match="ends in .mp4 or .gif"):
        film(scene, storyboard(scene), tmp_path / "film.avi")
    none = [shot.model_copy(update={"kept": False}) for shot in storyboard(scene)]
    with pytest.raises(CourtroomError, match="Keep at least one"):
        film(scene, none, tmp_path / "film.mp4")
    of_this_computer = ImageFont.truetype

    def without_chinese(name: str, *given: object, **named: object) -> ImageFont.FreeTypeFont:
        if "/" not in name:
            raise OSError("cannot open resource")
        return of_this_computer(name, *given, **named)  # type: ignore[arg-type]

    pictures._font.cache_clear()
    monkeypatch.setattr(ImageFont, "truetype", without_chinese)
    chinese = Shot(kind="title", moment=-1, caption="两张看台票")
    with pytest.raises(CourtroomError, match="no font with Chinese characters"):
        Painter(scene, "wide", "light").picture(chinese)
    pictures._font.cache_clear()
