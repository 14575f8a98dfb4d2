"""What changed between two texts, word by word; Chinese character by character."""

from __future__ import annotations

import re
from collections.abc import Iterator
from difflib import SequenceMatcher
from typing import Literal

Kind = Literal["same", "gone", "new"]
_PIECE = re.compile(r"[\u3400-\u9fff]|\s+|[^\s\u3400-\u9fff]+")


def changes(before: str, after: str) -> Iterator[tuple[Kind, str]]:
    """Runs of text in order; those that are not `new` make up `before`, those that are not `gone` make up `after`."""
    old, new = _PIECE.findall(before), _PIECE.findall(after)
    for tag, a, b, c, d in SequenceMatcher(None, old, new, autojunk=False).get_opcodes():
        if tag == "equal":
            yield "same", "".join(old[a:b])
        else:
            if a < b:
                yield "gone", "".join(old[a:b])
            if c < d:
                yield "new", "".join(new[c:d])
