"""JSON lines: one JSON value on each line, whatever the file's name ends in."""

from __future__ import annotations

import json


def is_json_lines(text: str) -> bool:
    """Whether a text is several objects, one on each line, and not one JSON document; some lines may be damaged."""
    lines = [line.strip() for line in text.split("\n") if line.strip()]
    whole = sum(line.startswith("{") and line.endswith("}") for line in lines)
    return len(lines) > 1 and 2 * whole > len(lines) and not _is_document(text)


def _is_document(text: str) -> bool:
    try:
        json.loads(text)
    except json.JSONDecodeError:
        return False
    except (ValueError, RecursionError):
        return True  # reported when it is read: too many digits, too deep
    return True
