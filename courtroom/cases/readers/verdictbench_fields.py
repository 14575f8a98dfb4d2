"""Names and words that a VerdictBench-like record may use, and what they mean here."""

from __future__ import annotations

from collections.abc import Mapping

from courtroom.cases.dispute import Category, Side

FIELDS: Mapping[str, tuple[str, ...]] = {
    # the record
    "id": ("id", "case_id", "caseId", "dispute_id", "编号"),
    "title": ("title", "case_title", "标题"),
    "category": ("category", "label", "tag", "subcategory", "类别", "分类"),
    "language": ("language", "lang", "语言"),
    "deal": ("product_info", "transaction", "metadata", "order", "商品信息", "交易信息"),
    "chat": ("chat_history", "chat", "dialogue", "聊天记录"),
    "buyer_evidence": ("buyer_evidence", "buyerEvidence", "买家证据"),
    "seller_evidence": ("seller_evidence", "sellerEvidence", "卖家证据"),
    "evidence": ("evidence", "evidences", "证据"),
    "votes": ("votes", "jury", "jurors", "投票"),
    "opinions": ("opinions", "reasons", "comments", "陪审员意见"),
    "buyer_votes": ("buyer_votes", "buyerVotes", "买家票数"),
    "seller_votes": ("seller_votes", "sellerVotes", "卖家票数"),
    "winner": ("winner", "final_verdict", "verdict", "result", "判决结果", "胜方"),
    # the order
    "product": ("product", "product_name", "product_title", "name", "商品", "商品名称"),
    "description": ("description", "product_text", "detail", "商品描述"),
    "condition": ("condition", "成色"),
    "price": ("price", "amount", "价格", "金额"),
    "currency": ("currency", "货币"),
    "ordered_at": ("ordered_at", "order_time", "下单时间"),
    "delivered_at": ("delivered_at", "delivery_time", "收货时间"),
    "order_state": ("order_state", "order_status", "status", "订单状态"),
    # a piece of evidence, a chat line, a juror's vote, a medium
    "side": ("side", "role", "speaker", "from", "vote", "角色", "投给"),
    "text": ("text", "content", "claim", "reason", "message", "内容", "理由"),
    "round": ("round", "turn", "轮次"),
    "at": ("time", "at", "timestamp", "时间"),
    "images": ("images", "image", "pictures", "图片"),
    "videos": ("videos", "video", "视频"),
    "file": ("file", "path", "filename", "url", "文件"),
    "shows": ("description", "caption", "summary", "描述"),
}

SIDE_WORDS: Mapping[str, Side] = {
    **dict.fromkeys(("buyer", "b", "0", "买家", "买方"), "buyer"),
    **dict.fromkeys(("seller", "s", "1", "卖家", "卖方"), "seller"),
}

CURRENCIES: Mapping[str, str] = {
    **dict.fromkeys(("¥", "￥", "元", "rmb", "人民币"), "CNY"),
    **{"$": "USD", "€": "EUR", "£": "GBP"},
}

SUBCATEGORIES: Mapping[Category, Mapping[str, tuple[str, ...]]] = {
    "Digital & Appliances": {
        "Mobile Phones": ("手机",),
        "Computers": ("电脑",),
        "Cameras": ("相机",),
        "Major Appliances": ("大家电",),
        "Small Appliances": ("小家电",),
        "Smart Devices": ("智能设备",),
        "Digital Accessories": ("数码配件",),
    },
    "Fashion & Bags": {
        "Clothing": ("服装",),
        "Footwear": ("鞋靴",),
        "Bags & Luggage": ("箱包",),
        "Hats": ("帽子",),
        "Accessories": ("配饰",),
    },
    "Home & Lifestyle": {
        "Furniture & Home Décor": ("家具", "Furniture & Home Decor"),
        "Kitchen & Daily Essentials": ("厨房日用",),
        "Maternity & Baby Products": ("母婴",),
        "Pet Supplies": ("宠物用品",),
        "Sports & Outdoors": ("运动户外",),
        "Automotive Supplies": ("汽车用品",),
        "Collectibles & Entertainment": ("收藏娱乐",),
    },
    "Virtual & Services": {
        "Digital Resources": ("数字资源",),
        "Gaming Accounts & Services": ("游戏",),
        "Agency Services": ("代办服务",),
        "Local Services": ("本地服务",),
        "Tutorials & Courses": ("教程课程",),
    },
    "Other": {"Uncategorized Secondhand Items": ("其他闲置",)},
}
"""The 25 subcategories of prompt E.10 under the five categories, with a Chinese spelling of each."""

CATEGORY_WORDS: Mapping[str, Category] = {
    "数码家电": "Digital & Appliances",
    "服饰箱包": "Fashion & Bags",
    "家居生活": "Home & Lifestyle",
    "虚拟服务": "Virtual & Services",
    "其他": "Other",
}


def category(name: str) -> tuple[Category, str] | None:
    """The category that a category's or subcategory's name stands for, and the subcategory or ""."""
    wanted = name.strip().casefold()
    for top, below in SUBCATEGORIES.items():
        if wanted == top.casefold():
            return top, ""
        for known, others in below.items():
            if wanted in (known.casefold(), *(other.casefold() for other in others)):
                return top, known
    found = CATEGORY_WORDS.get(wanted)
    return (found, "") if found else None
