"""Who may run hearings tries to change what belongs to somebody else, by every method of every service that changes something."""

from collections.abc import Iterator
from types import SimpleNamespace
from typing import Any

import pytest

from courtroom.access import Access, Forbidden, Resource, Visibility, acts
from courtroom.courthouse import Courthouse
from courtroom.datasets.importing import Order
from courtroom.datasets.row import Row
from courtroom.engine.events import Called
from courtroom.engine.interventions import AddNote
from courtroom.engine.run import Control
from courtroom.errors import CourtroomError
from courtroom.experiments.hypotheses import Hypothesis
from courtroom.experiments.spec import Experiment
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.sharing import share
from tests.attacks.test_access import guarded, services
from tests.signing_in import closed_house, person

ANYBODYS = {
    *("AccountStore", "Snapshots", "Lessons", "PrecedentBase", "Imports", "PanelStore", "SetupStore", "RunFiles"),
    *(
        "Library.add",
        "Library.restore",
        "Datasets.add",
        "Datasets.give_up",
        "DatasetImports.run",
        "DatasetImports.keep",
    ),
    *("Experiments.begin", "RunStore.restore", "Courthouse.planned_run", "Courthouse.take_in"),
    *("ExperimentStore.delete", "MarkStore.put", "MarkStore.add"),
}
"""Make something new, or change what belongs to all, so that the access alone decides; or forget what `Experiments.delete` was allowed to."""
COUNTED = ("runs", "cases", "seats", "audiences", "interventions", "datasets", "experiments")


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    with pytest.MonkeyPatch.context() as patch, closed_house(tmp_path_factory.mktemp("others"), patch) as house:
        yield house


def state(house: Courthouse, run: str, case: str) -> list[object]:
    db = house.database.connection
    row = db.execute("SELECT status, control, setup FROM runs WHERE id = ?", (run,)).fetchone()
    body = db.execute("SELECT body FROM cases WHERE id = ?", (case,)).fetchone()
    counts = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in COUNTED]
    return [tuple(row), tuple(body), counts]


@pytest.mark.parametrize("visibility", ["private", "shared"])
def test_nothing_of_others_is_changed(visibility: Visibility, house: Courthouse) -> None:
    bea, eve = person(house, f"bea-{visibility}", Access.RUN), person(house, "eve", Access.RUN)
    name, setup = f"hers-{visibility}", CyberJurorsSetup(jury_size=3, rounds=1)
    with acts(bea):
        case = house.library.restore(house.library.case("oak-table").model_copy(update={"id": name}))
        run = house.new_run("cyberjurors", case, setup, 0)
        house.datasets.add(name, [Row(id=one, case=case) for one in ("one", "two")])
        arm = {"name": "three", "procedure": "cyberjurors", "set": {"jury_size": 3, "rounds": 1}}
        spec = Experiment.model_validate({"name": name, "dataset": {"name": name}, "arms": [arm]})
        experiment = house.experiments.begin(spec)
        hers = (("run", run), ("case", case.id), ("experiment", experiment), ("dataset", name))
        for kind, which in hers:
            share(house.database, Resource(kind=kind, id=which), visibility)
    record = house.record(run)
    kept = house.experiments.store.experiment(experiment).experiment
    expected = Hypothesis(arm="three", than="three", measure="accuracy")
    call = Called.model_construct(path="x", stage="x", member="juror-01", keys=("k",))
    tried: dict[str, tuple[Any, ...]] = {
        **{f"Runner.{one}": (run,) for one in ("go", "step", "pause", "stop")},
        "Runner.run_to": (run, "vote"),
        "RunStore.changing": (run, "change"),
        "AsideStore.changing": (run, "audit"),
        **dict.fromkeys(("InterventionStore.demand_change", "RunStore.delete", "Repeats.go"), (run,)),
        "ExperimentStore.changing": (experiment, "change"),
        "Runner.set_breaks": (run, Control()),
        "RunStore.replace_setup": (run, setup),
        "Interventions.intervene": (run, AddNote(text="No.")),
        "Interventions.undo": (run, "x"),
        "Interviews.ask": (record, call, "Why?"),
        "Audits.start": (SimpleNamespace(record=record, questions={}),),
        "People.seat": (run, "juror-01"),
        **{f"AudienceStore.{one}": (run,) for one in ("open", "close", "empty")},
        "AudienceStore.show": (run, 1),
        "Library.delete": (case.id,),
        "Library.replace": (case,),
        **{f"Datasets.{one}": (name,) for one in ("claim", "delete", "split")},
        "Datasets.draft": (name, "", "job"),
        "Datasets.without": (name, None, ["one"]),
        "DatasetImports.begin": (Order(name=name, source="x.jsonl"),),
        **{f"Experiments.{one}": (experiment,) for one in ("go", "try_again", "pause", "canary", "delete")},
        "Experiments.delete_dataset": (name,),
        "Experiments.lock": (kept.model_copy(update={"hypotheses": (expected,)}),),
        "ExperimentStore.replace": (kept.model_copy(update={"title": "Mine"}),),
        **{f"Courthouse.{one}": (run, setup) for one in ("fork", "planned_fork")},
    }
    named = {
        f"{kind.__name__}.{method.__name__}": method
        for kind, one in services(house).values()
        for _, method, _ in guarded(house)
        if getattr(method, "__self__", None) is one
    }
    left = {one for one in named if one not in ANYBODYS and one.partition(".")[0] not in ANYBODYS}
    left |= {"Interventions.intervene", "Interventions.undo"}  # made anew each time that it is asked for
    assert left == tried.keys()
    before, allowed = state(house, run, case.id), []
    for one, given in tried.items():
        if visibility == "shared" and one in ("Courthouse.fork", "Courthouse.planned_fork", "Repeats.go"):
            continue  # a fork of what one may see is one's own
        method = named.get(one) or getattr(house.interventions, one.partition(".")[2])
        try:
            with acts(eve):
                method(*given)
        except CourtroomError as refused:
            resting = one == "Experiments.delete_dataset"  # its experiments are named before it is asked whose it is
            if visibility == "shared" and not isinstance(refused, Forbidden) and not resting:
                allowed.append(f"{one}: {refused}")
        else:
            allowed.append(one)
    assert allowed == []
    assert state(house, run, case.id) == before
