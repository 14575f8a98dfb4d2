"""What can be taken away from a run, prompts, rehearsals and the shell's settings."""

from typing import Any

import pytest

from courtroom.cases.dispute import PrecedentBatch
from courtroom.courthouse import Courthouse
from courtroom.engine.changes import put, read_value
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.models.spec import ModelSpec
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from tests.driving import drive, house

__all__ = ["house"]  # a fixture


def heard(house: Courthouse, case: Any, setup: Any = None, procedure: str = "cyberjurors") -> Record:
    run = drive(house, house.new_run(procedure, case, setup or CyberJurorsSetup(jury_size=5), 0))
    return house.record(run)


def test_a_rehearsal_with_another_model_tells_tokens_and_says_where_a_price_is_unknown(house: Courthouse) -> None:
    setup = CyberJurorsSetup(jury_size=2, model=ModelSpec(id="openai/nobody-knows-it"))
    estimate = house.estimate("cyberjurors", house.library.case("oak-table"), setup, 0)
    (load,) = estimate.loads
    assert load.prompt_tokens > 1000
    assert load.completion_tokens > 100
    assert house.price(estimate) is None
    known = setup.model_copy(update={"model": ModelSpec(id="gpt-4o-mini")})
    price = house.price(house.estimate("cyberjurors", house.library.case("oak-table"), known, 0))
    assert price is not None
    assert price > 0


def test_distilling_gives_precedents_norms_once_and_the_next_sees_them(house: Courthouse) -> None:
    base = house.knowledge.precedents
    bare = [p.model_copy(update={"id": f"bare-{n}", "norms": ()}) for n, p in enumerate(base.all()[:2])]
    base.add(bare)
    batch = PrecedentBatch(id="batch", title="Two", precedents=tuple(bare))
    record = heard(house, batch, house.procedures["distillation"].setup(), "distillation")
    assert record.run.status == "done"
    learned = [base.get(p.id) for p in bare]
    assert all(p is not None and 2 <= len(p.norms) <= 4 for p in learned)
    base.add(bare)  # taken back by hand
    house.runner.go(record.run.id)
    again = base.get(bare[0].id)
    assert again.norms == ()


def test_settings_reach_into_lists_and_refuse_paths_that_lead_nowhere() -> None:
    values: dict[str, Any] = {"model": {"id": "offline"}, "jury": [{"traits": []}, {"traits": []}], "rounds": 3}
    put(values, "model.temperature", read_value("0.2"))
    put(values, "jury.2.traits", read_value('["stubborn"]'))
    put(values, "rounds", read_value("2"))
    assert values == {
        "model": {"id": "offline", "temperature": 0.2},
        "jury": [{"traits": []}, {"traits": ["stubborn"]}],
        "rounds": 2,
    }
    for path in ("jury.3.traits", "jury.x.traits", "rounds.deep.er"):
        with pytest.raises(CourtroomError):
            put(values, path, 1)
