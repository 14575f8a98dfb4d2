"""The knobs of JURIS, with the paper's defaults (section 4.1; ablations: section 4.3)."""

from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from typing import Annotated, Any, Literal, Self

from pydantic import BeforeValidator, field_validator, model_validator

from courtroom import Document, Member, Setup
from courtroom.declarations.knobs import Few, knobs
from courtroom.models.spec import OFFLINE, PERSON
from courtroom.procedures.juris.tasks import LONGEST
from courtroom.text.words import sentences

knob = knobs(__file__)

WHAT_TO_DO = (
    "Give each a model or a point of view of its own (section Models; in the shell `--set members.juror-01.id=...` and "
    "`--set points_of_view.juror-01=...`), or start from the preset “Paper, with its models” or “Seven points of view”."
)


def seats(members: Sequence[Member], points_of_view: Mapping[str, str]) -> Iterator[str]:
    """A warning for the jurors, and one for the generators, that are one model with one prompt. `points_of_view`: as they are stated, by member."""
    for role, plural in (("juror", "jurors"), ("generator", "generators")):
        of_role = [member for member in members if member.role == role]
        groups = defaultdict[tuple[str, str, str], list[str]](list)
        for member in of_role:
            if member.spec.id not in (OFFLINE, PERSON):  # offline seats differ by their weights, persons by nature
                view = points_of_view.get(member.id, "")
                groups[member.spec.id, member.spec.connection, view].append(member.name)
        for (model, _, _), same in groups.items():
            if len(same) == 1:
                continue
            who = f"Both {plural}" if len(same) == 2 else f"All {len(same)} {plural}"
            who = who if len(same) == len(of_role) else " and ".join((", ".join(same[:-1]), same[-1]))
            what = "they repeat one opinion" if role == "juror" else "they propose much the same sentences"
            yield f"{who} are one model ({model}) with one prompt: {what}. {WHAT_TO_DO}"


NOT_ASSESSED = (
    "The final text is not assessed: the assessor has no model of its own, and the run's model would judge its own "
    "text. Choose one for the role Assessor (in the shell `--set roles.assessor.id=...`), or set the assessment to none."
)


def assessor(members: Sequence[Member]) -> Iterator[str]:
    """A warning where the assessor judges its own text, and where it reads no meaning."""
    others = {(member.spec.id, member.spec.connection) for member in members if member.role != "assessor"}
    for one in (member.spec for member in members if member.role == "assessor"):
        if one.id == OFFLINE and others != {(OFFLINE, "")}:
            yield "The assessor is the offline model: it counts words and reads no meaning. Choose a model for the role Assessor."
        elif one.id != OFFLINE and (one.id, one.connection) in others:
            yield f"The assessor is a model that takes part in the hearing too ({one.id}); models favour their own text. Choose another for the role Assessor."


Variant = Literal["juris", "no-editor", "generator-a", "generator-b", "summit", "qa-prompt"]
Ways = Literal["both", "fine-grained", "holistic", "none"]


def _ways(value: Any) -> Any:
    """Earlier versions had one holistic assessment, or none."""
    return {True: "holistic", False: "none"}[value] if isinstance(value, bool) else value


