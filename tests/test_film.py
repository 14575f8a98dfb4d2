"""The scene that the room draws, made from the record alone; and the film of it: what it shows, how long it can be read."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageFont

from courtroom import Courthouse, CourtroomError, Record
from courtroom.engine.services import OpenCall
from courtroom.film import film, length, scene_to_film, storyboard
from courtroom.film import picture as pictures
from courtroom.film.picture import SIZES, Painter, fitted
from courtroom.film.storyboard import CHARACTERS_A_SECOND, Shot
from courtroom.language import speaking
from courtroom.room.scene import RoomScene, scene, spoken, spoken_so_far
from courtroom.room.scene import speaking as who_speaks
from tests import pages
from tests.driving import hearing
from tests.driving import house as house  # a fixture

RUNS = {
    "cyberjurors": ("phone-battery", {"jury_size": 7, "examination": "shared"}),
    "juris": ("meeting-mill-museum", {}),
    "courtroom-llm": ("message-feeling", {}),
    "jurisagents": ("criminal-ring-road", {}),
    "verdict": ("criminal-bus-wallet", {}),
}


@pytest.fixture(scope="module")
def records(house: Courthouse) -> dict[str, Record]:
    """A run of each of these procedures."""
    return {name: hearing(house, name, case, **knobs) for name, (case, knobs) in RUNS.items()}


@pytest.fixture(scope="module")
def scenes(house: Courthouse, records: dict[str, Record]) -> dict[str, RoomScene]:
    """Of them, and of a run of seventeen jurors in three rounds."""
    whole = house.record(pages.heard(house, "phone-battery", jury_size=17, rounds=3, consensus=1.0))
    named = {**records, "three rounds": whole}
    return {name: scene_to_film(one, house.procedures[one.run.procedure]) for name, one in named.items()}


@pytest.mark.parametrize(("shape", "language", "seconds"), [("wide", "en", 20), ("tall", "zh", 60)])
def test_captions_can_be_read(scenes: dict[str, RoomScene], shape: pictures.Shape, language: str, seconds: int) -> None:
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
    file = tmp_path / "new" / "folder" / "film.gif"
    film(Painter(scene, "tall", "dark"), shots, file)
    with Image.open(file) as image:
        assert image.format == "GIF"
        assert getattr(image, "n_frames", 1) == 2
        assert max(image.size) == 800
    assert Painter(scene, "wide", "light").picture(shots[-1]).size == SIZES["wide"]


def test_what_cannot_be_drawn_is_said(scenes: dict[str, RoomScene], monkeypatch: pytest.MonkeyPatch) -> None:
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


@pytest.mark.parametrize("procedure", RUNS)
def test_calls_and_votes_are_moments_at_seats(house: Courthouse, records: dict[str, Record], procedure: str) -> None:
    record = records[procedure]
    made = scene(record, house.procedures[procedure].about(record.case))
    assert [m.path for m in made.moments if m.kind == "call"] == [call.path for call in record.calls]
    votes = [(m.ballot, m.member, m.choice) for m in made.moments if m.kind == "vote"]
    cast = [(ballot, m, vote.choice) for ballot, given in record.ballots.items() for m, vote in given.items()]
    assert sorted(votes, key=str) == sorted(cast, key=str)
    seats = {seat.id: seat.place for seat in made.seats}
    assert all(seats[call.member] is not None for call in record.calls)
    placed = [place for place in seats.values() if place]
    assert len(set(placed)) == len(placed)
    assert all(0 <= at <= 100 for place in placed for at in place)
    if procedure in ("juris", "courtroom-llm"):  # candidates and parties stand for what is voted on
        offered = {m.side for m in made.moments if m.side}
        assert len(offered) == 2
        assert {choice for _, _, choice in votes if choice} <= offered
    assert made.moments[-1].kind == "verdict"
    assert made.verdict is not None
    assert made.stages_to_come == ()
    texts = [part.text for m in made.moments for part in m.parts] + [f.value for m in made.moments for f in m.facts]
    assert texts
    assert not [text for text in texts if text.lstrip().startswith(("{", "[")) or '":' in text]


ANSWER: Mapping[str, Any] = {
    "reasoning": ["The battery holds 71 % only.", "The listing promised 92 %, which nobody measured."],
    "degree": "strong",
    "is_sufficient": True,
    "nested": {"summary": "Both sides agree on the date of delivery."},
    "findings": [{"description": "A screen that shows seventy-one percent.", "index": 0}],
    "verdict": "buyer",
}


def test_sentences_and_facts_of_an_answer_are_told_apart_and_who_speaks_with_what_has_come_so_far() -> None:
    said = spoken(ANSWER)
    assert [part.label for part in said.parts] == ["Reasoning", "Summary", "Findings"]
    assert said.parts[2].text == "(index 0) A screen that shows seventy-one percent."
    assert {fact.label: fact.value for fact in said.facts}["Is sufficient"] == "yes"
    assert "buyer" in [fact.value for fact in said.facts]
    call = OpenCall(member="juror-03", title="Verdict", model="m", text='{"reasoning": ["The seal was broken befo')
    (one,) = who_speaks({"round-1/juror-03/judge": call})
    assert (one.member, one.parts[0].text) == ("juror-03", "The seal was broken befo")


@pytest.mark.parametrize("before", ["<think>Let me {see}.</think>\n", "Here it is:\n```json\n"])
def test_while_an_answer_streams_in_its_sentences_grow_and_no_brace_is_ever_shown(before: str) -> None:
    text = before + json.dumps(ANSWER)
    seen = [" ".join(p.text for p in spoken_so_far(text[:n]).parts) for n in range(len(text) + 1)]
    assert seen[-1].startswith("The battery holds 71 % only.")
    assert not [one for one in seen if "{" in one or '"' in one or "reasoning" in one]
    reached = [one for one in seen if "The listing promised 92 %, which nobody" in one]
    assert len(reached) > 20
