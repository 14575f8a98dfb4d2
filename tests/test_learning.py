"""A learning session: cases heard one after the other, and the memory that they leave."""

import asyncio
from collections import Counter
from collections.abc import Iterator

import pytest

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.courthouse import Courthouse
from courtroom.engine.events import Learned
from courtroom.engine.record import Record
from courtroom.knowledge.bases import bundled_cases
from courtroom.knowledge.lessons import Adjust, Lesson
from courtroom.knowledge.memory import Directive, Recall, Standard
from courtroom.knowledge.search import Hit
from courtroom.law import Judgment, Term, term_class
from courtroom.procedures.verdict.learning import Trajectory, confidence, shared_anchor
from courtroom.procedures.verdict.setup import Learning, VerdictSetup
from courtroom.procedures.verdict.tasks import DraftJudgment, FinalJudgment, Turn
from courtroom.settings import Settings
from tests.replayed import replayed

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

QUICK = VerdictSetup(learning=Learning(on=True, terms=False, batch=2, alike=0.35, decay=0.25))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("home")))
    yield house
    house.close()


def hear(house: Courthouse, case: CriminalCase, setup: VerdictSetup = QUICK) -> Record:
    return drive(house, house.new_run("verdict", case, setup, 0))


def drive(house: Courthouse, run: str) -> Record:
    house.runner.go(run)
    house.runner.wait(run, 60)
    record = house.record(run)
    assert record.run.status == "done", record.run.reason
    return record


def memory(house: Courthouse) -> dict[tuple[str, str], object]:
    kept = house.knowledge.memory
    return {
        (known.name, record.id): record.model_dump(mode="json")
        for known in (kept.standards, kept.directives, kept.buffer)
        for record in known.all()
    }


def misleading() -> list[CriminalCase]:
    """Facts as in a theft, a real judgment that is another: the directives that point to theft are wrong here."""
    return [
        case.model_copy(
            update={
                "id": f"other-{number}-{case.id}",
                "gold": Gold(relevant_articles=(270,), charges=("侵占",)),
            }
        )
        for number in range(2)
        for case in thefts()
    ]


@pytest.mark.slow
def test_a_session_of_over_sixty_cases_induces_refines_merges_and_prunes_and_replays_to_the_same_memory(
    house: Courthouse,
) -> None:
    cases = [*bundled_cases(), *misleading()]
    assert len(cases) >= 60
    for case in cases:
        hear(house, case)
    phases = Counter(taught.phase for taught in house.knowledge.lessons.all())
    assert phases["archive"] + phases["buffer"] == len(cases)
    for phase in ("archive", "buffer", "induction", "refinement", "confidence", "merge", "pruning"):
        assert phases[phase] >= 1, phase  # type: ignore[index]
    assert memory(house) == {key: dict(body) for key, body in replayed(house.knowledge.lessons).items()}
    (pruned,) = [t for t in house.knowledge.lessons.all() if t.phase == "pruning"][:1]
    assert all((change.before or {})["confidence"] < 0.3 and change.after is None for change in pruned.changes)
    life = [taught.phase for taught in house.knowledge.lessons.of(pruned.changes[0].id)]
    assert life[0] in ("induction", "merge")
    assert life[-1] == "pruning"
    for taught in (t for t in house.knowledge.lessons.all() if t.phase == "refinement"):
        (change,) = taught.changes
        after = Directive.model_validate(change.after)
        wrong = house.knowledge.memory.buffer.get(after.contrasting[-1])
        assert not wrong.correct
        assert house.knowledge.memory.standards.get(after.supporting[-1]) is not None


def test_undone_backwards_to_its_beginning_the_memory_is_empty_again(house: Courthouse) -> None:
    for taught in reversed(house.knowledge.lessons.all()):
        if taught.undone is None:
            house.knowledge.lessons.undo(taught.seq)
    assert memory(house) == {}


