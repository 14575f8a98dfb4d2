"""A reader for VerdictBench-like JSON.

The benchmark's paper describes a record (section 3, appendix A) without its published field names, so several spellings
are taken; verdictbench.toml is the whole list of them.
What can't be mapped is reported, not dropped in silence.

| here | taken from |
| --- | --- |
| `id`, `title`, `language` | the same; without a title the product's name, without a language that of the text |
| `category`, `subcategory` | one of the five, or a subcategory of prompt E.10, in English or Chinese |
| `transaction` | `product_info`, `transaction`, `metadata`, `商品信息`; or the record itself |
| `transaction.price`, `.currency` | a number, or a text such as `¥1,299.00` or `1.299,00 €` |
| `transaction.order_state` | a state of the order, where it does not tell how the dispute ended |
| `chat` | `chat_history`, `chat`, `聊天记录`: objects of a side and a text, or lines such as `buyer: ...` |
| `evidence` | `buyer_evidence` and `seller_evidence`; or `evidence`, each piece with its side, or by side |
| `evidence[].media` | `images` and `videos`: paths, or objects of a path and a description |
| `jury` | `votes` as counts by side, or one by juror with its reason; `opinions`; `buyer_votes` and `seller_votes` |
| (checked against `jury`) | `winner`, `final_verdict`, `判决结果` |
"""

import re
import tomllib
from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import TypeAdapter, ValidationError

from courtroom.cases.dispute import SIDES, Category, Side
from courtroom.errors import CaseError
from courtroom.media.medium import MediumKind
from courtroom.text.languages import language_of
from courtroom.text.prices import currency, price

NAMES: dict[str, Any] = tomllib.loads((Path(__file__).parent / "verdictbench.toml").read_text(encoding="utf-8"))
FIELDS: Mapping[str, list[str]] = NAMES["fields"]
MARKS = (*FIELDS["buyer_evidence"], *FIELDS["seller_evidence"], *FIELDS["evidence"])
"""A record has one of these fields."""

SIDE_WORDS: Mapping[str, Side] = {word: side for side in SIDES for word in NAMES["sides"][side]}
_ENDED = re.compile(NAMES["status"]["ended"], re.IGNORECASE)
"""Words of a status that tell how a dispute ended."""
_CODE = re.compile(r"[a-z]{2}(-[A-Za-z]+)?")
_MOMENT = TypeAdapter(datetime)
_SAID = re.compile(r"\s*([^:：]{1,10})[:：]\s*(.*)", re.DOTALL)


def _category_words() -> Iterator[tuple[str, tuple[Category, str]]]:
    for top, (chinese, *below) in NAMES["categories"].items():
        yield from ((word.casefold(), (top, "")) for word in (top, *chinese))
        yield from ((word.casefold(), (top, names[0])) for names in below for word in names)


CATEGORY_WORDS = dict(reversed(list(_category_words())))
"""The category that a name stands for, and the subcategory; empty where it is a category's own."""


def looks_like(row: dict[str, Any]) -> bool:
    """Whether a record that isn't one of ours has the marks of a VerdictBench record."""
    return not row.keys() & {"kind", "schema_version"} and not row.keys().isdisjoint(MARKS)


def convert(row: dict[str, Any]) -> tuple[dict[str, Any], tuple[str, ...]]:
    """Read a record as a dispute's plain data, with a remark for each thing that was not taken over."""
    remarks: list[str] = []
    record = _Part(row, "", remarks)
    transaction = _transaction(record)
    evidence = [*_evidence(record)]
    chat = [*_chat(record)]
    jury = _jury(record)
    top, below = _category(record)
    product = transaction["product"]
    words = " ".join([product, transaction["description"], *(piece["text"] for piece in evidence)])
    name = re.sub(r"[^A-Za-z0-9._-]+", "-", record.text("id") or product).strip("-._")[:80] or "dispute"
    case: dict[str, Any] = {"kind": "dispute", "id": name, "title": (record.text("title") or product)[:200]}
    case |= {"language": _language(record) or language_of(words), "source": "VerdictBench-like record"}
    case |= {"category": top, "subcategory": below, "transaction": transaction}
    case |= {"chat": chat, "evidence": evidence, "jury": jury}
    record.report_rest()
    return case, tuple(remarks)


