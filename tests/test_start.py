"""What is slow to import is imported when it is used, not when the shell or the app starts."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from courtroom.store.database import Database

ROOT = Path(__file__).parents[1]
SLOW = (
    "sklearn",
    "scipy",
    "litellm",
    "chromadb",
    "pandas",
    "networkx",
    "cv2",
    "plotly",
    "numpy",
    "yaml",
    "sqlalchemy",
    "psycopg",
    "babel",
    "json_repair",
    "urllib.request",
)
LIST_CASES = "import runpy; sys.argv = ['courtroom', 'cases']; runpy.run_module('courtroom', run_name='__main__')"
LOOK_UP = (
    "import runpy; sys.argv = ['courtroom', 'knowledge', 'search', '盗窃手机', '--in', 'statutes'];"
    "runpy.run_module('courtroom', run_name='__main__')"
)
OPEN_APP = (
    "from streamlit.testing.v1 import AppTest;"
    "app = AppTest.from_file('app.py', default_timeout=120).run(); assert not app.exception, app.exception;"
    "assert app.button(key='hear-phone-battery')"
)


@pytest.mark.parametrize(
    ("code", "slow"),
    [(LIST_CASES, SLOW), (OPEN_APP, SLOW[:4]), (LOOK_UP, ("jieba", "pkg_resources", *SLOW[:7]))],
    ids=["cases", "first page", "look-up"],
)
def test_nothing_slow_is_imported_to_list_the_cases_draw_the_first_page_or_look_something_up(
    tmp_path: Path, code: str, slow: tuple[str, ...]
) -> None:
    Database(tmp_path / "courtroom.sqlite").close()  # a store is made once, and opened each time
    looked = f"import sys, atexit; atexit.register(lambda: print([name for name in {slow} if name in sys.modules]))"
    done = subprocess.run(
        [sys.executable, "-c", f"{looked}\n{code}"],
        env={**os.environ, "COURTROOM_HOME": str(tmp_path)},
        cwd=ROOT, capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert done.stdout.splitlines()[-1] == "[]", done.stdout
