"""The knobs of a mock jury: who sits, what has to be proven, how many must agree, how they talk."""

from typing import ClassVar, Literal, Self

from courtroom import Case, Member, Trial
from courtroom.declarations.knobs import knobs
from courtroom.judging.jurors import CountSeen, Doubt, JurySetup, hearing_nobody, seated
from courtroom.panel.follow_graph import FollowGraph, build
from courtroom.panel.personas import TRIALS

knob = knobs(__file__)

Standard = Literal["reasonable-doubt", "clear-and-convincing", "preponderance"]


class MockJurySetup(JurySetup):
    """Who sits in a mock jury, and by which rules it decides."""

    jury_size: int = knob("jury_size", 12, ge=1, le=51)
    standard: Literal["by-matter", Standard] = knob("standard", "by-matter")
    doubt: Doubt = "firmly-convinced"
    instruction: str = knob("instruction", "", max_length=2_000)
    rule: Literal["unanimous", "five-sixths", "majority"] = knob("rule", "unanimous")
    secret_ballots: bool = knob("secret_ballots", False)
    talk: Literal["round-table", "follow-graph"] = knob("talk", "round-table")
    rounds: int = knob("rounds", 6, ge=0, le=20)
    count_seen: CountSeen = knob("count_seen", "heard")
    graph: FollowGraph = knob("graph", FollowGraph())

    show_media: ClassVar[bool] = True
    """Jurors see all pictures and videos of a case."""

    @property
    def needed(self) -> int:
        size = self.jury_size
        return {"unanimous": size, "five-sixths": -(-5 * size // 6), "majority": size // 2 + 1}[self.rule]

    def complete(self, case: Case, seed: int) -> Self:
        """With the standard, every persona and every edge written out."""
        jury = seated(self.jury, self.jury_size, seed, self.personas, TRIALS)
        edges = self.graph.edges if self.graph.edges is not None else tuple(build(self.graph, jury, seed).edges)
        kept = tuple((k, j) for k, j in edges if max(k, j) < self.jury_size)
        criminal = isinstance(case, Trial) and case.matter == "criminal"
        standard: Standard = "reasonable-doubt" if criminal else "preponderance"
        standard = standard if self.standard == "by-matter" else self.standard
        graph = self.graph.model_copy(update={"edges": kept})
        script = self.script.drawn(self.jury_size, seed)
        return self.model_copy(update={"standard": standard, "jury": jury, "graph": graph, "script": script})

    def warnings(self) -> tuple[str, ...]:
        deaf = hearing_nobody(self.jury, self.graph) if self.talk == "follow-graph" else ()
        return (*super().warnings(), *deaf)


def members(setup: MockJurySetup) -> tuple[Member, ...]:
    return tuple(setup.juror(seat) for seat in range(1, len(setup.jury) + 1))
