"""Every page and its address, and every method of every service, tried as nobody, in each role, and by another than whose a thing is.

What is tried is found in the code. A new public method of a service fails here until it says what access it needs, or is listed.
"""

import ast
import inspect
import tomllib
from collections.abc import Callable, Iterator
from contextlib import closing, nullcontext
from contextvars import Context
from functools import cached_property
from itertools import product
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from streamlit.testing.v1 import AppTest

from courtroom import Courthouse, CourtroomError, Settings
from courtroom.access import NOBODY, Access, Account, Forbidden, Resource, Visibility, acts, nobody
from courtroom.datasets.importing import Order
from courtroom.datasets.row import Row
from courtroom.engine.events import Called
from courtroom.engine.interventions import AddNote
from courtroom.engine.run import Control
from courtroom.experiments.hypotheses import Hypothesis
from courtroom.experiments.mirror import drafts
from courtroom.experiments.spec import Experiment
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.beside import ask_outside_runs
from courtroom.sharing import share
from tests.driving import hearing
from tests.pages import ROOT, texts
from tests.signing_in import closed_house, person, visit

PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
BY_LINK = ["audience", "link", "seat"]
"""Pages that a link opens alone."""
FOR_ALL = [name for name in PAGES if name not in (*BY_LINK, "people")]

KNOWN: dict[str, dict[str, str]] = tomllib.loads((ROOT / "tests/inputs/access.toml").read_text(encoding="utf-8"))
"""Public methods, by service, that need not say what access they need, by the reason."""


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    with pytest.MonkeyPatch.context() as patch, closed_house(tmp_path_factory.mktemp("access"), patch) as house:
        yield house


@pytest.fixture(scope="module")
def people(house: Courthouse) -> dict[Access, Account]:
    return {access: person(house, access.name.lower(), access) for access in Access}


def services(house: Courthouse) -> dict[str, tuple[type, object]]:
    """All that can be reached from a courthouse by public names: where it is, its class, and itself."""
    found: dict[str, tuple[type, object]] = {}

    def walk(at: str, one: object) -> None:
        kind = type(one)
        if not kind.__module__.startswith("courtroom") or kind.__module__ == "courtroom.settings":
            return
        if kind in {known for known, _ in found.values()} or not methods(kind):
            return
        found[at] = (kind, one)
        names = {name for name in vars(one) if not name.startswith("_")} if hasattr(one, "__dict__") else set()
        held = inspect.getmembers_static(kind, lambda what: isinstance(what, property | cached_property))
        names |= {name for name, _ in held if not name.startswith("_")}
        for name in sorted(names):
            walk(f"{at}.{name}", getattr(one, name))

    with acts(None):
        walk("house", house)
    return found


def methods(kind: type) -> dict[str, Callable[..., Any]]:
    return {
        name: getattr(kind, name)
        for parent in kind.__mro__
        for name, what in vars(parent).items()
        if parent.__module__.startswith("courtroom") and not name.startswith("_") and inspect.isfunction(what)
    }


def guarded(house: Courthouse) -> dict[str, Any]:
    """Each method that says what access it needs, by its class and its name."""
    return {
        f"{kind.__name__}.{name}": getattr(one, name)
        for kind, one in services(house).values()
        for name, method in methods(kind).items()
        if hasattr(method, "needs")
    }


def test_each_method_says_what_access_it_needs(house: Courthouse) -> None:
    wrong = []
    kinds = {kind.__name__: methods(kind) for kind, _ in services(house).values()}
    for kind, found in kinds.items():
        listed = [name for names in KNOWN.values() for name in names.get(kind, "").split()]
        assert len(listed) == len(set(listed)), kind
        wrong += [f"{kind}.{name}" for name, one in found.items() if hasattr(one, "needs") == (name in listed)]
        wrong += [f"{kind}.{name}" for name in listed if name not in found]
    assert not wrong, "say what access is needed, with `needs`, or list it in tests/inputs/access.toml"
    assert {name for names in KNOWN.values() for name in names} <= kinds.keys()


