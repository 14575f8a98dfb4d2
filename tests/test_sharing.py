"""Whose things are and who sees them: every rule as a table, lists and single reads, links that expire, the log of actions."""

from collections.abc import Callable
from functools import partial
from types import SimpleNamespace

import pytest

from courtroom import CaseError, Courthouse, CourtroomError, sharing
from courtroom.access import NOBODY, Access, Account, Forbidden, Resource, Visibility, acts, nobody
from courtroom.cases.files import Package, read_folder
from courtroom.datasets.row import Row
from courtroom.engine.errors import NoSuchRun
from courtroom.evaluation.run_list import RunFilter, RunList
from courtroom.experiments.plan import finished
from courtroom.experiments.spec import Experiment
from courtroom.experiments.store import NoSuchExperiment
from courtroom.procedures.cyberjurors.setup import CyberJurorsSetup
from courtroom.questions.marks import Mark
from courtroom.settings import DATA
from courtroom.sharing import DAY, HOUR, ActionFilter, ActionLog, Links, NoSuchLink
from tests.driving import drive, shell
from tests.full_store import kept_what_if

ADA = Account(id="ada", name="Ada", access=Access.RUN)
BO = Account(id="bo", name="Bo", access=Access.RUN)
LOOKS = Account(id="lo", name="Lo", access=Access.LOOK)
OWNER = Account(id="own", name="Owen", access=Access.OWN)
STRANGER = Account(id="new", name="Stranger")
"""Signed in, and nobody has given them access yet."""
SMALL = CyberJurorsSetup(jury_size=3, rounds=1)


def run_of(house: Courthouse, person: Account | None = ADA, case: str = "oak-table") -> str:
    with acts(person):
        return house.new_run("cyberjurors", house.library.case(case), SMALL, 0)


def package(title: str = "My table") -> Package:
    found = read_folder(DATA / "cases" / "oak-table")
    return Package(found.case.model_copy(update={"id": "mine", "title": title}), found.files)


def add_dataset(house: Courthouse, name: str) -> None:
    """Of one case, by the person who acts."""
    house.datasets.add(name, [Row(id="oak-table", case=house.library.case("oak-table"))])


def experiment_of(house: Courthouse, person: Account | None, name: str = "ours") -> str:
    arm = {"name": "three jurors", "procedure": "cyberjurors", "set": {"jury_size": 3, "rounds": 1}}
    with acts(person):
        if not any(one.name == name for one in house.datasets.newest()):
            add_dataset(house, name)
        spec = {"name": name, "dataset": {"name": name}, "arms": [arm]}
        return house.experiments.begin(Experiment.model_validate(spec))


def what_if_of(house: Courthouse, base: str, person: Account | None) -> str:
    with acts(person):
        return kept_what_if(house, base, (2,), person.id if person else "what-if")


def shown(house: Courthouse, person: Account, kind: str, name: str, visibility: Visibility) -> None:
    """Have somebody say who sees a thing."""
    with acts(person):
        sharing.share(house.database, Resource(kind=kind, id=name), visibility)


def refused(person: Account, kind: type[CourtroomError], *tried: Callable[[], object], why: str | None = None) -> None:
    """Each of these is refused to somebody."""
    for one in tried:
        with acts(person), pytest.raises(kind, match=why):
            one()


@pytest.fixture
def either(either_database: str, house: Courthouse) -> Courthouse:
    """One on SQLite, and one on PostgreSQL."""
    return house


RULES: dict[tuple[str, Visibility | None], tuple[str, str]] = {
    # who made it, and who sees it besides: those who see it, and those who change it,
    # of ada, bo, lo (looks), own, new (no access), and "-" (nobody)
    ("ada", "private"): ("ada own", "ada own"),
    ("ada", "shared"): ("ada bo lo own", "ada own"),
    ("ada", "public"): ("ada bo lo own new -", "ada own"),
    ("own", "private"): ("own", "own"),
    ("", None): ("ada bo lo own", "own"),
}
EVERYBODY = {"ada": ADA, "bo": BO, "lo": LOOKS, "own": OWNER, "new": STRANGER, "-": NOBODY}


