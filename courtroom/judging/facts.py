"""Facts of a criminal case, read by words: which sentences state the acts, which sums of money."""

import re

from courtroom.law.statute import Both
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


CRIMES: tuple[tuple[int, Both, str], ...] = (
    (133, Both(en="dangerous driving", zh="危险驾驶"), r"酒精含量|醉酒|醉驾|mg/100|drunk|breath test|blood alcohol"),
    (133, Both(en="causing a traffic accident", zh="交通肇事"), r"交通事故|相撞|碰撞|collision|ran over|pedestrian"),
    (
        347,
        Both(en="drug trafficking", zh="走私、贩卖、运输、制造毒品"),
        r"毒品|冰毒|海洛因|甲基苯丙胺|heroin|methamphetamine|drugs",
    ),
    (263, Both(en="robbery", zh="抢劫"), r"持刀.{0,20}(抢|威胁)|抢劫|劫取|robbed|knife .{0,40}(money|phone)"),
    (266, Both(en="fraud", zh="诈骗"), r"骗取|谎称|虚构|诈骗|冒充|deceiv|pretend|false(ly)?"),
    (303, Both(en="operating a gambling house", zh="开设赌场"), r"赌场|赌博|抽头|gambl"),
    (
        293,
        Both(en="picking quarrels and provoking trouble", zh="寻衅滋事"),
        r"随意殴打|滋事|起哄|at random|for no reason",
    ),
    (234, Both(en="intentional injury", zh="故意伤害"), r"轻伤|重伤|殴打|打伤|injur|beat|stabbed"),
    (
        271,
        Both(en="embezzlement of office", zh="职务侵占"),
        r"职务(上的)?便利|公司.{0,20}占为己有|employer|company funds",
    ),
    (264, Both(en="theft", zh="盗窃"), r"窃|盗|stole|theft|took .{0,30}without"),
)
"""Number, charge, pattern; the more special ones first."""


def commonest(facts: str, language: str) -> tuple[int, str]:
    """Article and charge with the most matches; the last entry, theft, where nothing matches."""
    matches = [len(re.findall(pattern, facts)) for _, _, pattern in CRIMES]
    best = max(range(len(CRIMES)), key=lambda i: (matches[i], -i)) if any(matches) else len(CRIMES) - 1
    return CRIMES[best][0], CRIMES[best][1].in_language(language)
