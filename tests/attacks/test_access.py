"""Every page, and every method of every service, tried as nobody and in each role.

What is tried is found in the code. A new page is tried by itself; a new public method of a service fails here until it says what
access it needs, or it is listed below as one that changes nothing, is opened by a link, or is called by the engine alone.
"""

import ast
import inspect
from collections.abc import Callable, Iterator
from contextlib import nullcontext
from contextvars import Context
from functools import cached_property
from pathlib import Path
from typing import Any

import pytest

from courtroom.access import NOBODY, Access, Account, Forbidden, acts
from courtroom.courthouse import Courthouse
from courtroom.settings import Settings
from tests.pages import texts
from tests.signing_in import closed_house, person, visit

ROOT = Path(__file__).parents[2]
PAGES = sorted(path.stem for path in (ROOT / "pages").glob("*.py"))
BY_LINK = ["audience", "link", "seat"]
"""Pages that a link opens alone."""
FOR_OWNERS = ["people"]
FOR_ALL = [name for name in PAGES if name not in (*BY_LINK, *FOR_OWNERS)]

READS: dict[str, str] = {
    "AccountStore": "arrive budget spent",
    "AnswerStore": "entry of reply request text",
    "AsideStore": "audited interviews of samples",
    "AudienceStore": "arguments at choices counts liked_by likes of voters votes",
    "Audits": "of plan",
    "BesideStore": "of",
    "Collection": (
        "all changed changed_words closest count faults get names_under nearest page parse ready search texts_of "
        "unreadable vectors version"
    ),
    "Connections": "named",
    "Courthouse": "estimate family hearing price read record worth",
    "Datasets": (
        "blanks columns counts examples info list pending problems refused relevance row rows versions with_media"
    ),
    "ExperimentStore": "cells counts experiment experiments lines names_snapshot number page status took under_way",
    "Families": "ids leads_to root",
    "Imports": "run_job",
    "InterventionStore": "count of",
    "Interventions": "next_setup planned",
    "Knowledge": "answer bases kept_under of using",
    "LatestRecords": "of",
    "Experiments": "estimate resting_on results rows runs settled wait with_controls",
    "Lessons": "all of unreadable",
    "Limits": "slowed_to",
    "ModelPool": "slowed_to",
    "Library": "case cases is_sample linked mine name_in_link unreadable",
    "MarkStore": "all of one reviewers short tags",
    "MediaStore": "check frames image names path read",
    "Memory": "due graph recall",
    "PanelStore": "load names",
    "Payments": "found known_money of",
    "People": "questions waiting",
    "PrecedentBase": "all get",
    "MonthlyBudgets": "of payer",
    "Repeats": "found sentence",
    "Rewinding": "due overtaken plan",
    "RunFiles": "export",
    "RunStore": (
        "case control demand_seen each ended events has_runs is_there kin pulse retrieval run runs setup stages "
        "status steering together under_way"
    ),
    "Runner": "do drives interrupted live record settled trouble wait",
    "SetupStore": "load names",
    "Snapshots": "all frozen named",
    "WhatIfs": "experiment propose",
}
"""Methods that change nothing and cost nothing; who sees what is tried elsewhere. `Runner.do` does what others have begun."""

OPENED_BY_A_LINK: dict[str, str] = {
    "AudienceStore": "argue like vote",
    "People": "answer open",
}
"""Who has a link's token may do this without an account."""

ENGINE: dict[str, str] = {
    "AnswerStore": "claim keep release take_in",
    "AsideStore": "add take_in",
    "BesideStore": "take_in",
    "Capabilities": "context of sees",
    "Collection": "add close discard_indexes embed remove seed warm write",
    "Courthouse": "close",
    "Database": "close each execute row snapshot transaction",
    "DatasetImports": "close wait",
    "Datasets": "finished keep_counts",
    "LeaseHolder": "claim close lives release",
    "ExperimentStore": "conclude create set_status try_again",
    "Importer": "run unpack",
    "InterventionStore": "add put undo",
    "Knowledge": "close learn offer take_examples warm",
    "Experiments": "resume_interrupted",
    "Lease": "all_held beat claim held holder holds release",
    "LostDrivers": "forget note",
    "MarkStore": "take_in",
    "MediaStore": "set_aside take taking",
    "Limits": "limiter turn",
    "ModelPool": "answer close warm",
    "Payments": "put take_in",
    "People": "ask look person withdraw",
    "CachedEmbedding": "embed",
    "Rewinding": "ask_again rewind",
    "RunStore": "add add_wall create finish say set_control set_status take_in take_out",
    "Runner": "ask_beside close finish release resume_interrupted watch",
    "Writer": "close do end listen put settled",
}
"""No page calls these; what calls them has been asked what access it needs, or is the server itself."""

BEHIND: dict[str, str] = {
    "Courthouse": "new_run",
    "Knowledge": "restore snapshot",
}
"""Do nothing before they call a method that says what it needs; tried below with what they take."""


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


def guarded(house: Courthouse) -> list[tuple[str, Callable[..., Any], Access]]:
    return [
        (f"{at}.{name}", getattr(one, name), method.needs)  # type: ignore[attr-defined]
        for at, (kind, one) in services(house).items()
        for name, method in methods(kind).items()
        if hasattr(method, "needs")
    ]


