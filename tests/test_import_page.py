"""What was imported is what the page Knowledge shows next."""

import json
from concurrent.futures import wait

from courtroom.courthouse import Courthouse
from pages.parts.knowledge.collection_view import SHOWN
from tests.pages import house, page, texts

__all__ = ["house"]  # a fixture


def test_the_base_into_which_a_file_went_is_shown(house: Courthouse) -> None:  # noqa: F811
    line = json.dumps({"number": 264, "text": "Who takes zithers pays for them."})
    file = house.imports.check("statutes", "law.jsonl", line.encode(), "mine", "add")
    app = page("knowledge", part="statutes")
    app.session_state[SHOWN] = ("statutes", "mine")
    app.run()
    assert "An unofficial digest" in texts(app), "nothing is in it yet"
    wait([house.runner.do(house.imports.run(file))])
    app.run()
    assert not app.exception, app.exception
    assert "Imported from law" in texts(app)
    app.selectbox(key="base-statutes").set_value("bundled").run()
    assert "An unofficial digest" in texts(app), "another base can be chosen afterwards"
