"""Texts as vectors: what an embedding is, and the default, which compares words and needs no model and no network."""

from __future__ import annotations

import asyncio
import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence
from functools import cache, lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Any, Protocol

from courtroom.text.words import is_chinese, words

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Vectors = NDArray[np.float32]
else:
    Vectors = Any  # numpy is slow to import: only where vectors are worked with
DIMENSIONS = 2048
SPREAD = 4  # places of one word: two words that share one then differ in the others
DEFAULT = "hashed-ngrams"
UNKNOWN = 6.0
"""Rarity of a word that the table lacks; names, mostly."""
_PROCEDURE = """
被告人 被害人 人民检察院 检察院 检察机关 指控 公诉机关 公诉 公诉人 机关 证人 证言 供述 辩解 证据 事实
犯罪 追究 刑事责任 本院 行为 触犯 中华人民共和国 刑法 规定 提请 依法 判处 某某 某 许 年 月 日 分
公安局 派出所 书证 物证 现场 勘查 笔录 照片 户籍 证明 经过 抓获 到案 认为 构成 应当 县 市 区 镇 村
路 号 人民币 元 当日 上述 经 审理 查明 审理查明 其 一 二 三 名 情况 说明 身份 信息 归案 案发 供认
陈述 辨认 当庭 涉嫌 诉 称 案件 材料 予以 一案 作案 先后
"""
PROCEDURE = frozenset(_PROCEDURE.split())
"""Words that nearly every record of a Chinese criminal case holds."""
_NO_LETTER = re.compile(r"[^a-z]+")


class Embedding(Protocol):
    """Turns texts into vectors."""

    @property
    def name(self) -> str:
        """Names model and version: vectors of another name can't be compared."""
        ...

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, dimensions)."""
        ...


class HashedNgrams:
    """Hashed words, Chinese ones weighted by how rare they are, and runs of letters.

    It is lexical: it finds texts that use the same or similarly spelt words, and knows no synonyms. The weights are
    the inverse document frequencies that come with jieba. With fewer dimensions words collide so often that fusing
    with BM25 gains nothing (on 199 real cases: 2,048 gain, 1,024 do not).
    """

    name = f"{DEFAULT}-2"

    async def embed(self, texts: Sequence[str]) -> Vectors:
        """Vectors of length 1, shape (texts, 2048); a text without a word is the zero vector."""
        import numpy as np

        return await asyncio.to_thread(_all_hashed, texts) if texts else np.zeros((0, DIMENSIONS), np.float32)


@cache
def _rarities() -> dict[str, str]:
    """How rare each word is. A number is read when it is needed: there are 270,000, and a query has ten words."""
    from importlib.util import find_spec

    (folder,) = find_spec("jieba").submodule_search_locations  # type: ignore[union-attr,misc]  # its code is not imported
    table = Path(folder, "analyse", "idf.txt").read_text(encoding="utf-8").split()
    return dict(zip(table[::2], table[1::2], strict=True))


@lru_cache(maxsize=16_384)
def _places(word: str) -> tuple[Any, Any]:
    """Where a word's weight is added, and how often; less than 0 where it is taken away. Two arrays of one length."""
    return _arrays(_place(f"{word}/{n}") for n in range(SPREAD))


@lru_cache(maxsize=16_384)
def _runs(word: str) -> tuple[Any, Any]:
    """The same for a word's runs of three and of four letters; white space around the word counts as a letter."""
    word, runs = f" {word} ", []
    for length in (3, 4):
        runs += [word[start : start + length] for start in range(max(1, len(word) - length + 1))]
        if len(word) <= length:
            break
    return _arrays(map(_place, runs))


def _place(text: str) -> tuple[int, int]:
    """A place, and whether something is added there or taken away."""
    import mmh3  # only where texts are compared

    hashed = mmh3.hash(text)
    return abs(hashed) % DIMENSIONS, 1 if hashed >= 0 else -1


def _arrays(found: Iterable[tuple[int, int]]) -> tuple[Any, Any]:
    import numpy as np

    times: Counter[int] = Counter()
    for place, sign in found:
        times[place] += sign
    return np.array([*times], np.intp), np.array([*times.values()], np.float32)


@lru_cache(maxsize=4096)
def _hashed(text: str) -> Vectors:
    import numpy as np

    found, chinese = words(text), is_chinese(text)
    counts = Counter(found)
    if chinese:  # dates, sums and words of procedure stand in every Chinese record and distinguish nothing
        counts = Counter({word: n for word, n in counts.items() if word not in PROCEDURE and not word[0].isdigit()})
    rarity = _rarities() if chinese else {}
    by_word = _added(
        [_places(word) for word in counts],
        [math.log1p(count) for count in counts.values()],
        [math.sqrt(float(rarity.get(word, UNKNOWN))) for word in counts],
    )
    spelt = _NO_LETTER.sub(" ", text.lower()).split()
    by_spelling = _added([_runs(word) for word in spelt])
    share = len(spelt) / max(1, len(found))  # the odd “ATM” in a Chinese text must not weigh as all of it
    damped = np.asarray(np.sign(by_spelling) * np.log1p(np.abs(by_spelling)), np.float32)
    return _unit(_unit(by_word) + 0.5 * min(1.0, share) * _unit(damped))


def _added(parts: Sequence[tuple[Any, Any]], *weights: Sequence[float]) -> Vectors:
    """The sum of parts at their places, each times its weights; shape (2048,)."""
    import numpy as np

    total = np.zeros(DIMENSIONS, np.float32)
    if parts:
        added, lengths = np.concatenate([times for _, times in parts]), [len(times) for _, times in parts]
        for weight in weights:
            added *= np.repeat(np.array(weight, np.float32), lengths)
        np.add.at(total, np.concatenate([places for places, _ in parts]), added)
    return total


def _all_hashed(texts: Sequence[str]) -> Vectors:
    import numpy as np

    return np.stack([_hashed(text) for text in texts])


def _unit(vector: Any) -> Vectors:
    import numpy as np

    length = float(np.linalg.norm(vector))
    return np.asarray(vector / length if length else vector, np.float32)
