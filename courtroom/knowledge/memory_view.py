"""The learned memory as it is looked up: units by tags, links, the nearest, who tells the same facts; what is due to be
learned. Imports numpy and networkx, which takes long: imported where something is looked up."""

from __future__ import annotations

import asyncio
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from collections.abc import Collection as Several
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Generic, TypeVar
from weakref import WeakKeyDictionary

import networkx as nx
import numpy as np
from numpy.typing import NDArray

from courtroom.knowledge.bases import MEMORY_PARTS, MemoryPart
from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import Embedding
from courtroom.knowledge.lessons import EMPTY, States
from courtroom.knowledge.memory import Directive, Due, Parts, Recall, Standard, Tags, Unit, iou, score
from courtroom.knowledge.vectors import of_length_1
from courtroom.law import SAME, matter_grams, same_matter

Floats = NDArray[np.float32]
Values = NDArray[np.float64]
Places = NDArray[np.intp]
T = TypeVar("T")
U = TypeVar("U", bound=Unit)
GRAMS = 2**20
"""Into so many numbers n-grams are hashed. Two that share one only make a text worth a closer look."""
CHANCE = 0.05
"""What hashing may take from the share of n-grams that two texts have in common."""


@dataclass(frozen=True)
class Entry(Generic[U]):
    """A unit of the memory with what look-ups need of it."""

    unit: U
    tags: Tags
    vector: Floats
    grams: NDArray[np.int32]
    """Its facts' n-grams by their numbers, each once; a directive has none."""

    @classmethod
    def of(cls, unit: U, vector: Floats) -> Entry[U]:
        return cls(unit, unit.tags, vector, _hashed(unit.facts if isinstance(unit, Standard) else ""))


def _hashed(facts: str) -> NDArray[np.int32]:
    return np.unique(np.array([hash(gram) % GRAMS for gram in matter_grams(facts)], np.int32))


class Units(Generic[U]):
    """Units of one kind, with a row for the vector of each."""

    def __init__(self, entries: Mapping[str, Entry[U]]) -> None:
        self.entries, self.names, self.every = entries, [*entries], [*entries.values()]
        self.groups: dict[Tags, list[int]] = {}
        """The places of units with the same tags."""
        for place, entry in enumerate(self.every):
            self.groups.setdefault(entry.tags, []).append(place)

    @cached_property
    def rows(self) -> Floats:
        """Their vectors; `vecdot` gives the same product of two, whatever stands beside them."""
        return np.stack([entry.vector for entry in self.every])

    def get(self, name: str) -> U | None:
        return entry.unit if (entry := self.entries.get(name)) else None

    def in_places(self, places: Iterable[int]) -> list[U]:
        return [self.every[place].unit for place in places]

    def alike(self, tags: Tags) -> list[U]:
        """Return all units with these tags."""
        return self.in_places(self.groups.get(tags, ()))

    def cosines(self, asked: Floats) -> Values:
        """Return the cosine of each unit with a vector."""
        return np.vecdot(self.rows, asked).astype(np.float64) if self.every else np.zeros(0)

    def links(self, some: Places, others: Places, tau: float) -> NDArray[np.bool_]:
        """Return which of some units are linked to which others of the same tags (section 3.4.1): their cosine is at
        least tau."""
        near = np.vecdot(self.rows[some][:, None], self.rows[others]) >= tau
        return np.asarray(near & (some[:, None] != others))

    def graph(self, tau: float) -> nx.Graph:
        """Return all units by their ids, those joined that are linked."""
        graph = nx.Graph()
        graph.add_nodes_from(self.names)
        for group in map(np.array, self.groups.values()):
            pairs = self.links(group, group, tau).nonzero()
            graph.add_edges_from(
                (self.names[group[one]], self.names[group[two]]) for one, two in zip(*pairs, strict=True)
            )
        return graph

    def best(self, ratings: Values, k: int, without: Several[str]) -> list[int]:
        """Return the places of the k best units that are rated above 0, the best first; of equal ones the smaller id."""
        rated = (place for place in np.flatnonzero(ratings > 0).tolist() if self.names[place] not in without)
        return sorted(rated, key=lambda place: (-ratings[place], self.names[place]))[:k]


def activated(
    standards: Units[U], seeds: Sequence[int], tau: float, hops: int, without: Several[str] = ()
) -> tuple[set[str], Counter[str]]:
    """Return what is reached from the seeds in at most `hops` steps, these included (appendix D, diffusion).

    Returns:
        What is reached, and how many of these each standard is or is linked to (Eq. 10). No link leads over what is
        left out.
    """
    active, associated = set[str](), Counter[str]()
    for tags in dict.fromkeys(standards.every[seed].tags for seed in seeds):
        group = np.array(standards.groups[tags])
        names = [standards.names[place] for place in group]
        there = np.array([name not in without for name in names])
        new, reached, counts = np.isin(group, seeds), np.zeros(len(group), np.bool_), np.zeros(len(group), np.intp)
        for _ in range(hops + 1):
            reached = reached | new
            links = standards.links(group[new], group, tau)
            counts += new + links.sum(axis=0)
            new = links.any(axis=0) & there & ~reached
        active |= {names[place] for place in np.flatnonzero(reached)}
        associated.update({names[place]: int(counts[place]) for place in np.flatnonzero(counts)})
    return active, associated


