"""The base of everything that crosses a border."""

from typing import Any

from pydantic import BaseModel, ConfigDict, Field


class Strict(BaseModel):
    """Base of everything that crosses a border: unknown fields are refused, values never change in place."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)


def option(default: Any, description: str | None = None, **bounds: Any) -> Any:
    """Declare a field that is not written out where it says nothing, or what it says by default."""

    def says_nothing(value: Any) -> bool:
        return bool(value == default if default else not value)

    return Field(default=default, description=description, exclude_if=says_nothing, **bounds)
