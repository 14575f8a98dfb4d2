"""What evidence and chat of a dispute weigh for each side, by the words in them. Each weight can be named."""

import re
from dataclasses import dataclass
from functools import lru_cache

from courtroom.cases.dispute import Dispute, Evidence, Side
from courtroom.engine.procedure import Choice

CHOICES = (
    Choice("buyer", "Buyer", tone=0, symbol="circle", mark="●"),
    Choice("seller", "Seller", tone=1, symbol="square", mark="■"),
)


@dataclass(frozen=True)
class Cue:
    """A kind of statement, the side it speaks for, and how much (1 is an ordinary clue)."""

    name: str
    side: Side
    weight: float
    english: str
    chinese: str
    pattern: re.Pattern[str]

    def words(self, language: str) -> str:
        """What the cue is called in a reason."""
        return self.chinese if language.startswith("zh") else self.english


def _cue(name: str, side: Side, weight: float, english: str, chinese: str, *patterns: str) -> Cue:
    return Cue(name, side, weight, english, chinese, re.compile("|".join(patterns), re.IGNORECASE))


CUES: tuple[Cue, ...] = (
    _cue("undisclosed", "buyer", 1.4, "a defect that was not disclosed", "有未告知的瑕疵",
         r"undisclosed|never (?:mention|disclos|sa(?:id|w)|told)|not (?:mention|disclos)ed|did ?n[o']t (?:mention|disclose|say|tell)",
         r"nowhere in the listing|(?<!not )(?<!nothing )conceal|(?<!not )(?:hid|hides|hidden|hiding) (?:this|that|it|from|the|by|what)|(?<!没有)(?<!没)(?<!未)隐瞒|未告知|没有?(?:告知|说明|提到|提过|写)|从未提"),
    _cue("mismatch", "buyer", 1.2, "the item differs from its description", "实物与描述不符",
         r"not as described|(?:does|do|did) ?n[o']t match|differs? from|different from the listing|instead of|wrong (?:size|colour|color|model|item)",
         r"counterfeit|fake|replica|不符|不一致|假货|仿品|货不对板|发错"),
    _cue("defect", "buyer", 1.0, "a fault in use", "使用中有故障",
         r"(?:does|do|did|would|will|could) ?n[o']t (?:work|turn on|charge|start|boil|close|open|load|hold)|stop(?:s|ped) working|jam(?:s|med)|crack(?:s|ed)?\b",
         r"torn\b|tears?\b|scratch (?:of|on|across)|deep scratch|stains?\b|glued|come(?:s)? out|blinks?|locked out|login fails|dead\b|leak(?:s|ed|ing)?\b|broken|shuts? (?:down|off)|fail(?:s|ed)\b|fungus|mould\w*|mold\w*|rust\w*|swollen|wobbl\w+|came (?:off|loose)|bent\b|split\b|peel(?:s|ed|ing)|opened again|故障|坏了|无法|不能(?:用|开|充)|漏水|破裂|断裂|失灵|自动关机|卡住|发霉|霉斑|生锈|异味|变形|脱落|开裂|松动"),
    _cue("missing", "buyer", 1.0, "something is missing", "缺少部件或内容",
         r"missing (?:part|piece|page|charger|bolt|lesson|item)s?|is missing|were missing|never (?:arrived|delivered|received)|incomplete|缺少|缺失|少了|未收到|没收到|不完整"),
    _cue("promise", "buyer", 1.0, "a promise that was not kept", "承诺未兑现",
         r"(?:had|has) promised|promised to|(?:seller|he|she|they) (?:said|wrote|told me) (?:no|it was|there)|as I had said|卖家(?:却|说)(?:没|确定|正常)|卖家却说"),
    _cue("careless", "buyer", 0.9, "careless handling", "处理疏忽",
         r"in a hurry|only wrapped|no blanket|without a blanket|touches the|careless|粗心|野蛮"),
    _cue("unboxing", "buyer", 1.1, "the opening of the parcel is documented", "有开箱记录",
         r"(?<!no )(?<!without )(?<!without an )(?<!no continuous )unboxing (?:video|clip|shows|record)|filmed (?:the|my|while|myself) ?(?:opening|unboxing|unpacking)|opened (?:it|the parcel|the box) on camera|(?<!没有)(?<!无)(?<!未提供)开箱(?:视频|录像)"),
    _cue("transit", "buyer", 0.9, "damage on the way", "运输中受损",
         r"crushed|dent(?:ed)? (?:in )?(?:the )?(?:parcel|box|carton)|damaged in transit|torn (?:parcel|box)|poorly packed|no padding|压坏|压扁|破损|包装简陋"),
    _cue("admission", "buyer", 1.5, "an admission by the seller", "卖家自认",
         r"(?:my|our) (?:mistake|fault|oversight)|I forgot|we forgot|should have (?:told|mentioned|checked|said)|did not check|没注意|忘了|疏忽|我的错|应该说"),
    _cue("evasive", "buyer", 0.6, "an evasive seller", "卖家回避问题",
         r"no (?:reply|answer) (?:from|for)|ignored|stopped (?:answering|replying)|blocked me|refused to (?:answer|show|explain)|不回(?:复|消息)|拉黑|拒绝(?:回答|解释)|不理"),
    _cue("prompt", "buyer", 0.9, "a complaint at once", "收货后立即反映",
         r"right after|right away|the same (?:day|evening|night)|the (?:first|next|following) (?:day|evening|morning|night)|within (?:an hour|hours|a day)|(?:a|one|two) days? (?:later|after)|on arrival|when I (?:opened|unpacked)|当天|当晚|第二天|次日|刚收到|一到货|到手就|到场后"),
    _cue("measured", "buyer", 1.0, "a reading that contradicts the listing", "测得的数据与描述矛盾",
         r"(?:only|just) \d+(?:\.\d+)? ?(?:%|percent|cm|mm|gb|tb|kg|hours?|pages?|lessons?)|(?:shows?|still|stays? at|stands? at) \d+(?:\.\d+)? ?%|\d+(?:\.\d+)? ?(?:%|cm|mm|gb|tb|kg|hours?|pages?|lessons?),? not \d|只有\d|仅\d|显示\d"),
    _cue("disclosed", "seller", 1.1, "disclosure before the sale", "售前已说明",
         r"(?:listing|description|first line|chat) (?:clearly )?(?:says|said|states?|stated|shows?|showed|notes?|mentions?)|(?:told|warned|informed) (?:the buyer|her|him|them|you)|disclosed|close-up in the listing",
         r"(?<!未)(?<!没有)(?<!没)(?:已|事先|提前|明确)(?:说明|告知|写明|标注)|描述(?:里|中)(?:已|写|标)|下单前|付款前"),
    _cue("accepted", "seller", 1.3, "the buyer accepted it knowingly", "买家知情并接受",
         r"(?:buyer|she|he|you|they) (?:agreed|accepted|confirmed(?! receipt)|acknowledged|wrote \W?(?:fine|ok|no problem))|that is fine|no problem with that|I can live with|买家(?:同意|确认|接受|表示)|没关系|可以接受|不介意"),
    _cue("as-described", "seller", 1.0, "the item was shown in order before dispatch", "发货前状态完好",
         r"work(?:s|ed|ing) (?:fine|normally|perfectly|as it should)|in working order|tested (?:it )?before|before (?:dispatch|shipping|packing)|(?<!not )as described|功能正常|测试正常|发货前|打包前|与描述一致|如描述"),
    _cue("swapped", "seller", 1.5, "signs that the item was swapped", "疑似调包",
         r"serial (?:number )?(?:does not|doesn't|did not|differs)|not the (?:one|item|unit) (?:I|we) (?:sent|shipped|sold)|swapped|different (?:serial|unit)|序列号(?:不符|不一致|对不上)|调包|掉包|不是我(?:发|寄)"),
    _cue("buyer-caused", "seller", 1.3, "damage or use by the buyer", "买家使用或自行造成",
         r"after (?:use|washing|wearing|installation)|has been (?:used|worn|washed|opened|played)|misuse|wrong (?:charger|voltage|detergent)|dropped (?:it|by)|tumble|worn outside|soles? (?:are|is) (?:dirty|worn)|使用(?:过|后|不当)|洗(?:过|坏|后)|穿过|摔(?:过|坏)|人为|私自拆"),
    _cue("late", "seller", 0.9, "a late complaint", "过了很久才提出",
         r"(?:two|three|four|five|six|\d+) (?:weeks|months) (?:later|after)|(?:1[0-9]|[2-9][0-9]) days (?:later|after)|only complained after|过了(?:半个月|[一二三两]个?[周月]|\d+天)|才提出|已确认收货"),
    _cue("no-unboxing", "seller", 0.9, "no record of the unpacking", "没有开箱记录",
         r"no (?:continuous )?unboxing|without (?:an )?unboxing|did not film|unpacking was not (?:filmed|documented)|没有开箱|无开箱|未提供开箱"),
    _cue("consumed", "seller", 1.4, "the service or file was used", "内容已被使用",
         r"downloaded|redeemed|activated|logged in|watched \d+|access(?:ed)? (?:the|all|\d+)|streamed|已下载|已兑换|已激活|已登录|已观看|已使用"),
    _cue("delivered", "seller", 0.9, "performance as agreed is documented", "已按约履行",
         r"delivered (?:on time|as agreed|within)|completed (?:on|the|all)|all (?:\d+|the) (?:files|lessons|pages|hours|items) (?:were|are)|signed for|按时(?:完成|交付)|按约|全部交付|签收"),
    _cue("wear", "seller", 0.8, "wear that second-hand goods have", "二手正常使用痕迹",
         r"normal (?:wear|traces|signs)|signs? of use|second-hand|used condition|minor (?:wear|scratches)|light scratches|正常使用痕迹|二手|轻微划痕|使用痕迹"),
    _cue("change-of-mind", "seller", 1.1, "a change of mind", "买家反悔",
         r"changed (?:her|his|their|my) mind|do(?:es)? ?n[o']t (?:like|suit|fit my)|found (?:it )?cheaper|too (?:big|small) for (?:my|her|his)|no longer (?:need|want)|不喜欢|不想要|买贵|反悔|不适合"),
)  # fmt: skip

