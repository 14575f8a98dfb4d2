"""What jurors, examiner and clerk are asked (appendix E), each with what its stage takes in and no more."""

import re
import tomllib
from collections.abc import Mapping, Sequence
from datetime import datetime
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Any, Literal

from pydantic import BaseModel, BeforeValidator, Field, create_model

from courtroom import Medium, Strict
from courtroom.cases.dispute import SIDES, Dispute, Evidence, Side
from courtroom.declarations.parts import Peers, in_part
from courtroom.judging.jurors import CountSeen, Earlier, InPrivate, without_words
from courtroom.models.narrow import asked_at_most, bounded, chosen, folded, known, narrowed
from courtroom.models.script import Script
from courtroom.models.task import Answer, Label, Longest, Overview, Reason, Task, filled
from courtroom.panel.personas import Persona


class Rule(Strict):
    """A judgment rule, and how it is read where jurors are told."""

    text: str
    reading: str = Field(default="", exclude_if=lambda reading: not reading)

    def __str__(self) -> str:
        return self.text


_RULES = tomllib.loads((Path(__file__).parent / "prompts" / "rules.toml").read_text(encoding="utf-8"))["rules"]
RULES: tuple[str, ...] = tuple(rule["text"] for rule in _RULES)
READINGS: Mapping[str, str] = {rule["text"]: rule["reading"] for rule in _RULES if "reading" in rule}


def ruled(texts: Sequence[str], *, read: bool) -> tuple[Rule, ...]:
    """Return rules as they are given to members; `read`: with how they are read."""
    return tuple(Rule(text=text, reading=READINGS.get(text, "") if read else "") for text in texts)


Point = Annotated[str, Longest(120, 200)]
"""One of many in an answer."""
Sentence = Annotated[str, Longest(240, 300)]
Degree = Literal["strong", "moderate", "weak", "none", "against"]
IN_FAVOUR = ("strong", "moderate", "weak")
"""How strongly a piece supports its side where only what speaks for that side is sought."""
MOST_FINDINGS = 4
"""In one piece of evidence, in a tight room; where it has no video, one more than it has pictures."""
AMPLE_FINDINGS = 8
MOST_REASONS = 4
MOST_READ = 100
"""Findings of one piece, or reasons, that are read, where more are given than were asked for."""


def in_order(answer: type[Answer], source: str, *names: str) -> type[BaseModel]:
    """A form with the fields of an answer in the order in which the paper has them, which is how a model writes them. `source`:
    where the paper has it. `names`: all fields of the answer."""
    fields: dict[str, Any] = {name: (answer.model_fields[name].annotation, answer.model_fields[name]) for name in names}
    form = create_model(answer.__name__, __base__=Answer, **fields)
    form.published_order = source
    return form


class Focus(Answer):
    """O_I (Eq. 1, prompt E.3): what each side wants, and what the dispute turns on."""

    buyer_core_claim: Sentence = filled("What does the buyer want and why, in a sentence or two?")
    seller_core_claim: Sentence = filled("What does the seller want and why, in a sentence or two?")
    dispute_focus: Sentence = filled("On which question does the dispute turn?")


class Selection(Answer):
    """The piece of evidence to look at next (Eq. 2, prompt E.4)."""

    reason: Sentence = Field(default="", description="Why this piece, in a sentence?")
    selected_evidence_id: Label = Field(description="Which of the listed pieces, by its id?")


SELECTION_PUBLISHED = in_order(Selection, "E.4", "selected_evidence_id", "reason")
"""The choice before its reason."""


class Finding(Answer):
    """Something seen in one medium: a pivotal clue, and what it argues."""

    opens_with = ("media_type", "media_index", "timestamp")

    media_type: Literal["image", "video"]
    media_index: int = Field(ge=0, le=99, description="Which medium of this piece, numbered from 0?")
    timestamp: Annotated[str, Longest(16, 16)] = Field(
        default="", description="At which time of the video, as its frames are labelled? Empty for an image."
    )
    description: Point = Field(description="What do you see there?")
    benefit_analysis: Point = Field(default="", description="How does it bear on this side's claim?")
    importance: Literal["high", "medium", "low"] = Field(
        default="medium", description="How much does it weigh for the focus of the dispute?"
    )


