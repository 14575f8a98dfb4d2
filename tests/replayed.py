"""What lessons alone give."""

from typing import Any

from courtroom.knowledge.lessons import Lessons


def replayed(lessons: Lessons) -> dict[tuple[str, str], dict[str, Any]]:
    """Records by collection and id, from nothing: what was put in by hand or bundled is not among it."""
    changes = [change for taught in lessons.all() if taught.undone is None for change in taught.changes]
    last = {(change.collection, change.id): change.after for change in changes}
    return {key: after for key, after in last.items() if after is not None}
