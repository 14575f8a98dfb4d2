"""A procedure in a package of its own, written from docs/write-a-procedure.md alone, and what its author gets wrong."""

import importlib
import sys
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path

import pytest

from courtroom import Record, Text, View
from courtroom.courthouse import Courthouse
from courtroom.engine.procedure import Procedure
from courtroom.engine.registration import RegistrationError, register
from courtroom.errors import CourtroomError
from courtroom.procedures import PROCEDURES, Procedures
from courtroom.procedures.cyberjurors.procedure import CYBERJURORS
from courtroom.report.page import as_html
from courtroom.settings import Settings
from courtroom.shell.procedures import check_package, lay_out, tried
from tests.driving import drive
from tests.test_registration import installed, shell

PACKAGE = Path(__file__).parent / "packages" / "mediation"
Hear = Callable[..., tuple[Courthouse, Record]]


@pytest.fixture
def mediation(monkeypatch: pytest.MonkeyPatch) -> Procedure:
    monkeypatch.syspath_prepend(PACKAGE)
    procedure: Procedure = importlib.import_module("mediation").PROCEDURE
    return procedure


@pytest.fixture
def hear(tmp_path: Path) -> Iterator[Hear]:
    houses = []

    def heard(procedure: Procedure, **values: object) -> tuple[Courthouse, Record]:
        house = Courthouse(Settings(home=tmp_path / "home"), alone=True, procedures=(procedure,))
        houses.append(house)
        setup = procedure.setup.model_validate(values)
        run = drive(house, house.new_run(procedure.name, house.library.case("phone-battery"), setup, 0))
        return house, house.record(run)

    yield heard
    for house in houses:
        house.close()


def with_code(procedure: Procedure, folder: Path, code: str) -> Procedure:
    """The procedure with another `deliberate`, in a file of its own."""
    path = folder / "changed_code.py"
    path.write_text(f"from courtroom import Verdict\n\n\nasync def deliberate(court):\n    {code}\n")
    namespace: dict[str, object] = {"__name__": "changed_code"}
    exec(compile(path.read_text(), str(path), "exec"), namespace)
    return replace(procedure, deliberate=namespace["deliberate"])  # type: ignore[arg-type]


@pytest.mark.parametrize(("rounds", "outcome"), [(4, "agreement"), (2, "deadlock")])
def test_mediation_ends_in_agreement_or_deadlock_and_its_view_shows_the_offers(
    mediation: Procedure, hear: Hear, rounds: int, outcome: str
) -> None:
    _, record = hear(mediation, rounds=rounds)
    assert record.run.verdict.outcome == outcome
    (table,) = mediation.views[0].drawn(record)[""]
    assert len(table.rows) == len(record.stages)
    assert all(isinstance(refund, int) for row in table.rows for refund in row[1:])


def test_an_outcome_may_be_a_text_and_is_compared_with_no_other_jury(
    mediation: Procedure, hear: Hear, tmp_path: Path
) -> None:
    _, record = hear(mediation)
    assert record.case.real_counts()
    assert mediation.real_counts(record.case) == {}
    assert CYBERJURORS.real_counts(record.case) == record.case.real_counts()
    _, record = hear(
        with_code(mediation, tmp_path, 'await court.stage("R", "round"); return Verdict(outcome="Put off until May")')
    )
    assert record.run.status == "done", record.run.reason


@pytest.mark.parametrize(
    ("code", "told"),
    [
        ('court.vote(court.member("buyer"), "".join(["y", "es"]))', "“yes” is no declared choice. Use one of agreement, deadlock, or add it."),
        ('court.vote(court.member("buyer"), "deadlock"); court.tally(["agreement"], 0)', "“deadlock” is voted for, but not counted here."),
        ('return Verdict(outcome="Agreement")', "in the verdict, `outcome` is “Agreement”. To decide for a declared choice, write its name, “agreement”."),
        ('return Verdict(outcome="agreement", counts={"yes": 2})', "in the verdict, `counts` has “yes”, which is no declared choice."),
    ],
)  # fmt: skip
def test_a_name_that_is_no_choice_stops_the_run_with_the_authors_file_and_line(
    mediation: Procedure, hear: Hear, tmp_path: Path, code: str, told: str
) -> None:
    _, record = hear(with_code(mediation, tmp_path, f'await court.stage("Round 1", "round"); {code}'))
    assert record.run.status == "failed"
    assert record.run.reason.startswith(f"{tmp_path / 'changed_code.py'}, line ")
    assert told in record.run.reason
    assert "server and keys" not in record.run.reason


