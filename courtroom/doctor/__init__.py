"""Looks over everything that is kept and everything it needs, says what is wrong, and mends what can be mended."""

from courtroom.doctor.examine import examine
from courtroom.doctor.finding import Finding

__all__ = ["Finding", "examine"]
