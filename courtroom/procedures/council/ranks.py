"""Answers that members rank without knowing whose they are: letters by lot, mean ranks, agreement, and what may bias them."""

import random
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from statistics import mean

LETTERS = "KLMNPQRSTUVW"
"""What answers are called for those who rank them. No option of a question has one of these."""


def dealt(draw: random.Random, authors: Sequence[str]) -> dict[str, str]:
    """Return whose answer has which letter, in the order in which a member is shown them."""
    return dict(zip(LETTERS, draw.sample(authors, len(authors)), strict=False))


@dataclass(frozen=True)
class Rank:
    """One answer in one member's ranking."""

    ranker: str
    author: str
    shown: int
    """The place at which the answer was shown, from 1."""
    place: int
    """Among all answers that were ranked, from 1."""
    counted: int | None
    """Among the answers of others; None for one's own, which is left out of the count."""


def ranked(ranker: str, letters: Mapping[str, str], order: Sequence[str]) -> tuple[Rank, ...]:
    """Return the ranks that a member gives, by its order of letters, the best first."""
    others = [letter for letter in order if letters[letter] != ranker]
    ranks = []
    for place, letter in enumerate(order, start=1):
        shown, counted = [*letters].index(letter) + 1, others.index(letter) + 1 if letter in others else None
        ranks.append(Rank(ranker=ranker, author=letters[letter], shown=shown, place=place, counted=counted))
    return tuple(ranks)


def mean_ranks(ranks: Sequence[Rank]) -> dict[str, float]:
    """Return each author's mean rank with the others, the best first; an answer that no other has ranked is left out."""
    counted: dict[str, list[int]] = {}
    for rank in ranks:
        if rank.counted is not None:
            counted.setdefault(rank.author, []).append(rank.counted)
    return dict(sorted(((author, mean(places)) for author, places in counted.items()), key=lambda pair: pair[1]))


def agreement(ranks: Sequence[Rank]) -> float | None:
    """Return Kendall's W of the whole rankings: 0 is none, 1 is full agreement; None below two rankings of three answers."""
    from scipy.stats import friedmanchisquare  # slow to import: not before somebody looks

    places: dict[str, list[int]] = {}
    for rank in ranks:
        places.setdefault(rank.author, []).append(rank.place)
    rankers = len({rank.ranker for rank in ranks})
    if rankers < 2 or len(places) < 3:
        return None
    return float(friedmanchisquare(*places.values()).statistic / (rankers * (len(places) - 1)))


def correlation(ranks: Sequence[Rank], of: Mapping[Rank, float]) -> float | None:
    """Return Spearman's correlation of a property of answers with how well others rank them; None where it is undefined."""
    from scipy.stats import spearmanr

    pairs = [(of[rank], -rank.counted) for rank in ranks if rank.counted is not None]
    if len({value for value, _ in pairs}) < 2 or len({place for _, place in pairs}) < 2:
        return None
    return float(spearmanr([value for value, _ in pairs], [place for _, place in pairs]).statistic)


def own_advantage(ranks: Sequence[Rank]) -> float | None:
    """Return by how many places members rank their own answers better than others do; None where nobody ranked both."""
    given: list[float] = []
    for own in (rank for rank in ranks if rank.counted is None):
        by_others = [rank.place for rank in ranks if rank.author == own.author and rank.ranker != own.ranker]
        given += [mean(by_others) - own.place] if by_others else []
    return mean(given) if given else None