class Perception(Answer):
    """O_t = {K_t, A_t} (Eq. 3, prompt E.5): pivotal clues in one piece of evidence, and the argument made of them."""

    visual_findings: Annotated[tuple[Finding, ...], Longest(MOST_FINDINGS, AMPLE_FINDINGS)] = ()
    evidence_summary: Sentence = filled("What does the piece tell, in a few sentences?")
    sufficiency_reason: Sentence = Field(default="", description="What is proven by now, and what is still open?")
    support_strength: Degree = Field(description="How strongly does the piece support this side's claim?")
    is_sufficient: bool = Field(
        description="By all pieces of this side that were looked at: is it clear by now that its claim on the focus is right, or that it is wrong?"
    )


PERCEPTION_PUBLISHED = in_order(
    Perception,
    "E.5",
    *("visual_findings", "evidence_summary", "support_strength", "is_sufficient", "sufficiency_reason"),
)
"""Strength and sufficiency before the reason for the latter."""


@lru_cache(maxsize=64)
def perception_of(answer: type[BaseModel], kinds: tuple[str, ...]) -> type[BaseModel]:
    """A perception of a piece with media of these kinds: its findings are of media that it has, and what is so of all of them is
    not asked."""
    if not kinds:
        return known(answer, "visual_findings", ())
    finding = chosen(Finding, "media_type", tuple(dict.fromkeys(kinds)))
    last = len(kinds) - 1
    finding = bounded(finding, "media_index", 0, last) if last else known(finding, "media_index", 0)
    if "video" not in kinds:
        finding = known(finding, "timestamp", "")
        most = Longest(min(MOST_FINDINGS, len(kinds) + 1), AMPLE_FINDINGS)
        answer = asked_at_most(answer, "visual_findings", most)
    return bounded(answer, "visual_findings", 0, MOST_READ, finding)


class Clue(Strict):
    """A perception with the evidence that it is of."""

    evidence_id: str
    media: tuple[str, ...] = ()
    """Ids of the piece's media; a finding gives a place among them."""
    round: int = Field(default=0, exclude_if=lambda number: not number)
    """Of submissions, in which the piece came; 0 where it is not told."""
    at: datetime | None = Field(default=None, exclude_if=lambda moment: moment is None)
    perception: Perception


Two = Annotated[tuple[Point, ...], Longest(2, 3)]
"""The form of E.6 has two as an example."""


class BuyerPosition(Answer):
    """Δ^b: the buyer's side of the analysis."""

    main_complaint: Sentence = Field(description="What does the buyer complain of?")
    demands: Point = Field(default="", description="What does the buyer ask for?")
    key_evidence: Annotated[tuple[Label, ...], Longest(2, 3)] = Field(
        default=(), description="Which of the buyer's pieces matter most?"
    )
    visual_support: Point = Field(default="", description="Does what was seen support the buyer?")
    strengths: Two = Field(default=(), description="What speaks for the buyer?")
    weaknesses: Two = Field(default=(), description="What speaks against the buyer?")


class SellerPosition(Answer):
    """Δ^s: the seller's side of the analysis. `counter_arguments` is misspelt in the paper."""

    main_defense: Sentence = Field(description="How does the seller answer?")
    counter_arguments: Point = Field(default="", description="What does the seller say against the buyer's main point?")
    key_evidence: Annotated[tuple[Label, ...], Longest(2, 3)] = Field(
        default=(), description="Which of the seller's pieces matter most?"
    )
    visual_support: Point = Field(default="", description="Does what was seen support the seller?")
    strengths: Two = Field(default=(), description="What speaks for the seller?")
    weaknesses: Two = Field(default=(), description="What speaks against the seller?")


class ConflictFocus(Answer):
    """Δ: where the two sides contradict each other."""

    core_disagreement: Sentence = Field(description="About what do they disagree?")
    counter_arguments: Sentence = Field(
        default="", description="How does the buyer answer the seller's defence, and the seller that answer?"
    )
    evidence_contradictions: Two = Field(
        default=(), description="Where does the evidence contradict itself or the other side's?"
    )
    visual_evidence_insights: Sentence = Field(default="", description="What do the pictures and videos show about it?")
    critical_facts: Two = Field(default=(), description="Which facts that are in dispute decide?")


