"""Which voice was it? Audits that leave out one peer at a time, of juries that are scripted to listen or not."""

import json
import random
from pathlib import Path

import pytest

from courtroom.courthouse import Courthouse
from courtroom.models.request import Reply, Request, Usage, Watch
from courtroom.models.spec import ModelSpec
from courtroom.questions.audit import Audit, auditable
from courtroom.settings import Settings
from tests.driving import answered_by, drive
from tests.toy import text_of

LEADER = "The petrol at two places settles it for me."
RUNS = 8
AT_LEAST = 7
WRONG = 0.02
"""How often a scripted juror votes otherwise than by its script."""


class Jury:
    """Juror 1 votes guilty where it hears the leader, juror 2, or by chance alone; the others always vote guilty."""

    def __init__(self, *, listens: bool) -> None:
        self.listens = listens

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        text, chance = text_of(request), random.Random(request.key)
        seat = int(request.tag.partition("/juror-")[2][:2])
        vote = "guilty"
        if seat == 1:
            turned = LEADER in text if self.listens else chance.random() < 0.5
            wrong = self.listens and chance.random() < WRONG
            vote = "guilty" if turned != wrong else "not-guilty"
        statement = LEADER if seat == 2 else f"As juror {seat} I go by the insurance."
        return Reply(text=json.dumps({"statement": statement, "vote": vote}), usage=Usage(prompt=1, completion=1))


def audits(tmp_path: Path, *, listens: bool) -> list[Audit]:
    """An audit with voices of the first change of juror 1 in each of so many runs in which it changes sides."""
    house = answered_by(Courthouse(Settings(home=tmp_path)), Jury(listens=listens))
    procedure, case, found = house.procedures["mock-jury"], house.library.case("trial-boatyard-fire"), list[Audit]()
    spec = ModelSpec(id="scripted", vision="no")
    setup = procedure.setup.model_validate({"model": spec, "jury_size": 4, "rounds": 1, "personas": "none"})
    seed = 0
    while len(found) < RUNS:
        seed += 1
        record = house.record(drive(house, house.new_run("mock-jury", case, setup, seed)))
        calls = [one.call.path for one in auditable(procedure, record) if one.vote.member == "juror-01"]
        if calls:
            house.audits.start(house.audits.plan(record, calls, voices=True)).result(60)
            found += house.audits.of(record)
    house.close()
    return found


@pytest.mark.slow
def test_the_one_voice_that_is_listened_to_is_told(tmp_path: Path) -> None:
    named = [audit.carried_by for audit in audits(tmp_path, listens=True)]
    assert sum(voices == ("Juror 2",) for voices in named) >= AT_LEAST


@pytest.mark.slow
def test_where_nobody_listens_no_voice_is_told(tmp_path: Path) -> None:
    named = [audit.carried_by for audit in audits(tmp_path, listens=False)]
    assert sum(voices == () for voices in named) >= AT_LEAST
