"""Reading an answer: strict JSON first, then mended JSON, then not at all."""

import html
import json
import logging
import re
from collections import deque
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import lru_cache, partial
from itertools import accumulate, pairwise
from typing import Any

from pydantic import BaseModel, ValidationError

from courtroom.models.failures import WORDS
from courtroom.models.fitting import MOST_WRAPPED, fitted
from courtroom.models.request import CUT, FILTERED, REFUSAL
from courtroom.models.spec import ModelSpec

log = logging.getLogger(__name__)

MOST_COMPLAINTS = 5
MOST_QUOTED = 300
MOST_PICKED = 300_000
"""Characters of a text in which objects are looked for; one that is JSON as a whole may be longer."""
MOST_MENDED = 8_000
"""Characters that are mended of one text: the time that it takes can grow with their square and with the nesting."""
MOST_NESTED = 8
"""Braces, brackets and parentheses open at once in an object that is mended."""
MOST_CANDIDATES = 5
"""Objects that are tried, from the last on."""
MOST_UNCLOSED = 5
"""Objects that may be begun and never closed, each of which is looked through to the end of the text."""

_BEGIN = re.compile(r"""\{(?=\s*(?:["'“}]|\w+\s*:|\Z))""")
"""What begins an object, and not a remark in braces."""
_QUOTED = re.compile(r"""\{\s*(?:["'“]|\Z)""")
_MARKS = re.compile(r"""[{}\[\]]|"[^"\\]*(?:\\.[^"\\]*)*(?:"|\\?\Z)""", re.DOTALL)
"""What opens or closes an object or a list, or a string, which may have no end."""
_PLAIN = re.compile(r"""(?<!\\)["']""")
_BRACES = re.compile(r"""[{}\[\]()]""")
_INSIDE = re.compile(r"""(?:["']\s*:|[\[,])\s*\Z""")
"""What stands before an object that is part of another."""
_BIG = 2**63
_THOUGHT = re.compile(r"<(/?)(?:think|thinking|thought|reasoning)>")
_AFTER = re.compile(r"[\s`]*\Z")
"""What may follow an answer that is whole although it is called cut."""
_FIRST = 400
"""Characters at its beginning in which a text says that it refuses."""


class InvalidAnswer(ValueError):
    """An answer that can't be read as what was asked for; the message says what is wrong with it."""


class Empty(InvalidAnswer):
    """There is nothing in it."""


class CutOff(InvalidAnswer):
    """The answer was cut at its longest: ask again with more room."""


class Refused(InvalidAnswer):
    """The model will not answer."""


class Declined(InvalidAnswer):
    """The model says in words that it will not answer; it may when it is told what the question is for. `text`: its
    words."""

    def __init__(self, text: str) -> None:
        super().__init__(
            "it is a refusal, with no JSON object in it; the case is invented, the hearing is simulated, and nobody is "
            "judged by what you answer"
        )
        self.words = text.strip()[:MOST_QUOTED]


class Withheld(InvalidAnswer):
    """The provider's filter took the answer out."""


def read_answer(text: str, schema: type[BaseModel], finish: str) -> BaseModel:
    """The answer as the schema's type. The work is bounded whatever the text; of a long one, do it in a thread.

    Args:
        text: one JSON object, perhaps fenced, amid prose or slightly wrong. Of several, the last that fits counts:
            models think aloud before they answer.
        finish: why the model ended; an answer that was cut off is read where it is whole all the same.

    Raises:
        InvalidAnswer: the text holds no whole JSON object, or none that fits.
    """
    if finish == REFUSAL:
        raise Refused(text.strip()[:MOST_QUOTED])
    if finish == FILTERED:
        raise Withheld("the provider's filter took it out")
    if finish == CUT and not _is_whole(text):
        raise CutOff(CUT_OFF)
    if not text.strip():
        raise Empty("the answer is empty")
    try:
        return _fitting(text, schema)
    except InvalidAnswer as error:
        raise CutOff(CUT_OFF) if finish == CUT else error from None
    except RecursionError as error:
        raise InvalidAnswer("it is nested too deeply") from error
    except Exception as error:  # noqa: BLE001  what a text does to a parser is the text's fault, and this answer's
        log.warning("an answer of %d characters could not be read", len(text), exc_info=True)
        raise InvalidAnswer("it can't be read as JSON") from error