def test_nobody_does_by_a_service_what_the_role_forbids(house: Courthouse, people: dict[Access, Account]) -> None:
    found = guarded(house)
    assert len(found) > 60
    for method in (*found.values(), drafts, ask_outside_runs):
        for account in (NOBODY, *(one for access, one in people.items() if access < method.needs)):
            with acts(account), pytest.raises(Forbidden):
                method()  # the access is asked for before anything else, even what it is called with
        with pytest.raises(Forbidden):
            Context().run(method)  # nobody said who acts


@pytest.mark.parametrize("is_server", [True, False])
def test_only_a_server_refuses_who_is_unknown(is_server: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("courtroom.access._finder", [nobody])  # as when the process began
    house = Courthouse(Settings(home=tmp_path), is_server=is_server)
    with acts(None):
        house.setups.save("the server's", {})
    with pytest.raises(Forbidden) if is_server else nullcontext():
        Context().run(house.setups.save, "mine", {})  # whoever tests is said to be the server, by another fixture
    assert ("mine" in house.setups.names()) != is_server


def test_a_program_within_a_server_opens_it_to_nobody(house: Courthouse, tmp_path: Path) -> None:
    with closing(Courthouse(Settings(home=tmp_path))), pytest.raises(Forbidden):
        Context().run(house.setups.save, "mine", {})


def test_what_rests_on_the_guard_of_another_is_refused_too(house: Courthouse, people: dict[Access, Account]) -> None:
    case = house.library.case("oak-table")
    setup = house.procedures["cyberjurors"].setup()
    house.knowledge.snapshots.take("kept")
    tried: list[tuple[Access, Callable[[], object]]] = [
        (Access.LOOK, lambda: house.new_run("cyberjurors", case, setup, 0)),
        (Access.LOOK, lambda: house.ask("Who is right?")),
        (Access.LOOK, lambda: house.knowledge.snapshots.take("mine")),
        (Access.RUN, lambda: house.knowledge.lessons.teach("", "x", None)),  # type: ignore[arg-type]
    ]
    for most, method in tried:
        for account in (NOBODY, *(one for access, one in people.items() if access <= most)):
            with acts(account), pytest.raises(Forbidden):
                method()
    assert not any(house.store.each())
    assert "mine" not in {one.name for one in house.knowledge.snapshots.all()}


def test_no_page_calls_what_is_the_engines_alone(house: Courthouse) -> None:
    engine = {at: KNOWN["engine"].get(kind.__name__, "").split() for at, (kind, _) in services(house).items()}
    called = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in engine.get(ast.unparse(node.value).replace("live_audiences()", "house"), ())
    ]
    assert [one for one in called if not one.endswith(".resume_interrupted")] == []  # for the server, as it opens


def pages_of(who: str) -> Iterator[tuple[str, AppTest]]:
    """Each page for all, one after the other, as somebody sees it."""
    app = visit(who)
    for name in FOR_ALL:
        app.switch_page(f"pages/{name}.py").run()
        assert not app.exception, name
        yield name, app


def test_who_has_not_signed_in_comes_to_no_page(house: Courthouse) -> None:
    """And opens nothing by a link that was made up."""
    for name, app in pages_of(""):
        assert [button.label for button in app.button] == ["Sign in"], name
        for kind in ("selectbox", "text_input", "number_input", "toggle", "download_button"):
            assert not app.get(kind), name
    for name in BY_LINK:
        app = visit("", **{name: "no-such-link"})
        assert "leads to no" in texts(app)
        assert {button.key for button in app.button} == {"switch-language"}


@pytest.mark.parametrize("access", [Access.LOOK, Access.RUN])
def test_each_role_sees_each_page_without_a_fault(access: Access, people: dict[Access, Account]) -> None:
    assert [name for name, app in pages_of(access.name.lower()) if app.main.children] == FOR_ALL


def test_the_page_for_owners_is_not_there_for_others(people: dict[Access, Account]) -> None:
    visit("own", "people")
    for who in ("", "none", "look", "run"):
        with pytest.raises(ValueError, match="Could not find"):
            visit(who, "people")


ADDRESSES = {"cases": "case", "setup": "setup fork", "deliberation": "run at", "what_if": "experiment base"}
ADDRESSES |= {"knowledge": "part", "compare": "runs", "seat": "seat", "audience": "audience", "link": "link public"}
"""Pages, and what stands behind the question mark in their addresses."""


