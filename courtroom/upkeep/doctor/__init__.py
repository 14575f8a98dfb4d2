"""Looks over everything that is kept and everything it needs, says what is wrong, and mends what can be mended."""

from courtroom.upkeep.doctor.examine import examine
from courtroom.upkeep.doctor.result import CheckResult

__all__ = ["CheckResult", "examine"]
