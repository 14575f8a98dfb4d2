"""The knowledge protocol: each arm learns on one split, in order; tests on another see that, frozen under a name."""

import asyncio
import shutil
from pathlib import Path
from typing import Any

import pytest

from courtroom import Courthouse, CourtroomError, Record, Settings
from courtroom.datasets import Row
from courtroom.experiments.plan import Cell, Plan
from courtroom.experiments.spec import Experiment, adapted, parsed
from courtroom.knowledge.lessons import Frozen, Snapshot
from courtroom.models.request import Reply, Request, Watch
from courtroom.procedures.verdict.setup import VerdictSetup
from tests.driving import answered_by, done, drive
from tests.furnished import copied
from tests.test_experiments import house as house  # a fixture
from tests.test_experiments import killed
from tests.toy import text_of

TRAINED = ("criminal-bus-wallet", "criminal-workshop-burglary")
TESTED = ("criminal-night-market",)
ARMS = (
    {"name": "learns", "procedure": "verdict"},
    {"name": "learns without directives", "procedure": "verdict", "set": {"variant": "no-directives"}},
    {"name": "one judge", "procedure": "verdict", "set": {"variant": "no-agents"}},
)


def spec(**given: Any) -> Experiment:
    dataset = {"name": "benches", "split": "test"}
    values = {"name": "learning", "dataset": dataset, "knowledge": {"train": "train"}, "arms": list(ARMS)}
    return parsed({**values, **given}, "here")