@pytest.mark.parametrize("kind", ["run", "case", "experiment", "dataset"])
def test_the_rules_as_a_table(either: Courthouse, kind: str) -> None:
    database = either.database
    for number, ((maker, visibility), rule) in enumerate(RULES.items()):
        thing = Resource(kind=kind, id=run_of(either, None) if kind == "run" and not maker else f"thing-{number}")
        if maker:
            with acts(EVERYBODY[maker]):
                sharing.take(database, thing)
                assert visibility is not None
                sharing.share(database, thing, visibility)
        sees, changes, lists = [], [], []
        for name, person in EVERYBODY.items():
            with acts(person):
                sees += [name] * sharing.may_see(database, thing)
                changes += [name] * sharing.may_change(database, thing)
                fits, values = sharing.listed(kind, "here.id")
                found = database.connection.execute(
                    f"SELECT id FROM (SELECT :name AS id) AS here WHERE {fits}", {**values, "name": thing.id}
                )
                lists += [name] * bool(found.fetchall())
        assert (" ".join(sees), " ".join(changes)) == rule, (maker, visibility)
        in_lists = [name for name in sees if name not in ("new", "-")]  # what is public has to be addressed
        assert lists == in_lists, (maker, visibility)
        with acts(OWNER):
            sharing.share(database, thing, "private")
        with acts(BO):
            assert not sharing.may_see(database, thing), "also what nobody owned before"


def test_things_belong_to_nobody_without_sign_in(house: Courthouse) -> None:
    run = run_of(house, None)
    assert house.store.run(run).id == run
    house.store.delete(run)
    for table in ("ownership", "actions", "links"):
        assert not house.database.connection.execute(f"SELECT 1 FROM {table}").fetchall()
    private, shared = run_of(house, ADA), run_of(house, ADA.model_copy(update={"makes": "shared"}))
    with acts(BO):
        assert [row.id for row in house.store.each()] == [shared]
    refused(BO, NoSuchRun, lambda: house.store.run(private))


def test_nobody_sees_a_deleted_run_nor_own_things_without_access(house: Courthouse) -> None:
    run = Resource(kind="run", id=run_of(house, None))
    with acts(LOOKS):
        assert sharing.may_see(house.database, run)
    house.store.delete(run.id)
    with acts(LOOKS):
        assert not sharing.may_see(house.database, run)
    own = Resource(kind="run", id=run_of(house, ADA))
    for access in (Access.NONE, Access.LOOK):
        with acts(ADA.model_copy(update={"access": access})):
            assert sharing.may_see(house.database, own) == (access is Access.LOOK)
            assert not sharing.may_change(house.database, own)


def test_a_private_run_is_as_if_it_were_not_there(either: Courthouse) -> None:
    run, listed_runs = run_of(either), RunList(either.database)
    marked = Mark(reviewer="Ada", star=True, tags=("odd",))
    with acts(ADA):
        either.marks.put(run, marked)
        assert [listed_runs.count(RunFilter(whose=whose)) for whose in ("", "mine", "others")] == [1, 1, 0]
    store, marks, everything = either.store, either.marks, RunFilter()
    reads: list[Callable[[str], object]] = [
        *(store.run, either.record, either.files.export, either.runner.go, either.runner.stop, store.delete),
        lambda name: store.setup(name, CyberJurorsSetup),
        lambda name: either.fork(name, SMALL),
        lambda name: finished(name, either),
    ]
    with acts(BO):
        for read in reads:
            with pytest.raises(NoSuchRun) as unseen:
                read(run)
            with pytest.raises(NoSuchRun) as missing:
                read("nope")
            assert str(unseen.value).replace(run, "nope") == str(missing.value), read
        for part in (store.events, lambda name: marks.put(name, marked)):
            with pytest.raises(NoSuchRun):
                part(run)
        assert (store.status(run), store.pulse(run)) == (store.status("nope"), store.pulse("nope"))
        left = [
            *([*store.each()], store.kin(run), store.interventions.of(run), either.asides.of(run)),
            *(marks.of(run), marks.tags(), marks.reviewers(), listed_runs.named([run])),
            *(listed_runs.count(everything), listed_runs.page(everything, 0, 9), listed_runs.newest(everything, 9)),
            listed_runs.what_is_wanted(RunFilter(case="oak-table")),
        ]
        assert not any(left), left
    with acts(OWNER):
        assert either.record(run).run.id == run
        assert [line.id for line in listed_runs.named([run])] == [run]


def test_others_read_a_shared_run_and_fork_it(house: Courthouse) -> None:
    run = run_of(house)
    shown(house, ADA, "run", run, "shared")
    links, its = Links(house.database), Resource(kind="run", id=run)
    with acts(ADA):
        token = links.make(its, DAY)
        (link,) = links.of(its)
    with acts(BO):
        assert house.record(run).run.id == run
        assert RunList(house.database).count(RunFilter(whose="others")) == 1
        house.marks.put(run, Mark(reviewer="Ada", star=True))
        assert [mark.reviewer for mark in house.marks.of(run)] == [BO.signature], "each marks under the own name"
        fork = house.fork(run, SMALL)
        assert sharing.may_change(house.database, Resource(kind="run", id=fork))
    refused(BO, Forbidden, lambda: sharing.share(house.database, its, "public"))
    refused(BO, Forbidden, lambda: links.make(its, HOUR), lambda: links.end(link))
    assert links.opened(token) == its
    refused(ADA, NoSuchRun, lambda: house.store.run(fork))


