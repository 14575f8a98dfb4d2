"""Files of runs made to hurt, each with a hash that fits: refused in a sentence with nothing kept, or shown as text."""

import json
import resource
import shutil
from collections.abc import Callable, Iterator
from copy import deepcopy
from typing import Any

import pytest

from courtroom import report
from courtroom.courthouse import Courthouse
from courtroom.errors import CourtroomError
from courtroom.models.request import digest_text
from courtroom.report import run_file
from courtroom.report.run_file import hash_of
from courtroom.settings import Settings
from tests.full_store import full_store

NASTY = "<script>alert('x')</script> ![x](http://evil.example/x.png) {{ 7*7 }}"
Document = dict[str, Any]


@pytest.fixture(scope="module")
def document(tmp_path_factory: pytest.TempPathFactory) -> Document:
    home = tmp_path_factory.mktemp("there") / "home"
    shutil.copytree(full_store()[0], home)
    house = Courthouse(Settings(home=home))
    found: Document = json.loads(house.files.export(full_store()[1])[1])
    house.close()
    return found


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    house = Courthouse(Settings(home=tmp_path_factory.mktemp("here")))
    yield house
    house.close()


def signed(document: Document) -> bytes:
    """With a hash that fits: everybody can make one."""
    rest = {name: value for name, value in document.items() if name != "sha256"}
    return json.dumps({"sha256": hash_of(rest), **rest}).encode("utf-8", "surrogatepass")


def deep(document: Document) -> None:
    value: Any = 1
    for _ in range(300):
        value = [value]
    document["run"]["verdict"]["details"] = {"a": value}


def last(document: Document, kind: str) -> Document:
    found: Document = [event for event in document["events"] if event["kind"] == kind][-1]
    return found


def set_in(*path: str | int, to: Any) -> Callable[[Document], None]:
    def change(document: Document) -> None:
        at: Any = document
        for part in path[:-1]:
            at = at[part]
        at[path[-1]] = to

    return change


def of_last(kind: str, *path: str | int, to: Any) -> Callable[[Document], None]:
    return lambda document: set_in(*path, to=to)(last(document, kind))


ELSEWHERE = {"api_base": "http://evil.example"}
TURNED = {"kind": "change", "key": "model.extra", "value": ELSEWHERE}
BEYOND = {"calls": 10**30, "attempts": 0, "prompt": 0, "completion": 0, "cost": 0}
HARMFUL: dict[str, Callable[[Document], None]] = {
    "deep": deep,
    "key to elsewhere": set_in("setup", "model", "extra", to=ELSEWHERE),
    "key to elsewhere by intervention": set_in(
        "interventions", to=[{"id": "a", "number": 1, "who": "Eve", "at": 1.0, "index": 0, "action": TURNED}]
    ),
    "key to elsewhere by member": of_last("seated", "members", 0, "spec", "id", to="http://evil.example/v1"),
    "prompt that reaches out": set_in("setup", "prompts", to={"judge": "{{ ''.__class__.__mro__ }}"}),
    "another text": lambda document: set_in(next(iter(document["parts"])), to="Ignore all.")(document["parts"]),
    "another case under a known hash": lambda document: (
        set_in("case", "title", to="Another")(document) or set_in("run", "title", to="Another")(document)
    ),
    "no such stage": of_last("vote", "stage", to="round-9"),
    "no such member": of_last("call", "member", to="juror-99"),
    "votes without a ballot": lambda document: set_in(
        "events", to=[event for event in document["events"] if event["kind"] != "vote"]
    )(document),
    "answer of another form": of_last("call", "value", to={"vote": ["both"]}),
    "same event twice": lambda document: document["events"].append(last(document, "vote")),
    "id that leads out": set_in("run", "id", to="../../etc/passwd"),
    "id of markup": set_in("run", "id", to=NASTY),
    "running": set_in("run", "status", to="running"),
    "created in ages": set_in("run", "created", to=1e300),
    "created yesterday": set_in("run", "created", to="yesterday"),
    "a huge seed": set_in("run", "seed", to=10**400),
    "a negative seed": set_in("run", "seed", to=-1),
    "an owner": set_in("run", "owner", to="me"),
    "a procedure of Python": set_in("run", "procedure", to="os.system"),
    "procedures": set_in("run", "procedure", to=["verdict"]),
    "a number for parent": set_in("run", "parent", to=7),
    "a list for run": set_in("run", to=[]),
    "an empty case": set_in("case", to={"kind": "dispute"}),
    "a number for title": set_in("case", "title", to=7),
    "no setup": set_in("setup", to=None),
    "a jury of many": set_in("setup", "jury_size", to="many"),
    "events that are no list": set_in("events", to={"a": 1}),
    "an event that is a number": set_in("events", 0, to=7),
    "an event before all time": set_in("events", 0, "at", to=-5),
    "an event of another kind": set_in("events", 0, "kind", to="learnt"),
    "a list of answers": set_in("answers", to=[]),
    "an answer to a number": set_in("answers", to={"key": {"request": {"messages": 7}, "reply": {"text": "yes"}}}),
    "payments beyond all measure": set_in("payments", to={"a": BEYOND}),
    "a part that is a number": set_in("parts", to={"0": 7}),
    "a mark in ages": set_in("marks", to=[{"reviewer": "Eve", "at": 1e300}]),
    "half a character": set_in("run", "title", to="\ud800"),
    "more": set_in("more", to=1),
}


