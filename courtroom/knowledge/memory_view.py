"""How a state of the learned memory is looked up: units by tags, links, the nearest, and who tells the same facts."""

from __future__ import annotations

from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import cache
from typing import TYPE_CHECKING, Generic, TypeVar

from courtroom.law import SAME, matter_grams, same_matter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from courtroom.knowledge.memory import Unit

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]
    Signs = NDArray[np.uint64]
    Values = NDArray[np.float64]
    Places = NDArray[np.intp]

Tags = frozenset[str]


U = TypeVar("U", bound="Unit")
SIGNS = 2048
"""Planes in space; a bit a plane says on which side of it a vector lies."""
MAX_COMPARED = 128
"""Units whose vectors a look-up compares: those that their signs make the best."""
BLOCK = 1_024
"""Rows by which a table grows."""


class TaggedUnits(Generic[U]):
    """Units of one kind by ids and by tags, their vectors in one table: the last one's comes where one is taken out.

    Vectors of many units take longer to read than all the rest of a look-up. So each has its signs beside it, which are
    a few words and tell the cosine to about 0.03; they depend on the vector alone, so equal memories find the same.
    Products are so small that they are worked out on one thread (`vecdot`): several would only wait for each other.
    """

    def __init__(self) -> None:
        import numpy as np

        self.units: dict[str, U] = {}
        self.groups: defaultdict[Tags, list[str]] = defaultdict(list)
        """Ids of units with the same tags, in the order in which they came."""
        self.place: dict[str, int] = {}
        """A unit's row in the table, by its id."""
        self._names: list[str] = []
        """The other way round."""
        self._rows = np.zeros((0, 0), np.float32)
        self._signs = np.zeros((SIGNS // 64, 0), np.uint64)
        self._links: defaultdict[Tags, dict[float, Flags]] = defaultdict(dict)

    def vector(self, unit: U) -> Floats | None:
        """Return the vector of a unit whose text is here under its id; None where it has to be worked out."""
        before = self.units.get(unit.id)
        return self._rows[self.place[unit.id]] if before is not None and before.text == unit.text else None

    def put(self, unit: U, vector: Floats) -> None:
        """Add a unit, or put it in place of the one with its id."""
        import numpy as np

        name, before = unit.id, self.units.get(unit.id)
        if before is not None:
            if before.tags == unit.tags and np.array_equal(self._rows[self.place[name]], vector):
                self.units[name] = unit
                return
            self.remove(name)
        place = self.place[name] = len(self._names)
        if place == len(self._rows):
            self._rows = np.pad(self._rows.reshape(place, len(vector)), ((0, BLOCK), (0, 0)))
            self._signs = np.pad(self._signs, ((0, 0), (0, BLOCK)))
        self._names.append(name)
        self.units[name] = unit
        self.groups[unit.tags].append(name)
        self._rows[place], self._signs[:, place] = vector, _signs(vector)

    def remove(self, name: str) -> U | None:
        """Take a unit out and return it; None where it is not there."""
        unit = self.units.pop(name, None)
        if unit is not None:
            self.groups[unit.tags].remove(name)
            self._links.pop(unit.tags, None)
            place, end = self.place.pop(name), len(self._names) - 1
            if place != end:
                self._names[place] = self._names[end]
                self.place[self._names[end]] = place
                self._rows[place], self._signs[:, place] = self._rows[end], self._signs[:, end]
            self._names.pop()
        return unit

    def alike(self, tags: Tags) -> list[U]:
        """Return all units with these tags, in the order in which they came."""
        return [self.units[name] for name in self.groups.get(tags, ())]

    def links(self, tags: Tags, tau: float) -> Flags:
        """Return which of the units with these tags are linked (section 3.4.1): their cosine is at least tau."""
        import numpy as np

        known = self._links[tags].get(tau, np.zeros((0, 0), np.bool_))
        if (old := len(known)) < (many := len(self.groups[tags])):  # what is new comes behind what was compared before
            rows = self._rows[[self.place[name] for name in self.groups[tags]]]
            new = np.vecdot(rows[old:, None], rows) >= tau
            known = np.block([[known, new[:, :old].T], [new]])
            known[range(old, many), range(old, many)] = False
            self._links[tags][tau] = known
        return known

    def by_place(self, values: Mapping[str, float]) -> Values:
        """Return its value for each row of the table, 0 where there is none."""
        import numpy as np

        found = np.zeros(len(self._names))
        for name, value in values.items():
            if name in self.place:
                found[self.place[name]] = value
        return found

    def cosines(self, asked: Floats) -> Values:
        """Return the cosine of each row with a vector, as their signs tell it."""
        import numpy as np

        differing = np.zeros(len(self._names), np.uint16)
        known = self._signs[:, : len(self._names)]
        for sign, signs in zip(_signs(asked), known, strict=True):  # so few at a time that they stay near at hand
            differing += np.bitwise_count(signs ^ sign)
        near: Values = np.cos(np.arange(SIGNS + 1) * (np.pi / SIGNS))[differing]
        return near

    def best(
        self,
        asked: Floats,
        near: Values,
        k: int,
        without: Collection[str] = (),
        rated: Callable[[Values, Places | slice], Values] = lambda near, places: near[places],
    ) -> list[str]:
        """Return the ids of the k best units that are rated above 0, the best first; of equal ones the smaller id.

        Args:
            asked: the vector to whose cosines `near` belongs, in which those that were compared are then exact.
            rated: what cosines come to at some places.
        """
        import numpy as np

        if not self.units:
            return []
        allowed = np.ones(len(self._names), np.bool_)
        allowed[[self.place[name] for name in without if name in self.place]] = False
        if np.count_nonzero(allowed) > MAX_COMPARED:
            estimated = np.where(allowed, rated(near, slice(None)), -1)
            places = np.argpartition(estimated, -MAX_COMPARED)[-MAX_COMPARED:]
        else:
            places = np.flatnonzero(allowed)
        near[places] = np.vecdot(self._rows[places], asked)
        ratings = zip(rated(near, places).tolist(), places.tolist(), strict=True)
        found = sorted((-rating, self._names[place]) for rating, place in ratings if rating > 0)
        return [name for _, name in found[:k]]


@cache
def _planes(dimensions: int) -> NDArray[np.int8]:
    """Return a plane a column. The numbers of this generator are the same everywhere and for ever."""
    import numpy as np

    drawn = np.random.PCG64(0).random_raw(dimensions * SIGNS // 64)
    return np.unpackbits(drawn.view(np.uint8)).reshape(dimensions, SIGNS).astype(np.int8) * 2 - 1


def _signs(vector: Floats) -> Signs:
    """Return on which side of each plane a vector lies, packed."""
    import numpy as np

    there = np.flatnonzero(vector)  # of words, most numbers are 0
    sides = np.einsum("i,ij->j", vector[there], _planes(len(vector))[there]) >= 0
    return np.packbits(sides).view(np.uint64)


NUMBER = 24
"""Bits of a text's number; the 40 before it are an n-gram's hash, of which two hardly ever are one."""


class SameFacts:
    """Finds texts that tell the facts of one case, by the character n-grams that they share.

    N-grams stand sorted in parts, each 8 times the next, so that adding a text costs about the same however many
    there are.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[str, str] | None] = []
        """Ids and texts by number; None where one is gone."""
        self._sizes = array("i")
        """How many n-grams each has."""
        self._numbers: dict[str, int] = {}
        self._parts: list[NDArray[np.uint64]] = []
        """N-grams in order, each with the number of its text behind it."""

    def put(self, name: str, text: str) -> None:
        """Add a text, or put it in place of the one with its id."""
        import numpy as np

        if name in self._numbers and self._texts[self._numbers[name]] == (name, text):
            return
        self.remove(name)
        grams = _hashed(text)
        self._parts.append(grams | np.uint64(len(self._texts)))
        self._numbers[name] = len(self._texts)
        self._texts.append((name, text))
        self._sizes.append(len(grams))
        while len(self._parts) > 1 and len(self._parts[-2]) < 8 * len(self._parts[-1]):
            self._parts[-2:] = [np.sort(np.concatenate(self._parts[-2:]), kind="stable")]

    def remove(self, name: str) -> None:
        """Take a text out."""
        if name in self._numbers:
            self._texts[self._numbers.pop(name)] = None

    def of(self, text: str) -> set[str]:
        """Return the ids of all texts that tell the same facts, see `same_matter`."""
        import numpy as np

        asked = _hashed(text)
        ends = asked[:, None] | np.array([0, 2**NUMBER - 1], np.uint64)
        found = ((part, np.searchsorted(part, ends).tolist()) for part in self._parts)
        some = [part[start:end] for part, places in found for start, end in places if start < end]
        if not some:
            return set()
        numbers = np.concatenate(some)
        numbers &= np.uint64(2**NUMBER - 1)
        shared = np.bincount(numbers.view(np.int64), minlength=len(self._texts))
        more = shared - SAME * np.minimum(np.array(self._sizes), len(asked))
        same = set[str]()
        for number in np.flatnonzero((shared > 0) & (more >= 0)):
            told = self._texts[number]
            if told is not None and (more[number] >= 1 or same_matter(told[1], text)):  # one may be by chance
                same.add(told[0])
        return same


def _hashed(text: str) -> NDArray[np.uint64]:
    """Return the n-grams of facts as numbers in order, with no text's number behind them."""
    import numpy as np

    hashes = np.array([hash(gram) for gram in matter_grams(text)], np.int64)
    return np.unique(hashes.view(np.uint64) >> NUMBER << NUMBER)


def activated(
    standards: TaggedUnits[U], seeds: Collection[str], tau: float, hops: int, without: Collection[str] = ()
) -> tuple[set[str], Counter[str]]:
    """Return what is reached from the seeds in at most `hops` steps, these included (appendix D, diffusion).

    Returns:
        What is reached, and how many of these each standard is or is linked to (Eq. 10). No link leads over what is
        left out.
    """
    import numpy as np

    active, associated = set[str](), Counter[str]()
    for tags in dict.fromkeys(standards.units[seed].tags for seed in seeds if seed in standards.units):
        names, links = standards.groups[tags], standards.links(tags, tau)
        there = np.array([name not in without for name in names])
        new = reached = np.array([name in seeds for name in names])
        for _ in range(hops):
            new = links[new].any(axis=0) & there & ~reached
            reached = reached | new
        counts = reached + links[reached].sum(axis=0)
        active |= {names[place] for place in np.flatnonzero(reached)}
        associated.update({names[place]: int(counts[place]) for place in np.flatnonzero(counts)})
    return active, associated
