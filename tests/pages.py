"""Pages of the app, drawn by Streamlit's own test harness, over the very courthouse that they use."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest
from streamlit.testing.v1.element_tree import Element

from courtroom.courthouse import Courthouse
from courtroom.engine.run import Control
from tests.driving import drive, prepared, whole_hearing

ROOT = Path(__file__).parents[1]
NASTY = "<script>alert('x')</script> **bold** ![x](http://evil.example/x.png) :red[y] $x$"


@pytest.fixture
def house(app_house: Courthouse) -> Courthouse:
    """The very courthouse that the pages use, in a file that imports this."""
    return app_house


def page(name: str = "", session: Mapping[str, object] | None = None, /, **query: str) -> AppTest:
    """A page without an error, opened from the first one, in a session and at an address that hold these."""
    app = AppTest.from_file(str(ROOT / "app.py"), default_timeout=30)
    app.query_params.update(query)
    for key, value in (session or {}).items():
        app.session_state[key] = value
    if name:
        app.switch_page(f"pages/{name}.py")
    return ran(app)


def ran(changed: AppTest | Element) -> AppTest:
    """The page, drawn again after something of it was changed, without an error."""
    app: AppTest = changed.run()
    assert not app.exception, app.exception
    return app


def opened_at(name: str, session: Mapping[str, object] | None = None, /, **query: str) -> AppTest:
    """The app, led to a page with these words in its address."""
    app = page(name, session)
    app.query_params.update(query)
    return ran(app)


def field(app: AppTest, kind: str, label: str) -> Any:
    """What can be set on a page, by its label."""
    return next(one for one in app.get(kind) if one.label == label)


def put(app: AppTest, kind: str, label: str, value: object) -> None:
    """Set it; the page that is drawn then has no error."""
    ran(field(app, kind, label).set_value(value))


def press(app: AppTest, label: str) -> None:
    """Click the button with this label; the page that is drawn then has no error."""
    ran(field(app, "button", label).click())


def texts(app: AppTest) -> str:
    kinds = (app.title, app.markdown, app.caption, app.info, app.success, app.warning, app.error)
    return "\n".join(str(element.value) for kind in kinds for element in kind)


def heard(house: Courthouse, case: str = "oak-table", control: Control | None = None, **knobs: object) -> str:
    return drive(house, prepared(house, "cyberjurors", case, **{"jury_size": 5, **knobs}), control)


def benched(house: Courthouse, procedure: str, case: str = "criminal-bus-wallet", **knobs: object) -> str:
    return whole_hearing(house, procedure, case, **knobs).run.id
