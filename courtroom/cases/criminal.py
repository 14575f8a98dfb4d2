"""Criminal cases with the real judgment where it is known; and trials in summary, as a mock jury is given them."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any, Literal, Self

from pydantic import Field, model_validator

from courtroom.cases.case import TITLES, Brought, Case, Option, joined, unique
from courtroom.errors import CaseError
from courtroom.language import N_
from courtroom.law import Decided, Judgment, Statute, Term, bare_charge
from courtroom.media.medium import Medium
from courtroom.strict import Strict, option
from courtroom.text.words import sentences

Asked = Literal["judgment", "case_analysis", "crime_amount"]
LETTERS = ("A", "B", "C", "D")
Matter = Literal["criminal", "civil"]
SIDES: dict[Matter, dict[str, str]] = {
    "criminal": {"guilty": N_("Guilty"), "not-guilty": N_("Not guilty")},
    "civil": {"plaintiff": N_("Plaintiff"), "defendant": N_("Defendant")},
}
"""What can be voted for, name to title. The first of a pair is the side that has to prove its case."""


class Given(Strict):
    """What a record gives beside the facts as established, so that the rest is to be found (LawBench 3-1, 3-4, 3-5)."""

    charges: tuple[str, ...] = ()
    relevant_articles: tuple[int, ...] = ()
    article_text: str = Field(default="", max_length=50_000)


class DecidedFor(Decided):
    """What was decided on one of several defendants (MultiLJP; MUD, charges alone)."""

    name: str = Field(min_length=1)


class Gold(Strict):
    """What is known to be right; never shown to a member. None where a record does not say."""

    relevant_articles: tuple[int, ...] | None = None
    charges: tuple[str, ...] | None = None
    term_of_imprisonment: Term | None = None
    choice: Literal["A", "B", "C", "D"] | None = None
    amount: float | None = Field(default=None, ge=0, description="Yuan.")
    each: tuple[DecidedFor, ...] = option(
        (), "What was decided on each of several defendants; the other fields are of the primary one."
    )

    @model_validator(mode="after")
    def _valid(self) -> Self:
        Judgment(relevant_articles=self.relevant_articles or ())
        return self

    def judgment(self) -> Judgment:
        """As a judgment; what is unknown stays empty."""
        charges = tuple(bare_charge(charge) for charge in self.charges or ())
        articles, term = self.relevant_articles or (), self.term_of_imprisonment or Term()
        return Judgment(relevant_articles=articles, charges=charges, term_of_imprisonment=term)

    def decided(self, defendant: str = "") -> Decided:
        """What is known to have been decided, on the primary defendant where no other is named."""
        for one in self.each:
            if one.name == defendant:
                return Decided.model_validate(one.model_dump(exclude={"name"}))
        articles, charges = self.relevant_articles or (), self.charges or ()
        return Decided(relevant_articles=articles, charges=charges, term_of_imprisonment=self.term_of_imprisonment)


class CriminalCase(Case):
    """A criminal case, or a legal question of LawBench's kinds; `asked` says what is to be found."""

    kind: Literal["criminal"] = "criminal"
    asked: Asked = "judgment"
    facts: str = Field(min_length=1, max_length=50_000, description="The facts; in a question, the question.")
    defendants: tuple[str, ...] = Field(
        default=(), title=N_("Defendants, one a line"), description="The primary defendant first."
    )
    options: tuple[str, ...] = Field(default=(), description="A to D, where a choice is asked.")
    frames: tuple[Medium, ...] = Field(default=(), description="Key frames, pictures or a video.")
    given: Given | None = option(None, "What is established beside the facts.")
    gold: Gold | None = None
    translates: str = option(
        "",
        "The id of the case that this one says in another language: of the two only one is a precedent.",
        max_length=80,
    )

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if (self.asked == "case_analysis") != (len(self.options) == len(LETTERS)):
            raise ValueError("a case analysis has four options, A to D, and no other case has any")
        unique("frame ids", (medium.id for medium in self.frames))
        judged = [one.name for one in self.gold.each] if self.gold else []
        if unknown := [name for name in judged if name not in self.defendants or judged.count(name) > 1]:
            raise ValueError(f"`gold.each` must name each defendant once; {unknown[0]} is none of them, or named again")
        return self

    @property
    def defendant(self) -> str:
        """The primary defendant, or an empty string where the record names nobody."""
        return self.defendants[0] if self.defendants else ""

    def media(self) -> Iterator[Medium]:
        return iter(self.frames)

    kind_title = "Criminal case"
    asks = ("facts", "defendants")
    titles_of_places = {"facts": N_("Facts")}
    outcome_fields = {"gold": None}

    def brief(self) -> tuple[str, ...]:
        """Who is charged, and what is asked where it isn't a judgment."""
        return *filter(None, (self.defendant,)), *((self.asked.replace("_", " "),) if self.asked != "judgment" else ())

    def sections(self) -> tuple[tuple[str, str], ...]:
        options = "\n".join(f"{letter}. {option}" for letter, option in zip(LETTERS, self.options, strict=False))
        given = self.given or Given()
        known = (*given.charges, *(f"Article {number}" for number in given.relevant_articles), given.article_text)
        lines = (
            ("Facts", self.facts),
            ("Options", options),
            ("Given with the facts", "\n".join(filter(None, known))),
            ("Defendants", "\n".join(self.defendants)),
        )
        return tuple((title, text) for title, text in lines if text)

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        """Texts are facts, pictures and videos key frames."""
        texts = [piece for piece in pieces if piece.text]
        frames = tuple(medium for piece in pieces for medium in piece.media)
        defendants = [name for name in given.get("defendants", "").splitlines() if name.strip()]
        facts = joined(given, "facts", texts)
        return cls.model_validate({**given, "facts": facts, "defendants": defendants, "frames": frames})

    def parts(self) -> tuple[tuple[str, str], ...]:
        """The facts' sentences where there are several (`facts-1` ...), then the key frames (`frames-1` ...)."""
        lines = sentences(self.facts)
        facts = [(f"facts-{n}", sentence) for n, sentence in enumerate(lines, start=1)] if len(lines) > 1 else []
        frames = [(f"frames-{n}", frame.description or frame.id) for n, frame in enumerate(self.frames, start=1)]
        return (*facts, *frames)

    def without(self, *parts: str) -> Self:
        """The case as if these sentences were not in the record, or these frames not in the file."""
        if unknown := set(parts) - {name for name, _ in self.parts()}:
            raise CaseError(f"{self.id} has no part {', '.join(sorted(unknown))}.")
        kept, rest = "", self.facts
        for number, sentence in enumerate(sentences(self.facts), start=1):
            before, _, rest = rest.partition(sentence)
            kept += before + ("" if f"facts-{number}" in parts else sentence)
        if not (facts := (kept + rest).strip()):
            raise CaseError(f"Nothing would be left of the facts of {self.id}. Leave at least one sentence.")
        frames = tuple(frame for n, frame in enumerate(self.frames, start=1) if f"frames-{n}" not in parts)
        return self.model_copy(update={"facts": facts, "frames": frames})

    @property
    def judgment_title(self) -> str:
        """What the judgment on record is called: real only where a court gave it."""
        return TITLES["invented" if self.fictional else self.decided_by][1]

    def on_record(self) -> Any:
        return self.gold.model_dump(mode="json", exclude_defaults=True) if self.gold else None

    def real_outcome(self) -> str:
        if self.gold is None:
            return ""
        if self.gold.choice is not None:
            return f"The right option: {self.gold.choice}"
        if self.gold.amount is not None:
            return f"The right amount: {self.gold.amount:,.2f} yuan"
        if self.gold.each:
            each = (f"{one.name}: {self.gold.decided(one.name)}" for one in self.gold.each)
            return " · ".join((self.judgment_title, *each))
        real = str(self.gold.decided())
        return f"{self.judgment_title} · {real}" if real else ""

    def with_addition(self, text: str, side: str) -> Self:
        return self.model_copy(update={"facts": f"{self.facts}\n{text}"})


