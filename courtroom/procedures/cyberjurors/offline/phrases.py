"""The offline model's own sentences, in English and Chinese; other languages fall back on English."""

from __future__ import annotations

from courtroom.cases.dispute import Side
from courtroom.language import speaking, translated

PHRASES: dict[str, tuple[str, str]] = {
    "comma": (", ", "、"),
    "silent": ("The {side} has claimed nothing.", "{side}没有提出主张。"),
    "focus": ("Who is right about {terms}, in the sale of {product}?", "围绕“{product}”的交易，双方在{terms}上谁更有理？"),
    "selected": ("Its words meet the focus best (score {score}).", "与争议焦点的词语最接近（得分 {score}）。"),
    "by description": ("Going by its description, not seen: {text}", "仅依据文字描述，未看画面：{text}"),
    "no description": ("there is none", "无描述"),
    "no text": ("The piece comes without text.", "该证据没有文字说明。"),
    "enough": ("The clues found so far bear the claim out.", "已有线索足以印证主张。"),
    "not enough": ("More evidence should be looked at.", "还需查看更多证据。"),
    "root": ("At the root: {root}.", "争议根源：{root}。"),
    "unclear": ("no recognisable fault on either side", "双方均无可辨认的过错"),
    "not seen": ("No picture was looked at; descriptions alone were weighed.", "未查看画面，仅权衡文字描述。"),
    "contradiction": ("{piece} gives {value} where the listing gives {listed}.", "{piece}为{value}，而商品描述为{listed}。"),
    "speaks": ("It shows {what}, which speaks for the {side}.", "体现{what}，有利于{side}。"),
    "clue": ("{what} (“{text}”) speaks for the {side}.", "{what}（“{text}”），有利于{side}。"),
    "looked for": ("A juror who is {trait} looks for this.", "性格偏{trait}的陪审员看重这一点。"),
    "rule": ("The rule “{text}” speaks for the {side}.", "规则“{text}”有利于{side}。"),
    "norm": ("The earlier norm “{text}” speaks for the {side}.", "既往准则“{text}”有利于{side}。"),
    "trait": ("Being {text}, this juror leans to the {side}.", "该陪审员性格偏{text}，倾向{side}。"),
    "background": ("With this background ({text}) the juror leans to the {side}.", "该陪审员的经历（{text}）使其倾向{side}。"),
    "against": ("On the other hand: {what}", "另一方面：{what}"),
    "nothing": ("No clue of weight was found, and the doubt goes this way.", "没有发现有分量的线索，存疑时作此判断。"),
    "heard": ("Followed jurors who vote the same: {names}.", "所关注的陪审员中投票一致的有：{names}。"),
    "moved": ("The followed jurors tipped the balance: {names}.", "所关注的陪审员改变了我的判断：{names}。"),
    "nobody": ("nobody", "无"),
    "stance": ("Stance {stance} after discussion, {own} alone (+1 buyer, -1 seller).", "讨论后立场 {stance}，个人立场 {own}（+1 买家，-1 卖家）。"),
    "argued": ("For the {side}: {reasons}", "支持{side}：{reasons}"),
    "nobody spoke": ("Nobody gave a reason.", "没有人给出理由。"),
    "heated": ("The debate is heated: the jury is almost evenly split.", "争论激烈：双方票数几乎持平。"),
    "divided": ("The jury is divided, with a clear majority.", "意见有分歧，但多数明显。"),
    "calm": ("There is little debate: nearly all agree.", "争论不大：几乎一致。"),
    "orientation": ("Buyer {buyer}, seller {seller}: the {leading} is being supported.", "买家 {buyer} 票，卖家 {seller} 票：目前支持{leading}。"),
    "some": ("some", "若干"),
}  # fmt: skip


OF_A_PERSONA = ("looked for", "trait", "background")
"""Phrases that quote a persona."""


def say(language: str, phrase: str, **values: object) -> str:
    """A phrase in the case's language; so is what a bundled persona is like."""
    if not language.startswith("zh"):
        return PHRASES[phrase][0].format(**values)
    if phrase in OF_A_PERSONA:
        with speaking("zh"):
            values = {name: translated(str(value)) for name, value in values.items()}
    return PHRASES[phrase][1].format(**values)


def side_name(language: str, side: Side) -> str:
    """What a side is called."""
    return {"buyer": "买家", "seller": "卖家"}[side] if language.startswith("zh") else side