class JurisSetup(Setup):
    """Who writes, who votes, how long it gets."""

    variant: Variant = knob("variant", "juris")
    jury_size: int = knob("jury_size", 5, ge=1, le=31)
    jury: Literal["fixed", "dynamic"] = knob("jury", "fixed")
    pool: int = knob("pool", 9, ge=1, le=60)
    points_of_view: dict[str, str] = knob("points_of_view", {})
    shortest: int | None = knob("shortest", 3, ge=1, le=60)
    longest: int | None = knob("longest", 10, ge=1, le=60)
    tell_target: bool = knob("tell_target", True)
    passages: bool = knob("passages", True)
    jurors_read_accepted: bool = knob("jurors_read_accepted", True)
    order: Literal["lot", "fixed"] = knob("order", "lot")
    refinements: Few = knob("refinements", 3)
    question_count: Few = knob("question_count", 5)
    check_edit: bool = knob("check_edit", True)
    assess: Annotated[Ways, BeforeValidator(_ways)] = knob("assess", "both")
    key_facts: Literal["document", "reference"] = knob("key_facts", "document")

    @model_validator(mode="before")
    @classmethod
    def _measured_without_chance(cls, values: Any) -> Any:
        """An assessor measures: without a temperature of its own it is asked at 0."""
        for part in ("roles", "members") if isinstance(values, Mapping) else ():
            given = values.get(part)
            if isinstance(given, Mapping) and isinstance(spec := given.get("assessor"), Mapping):
                values = {**values, part: {**given, "assessor": {"temperature": 0, **spec}}}
        return values

    @field_validator("points_of_view")
    @classmethod
    def _of_seats(cls, given: dict[str, str]) -> dict[str, str]:
        for member, text in given.items():
            if not member.startswith(("generator-", "juror-")):
                raise ValueError(f"{member[:40]} has no point of view. Give one to generators and jurors")
            if len(text) > LONGEST:
                raise ValueError(f"the point of view of {member[:40]} has more than {LONGEST} characters. Shorten it")
        return {member: text.strip() for member, text in given.items() if text.strip()}

    @model_validator(mode="after")
    def _in_order(self) -> Self:
        if self.shortest and self.longest and self.shortest > self.longest:
            raise ValueError("the fewest sentences are more than the most. Swap them")
        if self.jury == "dynamic" and self.pool < self.jury_size:
            raise ValueError("the pool is smaller than the jury. Enlarge the pool, or seat fewer jurors")
        return self

    @property
    def writer(self) -> str:
        """The id of the generator that writes alone; empty with a jury."""
        if self.variant in ("juris", "no-editor"):
            return ""
        return "generator-b" if self.variant == "generator-b" else "generator-a"

    @property
    def seats(self) -> int:
        return self.pool if self.jury == "dynamic" else self.jury_size

    @property
    def assessor_chosen(self) -> bool:
        """Whether somebody may assess: a model that was named for it, and not the run's where that writes too, which is
        also what one has inherited of which only a temperature was set. Offline all members are the offline model."""
        if self.model.id == OFFLINE:
            return True
        own, its = ((spec.id, spec.connection) for spec in (self.model, self.spec("assessor", "assessor")))
        writers = (one.spec for one in makers(self) if one.role in ("generator", "editor"))
        writes = any((one.id, one.connection) == own for one in writers)
        return ("assessor" in self.roles or "assessor" in self.members) and not (its == own and writes)

    @property
    def ways(self) -> frozenset[str]:
        if self.assess == "none" or not self.assessor_chosen:
            return frozenset()
        return frozenset(("fine-grained", "holistic")) if self.assess == "both" else frozenset((self.assess,))

    def truncated(self, length: int, document: Document) -> int:
        """A length within the range (section 3.2, optional truncation); a summary has no more sentences than its document."""
        of_document = max(1, len(sentences(document.text)))
        return min(max(length, self.shortest or 1), self.longest or of_document, of_document)

    def warnings(self) -> tuple[str, ...]:
        """Seats that are one model with one prompt, and an assessor that is missing or judges its own text."""
        found = members(self)
        judged = assessor(found) if self.assessor_chosen else (NOT_ASSESSED,)
        return (*seats(found, self.points_of_view), *(judged if self.assess != "none" else ()))


def members(setup: JurisSetup) -> tuple[Member, ...]:
    """Those who make the text, and the assessor; only those that the variant needs."""
    # Whose seat is set keeps it where its model may not assess: the warning says why, and the run is not refused.
    sits = setup.ways or (setup.assess != "none" and "assessor" in setup.members)
    return *makers(setup), *([setup.seat("assessor", "assessor", "Assessor")] if sits else [])


def makers(setup: JurisSetup) -> tuple[Member, ...]:
    """Two generators, the jury, the chief editor; of those who write alone, the one, and who evaluates it."""
    generators = [setup.seat(f"generator-{letter}", "generator", f"Generator {letter.upper()}") for letter in "ab"]
    if setup.writer:
        evaluator = [setup.seat("evaluator", "evaluator", "Evaluator")] if setup.variant == "summit" else []
        return *(one for one in generators if one.id == setup.writer), *evaluator
    jury = [setup.seat(f"juror-{seat:02}", "juror", f"Juror {seat}") for seat in range(1, setup.seats + 1)]
    editor = [setup.seat("editor", "editor", "Chief Editor")] if setup.variant == "juris" else []
    return *generators, *jury, *editor
