"""What the documentation says is true: its commands run, its links lead somewhere, its examples work, and it leaves out no method of the court."""

import importlib
import json
import os
import re
import shlex
import shutil
import textwrap
from collections.abc import Iterator
from contextlib import closing
from itertools import pairwise
from pathlib import Path
from typing import Any, NamedTuple

import httpx
import pytest
import yaml
from typer.testing import CliRunner

from courtroom import Court, Courthouse, Procedure, Role, Settings, StageKind, Verdict
from courtroom.__main__ import app
from courtroom.accounts import AccountStore, Identity
from courtroom.panel.personas import sample_panel, write_csv
from courtroom.procedures import PROCEDURES
from courtroom.settings import VARIABLES
from courtroom.store.opening import open_store
from courtroom.upkeep import model_check
from tests import forks
from tests.app_server import HEALTH, free_port
from tests.docs import PAGES, PAPERS, ROOT, anchors, blocks, commands, links
from tests.driving import drive, until
from tests.driving import shell as run
from tests.furnished import copied
from tests.openai_server import OpenAIServer
from tests.real_model import MODEL, needs_packages

COMMANDS = list(dict.fromkeys(commands()))
TOUR = f"courtroom run phone-battery --procedure debate --model {MODEL}"
"""Run after the commands that stand before it: see tests/test_package.py."""
ONCE = {re.sub(r"^(?:[A-Z_]+=\S+ )+", "", command.text): command for command in COMMANDS if command.text != TOUR}
"""Each other command, without the variables that are set before it, with a place where it stands."""
NOT_RUN = {
    *("pip", "uv", "docker", "chroma", "dask", "litellm", "ruff"),
    *("mypy", "lint-imports", "pytest", "pre-commit", "source", "python3"),
}
"""Commands that install, or that the tests are run with: of these, only the files that they name or need are looked up."""
NEEDS = {"docker": "Dockerfile", "pip": "pyproject.toml", "pre-commit": ".pre-commit-config.yaml"}
ONLY_LOOKS = {"compare", "marks", "runs", "show", "datasets list", "datasets show", "experiment figure"}
ONLY_LOOKS |= {"experiment results", "experiment status", "knowledge bases", "knowledge lessons"}
"""Commands of `courtroom` that change nothing, and need no home of their own."""
FIRST, FEW = "data/experiments/first.toml", ("--sample", "12")
TRAINING = "courtroom.procedures.verdict.train"
"""Trains a large model; here only its arguments are read."""
PANEL = write_csv(sample_panel(3, 0))
CENSUS = "AGEP,OCC,PWGTP\n" + "".join(f"{20 + n},nurse,{n}\n" for n in range(40))


class Desk(NamedTuple):
    """A home with runs in it, from which each command starts anew."""

    home: Path
    hearing: str
    paused: str


@pytest.fixture(scope="module")
def desk(tmp_path_factory: pytest.TempPathFactory) -> Desk:
    """A home with a hearing that is done, one that is paused, and one from which VERDICT has learned."""
    home = copied(tmp_path_factory.mktemp("desk") / "home")
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("COURTROOM_HOME", str(home))
        hear = ["run", "phone-battery", "--set", "jury_size=5", "--set", "rounds=2", "--set", "consensus=1", "--json"]
        hearing = json.loads(run(*hear))["run"]
        paused = json.loads(run(*hear, "--until", "round 1"))["run"]
        run("run", "criminal-bus-wallet", "--procedure", "verdict", "--set", "learning.on=true")
        run("knowledge", "snapshot", "january")
        taken = {"mine": "tasks/message-feeling.json", "crimes": "criminal_precedents.jsonl"}
        taken |= {"verdictbench": "cases --split train", "cnndm1": "documents --split test"}
        for name, source in taken.items():
            run("datasets", "import", *f"{ROOT}/data/{source} --name {name}".split())
        run("datasets", "samples", "sample-question-answered")
        run("experiment", "run", str(ROOT / FIRST), *FEW)
        run("datasets", "samples", "sample-trials")
        run("experiment", "run", str(ROOT / "data" / "experiments" / "first-ballot-curve.toml"), "--repeats", "1")
        (home.parent / "neighbours.csv").write_text(PANEL)
        run("panels", "import", str(home.parent / "neighbours.csv"))
        (home.parent / "census.csv").write_text(CENSUS)
        run("panels", "import", str(home.parent / "census.csv"), "--column", "age=AGEP", "--column", "weight=PWGTP")
    database = open_store(home / "courtroom.sqlite")
    AccountStore(database).arrive(Identity(issuer="https://id.example", subject="1", email="ada@lab.example"))
    database.close()
    return Desk(home, hearing, paused)


