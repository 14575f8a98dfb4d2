"""What is shipped: cases, media, precedents, personas, of which only what people decided is called real."""

import json

import pytest
from pydantic import ValidationError

from courtroom import Courthouse, Dispute
from courtroom.cases.checks import check
from courtroom.settings import DATA
from tests.driving import house as house  # a fixture
from tests.real import FOLDER, needs_real_data

FOLDERS = sorted(path.parent.name for path in (DATA / "cases").glob("*/case.json"))


@pytest.mark.parametrize("name", FOLDERS)
def test_a_sample_passes_its_own_checks_and_its_media_open(house: Courthouse, name: str) -> None:
    case = house.library.case(name)
    assert [finding for finding in check(case, house.media) if finding.severity == "error"] == []
    for medium in case.media():
        assert medium.description
        if medium.kind == "video":
            frames = house.media.frames(medium.sha256)
            assert 2 <= len(frames) <= 30
            assert frames[-1].timestamp_s > 2
        else:
            assert house.media.image(medium.sha256).startswith(b"\xff\xd8")


@needs_real_data
def test_the_digest_is_in_our_own_words(house: Courthouse) -> None:
    rows = (FOLDER / "criminal_law_prc_2023.jsonl").read_text(encoding="utf-8").splitlines()
    law = "".join(json.loads(row)["text"] for row in rows)
    for statute in house.knowledge.of("statutes").all():
        text = statute.text.zh
        assert not [text[i : i + 18] for i in range(len(text) - 17) if text[i : i + 18] in law], statute.id


def test_only_people_with_a_source_make_a_jury_or_a_judgment_real(house: Courthouse) -> None:
    data = house.library.case("phone-battery").model_dump() | {"fictional": False, "source": ""}
    assert Dispute.model_validate(data).votes_title == "Votes on record"
    people = {**data, "decided_by": "people", "source": "A platform's public records, 2024"}
    assert Dispute.model_validate(people).real_outcome().startswith("The real jury · ● buyer 16")
    assert Dispute.model_validate(data | {"decided_by": "predicted"}).votes_title == "Predicted votes"
    for without in ({"source": " "}, {"fictional": True}):
        with pytest.raises(ValidationError, match="has a source, and is not fictional"):
            Dispute.model_validate(people | without)
    public = house.library.case("criminal-bus-wallet").model_copy(update={"fictional": False})
    assert public.real_outcome().startswith("Judgment on record · ")
    assert public.model_copy(update={"decided_by": "people"}).real_outcome().startswith("Real judgment · ")