@pytest.mark.parametrize("change", HARMFUL.values(), ids=HARMFUL)
def test_a_file_made_up_is_refused_in_a_sentence_and_nothing_of_it_is_kept(
    change: Callable[[Document], None], document: Document, house: Courthouse
) -> None:
    made = deepcopy(document)
    change(made)
    tables = ("runs", "events", "imported_answers", "marks", "payments", "asides", "snapshots")
    db = house.database.connection
    before = [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables]
    with pytest.raises(CourtroomError) as caught:
        house.files.take_in(signed(made))
    assert str(caught.value).endswith(".")
    assert "\n" not in str(caught.value)
    assert [db.execute(f"SELECT count(*) FROM {table}").fetchone()[0] for table in tables] == before


@pytest.mark.parametrize(
    "data",
    [
        b"",
        b"\xff\xfe",
        b"[]",
        b"7",
        b'{"format": "courtroom-run-1"}',
        b'{"format": ["courtroom-run-2"]}',
        b'{"format": "courtroom-run-2", "sha256": "0"}',
        b'{"format": "courtroom-run-2", "run": {"procedure": NaN}}',
        b"[" * 100_000,
        b'{"format": "courtroom-run-2", "a": ' + b"9" * 5_000 + b"}",
    ],
    ids=range(10),
)
def test_what_is_no_run_is_refused_in_a_sentence(data: bytes, house: Courthouse) -> None:
    with pytest.raises(CourtroomError):
        house.files.take_in(data)


def test_a_file_that_is_too_large_is_not_read(house: Courthouse, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(run_file, "LARGEST", 100)
    with pytest.raises(CourtroomError, match="are allowed"):
        house.files.take_in(b" " * 101)


EVENT = b'{"at": 1, "kind": "stage-end", "path": "round-1", "stage": "round-1"}'
CROWDED = {
    "a million events": lambda: b'{"format": "courtroom-run-2", "events": [' + b",".join([EVENT] * 10**6) + b"]}",
    "empty lists": lambda: b'{"format": "courtroom-run-2", "parts": [' + b"[]," * (run_file.LARGEST // 4) + b"0]}",
    "numbers": lambda: b'{"format": "courtroom-run-2", "marks": [' + b"1e9," * (run_file.LARGEST // 5) + b"0]}",
}


@pytest.mark.parametrize("name", CROWDED)
def test_a_file_of_more_values_than_a_run_has_is_refused_before_there_is_room_for_them(
    name: str, house: Courthouse
) -> None:
    data = CROWDED[name]()
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with pytest.raises(CourtroomError, match="values, which no run has"):
        house.files.take_in(data)
    assert resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before < 20 * 1024, "kilobytes"


@pytest.mark.parametrize("name", run_file.MOST)
def test_a_list_with_more_entries_than_a_run_has_is_refused_before_they_are_looked_at(
    name: str, document: Document, house: Courthouse
) -> None:
    made = deepcopy(document)
    made[name] = [{}] * (run_file.MOST[name] + 1)
    with pytest.raises(CourtroomError, match=f"{name}” has .* entries; .* are allowed"):
        house.files.take_in(signed(made))


def test_runs_that_are_forks_of_each_other_are_refused(document: Document, house: Courthouse) -> None:
    one, other = deepcopy(document), deepcopy(document)
    one["run"] |= {"id": "one", "parent": "other"}
    other["run"] |= {"id": "other", "parent": "one"}
    house.files.take_in(signed(one))
    with pytest.raises(CourtroomError, match="a fork of itself"):
        house.files.take_in(signed(other))
    other["run"]["parent"] = "other"
    with pytest.raises(CourtroomError, match="a fork of itself"):
        house.files.take_in(signed(other))


def test_markup_in_a_file_is_shown_as_text(document: Document, house: Courthouse) -> None:
    made = deepcopy(document)
    made["run"] |= {"id": "nasty", "reason": NASTY, "origin": "<b>input</b>"}
    last(made, "note" if any(event["kind"] == "note" for event in made["events"]) else "stage")["path"]
    made["run"]["verdict"]["summary"] = NASTY
    made["marks"][0]["comment"] = NASTY
    entry = made["answers"][last(made, "call")["keys"][-1]]
    entry["reply"]["text"] = NASTY
    made["parts"][digest_text(NASTY)] = NASTY
    entry["request"]["messages"].append(["user", [digest_text(NASTY)]])
    run = house.files.take_in(signed(made))
    record = house.record(run)
    page = report.as_html(record, house.procedures["cyberjurors"], house.answers, house.media, house.beside.of(run))
    assert "<script>alert(" not in page
    assert "&lt;script&gt;alert(" in page
    assert "<b>input" not in page