@pytest.mark.parametrize("text", ONCE, ids=lambda text: re.sub(r"[^\w.=-]+", " ", str(ONCE[text]))[:99].strip())
def test_a_documented_command_runs(text: str, desk: Desk, tmp_path: Path, monkeypatch: Any, request: Any) -> None:
    """It runs; where it installs something, the files that it names are there."""
    monkeypatch.chdir(tmp_path)
    if MODEL in text:
        needs_packages()
    if "migrate" in text:
        monkeypatch.setenv("ADDRESS", request.getfixturevalue("postgres").fresh())
    words = shlex.split(text)
    if Path(words[0]).name in NOT_RUN:
        named = {word for word in re.split(r"[\s=,\"']+", text) if re.search(r"\w\.(txt|py|toml|lock)$", word)}
        named |= {NEEDS[word] for word in words if word in NEEDS}
        assert [name for name in named if not (name.startswith(".venv") or (ROOT / name).is_file())] == []
    elif words[:2] == ["courtroom", "app"]:
        under = next((f"/{after}" for word, after in pairwise(words) if word == "--server.baseUrlPath"), "")
        serves([*words[1:], "--server.headless", "true", "--server.port"], "GET", f"{under}{HEALTH}", 200, tmp_path)
    elif words[:2] == ["courtroom", "mcp"]:
        if "--port" in words:  # over standard input tests/test_programs.py asks
            serves(["mcp", "--port"], "POST", "/api/cases", 401, tmp_path)
    elif words[0] == "courtroom" or words[:3] == ["python", "-m", "courtroom"]:
        words = (words[1:] if words[0] == "courtroom" else words[3:]) or ["--help"]
        home = desk.home if ONLY_LOOKS & {words[0], " ".join(words[:2])} else tmp_path / "home"
        if home != desk.home:
            shutil.copytree(desk.home, home)
        monkeypatch.setenv("COURTROOM_HOME", str(home))
        shell(words, desk, tmp_path, monkeypatch)
    elif words[2] == TRAINING:
        importlib.import_module(TRAINING).parser().parse_args(words[3:])
    elif words[:2] == ["python", "-m"]:
        assert importlib.import_module(words[2]).main
    else:
        pytest.fail("nobody knows how to run this command; say it in tests/test_docs.py")


def serving(written: Path, *words: str) -> None:
    """A command that answers until it is killed, and what it writes into a file; to be forked."""
    with written.open("wb") as log:
        for number in (1, 2):
            os.dup2(log.fileno(), number)
    forks.shell(*words)


def serves(words: list[str], method: str, path: str, status: int, home: Path) -> None:
    """The command, with a port after it, comes to answer there with this status, and writes no traceback."""
    written, port = home / "written", free_port()

    def answers() -> bool:
        assert process.returncode is None, written.read_text()
        try:
            return httpx.request(method, f"http://localhost:{port}{path}", verify=False).status_code == status
        except httpx.TransportError:
            return False

    around = {**os.environ, "COURTROOM_HOME": str(home)}
    with forks.Fork(serving, written, *words, str(port), environment=around) as process:
        until(answers, "an answer")
    assert "Traceback" not in written.read_text()


