"""An e-commerce dispute: transaction, chat history, evidence by side (CyberJurors, sections 3 and 4)."""

from collections.abc import Iterator, Sequence
from datetime import datetime
from itertools import chain, count, groupby
from typing import Any, ClassVar, Literal, Self, get_args

from pydantic import Field, model_validator

from courtroom.cases.case import Brought, Case, Option, joined, unique
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import Medium
from courtroom.strict import Strict, option

Side = Literal["buyer", "seller"]
SIDES: tuple[Side, Side] = ("buyer", "seller")

Category = Literal["Digital & Appliances", "Fashion & Bags", "Home & Lifestyle", "Virtual & Services", "Other"]
CATEGORIES: tuple[Category, ...] = get_args(Category)


class Transaction(Strict):
    """The order that the dispute is about."""

    product: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=20_000, title=N_("The seller's listing"))
    condition: str = Field(default="", max_length=100, description="As listed: new, like new, used ...")
    price: float | None = Field(default=None, ge=0, le=1e9, description="Not set: it is not given.")
    currency: str = Field(default="CNY", pattern=r"^[A-Z]{3}$", title=N_("Currency"))
    ordered_at: datetime | None = Field(default=None, title=N_("Ordered"))
    delivered_at: datetime | None = Field(default=None, title=N_("Delivered"))
    order_state: str = Field(default="", max_length=200, description="E.g. delivered, return requested.")

    @property
    def cost(self) -> str:
        """The price with its currency; empty where it is not given."""
        return "" if self.price is None else f"{self.price:,.2f} {self.currency}"


class ChatMessage(Strict):
    """One line of the chat between buyer and seller."""

    speaker: Side
    text: str = Field(max_length=20_000)
    at: datetime | None = None


class Evidence(Strict):
    """One submission by one side: what it claims, and the media that should show it."""

    id: str = Field(pattern=r"^(buyer|seller)-[0-9]{1,3}$", description="`buyer-1`, `seller-2` ...")
    side: Side
    round: int = Field(default=1, ge=1, le=100, description="In which round of submissions it came.")
    text: str = Field(default="", max_length=50_000)
    at: datetime | None = None
    media: tuple[Medium, ...] = ()
    late: bool = option(False, "Came in while the case was heard: it was not examined.")


class JurorOpinion(Strict):
    """What one juror on record wrote."""

    side: Side
    text: str = Field(default="", max_length=20_000)


class JuryRecord(Strict):
    """The votes on record; never shown to a member."""

    buyer: int = Field(ge=0, le=1_000, title=N_("Votes on record for the buyer, if there are any"))
    seller: int = Field(ge=0, le=1_000, title=N_("Votes on record for the seller, if there are any"))
    opinions: tuple[JurorOpinion, ...] = ()

    @property
    def winner(self) -> Side:
        """The side with more votes; a tie goes to the buyer (Eq. 10)."""
        return "seller" if self.seller > self.buyer else "buyer"


