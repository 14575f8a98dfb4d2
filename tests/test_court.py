"""What a procedure sees of the court, and nothing else."""

import ast
from collections.abc import Awaitable, Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from courtroom.cases.case import Case
from courtroom.engine.court import Court
from courtroom.engine.events import Verdict
from courtroom.engine.procedure import Procedure
from courtroom.models.errors import ModelError
from courtroom.models.request import Request
from tests.toy import Bench, CastVote, Scripted, ToySetup, toy

PROCEDURES = Path(__file__).parent.parent / "courtroom" / "procedures"
SEEN = {
    *("case", "unsealed", "setup", "seed", "panel", "member", "random"),
    *("stage", "ask", "try_ask", "all", "retrieve", "learn", "vote", "tally", "enough", "needs", "note"),
}


def procedures(folder: Path, deliberate: Callable[[Any], Awaitable[Verdict]]) -> dict[str, Procedure]:
    """The toy procedure with other proceedings."""
    return {"toy": replace(toy(folder), deliberate=deliberate)}


def test_a_procedure_sees_of_the_court_what_it_may_use(tmp_path: Path) -> None:
    seen: set[str] = set()

    async def look(court: Court[Case, ToySetup]) -> Verdict:
        seen.update(name for name in dir(court) if not name.startswith("_"))
        await court.stage("Round 1", "round")
        return Verdict(outcome="buyer", counts={})

    bench = Bench(tmp_path, procedures=procedures(tmp_path, look))
    assert bench.hear().run.status == "done"
    bench.close()
    assert seen == SEEN


def private(text: str) -> set[str]:
    """Private fields and names of other objects and modules that a module uses."""
    used = set()
    for node in ast.walk(ast.parse(text)):
        whose = getattr(node, "value", None)
        own = isinstance(whose, ast.Name) and whose.id in ("self", "cls")
        if isinstance(node, ast.Attribute) and not own:
            used.add(node.attr)
        elif isinstance(node, ast.ImportFrom) and str(node.module).startswith("courtroom.engine"):
            used |= {alias.name for alias in node.names}
    return {name for name in used if name.startswith("_") and not name.startswith("__")}


def test_no_procedure_uses_a_private_field_of_the_court() -> None:
    files = sorted(PROCEDURES.rglob("*.py"))
    assert any(file.name == "procedure.py" for file in files)
    assert {str(file): found for file in files if (found := private(file.read_text("utf-8")))} == {}
    assert private("court._services.ledger.add(event)") == {"_services"}


async def ask_and_go_on(court: Court[Case, ToySetup]) -> Verdict:
    """One vote is enough; who has no answer is passed over."""
    await court.stage("Round 1", "round")
    votes = [await court.try_ask(juror, CastVote()) for juror in court.panel("juror")]
    court.needs(sum(vote is not None for vote in votes), len(votes), "jurors found words")
    return Verdict(outcome=" ".join(vote.side if vote else "-" for vote in votes), counts={})


def only_juror_2(request: Request) -> str | Exception:
    if request.tag.endswith("juror-02"):
        return '{"side": "seller"}'
    return ModelError("It is not there.")


@pytest.mark.parametrize(
    ("quorum", "status", "said"),
    [(0.3, "done", "- seller -"), (0.5, "failed", "Only 1 of 3 jurors found words, fewer than the quorum asks for.")],
)
def test_who_has_no_answer_is_passed_over_until_the_quorum_is_lost(
    tmp_path: Path, quorum: float, status: str, said: str
) -> None:
    bench = Bench(tmp_path, Scripted(only_juror_2), procedures=procedures(tmp_path, ask_and_go_on))
    run = bench.hear(ToySetup(quorum=quorum)).run
    bench.close()
    assert run.status == status
    assert (run.verdict.outcome if run.verdict else run.reason).startswith(said)
    assert run.verdict or run.reason.endswith("then continue: those who failed are asked again.")
