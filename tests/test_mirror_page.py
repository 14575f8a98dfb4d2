"""The page of the mirror: what would be changed is read, put right and approved before anything is heard."""

from courtroom.courthouse import Courthouse
from tests.pages import benched, house, opened_at, page, press, texts

__all__ = ["house"]  # a fixture

MIRROR = "Would it be the same for somebody else?"


def test_a_change_is_read_and_put_right_before_it_is_heard(house: Courthouse) -> None:
    run = benched(house, "mock-jury", "trial-market-purse", jury_size=3, rounds=0)
    app = opened_at("what_if", base=run)
    app.segmented_control(key="what-if-way").set_value(MIRROR).run()
    app.multiselect(key="mirror-kinds").set_value(["order", "gender", "age"]).run()
    app.number_input(key="mirror-seeds").set_value(2).run()
    press(app, "Show what would be changed")
    assert "The sides, or the options, stand in the other order." in texts(app)
    assert "“her” was left in “The customer missed her purse" in texts(app)
    assert not [one for one in app.button if one.label == "Start"], "nobody has approved it"
    edits = next(
        one for one in app.toggle if one.key.startswith("mirror-The other gender") and one.key.endswith("edits")
    )
    edits.set_value(True).run()
    text = next(one for one in app.text_area if one.key.endswith("defence.2"))
    text.set_value("The driver of the van signed a delivery note with him at 10:18. The note is on record.").run()
    next(one for one in app.checkbox if one.key.startswith("mirror-approved")).set_value(True).run()
    assert not app.exception, app.exception
    press(app, "Start")
    (kept,) = house.experiments.store.experiments()
    house.experiments.wait(kept.id, 60)
    gender = kept.experiment.arms[3]
    assert (gender.name, gender.seen_by) == ("The other gender", "who was at this page")
    assert "with him at 10:18" in gender.rewritten["trial-market-purse"]["defence.2"]
    assert gender.rewritten["trial-market-purse"]["charge"].startswith("Oliver Walker is charged")
    app = page("what_if", experiment=kept.id)
    app.query_params.update({"experiment": kept.id})
    app.run()
    assert not app.exception, app.exception
    assert "There are too few cases or seeds to know of any difference." in texts(app)
    assert "not a language model" in texts(app), "whose votes they are stands beside what they show"
