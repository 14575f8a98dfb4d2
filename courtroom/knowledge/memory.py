"""The memory of VERDICT (section 3.4, appendix D): its units and equations, recall, and what is due to be learned."""

from __future__ import annotations

import asyncio
from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Literal, TypeVar
from weakref import WeakKeyDictionary

from pydantic import Field

from courtroom.knowledge.bases import MemoryPart
from courtroom.knowledge.collection import Collection
from courtroom.knowledge.embedding import Embedding, of_length_1
from courtroom.knowledge.lessons import EMPTY, Changes, States
from courtroom.knowledge.memory_view import SameFacts, TaggedUnits, Tags, activated
from courtroom.law import Decided, Judgment, articles_compared, charges_compared, term_class
from courtroom.strict import Strict, option

if TYPE_CHECKING:
    import networkx as nx

    from courtroom.knowledge.embedding import HalfPrecision
    from courtroom.knowledge.memory_view import Floats, Places, Values

T = TypeVar("T")


def tags_of(articles: tuple[int, ...], charges: tuple[str, ...] = ()) -> Tags:
    """Return statute and charge tags, as judgments are compared: `article:264`, `charge:盗窃`."""
    statutes = (f"article:{number}" for number in articles_compared(articles))
    return frozenset({*statutes, *(f"charge:{charge}" for charge in charges_compared(charges))})


class Standard(Strict):
    """A standard precedent v = <text, vector, labels, c>: facts, verified reasoning and verdict of one trajectory.

    In the buffer, where `verdict` is not what the real judgment says, the labels are still the real ones. `c` is not
    explained in the paper and left out.
    """

    id: str
    case: str = Field(description="Id of the case.")
    title: str = ""
    language: str = "en"
    facts: str = Field(description="The facts of the case.")
    reasoning: str = Field(
        description="The basis of the draft that the supervisor saw last (tau), with the final judgment's thought."
    )
    verdict: Judgment
    gold: Decided
    induced: str = Field(
        default="", description="The directive that was induced from it; empty while it counts as new."
    )

    @property
    def tags(self) -> Tags:
        return tags_of(self.gold.relevant_articles, self.gold.charges)

    @property
    def correct(self) -> bool:
        """y = l_gt (Eq. 7): whether its verdict has the articles, charges and class of term of the real judgment."""
        term = self.gold.term_of_imprisonment
        same_term = term is None or term_class(term) == term_class(self.verdict.term_of_imprisonment)
        return same_term and self.verdict.same_labels(self.gold)

    @property
    def text(self) -> str:
        """u + tau + y, what is embedded: facts, thought and judgment (Eq. 7)."""
        return f"{self.facts}\n{self.reasoning}\n{self.verdict}"


class Directive(Strict):
    """A micro-directive m = <text, confidence, supporting and contrasting precedents, anchor statute>."""

    id: str
    text: str = Field(min_length=1)
    language: str = "en"
    confidence: float = Field(
        default=0.5, ge=0, le=1, description="Where it starts is a knob; the paper gives no value."
    )
    supporting: tuple[str, ...] = Field(default=(), description="Ids of standards.")
    contrasting: tuple[str, ...] = Field(default=(), description="Ids of standards, or of trajectories in the buffer.")
    anchor: int = Field(ge=1, le=452, description="Number of the article that it interprets.")
    charges: tuple[str, ...] = ()

    @property
    def tags(self) -> Tags:
        return tags_of((self.anchor,), self.charges)


Weights = tuple[float, float, float]
WEIGHTS: Weights = (0.4, 0.3, 0.3)
"""Alpha, beta and gamma (appendix C)."""


def iou(tags: Tags, candidates: Tags) -> float:
    """Overlap of a unit's tags with those of the candidate statutes, 0 to 1 (Eq. 9); 0 where both are empty."""
    union = tags | candidates
    return len(tags & candidates) / len(union) if union else 0.0


def score(overlap: float, co_activation: float, similarity: float, weights: Weights = WEIGHTS) -> float:
    """Score = alpha IoU + beta Topo + gamma SemSim (section 3.4.1; weights of appendix C).

    Args:
        co_activation: Topo, or by default Topo over the number of activated standards: all parts lie between 0 and 1.
        similarity: a cosine, of which negative values count 0.
    """
    alpha, beta, gamma = weights
    return alpha * overlap + beta * co_activation + gamma * max(0.0, similarity)


def merged_confidence(confidences: Iterable[float], most: float = 1.0) -> float:
    """Confidences summed, clipped at `most` (Eq. 8)."""
    return min(most, sum(confidences))


Unit = Standard | Directive


class Recall(Strict):
    """Which standards, or directives, bear on a case? (Score(m), section 3.4.1; appendix D)"""

    kind: Literal["recall"] = "recall"
    collection: Literal["standards", "directives"]
    text: str
    tags: tuple[str, ...] = Field(description="Tags of the candidate statutes.")
    k: int = Field(ge=1)
    tau: float = Field(ge=-1, le=1, description="Cosine from which two standards with the same labels are linked.")
    seeds: int = Field(ge=1, description="Closest standards from which activation spreads.")
    hops: int = Field(ge=0)
    weights: Weights = option(WEIGHTS, "Alpha, beta, gamma.")
    topo: Literal["share", "count"] = option(
        "share", "Of the activated standards those associated with a unit: their share, or their number."
    )
    exclude: tuple[str, ...] = Field(default=(), description="Trajectories that must not be seen: the case's own.")
    exclude_facts: str = option("", "Nor any with these facts, under whatever id and in whatever writing.")
    at: int | None = Field(
        default=None, description="The state that is searched; None is the newest.", exclude_if=lambda at: at is None
    )