CUE_BY_NAME = {cue.name: cue for cue in CUES}

SPECIFIC = re.compile(
    r"\d|serial|report|receipt|timestamp|inspection|certificate|invoice|tracking|序列号|报告|凭证|检测|鉴定|发票|单号"
)
THIRD_PARTY = re.compile(
    r"repair shop|technician|mechanic|(?:dealer|expert|specialist|plumber|electrician|vet) (?:says|said|found|confirmed)|laborator|lab report|authenticat(?:or|ion)|inspection report|certificate|carrier|platform record|"
    r"维修店|检测报告|鉴定(?:报告|证书|中心)|快递公司|平台记录",
    re.IGNORECASE,
)
HEDGE = re.compile(
    r"\b(?:maybe|perhaps|probably|I think|I guess|seems?|might|(?:may|could) have|no date|not visible)\b|看不清|可能|也许|大概|好像|估计",
    re.IGNORECASE,
)

FOR_BUYER = re.compile(
    r"refund (?:is|should|must|may)|refunds? (?:are|follow)|entitled|(?:support|favou?r)s? the buyer|buyer (?:may|can) (?:return|reject)|"
    r"seller (?:must|bears|is liable|answers|should)|knowingly hid|invalid|seriously departs|应(?:当|予)?退款|支持买家|卖家(?:应|须|承担)|买家(?:有权|可以)|可以?退货",
    re.IGNORECASE,
)
FOR_SELLER = re.compile(
    r"not returned|no (?:claim|refund|ground|return)|(?:support|favou?r)s? the seller|may take it|weakens?|no departure|rejected|refused|"
    r"buyer (?:bears|must|should|accepts|had accepted)|not (?:refundable|a defect|grounds)|non-returnable|不予退|不支持(?:退|买)|支持卖家|不退|买家(?:应|须|承担|自行)|不能(?:退|要求)|不构成",
    re.IGNORECASE,
)


