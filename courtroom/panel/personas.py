"""Personas: who a juror is (section 4.2, prompt E.2), and seeded panels of them."""

import random
from functools import cache

from pydantic import Field, TypeAdapter

from courtroom.settings import DATA
from courtroom.strict import Strict


class Persona(Strict):
    """P_k: a juror's identity and temper."""

    name: str = Field(title="Name", min_length=1, max_length=80)
    gender: str = Field(title="Gender", max_length=40)
    age: int = Field(title="Age", ge=18, le=95)
    status: str = Field(title="Status", max_length=80, description="E.g. employed, student, retired.")
    background: str = Field(title="Background", max_length=400, description="Profession and experience.")
    traits: tuple[str, ...] = Field(default=(), title="Traits", max_length=12)
    interests: tuple[str, ...] = Field(default=(), title="Interests", max_length=12)

    def text(self) -> str:
        """The persona as one paragraph, for similarity."""
        return f"{self.status}. {self.background} {', '.join(self.traits)}. {', '.join(self.interests)}."

    def features(self) -> frozenset[str]:
        """What two personas can have in common."""
        band = f"age {self.age // 15}"
        return frozenset({self.gender.lower(), self.status.lower(), band, *self.traits, *self.interests})


@cache
def pool() -> tuple[Persona, ...]:
    """All bundled personas."""
    text = (DATA / "personas.json").read_text(encoding="utf-8")
    return TypeAdapter(tuple[Persona, ...]).validate_json(text)


def likeness(one: Persona, other: Persona) -> float:
    """Share of features in common, 0 to 1 (Jaccard)."""
    mine, theirs = one.features(), other.features()
    return len(mine & theirs) / len(mine | theirs)


@cache
def sample_panel(size: int, seed: int) -> tuple[Persona, ...]:
    """A diverse panel: the first by lot, each next one of eight drawn that is least like those seated.

    A smaller panel of the same seed is the beginning of a larger one.

    Args:
        size: 1 to 51.
    """
    if not 1 <= size <= 51:
        raise ValueError("a panel has 1 to 51 members")
    draw = random.Random(seed)
    left = list(pool())
    panel = [left.pop(draw.randrange(len(left)))]
    while len(panel) < size:
        drawn = draw.sample(range(len(left)), min(8, len(left)))
        best = min(drawn, key=lambda i: max(likeness(left[i], seated) for seated in panel))
        panel.append(left.pop(best))
    return tuple(panel)
