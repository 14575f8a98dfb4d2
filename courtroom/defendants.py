"""Who is charged, as the facts name them."""

from __future__ import annotations

import re

from courtroom.text import is_chinese

_NAMED = re.compile(
    r"被告人([\u4e00-\u9fff](?:某{1,2}|[×xX*]{1,3})[甲乙丙丁戊己庚0-9]?|[\u4e00-\u9fff]\d某|[\u4e00-\u9fff]{2,3}(?=[，、,。；：（(]))"
)
_NO_NAME = frozenset({"供述", "的供述", "辩解", "身份", "及其", "家属"})
_NAMED_EN = re.compile(r"[Dd]efendant,? ((?:Mr |Ms |Mrs )?[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2})")


def defendants_in(facts: str) -> tuple[str, ...]:
    """Names after the word for defendant, in the order in which they come."""
    found = _NAMED.findall(facts) if is_chinese(facts) else _NAMED_EN.findall(facts)
    return tuple(dict.fromkeys(name for name in found if name not in _NO_NAME))[:20]
