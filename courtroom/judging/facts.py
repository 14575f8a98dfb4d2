"""Facts of a criminal case, read by words: which sentences state the acts, which sums of money."""

from __future__ import annotations

import re

from courtroom.text.words import sentences

_PROCEDURE = re.compile(
    r"证据(如下|有|证实|予以)|(书证|物证|户籍(证明|信息)|抓获经过|到案经过|辨认笔录|勘查笔录|鉴定意见书?)(等|及|和|、|；|，|。|$)|证人.{0,20}证言|"
    r"供述(和|与)辩解|提请.{0,6}(依法|判处)|开庭|辩护(人|意见)|无异议|"
    r"[Tt]he prosecution (relies|asks|tendered)|[Dd]efence counsel|[Tt]he evidence (consists|includes)"
)
_MONEY = re.compile(
    r"(?:人民币|RMB|CNY|¥|￥)?\s*(\d[\d,，]*(?:\.\d+)?)\s*(余)?(万|千|百)?(?:余|多)?\s*(元|yuan|CNY|RMB)"
)
_SCALES = {"万": 10_000, "千": 1_000, "百": 100}


def acts_in(facts: str) -> tuple[str, ...]:
    """The sentences that state what was done; lists of evidence and words of procedure are left out."""
    lines = tuple(sentence for sentence in sentences(facts) if not _PROCEDURE.search(sentence))
    return lines or sentences(facts)


def sums_in(text: str) -> tuple[float, ...]:
    """Sums of money in yuan, in the order in which they come; `2.6万元` is 26,000."""
    return tuple(
        float(number.replace(",", "").replace("，", "")) * _SCALES.get(scale, 1)
        for number, _, scale, _ in _MONEY.findall(text)
    )
