"""What the checks find, each with the field and the mend, and what they leave alone."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.checks import check
from courtroom.cases.dispute import Dispute
from courtroom.cases.files import read_folder
from courtroom.cases.library import take_media
from courtroom.media.store import MediaStore
from courtroom.settings import DATA
from tests.pictures import clip, png

DEAL = {"product": "Kettle", "price": 20, "description": "Like new."}
ORDERED = "2026-03-05T10:00:00"
SELLER = {"id": "seller-1", "side": "seller", "text": "It left me whole."}


def dispute(*evidence: dict[str, Any], **changes: Any) -> Dispute:
    given = [*evidence, *([] if any(piece["side"] == "seller" for piece in evidence) else [SELLER])]
    case = {"id": "kettle", "title": "Kettle", "category": "Other", "transaction": DEAL, "evidence": given}
    return Dispute.model_validate({**case, **changes})


def says(text: str, *media: dict[str, Any]) -> dict[str, Any]:
    return {"id": "buyer-1", "side": "buyer", "text": text, "media": list(media)}


def medium(file: str, kind: str = "image", description: str = "The lid.") -> dict[str, Any]:
    return {"id": Path(file).stem, "kind": kind, "file": file, "description": description}


def found(case: Dispute, files: Mapping[str, bytes] | MediaStore) -> list[str]:
    return [f"{one.severity} {one.field}: {one.message}" for one in check(case, files)]


@pytest.mark.parametrize("folder", sorted((DATA / "cases").iterdir()), ids=lambda folder: folder.name)
def test_no_sample_has_a_finding(folder: Path) -> None:
    package = read_folder(folder)
    assert check(package.case, package.files) == []


LID = "lid.png has no description: members that can't see will know nothing of it. Add one."


@pytest.mark.parametrize(
    ("case", "told"),
    [
        (dispute(evidence=[]), "error evidence: Neither side has submitted any evidence. Add what each side claims."),
        (dispute(), "warning evidence: The buyer has submitted no evidence. Add its claim, if it has one."),
        (
            dispute(says("", medium("lid.png"))),
            "warning evidence: The buyer's evidence says nothing in words. Write what the buyer claims.",
        ),
        (dispute(says("")), "error evidence › buyer-1: This piece is empty. Write what it claims, or remove it."),
        (
            dispute({**says("It leaks."), "at": "2026-03-01T10:00:00"}, transaction={**DEAL, "ordered_at": ORDERED}),
            "warning evidence › buyer-1 › at: This piece is older than the order. Correct one of the dates.",
        ),
        (
            dispute(says("Look.", medium("media/lid.png"))),
            "error media › lid: media/lid.png is named but absent. Add the file, or remove it from the case.",
        ),
        (dispute(says("Look.", medium("lid.png", description=""))), f"warning media › lid: {LID}"),
        (dispute(says("Look.", medium("lid.png", description="   "))), f"warning media › lid: {LID}"),
        (
            dispute(says("Look.", medium("../lid.png"))),
            "error media › lid: ../lid.png leads out of the case's folder. Put the file into it, and name it from there.",
        ),
        (
            dispute(says("It leaks."), transaction={"product": "Kettle", "price": 1}),
            "warning transaction › description: The listing's text is missing. Add it: jurors compare the item with it.",
        ),
        (
            dispute(says("It leaks."), jury={"buyer": 1, "seller": 0, "opinions": [{"side": "seller", "text": "No."}]}),
            "warning jury › opinions: There are more opinions for a side than votes. Correct the counts.",
        ),
    ],
)
def test_what_is_wrong_with_a_case_is_told_with_the_mend(case: Dispute, told: str) -> None:
    assert told in found(case, {"lid.png": png(), "../lid.png": png()})


@pytest.mark.parametrize(
    ("ordered", "delivered", "wrong"),
    [
        ("2026-03-05T10:00:00", "2026-03-04T10:00:00", True),
        ("2026-03-05T10:00:00", "2026-03-05T10:00:00", False),
        ("2026-03-05T10:00:00", "2026-03-06T10:00:00", False),
        ("2026-03-05T10:00:00+08:00", "2026-03-05T03:00:00Z", False),
        ("2026-03-05T10:00:00+08:00", "2026-03-05T01:00:00Z", True),
        ("2026-03-05T10:00:00+08:00", "2026-03-05T11:00:00", False),
        ("2026-03-05T10:00:00", "2026-03-05T09:00:00Z", True),
    ],
)
def test_an_order_cannot_be_delivered_before_it_was_placed(ordered: str, delivered: str, wrong: bool) -> None:
    case = dispute(says("It leaks."), transaction={**DEAL, "ordered_at": ordered, "delivered_at": delivered})
    told = "error transaction › delivered_at: The order is delivered before it was placed. Correct one of the dates."
    assert found(case, {}) == ([told] if wrong else [])


@pytest.mark.parametrize(
    ("data", "told"),
    [
        (b"", "lid.png is empty. Export the picture again."),
        (b"no picture at all ...", "lid.png is no picture that can be read. Save it as PNG or JPEG."),
    ],
)
def test_a_picture_that_is_no_use_is_an_error(data: bytes, told: str) -> None:
    assert found(dispute(says("Look.", medium("lid.png"))), {"lid.png": data}) == [f"error media › lid: {told}"]


def test_a_video_that_is_no_use_is_an_error(tmp_path: Path) -> None:
    case = dispute(says("Look.", medium("clip.webm", "video")))
    whole = clip(tmp_path / "clip.webm", codec="VP80").read_bytes()
    assert check(case, {"clip.webm": whole}) == []
    (cut,) = found(case, {"clip.webm": whole[: len(whole) // 2]})
    assert cut.startswith("error media › clip: clip.webm is cut off: it ends at 00:00 but says it lasts 00:02.")


def test_a_case_in_the_store_is_checked_by_its_kept_files(tmp_path: Path) -> None:
    store = MediaStore(tmp_path)
    case = dispute(says("Look.", medium("lid.png")))
    assert len(found(case, store)) == 1
    kept = take_media(case, {"lid.png": png()}, store)
    assert check(kept, store) == []
    next(tmp_path.iterdir()).unlink()
    (told,) = found(kept, store)
    assert "missing from the store. Upload the case again." in told


@pytest.mark.parametrize(
    ("text", "word"),
    [
        ("As the photo shows, it leaks.", "picture"),
        ("See the attached SCREENSHOTS.", "picture"),
        ("如图，壶盖裂了。", "picture"),
        ("See the video from 00:05 on.", "video"),
        ("开箱视频可以证明。", "video"),
        ("There was no photo in the listing, but the picture I took shows it.", "picture"),
        ("There is no damage, as the photo shows.", "picture"),
        ("The lid does not close as the video shows.", "video"),
        ("没有划痕，如图。", "picture"),
        ("It leaks. I have no photo of it.", ""),
        ("There is not a single video.", ""),
        ("I did not take a photo and never sent any video.", ""),
        ("The seller gave no clear picture.", ""),
        ("我没有拍视频。", ""),
        ("I pictured it otherwise, and photosynthesis has nothing to do with it.", ""),
        ("It leaks.", ""),
    ],
)
def test_a_text_that_speaks_of_a_medium_that_is_not_there_is_told(text: str, word: str) -> None:
    told = f"The text speaks of a {word}, but the buyer has submitted none. Add it, or reword."
    assert found(dispute(says(text)), {}) == ([f"warning evidence › buyer-1 › text: {told}"] if word else [])


def test_a_medium_of_another_piece_of_the_same_side_counts_and_the_other_side_s_does_not() -> None:
    other = {**says("The lid.", medium("lid.png")), "id": "buyer-2"}
    assert check(dispute(says("See my photo."), other), {"lid.png": png()}) == []
    theirs = {**SELLER, "media": [medium("lid.png")]}
    assert len(found(dispute(says("See my photo."), theirs), {"lid.png": png()})) == 1


@pytest.mark.parametrize(
    ("text", "missing"),
    [
        ("The crack is in photo3.jpg", ["photo3.jpg"]),
        ("裂缝见photo3.jpg中", ["裂缝见photo3.jpg"]),
        ("The crack is in lid.png", []),
        ("The crack is in LID.PNG.", []),
        ("裂缝见lid.png中", []),
        ("Compare lid.png and base-2.png", ["base-2.png"]),
        ("The listing says v1.2 and costs 3.50", []),
    ],
)
def test_a_file_that_a_text_names_must_exist(text: str, missing: list[str]) -> None:
    told = "warning evidence › buyer-1 › text: The text names {}, which isn't among the media. Add it, or reword."
    case = dispute(says(text, medium("media/lid.png")))
    assert found(case, {"media/lid.png": png()}) == [told.format(name) for name in missing]
