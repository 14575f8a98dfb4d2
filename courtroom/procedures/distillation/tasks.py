"""What the analyst is asked (prompt E.9)."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict, Field

from courtroom.cases.dispute import Side
from courtroom.models.task import Task


class Reflection(BaseModel):
    """n (Eq. 11, 13): norms distilled from a case (prompt E.9)."""

    model_config = ConfigDict(frozen=True, extra="ignore")

    reflection_result: tuple[str, ...] = Field(min_length=2, max_length=4)


class DeriveNorms(Task[Reflection]):
    """Norms from a precedent and its jurors' opinions, the closest earlier norms in view (Eq. 13)."""

    name = "reflect"
    title = "Norm distillation"
    dispute: str
    category: str
    language: str
    buyer_views: tuple[str, ...] = ()
    seller_views: tuple[str, ...] = ()
    winner: Side
    earlier_norms: tuple[str, ...] = ()