class Due(Strict):
    """Is a step of learning due? The records that it would work on, or nothing (section 3.4.2).

    - `induction`: new standards with the labels of `of`, once there are `count` of them.
    - `refinement`: a directive with the labels of the trajectory `of`, then a correct and an incorrect trajectory with
      these labels, `of` being one of the two and the other the one whose reasoning differs most, if the cosine of their
      reasoning is below `threshold`.
    - `merge`: directives with one anchor and charges of which two reach a cosine of `threshold`.
    - `pruning`: directives with a confidence below `threshold`.
    """

    kind: Literal["due"] = "due"
    phase: Literal["induction", "refinement", "merge", "pruning"]
    of: str = Field(default="", description="Id of the trajectory that was just archived or buffered.")
    count: int = Field(default=1, ge=1)
    threshold: float = 0.0


class Parts(Strict):
    """What a recalled unit's score is made of."""

    iou: float
    topo: float
    semsim: float
    score: float


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
        import numpy as np

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
        import networkx as nx

        graph = nx.Graph()
        graph.add_nodes_from(self.standards.units)
        for tags, names in self.standards.groups.items():
            pairs = self.standards.links(tags, tau).nonzero()
            graph.add_edges_from((names[one], names[other]) for one, other in zip(*pairs, strict=True))
        return graph

    def near_duplicates(self, threshold: float) -> list[Unit]:
        """Return directives with one anchor and charges of which two are as near as that, and what is near to these."""
        import networkx as nx  # slow to import: only when there is a graph

        for tags, names in self.directives.groups.items():
            if threshold not in self._clusters[tags]:
                links = self.directives.links(tags, threshold)
                parts = nx.connected_components(nx.from_numpy_array(links)) if links.any() else ()
                clusters = [sorted(names[place] for place in part) for part in parts if len(part) > 1]
                self._clusters[tags][threshold] = clusters
        found = (cluster for known in self._clusters.values() for cluster in known.get(threshold, ()))
        first = min(found, default=[])
        return [self.directives.units[name] for name in first]

    def weak(self, threshold: float) -> list[Unit]:
        """Return directives with a confidence below a threshold."""
        return [directive for directive in self.directives.units.values() if directive.confidence < threshold]


FIXED = 3
"""States beside the newest that are kept as they are looked up in, at most."""


class Memory:
    """Standards, directives, and the buffer of trajectories that were wrong or not verified."""

    def __init__(
        self, of: Callable[[MemoryPart], Collection[Any]], embedding: Embedding, states: States, name: str = ""
    ) -> None:
        self.standards: Collection[Standard] = of("standards")
        self.directives: Collection[Directive] = of("directives")
        self.buffer: Collection[Standard] = of("buffer")
        self.embedding, self._states, self._name = embedding, states, name
        self._newest, self._fixed = MemoryView(), dict[int, MemoryView]()
        self._put_back = states.put_back
        self._looking: WeakKeyDictionary[asyncio.AbstractEventLoop, asyncio.Lock] = WeakKeyDictionary()
        self._reasoning: dict[str, tuple[str, HalfPrecision]] = {}
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
        looks: Mapping[str, Callable[[MemoryView], list[Unit]]] = {
            "induction": lambda view: _new_standards(view, query),
            "merge": lambda view: view.near_duplicates(query.threshold),
            "pruning": lambda view: view.weak(query.threshold),
        }
        if query.phase == "refinement":
            return await self._contrast(query)
        units = {unit.id: unit for unit in await self._look(None, looks[query.phase])}
        known: Collection[Any] = self.standards if query.phase == "induction" else self.directives
        return [units[name] for name in known.named([*units])] if units else []

    # --- within ---------------------------------------------------------------------------------------------

    async def _look(self, at: int | None, look: Callable[[MemoryView], T]) -> T:
        """Look something up in a state, once what is new is added to the view of it; one after the other."""
        import numpy as np

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
        import numpy as np

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
        import numpy as np

        new = [one for one in trajectories if self._reasoning.get(one.id, ("",))[0] != one.reasoning]
        vectors = of_length_1(await self.embedding.embed([one.reasoning for one in new])) if new else ()
        for one, row in zip(new, vectors, strict=True):
            self._reasoning[one.id] = (one.reasoning, row.astype(np.float16))
        rows = np.concatenate([self._reasoning[one.id][1] for one in trajectories])
        return rows.reshape(len(trajectories), -1).astype(np.float32)


def _new_standards(view: MemoryView, query: Due) -> list[Unit]:
    """B new standards of the trajectory's label, or nothing."""
    trajectory = view.trajectory(query.of)
    new = [one for one in view.standards.alike(trajectory.tags) if not one.induced] if trajectory else []
    return list(new) if len(new) >= query.count else []