@pytest.fixture(scope="module")
def run(house: Courthouse) -> str:
    """A finished one."""
    return hearing(house, "cyberjurors", jury_size=2, rounds=1).run.id


@pytest.mark.parametrize("page", ADDRESSES)
def test_whatever_an_address_says_a_page_stands(page: str, run: str, people: dict[Access, Account]) -> None:
    app = visit("own", "" if page in ("cases", *BY_LINK) else page)
    wrong = ["a\0b", "../../../../etc/passwd", "x" * 200_000, ",".join([run] * 500)]
    no_setup = ["[" * 100_000, '{"setup": {"jury_size": 1e400, "model": {"extra": {"seed": 1e999}}}}']
    for field, text in product(ADDRESSES[page].split(), [*wrong, *(no_setup if page == "setup" else ())]):
        app.query_params.clear()
        app.query_params.update({"run": run, "at": text} if field == "at" else {field: text})
        app.run()
        assert not app.exception, text[:40]
        assert app.main.children


ANYBODYS = (
    "AccountStore Snapshots Lessons Imports PanelStore SetupStore RunFiles Library.add Library.restore "
    "Datasets.add Datasets.give_up DatasetImports.run DatasetImports.keep Experiments.begin ExperimentStore.delete "
    "RunStore.restore Courthouse.new_run Courthouse.take_in MarkStore.put MarkStore.add Capabilities.forget"
)
"""Make something new, or change what belongs to all, so that the access alone decides; or forget what `Experiments.delete` was allowed to."""
COUNTED = ("runs", "cases", "seats", "audiences", "interventions", "datasets", "experiments")


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
        for kind, which in (("run", run), ("case", name), ("experiment", experiment), ("dataset", name)):
            share(house.database, Resource(kind=kind, id=which), visibility)
    record = house.record(run)
    kept = house.experiments.store.experiment(experiment).experiment
    expected = Hypothesis(arm="three", than="three", measure="accuracy")
    call = Called.model_construct(path="x", stage="x", member="juror-01", keys=("k",))
    tried: dict[str, tuple[Any, ...]] = {
        **{f"Runner.{one}": (run,) for one in ("go", "step", "pause", "stop")},
        "Runner.run_to": (run, "vote"),
        "RunStore.changing": (run, "change"),
        **dict.fromkeys(("InterventionStore.demand_change", "RunStore.delete", "Repeats.go"), (run,)),
        "ExperimentStore.changing": (experiment, "change"),
        "Runner.set_breaks": (run, Control()),
        "RunStore.replace_setup": (run, setup),
        "Interventions.intervene": (run, AddNote(text="No.")),
        "Interventions.undo": (run, "x"),
        "Interviews.ask": (record, call, "Why?"),
        **{f"{one}.start": (SimpleNamespace(record=record, questions={}),) for one in ("Audits", "Checks")},
        "People.seat": (run, "juror-01"),
        **{f"AudienceStore.{one}": (run,) for one in ("open", "close", "empty")},
        "AudienceStore.show": (run, 1),
        "Library.delete": (name,),
        **{f"Datasets.{one}": (name,) for one in ("claim", "delete", "split")},
        "Datasets.draft": (name, "", "job"),
        "Datasets.without": (name, None, ["one"]),
        "DatasetImports.begin": (Order(name=name, source="x.jsonl"),),
        **{f"Experiments.{one}": (experiment,) for one in ("go", "try_again", "pause", "canary", "delete")},
        "Experiments.delete_dataset": (name,),
        "Experiments.lock": (kept.model_copy(update={"hypotheses": (expected,)}),),
        "ExperimentStore.replace": (kept.model_copy(update={"title": "Mine"}),),
        "Courthouse.fork": (run, setup),
    }
    named = guarded(house)
    assert {one for one in named if not {one, one.partition(".")[0]} & {*ANYBODYS.split()}} == tried.keys()
    before = state(house, run, name)
    for one, given in tried.items():
        if visibility == "shared" and one in ("Courthouse.fork", "Repeats.go"):
            continue  # a fork of what one may see is one's own
        resting = one == "Experiments.delete_dataset"  # its experiments are named before it is asked whose it is
        refused = Forbidden if visibility == "shared" and not resting else CourtroomError
        with acts(eve), pytest.raises(refused):
            named[one](*given)
    assert state(house, run, name) == before
