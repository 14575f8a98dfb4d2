"""A trial in summary, as a mock jury is given it: what is claimed, what is agreed, and what each side shows."""

from typing import Literal, Self

from pydantic import Field

from courtroom.cases.case import Case
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.media.medium import Medium

Matter = Literal["criminal", "civil"]
SIDES: dict[Matter, tuple[str, str]] = {"criminal": ("guilty", "not-guilty"), "civil": ("plaintiff", "defendant")}
"""What can be voted for. The first of a pair is the side that has to prove its case."""


class Trial(Case):
    """A criminal or a civil case in text. The evidence of each side is a list, so that pieces can be left out."""

    kind: Literal["trial"] = "trial"
    matter: Matter = "criminal"
    charge: str = Field(min_length=1, max_length=2_000, description="The charge, or what the plaintiff claims.")
    facts: str = Field(min_length=1, max_length=50_000, description="What both sides agree on, or the whole summary.")
    proof: tuple[str, ...] = Field(
        default=(), max_length=40, description="Evidence of the prosecution or the plaintiff."
    )
    defence: tuple[str, ...] = Field(default=(), max_length=40, description="Evidence of the defence.")

    kind_title = "Trial"
    from_text = True

    @property
    def sides(self) -> tuple[str, str]:
        """The two choices; the first has to be proven."""
        return SIDES[self.matter]

    def evidence(self, choice: str) -> tuple[str, ...]:
        """The evidence of the side that asks for this choice."""
        return self.proof if choice == self.sides[0] else self.defence

    def brief(self) -> tuple[str, ...]:
        """The matter, and how much evidence there is."""
        return self.matter, f"{len(self.proof) + len(self.defence)} pieces of evidence"

    def sections(self) -> tuple[tuple[str, str], ...]:
        """Charge or claim, facts, the evidence of each side."""
        criminal = self.matter == "criminal"
        lines = (
            (N_("Charge") if criminal else N_("Claim"), self.charge),
            ("Facts", self.facts),
            (N_("The prosecution's evidence") if criminal else N_("The plaintiff's evidence"), "\n\n".join(self.proof)),
            (N_("The defence's evidence"), "\n\n".join(self.defence)),
        )
        return tuple((title, text) for title, text in lines if text)

    @classmethod
    def written(cls, name: str, title: str, language: str, text: str, media: tuple[Medium, ...]) -> Self:
        """A criminal case whose facts are the text and whose charge is the title; pictures are no part of it."""
        return cls(id=name, title=title, language=language, charge=title, facts=text, source="Written in the app")

    def with_addition(self, text: str, side: str) -> Self:
        """The facts with a further one at their end."""
        return self.model_copy(update={"facts": f"{self.facts}\n{text}"})

    def parts(self) -> tuple[tuple[str, str], ...]:
        """The pieces of evidence: `proof-1` and so on, then `defence-1` and so on."""
        return tuple(
            (f"{name}-{number}", text)
            for name in ("proof", "defence")
            for number, text in enumerate(getattr(self, name), start=1)
        )

    def without(self, *parts: str) -> Self:
        """The case as if these pieces had not been shown to the jury."""
        if unknown := set(parts) - {name for name, _ in self.parts()}:
            raise CaseError(f"{self.id} has no part {', '.join(sorted(unknown))}.")
        kept = [(name.partition("-")[0], text) for name, text in self.parts() if name not in parts]
        lists = {side: tuple(text for name, text in kept if name == side) for side in ("proof", "defence")}
        return self.model_copy(update=lists)