class MemoryView:
    """One state of the memory, for whoever looks something up in it. It never changes."""

    def __init__(self, at: int = EMPTY, parts: Mapping[MemoryPart, Mapping[str, Entry[Any]]] | None = None) -> None:
        self.at, self.parts = at, parts or {part: {} for part in MEMORY_PARTS}
        self.standards = Units[Standard](self.parts["standards"])
        self.directives = Units[Directive](self.parts["directives"])
        self.buffer = Units[Standard](self.parts["buffer"])
        """Trajectories that were wrong or not verified; nothing of them is recalled, so their vectors are empty."""

    def trajectory(self, name: str) -> Standard | None:
        """Return a standard, or what is in the buffer under this id."""
        return self.standards.get(name) or self.buffer.get(name)

    def resting_on(self, names: set[str]) -> set[str]:
        """Return the ids of directives that these trajectories support, or contrast with."""
        every = (entry.unit for entry in self.directives.every)
        return {one.id for one in every if not names.isdisjoint((*one.supporting, *one.contrasting))}

    @cached_property
    def _facts(self) -> tuple[list[Standard], NDArray[np.int32], NDArray[np.intp]]:
        """All trajectories with facts, their n-grams one behind the other, and how many each has."""
        every = [
            entry for known in (self.standards, self.buffer) for entry in known.entries.values() if entry.grams.size
        ]
        grams = np.concatenate([np.zeros(0, np.int32), *(entry.grams for entry in every)])
        return [entry.unit for entry in every], grams, np.array([entry.grams.size for entry in every], np.intp)

    def with_facts(self, facts: str) -> set[str]:
        """Return the ids of all trajectories that tell the same facts, see `same_matter`."""
        every, grams, sizes = self._facts
        asked = _hashed(facts)
        if not every or not asked.size:
            return set()
        is_asked = np.zeros(GRAMS, np.bool_)
        is_asked[asked] = True
        shared = np.add.reduceat(is_asked[grams], np.cumsum(sizes) - sizes, dtype=np.intp)
        close = np.flatnonzero(shared >= (SAME - CHANCE) * np.minimum(sizes, asked.size))
        return {every[place].id for place in close if same_matter(every[place].facts, facts)}

    def recall(self, query: Recall, asked: Floats) -> list[tuple[Unit, Parts]]:
        """Return the k best units, best first; what has no overlap, no activation and no similarity is left out.

        Of the case itself nothing is seen, under whatever id or in whatever writing it was heard: neither its own
        standard, nor a directive that it has made, nor its links in the graph.
        """
        own = self.with_facts(query.exclude_facts) | {*query.exclude}
        near = self.standards.cosines(asked)
        seeds = self.standards.best(near, query.seeds, own)
        active, associated = activated(self.standards, seeds, query.tau, query.hops, own)
        known: Units[Any] = self.standards
        if query.collection == "directives":
            known, near, own = self.directives, self.directives.cosines(asked), self.resting_on(own)
            every = (entry.unit for entry in self.directives.every)
            associated = Counter({one.id: len(active.intersection(one.supporting)) for one in every})
        wanted = frozenset(query.tags)
        overlaps = np.zeros(len(known.names))
        for tags, places in known.groups.items():
            overlaps[places] = iou(tags, wanted)
        scale = 1 if query.topo == "count" else max(1, len(active))
        reached = np.array([associated[name] / scale for name in known.names])
        alpha, beta, gamma = query.weights
        ratings = np.round(alpha * overlaps + beta * reached + gamma * np.maximum(0.0, near), 6)

        def parts(place: int) -> Parts:
            found = (float(overlaps[place]), float(reached[place]), float(near[place]))
            values = (*found, score(*found, query.weights))
            return Parts(**{name: round(value, 6) for name, value in zip(Parts.model_fields, values, strict=True)})

        best = known.best(ratings, query.k, own)
        return list(zip(known.in_places(best), map(parts, best), strict=True))

    def near_duplicates(self, threshold: float) -> list[Directive]:
        """Return directives with one anchor and charges of which two are as near as that, and what is near to these."""
        clusters = nx.connected_components(self.directives.graph(threshold))
        first = min((sorted(cluster) for cluster in clusters if len(cluster) > 1), default=[])
        return [self.directives.entries[name].unit for name in first]

    def due(self, query: Due) -> list[Unit]:
        """Return what a step of learning would work on, but for refinement; see `Due`."""
        if query.phase == "merge":
            return [*self.near_duplicates(query.threshold)]
        if query.phase == "pruning":
            every = (entry.unit for entry in self.directives.every)
            return [one for one in every if one.confidence < query.threshold]
        trajectory = self.trajectory(query.of)
        new = [one for one in self.standards.alike(trajectory.tags) if not one.induced] if trajectory else []
        return [*new] if len(new) >= query.count else []

    def contrasts(self, name: str) -> tuple[Standard | None, list[Standard], list[Directive]]:
        """Return a trajectory, those that it may contrast with, and the directives that it bears on.

        One that is correct contrasts with what is incorrect, and the other way round; one that is correct but was not
        verified is neither.
        """
        trajectory = self.trajectory(name)
        if trajectory is None or (trajectory.correct and name not in self.standards.entries):
            return None, [], []
        tags_of_it = trajectory.tags
        others = self.standards.alike(tags_of_it)
        if trajectory.correct:
            others = [one for one in self.buffer.alike(tags_of_it) if not one.correct]
        bears = [place for tags, places in self.directives.groups.items() if tags <= tags_of_it for place in places]
        return trajectory, others, self.directives.in_places(bears)