class Analysis(Answer):
    """O_III (Eq. 4, prompt E.6): the adversarial analysis."""

    dispute_root_cause: Sentence = Field(description="What lies at the root of the dispute?")
    buyer_position: BuyerPosition
    seller_position: SellerPosition
    conflict_focus: ConflictFocus


@lru_cache(maxsize=256)
def analysis_of(buyer: tuple[str, ...], seller: tuple[str, ...]) -> type[BaseModel]:
    """An analysis of these pieces of the two sides: of their evidence it names pieces, by their ids."""
    of_buyer, of_seller = _naming(BuyerPosition, buyer), _naming(SellerPosition, seller)
    return create_model("Analysis", __base__=Analysis, buyer_position=(of_buyer, ...), seller_position=(of_seller, ...))


def _naming(position: type[BaseModel], pieces: tuple[str, ...]) -> type[BaseModel]:
    if not pieces:
        return known(position, "key_evidence", ())

    def named(said: Any) -> tuple[str, ...]:
        """The pieces that are named, whatever else is said."""
        heard = folded(str(said))
        return tuple(piece for piece in pieces if re.search(rf"(?<!\w){re.escape(folded(piece))}(?!\w)", heard))

    declared = position.model_fields["key_evidence"]
    one: Any = Literal[pieces]
    kind: Any = Annotated[tuple[one, ...], BeforeValidator(named), Longest(2, 3)]
    return create_model(position.__name__, __base__=position, key_evidence=(kind, declared))


