"""Who is charged, as the facts name them."""

from __future__ import annotations

import re
from collections.abc import Iterator

from courtroom.text.words import is_chinese

MOST = 20
_FREQUENT = (
    "王李张刘陈杨黄赵吴周徐孙马朱胡郭何高林罗郑梁谢宋唐许韩冯邓曹彭曾肖田董袁潘蒋蔡余杜叶程苏魏吕丁任沈姚卢姜崔钟谭陆汪"
    "范金石廖贾夏韦付方白邹孟熊秦邱江尹薛闫段雷侯龙史陶黎贺顾毛郝龚邵万钱严覃武戴莫孔汤褚佘阮柯伍应"
)
"""Surnames; only they distinguish an unmasked name from any other words behind the word for defendant."""
_MASK = r"(?:\d?某{1,2}[甲乙丙丁戊己庚0-9]?(?!某)|[×xX*]{1,3}[0-9]?(?![×xX*]))(?![年月日省市县区乡镇村])"
_MASKED = rf"(?:[{_FREQUENT}][\u4e00-\u9fff](?<!某)|[^\W\d_a-zA-Z在到将因被从对把和系以的])(?:{_MASK})"
_PLAIN = rf"[{_FREQUENT}][\u4e00-\u9fff]{{1,2}}(?=[，、,。；：（(])"
_NAMED = re.compile(rf"被告人((?:{_MASKED}|{_PLAIN})(?:、(?:{_MASKED}|{_PLAIN}))*)")
_ABSENT = re.compile(r"[（(][^（）()]{0,10}(?:已|己判|另案|另行|在逃)")
"""Behind a name: somebody who isn't before this court."""
_NAMED_EN = re.compile(r"[Dd]efendant,? ((?:Mr |Ms |Mrs )?[A-Z][\w.-]*(?: [A-Z][\w.-]*){0,2})")


def defendants_in(facts: str) -> tuple[str, ...]:
    """Names after the word for defendant, in the order in which they come; at most 20."""
    found = _chinese(facts) if is_chinese(facts) else _NAMED_EN.findall(facts)
    return tuple(dict.fromkeys(found))[:MOST]


def _chinese(facts: str) -> Iterator[str]:
    for match in _NAMED.finditer(facts):
        names = match[1].split("、")
        yield from names[:-1] if _ABSENT.match(facts, match.end()) else names