MAX_VIEWS = 2
"""States that are kept as they are looked up in, at most."""


class Memory:
    """Standards, directives, and the buffer of trajectories that were wrong or not verified."""

    def __init__(
        self, of: Callable[[MemoryPart], Collection[Any]], embedding: Embedding, states: States, name: str
    ) -> None:
        self.standards: Collection[Standard] = of("standards")
        self.directives: Collection[Directive] = of("directives")
        self.buffer: Collection[Standard] = of("buffer")
        self.embedding, self._states, self._name = embedding, states, name
        self._views: list[MemoryView] = []
        """Those that were looked up in last, the newest look-up last."""
        self._put_back = states.put_back
        self._looking: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()

    async def graph(self, tau: float) -> nx.Graph:
        """Return the standards, linked where their labels are identical and their vectors' cosine is at least tau."""
        return await self._look(None, lambda view: view.standards.graph(tau))

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
        """Look something up in a state. Views are made one after the other, so that nothing is embedded twice."""
        async with self._looking.setdefault(asyncio.get_running_loop(), asyncio.Lock()):
            number = at if at is not None else await asyncio.to_thread(self._states.now, self._name)
            if self._put_back != self._states.put_back:
                self._put_back, self._views = self._states.put_back, []
            view = next((view for view in self._views if view.at == number), None) or await self._made(number)
            self._views = [*(one for one in self._views if one is not view), view][-MAX_VIEWS:]
        return await asyncio.to_thread(look, view)

    async def _made(self, number: int, afresh: bool = False) -> MemoryView:
        """Return a state's view, made from the nearest one before it that is kept. Only what is new is embedded."""
        earlier = (view for view in self._views if view.at < number and not afresh)
        before = max(earlier, key=lambda view: view.at, default=MemoryView())
        changed = await asyncio.to_thread(self._changed, before, number)
        new = [unit.text for unit, vector in changed.values() if unit and vector is None]
        rows = iter(of_length_1(await self.embedding.embed(new)) if new else ())

        def made() -> MemoryView:
            parts = {part: dict(entries) for part, entries in before.parts.items()}
            for (part, name), (unit, vector) in changed.items():
                if unit is None:
                    parts[part].pop(name, None)
                else:
                    parts[part][name] = Entry.of(unit, next(rows) if vector is None else vector)
            return MemoryView(number, parts)

        view = await asyncio.to_thread(made)
        sizes = {one.vector.size for one in view.standards.every} | {one.vector.size for one in view.directives.every}
        if len(sizes) > 1:
            return await self._made(number, afresh=True)  # another model has the embedding's name now
        return view

    def _changed(self, before: MemoryView, number: int) -> Mapping[tuple[MemoryPart, str], tuple[Any, Floats | None]]:
        """Return what is otherwise in a state than in a view: units, None for what is gone, with vectors that are known."""
        changed: dict[tuple[MemoryPart, str], tuple[Any, Floats | None]] = {}
        for (part, name), body in self._states.changes(before.at, number).items():
            unit = None if body is None else getattr(self, part).parse(body)
            known = before.parts[part].get(name)
            vector: Floats | None = known.vector if unit and known and known.unit.text == unit.text else None
            if part == "buffer":
                vector = np.zeros(0, np.float32)
            changed[part, name] = unit, vector
        return changed

    async def _contrast(self, query: Due) -> list[Unit]:
        """A directive, T+ and T-: T+ is correct and verified, T- is incorrect. A directive meets each T- once, and
        those that met none yet come first."""
        trajectory, others, directives = await self._look(None, lambda view: view.contrasts(query.of))
        if trajectory is None or not others or not directives:
            return []
        reasonings = [one.reasoning for one in (trajectory, *others)]
        rows = of_length_1(await self.embedding.embed(reasonings))
        pairs = sorted(
            zip(np.vecdot(rows[1:], rows[0]).tolist(), others, strict=True), key=lambda pair: (pair[0], pair[1].id)
        )
        for directive in sorted(directives, key=lambda one: (len(one.contrasting), -one.confidence, one.id)):
            met = set(directive.contrasting)
            for alike, other in pairs:
                right, wrong = (trajectory, other) if trajectory.correct else (other, trajectory)
                if wrong.id not in met:
                    if alike < query.threshold:
                        return [directive, right, wrong]
                    break
        return []
