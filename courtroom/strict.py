"""The base of everything that crosses a border."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Base of everything that crosses a border: unknown fields are refused, values never change in place."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


def unless(default: Any, description: str | None = None, **limits: Any) -> Any:
    """Declare a field that is not written out where it has its default: what was written before has the same digest."""
    return Field(default=default, description=description, exclude_if=lambda value: value == default, **limits)
