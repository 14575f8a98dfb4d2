"""The learned memory as it is looked up: units by tags, links, the nearest, who tells the same facts; what is due to be
learned. Imports numpy and networkx, which takes long: imported where something is looked up."""

from __future__ import annotations

import asyncio
from array import array
from collections import Counter, defaultdict
from collections.abc import Callable, Mapping, Sequence
from collections.abc import Collection as Several
from functools import cache
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from courtroom.knowledge.bases import MemoryPart
from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import Embedding
from courtroom.knowledge.lessons import EMPTY, Changes, States
from courtroom.knowledge.memory import Directive, Due, Parts, Recall, Standard, Tags, Unit, iou, score
from courtroom.knowledge.vectors import of_length_1
from courtroom.law import SAME, matter_grams, same_matter

Floats = NDArray[np.float32]
Flags = NDArray[np.bool_]
Signs = NDArray[np.uint64]
Values = NDArray[np.float64]
Places = NDArray[np.intp]
T = TypeVar("T")
U = TypeVar("U", bound=Unit)
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
        found = np.zeros(len(self._names))
        for name, value in values.items():
            if name in self.place:
                found[self.place[name]] = value
        return found

    def cosines(self, asked: Floats) -> Values:
        """Return the cosine of each row with a vector, as their signs tell it."""
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
        without: Several[str] = (),
        rated: Callable[[Values, Places | slice], Values] = lambda near, places: near[places],
    ) -> list[str]:
        """Return the ids of the k best units that are rated above 0, the best first; of equal ones the smaller id.

        Args:
            asked: the vector to whose cosines `near` belongs, in which those that were compared are then exact.
            rated: what cosines come to at some places.
        """
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
    drawn = np.random.PCG64(0).random_raw(dimensions * SIGNS // 64)
    return np.unpackbits(drawn.view(np.uint8)).reshape(dimensions, SIGNS).astype(np.int8) * 2 - 1


def _signs(vector: Floats) -> Signs:
    """Return on which side of each plane a vector lies, packed."""
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
    hashes = np.array([hash(gram) for gram in matter_grams(text)], np.int64)
    return np.unique(hashes.view(np.uint64) >> NUMBER << NUMBER)


def activated(
    standards: TaggedUnits[U], seeds: Several[str], tau: float, hops: int, without: Several[str] = ()
) -> tuple[set[str], Counter[str]]:
    """Return what is reached from the seeds in at most `hops` steps, these included (appendix D, diffusion).

    Returns:
        What is reached, and how many of these each standard is or is linked to (Eq. 10). No link leads over what is
        left out.
    """
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


class MemoryView:
    """One state of the memory, for whoever looks something up in it; brought forward by what is new."""

    def __init__(self, at: int = EMPTY) -> None:
        self.at = at
        self.standards, self.directives = TaggedUnits[Standard](), TaggedUnits[Directive]()
        self.buffer = TaggedUnits[Standard]()
        """Trajectories that were wrong or not verified; nothing of them is recalled, so their vectors are empty."""
        self._rest_on: defaultdict[str, set[str]] = defaultdict(set)
        """Ids of directives by those of the trajectories that support them, or contrast with them."""
        self._clusters: defaultdict[Tags, dict[float, list[list[str]]]] = defaultdict(dict)
        """By tags and by a cosine, the directives of which two reach it, with what is near to these."""
        self._facts = SameFacts()
        self._last: tuple[Recall, tuple[set[str], set[str], Counter[str], Values]] | None = None
        """What the last recall found of the standards."""

    def trajectory(self, name: str) -> Standard | None:
        """Return a standard, or what is in the buffer under this id."""
        return self.standards.units.get(name) or self.buffer.units.get(name)

    def put(self, part: MemoryPart, unit: Unit, vector: Floats) -> None:
        """Add a record, or put it in place of the one with its id."""
        known: TaggedUnits[Any] = getattr(self, part)
        if isinstance(unit, Directive):
            self._let_go(known.units.get(unit.id))
            self._clusters.pop(unit.tags, None)
            for name in (*unit.supporting, *unit.contrasting):
                self._rest_on[name].add(unit.id)
        else:
            self._facts.put(f"{part}/{unit.id}", unit.facts)
        known.put(unit, vector)
        self._last = None

    def remove(self, part: MemoryPart, name: str) -> None:
        """Take a record out."""
        self._let_go(getattr(self, part).remove(name))
        self._facts.remove(f"{part}/{name}")
        self._last = None

    def _let_go(self, unit: Unit | None) -> None:
        """Forget what is kept by the labels and the trajectories of a directive that goes."""
        if isinstance(unit, Directive):
            self._clusters.pop(unit.tags, None)
            for trajectory in (*unit.supporting, *unit.contrasting):
                self._rest_on[trajectory].discard(unit.id)

    def recall(self, query: Recall, asked: Floats) -> list[tuple[Unit, Parts]]:
        """Return the k best units, best first; what has no overlap, no activation and no similarity is left out.

        Of the case itself nothing is seen, under whatever id or in whatever writing it was heard: neither its own
        standard, nor a directive that it has made, nor its links in the graph.
        """
        own, active, associated, near = self._activated(query, asked)
        known: TaggedUnits[Any] = self.standards
        if query.collection == "directives":
            known, near = self.directives, self.directives.cosines(asked)
            associated = Counter(
                directive
                for name in active
                for directive in self._rest_on.get(name, ())
                if name in known.units[directive].supporting
            )
            own = {directive for name in own for directive in self._rest_on.get(name, ())}
        wanted = frozenset(query.tags)
        groups = ((iou(tags, wanted), names) for tags, names in known.groups.items() if tags & wanted)
        overlaps = known.by_place({name: overlap for overlap, names in groups for name in names})
        reached = known.by_place(associated) / (1 if query.topo == "count" else max(1, len(active)))
        alpha, beta, gamma = query.weights
        labelled = alpha * overlaps + beta * reached

        def rated(near: Values, places: Places | slice) -> Values:
            return np.round(labelled[places] + gamma * np.maximum(0.0, near[places]), 6)

        def parts(at: int) -> Parts:
            found = (float(overlaps[at]), float(reached[at]), float(near[at]))
            values = (*found, score(*found, query.weights))
            return Parts(**{name: round(value, 6) for name, value in zip(Parts.model_fields, values, strict=True)})

        best = known.best(asked, near, query.k, own, rated)
        return [(known.units[name], parts(known.place[name])) for name in best]

    def _activated(self, query: Recall, asked: Floats) -> tuple[set[str], set[str], Counter[str], Values]:
        """What is of the case itself, what is activated, with how many of these each standard is associated, and
        cosines.

        Standards and directives are recalled for one case after the other, which has this in common.
        """
        key = query.model_copy(update={"collection": "standards", "k": 1, "tags": ()})
        if self._last is None or self._last[0] != key:
            same = self._facts.of(query.exclude_facts) if query.exclude_facts else ()
            own = {*(name.partition("/")[2] for name in same), *query.exclude}
            near = self.standards.cosines(asked)
            seeds = self.standards.best(asked, near, query.seeds, own)
            self._last = key, (own, *activated(self.standards, seeds, query.tau, query.hops, own), near)
        return self._last[1]

    def graph(self, tau: float) -> nx.Graph:
        """Return the graph of the standards; see `TaggedUnits.links`."""
        graph = nx.Graph()
        graph.add_nodes_from(self.standards.units)
        for tags, names in self.standards.groups.items():
            pairs = self.standards.links(tags, tau).nonzero()
            graph.add_edges_from((names[one], names[other]) for one, other in zip(*pairs, strict=True))
        return graph

    def near_duplicates(self, threshold: float) -> list[Unit]:
        """Return directives with one anchor and charges of which two are as near as that, and what is near to these."""
        for tags, names in self.directives.groups.items():
            if threshold not in self._clusters[tags]:
                links = self.directives.links(tags, threshold)
                parts = nx.connected_components(nx.from_numpy_array(links)) if links.any() else ()
                clusters = [sorted(names[place] for place in part) for part in parts if len(part) > 1]
                self._clusters[tags][threshold] = clusters
        found = (cluster for known in self._clusters.values() for cluster in known.get(threshold, ()))
        first = min(found, default=[])
        return [self.directives.units[name] for name in first]

    def due(self, query: Due) -> list[Unit]:
        """Return what induction, merge or pruning would work on; see `Due`."""
        if query.phase == "merge":
            return self.near_duplicates(query.threshold)
        if query.phase == "pruning":
            return [one for one in self.directives.units.values() if one.confidence < query.threshold]
        trajectory = self.trajectory(query.of)
        new = [one for one in self.standards.alike(trajectory.tags) if not one.induced] if trajectory else []
        return [*new] if len(new) >= query.count else []


FIXED = 3
"""States beside the newest that are kept as they are looked up in, at most."""


class Memory:
    """Standards, directives, and the buffer of trajectories that were wrong or not verified."""

    def __init__(
        self, of: Callable[[MemoryPart], Collection[Any]], embedding: Embedding, states: States, name: str
    ) -> None:
        self.standards: Collection[Standard] = of("standards")
        self.directives: Collection[Directive] = of("directives")
        self.buffer: Collection[Standard] = of("buffer")
        self.embedding, self._states, self._name = embedding, states, name
        self._newest, self._fixed = MemoryView(), dict[int, MemoryView]()
        self._put_back = states.put_back
        self._looking: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._reasoning: dict[str, tuple[str, NDArray[np.float16]]] = {}
        """The vectors of trajectories' reasoning, by id, with that reasoning."""

    async def graph(self, tau: float) -> nx.Graph:
        """Return the standards, linked where their labels are identical and their vectors' cosine is at least tau."""
        return await self._look(None, lambda view: view.graph(tau))

    async def recall(self, query: Recall) -> list[tuple[Unit, Parts]]:
        """Return the k best units; see `MemoryView.recall`. Every unit is compared, so no index is asked."""
        (asked,) = of_length_1(await self.embedding.embed([query.text]))
        return await self._look(query.at, lambda view: view.recall(query, asked))

    async def due(self, query: Due) -> list[Unit]:
        """See `Due`. What is to be learned is asked of the memory as it is now."""
        if query.phase == "refinement":
            return await self._contrast(query)
        units = {unit.id: unit for unit in await self._look(None, lambda view: view.due(query))}
        known: Collection[Any] = self.standards if query.phase == "induction" else self.directives
        return [units[name] for name in known.named([*units])] if units else []

    # --- within ---------------------------------------------------------------------------------------------

    async def _look(self, at: int | None, look: Callable[[MemoryView], T]) -> T:
        """Look something up in a state, once what is new is added to the view of it; one after the other."""
        async with self._looking.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            view, number, changed = await asyncio.to_thread(self._view_of, at)
            units: dict[tuple[MemoryPart, str], Unit] = {
                key: getattr(self, key[0]).parse(body) for key, body in changed.items() if body is not None
            }
            empty = np.zeros(0, np.float32)
            vectors = {
                key: empty if key[0] == "buffer" else getattr(view, key[0]).vector(unit) for key, unit in units.items()
            }
            new = [key for key, vector in vectors.items() if vector is None]
            rows = of_length_1(await self.embedding.embed([units[key].text for key in new])) if new else ()
            vectors |= zip(new, rows, strict=True)

            def looked() -> T:
                for part, name in changed:
                    if (unit := units.get((part, name))) is None:
                        view.remove(part, name)
                    else:
                        view.put(part, unit, vectors[part, name])
                view.at = number
                if number >= self._newest.at:
                    self._newest = view
                else:
                    self._fixed = dict([*self._fixed.items(), (number, view)][-FIXED:])
                return look(view)

            return await asyncio.to_thread(looked)

    def _view_of(self, at: int | None) -> tuple[MemoryView, int, Changes]:
        """Return the view that is nearest to a state, the state's number, and what has changed from the one to the
        other."""
        number = self._states.now(self._name) if at is None else at
        if self._put_back != self._states.put_back:
            self._put_back, self._newest, self._fixed = self._states.put_back, MemoryView(), {}
        view = self._newest if number >= self._newest.at else self._fixed.get(number, MemoryView())
        return view, number, self._states.changes(view.at, number) if view.at != number else {}

    async def _contrast(self, query: Due) -> list[Unit]:
        """A directive, T+ and T-: T+ is correct and verified, T- is incorrect; one that is correct but was not
        verified is neither. A directive meets each T- once, and those that met none yet come first."""

        def look(view: MemoryView) -> tuple[Standard | None, list[Standard], list[Directive]]:
            trajectory = view.trajectory(query.of)
            if trajectory is None or (trajectory.correct and query.of not in view.standards.units):
                return None, [], []
            tags_of_it = trajectory.tags
            of_these = (names for tags, names in view.directives.groups.items() if tags <= tags_of_it)
            directives = [view.directives.units[name] for names in of_these for name in names]
            others = view.standards.alike(tags_of_it)
            if trajectory.correct:
                others = [one for one in view.buffer.alike(tags_of_it) if not one.correct]
            return trajectory, others, directives

        trajectory, others, directives = await self._look(None, look)
        if trajectory is None or not others or not directives:
            return []
        is_correct, rows = trajectory.correct, await self._reasoned([trajectory, *others])
        pairs = sorted(
            zip(np.vecdot(rows[1:], rows[0]).tolist(), others, strict=True), key=lambda pair: (pair[0], pair[1].id)
        )
        for directive in sorted(directives, key=lambda one: (len(one.contrasting), -one.confidence, one.id)):
            met = set(directive.contrasting)
            for alike, other in pairs:
                right, wrong = (trajectory, other) if is_correct else (other, trajectory)
                if wrong.id not in met:
                    if alike < query.threshold:
                        return [directive, right, wrong]
                    break
        return []

    async def _reasoned(self, trajectories: Sequence[Standard]) -> Floats:
        """Vectors of their reasoning; each is worked out once."""
        new = [one for one in trajectories if self._reasoning.get(one.id, ("",))[0] != one.reasoning]
        vectors = of_length_1(await self.embedding.embed([one.reasoning for one in new])) if new else ()
        for one, row in zip(new, vectors, strict=True):
            self._reasoning[one.id] = (one.reasoning, row.astype(np.float16))
        rows = np.concatenate([self._reasoning[one.id][1] for one in trajectories])
        return rows.reshape(len(trajectories), -1).astype(np.float32)