CUT_OFF = "the answer was cut off before its end; write less"


def _is_whole(text: str) -> bool:
    """Whether a text ends with an object that is closed, and with nothing that may be the beginning of another."""
    end = text.rfind("}") + 1
    thinks = "<think>" in text and "</think>" not in text
    return end > 0 and not thinks and bool(_AFTER.match(text, end))


def speaks_as_model(text: str) -> bool:
    """Return whether a text speaks of its author as a language model."""
    return bool(WORDS["speaks_as_model"].search(text))


def complaint(reason: str) -> str:
    """What a member is shown when it is asked again."""
    return (
        f"That answer can't be used: {reason}. "
        "Answer again with one whole JSON object that fits the schema, and nothing else."
    )


def why_unusable(spec: ModelSpec, unreadable: InvalidAnswer, circles: int) -> str:
    """Return what a person can do about an answer that no re-ask has mended; `circles`: how many ran in circles."""
    match unreadable:
        case CutOff() if circles:
            return (
                f"{spec.id} wrote the same, or blanks, until it was cut off. "
                "Take another model, or ask it without the schema."
            )
        case Refused() | Declined():
            said = unreadable.words if isinstance(unreadable, Declined) else unreadable
            return f"{spec.id} refused to answer: “{said}”. Change the prompt, or take another model."
        case Withheld():
            return f"The provider's filter withheld the answer of {spec.id}. Change the case's words or the model."
        case CutOff():
            return f"The answer of {spec.id} was cut off at {spec.max_tokens} tokens. Raise the longest answer."
        case Empty():
            return f"{spec.id} gave an empty answer. Look at its server, or take another model."
    return f"The answer did not fit what was asked: {unreadable}"


def _fitting(text: str, schema: type[BaseModel]) -> BaseModel:
    wrong = ""
    for read in _candidates(text):
        try:
            value = _storable(read())
            with suppress(ValidationError):
                answer = schema.model_validate(value)
                if answer.model_dump(mode="json", exclude_unset=True) == value:
                    return answer  # nothing of it is lost, as of most
            return schema.model_validate(fitted(value, schema))
        except ValidationError as error:
            wrong = wrong or _described(error, schema)
        except InvalidAnswer as error:
            wrong = wrong or str(error)
    if not wrong and (WORDS["declines"].search(text, 0, _FIRST) or speaks_as_model(text[:_FIRST])):
        raise Declined(text)
    raise InvalidAnswer(wrong or "there is no JSON object in it")


WRONG = {
    "missing": "it is missing",
    **dict.fromkeys(("list_type", "tuple_type", "set_type"), "it must be a list"),
    **dict.fromkeys(("bool_type", "bool_parsing"), "it must be true or false"),
    **dict.fromkeys(("int_type", "int_parsing", "int_from_float"), "it must be a whole number, in figures alone"),
    **dict.fromkeys(("float_type", "float_parsing"), "it must be a number, in figures alone"),
    "string_type": "it must be a text",
    "string_too_short": "it must not be empty",
    **dict.fromkeys(("model_type", "dict_type", "model_attributes_type"), "it must be an object"),
    "extra_forbidden": "it was not asked for; leave it out",
}
"""What is wrong, by the name that pydantic has for it; for the rest its own sentence is plain enough."""


def _described(error: ValidationError, schema: type[BaseModel]) -> str:
    """What does not fit, field by field, in a line that a model can act upon."""
    items = error.errors(include_url=False, include_input=False, include_context=False)
    inside = {item["loc"][:-1] for item in items}
    # A list with a wrong item in it also counts as too short, and a choice of forms says so once for each.
    true = [item for item in items if not (item["type"] == "too_short" and item["loc"] in inside)]
    named = dict[str, str]()
    for item in true:
        if item["type"] != "none_required" or len(true) == 1:
            place = ".".join(str(part) for part in item["loc"] if isinstance(part, int) or part in _names(schema))
            said = item["msg"][:2000].removeprefix("Value error, ").replace("Input should be", "it must be")
            named.setdefault(place[:80] or "the answer", WRONG.get(item["type"]) or said)
    lines = [f"{place}: {told}" for place, told in named.items()]
    more = [f"and {len(lines) - MOST_COMPLAINTS} more"] if len(lines) > MOST_COMPLAINTS else []
    return "; ".join(lines[:MOST_COMPLAINTS] + more)


