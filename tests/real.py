"""Real records: where they are, and a mark for the tests that need them."""

import os
from pathlib import Path

import pytest

FOLDER = Path(os.environ.get("COURTROOM_REAL_DATA", ""))
needs_real_data = pytest.mark.skipif(
    not os.environ.get("COURTROOM_REAL_DATA"), reason="COURTROOM_REAL_DATA names no folder with real records"
)
