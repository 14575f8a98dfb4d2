"""Tenders: what somebody wants to buy, and the bids between which a panel chooses."""

from collections.abc import Iterator
from pathlib import Path
from typing import ClassVar, Literal, Self

from pydantic import Field

from courtroom import Case, Medium, Option, Strict


class Bid(Strict):
    """What one company offers."""

    company: str = Field(min_length=1, max_length=80)
    price: float = Field(gt=0)
    offer: str
    media: tuple[Medium, ...] = ()


class Tender(Case):
    """A wish and the bids for it."""

    kind: Literal["tender"] = "tender"
    wanted: str = Field(min_length=1, max_length=2_000)
    bids: tuple[Bid, ...] = Field(min_length=2, max_length=6)
    taken: str = Field(default="", description="The company whose bid was really taken.")

    template = Path(__file__).parent / "tender.md.j2"
    kind_title: ClassVar[str] = "Tender"
    has_options: ClassVar[bool] = True
    parts_title: ClassVar[str] = "bids"

    @property
    def over(self) -> str:
        return "a tender"

    @property
    def choices(self) -> tuple[Option, ...]:
        return tuple(
            Option(name=letter, title=bid.company, pieces=(bid.offer,))
            for letter, bid in zip("ABCDEF", self.bids, strict=False)
        )

    def media(self) -> Iterator[Medium]:
        return (medium for bid in self.bids for medium in bid.media)

    def blind(self) -> Self:
        return self.model_copy(update={"taken": ""})

    def real_outcome(self) -> str:
        return self.taken

    def sections(self) -> tuple[tuple[str, str], ...]:
        bids = "\n".join(f"{bid.company}, {bid.price:g}: {bid.offer}" for bid in self.bids)
        return ("Wanted", self.wanted), ("Bids", bids)

    def parts(self) -> tuple[tuple[str, str], ...]:
        return tuple((bid.company, bid.offer) for bid in self.bids) if len(self.bids) > 2 else ()

    def without(self, *parts: str) -> Self:
        return self.model_copy(update={"bids": tuple(bid for bid in self.bids if bid.company not in parts)})
