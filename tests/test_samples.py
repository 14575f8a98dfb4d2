"""What is shipped: cases, media, precedents, personas; and that the offline model hears every case."""

from __future__ import annotations

import importlib.util
import json
import subprocess
import sys
from collections.abc import Iterator
from io import BytesIO
from pathlib import Path
from types import ModuleType

import pytest
from PIL import Image

from courtroom.cases.checks import check
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import CATEGORIES, Dispute
from courtroom.courthouse import Courthouse
from courtroom.panel.personas import pool
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.settings import DATA, Settings
from tests.real import FOLDER, needs_real_data

FOLDERS = sorted(path.parent.name for path in (DATA / "cases").glob("*/case.json"))
CRIMINAL = [name for name in FOLDERS if name.startswith("criminal-")]
IDS = [name for name in FOLDERS if name not in CRIMINAL]


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("home")))
    yield house
    house.close()


def dispute(house: Courthouse, name: str) -> Dispute:
    case = house.library.case(name)
    assert isinstance(case, Dispute)
    return case


def test_there_are_disputes_of_all_kinds(house: Courthouse) -> None:
    cases = [dispute(house, name) for name in IDS]
    assert len(cases) >= 10
    assert {case.category for case in cases} == set(CATEGORIES)
    assert sum(case.language == "zh" for case in cases) >= 2
    assert sum(medium.kind == "video" for case in cases for medium in case.media()) >= 4
    margins = [abs(case.jury.buyer - case.jury.seller) for case in cases if case.jury]
    assert min(margins) == 1
    assert max(margins) >= 15
    assert all(case.fictional and "Written for Courtroom" in case.source for case in cases)


@pytest.mark.parametrize("name", FOLDERS)
def test_a_sample_passes_its_own_checks_and_its_media_open(house: Courthouse, name: str) -> None:
    case = house.library.case(name)
    assert [finding for finding in check(case, house.media) if finding.severity == "error"] == []
    for medium in case.media():
        assert medium.sha256
        assert medium.description
        if medium.kind == "video":
            frames = house.media.frames(medium.sha256)
            assert 2 <= len(frames) <= 30
            assert frames[-1].timestamp_s > 2
        else:
            assert house.media.image(medium.sha256).startswith(b"\xff\xd8")


@pytest.mark.parametrize("name", IDS)
def test_the_offline_model_hears_every_sample_to_a_verdict(house: Courthouse, name: str) -> None:
    run = house.new_run("cyberjurors", house.library.case(name), CyberJurorsSetup(), 0)
    house.runner.go(run)
    house.runner.wait(run, 10)
    record = house.record(run)
    assert record.run.status == "done"
    assert record.run.verdict is not None
    assert record.run.verdict.outcome in ("buyer", "seller")
    assert record.failed == 0


def test_there_are_criminal_cases_in_both_languages_and_with_key_frames(house: Courthouse) -> None:
    cases = [case for name in CRIMINAL if isinstance(case := house.library.case(name), CriminalCase)]
    assert len(cases) >= 12
    assert sum(case.language == "zh" for case in cases) >= 6
    assert sum(bool(case.frames) for case in cases) >= 3
    assert all(case.fictional and case.gold and case.defendants for case in cases)
    statutes = house.knowledge.statutes.all()
    for case in cases:
        assert case.gold is not None
        assert case.gold.term_of_imprisonment is not None
        named = case.gold.relevant_articles or ()
        bands = [band for statute in statutes if statute.number in named for band in statute.bands]
        assert len(named) > 1 or any(b.holds(case.gold.term_of_imprisonment) for b in bands)


@pytest.mark.parametrize("procedure", ["jurisagents", "verdict"])
@pytest.mark.parametrize("name", CRIMINAL)
def test_the_offline_model_hears_every_criminal_case_to_a_judgment(
    house: Courthouse, procedure: str, name: str
) -> None:
    case = house.library.case(name)
    run = house.new_run(procedure, case, house.procedures[procedure].setup(), 0)
    house.runner.go(run)
    house.runner.wait(run, 60)
    record = house.record(run)
    assert record.run.status == "done", record.run.reason
    assert record.run.verdict is not None
    assert record.run.verdict.details["judgment"]["relevant_articles"]


def test_the_digest_is_marked_as_unofficial_and_holds_the_much_used_articles(house: Courthouse) -> None:
    statutes = house.knowledge.statutes.all()
    assert len(statutes) >= 80
    assert all(statute.digest and statute.text.zh and statute.text.en and statute.charges for statute in statutes)
    assert {133, 232, 234, 263, 264, 266, 293, 303, 347, 385} <= {statute.number for statute in statutes}


@needs_real_data
def test_the_digest_is_in_our_own_words(house: Courthouse) -> None:
    rows = (FOLDER / "criminal_law_prc_2023.jsonl").read_text(encoding="utf-8").splitlines()
    law = "".join(json.loads(row)["text"] for row in rows)
    for statute in house.knowledge.statutes.all():
        text = statute.text.zh
        assert not [text[i : i + 18] for i in range(len(text) - 17) if text[i : i + 18] in law], statute.id


def test_there_are_at_least_forty_precedents_with_opinions_and_norms(house: Courthouse) -> None:
    precedents = house.knowledge.precedents.all()
    assert len(precedents) >= 40
    assert all(precedent.opinions and precedent.norms for precedent in precedents)
    assert {precedent.category for precedent in precedents} == set(CATEGORIES)
    assert {precedent.winner for precedent in precedents} == {"buyer", "seller"}


def test_the_pool_of_personas_is_diverse() -> None:
    assert len(pool()) >= 51
    assert len({persona.name for persona in pool()}) == len(pool())
    assert len({persona.gender for persona in pool()}) >= 3
    assert max(p.age for p in pool()) - min(p.age for p in pool()) > 40


def test_drawing_a_picture_again_gives_the_same_bytes(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.syspath_prepend(DATA)
    script = _script()
    names = ["phone-battery/buyer-1-settings.png", "sneakers-worn/seller-1-soles.png"]
    for path in script.draw_pictures(tmp_path, names):
        case, file = path.parts[-3], path.name
        assert path.read_bytes() == (DATA / "cases" / case / "media" / file).read_bytes()


def _script() -> ModuleType:
    spec = importlib.util.spec_from_file_location("draw_media", DATA / "draw_media.py")
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def drawn(folder: Path) -> dict[str, bytes]:
    """The key frames of the criminal cases, drawn anew by a process of its own, by their paths."""
    subprocess.run([sys.executable, str(DATA / "draw_frames.py"), str(folder)], check=True, capture_output=True)
    return {str(path.relative_to(folder)): path.read_bytes() for path in folder.rglob("*.png")}


def test_the_key_frames_are_drawn_again_to_the_same_bytes_and_are_those_bundled(tmp_path: Path) -> None:
    first, second = drawn(tmp_path / "first"), drawn(tmp_path / "second")
    assert first == second
    assert set(first) == {
        str(path.relative_to(DATA / "cases")) for name in CRIMINAL for path in (DATA / "cases" / name).rglob("*.png")
    }
    for name, data in first.items():  # compared as pictures: how well PNG is packed is the library's own matter
        again, bundled = Image.open(BytesIO(data)), Image.open(DATA / "cases" / name)
        assert (again.mode, again.size, again.getpalette()) == (bundled.mode, bundled.size, bundled.getpalette())
        assert again.tobytes() == bundled.tobytes(), name
