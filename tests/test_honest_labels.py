"""Only what people decided is called real, and what ends a run is called what it is."""

import pytest
from pydantic import ValidationError

from courtroom.cases.dispute import Dispute
from courtroom.courthouse import Courthouse
from tests.driving import house

__all__ = ["house"]  # a fixture


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