class _Part:
    """One object of a record; it knows which of its fields have been taken over."""

    def __init__(self, data: dict[str, Any], where: str, remarks: list[str]) -> None:
        self._data, self._where, self._remarks = data, where, remarks
        self.remark = remarks.append
        self._taken: set[str] = set()

    def take(self, field: str) -> Any:
        """The first value under one of a field's names; None where there is none."""
        for name in FIELDS[field]:
            if name in self._data and name not in self._taken:
                self._taken.add(name)
                if (value := self._data[name]) is not None:
                    return value
        return None

    def text(self, field: str) -> str:
        return self.plain(self.take(field), field)

    def plain(self, value: Any, field: str) -> str:
        """A value as text; a list of texts is put together."""
        if isinstance(value, (str, int, float)):
            return str(value).strip()
        if isinstance(value, list) and all(isinstance(line, str) for line in value):
            return "\n".join(value).strip()
        if value is not None:
            self.remark(f"`{self.name(field)}` is no text and was left out.")
        return ""

    def moment(self, field: str) -> str | None:
        value = self.take(field)
        if value in (None, ""):
            return None
        try:
            return _MOMENT.validate_python(value).isoformat()
        except ValidationError:
            self.remark(f"`{self.name(field)}` is no date that can be read and was left out.")
            return None

    def parts(self, value: Any, field: str) -> "Iterator[_Part]":
        """The entries of a list, or a single entry; a text is taken for an entry that has only this text."""
        for number, entry in enumerate(value if isinstance(value, list) else [value], start=1):
            where = f"{self.name(field)} {number}"
            if isinstance(entry, dict | str):
                data = entry if isinstance(entry, dict) else {"text": entry}
                yield _Part(data, f"{where} › ", self._remarks)
            elif entry is not None:
                self.remark(f"`{where}` is neither text nor an object and was left out.")

    def inner(self, value: dict[str, Any], field: str) -> "_Part":
        return _Part(value, f"{self.name(field)} › ", self._remarks)

    def name(self, field: str) -> str:
        """Where a field stands, by the name under which it was found."""
        found = next((name for name in FIELDS[field] if name in self._taken), FIELDS[field][0])
        return self._where + found

    def report_rest(self) -> None:
        """Report which fields nobody has taken."""
        for name in self._data:
            if name not in self._taken:
                self.remark(f"The field `{self._where}{name}` was not taken over.")


def _transaction(record: _Part) -> dict[str, Any]:
    found = record.take("deal")
    inner = record.inner(found if isinstance(found, dict) else {}, "deal")
    text = "" if isinstance(found, dict) else record.plain(found, "deal")

    def value(field: str) -> str:
        return inner.text(field) or record.text(field)

    product = value("product") or inner.text("title") or record.text("title")
    if not product:
        raise CaseError("the product's name is missing. Add it as `product`.")
    cost, written = _price(inner, record)
    known = currency(value("currency")) or currency(written)
    if cost is not None and not known:
        record.remark("No currency was found; CNY is put in its place.")
    deal: dict[str, Any] = {"product": product[:300], "price": cost, "currency": known or "CNY"}
    deal |= {"description": value("description") or text, "condition": value("condition")}
    deal |= {name: inner.moment(name) or record.moment(name) for name in ("ordered_at", "delivered_at")}
    deal["order_state"] = _order_state(inner, record)
    inner.report_rest()
    return deal


def _language(record: _Part) -> str:
    """The code of the language that a record names; empty where it names none by its code."""
    said = record.text("language").replace("_", "-")
    code = f"{said[:2].lower()}{said[2:]}"
    if said and not _CODE.fullmatch(code):
        told = f"`{record.name('language')}` (“{said[:40]}”) is no code such as `en`, so it was found from the texts."
        record.remark(told)
        return ""
    return code


