"""Datasets: named, versioned collections of cases with what is known of their outcome."""

from courtroom.datasets.row import DatasetInfo, Row
from courtroom.datasets.selection import Selection
from courtroom.datasets.store import Datasets

__all__ = ["DatasetInfo", "Datasets", "Row", "Selection"]
