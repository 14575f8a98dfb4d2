"""The film of a run: what it shows, how long it can be read, and that it plays."""

from pathlib import Path

import pytest
from PIL import Image, ImageFont

from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.film import film, length, poster, scene_to_film, storyboard
from courtroom.film import picture as pictures
from courtroom.film.picture import SIZES, Painter, fitted
from courtroom.film.storyboard import CHARACTERS_A_SECOND, Shot
from courtroom.language import speaking
from courtroom.room.scene import RoomScene
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


@pytest.mark.parametrize(("shape", "language", "seconds"), [("wide", "en", 20), ("tall", "zh", 60)])
def test_every_caption_can_be_read_and_nothing_is_cut_off(
    scenes: dict[str, RoomScene], shape: pictures.Shape, language: str, seconds: int
) -> None:
    """Every caption has time, and room in type that can be read; and every picture has the film's size."""
    across, down = (1160, 84) if shape == "wide" else (648, 240)
    with speaking(language):
        for scene in scenes.values():
            shots = storyboard(scene, seconds)
            assert 20 - 1e-6 <= length(shots) <= 60
            assert (shots[0].kind, shots[-1].kind) == ("title", "verdict")
            for shot in shots:
                assert shot.seconds >= len(shot.caption) / CHARACTERS_A_SECOND
                size, rows = fitted(shot.caption, across, down, 30)
                assert len(rows) * size * pictures.LINE_HEIGHT <= down
                assert size >= 20 or shot.kind == "verdict"
            assert Painter(scene, shape, "dark").picture(shots[-1]).size == SIZES[shape]


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