def _price(inner: _Part, record: _Part) -> tuple[float | None, str]:
    """What the item cost, None where that is not given, or not sure; and how it is written."""
    for part in (inner, record):
        value = part.take("price")
        if value is None or value == "":
            continue
        if isinstance(value, int | float) and not isinstance(value, bool):
            amount, doubt = (float(value), "") if value >= 0 else (None, "is less than nothing")
        else:
            amount, doubt = price(part.plain(value, "price"))
        if doubt:
            none = "" if amount is not None else ", so no price was taken over"
            part.remark(f"`{part.name('price')}` (“{str(value)[:40]}”) {doubt}{none}.")
        return amount, str(value)
    record.remark("No price was found; members are told that it is not given.")
    return None, ""


def _order_state(inner: _Part, record: _Part) -> str:
    """How far the order is. A `status` of the whole record may be that of the dispute, and so may tell how it ended."""
    for part, field in ((inner, "order_state"), (inner, "status"), (record, "order_state")):
        if state := part.text(field):
            if not _ENDED.search(state):
                return state[:200]
            part.remark(f"`{part.name(field)}` (“{state[:40]}”) may tell how the dispute ended, and was left out.")
    return ""


def _chat(record: _Part) -> Iterator[dict[str, Any]]:
    found = record.take("chat")
    lines = found.splitlines() if isinstance(found, str) else found
    for number, line in enumerate(record.parts(lines, "chat"), start=1):
        at, speaker, text = line.moment("at"), line.text("side"), line.text("text")
        if not speaker and (said := _SAID.match(text)):
            speaker, text = said.groups()
        side = SIDE_WORDS.get(speaker.strip().casefold())
        if side is None:
            record.remark(f"Chat line {number} is by neither side (“{speaker[:40]}”) and was left out.")
        else:
            yield {"speaker": side, "text": text, "at": at}
        line.report_rest()


def _evidence(record: _Part) -> Iterator[dict[str, Any]]:
    pieces: list[tuple[Side, _Part]] = []
    for side, field in zip(SIDES, ("buyer_evidence", "seller_evidence"), strict=True):
        pieces += [(side, part) for part in record.parts(record.take(field), field)]
    mixed = record.take("evidence")
    if isinstance(mixed, dict) and any(name.casefold() in SIDE_WORDS for name in mixed):
        for name, value in mixed.items():
            pieces += [(_side(name, "evidence"), part) for part in record.parts(value, "evidence")]
    else:
        pieces += [(_side(part.text("side"), part.name("side")), part) for part in record.parts(mixed, "evidence")]
    counts = dict.fromkeys(SIDES, 0)
    for side, part in pieces:
        counts[side] += 1
        name = f"{side}-{counts[side]}"
        turn = part.text("round")
        media = [*_media(part, "images", "image"), *_media(part, "videos", "video")]
        number = int(turn) if turn.isdecimal() and int(turn) > 0 else counts[side]
        text, at = part.text("text"), part.moment("at")
        listed = [{"id": f"{name}-{place}", **medium} for place, medium in enumerate(media, start=1)]
        yield {"id": name, "side": side, "round": number, "text": text, "at": at, "media": listed}
        part.report_rest()


def _media(piece: _Part, field: str, kind: MediumKind) -> Iterator[dict[str, Any]]:
    for part in piece.parts(piece.take(field), field):
        file = part.text("file") or part.text("text")
        if file:
            yield {"kind": kind, "file": file.replace("\\", "/"), "description": part.text("shows")}
        else:
            piece.remark(f"`{part.name('file')}` is missing, so this medium was left out.")
        part.report_rest()


