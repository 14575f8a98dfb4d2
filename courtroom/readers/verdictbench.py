"""A reader for VerdictBench-like JSON.

The benchmark's paper describes a record (section 3, appendix A) without its published field names, so several spellings
are taken. What can't be mapped is reported, not dropped in silence.

| here | taken from |
| --- | --- |
| `id` | `id`, `case_id`, `caseId` |
| `title` | `title`, else the product's name |
| `category` | `category`, `label`, `tag`: one of the five, or a subcategory of prompt E.10 |
| `transaction.product` | `product`, `product_name`, `title`, `商品`; also within `product_info`, `transaction`, `metadata` |
| `transaction.description` | `description`, `product_text`, `detail`, `商品描述` |
| `transaction.price` | `price`, `amount`, `价格`: a number, or a text with one |
| `chat` | `chat_history`, `chat`, `dialogue`, `聊天记录`: objects with `role`/`speaker` and `content`/`text` |
| `evidence` | `buyer_evidence` and `seller_evidence`, or `evidence` with `role`/`side`; each with `text`/`content`, `images`, `videos` |
| `jury` | `votes` with `buyer`/`seller`, or a list of `jurors`/`votes`/`opinions` with `vote`/`side` and `reason`/`text` |
"""

from __future__ import annotations

import re
from typing import Any

from courtroom.dispute import CATEGORIES
from courtroom.errors import CaseError

