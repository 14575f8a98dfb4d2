"""A task: what a member is asked, as typed inputs, a prompt template and an answer schema."""

from dataclasses import dataclass
from typing import Annotated, Any, ClassVar, Generic, Literal, Self, TypeVar

from pydantic import BaseModel, ConfigDict, Field, GetJsonSchemaHandler, PrivateAttr
from pydantic.json_schema import JsonSchemaValue
from pydantic_core import CoreSchema

from courtroom.media.medium import Medium
from courtroom.models.beside import BesideVote, with_beside
from courtroom.models.script import Script

A = TypeVar("A", bound=BaseModel)


Room = Literal["tight", "generous", "free"]
"""How much a model may write: what a small one in a file keeps up, what a large one deserves, or no limit of ours."""
LONGEST = "x-longest"
"""Where a raw schema keeps what each room allows; `schema.schema_of` puts one of them in its place."""
AMPLE = 2
"""How many times the tight size is asked for in a generous room, where nothing else is said."""


@dataclass(frozen=True)
class Longest:
    """How many characters or items are asked for at most, by the room. A longer answer is no reason to ask again."""

    tight: int
    generous: int | None = None
    """None: twice as much."""
    free: int | None = None
    """None: no limit. A limit that comes of a setting or of the material holds here too."""

    def __get_pydantic_json_schema__(self, schema: CoreSchema, handler: GetJsonSchemaHandler) -> JsonSchemaValue:
        asked = dict(handler(schema))
        sizes = {"tight": self.tight, "generous": self.generous or AMPLE * self.tight, "free": self.free}
        inner = asked.get(LONGEST, {})
        both = {room: [size for size in (sizes[room], inner.get(room)) if size is not None] for room in sizes}
        return {**asked, LONGEST: {room: min(given, default=None) for room, given in both.items()}}


Label = Annotated[str, Longest(80)]
Point = Annotated[str, Longest(120, 400)]
"""One of several in a list."""
Sentence = Annotated[str, Longest(240, 600)]
Paragraph = Annotated[str, Longest(600, 1_500)]
Reason = Annotated[str, Longest(240, 320)]
"""One of several, in one or two sentences: in Chinese too, all of them fit the default answer."""
Overview = Annotated[str, Longest(900, 1_200)]
"""What many have said, in one text."""
Points = Annotated[tuple[Point, ...], Longest(3)]
Passages = Annotated[tuple[Sentence, ...], Longest(3)]
"""Copied from the material."""


def filled(question: str, **limits: Any) -> Any:
    """Return a field of an answer, a text or a list that may not be empty; `question`: what it answers."""
    return Field(min_length=1, description=question, **limits)


class Answer(BaseModel):
    """Base of all answers: a model may say more than it was asked, but nothing that was asked may be missing."""

    model_config = ConfigDict(frozen=True, extra="ignore", str_strip_whitespace=True)

    opens_with: ClassVar[tuple[str, ...]] = ()
    """Choices that say what the rest is about, such as the number of a picture. Every other choice, number or yes and
    no stands after the texts: a model thinks in the order in which it writes."""
    published_order: ClassVar[str] = ""
    """The table or section of the paper whose output form has another order; empty where there is none."""


class Task(BaseModel, Generic[A]):
    """Inputs of one question. Subclasses name their template and, as `Task[Answer]`, what an answer looks like.

    The prompt is rendered from `prompts/<name>.md.j2` of the procedure; the offline model reads the inputs. A procedure
    declares its tasks.
    """

    model_config = ConfigDict(frozen=True, extra="forbid")

    name: ClassVar[str]
    """Last part of a call's path, e.g. `judge`; also the template's file name."""
    title: ClassVar[str]
    """What a page calls it, e.g. `Final verdict`."""
    answer: ClassVar[type[BaseModel]]
    """The answer's schema, taken from `Task[Answer]`."""

    offline_only: ClassVar[tuple[str, ...]] = ()
    """Inputs, or parts of them such as `similar.similarity`, that no prompt shows, because only the offline model
    needs them. Say why beside them."""

    gives_way: ClassVar[tuple[str, ...]] = ()
    """Inputs, or parts of them such as `found.precedents`, of which a model with too little room is shown fewer, the
    first to go first: precedents, never the case."""

    _beside: BesideVote | None = PrivateAttr(None)

    @classmethod
    def __pydantic_init_subclass__(cls, **kwargs: Any) -> None:
        super().__pydantic_init_subclass__(**kwargs)
        for base in cls.__mro__[1:]:
            arguments = getattr(base, "__pydantic_generic_metadata__", {}).get("args", ())
            if arguments and isinstance(arguments[0], type):
                cls.answer = arguments[0]
                return

    @property
    def form(self) -> type[BaseModel]:
        """The schema that this question's answer must fit; a task whose choices depend on its inputs narrows it."""
        return self.answer

    def asking(self, beside: BesideVote) -> Self:
        """Return the same question with something asked beside its vote."""
        asking = self.model_copy()
        asking._beside = beside
        return asking

    @property
    def beside(self) -> BesideVote | None:
        """What is asked beside the vote; None where nothing is."""
        return self._beside

    @property
    def asked_form(self) -> type[BaseModel]:
        """The schema that an answer must fit, with what is asked beside the vote."""
        return with_beside(self.form, self._beside) if self._beside else self.form

    def declared(self, answer: BaseModel) -> A:
        """An answer that fits `form`, as the declared answer: a form may have its fields in another order."""
        if isinstance(answer, self.answer):
            return answer  # type: ignore[return-value]
        return self.answer.model_validate(answer.model_dump())  # type: ignore[return-value]

    def shorter(self) -> Self | None:
        """The same question with the first half of what gives way; None where nothing is left of it."""
        for name in self.gives_way:
            whole, _, part = name.rpartition(".")
            holder: BaseModel = getattr(self, whole) if whole else self
            if given := getattr(holder, part):
                less = holder.model_copy(update={part: given[: len(given) // 2]})
                return self.model_copy(update={whole: less} if whole else {part: getattr(less, part)})
        return None

    def media(self) -> tuple[Medium, ...]:
        """The media that go with this question, in order."""
        return ()

    def by_script(self, script: Script) -> A | None:
        """What a scripted member answers; None where the script says nothing of such a question, as of an examination."""
        return None

    def problem(self, answer: A) -> str | None:
        """What is wrong with an answer that fits the schema but not the question; the member is asked again."""
        return None

    def again(self, refused: A) -> Self:
        """Return the question as it is asked after an answer with a problem; its form may leave out what was wrong."""
        return self
