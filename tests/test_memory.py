"""The memory's equations, one by one on examples worked out by hand; what it recalls; and its snapshots."""

from pathlib import Path

import networkx as nx
import pytest

from courtroom.courthouse import Courthouse
from courtroom.engine.record import Record
from courtroom.errors import CourtroomError
from courtroom.knowledge import memory
from courtroom.knowledge.bases import bundled_cases
from courtroom.knowledge.lessons import Frozen
from courtroom.knowledge.memory import Directive, Due, Recall, Standard
from courtroom.knowledge.search import Knowledge
from courtroom.law import Judgment
from courtroom.procedures.verdict.setup import Learning, VerdictSetup
from courtroom.settings import Settings
from courtroom.store.database import Database
from tests.driving import drive
from tests.replayed import replayed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

THEFT, FRAUD = (
    Judgment(relevant_articles=(264,), charges=("theft",)),
    Judgment(relevant_articles=(266,), charges=("fraud",)),
)


def test_iou_is_the_overlap_of_tags() -> None:
    """{264, theft} and {264, 266, theft, fraud}: two shared of four."""
    assert memory.iou(memory.tags_of((264,), ("theft",)), memory.tags_of((264, 266), ("theft", "fraud"))) == 2 / 4
    assert memory.iou(memory.tags_of((264,)), memory.tags_of((266,))) == 0
    assert memory.iou(frozenset(), frozenset()) == 0
    assert memory.topo(["a", "b", "x"], {"a", "b", "c"}) == 2
    assert memory.topo([], {"a"}) == 0


def test_semantic_similarity_is_the_cosine() -> None:
    assert memory.cosine([3, 4], [4, 3]) == pytest.approx(24 / 25)
    assert memory.cosine([1, 0], [-1, 0]) == -1
    assert memory.cosine([0, 0], [1, 0]) == 0


def test_standards_are_linked_where_labels_are_identical_and_vectors_near() -> None:
    labels = {
        "a": memory.tags_of((264,)),
        "b": memory.tags_of((264,)),
        "c": memory.tags_of((264,)),
        "d": memory.tags_of((266,)),
    }
    vectors = {"a": [1.0, 0.0], "b": [0.8, 0.6], "c": [0.0, 1.0], "d": [1.0, 0.0]}
    graph = memory.standards_graph(labels, vectors, tau=0.6)
    assert {frozenset(edge) for edge in graph.edges} == {frozenset("ab"), frozenset("bc")}  # a-c: 0, a-d: other labels
    assert set(memory.standards_graph(labels, vectors, tau=0.61).edges) == {("a", "b")}
    assert set(graph.nodes) == set("abcd")
    path: nx.Graph = nx.path_graph(["a", "b", "c", "d"])
    assert memory.activated(path, ["a"], 0) == {"a"}
    assert memory.activated(path, ["a"], 2) == {"a", "b", "c"}
    assert memory.activated(path, ["a", "d", "not there"], 1) == {"a", "b", "c", "d"}


def test_the_score_weighs_overlap_activation_and_similarity() -> None:
    assert memory.score(0.5, 1.0, 0.25) == pytest.approx(0.4 * 0.5 + 0.3 * 1.0 + 0.3 * 0.25)
    assert memory.score(0.5, 1.0, -0.9) == pytest.approx(0.5)  # texts that point apart count as unlike, not less
    assert memory.score(1.0, 0.0, 0.0, weights=(0.0, 0.5, 0.5)) == 0


def test_merged_confidences_are_summed_and_clipped() -> None:
    assert memory.merged_confidence([0.4, 0.3]) == pytest.approx(0.7)
    assert memory.merged_confidence([0.8, 0.7]) == 1.0
    assert memory.merged_confidence([0.8, 0.7], most=0.9) == 0.9


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


@pytest.fixture
def base(tmp_path: Path) -> Knowledge:
    return filled(tmp_path)


def recall(collection: str, **more: object) -> Recall:
    values = {"text": "A purse was taken from a pocket on a bus.", "tags": ("article:264", "charge:theft"), "k": 3}
    return Recall.model_validate({"collection": collection, "tau": 0.1, "seeds": 1, "hops": 1, **values, **more})


async def test_the_memory_recalls_what_fits_by_labels_graph_and_facts_weighed_as_the_query_says(
    base: Knowledge,
) -> None:
    standards = await base.answer(recall("standards"))
    assert [hit.id for hit in standards[:2]] == ["standard-bus", "standard-metro"]
    first = standards[0].parts
    assert first.iou == 1  # the same tags
    assert first.topo == 1  # both activated standards are it or linked to it
    assert first.score == pytest.approx(0.4 + 0.3 + 0.3 * first.semsim, abs=1e-5)
    directives = await base.answer(recall("directives"))
    assert directives[0].id == "d-theft"
    assert directives[0].parts.topo == 1
    hits = await base.answer(recall("standards", exclude=("standard-bus",)))
    assert "standard-bus" not in [hit.id for hit in hits]
    assert hits[0].parts.topo == 1  # the seed is the nearest of the others
    (first, *_) = await base.answer(recall("standards", weights=(0.0, 0.0, 1.0)))
    assert first.parts.score == first.parts.semsim
    assert "weights" not in recall("standards").model_dump()  # as earlier versions asked: what they saw is found


async def due(base: Knowledge, **query: object) -> list[str]:
    return [hit.id for hit in await base.answer(Due.model_validate(query))]


async def test_what_is_due_depends_on_labels_counts_and_thresholds(base: Knowledge) -> None:
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