def test_a_view_that_fails_is_named_with_its_line_and_the_report_is_written(mediation: Procedure, hear: Hear) -> None:
    def draw(record: Record) -> dict[str, tuple[Text, ...]]:
        return {"": (Text(record.run.verdict.details["missing"]),)}  # type: ignore[union-attr]

    broken = replace(mediation, views=(View("broken", "Broken", "", "", draw),))
    house, record = hear(broken)
    (told,) = broken.views[0].blocks(record)[""]
    assert told.body.startswith("The view “Broken” can't be drawn. ")
    assert f"{__file__}, line {draw.__code__.co_firstlineno + 1}: KeyError: 'missing'. Mend it there." in told.body
    page = as_html(record, broken, house.answers, house.media)
    assert "KeyError" in page


def test_the_check_finds_a_view_that_fails_and_a_part_that_no_prompt_shows(
    mediation: Procedure, tmp_path: Path
) -> None:
    failing = replace(mediation, views=(View("broken", "Broken", "", "", lambda record: {"": (record.stages[0],)}),))  # type: ignore[dict-item,return-value]
    with pytest.raises(
        CourtroomError, match=r"The view “Broken” can't be drawn\. .*test_stranger\.py, line \d+: IndexError"
    ):
        list(tried(failing, tmp_path / "one"))
    prompts = tmp_path / "prompts"
    prompts.mkdir()
    for path in mediation.prompts.iterdir():
        (prompts / path.name).write_text(path.read_text().replace("{{ earlier.reasons | quote }}", ""))
    silent = replace(mediation, prompts=prompts)
    with pytest.raises(CourtroomError, match=r"No prompt shows these inputs: move: moves\.reasons\. Show them"):
        list(tried(silent, tmp_path / "two"))


def test_the_check_of_a_package_hears_each_preset(capsys: pytest.CaptureFixture[str]) -> None:
    check_package(PACKAGE)
    assert capsys.readouterr().out == "Patient: agreement\nHurried: deadlock\nmediation: ok\n"


def test_a_new_procedure_passes_its_check_and_a_broken_one_is_named_with_file_and_line(tmp_path: Path) -> None:
    lay_out("new-judges", tmp_path)
    done = shell("procedures", "check", str(tmp_path), home=tmp_path / "home", more=tmp_path / "none")
    assert (done.returncode, done.stdout) == (0, "Careful: seller\nTrusting: seller\nnew-judges: ok\n"), done.stderr
    code = tmp_path / "new_judges" / "procedure.py"
    code.write_text(code.read_text() + "\n\nclass Open(\n")
    done = shell("procedures", "check", str(tmp_path), home=tmp_path / "home", more=tmp_path / "none")
    assert done.returncode == 2
    assert f"{code}, line " in done.stderr
    assert "SyntaxError: '(' was never closed" in done.stderr
    assert "Traceback" not in done.stderr
    installed(tmp_path, "new-judges")
    asked = shell("run", "phone-battery", "--procedure", "new-judges", home=tmp_path / "home", more=tmp_path)
    assert asked.returncode == 2
    assert asked.stderr.startswith("The procedure “new-judges” of new-judges 0.1.0 can't be used: ")
    assert f"{code}, line " in asked.stderr


def test_a_vote_in_the_code_for_an_undeclared_choice_is_told_at_registration(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    lay_out("vote-judges", tmp_path)
    code = tmp_path / "vote_judges" / "procedure.py"
    code.write_text(code.read_text().replace("court.vote(judge, decision.winner,", 'court.vote(judge, "byer",'))
    monkeypatch.syspath_prepend(tmp_path)
    procedure = importlib.import_module("vote_judges.procedure").PROCEDURE
    with pytest.raises(
        RegistrationError, match=r"line \d+: the choice “byer” is not declared\. Did you mean “buyer”\?"
    ):
        register((procedure,), PROCEDURES)
    for name in [name for name in sys.modules if name.startswith("vote_judges")]:
        del sys.modules[name]


def test_who_asks_for_a_procedure_that_is_not_there_is_told_why() -> None:
    procedures = Procedures(PROCEDURES, {"late": "The procedure “late” of late 1.0 can't be used: it is late."})
    with pytest.raises(CourtroomError, match="^The procedure “late” of late 1.0 can't be used: it is late.$"):
        procedures["late"]
    with pytest.raises(CourtroomError, match="There is no procedure “lat”. Known: .*debate.* it is late.$"):
        procedures["lat"]
    assert procedures.get("late") is None


def test_a_line_of_the_list_of_cases_is_no_case(tmp_path: Path) -> None:
    house = Courthouse(Settings(home=tmp_path), alone=True)
    try:
        with pytest.raises(CourtroomError, match=r"A run takes a case: `library\.case\(ID\)`"):
            house.new_run("debate", house.library.cases()[0], PROCEDURES["debate"].setup(), 0)  # type: ignore[arg-type]
    finally:
        house.close()