def shell(words: list[str], desk: Desk, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Run `courtroom` with what its placeholders stand for."""
    (folder / "interventions.json").write_text(blocks("docs/steering.md", "json")[0])
    (folder / "neighbours.csv").write_text(PANEL)
    (folder / "census.csv").write_text(CENSUS)
    (folder / "data").symlink_to(ROOT / "data")
    stands_for = {"FOLDER": str(folder / "out"), "STEP": "1"}
    stands_for["embedding=local/longformer"] = "embedding=hashed-ngrams"  # the other needs weights
    if "FILE" in words:
        stands_for["FILE"] = str(given_file(words, folder))
    stands_for |= {"ADDRESS": os.environ.get("ADDRESS", ""), "EXPERIMENT": "first-ballot-curve"}
    stands_for["RUN"] = desk.paused if words[0] == "resume" else desk.hearing
    named = [stands_for.get(word, word) for word in words]
    if words[0] == "compare":
        named = ["compare", desk.hearing, desk.paused, *[word for word in words[1:] if word.startswith("-")]]
    if words[0] == "run" and not {"--procedure", "FILE"} & set(words) and "jury_size" not in " ".join(words):
        named += ["--set", "jury_size=3", "--set", "rounds=1"]
    if "--procedure" in words and words[0] in ("run", "ask") and "first_votes" not in " ".join(words):
        small = PROCEDURES[words[words.index("--procedure") + 1]].small
        knobs = {knob: value for knob, value in small.items() if type(value) is int and knob not in " ".join(words)}
        named += [word for knob, value in knobs.items() for word in ("--set", f"{knob}={value}")]
    if words[0] == "models" and MODEL in words:
        named[-1] = "100"  # tokens of its long prompt
        ask = model_check.trials
        short = {"max_tokens": 50}  # it rambles: what it says is of no interest here
        monkeypatch.setattr(model_check, "trials", lambda spec, *given: ask(spec.model_copy(update=short), *given))
    if FIRST in words:
        named += FEW
    if words[0] == "film":
        named += ["--seconds", "20"]
    if words[:2] == ["procedures", "check"]:
        run("new-procedure", "judges-of-the-docs", "--to", str(folder / "out"))
    if words[0] == "import":
        run("export", desk.hearing, "--to", "run.json")
        monkeypatch.setenv("COURTROOM_HOME", str(folder / "another"))
    if "--restore" in words:
        run("backup", "store.zip")
        monkeypatch.setenv("COURTROOM_HOME", str(folder / "new"))
    if words == ["migrate", "--to", "sqlite"]:
        run("migrate", "--to", stands_for["ADDRESS"])
        monkeypatch.setenv("COURTROOM_DATABASE", stands_for["ADDRESS"])
        (folder / "home" / "courtroom.sqlite").unlink()
    if words[:2] in (["experiment", "canary"], ["experiment", "inspect"]):
        with OpenAIServer(known_to=monkeypatch):
            run("experiment", "run", str(ROOT / FIRST), "--sample", "1", "--model", "openai/any")
            run(*named)
    elif words[0] == "doctor":
        run("knowledge", "search", "a quarrel", "--in", "standards")  # what was learned is indexed by a look-up
        told = CliRunner().invoke(app, named).stdout.splitlines()
        wrong = [line for line in told if line.startswith("WRONG")]
        assert told
        assert {line.split("\t")[1] for line in wrong} <= {"libraries"}, "tests may run without an install"
    elif "openai/NAME" not in words:
        run(*named)
    else:
        with OpenAIServer() as server:
            monkeypatch.setenv("OPENAI_API_BASE", server.url)
            monkeypatch.delenv("OPENAI_API_KEY", raising=False)
            run(*named, *(() if words[0] == "models" else ("--set", "model.vision=no")))
            assert server.calls > 0


def given_file(words: list[str], folder: Path) -> Path:
    """A file of one's own: a case, or a statute book."""
    for word, name, content in (
        ("ask", "report.txt", "The bridge carries 900 cars a day."),
        ("statutes", "book.jsonl", '{"number": 264, "text": "Who steals is punished.", "charges": ["theft"]}\n'),
        ("charges", "book.jsonl", '{"name": "theft", "articles": [264]}\n'),
        ("predictions", "given.csv", "case,model,prediction\nm-10,ours,joy\nm-11,ours,joy\n"),
        ("--rename", "given.csv", "Tweet,Feeling\nso good,joy\nso bad,fear\n"),
    ):
        if word in words:
            (folder / name).write_text(content)
            return folder / name
    shutil.copytree(ROOT / "data" / "cases" / "criminal-card-room", folder / "own")
    case = json.loads((folder / "own" / "case.json").read_text())
    (folder / "own.json").write_text(json.dumps({**case, "id": "own"}))
    return folder / "own.json"


PRINTS = {"install": "outcome=", "datasets": "\nmine ", "experiments": "\narm\n"}
PRINTS |= {"cases": "chat.txt: 12/03/2025, 14:05 - Anna"}


@pytest.mark.parametrize("page", PRINTS)
def test_a_documented_program_runs(page: str, desk: Desk, tmp_path: Path, monkeypatch: Any, capsys: Any) -> None:
    shutil.copytree(desk.home, tmp_path / "home")
    monkeypatch.setenv("COURTROOM_HOME", str(tmp_path / "home"))
    (program,) = blocks(f"docs/{page}.md", "python")
    exec(compile(program, page, "exec"), {})
    assert PRINTS[page] in f"\n{capsys.readouterr().out}"


def test_the_container_is_built_from_files_that_are_there() -> None:
    lines = (ROOT / "Dockerfile").read_text().splitlines()
    wanted = {word for line in lines if line.startswith("COPY") for word in line.split()[1:-1]}
    assert wanted > {"app.py", "courtroom", "pages", "data", ".streamlit", "requirements.lock"}
    assert all((ROOT / name).exists() for name in wanted)
    kept = {line[1:] for line in (ROOT / ".dockerignore").read_text().splitlines() if line.startswith("!")}
    assert kept == wanted


def test_what_the_page_on_writing_a_procedure_shows_is_there() -> None:
    """In the debate, or in a package."""
    packages = ("courtroom/procedures/debate", "tests/packages/mediation", "tests/packages/tender")
    folders = [ROOT / path for path in packages]
    files = [path.read_text() for folder in folders for path in (*folder.rglob("*.py"), *folder.rglob("prompts/*.j2"))]
    shown = [blocks("docs/write-a-procedure.md", language) for language in ("python", "jinja")]
    assert all(shown)
    assert [block for some in shown for block in some if not any(block in text for text in files)] == []


@pytest.mark.parametrize("page", [*PAGES, *PAPERS], ids=lambda page: str(page.relative_to(ROOT)))
def test_every_link_leads_somewhere_and_every_test_that_is_named_is_there(page: Path) -> None:
    named = set(re.findall(r"`(test_\w+)`", page.read_text(encoding="utf-8")))
    code = "\n".join(file.read_text(encoding="utf-8") for file in (ROOT / "tests").rglob("*.py")) if named else ""
    assert named <= set(re.findall(r"def (test_\w+)\(", code))
    for link in links(page):
        if link.startswith(("https://", "http://")):
            continue
        name, _, anchor = link.partition("#")
        target = (page.parent / name).resolve() if name else page
        assert target.exists(), f"{link}: there is no such file"
        assert ROOT in target.parents, f"{link} leads out of the project"
        assert not anchor or anchor in anchors(target), f"{link}: there is no such heading"


def test_every_command_and_variable_is_documented() -> None:
    told = {command.text.split()[1] for command in COMMANDS if command.text.startswith("courtroom ")}
    known = {one.name or (one.callback.__name__ if one.callback else "") for one in app.registered_commands}
    assert known | {group.name for group in app.registered_groups} <= told
    assert set(re.findall(r"`(COURTROOM_\w+)`", (ROOT / "docs" / "install.md").read_text())) == VARIABLES
    assert os.path.basename(Settings.model_fields["home"].default) == ".courtroom"
    methods = {name for heading in METHODS for name in heading.split(", ")}
    assert methods == {name for name in (*vars(Court), *Court.__annotations__) if not name.startswith("_")}


def test_every_service_is_checked_and_keeps_what_it_has_in_a_volume() -> None:
    compose = yaml.safe_load((ROOT / "compose.yaml").read_text())
    services = compose["services"]
    assert set(services) == {"app", "database", "chroma"}
    for service in services.values():
        assert service["healthcheck"]["test"][0] == "CMD"
        assert service["volumes"][0].split(":")[0] in compose["volumes"]
    waits = {one: wait["condition"] for one, wait in services["app"]["depends_on"].items()}
    assert waits == dict.fromkeys(("database", "chroma"), "service_healthy")
    assert services["app"]["ports"] == ["127.0.0.1:8501:8501"], "there are no accounts"
    assert all("ports" not in services[one] for one in ("database", "chroma")), "they ask for no person"
    (locked,) = re.findall(r"^chromadb==(\S+)$", (ROOT / "requirements.lock").read_text(), re.MULTILINE)
    assert services["chroma"]["image"] == f"chromadb/chroma:{locked}"
    assert services["app"]["environment"]["COURTROOM_HOME"] == services["app"]["volumes"][0].partition(":")[2]


COURT = "docs/court.md"
METHODS = dict(re.findall(r"(?ms)^### (.+?)\n.*?^```python\n(.*?)^```$", (ROOT / COURT).read_text(encoding="utf-8")))
"""What stands in a `deliberate`, by the methods that it shows."""


def module() -> dict[str, Any]:
    """All that the page defines."""
    names: dict[str, Any] = {}
    for block in blocks(COURT, "python"):
        if block not in METHODS.values():
            exec(compile(block, COURT, "exec", dont_inherit=True), names)
    return names


def procedure(prompts: Path) -> Procedure:
    """A procedure whose `deliberate` is the example whose number is the run's seed."""
    for block in blocks(COURT, "jinja"):
        name = re.match(r"\{# (\S+) #\}\n", block)
        assert name
        (prompts / name[1]).write_text(block[name.end() :])
    (prompts / "_system.md.j2").write_text("You advise. Write in {{ case.language | language }}.")
    names = module()
    end = "\nreturn {name: value for name, value in locals().items() if name != 'court'}\n"
    for number, step in enumerate(METHODS.values()):
        begin = "" if "court.stage" in step else 'await court.stage("Round 1", "round")\n'
        exec(f"async def example_{number}(court):\n" + textwrap.indent(begin + step + end, "    "), names)

    async def deliberate(court: Court[Any, Any]) -> Verdict:
        said = await names[f"example_{court.seed}"](court)
        return Verdict(outcome="The example ran", summary=", ".join(said))

    return Procedure(
        name="example",
        title="Example",
        summary="",
        paper="",
        case_kind="dispute",
        setup=names["AdviceSetup"],
        roles=(Role("adviser", "Adviser", "", votes=True), Role("chair", "Chair", "")),
        stages=(StageKind("round", "Round", ""),),
        choices=names["CHOICES"],
        tasks=(names["Advise"],),
        offline={names["Advise"]: names["advise"]},
        prompts=prompts,
        members=names["members"],
        looks_in=("precedents",),
        deliberate=deliberate,
        at_most=lambda case, setup: 99,
    )


@pytest.fixture(scope="module")
def examples(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Courthouse]:
    """A courthouse with the procedure of all examples."""
    (prompts := tmp_path_factory.mktemp("examples") / "prompts").mkdir()
    home = copied(prompts.with_name("home"))
    with closing(Courthouse(Settings(home=home), procedures=(procedure(prompts),))) as house:
        yield house


@pytest.mark.parametrize("seed", range(len(METHODS)), ids=list(METHODS))
def test_an_example_on_the_page_runs(seed: int, examples: Courthouse) -> None:
    case, setup = examples.library.case("phone-battery"), examples.procedures["example"].setup()
    record = examples.record(drive(examples, examples.new_run("example", case, setup, seed)))
    assert record.run.verdict, record.run.reason
    assert record.stages
