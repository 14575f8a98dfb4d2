"""What a server refuses of a request, and what is left out, or written in another way, when it is asked again."""

import json
import re
from collections.abc import Mapping
from typing import Any, NamedTuple

from courtroom.models.capabilities import ANSWER, CONTEXT, MAX_TOKENS, SCHEMA, SYSTEM
from courtroom.models.failures import WORDS, is_unexplained, refuses
from courtroom.models.schema import LENGTHS
from courtroom.models.spec import EXTRAS

KEYWORDS = (LENGTHS, ("minItems", "maxItems"), ("minimum", "maximum"), ("pattern",), ("additionalProperties",))
"""Of a schema, each with what is left out together."""
PARAMETERS = frozenset({"temperature", "top_p", *EXTRAS}) - {"num_ctx"}
"""What says how a model draws its words, so that an answer is an answer without it."""


class Refused(NamedTuple):
    """What a server does not take."""

    values: Mapping[str, int]
    """By the names of `capabilities`, what is kept of each: 0 for what is left out, or how much it takes."""
    is_said: bool
    """Whether the server says so; else it is tried without, and kept if that works."""


def refused(error: BaseException, sent: Mapping[str, Any], *, without_schema: bool) -> Refused | None:
    """Return what is to be left out, or written in another way, when a request is sent again; None where nothing is.
    `sent`: the parameters of the call that was refused. `without_schema`: whether the schema may be left out."""
    if not refuses(error):
        return None
    kept = {SCHEMA} if without_schema and "response_format" in sent else set()
    knobs = PARAMETERS & sent.keys() | ({"thinking_budget"} if "thinking" in sent else set())
    text = str(error)
    if context := WORDS["context"].search(text):
        return Refused({CONTEXT: int(context[1])}, is_said=True)
    if longest := WORDS["answer"].search(text):
        return Refused({ANSWER: int(longest[longest.lastindex or 1])}, is_said=True)
    roles = {SYSTEM} if any(message["role"] == "system" for message in sent["messages"]) else set()
    can = kept | roles | ({MAX_TOKENS} if "max_tokens" in sent else set())
    schema = json.dumps(sent.get("response_format", ""))
    said = [name for name in (SYSTEM, MAX_TOKENS, SCHEMA) if name in can and WORDS[name].search(text)]
    names: list[tuple[str, ...]] = [(name,) for name in said]
    names += [pair for pair in KEYWORDS if any(f'"{name}": ' in schema and _named(name, text) for name in pair)]
    names += [(SCHEMA,)] if kept and WORDS["form"].search(text) else []
    # Of two that may not stand together, the more particular one goes.
    names += [(name,) for name in sorted(knobs, key=lambda name: name == "temperature") if _named(name, text)]
    if names:
        return Refused(dict.fromkeys(names[0], 0), is_said=True)
    guessed = kept | knobs
    return Refused(dict.fromkeys(guessed, 0), is_said=False) if guessed and is_unexplained(error) else None


def _named(name: str, text: str) -> bool:
    """Whether a name is said not to be wanted, whichever way it is written."""
    plain = name.replace("_", "").lower()
    return bool(WORDS["unwanted"].search(text)) and bool(re.search(rf"\b{plain}\b", text.replace("_", "").lower()))


def prompt_tokens(error: BaseException) -> int | None:
    """Return how many tokens the prompt has, where a refusal says it."""
    counts = WORDS["prompt"].findall(str(error))
    return int(counts[0]) if counts else None