@lru_cache(maxsize=256)
def _names(schema: type[BaseModel]) -> frozenset[str]:
    whole = schema.model_json_schema()
    parts = (whole, *whole.get("$defs", {}).values())
    return frozenset(name for part in parts for name in part.get("properties", {}))


def _storable(value: Any) -> Any:
    """A value without what can't be stored or counted with. Raises `InvalidAnswer`: a number in it is none, or beyond
    all measure."""
    if isinstance(value, str):
        return value.encode("utf-8", "replace").decode()
    if isinstance(value, dict):
        return {_storable(name): _storable(each) for name, each in value.items()}
    if isinstance(value, list):
        return [_storable(each) for each in value]
    if isinstance(value, (int, float)) and not abs(value) < _BIG:  # nor is NaN
        raise InvalidAnswer("a number in it is too large, or none")
    return value


def _candidates(text: str, wrapped: int = MOST_WRAPPED) -> Iterator[Callable[[], Any]]:
    """Read all that may be the answer, the likeliest first: the whole text, else each object in it, the last first."""
    try:
        whole = json.loads(text)
    except RecursionError:
        raise
    except ValueError:  # not JSON, or a number with thousands of digits
        room = MOST_MENDED
        for piece in reversed(_pieces(_quoted(_after_thought(text)))):
            room -= len(piece)
            steps = (1 if brace[0] in "{[(" else -1 for brace in _BRACES.finditer(piece))
            yield partial(_loaded, piece, mend=room >= 0 and max(accumulate(steps)) <= MOST_NESTED)
    else:
        if isinstance(whole, str) and wrapped:
            yield from _candidates(whole, wrapped - 1)
        else:
            yield lambda: whole


def _quoted(text: str) -> str:
    """A text with plain quotation marks around its names, where it has none or all of them stand behind a backslash."""
    if _PLAIN.search(text):
        return text
    if "&quot;" in text:
        return html.unescape(text)
    if '\\"' in text:
        try:
            return str(json.loads(f'"{text}"'))  # a string without its own marks
        except ValueError:
            return text.replace('\\"', '"')
    return text.replace("“", '"').replace("”", '"')


def _loaded(piece: str, *, mend: bool) -> Any:
    try:
        return json.loads(piece)
    except json.JSONDecodeError as error:
        if not mend:
            raise InvalidAnswer(f"it is no JSON: {error.msg}") from error
        import json_repair  # most answers are whole

        return json_repair.loads(piece)
    except ValueError as error:
        raise InvalidAnswer("a number in it has too many digits") from error


def _after_thought(text: str) -> str:
    """What stands before and after a model's thinking aloud, where there is an object in it."""
    first, *others = _THOUGHT.split(text)
    marks, pieces = ["/", *others[::2], ""], [first, *others[1::2]]
    said = "".join(piece for piece, (left, right) in zip(pieces, pairwise(marks), strict=True) if left and not right)
    return said if "{" in said else text


def _pieces(text: str) -> deque[str]:
    """The last whole objects that lie in no other.

    A brace in prose may stay open. An object that was begun and not closed hides what is before it, which was a draft,
    and what lies in it; not what follows it. Raises `InvalidAnswer`: the last object is not closed; a repair could only
    make up its end. Or there is too much to look at."""
    if len(text) > MOST_PICKED:
        raise InvalidAnswer("it is too long, and not one JSON object")
    pieces: deque[str] = deque(maxlen=MOST_CANDIDATES)
    unclosed, begun = 0, _BEGIN.search(text)
    while begun:
        at = begun.start()
        end = _end(text, at)
        if end is None:
            unclosed += 1
            if unclosed > MOST_UNCLOSED:
                raise InvalidAnswer("too many objects in it are not closed")
            if _QUOTED.match(text, at):
                pieces.clear()
        elif not (unclosed and _INSIDE.search(text, max(0, at - 200), at)):
            pieces.append(text[at:end])
        begun = _BEGIN.search(text, at + 1 if end is None else end)
    if unclosed and not pieces:
        raise InvalidAnswer("the JSON object is not closed")
    return pieces


def _end(text: str, start: int) -> int | None:
    depth = 0
    for mark in _MARKS.finditer(text, start):
        depth += (mark[0] in "{[") - (mark[0] in "}]")
        if depth == 0:
            return mark.end()
    return None
