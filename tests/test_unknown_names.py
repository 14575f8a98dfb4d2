"""Roles and members that a setup names and that are not there are refused, with those that are, at every door."""

import json

import pytest

from courtroom import Courthouse, CourtroomError
from courtroom.datasets import Row
from courtroom.experiments.spec import parsed
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from pages.parts.shared.shown import literal
from tests.driving import arms_of, hearing, shell
from tests.pages import field, page, press, texts

SMALL = {"jury_size": 3, "rounds": 1, "examination": "shared"}
NO_ROLE = "roles.jurors: CyberJurors has no role “jurors”. Use one of juror, examiner, clerk."
NO_SEAT = "nobody sits in the seat “juror-99”. Use one of juror-01, juror-02, juror-03, clerk, examiner."


@pytest.mark.parametrize(("name", "sentence"), [("roles.jurors.id", NO_ROLE), ("members.juror-99.id", NO_SEAT)])
@pytest.mark.usefixtures("house")
def test_the_shell_refuses_a_name_that_stands_for_nobody(name: str, sentence: str) -> None:
    given = [f"--set={key}={value}" for key, value in {**SMALL, name: "openai/gpt-4o-mini"}.items()]
    with pytest.raises(CourtroomError, match="stands|role|seat") as refused:
        shell("run", "oak-table", *given)
    assert sentence in str(refused.value)
    assert shell("runs") == ""
    told = "The variant “baseline” asks one model alone: no jury of 16 is seated."
    assert CyberJurorsSetup(variant="baseline", jury_size=16).warnings() == (told,)
    assert CyberJurorsSetup(variant="baseline").warnings() == ()


def test_an_experiment_and_a_what_if_refuse_such_names(house: Courthouse) -> None:
    run = hearing(house, "cyberjurors", **SMALL).run.id
    arms = arms_of({"base": {}, "wrong": {"members.juror-99.id": "offline"}}, "cyberjurors")
    what_if = parsed({"name": "w", "dataset": {"run": run}, "arms": arms}, "The what-if")
    with pytest.raises(CourtroomError, match="wrong: members.juror-99: nobody sits"):
        house.experiments.begin(what_if)
    arms[1]["set"] = {"roles.jurors.id": "offline"}
    house.datasets.add("tables", [Row(id="oak-table", case=house.library.case("oak-table"))])
    of_dataset = parsed({"name": "e", "dataset": {"name": "tables"}, "arms": arms}, "The experiment")
    with pytest.raises(CourtroomError, match="wrong: roles.jurors: CyberJurors has no role"):
        house.experiments.begin(of_dataset)


def test_a_link_with_such_names_is_refused_until_they_are_taken_out(app_house: Courthouse) -> None:
    given = {"procedure": "cyberjurors", "seed": 0, "case": "oak-table"}
    given["setup"] = {**SMALL, "roles": {"jurors": {"id": "offline"}}, "members": {"juror-99": {"id": "offline"}}}
    app = page("setup", setup=json.dumps(given))
    press(app, "Use these settings")
    assert literal(NO_ROLE) in texts(app)
    assert literal(NO_SEAT) in texts(app)
    assert field(app, "button", "Start").disabled
    press(app, "Take these names out")
    press(app, "Start")
    (row,) = [*app_house.store.each()]
    made = app_house.record(row.id).setup
    assert (made.roles, made.members, made.jury_size) == ({}, {}, 3)