def test_only_verified_and_right_trajectories_are_archived(house: Courthouse) -> None:
    right = next(case for case in bundled_cases() if case.id == "precedent-002")
    record = hear(house, right)
    kept = house.knowledge.memory.standards.get("standard-precedent-002")
    final = record.call("final-adjudication/presiding/preside")
    assert kept.text == f"{right.facts}\n{kept.reasoning}\n{kept.verdict}"  # the facts, not the clerk's points
    assert kept.reasoning.endswith(final.value["thought"])
    wrong = right.model_copy(update={"id": "wrong", "gold": Gold(relevant_articles=(385,), charges=("受贿",))})
    hear(house, wrong)
    assert house.knowledge.memory.standards.get("standard-wrong") is None
    assert house.knowledge.memory.buffer.get("standard-wrong") is not None


@pytest.mark.parametrize("months", [0, 1, 8, 300])
def test_a_term_of_another_class_is_buffered_or_replaced_by_the_real_one(house: Courthouse, months: int) -> None:
    case = next(case for case in bundled_cases() if case.id == "precedent-002")
    real = Term(imprisonment=months)
    assert case.gold is not None
    case = case.model_copy(update={"gold": case.gold.model_copy(update={"term_of_imprisonment": real})})
    record = hear(house, case, VerdictSetup(learning=Learning(on=True)))
    assert record.run.verdict is not None
    judged = Judgment.model_validate(record.run.verdict.details["judgment"])
    (lesson, *_) = record.of(Learned)
    same = term_class(judged.term_of_imprisonment) == term_class(real)
    assert lesson.lesson.phase == ("archive" if same else "buffer")
    hear(house, case)
    kept = house.knowledge.memory.standards.get("standard-precedent-002")
    assert kept is not None
    assert kept.verdict.term_of_imprisonment == real


def test_the_reasoning_of_a_standard_leaves_out_the_rejected_drafts() -> None:
    drafts = (
        DraftJudgment(predicted_article=234, explanation="injured"),
        DraftJudgment(predicted_article=293, explanation="at will"),
    )
    turns = (Turn(draft=drafts[0], feedback="Public order: wrong."), Turn(draft=drafts[1], passed=True, feedback=""))
    final = FinalJudgment.model_validate(
        {"thought": "t", "relevant_articles": [293], "accusation": ["c"], "term_of_imprisonment": {}}
    )
    assert Trajectory(turns, final, ()).reasoning == "at will\nt"


def test_a_fork_and_a_case_without_a_known_judgment_teach_nothing(
    house: Courthouse,
) -> None:
    case = bundled_cases()[30]
    parent = hear(house, case)
    before, lessons = memory(house), len(house.knowledge.lessons.all())
    fork = house.fork(parent.run.id, QUICK.model_copy(update={"turns": 2}))
    record = drive(house, fork)
    assert all(event.held_back for event in record.of(Learned))
    assert record.of(Learned)
    assert (memory(house), len(house.knowledge.lessons.all())) == (before, lessons)
    term_alone = Gold(term_of_imprisonment={"imprisonment": 12})  # type: ignore[arg-type]
    for gold in (None, term_alone):
        record = hear(house, bundled_cases()[40].model_copy(update={"id": "unknown", "gold": gold}))
        assert record.of(Learned) == []
        assert "learning" not in [stage.path for stage in record.stages]


def thefts() -> list[CriminalCase]:
    return [case for case in bundled_cases() if case.gold and case.gold.charges == ("盗窃",)]


def test_what_was_learned_from_a_case_does_not_reach_it(house: Courthouse) -> None:
    """Neither in a later run, nor in one of the same facts under another id; another case of its kind is shown it."""
    house.knowledge.restore("empty")
    unheard, case, *others = thefts()
    first = hear(house, case)
    for other in others[:3]:
        hear(house, other)
    (born,) = [d for d in house.knowledge.memory.directives.all() if first.case.id in str(d.supporting)]
    plain = VerdictSetup()
    own = [
        hear(house, case, plain),
        hear(house, case.model_copy(update={"id": "under-another-id"}), plain),
        drive(house, house.fork(first.run.id, plain, seed=1)),
    ]
    for record in own:
        found = [hit.id for r in record.retrievals if isinstance(r.query, Recall) for hit in r.hits]
        assert f"standard-{case.id}" not in found
        assert born.id not in found
    shown = hear(house, unheard, plain)
    assert born.id in [hit.id for r in shown.retrievals if isinstance(r.query, Recall) for hit in r.hits]


