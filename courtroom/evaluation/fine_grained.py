"""Faithfulness, completeness and conciseness of a summary, sentence by sentence and by key facts.

The measures of FineSurE (Song et al. 2024, arXiv:2407.00908, section 3), as UniSumEval (Lee et al. 2024, arXiv:2409.19898)
uses them: shares, here from 0 to 100. None where there is nothing to take a share of.
"""

from __future__ import annotations

from collections.abc import Sequence

NO_ERROR = "no error"


def faithfulness(categories: Sequence[str]) -> float | None:
    """The share of a summary's sentences without an error.

    Args:
        categories: of error, one for each sentence; `no error` where there is none.
    """
    return _percent(sum(category == NO_ERROR for category in categories), len(categories))


def completeness(lines: Sequence[Sequence[int]]) -> float | None:
    """The share of the key facts that can be inferred from the summary.

    Args:
        lines: for each key fact, the numbers of the sentences from which it can be inferred.
    """
    return _percent(sum(bool(found) for found in lines), len(lines))


def conciseness(lines: Sequence[Sequence[int]], sentences: int) -> float | None:
    """The share of a summary's sentences from which a key fact can be inferred.

    Args:
        lines: as in `completeness`, counted from 1.
        sentences: how many sentences the summary has.
    """
    return _percent(len({line for found in lines for line in found}), sentences)


def _percent(some: int, of: int) -> float | None:
    return round(100 * some / of, 2) if of else None
