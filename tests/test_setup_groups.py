"""Setup: knobs stand by what they are about, those that most people touch first; no knob is left out."""

from courtroom.courthouse import Courthouse
from courtroom.engine.knobs import Group
from pages.parts.shared.knobs import plain_fields
from tests.pages import house, page

__all__ = ["house"]  # a fixture


def test_knobs_stand_in_groups_and_none_is_left_out(house: Courthouse) -> None:  # noqa: F811
    app = page("setup")
    assert [one.value for one in app.subheader] == [group.value for group in Group]
    drawn = (app.selectbox, app.toggle, app.slider, app.number_input, app.text_input)
    shown = {one.label for kind in drawn for one in kind}
    procedure = house.procedures["cyberjurors"]
    assert {str(field.title) for field in plain_fields(procedure.setup).values()} <= shown
    assert {"Calls", "Tokens", "Money (US$)"} <= shown
    (more, *_) = [box for box in app.expander if box.label.startswith("More:")]
    assert not more.proto.expanded


def test_what_is_folded_away_is_open_where_it_was_changed(house: Courthouse) -> None:  # noqa: F811
    app = page("setup", setup='{"procedure":"cyberjurors","setup":{"quorum":0.9}}')
    next(one for one in app.button if one.label == "Use these settings").click().run()
    opened = [box.label for box in app.expander if box.label.startswith("More:") and box.proto.expanded]
    assert len(opened) == 1
    assert "Quorum" in opened[0]
