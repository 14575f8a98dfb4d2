"""Vectors of texts, by whatever embedding they were made."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray


def of_length_1(rows: Any) -> NDArray[np.float32]:
    """Return rows of length 1, so that products are cosines; a row of zeros stays (Eq. 11)."""
    import numpy as np

    many = np.asarray(rows, np.float32)
    return np.asarray(many / np.maximum(np.linalg.norm(many, axis=1, keepdims=True), 1e-12), np.float32)
