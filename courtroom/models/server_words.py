"""What servers and models say, as patterns by what it means."""

import re
import tomllib
from pathlib import Path

_TABLE = tomllib.loads(Path(__file__).with_suffix(".toml").read_text(encoding="utf-8"))
WORDS = {name: re.compile("|".join(patterns), re.IGNORECASE) for name, patterns in _TABLE.items()}