async def test_a_contrast_is_of_a_correct_and_an_incorrect_trajectory_with_the_same_labels(base: Knowledge) -> None:
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


async def test_what_was_learned_from_a_case_is_kept_out_of_its_sight(base: Knowledge) -> None:
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


async def test_activated_neighbours_are_counted_or_their_share_is_taken(base: Knowledge) -> None:
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


# --- snapshots: named, frozen, the same after any learning, and what a run sees --------------------------------


TRAINING = VerdictSetup(learning=Learning(on=True, batch=2, terms=False))


def hear(house: Courthouse, number: int, setup: VerdictSetup) -> Record:
    return done(house, house.new_run("verdict", bundled_cases()[number], setup, 0))


def done(house: Courthouse, run: str) -> Record:
    record = house.record(drive(house, run))
    assert record.run.status == "done", record.run.reason
    return record


def seen(record: Record) -> dict[str, list[str]]:
    """What the memory gave, by look-up."""
    return {
        r.path.rpartition("/")[2]: [hit.id for hit in r.hits] for r in record.retrievals if r.query.kind == "recall"
    }


async def test_a_snapshot_stays_as_it_was_whatever_is_learned(base: Knowledge) -> None:
    digest = base.snapshot("before")

    async def directives(snapshot: str = "") -> dict[str, float]:
        query = recall("directives", k=9, at=base.snapshots.named(snapshot).at if snapshot else None)
        return {hit.id: hit.record["confidence"] for hit in await base.answer(query)}

    before = await directives()
    base.memory.directives.add(
        [
            Directive(id="d-theft", text="Another text.", anchor=264, charges=("theft",), confidence=0.9),
            Directive(id="d-new", text="A pocket is a pocket.", anchor=264, charges=("theft",)),
        ]
    )
    base.memory.standards.remove(["standard-bus"])
    assert (await directives()).keys() == {*before, "d-new"}
    assert await directives("before") == before
    assert base.snapshots.named("before").digest == digest
    assert base.snapshots.named("before").standards == 3
    assert await directives("empty") == {}
    assert [one.name for one in base.snapshots.all()] == ["empty", "before"]


def test_a_name_stands_for_one_memory_for_ever_with_one_digest_in_every_store(base: Knowledge, tmp_path: Path) -> None:
    digest = base.snapshot("a")
    assert base.snapshot("a") == digest  # the same memory: an experiment may do it again after a kill
    base.memory.standards.add([standard("shelf", "Goods under a coat.", THEFT)])
    with pytest.raises(CourtroomError, match="holds another memory"):
        base.snapshot("a")
    for bad in ("", "empty", "a b", "a/b", "x" * 61):
        with pytest.raises(CourtroomError, match="can't be named"):
            base.snapshot(bad)
    with pytest.raises(CourtroomError, match="no snapshot “nobody”"):
        base.snapshots.named("nobody")
    one, other = filled(tmp_path / "one"), filled(tmp_path / "other")
    assert one.snapshot("a") == other.snapshot("b")
    other.memory.standards.add([standard("shelf", "Goods under a coat.", THEFT)])
    other.memory.standards.remove(["standard-shelf"])
    assert other.snapshot("c") == one.snapshot("a")


def test_a_memory_brought_back_is_as_in_its_snapshot_and_this_can_be_undone(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    hear(house, 2, TRAINING)
    digest = house.knowledge.snapshot("two")
    house.knowledge.restore("empty")
    assert len(house.knowledge.memory.standards) == 0
    assert replayed(house.knowledge.lessons) == {}
    hear(house, 7, TRAINING)
    house.knowledge.restore("two")
    assert house.knowledge.snapshot("again") == digest
    last = house.knowledge.lessons.all()[-1]
    assert (last.phase, last.run) == ("restore", "")
    house.knowledge.lessons.undo(last.seq)
    assert house.knowledge.memory.standards.get("standard-precedent-008") is not None
    assert len(house.knowledge.memory.standards) == 1


def test_a_run_sees_the_snapshot_that_its_setup_names(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    house.knowledge.snapshot("one")
    hear(house, 2, TRAINING)
    case = 3
    assert seen(hear(house, case, VerdictSetup(memory="one")))["standards"] == ["standard-precedent-002"]
    assert seen(hear(house, case, VerdictSetup(memory="empty")))["standards"] == []
    assert len(seen(hear(house, case, VerdictSetup()))["standards"]) == 2
    run = drive(house, house.new_run("verdict", bundled_cases()[case], VerdictSetup(memory="nobody"), 0))
    assert house.store.status(run) == "failed"
    assert "no snapshot “nobody”" in house.record(run).run.reason


def test_a_fork_sees_the_memory_that_its_parent_saw(house: Courthouse) -> None:
    hear(house, 1, TRAINING)
    parent = hear(house, 3, VerdictSetup(precedents=1))
    hear(house, 2, TRAINING)
    fork = done(house, house.fork(parent.run.id, VerdictSetup(precedents=5)))
    assert seen(fork)["standards"] == seen(parent)["standards"] == ["standard-precedent-002"]
    (frozen,) = [r for r in fork.retrievals if isinstance(r.query, Frozen)]
    assert frozen.hits == next(r for r in parent.retrievals if isinstance(r.query, Frozen)).hits
    later = done(house, house.fork(parent.run.id, VerdictSetup(precedents=5), seed=1, case=parent.case))
    assert seen(later)["standards"] == ["standard-precedent-002"]
