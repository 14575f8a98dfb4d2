"""The memory's equations, one by one on examples worked out by hand; and what it recalls."""

from pathlib import Path

import networkx as nx
import pytest

from courtroom.knowledge.memory import (
    Directive,
    Due,
    Recall,
    Standard,
    activated,
    cosine,
    iou,
    merged_confidence,
    score,
    standards_graph,
    tags_of,
    topo,
)
from courtroom.knowledge.search import Knowledge
from courtroom.law import Judgment
from courtroom.settings import Settings
from courtroom.store.database import Database

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

THEFT, FRAUD = (
    Judgment(relevant_articles=(264,), charges=("theft",)),
    Judgment(relevant_articles=(266,), charges=("fraud",)),
)


def test_iou_is_the_overlap_of_tags() -> None:
    """{264, theft} and {264, 266, theft, fraud}: two shared of four."""
    assert iou(tags_of((264,), ("theft",)), tags_of((264, 266), ("theft", "fraud"))) == 2 / 4
    assert iou(tags_of((264,)), tags_of((266,))) == 0
    assert iou(frozenset(), frozenset()) == 0
    assert topo(["a", "b", "x"], {"a", "b", "c"}) == 2
    assert topo([], {"a"}) == 0


def test_semantic_similarity_is_the_cosine() -> None:
    assert cosine([3, 4], [4, 3]) == pytest.approx(24 / 25)
    assert cosine([1, 0], [-1, 0]) == -1
    assert cosine([0, 0], [1, 0]) == 0


def test_standards_are_linked_where_labels_are_identical_and_vectors_near() -> None:
    labels = {"a": tags_of((264,)), "b": tags_of((264,)), "c": tags_of((264,)), "d": tags_of((266,))}
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0], "d": [1.0, 0.0]}
    graph = standards_graph(labels, vectors, tau=0.6)
    assert {frozenset(edge) for edge in graph.edges} == {frozenset("ab"), frozenset("bc")}  # a-c: 0, a-d: other labels
    assert set(standards_graph(labels, vectors, tau=0.61).edges) == {("a", "b")}
    assert set(graph.nodes) == set("abcd")
    path: nx.Graph = nx.path_graph(["a", "b", "c", "d"])
    assert activated(path, ["a"], 0) == {"a"}
    assert activated(path, ["a"], 2) == {"a", "b", "c"}
    assert activated(path, ["a", "d", "not there"], 1) == {"a", "b", "c", "d"}


def test_the_score_weighs_overlap_activation_and_similarity() -> None:
    assert score(0.5, 1.0, 0.25) == pytest.approx(0.4 * 0.5 + 0.3 * 1.0 + 0.3 * 0.25)
    assert score(0.5, 1.0, -0.9) == pytest.approx(0.5)  # texts that point apart count as unlike, not less
    assert score(1.0, 0.0, 0.0, weights=(0.0, 0.5, 0.5)) == 0


def test_merged_confidences_are_summed_and_clipped() -> None:
    assert merged_confidence([0.4, 0.3]) == pytest.approx(0.7)
    assert merged_confidence([0.8, 0.7]) == 1.0
    assert merged_confidence([0.8, 0.7], most=0.9) == 0.9


def standard(name: str, facts: str, judgment: Judgment, reasoning: str = "It was taken secretly.") -> Standard:
    return Standard(id=f"standard-{name}", case=name, facts=facts, reasoning=reasoning, verdict=judgment, gold=judgment)


def filled(folder: Path) -> Knowledge:
    settings = Settings(home=folder)
    base = Knowledge(Database(settings.database), settings)
    base.memory.standards.add(
        [
            standard("bus", "A wallet was taken from a pocket on a crowded bus.", THEFT),
            standard("metro", "A telephone was taken from a pocket in a crowded metro.", THEFT),
            standard("school", "Parents paid for a place at a school that was promised falsely.", FRAUD),
        ]
    )
    base.memory.directives.add(
        [
            Directive(id="d-theft", text="Who takes from a pocket secretly commits theft.", anchor=264, charges=("theft",), supporting=("standard-bus", "standard-metro")),
            Directive(id="d-fraud", text="Who promises falsely and is paid commits fraud.", anchor=266, charges=("fraud",), confidence=0.2, supporting=("standard-school",)),
        ]
    )  # fmt: skip
    return base


def recall(collection: str, **more: object) -> Recall:
    values = {"text": "A purse was taken from a pocket on a bus.", "tags": ("article:264", "charge:theft"), "k": 3}
    return Recall.model_validate({"collection": collection, "tau": 0.1, "seeds": 1, "hops": 1, **values, **more})


async def test_the_memory_recalls_what_fits_by_labels_graph_and_facts_weighed_as_the_query_says(tmp_path: Path) -> None:
    base = filled(tmp_path)
    standards = await base.answer(recall("standards"))
    assert [hit.id for hit in standards[:2]] == ["standard-bus", "standard-metro"]
    first = standards[0].parts
    assert first.iou == 1  # the same tags
    assert first.topo == 1  # both activated standards are it or linked to it
    assert first.score == pytest.approx(0.4 + 0.3 + 0.3 * first.semsim, abs=1e-5)
    directives = await base.answer(recall("directives"))
    assert directives[0].id == "d-theft"
    assert directives[0].parts.topo == 1
    hits = await filled(tmp_path).answer(recall("standards", exclude=("standard-bus",)))
    assert "standard-bus" not in [hit.id for hit in hits]
    assert hits[0].parts.topo == 1  # the seed is the nearest of the others
    (first, *_) = await base.answer(recall("standards", weights=(0.0, 0.0, 1.0)))
    assert first.parts.score == first.parts.semsim
    assert "weights" not in recall("standards").model_dump()  # as earlier versions asked: what they saw is found


