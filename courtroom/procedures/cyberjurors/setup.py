"""The knobs of CyberJurors (section 5, configurations; ablation: table 3). `procedure.toml` has the paper's values."""

from collections.abc import Collection
from typing import Any, Literal, Self

from pydantic import model_validator

from courtroom import Case, Member
from courtroom.cases.dispute import Side
from courtroom.declarations.knobs import Few, Share, knobs, knowledge_base
from courtroom.judging.jurors import JurySetup, hearing_nobody, seated
from courtroom.knowledge.bases import BaseName
from courtroom.panel.follow_graph import FollowGraph, build
from courtroom.procedures.cyberjurors.tasks import RULES

knob = knobs(__file__)

Variant = Literal["baseline", "rules", "sr-cot", "iv-cot-lite", "iv-cot", "jury", "cyberjurors", "nearest-precedents"]


class CyberJurorsSetup(JurySetup):
    """Who judges a dispute, and how."""

    variant: Variant = knob("variant", "cyberjurors")
    jury_size: int = knob("jury_size", 17, ge=1, le=51)
    rounds: Few = knob("rounds", 3)
    grounding_rounds: Few = knob("grounding_rounds", 3)
    consensus: Share = knob("consensus", 0.8)
    base: BaseName = knowledge_base(
        "Where precedents are looked up: `bundled`, or the name of the dataset whose disputes were made precedents."
    )
    precedents: int = knob("precedents", 3, ge=0, le=20)
    norms: int = knob("norms", 3, ge=0, le=20)
    examination: Literal["own", "shared"] = knob("examination", "own")
    persona_examines: bool = knob("persona_examines", False)
    clues: Literal["for-and-against", "in-favour"] = knob("clues", "for-and-against")
    key_media: int | None = knob("key_media", 4, ge=0, le=90)
    field_order: Literal["paper", "reasons-first"] = knob("field_order", "reasons-first")
    clerk_counts: bool = knob("clerk_counts", True)
    tie: Side = knob("tie", "buyer")
    wording: Literal["plain", "paper"] = knob("wording", "plain")
    rules: tuple[str, ...] = knob("rules", RULES)
    graph: FollowGraph = knob("graph", FollowGraph())
    empty_seats: tuple[int, ...] = knob("empty_seats", ())

    @model_validator(mode="after")
    def _somebody_sits(self) -> Self:
        if any(not 1 <= seat <= 51 for seat in self.empty_seats):
            raise ValueError("seats left empty are numbers of jurors, from 1 on")
        if set(range(1, self.jury_size + 1)) <= set(self.empty_seats):
            raise ValueError("every seat would be empty; leave at least one juror")
        return self

    def warnings(self) -> tuple[str, ...]:
        if self.single and self.jury_size not in (1, type(self).model_fields["jury_size"].default):
            return (f"The variant “{self.variant}” asks one model alone: no jury of {self.jury_size} is seated.",)
        alone = self.single or self.jury_size == 1
        return super().warnings() if alone else (*super().warnings(), *hearing_nobody(self.jury, self.graph))

    @property
    def single(self) -> bool:
        """One model without a persona, as in the first rows of the ablation."""
        return self.variant not in ("jury", "cyberjurors")

    @property
    def begins(self) -> int | None:
        """How many jurors begin on the buyer's side; None where all are free. A single model has nobody to talk to."""
        return None if self.single else self.first_votes

    @property
    def taken(self) -> tuple[int, ...]:
        return (1,) if self.single else tuple(n for n in range(1, self.jury_size + 1) if n not in self.empty_seats)

    @property
    def examines_evidence(self) -> bool:
        return self.variant not in ("baseline", "rules", "nearest-precedents")

    @property
    def ruled(self) -> bool:
        return self.variant != "baseline"

    @property
    def pieces(self) -> int:
        """How many pieces of evidence a side are perceived at most."""
        return 1 if self.variant == "sr-cot" else self.grounding_rounds

    @property
    def reasons_first(self) -> bool:
        """Whether answers give reasons before what they decide."""
        return self.field_order == "reasons-first"

    @property
    def recalls(self) -> bool:
        return self.variant == "cyberjurors" and self.precedents > 0 and self.norms > 0

    def complete(self, case: Case, seed: int) -> Self:
        """With every persona and every edge written out."""
        size = 1 if self.single else self.jury_size
        jury = seated(self.jury, size, seed, self.personas)
        edges = self.graph.edges
        if edges is None or self.graph.seats is not None:
            edges = tuple(build(self.graph, jury, seed).edges)
        kept = tuple((k, j) for k, j in edges if k < size and j < size)
        graph = self.graph.model_copy(update={"edges": kept, "seats": None})
        script = self.script.drawn(size, seed)
        return self.model_copy(update={"jury_size": size, "jury": jury, "graph": graph, "script": script})

    def undrawn(self, changed: Collection[str]) -> Self:
        """Another kind or density of graph has other edges; of a larger jury, the seats that come have theirs drawn."""
        setup = super().undrawn(changed)
        if not {"graph", "graph.edges"}.isdisjoint(changed):
            return setup
        grown = "jury_size" in changed and self.jury_size > len(self.jury)
        redrawn = not {"graph.kind", "graph.density", "graph.least", "graph.seed"}.isdisjoint(changed)
        if redrawn or (grown and self.graph.kind == "ring"):
            graph: dict[str, Any] = {"edges": None, "seats": None}  # a ring must be opened to take one more in
        elif grown and self.jury and self.graph.edges is not None:
            graph = {"seats": len(self.jury)}
        else:
            return setup
        return setup.model_copy(update={"graph": self.graph.model_copy(update=graph)})


def without_one(setup: CyberJurorsSetup) -> dict[str, dict[str, tuple[int, ...]]]:
    """Each juror's id with the change that leaves its seat empty."""
    if setup.single or len(setup.taken) < 2:
        return {}
    return {juror_id(seat): {"empty_seats": (*setup.empty_seats, seat)} for seat in setup.taken}


def juror_id(seat: int) -> str:
    """`juror-05`."""
    return f"juror-{seat:02d}"


def members(setup: CyberJurorsSetup) -> tuple[Member, ...]:
    """The jurors, the clerk who writes the collective summary, and in a shared examination the examiner."""
    if setup.single:
        return (setup.seat(juror_id(1), "juror", "Single model"),)
    jurors = map(setup.juror, setup.taken)
    examiner = [setup.seat("examiner", "examiner", "Examiner")] if setup.examination == "shared" else []
    return (*jurors, setup.seat("clerk", "clerk", "Clerk"), *examiner)
