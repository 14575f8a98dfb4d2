"""Rows as they lie in the store: a text of a labelled task without the label set that all texts share."""

import hashlib
import json
import re
import unicodedata
from typing import Any

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.cases.criminal import CriminalCase
from courtroom.cases.dispute import Dispute
from courtroom.cases.kinds import parse_case
from courtroom.cases.labelled import Document, Labelled, LabelledTask
from courtroom.strict import Strict

_NOT_TEXT = re.compile(r"[\W_]+")


class SharedFields(Strict):
    """What all texts of a labelled dataset share."""

    labels: tuple[str, ...] = ()
    question: str = ""
    names: tuple[str, str] = ("text", "second text")
    language: str = "en"
    source: str = Field(default="", max_length=400)
    fictional: bool = False

    def task(self, item: Labelled, pool: str) -> LabelledTask:
        """The task with this one text; its examples are found in the pool."""
        title = " ".join(item.text.split())
        return LabelledTask(
            id=item.id,
            title=title[:80] + ("…" if len(title) > 80 else ""),
            pool=pool,
            items=(item,),
            **self.model_dump(),
        )


def frame_of(task: LabelledTask) -> SharedFields:
    """What a task's texts share."""
    return SharedFields(**{name: getattr(task, name) for name in SharedFields.model_fields})


def unpacked(body: str, frame: SharedFields | None, pool: str) -> Case:
    """A case from its row."""
    if frame is None:
        return parse_case(json.loads(body))
    return frame.task(Labelled.model_validate_json(body), pool)


def parsed(body: str) -> Case | Labelled:
    """What a row holds, without what all rows share. Raises `CaseError, ValueError`: it is damaged."""
    data = json.loads(body)
    return parse_case(data) if isinstance(data, dict) and "kind" in data else Labelled.model_validate(data)


def text_of(case: Case | Labelled) -> str:
    """All words that a member would read."""
    if isinstance(case, Labelled):
        return case.whole
    if isinstance(case, LabelledTask):
        return "\n".join(item.whole for item in case.items)
    if isinstance(case, CriminalCase):
        return "\n".join((case.facts, *case.options))
    if isinstance(case, Document):
        return case.text
    if isinstance(case, Dispute):
        pieces = [piece.text for piece in case.evidence]
        chat = [message.text for message in case.chat]
        return "\n".join((case.transaction.product, case.transaction.description, *chat, *pieces))
    return "\n".join(text for _, text in case.sections())


def fingerprint(text: str) -> bytes:
    """The same for texts that differ only in white space, punctuation, case and width of letters."""
    plain = _NOT_TEXT.sub("", unicodedata.normalize("NFKC", text).casefold())
    return hashlib.sha256(plain.encode(errors="surrogatepass")).digest()[:16]


def outcome_of(case: Case | Labelled) -> str:
    """What is known to be right, in few words; empty where nothing is known."""
    if isinstance(case, Labelled):
        return case.label or ""
    if isinstance(case, LabelledTask):
        return case.items[0].label or "" if len(case.items) == 1 else ""
    if isinstance(case, CriminalCase) and case.gold is not None:
        gold = case.gold
        known: Any = gold.choice or gold.charges or gold.relevant_articles or gold.term_of_imprisonment
        if known is None and gold.amount is not None:
            known = f"{gold.amount:.2f}"
        return "; ".join(map(str, known)) if isinstance(known, tuple) else str(known or "")
    if isinstance(case, Dispute) and case.jury is not None:
        return case.jury.winner
    return "with a summary" if isinstance(case, Document) and case.reference else ""


def category_of(case: Case | Labelled) -> str:
    """By what rows of this kind are broken down, where the source does not say."""
    if isinstance(case, Dispute):
        return case.category
    if isinstance(case, Document):
        return case.domain
    if isinstance(case, CriminalCase):
        return case.gold.charges[0] if case.gold and case.gold.charges else ""
    return outcome_of(case)


def margin_of(case: Case | Labelled) -> float | None:
    """By how much of all votes the winner on record is ahead, 0 to 1; None where that is not known."""
    if not isinstance(case, Dispute) or case.jury is None or not (case.jury.buyer + case.jury.seller):
        return None
    return abs(case.jury.buyer - case.jury.seller) / (case.jury.buyer + case.jury.seller)


def numbers_of(case: Case | Labelled) -> dict[str, float]:
    """What statistics count in a case of its kind."""
    if isinstance(case, CriminalCase):
        gold, found = case.gold, {"defendants": float(len(case.defendants))}
        if gold and gold.relevant_articles is not None:
            found["articles"] = len(gold.relevant_articles)
        if gold and gold.charges is not None:
            found["charges"] = len(gold.charges)
        if gold and gold.term_of_imprisonment is not None:
            term = gold.term_of_imprisonment
            found |= (
                {"months": term.imprisonment}
                if not (term.death_penalty or term.life_imprisonment)
                else {"life or death": 1}
            )
        return found
    if isinstance(case, Dispute):
        kinds = [medium.kind for medium in case.media()]
        votes = {"votes": case.jury.buyer + case.jury.seller, "votes for buyer": case.jury.buyer} if case.jury else {}
        found = {"evidence": len(case.evidence), "chat lines": len(case.chat)}
        return {**found, "pictures": kinds.count("image"), "videos": kinds.count("video"), **votes}
    if isinstance(case, Document):
        return {"summary characters": len(case.reference)} if case.reference else {}
    return {"second text characters": len(case.second)} if isinstance(case, Labelled) and case.second else {}
