"""How a state of the learned memory is looked up: units by tags, links, the nearest, and who tells the same facts."""

from __future__ import annotations

import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Collection, Mapping
from functools import cache, lru_cache
from typing import TYPE_CHECKING, Generic, Protocol, TypeVar

from courtroom.law import SAME, matter_grams, same_matter

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float32]
    Flags = NDArray[np.bool_]
    Signs = NDArray[np.uint64]
    Values = NDArray[np.float64]
    Places = NDArray[np.intp]

Tags = frozenset[str]


class Unit(Protocol):
    """What the memory holds."""

    @property
    def id(self) -> str: ...

    @property
    def text(self) -> str: ...

    @property
    def tags(self) -> Tags: ...


U = TypeVar("U", bound=Unit)


SIGNS = 2048
"""Planes in space; a bit a plane says on which side of it a vector lies."""
MAX_COMPARED = 128
"""Units whose vectors a look-up compares. Of more, those that their signs make the best."""


class TaggedUnits(Generic[U]):
    """Units of one kind by ids and by tags, their vectors in one table, in which what is taken out leaves a gap for what comes.

    Vectors of many units take longer to read than all the rest of a look-up. So each has its signs beside it, which are
    a few words and tell the cosine to about 0.03; they depend on the vector alone, so equal memories find the same.
    Products are so small that they are worked out on one thread (`vecdot`): several would only wait for each other.
    """

    def __init__(self) -> None:
        import numpy as np

        self.units: dict[str, U] = {}
        self.groups: defaultdict[Tags, list[str]] = defaultdict(list)
        """Ids of units with the same tags, in the order in which they came."""
        self._links: defaultdict[Tags, dict[float, Flags]] = defaultdict(dict)
        self.names: list[str] = []
        """By the place in the table."""
        self.place: dict[str, int] = {}
        self._numbers: dict[Tags, int] = {}
        self._having: defaultdict[str, list[Tags]] = defaultdict(list)
        """All tags that units have together, by each of them."""
        self._group_of = np.zeros(4, np.int32)
        self._there = np.zeros(4, np.bool_)
        self._rows = np.zeros((4, 0), np.float32)
        self._signs = np.zeros((SIGNS // 64, 0), np.uint64)
        self._unsigned: list[int] = []
        """Places whose signs are not worked out yet."""
        self._gaps: list[int] = []

    def vector(self, unit: U) -> Floats | None:
        """Return the vector of a unit whose text is here under its id; None where it has to be worked out."""
        before = self.units.get(unit.id)
        return self._rows[self.place[unit.id]] if before is not None and before.text == unit.text else None

    def put(self, unit: U, vector: Floats) -> None:
        """Add a unit, or put it in place of the one with its id."""
        import numpy as np

        name, tags, before = unit.id, unit.tags, self.units.get(unit.id)
        if before is not None:
            if before.tags == tags and np.array_equal(self._rows[self.place[name]], vector):
                self.units[name] = unit
                return
            self.remove(name)
        place = self._gaps.pop() if self._gaps else len(self.names)
        if place >= len(self._rows) or not self._rows.shape[1]:
            more = np.zeros((2 * len(self._rows), len(vector)), np.float32)
            more[: len(self._rows), : self._rows.shape[1]] = self._rows
            added = (0, len(more) - len(self._rows))
            self._group_of, self._there = np.pad(self._group_of, added), np.pad(self._there, added)
            self._rows = more
        if tags not in self._numbers:
            self._numbers[tags] = len(self._numbers)
            for tag in tags:
                self._having[tag].append(tags)
        self.names[place : place + 1] = [name]
        self._unsigned.append(place)
        self.groups[tags].append(name)
        self.units[name], self.place[name] = unit, place
        self._rows[place], self._there[place], self._group_of[place] = vector, True, self._numbers[tags]

    def remove(self, name: str) -> U | None:
        """Take a unit out and return it; None where it is not there."""
        unit = self.units.pop(name, None)
        if unit is not None:
            self.groups[unit.tags].remove(name)
            self._links.pop(unit.tags, None)
            self._gaps.append(self.place.pop(name))
            self._there[self._gaps[-1]] = False
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

    def by_tags(self, wanted: Tags, value: Callable[[Tags], float]) -> Values:
        """Return a value of its tags for each place, 0 where they share none with those that are wanted."""
        import numpy as np

        found = np.zeros(len(self._numbers))
        for tags in {several for tag in wanted for several in self._having.get(tag, ())}:
            found[self._numbers[tags]] = value(tags)
        return found[self._group_of[: len(self.names)]]

    def by_name(self, values: Mapping[str, int]) -> Values:
        """Return its value for each place, 0 where there is none."""
        import numpy as np

        found = np.zeros(len(self.names))
        for name in values.keys() & self.place.keys():
            found[self.place[name]] = values[name]
        return found

    def cosines(self, asked: Floats) -> Values:
        """Return the cosine of each unit with a vector, for each place; of many, as their signs tell it."""
        import numpy as np

        if (many := len(self.names)) <= MAX_COMPARED:
            return (self._rows[:many] @ asked).astype(np.float64) if many else np.zeros(0)
        if self._signs.shape[1] < many:
            self._signs = np.pad(self._signs, ((0, 0), (0, len(self._rows) - self._signs.shape[1])))
        while self._unsigned:
            place = self._unsigned.pop()
            self._signs[:, place] = _signs(self._rows[place])
        differing = np.zeros(many, np.uint16)
        for sign, signs in zip(_signs(asked), self._signs, strict=True):  # so few at a time that they stay near at hand
            differing += np.bitwise_count(signs[:many] ^ sign)
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

        there = self._there[: len(near)].copy()
        there[[self.place[name] for name in without if name in self.place]] = False
        places = np.flatnonzero(there)
        if len(places) > MAX_COMPARED:
            rating = np.where(there, rated(near, slice(None)), -1)
            places = np.argpartition(rating, -MAX_COMPARED)[-MAX_COMPARED:]
        if len(near) > MAX_COMPARED:
            near[places] = np.vecdot(self._rows[places], asked)
        rating = rated(near, places)
        if 0 < k < len(places):
            best = rating >= np.partition(rating, -k)[-k]
            places, rating = places[best], rating[best]
        found = {self.names[at]: float(value) for at, value in zip(places, rating, strict=True) if value > 0}
        return sorted(found, key=lambda name: (-found[name], name))[:k]


@cache
def _planes(dimensions: int) -> NDArray[np.int8]:
    """Return a plane a column. The numbers of this generator are the same everywhere and for ever."""
    import numpy as np

    drawn = np.random.PCG64(0).random_raw(dimensions * SIGNS // 64)
    return np.unpackbits(drawn.view(np.uint8)).reshape(dimensions, SIGNS).astype(np.int8) * 2 - 1


def _signs(vector: Floats) -> Signs:
    """Return on which side of each plane a vector lies, packed."""
    return _signs_of(vector.tobytes())


@lru_cache(maxsize=8)
def _signs_of(vector_bytes: bytes) -> Signs:
    """Standards and directives are looked for by the same vector, one after the other."""
    import numpy as np

    vector = np.frombuffer(vector_bytes, np.float32)
    there = np.flatnonzero(vector)  # of words, most numbers are 0
    return np.packbits(np.einsum("i,ij->j", vector[there], _planes(len(vector))[there]) >= 0).view(np.uint64)


CERTAIN = 3
"""N-grams above what is enough: so many do not have one number by chance."""


class SameFacts:
    """Finds texts that tell the facts of one case, by the character n-grams that they share.

    N-grams stand sorted in parts, each 8 times the next, so that adding a text costs about the same however many
    there are. Texts of about one length are together: how many n-grams have to be shared is then known so well that
    those which most texts have need not be looked up.
    """

    def __init__(self) -> None:
        self._texts: list[tuple[str, str] | None] = []
        """Ids and texts by number; None where one is gone."""
        self._grams: list[NDArray[np.uint32]] = []
        self._numbers: dict[str, int] = {}
        self._parts: defaultdict[int, list[tuple[NDArray[np.uint32], NDArray[np.int32]]]] = defaultdict(list)
        """By the binary digits of a text's number of n-grams: n-grams in order, each with the number of its text."""

    def put(self, name: str, text: str) -> None:
        """Add a text, or put it in place of the one with its id."""
        import numpy as np

        if name in self._numbers and self._texts[self._numbers[name]] == (name, text):
            return
        self.remove(name)
        grams = _hashed(text)
        parts = self._parts[len(grams).bit_length()]
        parts.append((grams, np.full(len(grams), len(self._texts), np.int32)))
        self._numbers[name] = len(self._texts)
        self._texts.append((name, text))
        self._grams.append(grams)
        while len(parts) > 1 and len(parts[-2][0]) < 8 * len(parts[-1][0]):
            both, owners = (np.concatenate(pair) for pair in zip(parts.pop(-2), parts.pop(), strict=True))
            order = np.argsort(both, kind="stable")
            parts.append((both[order], owners[order]))

    def remove(self, name: str) -> None:
        """Take a text out."""
        if name in self._numbers:
            self._texts[self._numbers.pop(name)] = None

    def of(self, text: str) -> set[str]:
        """Return the ids of all texts that tell the same facts, see `same_matter`."""
        import numpy as np

        asked = _hashed(text)
        same = set[str]()
        for digits, parts in self._parts.items():
            least = min(len(asked), 2**digits // 2)
            common = int(SAME / 3 * least)
            starts = np.array([np.searchsorted(grams, asked, "left") for grams, _ in parts])
            ends = np.array([np.searchsorted(grams, asked, "right") for grams, _ in parts])
            rarest = np.argsort((ends - starts).sum(axis=0))[: len(asked) - common]
            owners = [np.zeros(0, np.int32)]
            for (_, numbers), first, behind in zip(parts, starts[:, rarest], ends[:, rarest], strict=True):
                owners += [numbers[start:end] for start, end in zip(first, behind, strict=True) if start < end]
            shared = np.bincount(np.concatenate(owners))
            for number in np.flatnonzero(shared >= max(1, SAME * least - 1 - common)):
                told, grams = self._texts[number], self._grams[number]
                enough = SAME * min(len(asked), len(grams)) - 1  # two n-grams may have one number
                if told is None or shared[number] < enough - common:
                    continue
                more = (grams.take(grams.searchsorted(asked), mode="clip") == asked).sum() - enough
                if more >= 0 and (more > CERTAIN or same_matter(told[1], text)):
                    same.add(told[0])
        return same


@lru_cache(maxsize=8)
def _hashed(text: str) -> NDArray[np.uint32]:
    """The facts of a case are looked for before they are put in."""
    import numpy as np

    return np.unique(np.array([zlib.crc32(gram.encode()) for gram in matter_grams(text)], np.uint32))


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