class Examination(Strict):
    """O_I, O_II and O_III of one examination."""

    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    unseen: tuple[str, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Ids of the pieces that were to be looked at and could not be."""
    analysis: Analysis


class Opinion(Answer):
    """O_IV (Eq. 5): a juror's reasons and verdict. The baseline's prompt E.1 has this order too."""

    reasoning: Annotated[tuple[Reason, ...], Longest(MOST_REASONS, 5)] = filled(
        "For which reasons, in one or two sentences each, the weightiest first?", max_length=MOST_READ
    )
    verdict: Side


OPINION_PUBLISHED = in_order(Opinion, "E.7", "verdict", "reasoning")
"""The verdict before its reasons."""


class Heard(Strict):
    """A followed juror's opinion of the round before (R_k,t)."""

    name: str
    verdict: Side | None
    """None where it is not shown, as in an audit by reasons alone."""
    reasoning: tuple[str, ...]


class Summary(Answer):
    """S_t (Eq. 7): the collective verdict summary with its three sections (prompt E.8)."""

    key_arguments: Overview = filled("Which arguments and points of view do jurors put forward, and who?")
    debate_intensity: Sentence = filled("Is the debate heated, and about what?")
    prevailing_orientation: Sentence = filled("Which side is being supported, and how clearly?")


class LongSummary(Summary):
    """The same in a script in which a character is less than a token, so that more of them fit an answer."""

    key_arguments: Annotated[str, Longest(900, 3_600)] = filled(str(Summary.model_fields["key_arguments"].description))


class ExtractFocus(Task[Focus]):
    """Stage I: order, chat and the texts of both sides (Eq. 1, prompt E.3)."""

    name, title = "extract", "Focus extraction"
    case: Dispute
    rules: tuple[Rule, ...] = ()
    """Those by which the jury decides, where the examiner is told them."""
    persona: Persona | None = None


class SelectEvidence(Task[Selection]):
    """Stage II, the choice: which piece of one side to look at, by the texts of those not yet selected (Eq. 2)."""

    name, title = "select", "Evidence selection"
    # A prompt has the language in `_system` and the side in the pieces' ids; late pieces are no candidates; media are numbered, not named.
    offline_only = ("language", "candidates.side", "candidates.late", "looked_at.media")
    language: str
    focus: Focus
    side: Side
    looked_at: tuple[Clue, ...] = ()
    candidates: tuple[Evidence, ...]
    persona: Persona | None = None
    reasons_first: bool = False

    @property
    def form(self) -> type[BaseModel]:
        """An answer that names one of the candidates."""
        answer = Selection if self.reasons_first else SELECTION_PUBLISHED
        return narrowed(answer, {"selected_evidence_id": tuple(piece.id for piece in self.candidates)})

    def problem(self, answer: Selection) -> str | None:
        """Only a piece that is still to be looked at can be chosen, also where there are too many to list in the schema."""
        ids = [piece.id for piece in self.candidates]
        if answer.selected_evidence_id in ids:
            return None
        return f"selected_evidence_id must be one of {', '.join(ids)}"


class PerceiveEvidence(Task[Perception]):
    """Stage II, the look: one piece of evidence with its media, after what was found on this side before (Eq. 3)."""

    name, title = "perceive", "Clue perception"
    # A prompt has the language in `_system` and the side as `side`; late pieces are not looked at.
    offline_only = ("language", "evidence.side", "evidence.late", "before.media")
    language: str
    focus: Focus
    side: Side
    evidence: Evidence
    before: tuple[Clue, ...] = ()
    more: bool = True
    """Whether another piece of this side may be looked at afterwards."""
    persona: Persona | None = None
    reasons_first: bool = False
    in_favour: bool = Field(default=False, exclude_if=lambda only: not only)
    """Whether only what speaks for the side is sought; else an answer may also say that the piece speaks against it."""

    @property
    def form(self) -> type[BaseModel]:
        """Its fields in the paper's order, or reasons first; its findings are of media that the piece has."""
        answer: type[BaseModel] = Perception if self.reasons_first else PERCEPTION_PUBLISHED
        answer = narrowed(answer, {"support_strength": IN_FAVOUR}) if self.in_favour else answer
        return perception_of(answer, tuple(medium.kind for medium in self.evidence.media))

    def media(self) -> tuple[Medium, ...]:
        return self.evidence.media


class AnalyseDispute(Task[Analysis]):
    """Stage III: the clues of both sides against each other (Eq. 4, prompt E.6)."""

    name, title = "analyse", "Adversarial analysis"
    # A piece's side is in its id.
    offline_only = tuple(f"unexamined.{part}" for part in ("side", "late", "media"))
    case: Dispute
    focus: Focus
    buyer: tuple[Clue, ...] = ()
    seller: tuple[Clue, ...] = ()
    unseen: tuple[str, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Ids of the pieces that were to be looked at and could not be."""
    unexamined: tuple[Evidence, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Pieces that nobody looked at, as far as their words are told."""
    shown: tuple[Medium, ...] = ()
    rules: tuple[Rule, ...] = ()
    """Those by which the jury decides, where the examiner is told them."""
    persona: Persona | None = None

    @property
    def form(self) -> type[BaseModel]:
        """An analysis that names pieces of evidence that it is given."""
        left = {side: tuple(piece.id for piece in self.unexamined if piece.side == side) for side in SIDES}
        buyer, seller = (tuple(clue.evidence_id for clue in clues) for clues in (self.buyer, self.seller))
        return analysis_of(buyer + left["buyer"], seller + left["seller"])

    def media(self) -> tuple[Medium, ...]:
        return self.shown


class Judge(Task[Opinion]):
    """Stage IV in a round of discussion: O_I, O_II, O_III, P_k, M_k, R_k,t and S_t (Eq. 6, algorithm 1, prompt E.7)."""

    name, title = "judge", "Vote"
    offline_only = (
        "examination.buyer.media",  # numbered in a prompt, not named
        "examination.seller.media",
        *(f"unexamined.{part}" for part in ("side", "late", "media")),
    )
    case: Dispute
    rules: tuple[Rule, ...] = ()
    examination: Examination
    unexamined: tuple[Evidence, ...] = Field(default=(), exclude_if=lambda pieces: not pieces)
    """Pieces that nobody looked at, as far as their words are told."""
    seat: int = Field(ge=1)
    persona: Persona | None = None
    memory: tuple[str, ...] = ()
    heard: tuple[Heard, ...] = ()
    summary: Summary | None = None
    new: tuple[str, ...] = ()
    """Ids of the pieces that came in since the round before."""
    round: int = 1
    own: tuple[Earlier, ...] = ()
    """What the juror itself said in earlier rounds."""
    counts: dict[str, int] = Field(default_factory=dict, exclude_if=lambda counts: not counts)
    """Of the last ballot, as far as the juror sees it."""
    others: int = 0
    """How many other jurors there are; 0 where it is not told how many of them it hears."""
    rounds: int = 0
    """How many there are at most; 0 where it is not told."""
    reasons_first: bool = False
    in_private: InPrivate = False

    @property
    def form(self) -> type[BaseModel]:
        """Its fields in the paper's order, or reasons first."""
        return Opinion if self.reasons_first else OPINION_PUBLISHED

    def by_script(self, script: Script) -> Opinion:
        """What is written, by what it hears."""
        verdict, words = script.said(SIDES, self.round, [one.verdict for one in self.heard])
        return Opinion.model_validate({"verdict": verdict, "reasoning": (words,)})


class JudgeAtOnce(Task[Opinion]):
    """The baseline: the whole case and all its media in one question (prompt E.1)."""

    name, title = "judge-at-once", "Verdict in one step"
    case: Dispute
    rules: tuple[Rule, ...] = ()

    def media(self) -> tuple[Medium, ...]:
        return tuple(self.case.media())

    def by_script(self, script: Script) -> Opinion:
        """What is written."""
        verdict, words = script.said(SIDES, 1)
        return Opinion.model_validate({"verdict": verdict, "reasoning": (words,)})


class Summarise(Task[Summary]):
    """The clerk's collective summary after a round (Eq. 7, prompt E.8)."""

    name, title = "summarise", "Collective summary"
    # A prompt has the language in `_system` and the side in the pieces' ids; late pieces are shown to all; media are numbered;
    # the analysis is the jurors'.
    offline_only = (
        *("language", "evidence.side", "evidence.late", "evidence.media"),
        *("examination.analysis", "examination.buyer.media", "examination.seller.media"),
    )
    language: str
    round: int
    opinions: tuple[Heard, ...]
    before: Summary | None = None
    moved: tuple[str, ...] = ()
    """Names of the jurors whose vote is another one than in the round before."""
    rules: tuple[Rule, ...] = ()
    evidence: tuple[Evidence, ...] = ()
    """As the parties describe it; empty where the clerk is not given it."""
    examination: Examination | None = Field(default=None, exclude_if=lambda examination: examination is None)
    """The one that all jurors are given; None where each has its own, or the clerk is not given it."""
    norms: tuple[str, ...] = Field(default=(), exclude_if=lambda norms: not norms)
    """Those that jurors keep in mind, as far as the clerk is given them."""
    new: tuple[str, ...] = ()
    """Ids of the pieces that came in since the round before."""
    ended: bool = Field(default=False, exclude_if=lambda ended: not ended)
    """Whether the discussion is over, as far as the clerk is told."""
    count_seen: CountSeen = Field(default="nobody", exclude_if=lambda whose: whose == "nobody")
    """Who is shown the count beside this summary. Where each is shown a part of it, the summary says nothing of votes."""

    @property
    def form(self) -> type[BaseModel]:
        """With more room for what jurors argue where a character is a fraction of a token."""
        form = Summary if self.language.split("-")[0] in ("zh", "ja", "ko") else LongSummary
        return known(form, "prevailing_orientation", "") if self.count_seen == "heard" else form


def shown(task: Judge, votes: bool, reasons: bool) -> Judge:
    """The same question with the votes and the reasons of followed jurors, with one of both, or with neither (R_k,t and S_t).

    Of the collective summary, which side is being supported counts as votes, and what is argued as reasons. It is free
    text: a reason may still give away a vote. What the juror itself said may quote peers, so that without their reasons
    its own votes alone are left of it.
    """
    if not task.heard and not task.counts and task.summary is None:
        return task
    heard = in_part(task.heard, votes, reasons, no_vote={"verdict": None}, no_reason={"reasoning": ()})
    own = task.own if reasons else without_words(task.own)
    summary, counts = _part(task.summary, votes, reasons), task.counts if votes else {}
    return task.model_copy(update={"heard": heard, "summary": summary, "counts": counts, "own": own})


def _part(summary: Summary | None, votes: bool, reasons: bool) -> Summary | None:
    if summary is None or not (votes or reasons):
        return None
    shows = {"prevailing_orientation": votes, "key_arguments": reasons, "debate_intensity": reasons}
    return summary.model_copy(update={name: "" for name, is_shown in shows.items() if not is_shown})


PEERS = (Peers(Judge, shown, lambda task, answer: str(answer.verdict), "heard"),)