SUBCATEGORIES: dict[str, tuple[str, ...]] = {
    "Digital & Appliances": (
        *("mobile phones", "computers", "cameras", "major appliances", "small appliances", "smart devices"),
        *("digital accessories", "digital"),
    ),
    "Fashion & Bags": ("clothing", "footwear", "bags & luggage", "hats", "accessories", "fashion"),
    "Home & Lifestyle": (
        *("furniture & home décor", "kitchen & daily essentials", "maternity & baby products", "pet supplies"),
        *("sports & outdoors", "automotive supplies", "collectibles & entertainment", "home"),
    ),
    "Virtual & Services": (
        *("digital resources", "gaming accounts & services", "agency services", "local services"),
        *("tutorials & courses", "virtual"),
    ),
    "Other": ("uncategorized secondhand items", "other"),
}
SIDE_WORDS = {"buyer": "buyer", "seller": "seller", "买家": "buyer", "卖家": "seller", "0": "buyer", "1": "seller"}
FIELDS: dict[str, tuple[str, ...]] = {
    "id": ("id", "case_id", "caseId"),
    "title": ("title",),
    "category": ("category", "label", "tag", "类别"),
    "product": ("product", "product_name", "title", "name", "商品"),
    "description": ("description", "product_text", "detail", "商品描述"),
    "price": ("price", "amount", "价格"),
    "chat": ("chat_history", "chat", "dialogue", "聊天记录"),
    "evidence": ("evidence", "evidences"),
    "buyer_evidence": ("buyer_evidence", "buyerEvidence", "买家证据"),
    "seller_evidence": ("seller_evidence", "sellerEvidence", "卖家证据"),
    "jurors": ("jurors", "opinions", "jury", "votes", "投票"),
    "deal": ("product_info", "transaction", "metadata", "order", "商品信息"),
    "text": ("text", "content", "claim", "reason", "内容", "理由"),
    "speaker": ("role", "speaker", "side", "from", "vote", "verdict", "角色"),
    "images": ("images", "image", "pictures", "图片"),
    "videos": ("videos", "video", "视频"),
    "winner": ("winner", "final_verdict", "result"),
    "language": ("language",),
}


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record without a `kind` has the marks of a VerdictBench record."""
    marks = (*FIELDS["buyer_evidence"], *FIELDS["seller_evidence"], *FIELDS["evidence"])
    return any(mark in row for mark in marks)


def convert(row: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """A record as a dispute's plain data, with a remark for each field that was not taken over.

    Raises:
        CaseError: something without which there is no dispute is missing.
    """
    inner = _get(row, "deal")
    deal: dict[str, Any] = inner if isinstance(inner, dict) else {"description": inner} if inner else {}
    flat = {**deal, **{key: value for key, value in row.items() if not isinstance(value, (dict, list))}}
    product = str(_get(deal, "product") or _get(flat, "product") or "").strip()
    if not product:
        raise CaseError("the product's name is missing. Add it as `product`.")
    evidence = [
        *_evidence(_get(row, "buyer_evidence"), "buyer"),
        *_evidence(_get(row, "seller_evidence"), "seller"),
        *_evidence(_get(row, "evidence"), None),
    ]
    for side in ("buyer", "seller"):
        own = [piece for piece in evidence if piece["side"] == side]
        for number, piece in enumerate(own, start=1):
            piece["id"] = f"{side}-{number}"
            for n, medium in enumerate(piece["media"], start=1):
                medium["id"] = f"{side}-{number}-{n}"
    text = product + " ".join(piece["text"] for piece in evidence)
    case = {
        "kind": "dispute",
        "id": re.sub(r"[^A-Za-z0-9._-]+", "-", str(_get(row, "id") or product)).strip("-.") or "dispute",
        "title": str(_get(row, "title") or product)[:200],
        "language": _get(row, "language") or ("zh" if re.search(r"[\u4e00-\u9fff]", text) else "en"),
        "source": "VerdictBench-like record",
        "category": _category(str(_get(row, "category") or "")),
        "transaction": {
            "product": product[:300],
            "description": str(_get(deal, "description") or _get(flat, "description") or ""),
            "price": _number(_get(deal, "price") or _get(flat, "price")),
        },
        "chat": [
            {"speaker": _side(_get(line, "speaker")), "text": str(_get(line, "text") or "")}
            for line in _get(row, "chat") or []
        ],
        "evidence": evidence,
        "jury": _jury(_get(row, "jurors")),
    }
    known = {name for names in FIELDS.values() for name in names}
    return case, tuple(f"The field `{name}` was not taken over." for name in row if name not in known)


def _get(row: Any, field: str) -> Any:
    return next((row[name] for name in FIELDS[field] if name in row), None) if isinstance(row, dict) else None


def _side(value: Any) -> str:
    side = SIDE_WORDS.get(str(value).strip().lower())
    if side is None:
        raise CaseError(f"“{value}” is no side. Write `buyer` or `seller`.")
    return side


def _evidence(items: Any, side: str | None) -> list[dict[str, Any]]:
    pieces = []
    for number, item in enumerate(items or [], start=1):
        piece = {"text": item} if isinstance(item, str) else item
        media = [
            {"kind": kind, "file": m if isinstance(m, str) else str(m.get("path") or m.get("file")),
             "description": "" if isinstance(m, str) else str(m.get("description") or m.get("summary") or "")}
            for kind, field in (("image", "images"), ("video", "videos"))
            for m in _get(piece, field) or []
        ]
        turn = piece.get("round", number)
        pieces.append(
            {
                "side": side or _side(_get(piece, "speaker")),
                "round": turn if isinstance(turn, int) and turn > 0 else number,
                "text": str(_get(piece, "text") or ""),
                "media": media,
            }
        )
    return pieces


def _jury(votes: Any) -> dict[str, Any] | None:
    if isinstance(votes, dict) and {"buyer", "seller"} <= votes.keys():
        return {"buyer": int(votes["buyer"]), "seller": int(votes["seller"])}
    if not isinstance(votes, list) or not votes:
        return None
    opinions = [
        {"side": _side(vote if not isinstance(vote, dict) else _get(vote, "speaker")), "text": str(_get(vote, "text") or "")}
        for vote in votes
    ]
    sides = [opinion["side"] for opinion in opinions]
    return {"buyer": sides.count("buyer"), "seller": sides.count("seller"), "opinions": opinions}


def _category(name: str) -> str:
    for category in CATEGORIES:
        if name == category or name.casefold() in SUBCATEGORIES[category]:
            return category
    return "Other"


def _number(value: Any) -> float:
    found = re.search(r"\d+(?:\.\d+)?", str(value).replace(",", ""))
    return float(found.group()) if found else 0.0