async def due(base: Knowledge, **query: object) -> list[str]:
    return [hit.id for hit in await base.answer(Due.model_validate(query))]


async def test_what_is_due_depends_on_labels_counts_and_thresholds(tmp_path: Path) -> None:
    base = filled(tmp_path)
    assert await due(base, phase="induction", of="standard-bus", count=2) == ["standard-bus", "standard-metro"]
    assert await due(base, phase="induction", of="standard-bus", count=3) == []
    assert await due(base, phase="induction", of="nobody", count=1) == []
    assert await due(base, phase="pruning", threshold=0.3) == ["d-fraud"]
    assert await due(base, phase="merge", threshold=0.99) == []
    base.memory.directives.add(
        [
            Directive(
                id="d-again", text="Who takes from a pocket secretly commits theft.", anchor=264, charges=("theft",)
            )
        ]
    )
    assert sorted(await due(base, phase="merge", threshold=0.99)) == ["d-again", "d-theft"]


def wrong(name: str, facts: str, reasoning: str, gold: Judgment = THEFT, verdict: Judgment = FRAUD) -> Standard:
    return Standard(id=f"standard-{name}", case=name, facts=facts, reasoning=reasoning, verdict=verdict, gold=gold)


async def test_a_contrast_is_of_a_correct_and_an_incorrect_trajectory_with_the_same_labels(tmp_path: Path) -> None:
    base = filled(tmp_path)
    base.memory.standards.add([standard("shelf", "Goods under a coat.", THEFT, "The alarm rang at the door.")])
    assert await due(base, phase="refinement", of="standard-shelf", threshold=1) == []  # two correct ones: no contrast
    unverified = wrong("till", "Money from a till.", "Nobody looked.", verdict=THEFT)
    elsewhere = wrong("loan", "A loan was not paid back.", "He lied.", gold=FRAUD, verdict=THEFT)
    base.memory.buffer.add([unverified, elsewhere])
    assert await due(base, phase="refinement", of="standard-till", threshold=1) == []  # right, but not verified
    assert await due(base, phase="refinement", of="standard-shelf", threshold=1) == []
    base.memory.buffer.add([wrong("coin", "A coin was swapped.", "The victim was deceived.")])
    pair = ["d-theft", "standard-shelf", "standard-coin"]
    assert await due(base, phase="refinement", of="standard-shelf", threshold=1) == pair
    assert await due(base, phase="refinement", of="standard-shelf", threshold=0) == []
    (_, right, against) = await base.answer(Due(phase="refinement", of="standard-coin", threshold=1))
    assert Standard.model_validate(right.record).correct
    assert not Standard.model_validate(against.record).correct
    met = Directive.model_validate(base.memory.directives.get("d-theft")).model_copy(
        update={"contrasting": ("standard-coin",)}
    )
    base.memory.directives.add([met])
    assert await due(base, phase="refinement", of="standard-coin", threshold=1) == []  # once is enough


async def test_what_was_learned_from_a_case_is_kept_out_of_its_sight(tmp_path: Path) -> None:
    base = filled(tmp_path)
    base.memory.buffer.add([wrong("coin", "A coin was swapped.", "The victim was deceived.")])
    refined = Directive(
        id="d-coin", text="Swapping is theft.", anchor=264, charges=("theft",), contrasting=("standard-coin",)
    )
    base.memory.directives.add([refined])

    async def found(collection: str, **query: object) -> set[str]:
        return {hit.id for hit in await base.answer(recall(collection, **query))}

    assert "d-theft" in await found("directives")
    assert "d-theft" not in await found("directives", exclude=("standard-bus",))
    assert "d-coin" not in await found("directives", exclude=("standard-coin",))
    facts = "The prosecution: a telephone was taken from a pocket, in a crowded metro."  # the same in another writing
    assert await found("standards", text=facts, exclude_facts=facts) == {"standard-bus", "standard-school"}
    assert "d-theft" not in await found("directives", text=facts, exclude_facts=facts)


async def test_activated_neighbours_are_counted_or_their_share_is_taken(tmp_path: Path) -> None:
    base = filled(tmp_path)
    share, count = [
        {hit.id: hit.parts.topo for hit in await base.answer(recall("standards", topo=topo)) if hit.parts}
        for topo in ("share", "count")
    ]
    assert max(share.values()) <= 1 < max(count.values())
    assert all(count[name] == int(count[name]) for name in count)
    assert "topo" not in recall("standards").model_dump()


def test_facts_thought_and_judgment_are_embedded() -> None:
    one = standard("bus", "A wallet was taken.", THEFT, "It was taken secretly.")
    assert one.text == f"A wallet was taken.\nIt was taken secretly.\n{THEFT}"
    judgment = Judgment(relevant_articles=(293, 25, 293), charges=("b", "a", "b"))
    assert judgment.relevant_articles == (293, 25)
    assert judgment.charges == ("b", "a")
    assert judgment.same_labels(Judgment(relevant_articles=(25, 293), charges=("A", "b")))
    assert not judgment.same_labels(Judgment(relevant_articles=(25,), charges=("a", "b")))
