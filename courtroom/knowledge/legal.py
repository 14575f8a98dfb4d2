"""The legal knowledge base: statutes with interpretations, the list of charges, referred precedents (JurisAgents, 3.2)."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

from courtroom.cases.criminal import CriminalCase
from courtroom.law.charge import Charge, charges_of
from courtroom.law.statute import Both, Statute
from courtroom.settings import DATA

STATUTES = DATA / "statutes.jsonl"
REFERRED = DATA / "criminal_precedents.jsonl"


def bundled_statutes() -> list[Statute]:
    """The unofficial digest."""
    return [Statute.model_validate_json(line) for line in _lines(STATUTES)]


def bundled_charges() -> list[Charge]:
    """The list of charges that the digest names."""
    return charges_of(bundled_statutes())


def bundled_cases() -> list[CriminalCase]:
    """Fictional referred precedents."""
    return [CriminalCase.model_validate_json(line) for line in _lines(REFERRED)]


def statute_text(statute: Statute) -> tuple[str, ...]:
    """What of a statute is searched, in each language that it has."""
    parts = (statute.title, *statute.charges, statute.text, statute.cues)
    return _each(parts, statute.interpretation)


def charge_text(charge: Charge) -> tuple[str, ...]:
    """What of a charge is searched, in each language that it has."""
    return _each((charge.name, charge.text, charge.cues))


def case_text(case: CriminalCase) -> str:
    """What of a referred precedent is searched: its facts alone, as they are all that a new case has."""
    return case.facts


def _each(parts: tuple[Both, ...], more: str = "") -> tuple[str, ...]:
    texts = (" ".join(part.zh for part in parts), " ".join(part.en for part in parts))
    lines = [text.strip() for text in texts if text.strip()]
    return *lines[:-1], f"{lines[-1]} {more}".strip()


def _lines(path: Path) -> Iterator[str]:
    return (line for line in path.read_text(encoding="utf-8").split("\n") if line.strip())