class FirstDraft(Strict):
    """The case-handling judge's first draft in one run, with all that it was given."""

    run: str
    key: str = Field(description="Key of the recorded answer; the prompt is found under it.")
    case: CriminalCase
    points: tuple[str, ...]
    statutes: tuple[Statute, ...]
    predicted_article: int
    explanation: str
    reasons_first: bool = False
    """Whether that run asked for the explanation before the article."""

    @property
    def right(self) -> bool:
        """Whether the drafted article is one of the real judgment's."""
        return self.case.gold is not None and self.predicted_article in (self.case.gold.relevant_articles or ())


class DraftBatch(Case):
    """First drafts to build training data from."""

    kind: Literal["drafts"] = "drafts"
    kind_title = "First drafts"
    drafts: tuple[FirstDraft, ...] = Field(min_length=1)

    def blind(self) -> Self:
        drafts = tuple(draft.model_copy(update={"case": draft.case.blind()}) for draft in self.drafts)
        return self.model_copy(update={"drafts": drafts})


class Exhibit(Strict):
    """Pictures or videos that go with a piece of a trial."""

    piece: str = Field(default="", description="Its text, as it stands among the evidence; empty: the facts.")
    media: tuple[Medium, ...]


class Trial(Case):
    """A criminal or a civil case in summary. The evidence of each side is a list, so that pieces can be left out."""

    kind: Literal["trial"] = "trial"
    matter: Matter = Field(default="criminal", title=N_("Matter"))
    charge: str = Field(min_length=1, max_length=2_000, title=N_("Charge, or what the plaintiff claims"))
    facts: str = Field(
        min_length=1, max_length=50_000, title=N_("Facts that both sides agree on, or a summary of the whole")
    )
    proof: tuple[str, ...] = Field(
        default=(), max_length=40, description="Evidence of the prosecution or the plaintiff."
    )
    defence: tuple[str, ...] = Field(default=(), max_length=40, description="Evidence of the defence.")
    exhibits: tuple[Exhibit, ...] = option(())
    defence_first: bool = option(False, "Whether the evidence of the defence stands before that of the other side.")
    instructions: str = option("", max_length=20_000, title=N_("Instructions of the judge on the law, if any"))

    kind_title = "Trial"
    asks = ("matter", "charge", "facts", "instructions")
    has_options = True

    @property
    def sides(self) -> tuple[str, ...]:
        """The two choices; the first has to be proven."""
        return tuple(SIDES[self.matter])

    @property
    def over(self) -> str:
        return f"a {self.matter} trial"

    @property
    def to_decide(self) -> str:
        return f"a {self.matter} trial, which you are given in summary."

    @property
    def burden(self) -> str:
        criminal = self.matter == "criminal"
        return "prosecution has to prove the charge" if criminal else "plaintiff has to prove the claim"

    @property
    def choices(self) -> tuple[Option, ...]:
        is_party = self.matter == "civil"
        return tuple(
            Option(name=side, title=title, is_party=is_party, pieces=self.evidence(side))
            for side, title in SIDES[self.matter].items()
        )

    @property
    def for_nobody(self) -> tuple[str, ...]:
        return (self.facts,)

    def evidence(self, choice: str) -> tuple[str, ...]:
        """The evidence of the side that asks for this choice."""
        return self.proof if choice == self.sides[0] else self.defence

    def brief(self) -> tuple[str, ...]:
        return self.matter, f"{len(self.proof) + len(self.defence)} pieces of evidence"

    def sections(self) -> tuple[tuple[str, str], ...]:
        criminal = self.matter == "criminal"
        lines = (
            (N_("Charge") if criminal else N_("Claim"), self.charge),
            ("Facts", self.facts),
            (N_("The prosecution's evidence") if criminal else N_("The plaintiff's evidence"), "\n\n".join(self.proof)),
            (N_("The defence's evidence"), "\n\n".join(self.defence)),
            (N_("Instructions of the judge"), self.instructions),
        )
        return tuple((title, text) for title, text in lines if text)

    @classmethod
    def places(cls, given: Mapping[str, Any]) -> Mapping[str, str]:
        proof = N_("Plaintiff") if given.get("matter") == "civil" else N_("Prosecution")
        return {"proof": proof, "defence": N_("Defence"), "facts": N_("Facts")}

    @classmethod
    def made(cls, given: dict[str, Any], pieces: Sequence[Brought]) -> Self:
        sides = {name: tuple(piece.words for piece in pieces if piece.place == name) for name in ("proof", "defence")}
        shown = [(piece.place == "facts", piece) for piece in pieces if piece.media]
        exhibits = [Exhibit(piece="" if is_fact else piece.words, media=piece.media) for is_fact, piece in shown]
        return cls.model_validate({**given, **sides, "facts": joined(given, "facts", pieces), "exhibits": exhibits})

    def media(self) -> Iterator[Medium]:
        return (medium for exhibit in self.exhibits for medium in exhibit.media)

    def with_addition(self, text: str, side: str) -> Self:
        return self.model_copy(update={"facts": f"{self.facts}\n{text}"})

    def parts(self) -> tuple[tuple[str, str], ...]:
        """The pieces of evidence: `proof-1` and so on, then `defence-1` and so on."""
        sides = (("proof", self.proof), ("defence", self.defence))
        return tuple((f"{name}-{n}", text) for name, texts in sides for n, text in enumerate(texts, start=1))

    def without(self, *parts: str) -> Self:
        """The case as if these pieces had not been shown to the jury."""
        if unknown := set(parts) - {name for name, _ in self.parts()}:
            raise CaseError(f"{self.id} has no part {', '.join(sorted(unknown))}.")
        kept = [(name.partition("-")[0], text) for name, text in self.parts() if name not in parts]
        lists = {side: tuple(text for name, text in kept if name == side) for side in ("proof", "defence")}
        exhibits = tuple(one for one in self.exhibits if one.piece in ("", *lists["proof"], *lists["defence"]))
        return self.model_copy(update={**lists, "exhibits": exhibits})

    def in_other_order(self) -> Self:
        return self.model_copy(update={"defence_first": not self.defence_first})
