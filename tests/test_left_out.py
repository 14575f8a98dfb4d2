"""Models asked on texts alone: no picture, no video and no description of one reaches them."""

import json

import pytest

from courtroom.courthouse import Courthouse
from tests.asked import asked, media_of
from tests.driving import shell

CASE = "phone-battery"


@pytest.mark.parametrize("variant", ["baseline", "iv-cot"])
def test_on_texts_alone_no_prompt_holds_a_picture_a_description_or_its_name(house: Courthouse, variant: str) -> None:
    case, jury = house.library.case(CASE), {"variant": variant, "jury_size": 2, "rounds": 1}
    assert all(medium.description for medium in case.media())

    def shown(vision: str) -> tuple[int, set[str]]:
        questions = asked(house, "cyberjurors", {**jury, "model": {"vision": vision}}, case)
        text = "\n".join(one.text() for one in questions)
        assert case.evidence[0].text.splitlines()[0] in text
        named = {medium.id for medium in case.media() if medium.id in text or medium.description in text}
        return sum(len(media_of(one)) for one in questions), named

    everything = {medium.id for medium in case.media()}
    assert shown("left-out") == (0, set())
    pictures, described = shown("no")
    assert (pictures, described <= everything) == (0, True)
    assert len(described) >= len(everything) - 1, "a piece that nobody looked at is not described"
    assert shown("yes")[0] > 0
    assert variant != "baseline" or shown("yes")[0] == len(everything), "the one question has them all"


@pytest.mark.parametrize(("vision", "described"), [("no", True), ("left-out", False)])
def test_the_shell_takes_it_and_the_offline_model_obeys(house: Courthouse, vision: str, described: bool) -> None:
    told = shell("run", CASE, "--set", "variant=iv-cot", "--set", f"model.vision={vision}", "--json")
    record = house.record(json.loads(told)["run"])
    said = json.dumps([call.value for call in record.calls], ensure_ascii=False)
    assert ("Going by its description" in said) == described
    assert any("offline is asked on the texts alone" in note for note in record.notes) == (not described)
    assert any(call.described for call in record.calls) == described