class Dispute(Case):
    """A dispute D = {d, evidence of the buyer, evidence of the seller} (section 4)."""

    kind: Literal["dispute"] = "dispute"
    category: Category
    subcategory: str = Field(default="", max_length=100)
    transaction: Transaction
    claim: str = option("", max_length=2_000, title=N_("What the buyer asks for"))
    chat: tuple[ChatMessage, ...] = Field(default=(), title=N_("Chat, one line each: “buyer: ...” or “seller: ...”"))
    evidence: tuple[Evidence, ...] = ()
    jury: JuryRecord | None = None

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        unique("evidence ids", (piece.id for piece in self.evidence))
        unique("media ids", (medium.id for medium in self.media()))
        for piece in self.evidence:
            if not piece.id.startswith(piece.side):
                raise ValueError(f"evidence {piece.id} must have an id that starts with its side, {piece.side}")
        return self

    def media(self) -> Iterator[Medium]:
        return (medium for piece in self.evidence for medium in piece.media)

    def sections(self) -> tuple[tuple[str, str], ...]:
        deal = self.transaction
        ordered = ", ".join(filter(None, (deal.product, deal.cost)))
        lines = [
            (N_("What was ordered"), "\n".join(filter(None, (ordered, deal.description)))),
            (N_("Chat"), "\n".join(f"{line.speaker}: {line.text}" for line in self.chat)),
            (N_("What the buyer asks for"), self.claim),
        ]
        titles = {"buyer": N_("Evidence of the buyer"), "seller": N_("Evidence of the seller")}
        for piece in self.evidence:
            shown = filter(None, (one.description for one in piece.media))
            lines.append((titles[piece.side], "\n".join((f"{piece.id}: {piece.text}", *shown))))
        return tuple((title, text) for title, text in lines if text)

    kind_title = "Dispute"
    over: ClassVar[str] = "an order on an online marketplace"
    to_decide: ClassVar[str] = "a dispute on an online marketplace. A buyer and a seller disagree about an order."
    burden: ClassVar[str] = "buyer has to prove the claim"
    has_options = True
    asks = (
        *("category", "transaction.product", "transaction.price", "transaction.currency", "transaction.condition"),
        *("transaction.ordered_at", "transaction.delivered_at"),
        *("jury.buyer", "jury.seller", "decided_by", "source"),
        *("claim", "transaction.description", "chat"),
    )
    in_rounds = True
    titles_of_places = {"buyer": N_("Buyer"), "seller": N_("Seller"), "description": N_("Listing")}
    outcome_fields = {"jury": None}

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        evidence = [
            {"id": f"{side}-{number}", "side": side, "round": piece.round, "text": piece.words, "media": piece.media}
            for side in SIDES
            for number, piece in enumerate((one for one in pieces if one.place == side), start=1)
        ]
        if not evidence:
            raise CaseError(N_("Give a piece to the buyer or the seller."))
        if any(piece.media for piece in pieces if piece.place == "description"):
            raise CaseError(N_("A picture is evidence: give it to the buyer or the seller."))
        deal = given["transaction"]
        deal |= {"description": joined(deal, "description", pieces)}
        chat = [_said(line) for line in given.get("chat", "").splitlines() if line.strip()]
        return cls.model_validate({**given, "transaction": deal, "chat": chat, "evidence": evidence})

    @property
    def choices(self) -> tuple[Option, ...]:
        return tuple(
            Option(name=side, title=side.capitalize(), is_party=True, pieces=tuple(e.text for e in self.by_side(side)))
            for side in SIDES
        )

    @property
    def for_nobody(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.transaction.description, *(line.text for line in self.chat))))

    def brief(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.category, self.transaction.cost, f"{len(self.evidence)} pieces of evidence")))

    @property
    def right(self) -> tuple[str, int] | None:
        return (self.jury.winner, len(SIDES)) if self.jury else None

    def real_counts(self) -> dict[str, int]:
        return {"buyer": self.jury.buyer, "seller": self.jury.seller} if self.jury else {}

    def real_outcome(self) -> str:
        if self.jury is None:
            return ""
        tie = " (near tie)" if abs(self.jury.buyer - self.jury.seller) < 3 else ""
        return f"{self.votes_title} · ● buyer {self.jury.buyer}, ■ seller {self.jury.seller}{tie}"

    def parts(self) -> tuple[tuple[str, str], ...]:
        return tuple((piece.id, piece.text) for piece in self.evidence)

    def without(self, *parts: str) -> Self:
        """The dispute as if these pieces of evidence had not been submitted: the others of their side close up."""
        if unknown := set(parts) - {piece.id for piece in self.evidence}:
            raise CaseError(f"{self.id} has no evidence {', '.join(sorted(unknown))}.")
        kept = tuple(piece for piece in self.evidence if piece.id not in parts)
        closed: dict[str, Evidence] = {}
        for side in {piece.side for piece in self.evidence if piece.id in parts}:
            own = [piece for piece in kept if piece.side == side]
            rounds = sorted({piece.round for piece in own})
            for number, piece in enumerate(own, start=1):
                update = {"id": f"{side}-{number}", "round": 1 + rounds.index(piece.round)}
                closed[piece.id] = piece.model_copy(update=update)
        return self.model_copy(update={"evidence": tuple(closed.get(piece.id, piece) for piece in kept)})

    def in_other_order(self) -> Self:
        """Return the dispute with what the second side submitted before what the first did, turn by turn."""
        turns = [tuple(pieces) for _, pieces in groupby(self.evidence, key=lambda piece: piece.side)]
        swapped = (turn for at in range(0, len(turns), 2) for turn in reversed(turns[at : at + 2]))
        return self.model_copy(update={"evidence": tuple(chain.from_iterable(swapped))})

    def with_addition(self, text: str, side: str) -> Self:
        """The dispute with a piece of evidence that came in after the examination."""
        if side not in SIDES:
            raise CaseError(f"A piece of evidence is the buyer's or the seller's. Say whose: {' or '.join(SIDES)}.")
        taken = {piece.id for piece in self.evidence}
        name = next(name for n in count(1) if (name := f"{side}-{n}") not in taken)
        last = max((piece.round for piece in self.evidence), default=1)
        piece = Evidence(id=name, side=side, round=last, text=text, late=True)
        return self.model_copy(update={"evidence": (*self.evidence, piece)})

    def by_side(self, side: Side) -> tuple[Evidence, ...]:
        """The evidence of one side, in order of submission."""
        return tuple(sorted((e for e in self.evidence if e.side == side), key=lambda e: e.round))


def _said(line: str) -> dict[str, str]:
    """A line of a chat as somebody writes it; where nobody is named, the buyer says it."""
    speaker, colon, words = line.partition(":")
    side = speaker.strip().lower()
    return {"speaker": side, "text": words.strip()} if colon and side in SIDES else {"speaker": "buyer", "text": line}


class Precedent(Strict):
    """h_i with its guideline n_i (appendix B.2)."""

    id: str = Field(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")
    title: str = Field(min_length=1, max_length=200)
    language: str = "en"
    category: Category
    dispute: str = Field(min_length=1, description="Product, core of the dispute, chat, claims, what media show.")
    buyer_votes: int = Field(ge=0, le=1000)
    seller_votes: int = Field(ge=0, le=1000)
    opinions: tuple[JurorOpinion, ...] = ()
    norms: tuple[str, ...] = Field(default=(), max_length=8, description="Empty until distilled.")
    source: str = Field(default="", max_length=400)
    distilled_by: str | None = Field(default=None, description="The run that distilled the norms.")

    @property
    def winner(self) -> Side:
        """The side with more votes; a tie goes to the buyer (Eq. 10)."""
        return "seller" if self.seller_votes > self.buyer_votes else "buyer"


class PrecedentBatch(Case):
    """Precedents to distil norms from, one after the other: the closed loop of appendix B.2."""

    kind_title = "Precedents"
    kind: Literal["precedents"] = "precedents"
    precedents: tuple[Precedent, ...] = Field(min_length=1)