def learner(judged: int, real: int, drafts: tuple[int, ...], passed: bool, anchors: tuple[int, ...]) -> list[Adjust]:
    """How confidence moves: a judgment under one article, the real one, the drafts, and the directives in view."""
    taught: list[Adjust] = []

    class Hearing:
        setup = QUICK

        async def learn(self, name: str, lesson: Lesson) -> None:
            taught.extend(op for op in lesson.ops if isinstance(op, Adjust))

    turns = tuple(
        Turn(
            draft=DraftJudgment(predicted_article=n, explanation="x"),
            passed=passed and i == len(drafts) - 1,
            feedback="",
        )
        for i, n in enumerate(drafts)
    )
    verdict, gold = (Judgment(relevant_articles=(n,), charges=("c",)) for n in (judged, real))
    standard = Standard(id="s", case="c", facts="f", reasoning="r", verdict=verdict, gold=gold)
    final = FinalJudgment.model_validate(
        {"thought": "t", "relevant_articles": [judged], "accusation": ["c"], "term_of_imprisonment": {}}
    )
    hits = tuple(
        Hit(id=f"d-{n}", similarity=0.5, record=Directive(id=f"d-{n}", text="t", anchor=n).model_dump(mode="json"))
        for n in anchors
    )
    trajectory = Trajectory(turns, final, hits)
    asyncio.run(confidence(Hearing(), trajectory, standard, archived=passed and judged == real))  # type: ignore[arg-type]
    return taught


@pytest.mark.parametrize(
    ("judged", "real", "drafts", "passed", "moves"),
    [
        (264, 264, (264,), True, {"d-264": 0.1}),  # verified and right
        (264, 264, (266, 264), True, {"d-264": 0.1, "d-266": -0.25}),  # a rejected draft was wrong
        (264, 264, (264, 264), False, {}),  # rejected, but right: nothing is lost
        (264, 264, (264, 266), False, {"d-266": -0.25}),
        (266, 264, (264, 266), True, {"d-266": -0.25}),  # the right draft was rejected, the judgment is wrong
        (266, 264, (266,), False, {"d-266": -0.25}),
    ],
)
def test_confidence_goes_with_what_was_right(
    judged: int, real: int, drafts: tuple[int, ...], passed: bool, moves: dict[str, float]
) -> None:
    assert {op.id: op.by for op in learner(judged, real, drafts, passed, (264, 266))} == moves


def test_the_anchor_is_the_article_that_the_standards_share() -> None:
    def standard(judged: tuple[int, ...], gold: tuple[int, ...]) -> Standard:
        verdict, real = (Judgment(relevant_articles=numbers, charges=("c",)) for numbers in (judged, gold))
        return Standard(id=f"s-{judged}-{gold}", case="c", facts="f", reasoning="r", verdict=verdict, gold=real)

    assert shared_anchor([standard((264, 25), (25, 264)), standard((264, 25), (25, 264))]) == 264
    assert shared_anchor([standard((25, 264), (25, 264)), standard((264,), (264,))]) == 264
    assert shared_anchor([standard((67, 264, 25), (25, 264)), standard((264,), (25, 264))]) == 264


def test_a_directive_starts_where_its_knob_says_and_rises_no_higher_than_its_knob_says(house: Courthouse) -> None:
    house.knowledge.restore("empty")
    setup = VerdictSetup(learning=Learning(on=True, terms=False, batch=2, start=0.7, reward=0.2, most=0.8, alike=1.0))
    seen = []
    for case in thefts()[:5]:
        hear(house, case, setup)
        seen.append([directive.confidence for directive in house.knowledge.memory.directives.all()])
    first = next(some for some in seen if some)
    assert first == [0.7]
    assert max(max(some, default=0.0) for some in seen) == 0.8
