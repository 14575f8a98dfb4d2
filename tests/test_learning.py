"""A learning session: cases heard one after the other, and the memory that they leave."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator

import pytest

from courtroom.cases.criminal import CriminalCase, Gold
from courtroom.courthouse import Courthouse
from courtroom.engine.events import Learned
from courtroom.engine.record import Record
from courtroom.knowledge.legal import bundled_cases
from courtroom.procedures.verdict.setup import Learning, VerdictSetup
from courtroom.settings import Settings

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning:chromadb.*", "ignore::ResourceWarning")

QUICK = VerdictSetup(learning=Learning(on=True, batch=2, alike=0.35, decay=0.25))


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("home")))
    yield house
    house.close()


def hear(house: Courthouse, case: CriminalCase, setup: VerdictSetup = QUICK) -> Record:
    run = house.new_run("verdict", case, setup, 0)
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
    thefts = [case for case in bundled_cases() if case.gold and case.gold.charges == ("盗窃",)]
    return [
        case.model_copy(
            update={
                "id": f"other-{number}-{case.id}",
                "gold": Gold(relevant_articles=(270,), charges=("侵占",)),
            }
        )
        for number in range(2)
        for case in thefts
    ]


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
    assert memory(house) == {key: dict(body) for key, body in house.knowledge.lessons.replayed().items()}
    (pruned,) = [t for t in house.knowledge.lessons.all() if t.phase == "pruning"][:1]
    assert all((change.before or {})["confidence"] < 0.3 and change.after is None for change in pruned.changes)
    life = [taught.phase for taught in house.knowledge.lessons.of(pruned.changes[0].id)]
    assert life[0] in ("induction", "merge")
    assert life[-1] == "pruning"


def test_undone_backwards_to_its_beginning_the_memory_is_empty_again(house: Courthouse) -> None:
    for taught in reversed(house.knowledge.lessons.all()):
        if taught.undone is None:
            house.knowledge.lessons.undo(taught.seq)
    assert memory(house) == {}


def test_only_verified_and_right_trajectories_are_archived(house: Courthouse) -> None:
    right = next(case for case in bundled_cases() if case.id == "precedent-002")
    hear(house, right)
    assert house.knowledge.memory.standards.get("standard-precedent-002") is not None
    wrong = right.model_copy(update={"id": "wrong", "gold": Gold(relevant_articles=(385,), charges=("受贿",))})
    hear(house, wrong)
    assert house.knowledge.memory.standards.get("standard-wrong") is None
    assert house.knowledge.memory.buffer.get("standard-wrong") is not None


def test_a_fork_leaves_the_memory_as_it_is_and_says_what_it_would_have_learned(house: Courthouse) -> None:
    case = bundled_cases()[30]
    parent = hear(house, case)
    before, lessons = memory(house), len(house.knowledge.lessons.all())
    fork = house.fork(parent.run.id, QUICK.model_copy(update={"turns": 2}))
    house.runner.go(fork)
    house.runner.wait(fork, 60)
    record = house.record(fork)
    assert record.run.status == "done", record.run.reason
    assert all(event.held_back for event in record.of(Learned))
    assert record.of(Learned)
    assert (memory(house), len(house.knowledge.lessons.all())) == (before, lessons)


def test_a_case_without_a_known_judgment_teaches_nothing(house: Courthouse) -> None:
    record = hear(house, bundled_cases()[40].model_copy(update={"id": "unknown", "gold": None}))
    assert record.of(Learned) == []
    assert "learning" not in [stage.path for stage in record.stages]


def test_the_judge_never_sees_the_memory_and_nobody_sees_the_real_judgment(house: Courthouse) -> None:
    case = bundled_cases()[0].model_copy(
        update={
            "id": "sealed",
            "gold": Gold(relevant_articles=(264,), charges=("盗窃",), term_of_imprisonment={"imprisonment": 299}),
        }  # type: ignore[arg-type]
    )
    for other in bundled_cases()[1:4]:
        hear(house, other)
    record = hear(house, case)
    for call in record.calls:
        for key in call.keys:
            text = "\n".join(
                part for message in house.answers.request(key) for part in message.parts if isinstance(part, str)
            )
            assert "299" not in text
            if call.task in ("extract", "rerank", "draft"):
                assert "Standard precedents" not in text
                assert "Micro-directives" not in text
            if call.task == "verify":
                assert "Standard precedents" in text
