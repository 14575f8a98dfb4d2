"""Words and sentences of English and Chinese text."""

from __future__ import annotations

import logging
import re
from functools import lru_cache

_CJK = re.compile(r"[\u3400-\u9fff]+")
_TOKEN = re.compile(r"[\u3400-\u9fff]+|[a-z]+(?:'[a-z]+)?|\d+(?:[.,]\d+)*%?", re.IGNORECASE)
_SENTENCE = re.compile(r"(?<=[.!?])\s+|(?<=[。！？；])|\n+")

STOP_WORDS = frozenset(
    """a about after again all also am an and any are as at be because been before being but by can could did do does
    doing down for from had has have having he her here him his how i if in into is it its it's just like me more most
    my no nor not now of off on once only or other our out over own said same she so some such than that the their them
    then there these they this those through to too under until up very was we were what when where which while who
    whom why will with would you your i'm i've don't didn't can't
    的 了 是 我 你 他 她 它 们 我们 你们 他们 在 有 和 与 就 都 而 及 着 也 还 很 把 被 让 给 这 那 这个 那个 一个 不 没 没有
    吗 呢 吧 啊 上 下 中 里 对 从 到 为 以 之 后 前 时 时候 说 要 会 能 可以 自己 什么 怎么 因为 所以 但 但是 如果 已经 又
    再 去 来 过 得 地 个 并 并且 或 或者 请 就是""".split()
)


@lru_cache(maxsize=8192)
def words(text: str) -> tuple[str, ...]:
    """Words in order, lower case, stop words left out. Chinese runs are segmented with jieba."""
    found: list[str] = []
    for token in _TOKEN.findall(text.lower()):
        found.extend(_segment(token) if _CJK.match(token) else (token,))
    return tuple(word for word in found if word not in STOP_WORDS)


@lru_cache(maxsize=2048)
def sentences(text: str) -> tuple[str, ...]:
    """Sentences in order, white space trimmed, empty ones left out."""
    return tuple(part.strip() for part in _SENTENCE.split(text) if part and part.strip())


def is_chinese(text: str) -> bool:
    """Whether any Chinese character occurs."""
    return _CJK.search(text) is not None


def _segment(run: str) -> list[str]:
    import jieba  # reads its dictionary at first use, about 0.7 s: only texts that need it pay for it

    jieba.setLogLevel(logging.WARNING)
    return list(jieba.cut(run, HMM=False))
