"""An e-commerce dispute: transaction, chat history, evidence by side (CyberJurors, sections 3 and 4)."""

from collections import Counter
from collections.abc import Iterator, Mapping
from datetime import datetime
from itertools import count
from typing import Literal, Self

from pydantic import Field, model_validator

from courtroom.cases.case import Case, Option
from courtroom.errors import CaseError
from courtroom.media.medium import KeptFile, Medium, with_kept
from courtroom.strict import Strict

Side = Literal["buyer", "seller"]
SIDES: tuple[Side, Side] = ("buyer", "seller")

Category = Literal["Digital & Appliances", "Fashion & Bags", "Home & Lifestyle", "Virtual & Services", "Other"]
CATEGORIES: tuple[Category, ...] = (
    "Digital & Appliances",
    "Fashion & Bags",
    "Home & Lifestyle",
    "Virtual & Services",
    "Other",
)


class Transaction(Strict):
    """The order that the dispute is about."""

    product: str = Field(min_length=1, max_length=300)
    description: str = Field(default="", max_length=20_000, description="The seller's listing text.")
    condition: str = Field(default="", max_length=100, description="As listed: new, like new, used ...")
    price: float | None = Field(default=None, ge=0, le=1e9, description="Not set: it is not given.")
    currency: str = Field(default="CNY", pattern=r"^[A-Z]{3}$")
    ordered_at: datetime | None = None
    delivered_at: datetime | None = None
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
    late: bool = Field(
        default=False,
        description="Came in while the case was heard: it was not examined.",
        exclude_if=lambda late: not late,
    )


class JurorOpinion(Strict):
    """What one juror on record wrote."""

    side: Side
    text: str = Field(default="", max_length=20_000)


class JuryRecord(Strict):
    """The votes on record; never shown to a member."""

    buyer: int = Field(ge=0, le=1_000)
    seller: int = Field(ge=0, le=1_000)
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
    claim: str = Field(
        default="",
        max_length=2_000,
        description="What the buyer asks for.",
        exclude_if=lambda claim: not claim,
    )
    chat: tuple[ChatMessage, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    jury: JuryRecord | None = None

    @model_validator(mode="after")
    def _ids_are_unique(self) -> Self:
        evidence = [piece.id for piece in self.evidence]
        media = [medium.id for medium in self.media()]
        for name, ids in (("evidence", evidence), ("media", media)):
            if len(set(ids)) < len(ids):
                doubled = sorted(i for i, number in Counter(ids).items() if number > 1)
                raise ValueError(f"{name} ids must be unique; used more than once: {', '.join(doubled)}")
        for piece in self.evidence:
            if not piece.id.startswith(piece.side):
                raise ValueError(f"evidence {piece.id} must have an id that starts with its side, {piece.side}")
        return self

    def media(self) -> Iterator[Medium]:
        return (medium for piece in self.evidence for medium in piece.media)

    kind_title = "Dispute"
    has_options = True

    @property
    def over(self) -> str:
        return "an order on an online marketplace"

    @property
    def to_decide(self) -> str:
        return "a dispute on an online marketplace. A buyer and a seller disagree about an order."

    @property
    def burden(self) -> str:
        return "buyer has to prove the claim"

    @property
    def choices(self) -> tuple[Option, ...]:
        return tuple(
            Option(name=side, title=side.capitalize(), is_party=True, pieces=tuple(e.text for e in self.by_side(side)))
            for side in SIDES
        )

    @property
    def for_nobody(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.transaction.description, *(line.text for line in self.chat))))

    def with_media(self, kept: Mapping[str, KeptFile]) -> Self:
        evidence = tuple(
            piece.model_copy(update={"media": tuple(with_kept(medium, kept) for medium in piece.media)})
            for piece in self.evidence
        )
        return self.model_copy(update={"evidence": evidence})

    def brief(self) -> tuple[str, ...]:
        return tuple(filter(None, (self.category, self.transaction.cost, f"{len(self.evidence)} pieces of evidence")))

    def blind(self) -> Self:
        return self.model_copy(update={"jury": None})

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
        """The dispute as if these pieces of evidence had not been submitted."""
        if unknown := set(parts) - {piece.id for piece in self.evidence}:
            raise CaseError(f"{self.id} has no evidence {', '.join(sorted(unknown))}.")
        return self.model_copy(update={"evidence": tuple(piece for piece in self.evidence if piece.id not in parts)})

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