@pytest.fixture(scope="module")
def home(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store with the dataset, whose memory holds something already."""
    home = copied(tmp_path_factory.mktemp("training") / "home")
    house = Courthouse(Settings(home=home))
    splits = {**dict.fromkeys(TRAINED, "train"), **dict.fromkeys(TESTED, "test")}
    house.datasets.add("benches", [Row(id=one, case=house.library.case(one), split=splits[one]) for one in splits])
    taught = VerdictSetup.model_validate({"learning": {"on": True}})
    drive(house, house.new_run("verdict", house.library.case("criminal-well-poison"), taught, 0))
    assert many(memory(house)) == 1
    house.close()
    return home


def memory(house: Courthouse) -> Snapshot:
    """As it is now."""
    return house.knowledge.snapshots.frozen(Frozen())


def many(kept: Snapshot) -> int:
    """How many cases it has learned from: a right judgment is a standard, one that was wrong waits in the buffer."""
    return kept.standards + kept.buffer


@pytest.fixture(scope="module")
def learned(home: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The same after the whole experiment."""
    home = shutil.copytree(home, tmp_path_factory.mktemp("learned") / "home")
    house = Courthouse(Settings(home=home))
    run_to_the_end(house, spec())
    house.close()
    return home


@pytest.fixture
def after(learned: Path, tmp_path: Path) -> Courthouse:
    return Courthouse(Settings(home=shutil.copytree(learned, tmp_path / "after")))


def run_to_the_end(house: Courthouse, experiment: Experiment) -> str:
    kept = done(house, experiment).kept
    assert (kept.status, kept.reason) == ("done", "")
    return kept.id


def runs_of(house: Courthouse, name: str) -> dict[str, Record]:
    """The tested run of each arm."""
    return {row.arm: house.record(row.run) for row in house.experiments.rows(name)}


def seen(record: Record) -> str:
    """The digest of the memory that a run saw."""
    return next(one.hits[0].id for one in record.retrievals if isinstance(one.query, Frozen))


def test_each_arm_learns_by_itself_and_is_tested_on_that(after: Courthouse, house: Courthouse) -> None:
    before, house = memory(house), after
    (name,) = (one.id for one in house.experiments.store.experiments())
    trained = [(cell.arm, cell.row) for cell in house.experiments.store.cells(name) if cell.phase == "train"]
    one_by_one = [(arm, row) for arm in (0, 1) for row in TRAINED]
    assert trained == one_by_one, "each in the order of the dataset; one judge alone learns nothing"
    assert memory(house).digest == before.digest, "the store's own memory is as it was"
    runs = runs_of(house, name)
    arms = dict(zip(runs, ("arm-1", "arm-2", "before"), strict=True))
    kept = {arm: house.knowledge.snapshots.named(memories(house, name) + place) for arm, place in arms.items()}
    for arm, record in runs.items():
        assert (record.setup.memory, seen(record)) == (kept[arm].name, kept[arm].digest)
        assert not record.setup.learning.on
    assert [many(kept[arm["name"]]) for arm in ARMS[:2]] == [len(TRAINED)] * 2, "each began with nothing learned"
    assert kept["one judge"].digest == before.digest
    found = house.experiments.results(name)
    curve = [(one.arm, one.label, one.cells) for one in found.breakdown("learning", found.measures[0]).points]
    known = [(arm["name"], label, 1) for arm in ARMS[:2] for label in ("0", "1")]
    assert curve == known, "each case of the training by how many were learned from before"
    assert {row.row for row in found.rows} == {*TESTED}, "and no such case is in the table"


def memories(house: Courthouse, name: str) -> str:
    """How the names of an experiment's memories begin."""
    return f"learning-{house.experiments.store.experiment(name).experiment.digest[:8]}-"


def test_an_expert_is_taught_from_no_tested_case(after: Courthouse) -> None:
    ((_, source),) = after.teaching
    assert sorted(draft.case.id for draft in after.read(source)) == sorted((*TRAINED, "criminal-well-poison"))
    assert after.read(source, teacher="another/model") == ()


def test_arms_learn_from_another_dataset_where_the_file_names_one(house: Courthouse) -> None:
    """Its version is pinned, its rows may have the ids of tested ones, and it can't be deleted meanwhile."""
    case = house.library.case(TRAINED[0])
    house.datasets.add("earlier", [Row(id=TESTED[0], case=case, split="train")])
    elsewhere = spec(arms=[ARMS[0]], knowledge={"train": "train", "dataset": "earlier"})
    assert house.experiments.estimate(elsewhere).training == 1
    name = run_to_the_end(house, elsewhere)
    kept = house.experiments.store.experiment(name).experiment
    assert kept.knowledge.version == house.datasets.info("earlier").version
    assert [row.case.title for row in house.experiments.rows(name, "train")] == [case.title]
    assert house.experiments.resting_on("earlier") == [name]
    assert adapted(kept, dataset="benches").knowledge == kept.knowledge


def test_killed_in_training_an_arm_learns_the_same(home: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    found = []
    for folder, kills in (("broken", (4, 9)), ("whole", ())):
        monkeypatch.setenv("COURTROOM_HOME", str(shutil.copytree(home, tmp_path / folder)))
        house = Courthouse()
        before = memory(house).digest
        house.close()
        name, house = killed(spec(arms=list(ARMS[:1])), kills)
        (record,) = runs_of(house, name).values()
        found.append((record.setup.memory, house.knowledge.snapshots.named(record.setup.memory).digest))
        assert memory(house).digest == before
        house.close()
    assert found[0] == found[1]


class Together:
    """Gives no answer before two are asked for at once."""

    def __init__(self, house: Courthouse) -> None:
        self._pool, self._asked, self._both = house.pool, 0, asyncio.Event()

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        self._asked += 1
        if self._asked == 2:
            self._both.set()
        await asyncio.wait_for(self._both.wait(), 60)
        return await self._pool.answer(request, watch)


def test_arms_learn_at_the_same_time_each_a_memory_of_its_own(house: Courthouse) -> None:
    """A hearing begins with one question: the second one is of another arm."""
    before = memory(house)
    answered_by(house, Together(house))
    arms = [{**ARMS[0], "name": name, "seed": seed} for name, seed in (("one", 0), ("other", 7))]
    runs = runs_of(house, run_to_the_end(house, spec(arms=arms, name="together")))
    kept = [house.knowledge.snapshots.named(record.setup.memory) for record in runs.values()]
    assert [many(one) for one in kept] == [len(TRAINED)] * 2
    assert [seen(record) for record in runs.values()] == [one.digest for one in kept]
    assert memory(house).digest == before.digest
    assert house.knowledge.bases() == ("bundled",), "a memory is no knowledge base"


class Silent:
    """Says nothing that can be read of one case."""

    def __init__(self, house: Courthouse, case: str) -> None:
        self._pool, self._facts = house.pool, house.library.case(case).facts

    async def answer(self, request: Request, watch: Watch | None = None) -> Reply:
        return Reply(text="no") if self._facts in text_of(request) else await self._pool.answer(request, watch)


def test_a_training_goes_on_without_a_case_that_is_not_answered(house: Courthouse) -> None:
    answered_by(house, Silent(house, TRAINED[0]))
    name = run_to_the_end(house, spec(arms=[ARMS[0]], knowledge={"train": "train", "leave_out": 0.5}))
    found = house.experiments.results(name)
    assert [row.state for row in found.trained] == ["failed", "done"]
    assert "learns: 1 of 2 cases that it was to learn from could not be answered and were left out." in found.notes
    (tested,) = runs_of(house, name).values()
    assert many(house.knowledge.snapshots.named(tested.setup.memory)) == 1
    assert house.experiments.try_again(name) == 0, "what came after would have learned otherwise"


@pytest.mark.parametrize(
    ("given", "why"),
    [
        ({"arms": [ARMS[2]]}, "No arm learns."),
        ({"knowledge": {"train": "nothing"}}, "no split “nothing”"),
        ({"arms": [ARMS[0], {**ARMS[2], "memory_of": "one judge"}]}, "“one judge”, whose memory .* does not learn"),
        ({"dataset": {"name": "benches"}}, "2 cases are both trained on and tested"),
    ],
)
def test_what_can_t_be_learned_from_is_refused(house: Courthouse, given: dict[str, Any], why: str) -> None:
    with pytest.raises(CourtroomError, match=why):
        house.experiments.begin(spec(**given))
    assert house.experiments.store.experiments() == []
    allowed = {"train": "train", "test_on_trained": True}  # unless that is asked for
    name = house.experiments.begin(spec(dataset={"name": "benches"}, knowledge=allowed))
    assert len(house.experiments.rows(name)) == 3 * len(ARMS)


def test_arms_may_learn_from_a_part_of_a_split(house: Courthouse) -> None:
    whole = [cell.row for cell in planned_by(house, {"train": "train"})]
    first = [cell.row for cell in planned_by(house, {"train": "train", "limit": 1})]
    one = {"train": "train", "sample": 1}
    drawn = {tuple(cell.row for cell in planned_by(house, {**one, "seed": n})) for n in range(9)}
    assert len(first) < len(whole)
    assert first == whole[:1]
    assert drawn == {(name,) for name in whole}, "another seed may draw another case"
    assert spec(knowledge={"train": "train", "limit": 1}).digest != spec().digest


def planned_by(house: Courthouse, rules: dict[str, Any]) -> list[Cell]:
    """The cells in which the first arm that learns does so."""
    every = Plan.of(spec(knowledge=rules), house).cells()
    return [cell for cell in every if cell.phase == "train" and cell.arm == 0]


def test_a_deleted_experiment_takes_its_own_memories_along(after: Courthouse) -> None:
    house = after
    (name,) = (one.id for one in house.experiments.store.experiments())
    before, begin = memory(house), memories(house, name)
    kept = {one.name for one in house.knowledge.snapshots.all()} - {"empty"}
    assert kept == {f"{begin}{what}" for what in ("before", "arm-1", "arm-2")}
    setup = VerdictSetup(memory=f"{begin}arm-2")
    house.new_run("verdict", house.library.case("criminal-well-poison"), setup, 0)
    other = [{**ARMS[0], "set": {"memory": f"{begin}before"}}]
    house.experiments.begin(spec(name="other", knowledge={}, arms=other))
    house.experiments.delete(name)
    left = {one.name for one in house.knowledge.snapshots.all()} - {"empty"}
    assert left == {f"{begin}before", f"{begin}arm-2"}, "a run and an experiment name them"
    assert memory(house).digest == before.digest