def test_what_the_shell_makes_of_a_private_run_stays_private(house: Courthouse) -> None:
    run = run_of(house)
    fork = house.fork(run, SMALL)
    what_if = what_if_of(house, run, None)
    with acts(BO):
        assert not [*house.store.each()]
    refused(BO, NoSuchExperiment, lambda: house.experiments.store.experiment(what_if))
    with acts(ADA):
        assert {row.id for row in house.store.each()} == {run, fork}


def test_an_imported_run_is_its_importers(house: Courthouse) -> None:
    run = drive(house, run_of(house, None))
    name, content = house.files.export(run)
    assert name == f"{run}.json"
    house.store.delete(run)
    taken = {}
    for person, other in ((ADA, BO), (BO, ADA)):
        with acts(person):
            taken[person.id] = house.files.take_in(content.encode())
        refused(other, NoSuchRun, lambda run=taken[person.id]: house.store.run(run))  # type: ignore[misc]
        refused(person, CourtroomError, lambda: house.files.take_in(content.encode()), why="is here already")
    assert len({run, *taken.values()}) == 3


def test_runs_of_an_experiment_follow_it(house: Courthouse) -> None:
    name = experiment_of(house, ADA)
    (cell,) = house.experiments.store.cells(name)
    house.new_run("cyberjurors", house.library.case("oak-table"), SMALL, 0, run=cell.run)  # as the engine makes it
    with acts(BO):
        assert not house.experiments.store.experiments()
        assert not RunList(house.database).page(RunFilter(), 0, 9)
    refused(BO, NoSuchExperiment, lambda: house.experiments.results(name))
    refused(BO, NoSuchRun, lambda: house.record(cell.run))
    refused(BO, CourtroomError, lambda: house.datasets.info("ours"), why="There is no dataset")
    with acts(NOBODY.model_copy(update={"opened": frozenset({Resource(kind="experiment", id=name)})})):  # by a link
        assert house.experiments.results(name).rows
        assert house.record(cell.run).run.id == cell.run
    with acts(ADA):
        assert sharing.may_change(house.database, Resource(kind="run", id=cell.run))
        sharing.share(house.database, Resource(kind="experiment", id=name), "shared")
    with acts(BO):
        assert house.record(cell.run).run.id == cell.run
        assert [row.case.id for row in house.experiments.results(name).rows] == ["oak-table"], "its dataset is private"
        assert not house.datasets.newest()
    refused(BO, Forbidden, lambda: house.runner.go(cell.run))
    shown(house, ADA, "experiment", name, "private")
    refused(BO, NoSuchRun, lambda: house.record(cell.run))


def test_a_what_if_follows_its_run(house: Courthouse) -> None:
    base = run_of(house)
    shown(house, ADA, "run", base, "shared")
    what_if = what_if_of(house, base, BO)
    of_ada = what_if_of(house, base, ADA)
    assert what_if != of_ada, "nobody can go on with another's"
    variant = list(house.experiments.store.cells(what_if))[1].run
    house.fork(base, SMALL, run=variant)
    with acts(LOOKS):
        assert {one.id for one in house.experiments.store.experiments()} == {what_if, of_ada}
        assert house.store.run(variant)
    refused(ADA, Forbidden, lambda: house.experiments.pause(what_if))
    shown(house, ADA, "run", base, "private")
    with acts(LOOKS):
        assert not house.experiments.store.experiments()
    refused(LOOKS, NoSuchExperiment, lambda: house.experiments.store.experiment(what_if))
    refused(LOOKS, NoSuchRun, lambda: house.store.run(variant))
    with acts(BO):
        assert sharing.may_change(house.database, Resource(kind="run", id=variant))


def test_a_private_case_is_as_if_it_were_not_there(house: Courthouse) -> None:
    library = house.library
    with acts(ADA):
        mine = library.add(package())
        assert sharing.owned(house.database, Resource(kind="case", id="mine")).account == ADA.id
    for read in (library.case, library.delete):
        refused(BO, CaseError, partial(read, "mine"), why="There is no case “mine”")
    refused(BO, CaseError, lambda: library.linked(library.name_in_link(mine)), why="not in this install")
    with acts(BO):
        assert "mine" not in {one.id for one in library.cases()}
        same = library.add(package())
        assert same.id == "mine-2", "the very same case of another person is not given away"
        assert library.case("mine-2").title == "My table"
    shown(house, ADA, "case", "mine", "shared")
    with acts(BO):
        assert library.case("mine")