def test_each_method_of_a_service_says_what_access_it_needs_or_why_none(house: Courthouse) -> None:
    unknown, gone = set(), []
    known = (READS, OPENED_BY_A_LINK, ENGINE, BEHIND)
    kinds = {kind.__name__: methods(kind) for kind, _ in services(house).values()}
    for kind, found in kinds.items():
        listed = [name for names in known for name in names.get(kind, "").split()]
        assert len(listed) == len(set(listed)), kind
        both_or_neither = [name for name, one in found.items() if hasattr(one, "needs") == (name in listed)]
        unknown |= {f"{kind}.{name}" for name in both_or_neither}
        gone += [f"{kind}.{name}" for name in listed if name not in found]
    assert not [*sorted(unknown), *gone], "say what access is needed, with `needs`, or list it in this file"
    assert {name for names in known for name in names} <= kinds.keys()


def test_nobody_does_by_a_service_what_the_role_forbids(house: Courthouse, people: dict[Access, Account]) -> None:
    found = guarded(house)
    assert len(found) > 60
    for _, method, needed in found:
        for account in (NOBODY, *(one for access, one in people.items() if access < needed)):
            with acts(account), pytest.raises(Forbidden):
                method()  # the access is asked for before anything else, even what it is called with
        with pytest.raises(Forbidden):
            Context().run(method)  # nobody said who acts


@pytest.mark.parametrize("alone", [True, False])
def test_only_a_courthouse_that_was_opened_for_one_alone_lets_everybody_do_everything(
    alone: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("courtroom.access._finder", [lambda: NOBODY])  # as when the process began
    house = Courthouse(Settings(home=tmp_path), alone=alone)
    with acts(None):
        house.setups.save("the server's", {})
    with nullcontext() if alone else pytest.raises(Forbidden):
        Context().run(house.setups.save, "mine", {})  # whoever tests is said to be the server, by another fixture
    assert ("mine" in house.setups.names()) == alone
    house.close()


def test_what_rests_on_the_guard_of_another_method_is_refused_as_well(
    house: Courthouse, people: dict[Access, Account]
) -> None:
    case = house.library.case("oak-table")
    setup = house.procedures["cyberjurors"].setup()
    house.knowledge.snapshot("kept")
    tried: dict[Access, list[Callable[[], object]]] = {
        Access.LOOK: [
            lambda: house.new_run("cyberjurors", case, setup, 0),
            lambda: house.knowledge.snapshot("mine"),
        ],
        Access.RUN: [lambda: house.knowledge.lessons.teach("", "x", None)],  # type: ignore[arg-type]
    }
    for most, what in tried.items():
        for account in (NOBODY, *(one for access, one in people.items() if access <= most)):
            for one in what:
                with acts(account), pytest.raises(Forbidden):
                    one()
    assert not house.store.has_runs()
    assert "mine" not in {one.name for one in house.knowledge.snapshots.all()}


def test_no_page_calls_what_is_the_engines_alone(house: Courthouse) -> None:
    engine = {at: ENGINE.get(kind.__name__, "").split() for at, (kind, _) in services(house).items()}
    called = [
        f"{path.relative_to(ROOT)}:{node.lineno}: {ast.unparse(node)}"
        for path in (ROOT / "app.py", *sorted((ROOT / "pages").rglob("*.py")))
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.Attribute)
        and node.attr in engine.get(ast.unparse(node.value).replace("live_audiences()", "house"), ())
    ]
    allowed = {"resume_interrupted"}  # when the courthouse is opened, for the server itself
    assert [one for one in called if one.rpartition(".")[2] not in allowed] == []


@pytest.mark.parametrize("name", FOR_ALL)
def test_who_has_not_signed_in_comes_to_no_page(name: str, house: Courthouse) -> None:
    app = visit("", name)
    assert not app.exception
    assert [button.label for button in app.button] == ["Sign in"]
    drawn = {kind for kind in ("selectbox", "text_input", "number_input", "toggle", "download_button") if app.get(kind)}
    assert not drawn


@pytest.mark.parametrize("name", BY_LINK)
def test_a_link_that_was_made_up_opens_nothing(name: str, house: Courthouse) -> None:
    app = visit("", **{name: "no-such-link"})
    assert not app.exception
    assert "leads to no" in texts(app)
    assert {button.key for button in app.button} == {"switch-language"}


@pytest.mark.parametrize("name", FOR_ALL)
@pytest.mark.parametrize("access", list(Access))
def test_each_role_sees_each_page_without_a_fault(
    access: Access, name: str, house: Courthouse, people: dict[Access, Account]
) -> None:
    app = visit(access.name.lower(), name)
    assert not app.exception, app.exception


@pytest.mark.parametrize("name", FOR_OWNERS)
def test_pages_for_owners_are_not_there_for_others(name: str, house: Courthouse, people: dict[Access, Account]) -> None:
    assert not visit("own", name).exception
    for who in ("", "none", "look", "run"):
        with pytest.raises(ValueError, match="Could not find"):
            visit(who, name)
