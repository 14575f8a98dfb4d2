"""A charge: its name in both languages, and the articles under which it stands."""

from __future__ import annotations

from collections.abc import Iterable

from pydantic import Field

from courtroom.law.statute import Both, Statute
from courtroom.strict import Strict


class Charge(Strict):
    """One entry of the list of charges (JurisAgents, section 3.2)."""

    id: str = Field(min_length=1, description="The Chinese name where there is one.")
    name: Both
    articles: tuple[str, ...] = Field(description="Ids of articles, e.g. `264` or `133-1`.")
    text: Both = Both()
    """What the articles say of it."""
    cues: Both = Both()

    def called(self, language: str) -> str:
        """Its name in a case's language."""
        return self.name.in_language(language)


def charges_of(statutes: Iterable[Statute]) -> list[Charge]:
    """The list of charges that a statute book names, in the order of its articles."""
    found: dict[str, Charge] = {}
    for statute in statutes:
        for name in statute.charges:
            key = name.zh or name.en
            before = found.get(key)
            if before is None:
                found[key] = Charge(id=key, name=name, articles=(statute.id,), text=statute.text, cues=statute.cues)
            elif statute.id not in before.articles:
                found[key] = before.model_copy(update={"articles": (*before.articles, statute.id)})
    return list(found.values())