@lru_cache(maxsize=4096)
def cues_in(text: str) -> tuple[tuple[Cue, str], ...]:
    """The cues in a text, each once, with the words that showed it."""
    found = ((cue, cue.pattern.search(text)) for cue in CUES)
    return tuple((cue, match.group()) for cue, match in found if match)


@lru_cache(maxsize=2048)
def direction(text: str) -> float:
    """Which side a rule or norm favours by its wording: +1 the buyer, -1 the seller, 0 neither."""
    buyer, seller = len(FOR_BUYER.findall(text)), len(FOR_SELLER.findall(text))
    return (buyer - seller) / (buyer + seller) if buyer + seller else 0.0


BORNE_OUT = 1.0
"""Weight of what media (by their description) or a third party bear out,"""
MERELY_SAID = 0.45
"""against what a side merely says of its own case."""
AGAINST_OWN_INTEREST = 1.3
"""What a side concedes weighs more than what it asserts."""


@dataclass(frozen=True)
class Contribution:
    """One reason for a stance and its weight, + for the buyer."""

    kind: str
    text: str
    weight: float


@lru_cache(maxsize=1024)
def weigh(piece: Evidence) -> tuple[Contribution, ...]:
    """What one piece of evidence contributes, by its text and its media's descriptions alone."""
    shown = " ".join(medium.description for medium in piece.media)
    found: dict[str, Contribution] = {}
    specific = 1.0 + 0.15 * min(3, len(SPECIFIC.findall(piece.text + shown)))
    for text, is_shown in ((shown, True), (piece.text, False)):
        doubt = 0.6 if HEDGE.search(text) else 1.0
        for cue, quoted in cues_in(text):
            borne_out = is_shown or bool(piece.media) or bool(THIRD_PARTY.search(piece.text))
            weight = cue.weight * (BORNE_OUT if borne_out else MERELY_SAID) * specific * doubt
            if cue.side != piece.side:
                weight *= AGAINST_OWN_INTEREST if not is_shown else 1.0
            signed = weight if cue.side == "buyer" else -weight
            if cue.name not in found or abs(signed) > abs(found[cue.name].weight):
                found[cue.name] = Contribution(cue.name, quoted, signed)
    return tuple(found.values())


@lru_cache(maxsize=512)
def context(case: Dispute) -> tuple[Contribution, ...]:
    """What listing and chat contribute: what was disclosed, accepted or admitted before anybody gave evidence."""
    found: list[Contribution] = []
    for line in case.chat:
        for cue, quoted in cues_in(line.text):
            against = cue.side != line.speaker
            weight = cue.weight * (0.8 if against else 0.4)
            found.append(Contribution(cue.name, quoted, weight if cue.side == "buyer" else -weight))
    return tuple(found)


def contributions(case: Dispute) -> tuple[Contribution, ...]:
    """What all evidence and the chat contribute."""
    return (*(one for piece in case.evidence for one in weigh(piece)), *context(case))


def stance(case: Dispute) -> float:
    """All contributions together: above 0 they speak for the buyer."""
    return sum(one.weight for one in contributions(case))
