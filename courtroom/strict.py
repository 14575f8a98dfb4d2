"""The base of everything that crosses a border."""

from pydantic import BaseModel, ConfigDict


class Strict(BaseModel):
    """Base of everything that crosses a border: unknown fields are refused, values never change in place."""

    model_config = ConfigDict(extra="forbid", frozen=True, str_strip_whitespace=True)