def test_a_deleted_cases_id_brings_no_owner_along(house: Courthouse) -> None:
    links = Links(house.database)
    with acts(ADA):
        house.library.add(package())
        token = links.make(Resource(kind="case", id="mine"), DAY)
        gone = house.library.delete("mine")
    with acts(BO):
        house.library.add(package("Bo's table"))
    refused(ADA, NoSuchLink, lambda: links.opened(token))
    refused(ADA, CaseError, lambda: house.library.case("mine"))
    with acts(ADA):
        assert house.library.restore(gone).id == "mine-2"
        owners = [sharing.owned(house.database, Resource(kind="case", id=name)) for name in ("mine", "mine-2")]
        assert [owner.account for owner in owners] == [BO.id, ADA.id]


def test_datasets_are_their_makers(house: Courthouse) -> None:
    with acts(ADA):
        add_dataset(house, "ours")
    with acts(BO):
        assert not house.datasets.newest()
        assert not house.datasets.versions("ours")
    refused(BO, CourtroomError, lambda: next(house.datasets.rows("ours")), why="There is no dataset")
    refused(BO, Forbidden, lambda: add_dataset(house, "ours"))
    with acts(ADA):
        house.datasets.split("ours", parts={"all": 1})
        house.datasets.delete("ours")
    with acts(BO):
        add_dataset(house, "ours")
        assert [one.name for one in house.datasets.newest()] == ["ours"]


def test_a_link_opens_one_thing_to_read_until_it_expires(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    run, other = run_of(house), run_of(house)
    now, its, links = [1000.0], Resource(kind="run", id=run), Links(house.database)
    monkeypatch.setattr("courtroom.sharing.time", SimpleNamespace(time=lambda: now[0]))
    with acts(ADA):
        token = links.make(its, HOUR)
        (link,) = links.of(its)
    rows = [tuple(row) for row in house.database.connection.execute("SELECT * FROM links")]
    assert token not in str(rows), "only its hash is kept"
    assert link.expires == 1000.0 + HOUR
    opened = NOBODY.model_copy(update={"opened": frozenset({links.opened(token)})})
    with acts(opened):
        assert house.record(run).run.id == run
        assert [row.id for row in house.store.each()] == [run]
    refused(opened, NoSuchRun, lambda: house.record(other))
    refused(opened, Forbidden, lambda: house.runner.go(run), lambda: links.make(its, HOUR))
    now[0] += HOUR - 1
    assert links.opened(token) == its
    now[0] += 1
    for gone in (token, "", "nothing"):
        with pytest.raises(NoSuchLink):
            links.opened(gone)
    refused(ADA, CourtroomError, lambda: links.make(its, 5 * DAY), why="an hour, a day")
    with acts(ADA):
        assert not links.of(its)


def test_owners_read_who_did_what(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    with acts(ADA):
        house.library.add(package("=1+1"))
    run = run_of(house, ADA, "mine")
    with acts(ADA):
        sharing.share(house.database, Resource(kind="run", id=run), "shared")
        token = Links(house.database).make(Resource(kind="run", id=run), HOUR)
        house.marks.put(run, Mark(reviewer="Ada", star=True))
    with acts(BO):
        fork = house.fork(run, SMALL)
        house.store.delete(fork)
    with acts(Account(id="new", name="=HYPERLINK()")):
        sharing.note(house.database, "sign-in")
    log = ActionLog(house.database)
    with acts(OWNER):
        assert [(one.name, one.action, one.kind, one.id) for one in reversed(log.page(ActionFilter()))] == [
            ("Ada", "make", "case", "mine"),
            ("Ada", "make", "run", run),
            ("Ada", "share", "run", run),
            ("Ada", "link", "run", run),
            ("Ada", "mark", "run", run),
            ("Bo", "fork", "run", fork),
            ("Bo", "delete", "run", fork),
            ("=HYPERLINK()", "sign-in", "", ""),
        ]
        assert [one.action for one in log.page(ActionFilter(account="bo"), start=1)] == ["fork"]
        assert log.count(ActionFilter(id=run)) == 4
        assert log.count(ActionFilter(action="link", kind="run")) == 1
        assert log.people() == {"ada": "Ada", "bo": "Bo", "new": "=HYPERLINK()"}
        text = log.csv(ActionFilter())
        assert text.splitlines()[0] == "time,account,name,action,kind,id,detail"
        assert len(text.splitlines()) == 9
        assert "'=HYPERLINK()" in text
        assert token not in text
    for person in (ADA, LOOKS, NOBODY):
        refused(person, Forbidden, lambda: log.page(ActionFilter()))
    monkeypatch.setattr("courtroom.access._finder", [nobody])  # as where a process begins
    assert shell("actions") == text.replace("\r\n", "\n")

    def fails() -> None:
        with house.store.together():
            run_of(house)
            raise RuntimeError

    with acts(OWNER):
        before = log.count(ActionFilter()), len([*house.store.each()])
        with pytest.raises(RuntimeError):
            fails()
        assert (log.count(ActionFilter()), len([*house.store.each()])) == before, "action and line are one"
