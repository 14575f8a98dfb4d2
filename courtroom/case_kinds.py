"""Which class a case of a kind has."""

from __future__ import annotations

from typing import Any

from courtroom.case import Case
from courtroom.dispute import Dispute

CASE_KINDS: dict[str, type[Case]] = {"dispute": Dispute}


def parse_case(data: Any) -> Case:
    return CASE_KINDS[data["kind"]].model_validate(data)