def _jury(record: _Part) -> dict[str, Any] | None:
    counts: dict[Side, int] = dict.fromkeys(SIDES, 0)
    votes, opinions = record.take("votes"), list[dict[str, Any]]()
    winner = SIDE_WORDS.get(record.text("winner").casefold())
    if isinstance(votes, dict):
        for side, count, texts in _by_side(record, votes):
            counts[side] += count
            opinions += texts
    else:
        if isinstance(votes, list):
            votes = [str(vote) if type(vote) is int else vote for vote in votes]
        voted = [*_votes(record, votes, "votes")]
        numbers = sorted({word for word, _, _ in voted if word.isdecimal()})
        named = _sides_of_numbers([word for word, _, _ in voted], winner) if numbers else {}
        if numbers and not named:
            shown = " and ".join(numbers)
            record.remark(
                f"The votes are numbers ({shown}), and nothing says which side each means; "
                "they were not taken over. Write `buyer` or `seller` in their place."
            )
            return None
        if named:
            items = " and ".join(f"{number} is the {side}" for number, side in sorted(named.items()))
            record.remark(f"The votes are numbers; by the winner, {items}.")
        opinions = [{"side": named.get(word) or _side(word, where), "text": text} for word, text, where in voted]
        counts |= Counter(one["side"] for one in opinions)
    for side, field in zip(SIDES, ("buyer_votes", "seller_votes"), strict=True):
        told_count = record.text(field)
        counts[side] = int(told_count) if told_count.isdecimal() else counts[side]
    written = _votes(record, record.take("opinions"), "opinions")
    opinions += [{"side": _side(word, where), "text": text} for word, text, where in written]
    if not any(counts.values()):
        if winner or opinions:
            record.remark("How many jurors voted for each side is not given, so the outcome was not taken over.")
        return None
    if winner and winner != ("seller" if counts["seller"] > counts["buyer"] else "buyer"):
        told = f"The record names the {winner} as winner, but its votes say otherwise; the votes were taken over."
        record.remark(told)
    return {"buyer": counts["buyer"], "seller": counts["seller"], "opinions": opinions}


def _sides_of_numbers(votes: list[str], winner: Side | None) -> dict[str, Side]:
    """Which side each of two numbers means, as the winner has most of the votes; empty where that is not sure."""
    counted = Counter(votes).most_common()
    if winner is None or not set(votes) <= {"0", "1"} or (len(counted) > 1 and counted[0][1] == counted[1][1]):
        return {}
    other: Side = "seller" if winner == "buyer" else "buyer"
    return {counted[0][0]: winner, "1" if counted[0][0] == "0" else "0": other}


def _by_side(record: _Part, votes: dict[str, Any]) -> Iterator[tuple[Side, int, list[dict[str, Any]]]]:
    """Votes for a side as a number, or as a list of what its voters wrote."""
    for name, value in votes.items():
        side = SIDE_WORDS.get(name.casefold())
        if side is not None and isinstance(value, list):
            texts = [part.text("text") for part in record.parts(value, "votes")]
            yield side, len(value), [{"side": side, "text": text} for text in texts]
        elif side is not None and str(value).isdecimal():
            yield side, int(value), []
        else:
            record.remark(f"`{record.name('votes')} › {name}` is no number of votes for a side and was left out.")


def _votes(record: _Part, entries: Any, field: str) -> Iterator[tuple[str, str, str]]:
    """What each juror voted, in its own word, why, and where that stands."""
    for part in record.parts(entries, field):
        word, text = part.text("side"), part.text("text")
        if not word and (text.casefold() in SIDE_WORDS or text.isdecimal()):  # a bare vote
            word, text = text, ""
        yield word, text, part.name("side")
        part.report_rest()


def _category(record: _Part) -> tuple[str, str]:
    """Of several names, the one that says most: a subcategory before a category."""
    names = [name for _ in FIELDS["category"] if (name := record.text("category"))]
    known = [CATEGORY_WORDS.get(name.strip().casefold()) for name in names]
    found = sorted(filter(None, known), key=lambda pair: not pair[1])
    if not found:
        record.remark(f"The category (“{', '.join(names)[:80]}”) is none of the five; “Other” is put in its place.")
        return "Other", ""
    for name, is_known in zip(names, known, strict=True):
        if not is_known:
            record.remark(f"“{name[:80]}” is no category, and was left out.")
    return found[0]


def _side(word: str, where: str) -> Side:
    side = SIDE_WORDS.get(word.strip().casefold())
    if side is None:
        raise CaseError(f"`{where}`: “{word[:40]}” is no side. Write `buyer` or `seller`.")
    return side
